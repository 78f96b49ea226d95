"""The errors that `lfm` raises on purpose. All of them are LfmError."""


class LfmError(Exception):
    """Base of every error that `lfm` raises on purpose."""


class InvalidInputError(LfmError, ValueError):
    """An argument is not of the form that the function's docstring asks for."""


class NotEquivalentError(LfmError, ValueError):
    """(ZU, U⁻¹W) is not an equivalent solution: U is singular, or ZU is not binary."""


class RankDeficientError(LfmError, ValueError):
    """Columns of Z (or rows of W) are linearly dependent where the mathematics needs them independent."""
