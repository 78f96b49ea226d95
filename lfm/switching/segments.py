"""Rows in time as few distinct levels: noise, the subspace that holds the signal, segments, and states.

Owns what can be said about X before anybody asks which features it is made of. From the subspace on, all
quantities are in units of the noise: one row has covariance I, the mean of n rows I/n.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from lfm.arrays import BoolArray, FloatArray, IntArray
from lfm.checks import check_gaps, check_real
from lfm.compiled import compiled
from lfm.errors import InvalidInputError
from lfm.switching.thresholds import THRESHOLDS


class Subspace(NamedTuple):
    """The r directions of X above its noise."""

    basis: FloatArray  # (D, r), orthonormal columns
    noise: float  # standard deviation of one entry of X

    def scores(self, X: FloatArray) -> FloatArray:
        """X (N, D) in these directions, (N, r), in units of the noise."""
        return np.ascontiguousarray(X @ self.basis / self.noise)


class Segments(NamedTuple):
    """Maximal runs of rows at one level."""

    start: IntArray  # (S,) first row
    length: IntArray  # (S,) rows
    mean: FloatArray  # (S, r)
    follows: BoolArray  # (S,) False where a gap in time (or the beginning) lies before the segment

    def rows(self, values: NDArray[Any]) -> NDArray[Any]:
        """`values` (S, …), one per segment, repeated for each of its rows: (N, …)."""
        return np.repeat(values, self.length, axis=0)

    def only(self, kept: BoolArray) -> "Segments":
        """The segments that are `kept` (S,)."""
        return Segments(self.start[kept], self.length[kept], self.mean[kept], self.follows[kept])


class States(NamedTuple):
    """Levels that segments share."""

    label: IntArray  # (S,) the state of each segment
    mean: FloatArray  # (M, r)
    rows: FloatArray  # (M,) rows spent in it


def distance_limit(rank: int) -> float:
    """The squared distance, in units of its variance, that noise in `rank` dimensions exceeds so rarely."""
    return float(stats.chi2.isf(THRESHOLDS.false_alarm, max(rank, 1)))


def _edge(N: int, D: int) -> float:
    """Largest eigenvalue of the Gram matrix of N×D unit noise: Marchenko-Pastur plus 4 Tracy-Widom scales."""
    a, b = np.sqrt(N), np.sqrt(D)
    return float((a + b) ** 2 + 4 * (a + b) * (1 / a + 1 / b) ** (1 / 3))


def _principal(X: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Eigenvalues of XᵀX, descending, min(N, D) of them, and the eigenvectors (D, min(N, D))."""
    N, D = X.shape
    values, vectors = np.linalg.eigh(X.T @ X if N >= D else X @ X.T)
    values, vectors = np.maximum(values[::-1], 0.0), vectors[:, ::-1]
    if N < D:
        vectors = X.T @ vectors / np.sqrt(np.maximum(values, np.finfo(float).tiny))
    return values, vectors


def _noise_between_rows(X: FloatArray, gap_before: BoolArray) -> float:
    """Standard deviation of an entry from the median change between neighbouring rows; inf if few follow."""
    follows = np.flatnonzero(~gap_before[1:])
    if len(follows) < THRESHOLDS.min_neighbours:
        return np.inf
    change = np.sum((X[follows + 1] - X[follows]) ** 2, axis=1)
    D = X.shape[1]
    return float(np.sqrt(np.median(change) / (2 * D * (1 - 2 / (9 * D)) ** 3)))


def find_subspace(X: FloatArray, gap_before: BoolArray) -> Subspace:
    """Noise and signal directions of X (N, D) from its eigenvalues, then from rows that these leave out.

    A feature that is on for a few rows carries too little energy to lift an eigenvalue over the edge, but
    those rows stick out of the subspace one by one: their residuals add directions of their own.
    """
    N, D = X.shape
    values, vectors = _principal(X)
    floor = THRESHOLDS.least_noise * float(np.sqrt(np.mean(X**2))) or 1.0
    between = _noise_between_rows(X, gap_before)
    most = min(len(values), THRESHOLDS.max_rank)
    rank, noise = most, between
    for r in range(min(most, N, D)):
        # A few directions are too few to measure noise, and a level that switches adds to them. Neighbouring
        # rows at the same level differ by noise alone.
        noise = min(float(np.sqrt(values[r:].sum() / ((N - r) * (D - r)))), THRESHOLDS.noise_leeway * between)
        if values[r] <= max(noise, floor) ** 2 * _edge(N - r, D - r):
            rank = r
            break
    else:
        noise = min(noise, between)
    noise = max(noise, floor)
    basis = np.ascontiguousarray(vectors[:, :rank])
    for _ in range(3):
        left = np.sum(X**2, axis=1) - np.sum((X @ basis) ** 2, axis=1)
        free = D - basis.shape[1]
        outside = np.flatnonzero(left > noise**2 * distance_limit(free))
        room = min(free, THRESHOLDS.max_rank - basis.shape[1])
        if not len(outside) or room == 0:
            break
        residual = X[outside] - (X[outside] @ basis) @ basis.T
        values, vectors = _principal(residual)
        new = int(np.count_nonzero(values > noise**2 * _edge(len(outside), free)))
        if new == 0:
            break
        basis, _ = np.linalg.qr(np.hstack([basis, vectors[:, : min(new, room)]]))
    return Subspace(basis, noise)


@compiled
def _starts(Y: FloatArray, gap_before: BoolArray, limit: float) -> BoolArray:
    """Whether a segment begins at each row: the row is too far from the running mean, or follows a gap."""
    N, r = Y.shape
    begins = np.zeros(N, dtype=np.bool_)
    mean = np.zeros(r)
    n = 0
    for t in range(N):
        distance = 0.0
        for i in range(r):
            distance += (Y[t, i] - mean[i]) ** 2
        if n == 0 or gap_before[t] or distance > limit * (1.0 + 1.0 / n):
            begins[t] = True
            n = 0
            mean[:] = 0.0
        n += 1
        for i in range(r):
            mean[i] += (Y[t, i] - mean[i]) / n
    return begins


def split(Y: FloatArray, gap_before: BoolArray) -> Segments:
    """The segments of Y (N, r), rows in units of the noise."""
    start = np.flatnonzero(_starts(Y, gap_before, distance_limit(Y.shape[1])))
    length = np.diff(np.append(start, len(Y)))
    mean = np.add.reduceat(Y, start, axis=0) / length[:, None]
    follows = ~gap_before[start]
    follows[0] = False
    return Segments(start, length, mean, follows)


def level_changes(X: FloatArray, gap_before: BoolArray, *, min_noise: float = 0.0) -> FloatArray:
    """The sizes of the changes from one level to the next; rows that differ by mere noise are one level.

    Parameters
    ----------
    X : array of shape (N, D)
        Rows in time.
    gap_before : array of bool, shape (N,)
        True where a row does not follow the one before.
    min_noise : float, default 0
        The noise is taken as at least this, in the unit of X.

    Returns
    -------
    array of shape (M,)
        Root mean square of the change over the D entries, in order of time; M is 0 where nothing ever changes
        and at most N − 1. There is no change across a gap.

    Raises
    ------
    InvalidInputError
        Where X is empty or not finite, or gap_before is not one boolean per row.

    Examples
    --------
    >>> import numpy as np
    >>> from lfm import level_changes
    >>> X = np.repeat([[0.0, 1.0], [5.0, 2.0], [0.0, 1.0]], 40, axis=0)
    >>> X = X + 0.01 * np.random.default_rng(0).standard_normal(X.shape)
    >>> level_changes(X, np.zeros(120, dtype=bool)).round(1).tolist()
    [3.6, 3.6]
    """
    X = check_real("X", X)
    gap_before = check_gaps(gap_before, len(X))
    if not X.size:
        raise InvalidInputError(f"X has shape {X.shape}; at least one row and one column are needed")
    subspace = find_subspace(X, gap_before)
    subspace = subspace._replace(noise=max(subspace.noise, min_noise))
    segments = split(subspace.scores(X), gap_before)
    change = np.diff(segments.mean, axis=0)[segments.follows[1:]]
    return np.asarray(np.linalg.norm(change, axis=1) * subspace.noise / np.sqrt(X.shape[1]))


def is_transition(segments: Segments) -> BoolArray:
    """(S,) True for a single row between the levels of its neighbours, during which something may switch."""
    found = np.zeros(len(segments.start), dtype=np.bool_)
    inner = 1 + np.flatnonzero((segments.length[1:-1] == 1) & segments.follows[1:-1] & segments.follows[2:])
    before, after = segments.mean[inner - 1], segments.mean[inner + 1]
    step, here = after - before, segments.mean[inner] - before
    size = np.maximum(np.sum(step**2, axis=1), np.finfo(float).tiny)
    share = np.sum(step * here, axis=1) / size
    away = np.sum((here - share[:, None] * step) ** 2, axis=1)
    noise = 1 + (1 - share) ** 2 / segments.length[inner - 1] + share**2 / segments.length[inner + 1]
    found[inner] = (share > 0) & (share < 1) & (away <= distance_limit(here.shape[1]) * noise)
    return found


@compiled
def _lead(
    means: FloatArray,
    weight: FloatArray,
    order: IntArray,
    limit: float,
    up_to_sign: bool,
    along: float,
    across: float,
) -> tuple[IntArray, IntArray]:
    """Leader clustering: in the given order each mean joins the nearest leader within its reach, or leads."""
    S, r = means.shape
    label = np.empty(S, dtype=np.int64)
    sign = np.ones(S, dtype=np.int64)
    centre = np.empty((S, r))
    size = np.zeros(S)
    total = np.zeros(S)
    M = 0
    for s in order:
        best, nearest = 1.0, -1
        for m in range(M):
            noise = limit * (1.0 / weight[s] + 1.0 / total[m])
            reach_along = noise + along**2 * size[m]
            reach_across = noise + across**2 * size[m]
            bound = max(reach_along, reach_across)
            for turn in (1, -1):
                if turn < 0 and not up_to_sign:
                    continue
                distance, product = 0.0, 0.0
                for i in range(r):
                    difference = turn * means[s, i] - centre[m, i]
                    distance += difference**2
                    product += difference * centre[m, i]
                    if distance > bound:
                        break
                if distance > bound:
                    continue
                parallel = product**2 / size[m] if size[m] > 0 else 0.0
                ratio = parallel / reach_along + max(distance - parallel, 0.0) / reach_across
                if ratio <= best:
                    best, nearest = ratio, m
                    sign[s] = turn
        if nearest < 0:
            nearest = M
            centre[M] = 0.0
            M += 1
            sign[s] = 1
        label[s] = nearest
        total[nearest] += weight[s]
        size[nearest] = 0.0
        for i in range(r):
            centre[nearest, i] += (sign[s] * means[s, i] - centre[nearest, i]) * weight[s] / total[nearest]
            size[nearest] += centre[nearest, i] ** 2
    return label, sign


class Groups(NamedTuple):
    """Vectors that agree within their noise."""

    label: IntArray  # (S,) the group of each vector
    sign: IntArray  # (S,) +1, or −1 where the vector is the opposite of its group's centre
    centre: FloatArray  # (M, r)
    weight: FloatArray  # (M,)


def group(
    vectors: FloatArray,
    weight: FloatArray,
    *,
    up_to_sign: bool = False,
    along: float = 0.0,
    across: float = 0.0,
) -> Groups:
    """The groups of vectors (S, r), where one of weight n has covariance I/n; the heaviest lead.

    Vectors differ from their group's centre by the noise and by the parts `along` and `across` of its size.
    """
    order = np.argsort(-weight, kind="stable")
    limit = distance_limit(vectors.shape[1])
    label, sign = _lead(vectors, weight, order, limit, up_to_sign, along, across)
    total = np.bincount(label, weights=weight).astype(np.float64)
    centre = np.zeros((len(total), vectors.shape[1]))
    np.add.at(centre, label, vectors * (weight * sign)[:, None])
    return Groups(label, sign, centre / total[:, None], total)


def find_states(segments: Segments) -> States:
    """The distinct levels among the segments."""
    groups = group(segments.mean, segments.length.astype(np.float64))
    return States(groups.label, groups.centre, groups.weight)
