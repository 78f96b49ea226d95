"""The version of each step: a number that a person raises when the step's outputs change.

A manifest records the number. Where it differs from the one here, the step is done again, in every week of
every house; so it follows behaviour, and a corrected comment costs nothing. A test keeps digests of small
frozen weeks (tests/nilm/frozen.json) and fails if a step's outputs changed while its number did not. Then:

1. raise the number of the step here, unless the change was not meant;
2. run `make freeze`, which writes the digests anew, and commit both.
"""

INGEST = 4
FACTORISE = 12
HOP = 16
PUBLISH = 15
SPECTRA = 1
PIANO = 2
