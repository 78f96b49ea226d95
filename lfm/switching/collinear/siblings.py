"""Siblings: features of one shape that differ in size only, told apart by their activations.

Collinear features (heaters all draw the same shape) may come out as one, or share their activations out
wrongly. The size of an activation shows in its edges, in which everything that stays on cancels:
s = (x_t − x_{t−1} − what else switches)·w/‖w‖². Where sizes overlap, how long an activation lasts and what
else is on then tell more. Owns families of collinear features and what is measured of their activations. The
partition is made in `partition` beside this module; that two features are one is found in `twins`.
"""

import itertools
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from lfm.arrays import BoolArray, FloatArray, IntArray
from lfm.checks import check_real
from lfm.errors import InvalidInputError
from lfm.runs import runs_of_ones
from lfm.solution import Solution
from lfm.switching.collinear.partition import (
    Activations,
    best_partition_and_spread,
    context_of,
    doublings,
    nearest_alike,
)
from lfm.switching.thresholds import THRESHOLDS


def separate_siblings(solution: Solution, X: ArrayLike, *, gap_before: BoolArray) -> Solution:
    """The solution with activations of clearly different size in different features.

    Siblings are features of one shape that differ in size only, such as heaters.

    Parameters
    ----------
    solution : Solution
        What an estimator found.
    X : array of shape (N, D)
        The data.
    gap_before : array of N booleans
        True where row n does not directly follow row n − 1 in time.

    Returns
    -------
    Solution
        Features keep their places and new ones come last; the same solution where nothing has to be
        separated.

    Raises
    ------
    InvalidInputError
        Where gap_before does not have one entry per row.

    Examples
    --------
    >>> import lfm
    >>> import numpy as np
    >>> solution = lfm.Solution([[1, 0], [1, 1], [1, 0]], [[3.0], [1.0]])
    >>> same = lfm.separate_siblings(solution, solution.product(), gap_before=np.zeros(3, dtype=bool))
    >>> same is solution
    True
    """
    X = check_real("X", X)
    if X.shape != (solution.N, solution.D):
        raise InvalidInputError(f"X has shape {X.shape}; the solution's rows are {(solution.N, solution.D)}")
    gap_before = np.asarray(gap_before)
    if gap_before.shape != (solution.N,) or gap_before.dtype != np.bool_:
        raise InvalidInputError(
            f"gap_before has shape {gap_before.shape} and type {gap_before.dtype}; one boolean per row of X "
            "is needed"
        )
    never_on = np.asarray(~solution.Z.any(axis=0))  # such a feature stays as it is
    residual = X - solution.product()
    spreads = _spreads(solution, residual, gap_before)
    for family in _families(solution):
        others = [spread for k, spread in spreads.items() if k not in family]
        drift = max(float(np.median(others)) if others else 0.0, THRESHOLDS.least_drift)
        changed = _shared_out(solution, residual, gap_before, family, drift)
        if changed is not None and changed.solution.residual(X) <= np.hypot(
            THRESHOLDS.worse_residual * solution.residual(X), changed.drifts
        ):
            solution = changed.solution
            residual = X - solution.product()
    kept = np.asarray(solution.Z.any(axis=0))
    kept[: len(never_on)] |= never_on
    return solution if kept.all() else Solution(solution.Z[:, kept], solution.W[kept])


def _families(solution: Solution) -> list[list[int]]:
    """Features of one shape and near sizes, linked by pairs; those that are always on belong to none."""
    size = np.linalg.norm(solution.W, axis=1)
    switched = np.flatnonzero((size > 0) & ~solution.Z.all(axis=0) & solution.Z.any(axis=0)).tolist()
    families: list[list[int]] = []
    for k in sorted(switched, key=lambda k: -size[k]):
        for family in families:
            j = family[-1]
            collinear = solution.W[j] @ solution.W[k] >= THRESHOLDS.collinear_cosine * size[j] * size[k]
            if collinear and size[j] <= THRESHOLDS.near_ratio * size[k]:
                family.append(k)
                break
        else:
            families.append([k])
    return families


class _Edges:
    """The runs of feature k with the change of level at their edges, given what the solution leaves of X."""

    def __init__(self, solution: Solution, residual: FloatArray, gap_before: BoolArray, k: int) -> None:
        Z, W = solution.Z, solution.W
        switches = Z[1:] != Z[:-1]  # row t: from t to t + 1
        switches[:, k] = False
        # The drift of what else switches looks like a size: its energy over the feature's own.
        beside = switches @ np.sum(W**2, axis=1) / np.sum(W[k] ** 2)
        runs, changes, foreign = [], [], []
        for first, end in runs_of_ones(Z[:, k], gap_before):
            seen = []
            if first > 0 and not gap_before[first]:
                seen.append((float(beside[first - 1]), residual[first] - residual[first - 1]))
            if end < solution.N and not gap_before[end]:
                seen.append((float(beside[end - 1]), residual[end - 1] - residual[end]))
            if seen:
                least = min(share for share, _ in seen)
                runs.append((first, end))
                changes.append(W[k] + np.mean([more for share, more in seen if share == least], axis=0))
                foreign.append(least)
        self.first = np.array([first for first, _ in runs], dtype=np.int64)
        self.end = np.array([end for _, end in runs], dtype=np.int64)
        self.change = np.array(changes).reshape(len(runs), solution.D)
        self.foreign = np.array(foreign, dtype=np.float64)


def _spreads(solution: Solution, residual: FloatArray, gap_before: BoolArray) -> dict[int, float]:
    """How much each feature's activations differ in size, relative; without features of few runs."""
    spreads = {}
    for k in (member for family in _families(solution) for member in family):
        edges = _Edges(solution, residual, gap_before, k)
        sizes = (edges.change @ solution.W[k] / np.sum(solution.W[k] ** 2))[edges.foreign == 0]
        if len(sizes) >= THRESHOLDS.min_runs:
            spreads[k] = 1.4826 * float(np.median(np.abs(sizes - np.median(sizes))))
    return spreads


class _Changed(NamedTuple):
    """A solution in which a family's activations are shared out anew."""

    solution: Solution
    drifts: float  # ‖X − ZW‖ that the sizes of these activations alone make: they differ within a class


def _shared_out(
    solution: Solution, residual: FloatArray, gap_before: BoolArray, family: list[int], drift: float
) -> _Changed | None:
    """The solution with the family's activations in classes of their own; None where that changes nothing."""
    parts = [_Edges(solution, residual, gap_before, k) for k in family]
    member = np.concatenate([np.full(len(part.first), i) for i, part in enumerate(parts)]).astype(np.int64)
    if len(member) < THRESHOLDS.min_runs:
        return None
    change = np.concatenate([part.change for part in parts])
    shape = solution.W[family].mean(axis=0)
    size = change @ shape / float(shape @ shape)
    ratio = np.array([solution.W[k] @ solution.W[k] for k in family])[member] / float(shape @ shape)
    foreign = np.concatenate([part.foreign for part in parts]) * ratio
    first, end = (np.concatenate([getattr(part, name) for part in parts]) for name in ("first", "end"))
    others = [k for k in range(solution.K) if k not in family and not solution.Z[:, k].all()]
    activations = Activations(
        size=size,
        variance=drift**2 * (1.0 + foreign),
        duration=doublings(end - first),
        company=doublings(nearest_alike(size, first, end, THRESHOLDS.alike_drifts * drift)),
        context=context_of(solution.Z[:, others], first, size, first, THRESHOLDS.alike_drifts * drift),
        usual=solution.Z[:, others].mean(axis=0),
        first=first,
        end=end,
    )
    label, spread = best_partition_and_spread(member, activations)
    label = _without_doubtful(label, spread, member)
    if _same(label, member):
        return None
    weight = _weight(foreign)
    centre = np.bincount(label, weights=weight * size) / np.bincount(label, weights=weight)
    drifts = np.linalg.norm(shape) * np.sqrt((end - first) @ (size - centre[label]) ** 2)
    return _Changed(_rebuilt(solution, family, parts, label, member, change, foreign), float(drifts))


def _without_doubtful(label: IntArray, a: Activations, member: IntArray) -> IntArray:
    """The partition with every class merged into its nearest in size that is not clearly apart from it."""
    label = label.copy()
    while True:
        classes = np.unique(label)
        weight = np.array([np.sum(1 / a.variance[label == c]) for c in classes])
        mean = np.array([np.sum((a.size / a.variance)[label == c]) for c in classes]) / weight
        order = np.argsort(mean)
        doubtful = []
        for low, high in itertools.pairwise(order):
            pair = [label == classes[low], label == classes[high]]
            apart = float((mean[high] - mean[low]) / np.sqrt(1 / weight[high] + 1 / weight[low]))
            few = min(np.count_nonzero(one) for one in pair)
            least = max(
                THRESHOLDS.min_activations, THRESHOLDS.min_class_share * np.count_nonzero(pair[0] | pair[1])
            )
            accident = few < least and not _was_a_feature(pair, member)
            if (apart < THRESHOLDS.apart_sigmas or accident) and not _overlap(pair, a):
                doubtful.append((apart, classes[low], classes[high]))
        if not doubtful:
            return np.searchsorted(classes, label)
        _, kept, gone = min(doubtful)
        label[label == gone] = kept


def _was_a_feature(pair: list[BoolArray], member: IntArray) -> bool:
    """Whether the smaller of two classes is most of what one feature was before."""
    small = min(pair, key=np.count_nonzero)
    return any(
        2 * np.count_nonzero(small & (member == i)) > np.count_nonzero(member == i)
        for i in set(member.tolist())
    )


def _overlap(pair: list[BoolArray], a: Activations) -> bool:
    """Whether an activation of one class is on at the same time as one of the other."""
    one, other = pair
    return bool(np.any((a.first[one][:, None] < a.end[other]) & (a.first[other] < a.end[one][:, None])))


def _same(label: IntArray, member: IntArray) -> bool:
    """Whether two partitions are one up to the names of their classes."""
    pairs = np.unique(np.stack([label, member]), axis=1)
    return bool(pairs.shape[1] == len(np.unique(label)) == len(np.unique(member)))


def _weight(foreign: FloatArray) -> FloatArray:
    """How much each edge counts, given the `foreign` energy in it relative to the feature's own."""
    return 1 / (1 + THRESHOLDS.foreign_weight * foreign)


def _rebuilt(
    solution: Solution,
    family: list[int],
    parts: list[_Edges],
    label: IntArray,
    member: IntArray,
    change: FloatArray,
    foreign: FloatArray,
) -> Solution:
    """The solution with the classes in the places of the features; activations without an edge stay."""
    classes = np.unique(label)
    shared = np.array([[np.sum((label == c) & (member == i)) for i in range(len(family))] for c in classes])
    first = np.concatenate([part.first for part in parts])
    end = np.concatenate([part.end for part in parts])
    Z, W = solution.Z.copy(), solution.W.copy()
    for r in range(len(label)):
        Z[first[r] : end[r], family[member[r]]] = 0
    free = list(range(len(family)))
    for c in classes[np.argsort(-shared.max(axis=1), kind="stable")].tolist():
        mine = label == c
        weight = _weight(foreign[mine])
        feature = weight @ change[mine] / weight.sum()
        column = np.zeros(solution.N, dtype=np.uint8)
        for r in np.flatnonzero(mine).tolist():
            column[first[r] : end[r]] = 1
        at = max(free, key=lambda i: shared[c, i]) if free else -1
        if at >= 0 and shared[c, at] > 0:
            free.remove(at)
            Z[:, family[at]] |= column
            W[family[at]] = feature
        else:
            Z, W = np.column_stack([Z, column]), np.vstack([W, feature])
    return Solution(Z, W)
