"""What a hop changed, feature by feature, in words and as data (inverted, duplicated, merged, split …)."""

import enum
from dataclasses import dataclass

import numpy as np

from lfm.arrays import BinaryArray, BoolArray, FloatArray

Terms = tuple[tuple[int, float], ...]


class CorrectionKind(enum.Enum):
    """What was wrong with a feature before the hop, or that nothing was.

    Examples
    --------
    >>> import lfm
    >>> [kind.value for kind in lfm.CorrectionKind]
    ['unchanged', 'inverted', 'duplicated', 'split', 'merged', 'bias level moved']
    """

    UNCHANGED = "unchanged"
    INVERTED = "inverted"  # it was on when off, with the opposite sign
    DUPLICATED = (
        "duplicated"  # it was contained in several features of the start, which are never on together
    )
    SPLIT = "split"  # it was tied to another feature, which has been taken out of it
    MERGED = "merged"  # same on and off times, but it now includes what other features of the start held
    BIAS_MOVED = "bias level moved"  # the always-on feature has taken over, or given up, part of others


@dataclass(frozen=True)
class Correction:
    """How one returned feature comes from the features before the hop.

    Attributes
    ----------
    column : int
        The returned feature, counted from 0.
    kind : CorrectionKind
        What changed.
    on_terms : tuple of (int, float)
        (j, coefficient), none of them 0: Z′[:, column] = Σ coefficient · Z[:, j], projected to binary where
        `exact` is False.
    feature_terms : tuple of (int, float)
        As on_terms: W′[column] = Σ coefficient · W[j], before any refit.
    exact : bool
        Whether the sum over on_terms is Z′[:, column] itself.

    Examples
    --------
    >>> import lfm
    >>> inverted = lfm.Solution([[1, 1], [1, 1], [1, 0]], [[4.0], [-1.0]])
    >>> found = lfm.hop(inverted, priors=[lfm.PassiveSign(1.0, [1.0]), lfm.BernoulliZ(0.1)])
    >>> print(found.corrections[1])
    feature 1: inverted; on = z[0] − z[1], feature = −w[1]
    """

    column: int
    kind: CorrectionKind
    on_terms: Terms
    feature_terms: Terms
    exact: bool

    def __str__(self) -> str:
        if self.kind is CorrectionKind.UNCHANGED:
            return f"feature {self.column}: unchanged (feature {self.on_terms[0][0]} of the start)"
        text = f"feature {self.column}: {self.kind.value}; on = {_sum(self.on_terms, 'z')}"
        return f"{text}{'' if self.exact else ' (nearly)'}, feature = {_sum(self.feature_terms, 'w')}"


def _sum(terms: Terms, symbol: str) -> str:
    parts = [
        f"{'−' if c < 0 else '+'} {'' if abs(c) == 1 else f'{abs(c):g}·'}{symbol}[{j}]" for j, c in terms
    ]
    text = " ".join(parts)
    return text[2:] if text.startswith("+") else text.replace("− ", "−", 1)


def _terms(vector: FloatArray) -> Terms:
    return tuple((int(j), float(vector[j])) for j in np.flatnonzero(np.abs(vector) > 1e-9))


def _kind(on: Terms, feature: Terms, always_on: np.ndarray) -> CorrectionKind:
    if len(on) == 1:
        j = on[0][0]
        if feature == ((j, 1.0),):
            return CorrectionKind.UNCHANGED
        if always_on[j]:
            return CorrectionKind.BIAS_MOVED
        return CorrectionKind.MERGED if all(c > 0 for _, c in feature) else CorrectionKind.SPLIT
    negative = [j for j, c in on if c < 0]
    if len(on) == 2 and len(negative) == 1 and any(c > 0 and always_on[j] for j, c in on):
        return CorrectionKind.INVERTED
    return CorrectionKind.SPLIT if negative else CorrectionKind.DUPLICATED


def describe_corrections(Z: BinaryArray, U: FloatArray, exact: BoolArray) -> tuple[Correction, ...]:
    """One `Correction` per column of U (K, K); `exact` (K,) says where ZU, for the start's Z, came back."""
    always_on = np.asarray(Z.all(axis=0))
    inverse = np.linalg.inv(U)
    found = []
    for k in range(U.shape[1]):
        on, feature = _terms(U[:, k]), _terms(inverse[k])
        found.append(Correction(k, _kind(on, feature, always_on), on, feature, exact=bool(exact[k])))
    return tuple(found)
