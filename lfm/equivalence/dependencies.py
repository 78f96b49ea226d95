"""The pairwise dependency conditions of Theorem 4 (PDC1-3): which pairs of features are tied together."""

import enum

import numpy as np
from numpy.typing import ArrayLike

from lfm.checks import check_binary


class Pdc(enum.Enum):
    """How feature i binds feature j in every row."""

    DISJOINT = "i on ⇒ j off"  # PDC1
    IMPLIES = "i on ⇒ j on"  # PDC2
    IMPLIED_BY = "i off ⇒ j off"  # PDC3


def pairwise_dependencies(Z: ArrayLike) -> list[tuple[int, int, Pdc]]:
    """Every (i, j, condition) with i < j that holds in all rows of Z (N, K), from ZᵀZ alone.

    A pair can satisfy two conditions (equal columns imply each other), and then stands twice.
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
