"""Short windows of long FLAC files, without decoding the rest."""
