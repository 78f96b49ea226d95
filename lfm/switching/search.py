"""Features and codes of a sequence of segments, where features repeat exactly.

Owns the alternation of decoding and refitting, the number of features, and the certificate. `search_exact`
supposes that a feature is the same whenever it is on; `lfm.switching.search_varying` that each activation has
a size of its own. Both work in units of the noise and return a `Fit`, whose objectives compare.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from lfm.arrays import BinaryArray, BoolArray, FloatArray
from lfm.least_squares import least_squares
from lfm.switching.edges import EdgeTypes, edge_types
from lfm.switching.features import choose, description_length, starting_features
from lfm.switching.relations import find_relations
from lfm.switching.segments import Segments, States, is_transition
from lfm.switching.skipped_rows import codes_of_neighbours
from lfm.switching.thresholds import THRESHOLDS
from lfm.switching.tracking import Variation
from lfm.switching.viterbi import decode_segments
from lfm.thresholds import ESTIMATORS

_NEIGHBOURS = (0, 1)  # numbers of features to try, relative to the best choice, until one is certified

Report = Callable[[float], None]  # is told the best objective after each round


class Fit(NamedTuple):
    """Features and codes, in units of the noise."""

    G: FloatArray  # (J, r)
    level: FloatArray  # (r,) with all features off
    Z: BinaryArray  # (S, J)
    outlier: BoolArray  # (S,) single rows that no code explains, with the code of a neighbour
    objective: float  # misfit, switches and the price of the features, nats
    misfit: float  # distance of chi² from its degrees of freedom, in standard deviations
    converged: bool
    variation: Variation | None  # None where features repeat exactly

    @property
    def certified(self) -> bool:
        """Whether what is left over is no more than noise (and the variation) makes of it."""
        return self.misfit <= ESTIMATORS.floor_sigmas


def exact_edge_types(segments: Segments, states: States) -> tuple[EdgeTypes, States, BoolArray]:
    """The edge types of exactly repeating features, with the visits and gaps that they were read from."""
    steady = ~is_transition(segments)
    visited = states._replace(label=states.label[steady])
    follows = segments.follows[steady]
    return edge_types(visited, follows, segments.length[steady]), visited, follows


def repeats_exactly(types: EdgeTypes) -> bool:
    """Whether edges recur: False where so many different ones are seen that features must vary."""
    n_types, n_edges = len(types.times), types.times.sum()
    recurring = types.times[types.times >= 3].sum()
    few = types.n_candidates <= THRESHOLDS.many_types // 2
    if few and recurring >= THRESHOLDS.recurring_share * n_edges:
        return True
    return bool(n_types <= max(THRESHOLDS.many_types, THRESHOLDS.rows_of_types * n_edges))


def search_exact(
    segments: Segments, states: States, *, most: int, max_iter: int, report: Report
) -> Fit | None:
    """The fit of at most `most` features that repeat exactly: the first one certified, or the best tried.

    None where the edges do not recur: then the search is not worth its time.
    """
    types, visited, follows = exact_edge_types(segments, states)
    if not repeats_exactly(types):
        return None
    relations = find_relations(types)
    price = description_length(types)
    choice = choose(types, relations, price=price, n_rows=int(segments.length.sum()), most=most)
    toward = segments.length @ segments.mean
    preferred = int(np.argmin(choice.charges))
    best: Fit | None = None
    for step in _NEIGHBOURS:
        if not 0 <= preferred + step < len(choice.sets):
            continue
        chosen = choice.sets[preferred + step]
        G, level = starting_features(types, relations, chosen, visited, toward, follows)
        fit = _alternate(segments, states, G, level, price=price, max_iter=max_iter)
        fit = _prune(segments, states, fit, price=price, max_iter=max_iter)
        if best is None or fit.objective < best.objective:
            best = fit
        report(best.objective)
        if fit.certified:
            break
    return best


def _alternate(
    segments: Segments, states: States, G: FloatArray, level: FloatArray, *, price: float, max_iter: int
) -> Fit:
    """Decode and refit in turn until the codes stay."""
    path = decode_segments(segments, states, G, level)
    converged = False
    for _ in range(max_iter):
        used = varies(path.Z)
        design = np.column_stack([path.Z[:, used], np.ones(len(path.Z))])
        features = least_squares(design, segments.mean, weight=np.where(path.glitch, 0, segments.length)).W
        G, level = features[:-1], features[-1]
        before, path = path.Z[:, used], decode_segments(segments, states, G, level)
        if np.array_equal(before, path.Z):
            converged = True
            break
    residual = segments.mean - level - path.Z @ G
    chi2 = segments.length * np.sum(residual**2, axis=1)
    fitting = ~path.glitch
    freedom = (np.count_nonzero(fitting) - len(G) - 1) * segments.mean.shape[1]
    misfit = standardised(float(chi2[fitting].sum()), freedom)
    Z = codes_of_neighbours(segments, path.Z, path.glitch)
    return Fit(G, level, Z, path.glitch, path.cost + price * len(G), misfit, converged, None)


def _prune(segments: Segments, states: States, fit: Fit, *, price: float, max_iter: int) -> Fit:
    """The fit without the features that switch rarely and that the others can do without.

    A feature that only ever shows in single rows has to explain one more of them than its price asks for:
    rows that hold a switch make up such features.
    """
    switches = np.count_nonzero(np.diff(fit.Z.astype(np.int8), axis=0), axis=0)
    for k in np.argsort(switches, kind="stable"):
        if THRESHOLDS.switch_nats * switches[k] > THRESHOLDS.worth_trying * price:
            break
        on = fit.Z[:, k] == 1
        mostly_on = segments.length[on].sum() > segments.length[~on].sum()
        # A column that is never on, or never off, has no rarer rows at all.
        longest = segments.length[~on if mostly_on else on].max(initial=0)
        allowance = THRESHOLDS.spoilt_row_nats if longest == 1 else 0.0
        level = fit.level + fit.G[k] if mostly_on else fit.level
        shorter = _alternate(
            segments, states, np.delete(fit.G, k, axis=0), level, price=price, max_iter=max_iter
        )
        if shorter.objective < fit.objective + allowance:
            return _prune(segments, states, shorter, price=price, max_iter=max_iter)
    return fit


def varies(Z: BinaryArray) -> BoolArray:
    """(J,) whether each column of Z takes both values."""
    return np.asarray(Z.any(axis=0) & ~Z.all(axis=0), dtype=np.bool_)


def standardised(chi2: float, freedom: int) -> float:
    """How far chi² lies above its expectation, in standard deviations."""
    freedom = max(1, freedom)
    return float((chi2 - freedom) / np.sqrt(2 * freedom))
