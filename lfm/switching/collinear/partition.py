"""Which activations belong together: the most probable partition of them into classes.

Owns the evidence of a partition and the search for the best one. An activation has a size with a known
variance, a duration, a distance to the next one like it, and a context (which other features are on). Within
a class sizes are Gaussian around one mean, and durations and distances have frequencies of their own; means
and frequencies are integrated out (Gaussian, Dirichlet(½)). Another feature is on during a class as often as
at any time, or, just as probable beforehand, with a frequency of the class's own (Beta(½, ½)). The partition
has the prior of a Chinese restaurant. So a class must explain more than it costs to say who belongs to it.
Two activations at the same time are never of one class.
"""

import itertools
from typing import NamedTuple

import numpy as np
from scipy.special import gammaln

from lfm.arrays import BinaryArray, BoolArray, FloatArray, IntArray
from lfm.compiled import compiled
from lfm.switching.thresholds import THRESHOLDS


class Activations(NamedTuple):
    """R activations."""

    size: FloatArray  # (R,) relative to about 1
    variance: FloatArray  # (R,) of the size around its class's
    duration: IntArray  # (R,) a bin, below the number of bins
    company: IntArray  # (R,) how near the next one of about its size is, a bin
    context: IntArray  # (R, M) whether each of the context is on, −1 where it says nothing (`context_of`)
    usual: FloatArray  # (M,) how often each of the context is on at any time
    first: IntArray  # (R,) row
    end: IntArray  # (R,) row after the last
    mean_spread: float = THRESHOLDS.mean_spread  # of the mean sizes of classes around 1


class _Classes(NamedTuple):
    """Sums over the members of each of C classes, from which the evidence follows."""

    n: IntArray  # (C,) members
    counts: IntArray  # (C, V) how often each mark occurs
    told: IntArray  # (C, M) of how many members each of the context tells something
    beside: IntArray  # (C, M) with how many of those it is on
    precision: FloatArray  # (C,) Σ 1/variance
    pull: FloatArray  # (C,) Σ size/variance


class _Marked(NamedTuple):
    """R activations as the compiled steps see them."""

    size: FloatArray  # (R,)
    variance: FloatArray  # (R,)
    marks: IntArray  # (R, Q) the value of each of Q properties, all values of all properties numbered through
    kinds: IntArray  # (Q,) how many values each property has
    context: IntArray  # (R, M)
    log_on: FloatArray  # (M,) log of how often each of the context is on at any time
    log_off: FloatArray  # (M,)
    clash: BoolArray  # (R, R) on at the same time; on the diagonal: whether there is any such
    halves: FloatArray  # halves[k] = log(k/2): the logarithms that Dirichlet(½) asks for
    gammas: FloatArray  # gammas[k] = log Γ((k + 1)/2), and log π more for odd k: Beta(½, ½) asks for them
    mean_spread: float


@compiled
def _empty_classes(n: int, a: _Marked) -> _Classes:
    """N classes without members."""
    return _Classes(
        np.zeros(n, dtype=np.int64),
        np.zeros((n, a.kinds.sum()), dtype=np.int64),
        np.zeros((n, a.context.shape[1]), dtype=np.int64),
        np.zeros((n, a.context.shape[1]), dtype=np.int64),
        np.zeros(n),
        np.zeros(n),
    )


@compiled
def _count(classes: _Classes, c: int, a: _Marked, i: int, sign: int) -> None:
    """Puts activation i into class c (sign 1), or takes it out (−1)."""
    classes.n[c] += sign
    classes.precision[c] += sign / a.variance[i]
    classes.pull[c] += sign * a.size[i] / a.variance[i]
    for q in range(a.marks.shape[1]):
        classes.counts[c, a.marks[i, q]] += sign
    for m in range(a.context.shape[1]):
        if a.context[i, m] >= 0:
            classes.told[c, m] += sign
            classes.beside[c, m] += sign * a.context[i, m]


@compiled
def _beside(on: int, n: int, m: int, a: _Marked) -> float:
    """Log probability that m of the context is on with these `on` of n members, by the better of two."""
    as_ever = on * a.log_on[m] + (n - on) * a.log_off[m]
    own = a.gammas[2 * on] + a.gammas[2 * (n - on)] - a.gammas[2 * n + 1]
    return float(max(as_ever, own))


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
    for m in range(a.context.shape[1]):
        if a.context[i, m] >= 0:
            on, told = classes.beside[c, m], classes.told[c, m]
            total += _beside(on + a.context[i, m], told + 1, m, a) - _beside(on, told, m, a)
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
    classes = _empty_classes(max_classes, a)
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
    classes = _empty_classes(max_classes, a)
    for i in range(R):
        evidence += _predictive(classes, label[i], a, i)
        _count(classes, label[i], a, i, 1)
    return label, evidence


def settle(label: IntArray, activations: Activations, *, sweeps: int | None = None) -> tuple[IntArray, float]:
    """The partition near `label` (R,) that no move of one activation betters, and its log evidence.

    `sweeps` bounds the passes over all activations; 0 gives the evidence of `label` itself.
    """
    return _settled(label, _marked(activations), THRESHOLDS.max_sweeps if sweeps is None else sweeps)


def _settled(label: IntArray, a: _Marked, sweeps: int = THRESHOLDS.max_sweeps) -> tuple[IntArray, float]:
    """`settle` of marked activations."""
    _, numbered = np.unique(label, return_inverse=True)
    start = np.minimum(numbered, THRESHOLDS.max_classes - 1).astype(np.int64)
    found, evidence = _settle(start, a, THRESHOLDS.max_classes, sweeps)
    return np.unique(found, return_inverse=True)[1].astype(np.int64), float(evidence)


def _marked(a: Activations) -> _Marked:
    R, n_bins = len(a.size), THRESHOLDS.n_bins
    clash = (a.first[:, None] < a.end) & (a.first < a.end[:, None])
    np.fill_diagonal(clash, clash.sum(axis=1) > 1)  # whether there is any other
    gammas = gammaln(np.arange(2 * R + 4) / 2 + 0.5)
    gammas[1::2] += np.log(np.pi)
    seldom = 0.5 / (R + 1)  # nothing is known to be on, or off, for ever
    usual = np.clip(a.usual, seldom, 1 - seldom)
    return _Marked(
        size=a.size,
        variance=a.variance,
        marks=np.column_stack([a.duration, a.company]) + np.array([0, n_bins]),
        kinds=np.array([n_bins, n_bins], dtype=np.int64),
        context=np.ascontiguousarray(a.context),
        log_on=np.log(usual),
        log_off=np.log1p(-usual),
        clash=clash,
        halves=np.log(np.maximum(np.arange(2 * R + n_bins + 2), 1) / 2),
        gammas=gammas,
        mean_spread=a.mean_spread,
    )


def _of(a: _Marked, members: BoolArray) -> _Marked:
    """The `members` (R,) alone."""
    return a._replace(
        size=a.size[members],
        variance=a.variance[members],
        marks=a.marks[members],
        context=a.context[members],
        clash=np.ascontiguousarray(a.clash[np.ix_(members, members)]),
    )


def best_partition(label: IntArray, activations: Activations) -> tuple[IntArray, float]:
    """The best partition found from `label` (R,) by joining and splitting classes and moving activations.

    Two classes are joined wherever that gains. Then a class is split by size, duration, distance or one
    feature of the context wherever that gains. The evidence is a sum over classes, so only those that change
    are looked at.
    """
    a = _marked(activations)
    best = _joined(_settled(label, a)[0], a)
    c = 0
    while c <= best.max(initial=0) and best.max(initial=0) + 1 < THRESHOLDS.max_classes:
        halves = _halves(best == c, activations, a)
        if halves is None:
            c += 1
        else:
            best[best == c] = np.where(halves == 0, c, best.max() + halves)
    return _settled(_joined(best, a), a)


def _halves(members: BoolArray, activations: Activations, a: _Marked) -> IntArray | None:
    """The class of `members` (R,) in two or more: (members,) numbers from 0; None where none gains."""
    own = _of(a, members)
    _, whole = _settled(np.zeros(np.count_nonzero(members), dtype=np.int64), own, 0)
    best, gain = None, 1e-9  # above rounding
    for cut in _cuts(members, activations):
        label, evidence = _settled(cut[members].astype(np.int64), own)
        if evidence - whole > gain:
            best, gain = label, evidence - whole
    return best


def best_partition_and_spread(label: IntArray, activations: Activations) -> tuple[IntArray, Activations]:
    """The best partition where sizes may differ more than was said, and the activations as they then are.

    A wider spread has a price; it is tried as long as the evidence gains.
    """
    best, kept, spread = -np.inf, label, activations
    for wider in THRESHOLDS.wider_families:
        cost = THRESHOLDS.wider_nats * np.log(wider) ** 2
        wide = activations._replace(variance=wider**2 * activations.variance)
        start, evidence = best_partition(kept, wide)
        if evidence - cost < best:
            break
        best, kept, spread = evidence - cost, start, wide
    return kept, spread


def nearest_alike(
    size: FloatArray, begin: FloatArray | IntArray, stop: FloatArray | IntArray, alike: float
) -> FloatArray:
    """(R,) the time from each activation to the nearest one of about its size; inf where there is none.

    Those of a thermostat follow closely.
    """
    apart = np.maximum(begin[:, None] - stop[None, :], begin[None, :] - stop[:, None])
    other = (np.abs(size[:, None] - size[None, :]) <= alike) & (apart >= 0)
    return np.asarray(np.where(other, apart, np.inf).min(axis=1))


def context_of(
    others: BinaryArray, first: IntArray, size: FloatArray, begin: FloatArray | IntArray, alike: float
) -> IntArray:
    """(R, M) which of the `others` (N, M) are on in the `first` rows (R,) of activations.

    Activations of about one size within one run or one pause of another tell the same thing: only the first
    of them says it, the others have −1.
    """
    context = others[first].astype(np.int64)
    stretch = np.cumsum(np.diff(others, axis=0, prepend=others[:1]) != 0, axis=0)[first]
    earlier = (np.abs(size[:, None] - size[None, :]) <= alike) & (begin[None, :] < begin[:, None])
    for m in range(others.shape[1]):
        told = (earlier & (stretch[:, None, m] == stretch[None, :, m])).any(axis=1)
        context[told, m] = -1
    return context


def doublings(times: FloatArray | IntArray) -> IntArray:
    """The bin of each time, in the shortest that counts: one for every doubling."""
    return np.clip(np.log2(np.maximum(times, 1)), 0, THRESHOLDS.n_bins - 1).astype(np.int64)


def _joined(label: IntArray, a: _Marked) -> IntArray:
    """The partition `label` (R,) with the two classes made one that gain most, as long as two gain."""
    label = label.copy()
    alone: dict[int, float] = {}
    pairs: dict[tuple[int, int], float] = {}
    while True:
        classes = np.unique(label).tolist()
        for c in classes:
            if c not in alone:
                alone[c] = _evidence_of_one(label == c, a)
        for one, other in itertools.combinations(classes, 2):
            if (one, other) not in pairs:
                apart = alone[one] + alone[other]
                pairs[one, other] = _evidence_of_one((label == one) | (label == other), a) - apart
        if not pairs or max(pairs.values()) <= 0:
            return np.unique(label, return_inverse=True)[1].astype(np.int64)
        kept, gone = max(pairs, key=lambda pair: pairs[pair])
        label[label == gone] = kept
        alone = {c: value for c, value in alone.items() if c not in (kept, gone)}
        pairs = {pair: value for pair, value in pairs.items() if kept not in pair and gone not in pair}


def _evidence_of_one(members: BoolArray, a: _Marked) -> float:
    """Log evidence of the `members` (R,) as one class; −inf where two of them are on at the same time."""
    own = _of(a, members)
    if (own.clash & ~np.eye(len(own.size), dtype=np.bool_)).any():
        return -np.inf
    return _settled(np.zeros(len(own.size), dtype=np.int64), own, 0)[1]


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
