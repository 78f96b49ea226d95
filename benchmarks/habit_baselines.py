"""Peers for `benchmarks/habits.py`, each as watts (N, K) found in a week; some are given the truth's help.

The factorial HMM and combinatorial optimisation are supervised: they are given the true levels and the true
switching rates of the same week, the true standby, and the house's total watts. FastICA and NMF are given the
number of channels, and say the house's own floor as standby.
"""

import itertools
import warnings

import numpy as np
from sklearn.cluster import KMeans
from sklearn.decomposition import NMF, FastICA
from sklearn.exceptions import ConvergenceWarning

from nilm.appliances.energy_assigned import divided
from nilm.appliances.thresholds import APPLIANCES
from nilm.simulate.habits import ObservedHabits

MAX_STATES = 4096  # of all appliances together
N_LEVELS = 4  # of each appliance, off among them


def nothing(seen: ObservedHabits) -> np.ndarray:
    """The house's floor and no appliance."""
    return _floor(seen)[:, None]


def combinatorial_optimisation(seen: ObservedHabits) -> np.ndarray:
    """In each row the levels whose sum is nearest to the total."""
    _, watts = _levels(seen)
    order = np.argsort(watts.sum(axis=1))
    sums = watts.sum(axis=1)[order]
    total = _above(seen).sum(axis=1)
    middle = (sums[1:] + sums[:-1]) / 2
    return _power(seen, watts[order[np.searchsorted(middle, total)]])


def factorial_hmm(seen: ObservedHabits) -> np.ndarray:
    """The most likely path of independent chains, one per large channel, given the total: exact Viterbi.

    The joint maximum over all chains is taken one chain at a time, since their transitions are independent.
    """
    channels, watts = _levels(seen)
    shape = tuple(len(levels) for _, levels in channels)
    log_rates = [_log_rates(seen, c, levels) for c, levels in channels]
    total = _above(seen).sum(axis=1)
    sums = watts.sum(axis=1)
    true_sums = sum(levels[_nearest(_above(seen)[:, c], levels)] for c, levels in channels)
    spread = float(np.std(total - true_sums))
    score = -0.5 * ((total[0] - sums) / spread) ** 2
    back = np.empty((len(total), len(sums)), dtype=np.int16)
    indices = np.arange(len(sums))
    for t in range(1, len(total)):
        best, source = score.reshape(shape), indices.reshape(shape)
        if not seen.gap_before[t]:
            for axis, rates in enumerate(log_rates):
                best, source = _maximised(best, source, rates, axis)
        back[t] = source.ravel()
        score = best.ravel() - 0.5 * ((total[t] - sums) / spread) ** 2
    path = np.empty(len(total), dtype=np.int64)
    path[-1] = int(score.argmax())
    for t in range(len(total) - 1, 0, -1):
        path[t - 1] = back[t, path[t]]
    return _power(seen, watts[path])


def _maximised(best, source, rates, axis):
    """The best score of each new state of one chain, and which joint state it came from."""
    moved = np.moveaxis(best, axis, 0)
    came = np.moveaxis(source, axis, 0)
    candidates = moved[:, None] + rates.reshape(*rates.shape, *[1] * (best.ndim - 1))
    choice = candidates.argmax(axis=0)
    best = np.take_along_axis(candidates, choice[None], axis=0)[0]
    source = np.take_along_axis(came, choice, axis=0)
    return np.moveaxis(best, 0, axis), np.moveaxis(source, 0, axis)


def _levels(seen: ObservedHabits):
    """(channel, its levels) of the largest channels, and the watts (S, C) of all their joint states."""
    above = _above(seen)
    chosen, n_states = [], 1
    for c in np.argsort(-above.sum(axis=0)):
        values = above[:, [c]]
        n = min(N_LEVELS, len(np.unique(values)))
        if n_states * n > MAX_STATES or n < 2:
            break
        means = KMeans(n, n_init=3, random_state=0).fit(values).cluster_centers_[:, 0]
        chosen.append((int(c), np.sort(means)))
        n_states *= n
    return chosen, np.array(list(itertools.product(*(levels for _, levels in chosen))))


def _log_rates(seen: ObservedHabits, channel: int, levels: np.ndarray) -> np.ndarray:
    """Logarithms of P(level after | level before) of a channel, as counted in the truth."""
    path = _nearest(_above(seen)[:, channel], levels)
    follows = ~seen.gap_before[1:]
    counts = np.full((len(levels), len(levels)), 0.5)
    np.add.at(counts, (path[:-1][follows], path[1:][follows]), 1)
    return np.log(counts / counts.sum(axis=1, keepdims=True))


def _nearest(watts: np.ndarray, levels: np.ndarray) -> np.ndarray:
    return np.abs(watts[:, None] - levels).argmin(axis=1)


def ica(seen: ObservedHabits) -> np.ndarray:
    """FastICA of the rows."""
    return _unmixed(seen, seen.current_a)


def ica_of_changes(seen: ObservedHabits) -> np.ndarray:
    """FastICA of the changes from row to row; the rows are unmixed with what it finds."""
    return _unmixed(seen, np.diff(seen.current_a, axis=0)[~seen.gap_before[1:]])


def _unmixed(seen: ObservedHabits, rows: np.ndarray) -> np.ndarray:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = FastICA(_n_channels(seen), random_state=0, max_iter=500).fit(rows)
    sources = seen.current_a @ model.components_.T
    return _lifted(seen, sources * (model.mixing_.T @ _voltage(seen) / len(_voltage(seen))))


def nmf(seen: ObservedHabits) -> np.ndarray:
    """NMF of the rows, each as its positive and its negative half."""
    halves = np.hstack([np.maximum(seen.current_a, 0), np.maximum(-seen.current_a, 0)])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = NMF(_n_channels(seen), init="nndsvda", random_state=0, max_iter=300)
        size = model.fit_transform(halves)
    D = seen.current_a.shape[1]
    W = model.components_[:, :D] - model.components_[:, D:]
    return _lifted(seen, size * (W @ _voltage(seen) / D))


def _lifted(seen: ObservedHabits, power_w: np.ndarray) -> np.ndarray:
    """Watts above each column's own floor, never negative, and the house's floor beside them."""
    floors = np.quantile(power_w, APPLIANCES.floor_quantile, axis=0)
    return np.column_stack([np.maximum(power_w - floors, 0), _floor(seen)])


def _power(seen: ObservedHabits, watts: np.ndarray) -> np.ndarray:
    return np.column_stack([watts, divided(seen.truth_w).standby_w])


def _n_channels(seen: ObservedHabits) -> int:
    energy = _above(seen).sum(axis=0)
    return int(np.count_nonzero(energy > APPLIANCES.large_share * seen.truth_w.sum()))


def _above(seen: ObservedHabits) -> np.ndarray:
    return divided(seen.truth_w).above_w


def _total(seen: ObservedHabits) -> np.ndarray:
    return seen.truth_w.sum(axis=1)


def _floor(seen: ObservedHabits) -> np.ndarray:
    return np.full(len(seen.truth_w), np.quantile(_total(seen), APPLIANCES.floor_quantile))


def _voltage(seen: ObservedHabits) -> np.ndarray:
    return seen.voltage_v if seen.voltage_v.ndim == 1 else seen.voltage_v.mean(axis=0)
