"""Features that are one appliance whose waveform differs from one run to the next.

A fridge may draw 75 W in one run and 54 W in another. An estimator whose features repeat finds one feature
for each such variant. Three things show that they are one appliance. Where appliances vary, all of them do:
the runs of a single feature differ in shape too. Variants of one appliance are near to each other. And they
are never on together, as two appliances would be by chance.
"""

import itertools

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaln

from lfm import Solution, find_signal, runs_of_ones
from lfm.arrays import FloatArray
from nilm.disaggregate.house_priors import StateEvidence
from nilm.thresholds import HOUSE


def with_variants_joined(
    solution: Solution, X: FloatArray, gaps: NDArray[np.bool_], notes: list[str]
) -> Solution:
    """The solution of X (N, D) with the variants of each appliance as one feature, the nearest joined first.

    The same solution where runs of one feature do not differ in shape. `gaps` (N,) is True where a row does
    not follow the one before.
    """
    if waveform_scatter(solution, X, gaps) <= HOUSE.least_scatter:
        return solution
    n_found = solution.K
    pair = _nearest_variants(solution, gaps)
    while pair is not None:
        solution = _joined(solution, *pair)
        pair = _nearest_variants(solution, gaps)
    if n_found > solution.K:
        notes.append(
            "The waveforms of this week's appliances differ from run to run. Features that are near to each "
            f"other and never on together were taken for one appliance: {n_found - solution.K} of {n_found}."
        )
    return solution


def waveform_scatter(solution: Solution, X: FloatArray, gaps: NDArray[np.bool_]) -> float:
    """How far a run's waveform lies from its feature's, across it, as a share of its size; noise apart.

    Measured where one feature switches and nothing else does: the median of each feature's switches, of which
    the median over the features. A run that differs in size alone has none.
    """
    change = np.diff(solution.Z.astype(np.int8), axis=0)
    at = np.flatnonzero((np.count_nonzero(change, axis=1) == 1) & ~gaps[1:])
    feature = np.argmax(change[at] != 0, axis=1)
    energy = np.sum(solution.W**2, axis=1)
    at, feature = at[energy[feature] > 0], feature[energy[feature] > 0]
    if not len(at):
        return 0.0
    left = X - solution.product()
    missed = left[at + 1] - left[at]
    along = np.sum(missed * solution.W[feature], axis=1) ** 2 / energy[feature]
    noise = 2 * (X.shape[1] - 1) * find_signal(X, gaps).noise ** 2
    across = (np.sum(missed**2, axis=1) - along - noise) / energy[feature]
    typical = np.median([np.median(across[feature == k]) for k in np.unique(feature)])
    return float(np.sqrt(max(typical, 0.0)))


def _nearest_variants(solution: Solution, gaps: NDArray[np.bool_]) -> tuple[int, int] | None:
    """The nearest two features that are more likely one appliance than two, if there are any."""
    Z, W = solution.Z, solution.W
    size = np.linalg.norm(W, axis=1)
    near = []
    for i, j in itertools.combinations(np.flatnonzero(~Z.all(axis=0) & (size > 0)).tolist(), 2):
        distance = float(np.linalg.norm(W[i] - W[j]) / min(size[i], size[j]))
        if distance <= HOUSE.variant_distance and not (Z[:, i] & Z[:, j]).any():
            near.append((distance, i, j))
    return next(((i, j) for _, i, j in sorted(near) if nats_for_one(Z[:, [i, j]], gaps) > 0), None)


def nats_for_one(Z: NDArray[np.uint8], gaps: NDArray[np.bool_]) -> float:
    """Log odds, by the times alone, that the two columns of Z (N, 2) are one appliance and not two.

    One appliance is on whenever either is, and each of its runs takes one of the two waveforms, with a
    probability that is integrated out as those of switching are.
    """
    one, other = (len(runs_of_ones(column, gaps)) for column in Z.T)
    apart = StateEvidence(gaps).columns(Z).sum()
    together = StateEvidence(gaps).columns(Z.max(axis=1)[:, None])[0]
    chosen = betaln(0.5, 0.5) - betaln(0.5 + one, 0.5 + other)
    return float(apart - together - chosen)


def _joined(solution: Solution, i: int, j: int) -> Solution:
    """The solution with features i and j, never on together, as one in the place of i: on with either."""
    Z, W = solution.Z.copy(), solution.W.copy()
    rows = Z[:, [i, j]].sum(axis=0, dtype=np.float64)
    W[i] = rows @ W[[i, j]] / rows.sum()
    Z[:, i] |= Z[:, j]
    return Solution(np.delete(Z, j, axis=1), np.delete(W, j, axis=0))
