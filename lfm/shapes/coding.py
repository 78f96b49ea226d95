"""Changes written as sums of few lines, at the price of their sizes; lines that do not pay are dropped.

A change d costs ½(r + ν) log(1 + ‖d − Σ x_k l_k‖²/(r + ν)) nats for what is left (a heavy tail: nothing is
exactly a sum of lines) and −log p(k, x_k) for each line used. p is learnt: sizes that recur are cheap, so two
sources that switch at once cost little, and need no line of their own.
"""

import heapq
from typing import NamedTuple

import numpy as np

from lfm.arrays import FloatArray, IntArray
from lfm.compiled import compiled
from lfm.thresholds import SHAPES

_BINS = 256
_BIN = 0.04  # width of a bin of sizes, in log size
_LOWEST = 60  # bins below size 1


class Code(NamedTuple):
    """n changes as sums of lines."""

    cost: FloatArray  # (n,) nats
    line: IntArray  # (n, at_once) lines used, −1 where there are fewer
    size: FloatArray  # (n, at_once) their sizes in units of the background


class Lines(NamedTuple):
    """Lines and what sizes on them cost."""

    direction: FloatArray  # (K, r) unit vectors
    price: FloatArray  # (K, _BINS) nats of a size, by its logarithm

    def code(self, changes: FloatArray) -> Code:
        """The cheapest sums found for `changes` (n, r)."""
        gram = self.direction @ self.direction.T
        along = changes @ self.direction.T
        limits = SHAPES.at_once, SHAPES.starts, SHAPES.tail
        return Code(*_code(changes, along, self.direction, gram, self.price, *limits))

    def left_of(self, changes: FloatArray) -> FloatArray:
        """(n, r) what the cheapest sums leave of `changes` (n, r)."""
        return _left_over(changes, self.direction, self.code(changes))

    def take(self, kept: IntArray) -> "Lines":
        """The lines `kept` alone."""
        return Lines(self.direction[kept], self.price[kept])


def unlearnt(directions: FloatArray) -> Lines:
    """The lines (K, r) while nothing is known of their sizes: the larger, the dearer."""
    K = len(directions)
    price = np.log(max(K, 2)) + 2 + np.log(np.maximum(_bin_sizes(), 1.0))
    return Lines(directions, np.tile(price, (K, 1)))


def choose_lines(changes: FloatArray, directions: FloatArray) -> Lines:
    """The `directions` (K, r) that pay for themselves in coding the large `changes` (n, r), refitted."""
    lines = unlearnt(directions)
    for _ in range(SHAPES.coding_rounds):
        code = lines.code(changes)
        for _ in range(2):
            lines = Lines(_refitted(changes, lines.direction, code), _learnt_prices(code, len(lines.price)))
            code = lines.code(changes)
        kept = _worth_keeping(changes, lines, code)
        n_before, lines = len(lines.price), lines.take(kept)
        if len(kept) == n_before:
            break
    return lines


def _worth_keeping(changes: FloatArray, lines: Lines, code: Code) -> IntArray:
    """The lines that remain when each that saves less than it costs is dropped, the worst first.

    A line costs what its direction does, ½(r − 1) log(1 + Σ x²): its changes tell it to 1/√Σ x².
    """
    r = changes.shape[1]
    prices = [(r - 1) / 2 * np.log1p(np.sum(code.size[code.line == k] ** 2)) for k in range(len(lines.price))]
    cost, used = code.cost.copy(), code.line.copy()
    kept = np.arange(len(lines.price))
    gains = [(-np.inf, k) for k in kept.tolist()]  # what each saves; an old value until it is the least
    while len(kept) > 1 and gains:
        _, k = heapq.heappop(gains)
        rows = np.flatnonzero((used == k).any(axis=1))
        if len(rows) > SHAPES.few:
            continue
        others = kept[kept != k]
        without = lines.take(others).code(changes[rows])
        gain = float(without.cost.sum() - cost[rows].sum()) - prices[k]
        if gains and gain > gains[0][0]:
            heapq.heappush(gains, (gain, k))
        elif gain >= 0:
            break
        else:
            kept = others
            cost[rows] = without.cost
            used[rows] = np.where(without.line >= 0, kept[np.maximum(without.line, 0)], -1)
    return kept


def _left_over(changes: FloatArray, directions: FloatArray, code: Code) -> FloatArray:
    """(n, r) what the coded sums leave of the changes."""
    rebuilt = np.zeros_like(changes)
    for q in range(SHAPES.at_once):
        used = code.line[:, q] >= 0
        rebuilt[used] += code.size[used, q, None] * directions[code.line[used, q]]
    return changes - rebuilt


def _refitted(changes: FloatArray, directions: FloatArray, code: Code) -> FloatArray:
    """The directions by least squares on what each is used for, far-off changes counting less."""
    left = _left_over(changes, directions, code)
    weight = 1 / (1 + np.mean(left**2, axis=1))
    refitted = directions.copy()
    for k in range(len(directions)):
        rows, place = np.nonzero(code.line == k)
        size = code.size[rows, place]
        total = (weight[rows] * size) @ (left[rows] + size[:, None] * directions[k])
        length = float(np.linalg.norm(total))
        if length > 0:
            refitted[k] = total / length
    return refitted


def _learnt_prices(code: Code, K: int) -> FloatArray:
    """(K, _BINS) −log of how often each line is used with each size, per unit of size."""
    times = np.zeros((K, _BINS))
    used = code.line >= 0
    np.add.at(times, (code.line[used], _bins(code.size[used])), 1)
    kernel = np.array([1, 2, 4, 2, 1]) / 10
    smooth = np.array([np.convolve(row, kernel, "same") for row in times]).reshape(K, _BINS)
    any_size = (times.sum(axis=1, keepdims=True) + 1) * SHAPES.any_size / (_BINS / 2)
    width = np.maximum(_bin_sizes() * _BIN, 1.0)
    return np.asarray(np.log(times.sum() + K) + np.log(width) - np.log(smooth + any_size))


def _bin_sizes() -> FloatArray:
    return np.asarray(np.exp((np.arange(_BINS) - _LOWEST + 0.5) * _BIN))


def _bins(size: FloatArray) -> IntArray:
    log_size = np.log(np.maximum(np.abs(size), 1e-3))
    return np.clip(np.floor(log_size / _BIN).astype(np.int64) + _LOWEST, 0, _BINS - 1)


@compiled
def _bin_of(size: float) -> int:
    return min(max(int(np.floor(np.log(max(abs(size), 1e-3)) / _BIN)) + _LOWEST, 0), _BINS - 1)


@compiled
def _next_line(left: FloatArray, directions: FloatArray, gram: FloatArray, chosen: IntArray, m: int) -> int:
    """The line that takes most off `left` together with the m `chosen` ones; −1 if there is none."""
    best, best_gain = -1, 0.0
    for k in range(len(directions)):
        if m >= 1 and (k == chosen[0] or (m == 2 and k == chosen[1])):
            continue
        outside = 1.0  # squared length of the line outside the span of the chosen ones
        if m == 1:
            outside = 1 - gram[k, chosen[0]] ** 2
        elif m == 2:
            a, b, g = gram[k, chosen[0]], gram[k, chosen[1]], gram[chosen[0], chosen[1]]
            outside = 1 - (a * a + b * b - 2 * a * b * g) / (1 - g * g + 1e-9)
        if outside < 1e-5:
            continue
        gain = np.dot(left, directions[k]) ** 2 / outside
        if gain > best_gain:
            best, best_gain = k, gain
    return best


@compiled
def _code(
    changes: FloatArray,
    along: FloatArray,
    directions: FloatArray,
    gram: FloatArray,
    price: FloatArray,
    at_once: int,
    starts: int,
    heavy: float,
) -> tuple[FloatArray, IntArray, FloatArray]:
    """`Lines.code`: from each of the best single lines, greedily more, each sum refitted as a whole."""
    n, r = changes.shape
    tail = r + heavy
    cost = np.empty(n)
    line = -np.ones((n, at_once), dtype=np.int64)
    size = np.zeros((n, at_once))
    chosen = np.zeros(at_once, dtype=np.int64)
    for i in range(n):
        cost[i] = 0.5 * tail * np.log1p(np.sum(changes[i] ** 2) / tail)
        firsts = np.argsort(-np.abs(along[i]))[:starts]
        for first in firsts:
            chosen[0] = first
            m = 1
            while True:
                A = np.empty((m, m))
                b = np.empty(m)
                for p in range(m):
                    b[p] = along[i, chosen[p]]
                    for q in range(m):
                        A[p, q] = gram[chosen[p], chosen[q]]
                    A[p, p] += 1e-9
                x = np.linalg.solve(A, b)
                left = changes[i].copy()
                total = 0.0
                for p in range(m):
                    left -= x[p] * directions[chosen[p]]
                    total += price[chosen[p], _bin_of(x[p])]
                left2 = np.sum(left**2)
                total += 0.5 * tail * np.log1p(left2 / tail)
                if total < cost[i]:
                    cost[i] = total
                    for q in range(at_once):
                        line[i, q] = chosen[q] if q < m else -1
                        size[i, q] = x[q] if q < m else 0.0
                if m == at_once or left2 < r:
                    break
                more = _next_line(left, directions, gram, chosen, m)
                if more < 0:
                    break
                chosen[m] = more
                m += 1
    return cost, line, size
