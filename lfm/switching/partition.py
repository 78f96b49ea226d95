"""Which activations belong together: the most probable partition of them into classes.

Owns the evidence of a partition and the search for the best one. An activation has a size with a known
variance, a duration, a distance to the next one like it, and a context (which other features are on). Within
a class sizes are Gaussian around one mean, and the others have frequencies of their own; means and
frequencies are integrated out (Gaussian, Dirichlet(½), Beta(½, ½)), and the partition has the prior of a
Chinese restaurant. So a class must explain more than it costs to say who belongs to it. Two activations at
the same time are never of one class.
"""

from typing import NamedTuple

import numpy as np

from lfm.arrays import BinaryArray, BoolArray, FloatArray, IntArray
from lfm.compiled import compiled

N_BINS = 8  # of durations and distances
MEAN_SPREAD = 0.3  # standard deviation of a class's mean size, beforehand
_SWEEPS = 20
_GAIN = 0.5  # nats
_MAX_CLASSES = 12


class Activations(NamedTuple):
    """R activations."""

    size: FloatArray  # (R,) relative to about 1
    variance: FloatArray  # (R,) of the size around its class's
    duration: IntArray  # (R,) a bin, below N_BINS
    company: IntArray  # (R,) how near the next one of about its size is, a bin
    context: BinaryArray  # (R, M)
    first: IntArray  # (R,) row
    end: IntArray  # (R,) row after the last


@compiled
def _predictive(
    n: int,
    counts: IntArray,
    precision: float,
    pull: float,
    size: float,
    variance: float,
    marks: IntArray,
    kinds: IntArray,
    halves: FloatArray,
) -> float:
    """Log probability of one more activation in a class of n with these sums; an empty class weighs as one.

    halves[k] = log(k/2): the logarithms that Dirichlet(½) asks for.
    """
    prior = 1.0 / MEAN_SPREAD**2
    mean = (pull + prior) / (precision + prior)
    spread = variance + 1.0 / (precision + prior)
    total = halves[2 * max(n, 1)] - 0.5 * ((size - mean) ** 2 / spread + np.log(2 * np.pi * spread))
    for q in range(len(marks)):
        total += halves[2 * counts[marks[q]] + 1] - halves[2 * n + kinds[q]]
    return float(total)


@compiled
def _settle(
    label: IntArray,
    size: FloatArray,
    variance: FloatArray,
    marks: IntArray,
    kinds: IntArray,
    clash: BoolArray,
    halves: FloatArray,
    sweeps: int,
) -> tuple[IntArray, float]:
    """The partition after moving single activations while that gains, and its log evidence."""
    R, Q = marks.shape
    label = label.copy()
    n = np.zeros(_MAX_CLASSES, dtype=np.int64)
    counts = np.zeros((_MAX_CLASSES, int(kinds.sum())), dtype=np.int64)
    precision = np.zeros(_MAX_CLASSES)
    pull = np.zeros(_MAX_CLASSES)
    evidence = 0.0
    for i in range(R):
        c = label[i]
        n[c] += 1
        precision[c] += 1.0 / variance[i]
        pull[c] += size[i] / variance[i]
        for q in range(Q):
            counts[c, marks[i, q]] += 1
    for _ in range(sweeps):
        moved = False
        for i in range(R):
            c = label[i]
            for sign in (-1, 1):  # taken out of its class, then put into the best one
                if sign == 1:
                    best = -np.inf
                    empty_seen = False
                    for d in range(_MAX_CLASSES):
                        if n[d] == 0:
                            if empty_seen:
                                continue
                            empty_seen = True
                        blocked = False
                        for j in range(R):
                            if clash[i, i] and clash[i, j] and j != i and label[j] == d:
                                blocked = True
                                break
                        if blocked:
                            continue
                        value = _predictive(
                            n[d],
                            counts[d],
                            precision[d],
                            pull[d],
                            size[i],
                            variance[i],
                            marks[i],
                            kinds,
                            halves,
                        )
                        if value > best + 1e-9:
                            best, c = value, d
                    moved = moved or c != label[i]
                    label[i] = c
                n[c] += sign
                precision[c] += sign / variance[i]
                pull[c] += sign * size[i] / variance[i]
                for q in range(Q):
                    counts[c, marks[i, q]] += sign
        if not moved:
            break
    n[:] = 0
    precision[:] = 0
    pull[:] = 0
    counts[:] = 0
    for i in range(R):
        c = label[i]
        evidence += _predictive(
            n[c], counts[c], precision[c], pull[c], size[i], variance[i], marks[i], kinds, halves
        )
        n[c] += 1
        precision[c] += 1.0 / variance[i]
        pull[c] += size[i] / variance[i]
        for q in range(Q):
            counts[c, marks[i, q]] += 1
    return label, evidence


def settle(label: IntArray, activations: Activations, *, sweeps: int = _SWEEPS) -> tuple[IntArray, float]:
    """The partition near `label` (R,) that no move of one activation betters, and its log evidence."""
    _, numbered = np.unique(label, return_inverse=True)
    a = activations
    kinds = np.array([N_BINS, N_BINS] + [2] * a.context.shape[1], dtype=np.int64)
    values = np.column_stack([a.duration, a.company, a.context.astype(np.int64)])
    marks = values + np.concatenate([[0], np.cumsum(kinds)[:-1]])
    clash = (a.first[:, None] < a.end) & (a.first < a.end[:, None])
    np.fill_diagonal(clash, clash.sum(axis=1) > 1)  # whether there is any other
    halves = np.log(np.maximum(np.arange(2 * len(label) + N_BINS + 2), 1) / 2)
    found, evidence = _settle(
        np.minimum(numbered, _MAX_CLASSES - 1).astype(np.int64),
        a.size,
        a.variance,
        marks,
        kinds,
        clash,
        halves,
        sweeps,
    )
    return np.unique(found, return_inverse=True)[1].astype(np.int64), float(evidence)


def best_partition(label: IntArray, activations: Activations) -> tuple[IntArray, float]:
    """The best partition found from `label` (R,) by splitting classes and moving activations.

    A class is split by size, duration, distance or one feature of the context wherever that gains.
    """
    best, evidence = settle(label, activations)
    c = 0
    while c <= best.max(initial=0) and best.max(initial=0) + 1 < _MAX_CLASSES:
        for cut in _cuts(best == c, activations):
            tried = settle(np.where((best == c) & cut, best.max() + 1, best), activations)
            if tried[1] > evidence + _GAIN:
                best, evidence, c = *tried, -1
                break
        c += 1
    return best, evidence


def _cuts(members: BoolArray, a: Activations) -> list[BoolArray]:
    """Ways to cut a class in two: (R,) masks, each with members on both sides."""
    sizes = np.sort(a.size[members])
    wide = np.argsort(np.diff(sizes))[::-1][:3]  # the widest gaps, and the quartiles
    thresholds = [*((sizes[wide] + sizes[wide + 1]) / 2), *np.quantile(sizes, [0.25, 0.5, 0.75])]
    cuts = [a.size > threshold for threshold in thresholds]
    cuts += [a.duration > b for b in range(N_BINS - 1)]
    cuts += [a.company > b for b in range(N_BINS - 1)]
    cuts += [a.context[:, m] == 1 for m in range(a.context.shape[1])]
    return [cut for cut in cuts if 0 < np.count_nonzero(cut[members]) < np.count_nonzero(members)]
