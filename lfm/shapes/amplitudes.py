"""The sizes of all shapes in all rows, and the base that they count from.

Minimises, over sizes a (N, K) and a base b (r,), with rows y_t and shapes B (K, r) in units of the noise,

    ½ Σ_t ‖y_t − b − a_t B‖² + Σ_t Σ_k log(1 + Δa_k(t)²) + μ Σ_t d_t Σ_k ρ(a_k(t)),
    ρ(a) = a for a ≥ 0, |a| (1 − q)/q for a < 0,

d_t the time that a row stands for, in units of the mean.

The second term is the price of a change: heavy-tailed, so few large changes are cheaper than many small
ones. The third is the loss of a quantile: it puts the level that a source exceeds in all but a share q of
the time at zero, and so decides the base. Reweighted least squares: each round is one block-tridiagonal
solve, O(N K³). Changes across a gap are free. While the base is looked for, a row counts less the more it
leaves: a source that has no shape here must not bend the base.

Once the base is known, sizes are at least 0: each round is a projected Newton step (Bertsekas 1982), which
keeps at zero what the gradient would push below it, and never raises the objective. The price of a change has
many local minima, so it is wide at first, log(1 + (Δa/w)²), and w falls to 1.

μ is small, because its price grows with the size: a large one lifts the base into the largest sources. The
base is looked for with a larger μ first, so that few rounds take it far.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from lfm.arrays import BoolArray, FloatArray
from lfm.compiled import compiled
from lfm.thresholds import SHAPES

_STRETCH = 20_000  # rows solved at a time: memory stays flat for a year of rows
_FIRM = 1e8  # weight that keeps a size at zero: far above any evidence
_HALVINGS = 10  # of a step; a shorter one gains nothing


def solve_amplitudes(
    Y: FloatArray,
    shapes: FloatArray,
    gap_before: BoolArray,
    changes: FloatArray,
    base: FloatArray,
    *,
    duration: FloatArray | None = None,
    tolerance: FloatArray | None = None,
) -> FloatArray:
    """(N, K) sizes of the `shapes` (K, r) in rows Y (N, r) above a `base` (r,).

    `changes` (N, K) are a first guess of Δa, `duration` (N,) the time that each row stands for. Where shapes
    are known to a `tolerance` (N,) of the rows only, in units of the noise, no size makes up for what another
    shape lacks: in each row a size costs up to η r/2 nats (η = `being_on_nats`), whatever it is.
    """
    sizes = np.empty(changes.shape)
    time = np.ones(len(Y)) if duration is None else duration / duration.mean()
    for begin in range(0, len(Y), _STRETCH):
        rows = slice(begin, begin + _STRETCH)
        problem = _Problem(Y[rows] - base, shapes, gap_before[rows], time[rows])
        if tolerance is not None:
            problem.trust = tolerance[rows] ** -2.0
        found = np.maximum(problem.sizes(changes[rows], None), 0.0)
        widest = SHAPES.wide_change if tolerance is None else 1.0
        for _ in range(SHAPES.settle_rounds):
            found = problem.with_weights(found, problem.weight_of(changes[rows], widest))
        widths = np.geomspace(widest, 1.0, SHAPES.narrower_rounds)
        for width in (*widths, *np.ones(SHAPES.size_rounds)):
            found = problem.with_changes(found, width)
        for _ in range(SHAPES.size_rounds if tolerance is not None else 0):
            problem.small = _slope_of_being_on(found, Y.shape[1])
            found = problem.with_changes(found, 1.0)
        sizes[rows] = found
    return sizes


def _slope_of_being_on(sizes: FloatArray, r: int) -> FloatArray:
    """(N, K) the slope of η r/2 log(1 + a/ε)/log(1 + u/ε) at the sizes a (N, K), ε = u · `nearly_off`.

    u is the size below which a shape has half of the sum of its sizes.
    """
    ordered = np.sort(sizes, axis=0)
    below = np.cumsum(ordered, axis=0) < ordered.sum(axis=0) / 2
    usual = np.take_along_axis(ordered, np.minimum(below.sum(axis=0), len(sizes) - 1)[None], axis=0)
    nearly_off = np.maximum(SHAPES.nearly_off * usual, SHAPES.least_size)
    return np.asarray(SHAPES.being_on_nats * r / 2 / ((sizes + nearly_off) * np.log1p(1 / SHAPES.nearly_off)))


class Above(NamedTuple):
    """The half space `direction` @ base ≥ `least`."""

    direction: FloatArray  # (r,)
    least: float


def find_base(
    Y: FloatArray,
    shapes: FloatArray,
    gap_before: BoolArray,
    changes: FloatArray,
    start: FloatArray,
    *,
    duration: FloatArray | None = None,
    above: Above | None = None,
) -> FloatArray:
    """(r,) the base of rows Y (N, r) that minimises the objective together with the sizes.

    `start` (r,) is a first guess, `duration` (N,) the time that each row stands for. The base stays in the
    half space `above`. One row in three decides, or fewer in a long record: levels last.
    """
    N = len(Y)
    first = np.arange(0, N, max(3, -(-N // SHAPES.base_rows)))
    # What comes before a row here is all that came since the row here before it.
    gaps = np.diff(np.cumsum(gap_before)[first], prepend=0) > 0
    coarse = np.diff(np.cumsum(changes, axis=0)[first], axis=0, prepend=np.zeros((1, changes.shape[1])))
    time = np.add.reduceat(np.ones(N) if duration is None else duration, first)
    problem = _Problem(Y[first], shapes, gaps, time / time.mean())
    base, sizes = start, problem.sizes(coarse, None, base=start)
    for n in range(SHAPES.base_settle_rounds + SHAPES.base_rounds):
        falls = (SHAPES.small_nats / SHAPES.small_at_first) ** (n / SHAPES.base_smaller_rounds)
        problem.small = max(SHAPES.small_nats, SHAPES.small_at_first * falls)
        # Sizes below zero change too: they are what pulls the base down.
        before = coarse if n < SHAPES.base_settle_rounds else _changes(sizes)
        base, sizes = problem.base_and_sizes(before, sizes, base, above)
    return base


class _Problem:
    """Rows Y (N, r) as sizes of shapes B (K, r): one round of reweighted least squares at a time."""

    def __init__(self, Y: FloatArray, shapes: FloatArray, gap_before: BoolArray, time: FloatArray) -> None:
        self.Y, self.B, self.gaps = Y, shapes, gap_before
        self.gram = shapes @ shapes.T
        self.trust = np.ones(len(Y))  # (N,) weights of the rows
        self.time = time[:, None]  # (N, 1) d
        self.small: float | FloatArray = SHAPES.small_nats  # μ, of all sizes or of each (N, K)

    def sizes(
        self,
        changes: FloatArray,
        sizes: FloatArray | None,
        *,
        base: FloatArray | None = None,
    ) -> FloatArray:
        """(N, K) the next sizes above the base, which is 0 unless given; the first where `sizes` is None."""
        inverse, weight = self._eliminated(changes, sizes)
        rows = self.Y if base is None else self.Y - base
        return _substitute(inverse, weight, self._right(rows)[:, :, None])[:, :, 0]

    def with_weights(self, sizes: FloatArray, weight: FloatArray) -> FloatArray:
        """(N, K) the next sizes, at least 0, at the price ½ `weight` Δa² of a change; weights are (N, K)."""
        return self._improved(sizes, weight, lambda change: 0.5 * float(np.sum(weight * change**2)))

    def with_changes(self, sizes: FloatArray, width: float) -> FloatArray:
        """(N, K) the next sizes, at least 0, at the price log(1 + (Δa/width)²) of a change."""
        weight = self.weight_of(_changes(sizes), width)
        within = weight > 0
        return self._improved(
            sizes, weight, lambda change: float(np.log1p((change[within] / width) ** 2).sum())
        )

    def _improved(
        self, sizes: FloatArray, weight: FloatArray, price: Callable[[FloatArray], float]
    ) -> FloatArray:
        """(N, K) sizes that cost less than `sizes`, both at least 0; the same where no step does.

        The step is exact for the weights (N, K) of squared changes; the `price` of all decides its length.
        """
        change = weight * _changes(sizes)
        gradient = (
            self.small * self.time - self.trust[:, None] * ((self.Y - sizes @ self.B) @ self.B.T) + change
        )
        gradient[:-1] -= change[1:]
        at_zero = (sizes <= 0) & (gradient > 0)
        inverse = _eliminate(self.gram, self.trust, weight, np.where(at_zero, _FIRM, SHAPES.held))
        goal = _substitute(inverse, weight, self._right(self.Y)[:, :, None])[:, :, 0]
        cost = self._cost(sizes) + price(_changes(sizes))
        for n in range(_HALVINGS):
            tried = np.maximum(sizes + 0.5**n * (np.where(at_zero, 0.0, goal) - sizes), 0.0)
            if self._cost(tried) + price(_changes(tried)) < cost:
                return tried
        return sizes

    def weight_of(self, changes: FloatArray, width: float) -> FloatArray:
        """(N, K) the weights of squared changes that stand for log(1 + (Δa/width)²); 0 across a gap."""
        weight = 2 / (width**2 + changes**2)
        weight[0] = 0
        weight[self.gaps] = 0
        return weight

    def _cost(self, sizes: FloatArray) -> float:
        """The objective without its changes, of sizes that are at least 0."""
        left = np.sum((self.Y - sizes @ self.B) ** 2, axis=1)
        return float(0.5 * self.trust @ left + np.sum(self.small * self.time * sizes))

    def _right(self, rows: FloatArray) -> FloatArray:
        """(N, K) the right-hand side of one round for `rows` (N, r) above the base."""
        return np.ascontiguousarray(self.trust[:, None] * (rows @ self.B.T) - self.small * self.time)

    def base_and_sizes(
        self, changes: FloatArray, sizes: FloatArray, base: FloatArray, above: Above | None
    ) -> tuple[FloatArray, FloatArray]:
        """The next base (r,) in the half space `above`, and sizes (N, K), solved for together.

        Sizes are linear in the base, a = a₀ − A b, and the base is what the sizes leave of the mean row.
        """
        left = np.sum((self.Y - base - sizes @ self.B) ** 2, axis=1)
        self.trust = 1 / (1 + left / max(2 * len(base), SHAPES.far_off * float(np.median(left))))
        inverse, weight = self._eliminated(changes, sizes)
        (N, r), K = self.Y.shape, len(self.B)
        right = np.empty((N, K, r + 1))
        right[:, :, 0] = self._right(self.Y)
        right[:, :, 1:] = self.trust[:, None, None] * self.B
        solved = _substitute(inverse, weight, right)
        without, per_base = solved[:, :, 0], solved[:, :, 1:]
        share = self.trust / self.trust.sum()
        system = (1 + SHAPES.pull) * np.eye(r) - self.B.T @ np.tensordot(share, per_base, axes=1)
        base = np.linalg.solve(system, share @ self.Y - share @ without @ self.B + SHAPES.pull * base)
        if above is not None and (short := above.least - float(above.direction @ base)) > 0:
            outwards = np.linalg.solve(system, above.direction)  # along it the objective grows least
            base = base + outwards * (short / float(above.direction @ outwards))
        return base, without - per_base @ base

    def _eliminated(self, changes: FloatArray, sizes: FloatArray | None) -> tuple[FloatArray, FloatArray]:
        """The inverse blocks (N, K, K) of the elimination, and the weights (N, K) of squared changes."""
        weight = self.weight_of(changes, 1.0)
        penalty = np.full(changes.shape, SHAPES.held)
        if sizes is not None:
            # Beyond the linear price, which stays.
            slope = self.small * self.time * ((1 - SHAPES.low_share) / SHAPES.low_share + 1)
            least = np.maximum(np.abs(sizes), SHAPES.least_size)
            penalty += np.where(sizes < 0, slope / least, 0.0)
        return _eliminate(self.gram, self.trust, weight, penalty), weight


def _changes(sizes: FloatArray) -> FloatArray:
    """(N, K) the change before each row, 0 before the first."""
    return np.diff(sizes, axis=0, prepend=sizes[:1])


@compiled
def _eliminate(gram: FloatArray, trust: FloatArray, weight: FloatArray, penalty: FloatArray) -> FloatArray:
    """(N, K, K) inverse pivots of the block-tridiagonal system, from the first row to the last."""
    N, K = weight.shape
    inverse = np.empty((N, K, K))
    for t in range(N):
        block = trust[t] * gram
        for k in range(K):
            block[k, k] += weight[t, k] + penalty[t, k]
            if t + 1 < N:
                block[k, k] += weight[t + 1, k]
        if t > 0:
            for i in range(K):
                if weight[t, i] > 0:
                    for j in range(K):
                        block[i, j] -= weight[t, i] * inverse[t - 1, i, j] * weight[t, j]
        inverse[t] = np.linalg.inv(block)
    return inverse


@compiled
def _substitute(inverse: FloatArray, weight: FloatArray, right: FloatArray) -> FloatArray:
    """(N, K, R) solutions for right-hand sides (N, K, R): forward, then back."""
    N, K, R = right.shape
    forward = right.copy()
    for t in range(1, N):
        carried = inverse[t - 1] @ forward[t - 1]
        for k in range(K):
            for q in range(R):
                forward[t, k, q] += weight[t, k] * carried[k, q]
    solved = np.empty((N, K, R))
    solved[N - 1] = inverse[N - 1] @ forward[N - 1]
    for t in range(N - 2, -1, -1):
        for k in range(K):
            for q in range(R):
                forward[t, k, q] += weight[t + 1, k] * solved[t + 1, k, q]
        solved[t] = inverse[t] @ forward[t]
    return solved
