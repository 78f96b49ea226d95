"""The errors that `lfm` raises on purpose. All of them are LfmError."""


class LfmError(Exception):
    """Base of every error that `lfm` raises on purpose.

    Catch this one to catch them all.

    Examples
    --------
    >>> import lfm
    >>> try:
    ...     lfm.lattice_index([[1, 1], [1, 1]])
    ... except lfm.LfmError as error:
    ...     print(type(error).__name__)
    RankDeficientError
    """


class InvalidInputError(LfmError, ValueError):
    """An argument is not of the form that the function's docstring asks for. It is a ValueError too.

    Examples
    --------
    >>> import lfm
    >>> lfm.regulariser([])
    Traceback (most recent call last):
    lfm.errors.InvalidInputError: W must have 2 dimensions, got shape (0,)
    """


class NotEquivalentError(LfmError, ValueError):
    """(ZU, U⁻¹W) is not an equivalent solution: U is singular, or ZU is not binary.

    Examples
    --------
    >>> import lfm
    >>> solution = lfm.Solution([[1, 0], [0, 1], [1, 1]], [[1.0], [2.0]])
    >>> lfm.transform(solution, [[1, 1], [0, 0]])
    Traceback (most recent call last):
    lfm.errors.NotEquivalentError: U is singular: its columns are linearly dependent, so U⁻¹W does not exist
    """


class RankDeficientError(LfmError, ValueError):
    """Columns of Z (or rows of W) are linearly dependent where the mathematics needs independent ones.

    The message names the columns.

    Examples
    --------
    >>> import lfm
    >>> lfm.enumerate_candidates([[1, 1], [1, 1], [0, 0]])
    Traceback (most recent call last):
    lfm.errors.RankDeficientError: rank(Z) = 1 < K = 2: columns 0 and 1 are equal (features always on
    together). Remove or merge those columns first
    """
