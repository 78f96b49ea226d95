"""Which activations belong together: the most probable partition of them into classes.

Owns the evidence of a partition and the search for the best one. An activation has a size with a known
variance, a duration, a distance to the next one like it, and a context (which other features are on). Within
a class sizes are Gaussian around one mean, and the others have frequencies of their own; means and
frequencies are integrated out (Gaussian, Dirichlet(½), Beta(½, ½)), and the partition has the prior of a
Chinese restaurant. So a class must explain more than it costs to say who belongs to it. Two activations at
the same time are never of one class.
"""

import itertools
from typing import NamedTuple

import numpy as np

from lfm.arrays import BinaryArray, BoolArray, FloatArray, IntArray
from lfm.compiled import compiled
from lfm.switching.thresholds import THRESHOLDS


class Activations(NamedTuple):
    """R activations."""

    size: FloatArray  # (R,) relative to about 1
    variance: FloatArray  # (R,) of the size around its class's
    duration: IntArray  # (R,) a bin, below the number of bins
    company: IntArray  # (R,) how near the next one of about its size is, a bin
    context: BinaryArray  # (R, M)
    first: IntArray  # (R,) row
    end: IntArray  # (R,) row after the last


class _Classes(NamedTuple):
    """Sums over the members of each of C classes, from which the evidence follows."""

    n: IntArray  # (C,) members
    counts: IntArray  # (C, M) how often each mark occurs
    precision: FloatArray  # (C,) Σ 1/variance
    pull: FloatArray  # (C,) Σ size/variance


class _Marked(NamedTuple):
    """R activations as the compiled steps see them."""

    size: FloatArray  # (R,)
    variance: FloatArray  # (R,)
    marks: IntArray  # (R, Q) the value of each of Q properties, all values of all properties numbered through
    kinds: IntArray  # (Q,) how many values each property has
    clash: BoolArray  # (R, R) on at the same time; on the diagonal: whether there is any such
    halves: FloatArray  # halves[k] = log(k/2): the logarithms that Dirichlet(½) asks for
    mean_spread: float


@compiled
def _empty_classes(n: int, n_marks: int) -> _Classes:
    """N classes without members."""
    return _Classes(
        np.zeros(n, dtype=np.int64), np.zeros((n, n_marks), dtype=np.int64), np.zeros(n), np.zeros(n)
    )


@compiled
def _count(classes: _Classes, c: int, a: _Marked, i: int, sign: int) -> None:
    """Puts activation i into class c (sign 1), or takes it out (−1)."""
    classes.n[c] += sign
    classes.precision[c] += sign / a.variance[i]
    classes.pull[c] += sign * a.size[i] / a.variance[i]
    for q in range(a.marks.shape[1]):
        classes.counts[c, a.marks[i, q]] += sign


@compiled
def _predictive(classes: _Classes, c: int, a: _Marked, i: int) -> float:
    """Log probability of activation i as one more member of class c; an empty class weighs as one member."""
    prior = 1.0 / a.mean_spread**2
    n, precision = classes.n[c], classes.precision[c]
    mean = (classes.pull[c] + prior) / (precision + prior)
    spread = a.variance[i] + 1.0 / (precision + prior)
    total = a.halves[2 * max(n, 1)] - 0.5 * ((a.size[i] - mean) ** 2 / spread + np.log(2 * np.pi * spread))
    for q in range(len(a.kinds)):
        total += a.halves[2 * classes.counts[c, a.marks[i, q]] + 1] - a.halves[2 * n + a.kinds[q]]
    return float(total)


@compiled
def _blocked(label: IntArray, c: int, a: _Marked, i: int) -> bool:
    """Whether class c has a member that is on at the same time as activation i."""
    if not a.clash[i, i]:
        return False
    blocked = False
    for j in range(len(label)):
        blocked = blocked or (a.clash[i, j] and j != i and label[j] == c)
    return blocked


@compiled
def _best_class(classes: _Classes, label: IntArray, a: _Marked, i: int) -> int:
    """The class in which activation i, a member of none, is most probable; of empty ones the first."""
    best, pick = -np.inf, int(label[i])
    empty_seen = False
    for c in range(len(classes.n)):
        if classes.n[c] == 0:
            if empty_seen:
                continue
            empty_seen = True
        if _blocked(label, c, a, i):
            continue
        value = _predictive(classes, c, a, i)
        if value > best + 1e-9:
            best, pick = value, c
    return pick


@compiled
def _settle(label: IntArray, a: _Marked, max_classes: int, sweeps: int) -> tuple[IntArray, float]:
    """The partition after moving single activations while that gains, and its log evidence."""
    R = len(label)
    label = label.copy()
    n_marks = int(a.kinds.sum())
    classes = _empty_classes(max_classes, n_marks)
    for i in range(R):
        _count(classes, label[i], a, i, 1)
    for _ in range(sweeps):
        moved = False
        for i in range(R):
            _count(classes, label[i], a, i, -1)
            c = _best_class(classes, label, a, i)
            moved = moved or c != label[i]
            label[i] = c
            _count(classes, c, a, i, 1)
        if not moved:
            break
    evidence = 0.0
    classes = _empty_classes(max_classes, n_marks)
    for i in range(R):
        evidence += _predictive(classes, label[i], a, i)
        _count(classes, label[i], a, i, 1)
    return label, evidence


def settle(label: IntArray, activations: Activations, *, sweeps: int | None = None) -> tuple[IntArray, float]:
    """The partition near `label` (R,) that no move of one activation betters, and its log evidence.

    `sweeps` bounds the passes over all activations; 0 gives the evidence of `label` itself.
    """
    _, numbered = np.unique(label, return_inverse=True)
    a = activations
    n_bins, max_classes = THRESHOLDS.n_bins, THRESHOLDS.max_classes
    kinds = np.array([n_bins, n_bins] + [2] * a.context.shape[1], dtype=np.int64)
    values = np.column_stack([a.duration, a.company, a.context.astype(np.int64)])
    marks = values + np.concatenate([[0], np.cumsum(kinds)[:-1]])
    clash = (a.first[:, None] < a.end) & (a.first < a.end[:, None])
    np.fill_diagonal(clash, clash.sum(axis=1) > 1)  # whether there is any other
    halves = np.log(np.maximum(np.arange(2 * len(label) + n_bins + 2), 1) / 2)
    marked = _Marked(a.size, a.variance, marks, kinds, clash, halves, THRESHOLDS.mean_spread)
    start = np.minimum(numbered, max_classes - 1).astype(np.int64)
    found, evidence = _settle(start, marked, max_classes, THRESHOLDS.max_sweeps if sweeps is None else sweeps)
    return np.unique(found, return_inverse=True)[1].astype(np.int64), float(evidence)


def best_partition(label: IntArray, activations: Activations) -> tuple[IntArray, float]:
    """The best partition found from `label` (R,) by joining and splitting classes and moving activations.

    Two classes are joined wherever that gains. Then a class is split by size, duration, distance or one
    feature of the context wherever that gains.
    """
    best, evidence = _joined(*settle(label, activations), activations)
    c = 0
    while c <= best.max(initial=0) and best.max(initial=0) + 1 < THRESHOLDS.max_classes:
        for cut in _cuts(best == c, activations):
            tried = settle(np.where((best == c) & cut, best.max() + 1, best), activations)
            if tried[1] > evidence + THRESHOLDS.split_nats:
                best, evidence, c = *tried, -1
                break
        c += 1
    return best, evidence


def _joined(label: IntArray, evidence: float, activations: Activations) -> tuple[IntArray, float]:
    """The partition `label` (R,) with two classes made one as long as that gains, and its log evidence."""
    pairs = list(itertools.combinations(range(int(label.max(initial=0)) + 1), 2))
    for one, other in pairs:
        joined, value = settle(np.where(label == other, one, label), activations)
        if value > evidence + THRESHOLDS.split_nats:
            return _joined(joined, value, activations)
    return label, evidence


def _cuts(members: BoolArray, a: Activations) -> list[BoolArray]:
    """Ways to cut a class in two: (R,) masks, each with members on both sides."""
    sizes = np.sort(a.size[members])
    wide = np.argsort(np.diff(sizes))[::-1][:3]  # the widest gaps, and the quartiles
    thresholds = [*((sizes[wide] + sizes[wide + 1]) / 2), *np.quantile(sizes, [0.25, 0.5, 0.75])]
    cuts = [a.size > threshold for threshold in thresholds]
    cuts += [a.duration > b for b in range(THRESHOLDS.n_bins - 1)]
    cuts += [a.company > b for b in range(THRESHOLDS.n_bins - 1)]
    cuts += [a.context[:, m] == 1 for m in range(a.context.shape[1])]
    return [cut for cut in cuts if 0 < np.count_nonzero(cut[members]) < np.count_nonzero(members)]
