"""How far a generator feeds in, row by row, told apart from the loads behind the same meter.

Along the generator's shape s a row holds c = a + ℓ: what is fed in, and the level ℓ of the loads. By night
a = 0. Between two switches ℓ stands still, so that a day has one unknown level for each of its segments.
Three things tie these levels together: at a switch the sun's own step is roughly that of the rows beside it;
segments that look alike across s are one state of the house and have one level; and switches that look alike
are one appliance's, with one step. The levels that fit all of it best are found by least squares, without a
single appliance being known (`first_amplitude`). Once the appliances are, they tell it better (`completed`).
"""

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csc_array, eye_array, hstack, vstack
from scipy.sparse.linalg import spsolve

from lfm import Solution, least_squares
from lfm.arrays import FloatArray
from nilm.disaggregate.sun.generator import Generator
from nilm.thresholds import HOUSE, SUN


def first_amplitude(X: FloatArray, generator: Generator, gap_before: NDArray[np.bool_]) -> FloatArray:
    """The amplitude a (N,) of the generator in the rows X (N, D), before any appliance is known."""
    along = X @ generator.shape
    begins = generator.switch.copy()  # a switch begins a segment, and so does a day or a night
    begins[0] = True
    begins[1:] |= generator.daylight[1:] != generator.daylight[:-1]
    first, segment = np.flatnonzero(begins), np.cumsum(begins) - 1
    rows = np.bincount(segment)
    level = np.bincount(segment, weights=along) / rows
    means = np.add.reduceat(generator.without(X), first, axis=0) / rows[:, None]
    by_day = generator.daylight[first]
    meter = SUN.meter_w / abs(generator.watts)
    step, step_error = _loads_step(along, generator)

    S = len(first)
    later = 1 + np.flatnonzero(~gap_before[first[1:]])
    change = eye_array(S, format="csr")[later] - eye_array(S, format="csr")[later - 1]
    switched = generator.switch[first[later]]
    seen = np.where(switched, step[first[later]], 0.0)
    doubt = np.where(switched, np.hypot(step_error, meter), meter)
    state, _ = _alike(means, generator.quiet_a)
    kind, sign = _alike(means[later] - means[later - 1], generator.quiet_a, relative=3 * SUN.drift)
    # Unknowns: the level of each segment, of each state, and the step of each kind of switch.
    ties = csc_array(
        vstack(
            [
                hstack([change, csc_array((len(later), state.max() + kind.max() + 2))]),
                hstack([eye_array(S), -_one_of(state), csc_array((S, kind.max() + 1))]),
                hstack([change, csc_array((len(later), state.max() + 1)), -_one_of(kind, sign)]),
            ]
        )
    )
    wanted = np.concatenate([seen, np.zeros(S + len(later))])
    drift = SUN.drift * np.abs(seen)
    spread = np.concatenate([doubt, np.full(S, meter), np.hypot(meter, drift)])
    known = np.flatnonzero(~by_day)
    unknown = np.setdiff1d(np.arange(ties.shape[1]), known)
    found = _fitted(ties[:, unknown], wanted - ties[:, known] @ level[known], spread)
    level[by_day] = found[: np.count_nonzero(by_day)]
    return np.where(generator.daylight, along - level[segment], 0.0)


def without_sunshine(solution: Solution, generator: Generator) -> Solution:
    """The solution without features that have no current across the shape: nothing tells them apart."""
    across_a = np.sqrt(np.mean(generator.without(solution.W) ** 2, axis=1))
    kept = (across_a >= generator.quiet_a) | solution.Z.all(axis=0)
    return solution if kept.all() else Solution(solution.Z[:, kept], solution.W[kept])


def consumes_when_off(solution: Solution, loads: FloatArray, generator: Generator) -> bool:
    """Whether the house takes power with all features off, each turned to the side on which it consumes.

    `loads` (N, D) are the rows without what is fed in. A solution that takes the difference of two heaters
    for an appliance needs a level that gives power.
    """
    watts = generator.watts * least_squares(solution.Z, loads @ generator.shape[:, None]).W[:, 0]
    always_on = solution.Z.all(axis=0)
    level_w = watts[always_on].sum() + np.minimum(watts[~always_on], 0.0).sum()
    return bool(level_w >= -HOUSE.sunny_w)


def completed(solution: Solution, X: FloatArray, generator: Generator) -> tuple[Solution, FloatArray]:
    """The solution with what its W has along the shape, and the amplitude a (N,) that goes with it.

    One number x_k per appliance: by night c = Zx, by day a switch changes c by what switches and by the sun's
    own step. The amplitude is 0 by night and where it would be less than a reading is worth.
    """
    along = X @ generator.shape
    Z = solution.Z.astype(np.float64)
    meter = SUN.meter_w / abs(generator.watts)
    night = ~generator.daylight
    step, step_error = _loads_step(along, generator)
    change = np.diff(Z, axis=0, prepend=Z[:1])
    by_day = generator.daylight & generator.switch & change.any(axis=1)
    wanted = np.concatenate([along[night], step[by_day]])
    doubt = np.where(np.arange(len(wanted)) < np.count_nonzero(night), meter, np.hypot(meter, step_error))
    A = csc_array(np.concatenate([Z[night], change[by_day]]))
    x = _fitted(A, wanted, np.hypot(doubt, SUN.drift * np.abs(wanted)))
    a = along - Z @ x
    a[night | (a < meter)] = 0.0
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


def _loads_step(along: FloatArray, generator: Generator) -> tuple[FloatArray, float]:
    """The change of the loads' level (N,) before each row: what is seen less what still rows beside it saw.

    And how far those are usually off by day.
    """
    step = np.diff(along, prepend=along[:1])
    still = ~generator.switch
    beside = np.ones(2 * SUN.beside + 1)
    beside[SUN.beside] = 0
    n_beside = np.maximum(np.convolve(still, beside, "same"), 1)
    left = step - np.convolve(step * still, beside, "same") / n_beside
    return left, 1.4826 * float(np.median(np.abs(left[still & generator.daylight])))


def _alike(
    vectors: FloatArray, limit: float, relative: float = 0.0
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The group of each vector (n, D), and its sign in it: those within `limit` RMS of the group's first.

    With `relative` also those within that share of the smaller one's size, up to sign.
    """
    n = len(vectors)
    group, sign = np.zeros(n, dtype=np.int64), np.ones(n, dtype=np.int64)
    products = vectors @ vectors.T / vectors.shape[1]
    squares = np.diag(products)
    leaders: list[int] = []
    for i in range(n):
        turn = (
            np.where(products[i, leaders] < 0, -1, 1) if relative else np.ones(len(leaders), dtype=np.int64)
        )
        apart = squares[i] + squares[leaders] - 2 * turn * products[i, leaders]
        reach = np.maximum(limit**2, relative**2 * np.minimum(squares[i], squares[leaders]))
        nearest = int(np.argmin(apart / reach)) if leaders else 0
        if leaders and apart[nearest] <= reach[nearest]:
            group[i], sign[i] = nearest, turn[nearest]
        else:
            group[i] = len(leaders)
            leaders.append(i)
    return group, sign


def _one_of(group: NDArray[np.int64], sign: NDArray[np.int64] | None = None) -> csc_array:
    """(n, groups) with one entry in each row: the sign of each member in the column of its group."""
    values = np.ones(len(group)) if sign is None else sign.astype(np.float64)
    return coo_array((values, (np.arange(len(group)), group))).tocsc()


def _fitted(A: csc_array, wanted: FloatArray, spread: FloatArray) -> FloatArray:
    """The x with A x = wanted by least squares, where what is many spreads off loses weight."""
    weight = 1 / spread**2
    held = 1e-9 * float(weight.mean()) * eye_array(A.shape[1], format="csc")  # what nothing decides is 0
    for _ in range(SUN.rounds):
        weighted = A.multiply(weight[:, None]).tocsc()
        x = spsolve((A.T @ weighted + held).tocsc(), weighted.T @ wanted)
        weight = 1 / (spread**2 + ((wanted - A @ x) / SUN.tail) ** 2)
    return np.asarray(x, dtype=np.float64)
