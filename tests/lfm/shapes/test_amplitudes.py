import numpy as np

from lfm.shapes.amplitudes import LOW_SHARE, find_base, solve_amplitudes

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
