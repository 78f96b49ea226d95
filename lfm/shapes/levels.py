"""Lines from levels: what lasts shows a source whose changes do not.

A source that switches across a gap, once only, or with another waveform each time has no line among the
changes. Then the rows say so: no sum of the lines explains them. There every level that lasts, above the
base, is looked at like a change, and so is every change from one such level to the next. A row is known to a
tolerance, the noise, a share of its size and a share of its wander; in its units the lines that pay are
chosen as among changes (`coding`).
"""

import numpy as np

from lfm.arrays import FloatArray, IntArray
from lfm.compiled import compiled
from lfm.least_squares import least_squares
from lfm.shapes.coding import choose_lines
from lfm.shapes.wander import local_variance, without_wander
from lfm.thresholds import SHAPES


def share_left(Y: FloatArray, base: FloatArray, shapes: FloatArray) -> float:
    """Share of the rows Y (N, r) above the `base` (r,) that no sum of `shapes` (K, r) explains, noise aside.

    It is a share of the sum of lengths, of rows in units of the noise; sizes are at least 0.
    """
    rows = Y[np.unique(np.linspace(0, len(Y) - 1, SHAPES.sampled_rows).astype(np.int64))] - base
    total = float(np.linalg.norm(rows, axis=1).sum())
    left = rows
    if len(shapes):
        left = rows - least_squares(shapes.T, rows.T, nonnegative=True).W.T @ shapes
    beyond_noise = np.sqrt(np.maximum(np.sum(left**2, axis=1) - left.shape[1], 0.0))
    return float(beyond_noise.sum()) / total if total > 0 else 0.0


def levels_of(Y: FloatArray, base: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Rows Y (N, r) without their wander, and the tolerance (N,): by how much an entry of each may be off."""
    variance = local_variance(Y)
    levels = without_wander(Y, variance)
    size2 = np.mean((levels - base) ** 2, axis=1)
    tolerance2 = SHAPES.of_size**2 * size2 + np.maximum(1.0, SHAPES.of_wander**2 * variance)
    return levels, np.asarray(np.sqrt(tolerance2))


def find_lines_in_levels(
    Y: FloatArray, base: FloatArray, tolerance: FloatArray, known: FloatArray, side: FloatArray
) -> FloatArray:
    """(K, r) unit vectors on the side of `side` (r,): the lines of the levels of Y (N, r), the largest first.

    `tolerance` (N,) is that of the rows; lines that are `known` (L, r) may be among those found.
    """
    r = Y.shape[1]
    seen = _seen(Y, base, tolerance)
    seen = seen[np.linalg.norm(seen, axis=1) > SHAPES.levels_apart * np.sqrt(r)]
    if len(seen) == 0:
        return np.zeros((0, r))
    power, basis = np.linalg.eigh(seen.T @ seen / len(seen))
    basis = basis[:, power > 1]  # elsewhere levels differ by no more than their tolerance
    seen = seen @ basis
    directions = np.vstack([seen, known @ basis])
    length = np.linalg.norm(directions, axis=1)
    directions = directions[length > 0] / length[length > 0, None]
    lines = choose_lines(seen, _different(_on_side(directions, side @ basis)))
    code = lines.code(seen)
    use = np.array([np.abs(code.size[code.line == k]).sum() for k in range(len(lines.price))])
    largest = np.argsort(-use, kind="stable")[: np.count_nonzero(use)]
    return _on_side(_different(lines.direction[largest]) @ basis.T, side)


def _seen(Y: FloatArray, base: FloatArray, tolerance: FloatArray) -> FloatArray:
    """(n, r) levels that last, above the base, and the changes between them, in units of their tolerance."""
    r = Y.shape[1]
    starts = np.append(_level_starts(Y, SHAPES.levels_apart * np.sqrt(r) * tolerance), len(Y))
    length = np.diff(starts)
    lasting = np.flatnonzero(length >= SHAPES.lasting_rows)
    lasting = np.sort(lasting[np.argsort(-length[lasting], kind="stable")][: SHAPES.most_levels])
    spans = [slice(starts[k], starts[k + 1]) for k in lasting]
    level = np.array([np.median(Y[span], axis=0) for span in spans]).reshape(-1, r)
    known_to = np.array([np.median(tolerance[span]) for span in spans])[:, None]
    change = np.diff(level, axis=0) / np.maximum(known_to[1:], known_to[:-1])
    return np.vstack([(level - base) / known_to, change])


def _on_side(directions: FloatArray, side: FloatArray) -> FloatArray:
    """The vectors (K, r), turned to the side of `side` (r,)."""
    return np.where((directions @ side < 0)[:, None], -directions, directions)


def _different(directions: FloatArray) -> FloatArray:
    """The first of those unit vectors (K, r) that are one within the tolerance of a row."""
    closest = 1 - SHAPES.of_size**2 / 2  # cosine
    kept: list[int] = []
    for k, direction in enumerate(directions):
        if not kept or np.max(directions[kept] @ direction) < closest:
            kept.append(k)
    return directions[kept]


@compiled
def _level_starts(Y: FloatArray, limit: FloatArray) -> IntArray:
    """The first row of each level: one ends where a row is farther from its mean than its `limit` (N,)."""
    N, r = Y.shape
    starts = np.zeros(N, dtype=np.int64)
    n_levels, n = 0, 0
    mean = np.zeros(r)
    for t in range(N):
        if n == 0 or np.sum((Y[t] - mean) ** 2) > limit[t] ** 2:
            starts[n_levels] = t
            n_levels += 1
            n = 0
            mean = np.zeros(r)
        n += 1
        mean += (Y[t] - mean) / n
    return starts[:n_levels]
