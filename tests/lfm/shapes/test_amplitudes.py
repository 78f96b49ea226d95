import numpy as np

from lfm.shapes.amplitudes import LOW_SHARE, Above, find_base, solve_amplitudes

RNG = np.random.default_rng(0)
SHAPES = np.array([[1.0, 0.0, 0.0], [0.98, 0.199, 0.0], [0.6, 0.0, 0.8]])
BASE = np.array([40.0, 5.0, -3.0])
N = 1500


def sizes() -> np.ndarray:
    """Three sources: two are on or off, one varies while it is on."""
    t = np.arange(N)
    varies = np.repeat(RNG.uniform(50, 300, N // 15), 15) * (t % 300 < 200)
    return np.column_stack([400.0 * (t % 90 < 20), 150.0 * (t % 130 < 60), varies])


def rows(true: np.ndarray) -> np.ndarray:
    return BASE + true @ SHAPES + RNG.standard_normal((N, 3))


def changes(true: np.ndarray) -> np.ndarray:
    return np.vstack([np.zeros(3), np.diff(true, axis=0)])


def test_sizes_above_a_known_base_are_those_that_made_the_rows() -> None:
    true = sizes()
    found = solve_amplitudes(rows(true), SHAPES, np.zeros(N, bool), changes(true), BASE)
    assert np.abs(found - true).mean() < 2


def test_the_base_is_found_from_a_wrong_guess_and_lies_at_a_low_quantile_of_every_source() -> None:
    true = sizes()
    Y = rows(true)
    base = find_base(Y, SHAPES, np.zeros(N, bool), changes(true), Y.mean(axis=0))
    assert np.linalg.norm(base - BASE) < 3
    found = solve_amplitudes(Y, SHAPES, np.zeros(N, bool), changes(true), base)
    assert np.abs(np.quantile(found, LOW_SHARE, axis=0)).max() < 3


def test_rows_that_no_shape_explains_do_not_bend_the_base() -> None:
    true = sizes()
    Y = rows(true)
    Y[300:330] += [0.0, -900.0, 0.0]  # a source without a shape, for an hour
    base = find_base(Y, SHAPES, np.zeros(N, bool), changes(true), Y[:50].mean(axis=0))
    assert np.linalg.norm(base - BASE) < 10


def test_a_change_across_a_gap_is_free() -> None:
    true = np.zeros((40, 3))
    true[20:, 0] = 500.0
    Y = BASE + true @ SHAPES
    gap = np.arange(40) == 20
    found = solve_amplitudes(Y, SHAPES, gap, np.zeros((40, 3)), BASE)
    assert np.abs(found - true).max() < 2


def test_the_base_stays_in_its_half_space() -> None:
    rng = np.random.default_rng(8)
    true = np.abs(np.cumsum(rng.standard_normal((N, 3)) * 5, axis=0))
    Y = rows(true) - BASE - 40.0 * SHAPES[0]  # a base far below nothing fits these rows best
    above = Above(SHAPES[0], 3.0)
    free = find_base(Y, SHAPES, np.zeros(N, bool), changes(true), Y.mean(axis=0))
    held = find_base(Y, SHAPES, np.zeros(N, bool), changes(true), Y.mean(axis=0), above=above)
    assert above.direction @ free < 0
    assert above.direction @ held >= above.least - 1e-6


def test_a_source_that_is_rarely_off_is_not_part_of_the_base() -> None:
    size = np.where(np.arange(N) % 40 < 2, 0.0, 60.0)  # off for two rows of 40: between two that decide
    true = np.column_stack([size, np.zeros(N), np.zeros(N)])
    Y = rows(true)
    base = find_base(Y, SHAPES, np.zeros(N, bool), changes(true), Y[size == 0].mean(axis=0))
    assert np.linalg.norm(base - BASE) < 3


def test_the_base_follows_time_and_not_the_number_of_rows() -> None:
    levels = np.array([10.0, 200.0])  # a source that is never off, in two levels that do not last alike
    size = levels[(np.arange(N) % 300 >= 150).astype(int)]
    true = np.column_stack([size, np.zeros(N), np.zeros(N)])
    Y = rows(true)

    def found(low_share: float) -> float:
        duration = np.where(size == levels[0], low_share, 1 - low_share)
        start = Y[size == levels[0]].mean(axis=0)
        base = find_base(Y, SHAPES, np.zeros(N, bool), changes(true), start, duration=duration)
        return float((base - BASE) @ SHAPES[0])

    assert abs(found(0.5) - levels[0]) < 3
    assert found(0.001) > found(0.5) + 3  # less than 2% of the time decides on no base
