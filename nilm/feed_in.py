"""How far a generator feeds in, row by row, told apart from the loads behind the same meter.

Along the generator's shape s a row holds c = a + ℓ: what is fed in, and the level ℓ of the loads. Between two
switches ℓ stands still, so that a day has one unknown level for each of its segments. Two things tie
these levels together: at a switch the sun's own step is roughly known from the rows beside it; and a segment
that looks like another one across s is the same state of the house and has the same level, by night too,
when a = 0 and ℓ is simply read. The levels that fit all of it best are found by least squares, without a
single appliance being known (`first_amplitude`). Once the appliances are, they tell it better (`completed`).
"""

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.linalg import spsolve

from lfm import Solution
from nilm.generator import Generator
from nilm.results import FloatArray

METER_W, DRIFT = 5.0, 0.01  # how well a level repeats: watts, and the share of its size that drifts
ACROSS_GAP = 10.0  # times as uncertain is the sun's step across a gap in time
ALIKE = 6  # segments by night, and later ones by day, that a segment is compared with
ROUNDS, TAIL = 15, 2.0  # ties that are this many spreads off lose weight (Cauchy)


def first_amplitude(X: FloatArray, generator: Generator, gap_before: NDArray[np.bool_]) -> FloatArray:
    """The amplitude a (N,) of the generator in the rows X (N, D), before any appliance is known."""
    along = X @ generator.shape
    segment, first = _segments(generator)
    length = np.bincount(segment)
    by_day = generator.daylight[first]
    level = np.bincount(segment, weights=along) / length
    i, j, difference, spread = _ties(generator, along, segment, first, gap_before, level, X)
    unknown = np.where(by_day, np.cumsum(by_day) - 1, -1)
    rows = np.arange(len(i))
    known = np.where(by_day[i], 0.0, level[i]) - np.where(by_day[j], 0.0, level[j])
    A = coo_array(
        (
            np.concatenate([np.ones(by_day[i].sum()), -np.ones(by_day[j].sum())]),
            (
                np.concatenate([rows[by_day[i]], rows[by_day[j]]]),
                np.concatenate([unknown[i][by_day[i]], unknown[j][by_day[j]]]),
            ),
        ),
        shape=(len(i), int(by_day.sum())),
    ).tocsc()
    wanted = difference - known
    weight = 1 / spread**2
    for _ in range(ROUNDS):
        weighted = A.multiply(weight[:, None])
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
    """The solution with a generator as its last feature, and its `amplitude` (N,) in units of that feature.

    It is on where it feeds in anything, with the mean waveform of those rows: energy is watts × time on.
    """
    on = amplitude > 0
    mean = float(amplitude[on].mean())
    Z = np.column_stack([solution.Z, on.astype(np.uint8)])
    return Solution(Z, np.vstack([solution.W, mean * shape])), amplitude / mean


def current_of(solution: Solution, amplitude: FloatArray | None) -> FloatArray:
    """What the solution explains (N, D), its last feature at `amplitude` (N,); None: all are on or off."""
    if amplitude is None:
        return solution.product()
    return solution.product() + np.outer(amplitude - solution.Z[:, -1], solution.W[-1])


def _segments(generator: Generator) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The segment of each row (N,), and the first row of each: a switch ends one, and so does a day."""
    begins = generator.switch.copy()
    begins[0] = True
    begins[1:] |= generator.daylight[1:] != generator.daylight[:-1]
    return np.cumsum(begins) - 1, np.flatnonzero(begins)


def _ties(
    generator: Generator,
    along: FloatArray,
    segment: NDArray[np.int64],
    first: NDArray[np.int64],
    gap_before: NDArray[np.bool_],
    level: FloatArray,
    X: FloatArray,
) -> tuple[NDArray[np.int64], NDArray[np.int64], FloatArray, FloatArray]:
    """(i, j, ℓ_i − ℓ_j, its spread) for pairs of segments of which at least one lies in daylight."""
    by_day = generator.daylight[first]
    meter = METER_W / abs(generator.watts)
    later = 1 + np.flatnonzero(by_day[1:] | by_day[:-1])
    at = first[later]
    switched = generator.switch[at]
    difference = np.where(switched, along[at] - along[at - 1] - generator.step[at], 0.0)
    spread = np.where(switched, np.hypot(generator.step_error, meter), meter)
    spread = np.where(gap_before[at], ACROSS_GAP * spread, spread)
    i, j = [later], [later - 1]
    means = np.zeros((len(first), X.shape[1]))
    np.add.at(means, segment, generator.without(X))
    means /= np.bincount(segment)[:, None]
    squares = np.einsum("sd,sd->s", means, means)
    for s in np.flatnonzero(by_day).tolist():
        apart = np.sqrt(np.maximum(squares + squares[s] - 2 * means @ means[s], 0.0) / X.shape[1])
        alike = np.argsort(apart, kind="stable")
        alike = alike[apart[alike] < generator.quiet_a]
        alike = np.concatenate([alike[~by_day[alike]][:ALIKE], alike[by_day[alike] & (alike > s)][:ALIKE]])
        i.append(np.full(len(alike), s))
        j.append(alike)
    first_of, second_of = np.concatenate(i), np.concatenate(j)
    drift = np.where(by_day[second_of], 3 * meter, np.hypot(meter, DRIFT * level[second_of]))
    n = len(first_of) - len(later)
    return (
        first_of,
        second_of,
        np.concatenate([difference, np.zeros(n)]),
        np.concatenate([spread, drift[len(later) :]]),
    )
