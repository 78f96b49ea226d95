"""Changes of level and their types: what the switches of a record look like, up to sign.

Owns step 3 of the switching decoder, for features that repeat exactly (`edge_types`) and for those that vary
from activation to activation (`varying_edge_types`). Which types are features is `lfm.switching.features`.
"""

from typing import NamedTuple

import numpy as np

from lfm.arrays import BoolArray, FloatArray, IntArray
from lfm.switching.segments import Segments, States, group
from lfm.switching.thresholds import THRESHOLDS
from lfm.switching.tracking import Variation


class EdgeTypes(NamedTuple):
    """Changes of level that are equal up to sign, the most frequent first."""

    vector: FloatArray  # (T, r)
    variance: FloatArray  # (T,): the covariance of a vector is variance · I
    times: IntArray  # (T,) how often it is seen
    of_segment: IntArray  # (S,) type of the change before each segment, −1 where there is none
    sign: IntArray  # (S,) its direction, +1 or −1
    n_candidates: int  # the first so many may be generators
    drift: float = 0.0  # relative standard deviation of one edge around its type, along it
    noise: float = 1.0  # variance of one edge, where there is drift


def edge_types(states: States, follows: BoolArray, length: IntArray) -> EdgeTypes:
    """The edge types of a record: `follows` (S,) says which segments directly follow the one before.

    `length` (S,) rows. Segments in which a switch may be under way (`is_transition`) are better left out
    beforehand. A single row makes the same edge twice, up and down: once seen is once for a candidate.
    """
    S = len(follows)
    before, after = states.label[:-1], states.label[1:]
    at = 1 + np.flatnonzero(follows[1:] & (before != after))
    of_segment, sign = np.full(S, -1), np.ones(S, dtype=np.int64)
    rank = states.mean.shape[1]
    if not len(at):
        return EdgeTypes(np.zeros((0, rank)), np.zeros(0), np.zeros(0, dtype=np.int64), of_segment, sign, 0)
    low, high = np.minimum(before, after)[at - 1], np.maximum(before, after)[at - 1]
    pairs, pair_of, seen = np.unique(np.stack([low, high]), axis=1, return_inverse=True, return_counts=True)
    change = states.mean[pairs[1]] - states.mean[pairs[0]]
    precision = 1.0 / (1.0 / states.rows[pairs[0]] + 1.0 / states.rows[pairs[1]])
    groups = group(change, precision, up_to_sign=True)
    pair_of = pair_of.reshape(-1)
    of_segment[at] = groups.label[pair_of]
    sign[at] = groups.sign[pair_of] * np.where(after[at - 1] == high, 1, -1)
    count = np.bincount(groups.label, weights=seen).astype(np.int64)
    alone = count - _echoes(of_segment, sign, length, len(count))
    order = np.lexsort((-count, -alone))
    rename = np.empty_like(order)
    rename[order] = np.arange(len(order))
    of_segment[at] = rename[of_segment[at]]
    variance = 1.0 / groups.weight[order]
    repeated = int(np.count_nonzero(alone >= 2))
    # A few edges seen once may be rare features; many are rows that hold a switch and would pass for them.
    candidates = min(
        len(order) if len(order) - repeated <= THRESHOLDS.max_single_types else repeated,
        THRESHOLDS.max_candidates,
    )
    return EdgeTypes(groups.centre[order], variance, count[order], of_segment, sign, candidates)


def _echoes(of_segment: IntArray, sign: IntArray, length: IntArray, n_types: int) -> IntArray:
    """(T,) how often a type only takes back what it did one row before: a single row makes an edge twice."""
    back = (of_segment[1:] == of_segment[:-1]) & (sign[1:] != sign[:-1]) & (length[:-1] == 1)
    return np.bincount(of_segment[1:][back & (of_segment[1:] >= 0)], minlength=n_types)


def varying_edge_types(segments: Segments, variation: Variation) -> tuple[EdgeTypes, Variation]:
    """The edge types of segments whose features differ from activation to activation, and how much they do.

    Edges are the differences of neighbouring segments, in which everything that stays on cancels.
    """
    S = len(segments.start)
    at = np.flatnonzero(segments.follows)
    of_segment, sign = np.full(S, -1), np.ones(S, dtype=np.int64)
    change = segments.mean[at] - segments.mean[at - 1]
    precision = 1.0 / (1.0 / segments.length[at] + 1.0 / segments.length[at - 1])
    first = group(
        change,
        precision,
        up_to_sign=True,
        along=THRESHOLDS.reach_sigmas * variation.drift,
        across=THRESHOLDS.reach_sigmas * variation.shape,
    )
    label, turned = first.label, first.sign
    if variation.drift > 0:  # groups that grew from both ends of one feature's range are one
        seen = np.bincount(label).astype(np.float64)
        drift = min(variation.drift, _measure(change * turned[:, None], precision, first.centre, label).drift)
        second = group(first.centre, seen, up_to_sign=True, along=THRESHOLDS.reach_sigmas * drift)
        label, turned = second.label[label], turned * second.sign[label]
    times = np.bincount(label)
    of_segment[at], sign[at] = label, turned
    alone = times - _echoes(of_segment, sign, segments.length, len(times))
    order = np.lexsort((-times, -alone))
    rename = np.empty_like(order)
    rename[order] = np.arange(len(order))
    label, times = rename[label], times[order]
    of_segment[at] = label
    edges = change * turned[:, None]
    weight = 1.0 / (1.0 / precision + variation.drift**2 * np.sum(edges**2, axis=1))
    total = np.bincount(label, weights=weight)
    centre = np.zeros((len(times), change.shape[1]))
    np.add.at(centre, label, edges * (weight / total[label])[:, None])
    size = np.sum(centre**2, axis=1)
    around = np.bincount(label, weights=weight**2 / precision) / total**2
    around += variation.shape**2 * size / (centre.shape[1] * times)
    noise = float(np.median(1.0 / precision))
    candidates = min(int(np.count_nonzero(alone >= 2)), THRESHOLDS.max_candidates)
    types = EdgeTypes(centre, around, times, of_segment, sign, candidates, variation.drift, noise)
    return types, _measure(edges, precision, centre, label)


def _measure(change: FloatArray, precision: FloatArray, centre: FloatArray, label: IntArray) -> Variation:
    """Drift and shape seen in types of four edges or more: what is left of the scatter without its noise."""
    times = np.bincount(label)
    common = times[label] >= THRESHOLDS.min_edges_to_measure
    if not common.any():
        return Variation(0.0, 0.0)
    c, n = centre[label[common]], times[label[common]]
    size = np.sum(c**2, axis=1)
    difference = (change[common] - c) * np.sqrt(n / (n - 1.0))[:, None]
    along = np.sum(difference * c, axis=1) ** 2 / size
    across = np.sum(difference**2, axis=1) - along
    noise = 1.0 / precision[common]
    r = c.shape[1]
    # A median over edges: the few that are sums of two features say nothing about one.
    drift = np.median((along - 0.45 * noise) / size) / 0.45
    shape = np.median((across - (r - 1) * noise) / size)
    return Variation(float(np.sqrt(max(drift, 0.0))), float(np.sqrt(max(shape, 0.0))))
