"""How far a generator feeds in, row by row, told apart from the loads behind the same meter.

Along the generator's shape s a row holds c = a + ℓ: what is fed in, and the level ℓ of the loads. Between two
switches ℓ stands still, so that a day has one unknown level for each of its segments. Three things tie
these levels together: at a switch the sun's own step is roughly known from the rows beside it; a segment that
looks like another one across s is the same state of the house and has the same level, by night too, when
a = 0 and ℓ is simply read; and a switch that looks like another is the same appliance's step. The levels
that fit all of it best are found by least squares, without a single appliance being known
(`first_amplitude`). Once the appliances are, they tell it better (`completed`).
"""

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csc_array
from scipy.sparse.linalg import spsolve

from lfm import Solution
from nilm.disaggregate.generator import Generator
from nilm.results import FloatArray

METER_W, DRIFT = 5.0, 0.01  # how well a level repeats: watts, and the share of its size that drifts
ACROSS_GAP = 10.0  # times as uncertain is the sun's step across a gap in time
ALIKE = 6  # by night, and later ones by day: that many alike segments or switches are tied to each
SAME_EDGE = 0.03  # relative difference across the shape of two switches of one appliance
ROUNDS, TAIL = 15, 2.0  # ties that are this many spreads off lose weight (Cauchy)


def first_amplitude(X: FloatArray, generator: Generator, gap_before: NDArray[np.bool_]) -> FloatArray:
    """The amplitude a (N,) of the generator in the rows X (N, D), before any appliance is known."""
    along = X @ generator.shape
    segment, first = _segments(generator)
    by_day = generator.daylight[first]
    level = np.bincount(segment, weights=along) / np.bincount(segment)
    ties, value, spread = _ties(generator, X, segment, first, gap_before, level)
    A = ties[:, by_day]
    wanted = value - ties[:, ~by_day] @ level[~by_day]
    weight = 1 / spread**2
    for _ in range(ROUNDS):
        weighted = A.multiply(weight[:, None]).tocsc()
        found = spsolve((A.T @ weighted).tocsc(), weighted.T @ wanted)
        off = (wanted - A @ found) / spread
        weight = 1 / (spread**2 * (1 + (off / TAIL) ** 2))
    level[by_day] = found
    return np.where(generator.daylight, along - level[segment], 0.0)


def completed(
    solution: Solution, X: FloatArray, generator: Generator, amplitude: FloatArray
) -> tuple[Solution, FloatArray]:
    """The solution with what its W has along the shape, and the amplitude a (N,) that goes with it.

    One number x_k per appliance, from ℓ = Zx with the levels that the first `amplitude` (N,) leaves. The
    amplitude is 0 by night and where it would be less than a reading is worth.
    """
    along = X @ generator.shape
    segment, first = _segments(generator)
    level = np.bincount(segment, weights=along - amplitude) / np.bincount(segment)
    Z = solution.Z[first].astype(np.float64)
    meter = METER_W / abs(generator.watts)
    doubt = np.where(generator.daylight[first], generator.step_error, 0.0)
    x = np.linalg.lstsq(Z, level, rcond=None)[0]
    for _ in range(ROUNDS):
        spread = np.sqrt(meter**2 + doubt**2 + DRIFT**2 * (Z @ x**2))
        off = (level - Z @ x) / spread
        weight = 1 / (spread * np.sqrt(1 + (off / TAIL) ** 2))
        x = np.linalg.lstsq(Z * weight[:, None], level * weight, rcond=None)[0]
    a = along - solution.Z @ x
    a[~generator.daylight | (a < meter)] = 0.0
    return Solution(solution.Z, generator.without(solution.W) + np.outer(x, generator.shape)), a


def with_generator(
    solution: Solution, shape: FloatArray, amplitude: FloatArray
) -> tuple[Solution, FloatArray]:
    """The solution with a generator as its last feature, and its `amplitude` (N, 1) in units of that feature.

    It is on where it feeds in anything, with the mean waveform of those rows: energy is watts × time on.
    """
    on = amplitude > 0
    mean = float(amplitude[on].mean())
    Z = np.column_stack([solution.Z, on.astype(np.uint8)])
    return Solution(Z, np.vstack([solution.W, mean * shape])), amplitude[:, None] / mean


def _segments(generator: Generator) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The segment of each row (N,), and the first row of each: a switch ends one, and so does a day."""
    begins = generator.switch.copy()
    begins[0] = True
    begins[1:] |= generator.daylight[1:] != generator.daylight[:-1]
    return np.cumsum(begins) - 1, np.flatnonzero(begins)


def _ties(
    generator: Generator,
    X: FloatArray,
    segment: NDArray[np.int64],
    first: NDArray[np.int64],
    gap_before: NDArray[np.bool_],
    level: FloatArray,
) -> tuple[csc_array, FloatArray, FloatArray]:
    """T (n, S), v and spreads (n,) with T ℓ = v: what is known of the segments' levels ℓ (S,) by day."""
    along = X @ generator.shape
    by_day = generator.daylight[first]
    meter = METER_W / abs(generator.watts)
    means = np.zeros((len(first), X.shape[1]))
    np.add.at(means, segment, generator.without(X))
    means /= np.bincount(segment)[:, None]
    ties: list[tuple[tuple[int, ...], tuple[int, ...], float, float]] = []  # segments, signs, value, spread
    later = np.arange(1, len(first))
    at = first[1:]
    change = along[at] - along[at - 1] - generator.step[at]
    for s in later[by_day[1:] | by_day[:-1]].tolist():
        row = int(first[s])
        switched = bool(generator.switch[row])
        spread = float(np.hypot(generator.step_error, meter)) if switched else meter
        spread *= ACROSS_GAP if gap_before[row] else 1.0
        ties.append(((s, s - 1), (1, -1), float(change[s - 1]) if switched else 0.0, spread))
    near = _Near(means)
    for s in np.flatnonzero(by_day).tolist():  # one state of the house, one level
        for other, _ in near.to(s, limit=generator.quiet_a, first_choice=~by_day):
            drift = 3 * meter if by_day[other] else float(np.hypot(meter, DRIFT * level[other]))
            ties.append(((s, other), (1, -1), 0.0, drift))
    edges = later[generator.switch[at] & ~gap_before[at]]
    bright = by_day[edges] | by_day[edges - 1]
    near = _Near(means[edges] - means[edges - 1], either_sign=True)
    for e in np.flatnonzero(bright).tolist():  # one appliance, one step of the level
        limit = max(generator.quiet_a, SAME_EDGE * near.size(e))
        drift = float(np.hypot(meter, 1.5 * DRIFT * change[edges[e] - 1]))
        for other, sign in near.to(e, limit=limit, first_choice=~bright):
            pair = (edges[e], edges[e] - 1, edges[other], edges[other] - 1)
            ties.append((tuple(int(n) for n in pair), (1, -1, -sign, sign), 0.0, drift))
    rows = np.repeat(np.arange(len(ties)), [len(tie[0]) for tie in ties])
    columns = np.concatenate([tie[0] for tie in ties])
    signs = np.concatenate([tie[1] for tie in ties]).astype(np.float64)
    T = coo_array((signs, (rows, columns)), shape=(len(ties), len(first))).tocsc()
    return T, np.array([tie[2] for tie in ties]), np.array([tie[3] for tie in ties])


class _Near:
    """Vectors (n, D) and which of them are near each other, by the RMS of their difference (or sum)."""

    def __init__(self, vectors: FloatArray, *, either_sign: bool = False) -> None:
        self._products = vectors @ vectors.T / vectors.shape[1]
        self._squares = np.diag(self._products)
        self._either_sign = either_sign

    def size(self, n: int) -> float:
        """The RMS of one of them."""
        return float(np.sqrt(self._squares[n]))

    def to(self, n: int, *, limit: float, first_choice: NDArray[np.bool_]) -> list[tuple[int, int]]:
        """(index, sign) of the ALIKE nearest of the first choice, and of the others that come after n."""
        sign = (
            np.where(self._products[n] < 0, -1, 1) if self._either_sign else np.ones(len(self._squares), int)
        )
        apart = self._squares + self._squares[n] - 2 * sign * self._products[n]
        order = np.argsort(apart, kind="stable")
        order = order[(apart[order] < limit**2) & (order != n)]
        chosen = [order[first_choice[order]][:ALIKE], order[~first_choice[order] & (order > n)][:ALIKE]]
        return [(int(m), int(sign[m])) for m in np.concatenate(chosen)]
