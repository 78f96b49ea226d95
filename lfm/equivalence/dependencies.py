"""The pairwise dependency conditions of Theorem 4 (PDC1-3): which pairs of features are tied together."""

import enum

import numpy as np
from numpy.typing import ArrayLike

from lfm.checks import check_binary


class Pdc(enum.Enum):
    """How feature i binds feature j in every row: the pairwise dependency conditions of Theorem 4.

    Attributes
    ----------
    DISJOINT
        Never both on (PDC1).
    IMPLIES
        Where i is on, j is on (PDC2).
    IMPLIED_BY
        Where i is off, j is off (PDC3).

    Examples
    --------
    >>> import lfm
    >>> lfm.Pdc.DISJOINT.value
    'i on ⇒ j off'
    """

    DISJOINT = "i on ⇒ j off"  # PDC1
    IMPLIES = "i on ⇒ j on"  # PDC2
    IMPLIED_BY = "i off ⇒ j off"  # PDC3


def pairwise_dependencies(Z: ArrayLike) -> list[tuple[int, int, Pdc]]:
    """Every pair of features that is tied together in all rows, and how.

    Parameters
    ----------
    Z : array of shape (N, K)
        Zeros and ones.

    Returns
    -------
    list of (int, int, Pdc)
        (i, j, condition) with i < j, sorted. A pair can satisfy two conditions (equal columns imply each
        other); it is then listed twice.

    Raises
    ------
    InvalidInputError
        Where Z is not binary.

    Examples
    --------
    >>> import lfm
    >>> lfm.pairwise_dependencies([[1, 0], [0, 1], [0, 0]])
    [(0, 1, <Pdc.DISJOINT: 'i on ⇒ j off'>)]
    """
    Z = check_binary("Z", Z)
    gram = Z.T.astype(np.float64) @ Z
    ones = np.diag(gram)
    holds = {
        Pdc.DISJOINT: gram == 0,
        Pdc.IMPLIES: gram == ones[:, None],
        Pdc.IMPLIED_BY: gram == ones[None, :],
    }
    found = [
        (int(i), int(j), pdc) for pdc, matrix in holds.items() for i, j in np.argwhere(np.triu(matrix, k=1))
    ]
    return sorted(found, key=lambda row: (row[0], row[1], row[2].name))
