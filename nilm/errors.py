"""The errors of `nilm`: every message names the file or argument, its value, and the remedy."""


class NilmError(Exception):
    """Base of every error that `nilm` raises on purpose."""


class InputFileError(NilmError):
    """A file of the outside world cannot be used: missing, unreadable or not in the stated format."""


class NothingUsableError(NilmError):
    """A week (or tune) holds not one usable row; the message says why each piece was left out."""


class OptionError(NilmError, ValueError):
    """An option has a value outside its range."""
