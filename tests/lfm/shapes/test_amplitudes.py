import numpy as np
import pytest
from scipy.optimize import nnls

from lfm.shapes.amplitudes import (
    Above,
    _changes,
    _eliminate,
    _Problem,
    _substitute,
    find_base,
    solve_amplitudes,
)
from lfm.thresholds import SHAPES as LIMITS

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
    assert np.abs(np.quantile(found, LIMITS.low_share, axis=0)).max() < 3


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


def block_tridiagonal(gram, trust, weight, penalty) -> np.ndarray:
    """The system of one round as a dense matrix (N·K, N·K)."""
    n, K = weight.shape
    dense = np.zeros((n, K, n, K))
    for t in range(n):
        dense[t, :, t] += trust[t] * gram + np.diag(penalty[t])
        for k in range(K):
            for a, b, sign in ((t, t, 1), (t - 1, t - 1, 1), (t, t - 1, -1), (t - 1, t, -1)):
                if t:
                    dense[a, k, b, k] += sign * weight[t, k]
    return dense.reshape(n * K, n * K)


@pytest.mark.parametrize("seed", range(5))
def test_elimination_and_substitution_solve_the_whole_system(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, K, R = 7, 3, 2
    weight, penalty = rng.random((n, K)), 0.1 * rng.random((n, K))
    weight[0] = 0
    weight[3] = 0  # a gap
    weight[4, 1] = 0
    trust, gram = rng.random(n) + 0.1, SHAPES @ SHAPES.T
    right = rng.standard_normal((n, K, R))
    solved = _substitute(_eliminate(gram, trust, weight, penalty), weight, right)
    dense = block_tridiagonal(gram, trust, weight, penalty)
    np.testing.assert_allclose(solved.reshape(n * K, R), np.linalg.solve(dense, right.reshape(n * K, R)))


def test_changes_are_weighed_by_the_price_and_less_than_nothing_is_punished() -> None:
    problem = _Problem(np.zeros((4, 3)), SHAPES, np.array([False, False, True, False]), np.ones(4))
    change = np.arange(12.0).reshape(4, 3)
    sizes_now = np.array([[1.0, -2.0, 0.0], [-0.1, 3.0, 4.0], [5.0, 6.0, -7.0], [1.0, 1.0, 1.0]])
    inverse, weight = problem._eliminated(change, sizes_now)
    expected = 2 / (1 + change**2)
    expected[[0, 2]] = 0
    np.testing.assert_allclose(weight, expected)
    slope = LIMITS.small_nats * ((1 - LIMITS.low_share) / LIMITS.low_share + 1)
    penalty = np.full((4, 3), 1e-6)
    penalty[0, 1] += slope / 2
    penalty[1, 0] += slope / 0.3
    penalty[2, 2] += slope / 7
    np.testing.assert_allclose(inverse, _eliminate(SHAPES @ SHAPES.T, np.ones(4), weight, penalty), rtol=1e-6)


def test_changes_start_at_zero() -> None:
    np.testing.assert_array_equal(_changes(np.array([[3.0, -5.0], [1.0, 2.0]])), [[0, 0], [-2, 7]])


def test_a_base_is_what_the_sizes_leave_of_the_mean_row() -> None:
    true = sizes()[:60]
    Y = BASE + true @ SHAPES + RNG.standard_normal((60, 3))
    problem = _Problem(Y, SHAPES, np.zeros(60, bool), np.ones(60))
    start = BASE + 3
    first = problem.sizes(changes(true), None, base=start)
    base, found = problem.base_and_sizes(changes(true), first, start, None)
    left = np.sum((Y - start - first @ SHAPES) ** 2, axis=1)
    trust = 1 / (1 + left / max(6.0, 20 * np.median(left)))
    np.testing.assert_allclose(problem.trust, trust)
    share = trust / trust.sum()
    np.testing.assert_allclose((1 + LIMITS.pull) * base, share @ (Y - found @ SHAPES) + LIMITS.pull * start)
    np.testing.assert_allclose(found, problem.sizes(changes(true), first, base=base), atol=1e-9)


def test_a_long_record_is_solved_in_stretches(monkeypatch: pytest.MonkeyPatch) -> None:
    true = sizes()
    Y = rows(true)
    whole = solve_amplitudes(Y, SHAPES, np.zeros(N, bool), changes(true), BASE)
    monkeypatch.setattr("lfm.shapes.amplitudes._STRETCH", 400)
    pieces = solve_amplitudes(Y, SHAPES, np.zeros(N, bool), changes(true), BASE)
    inner = np.abs(np.arange(N) % 400 - 200) < 150
    np.testing.assert_allclose(pieces[inner], whole[inner], atol=1.0)


def test_where_every_change_is_free_sizes_are_those_of_nonnegative_least_squares() -> None:
    rng = np.random.default_rng(3)
    B = rng.standard_normal((4, 5))
    Y = rng.standard_normal((60, 5)) * 30
    found = solve_amplitudes(Y, B, np.ones(60, bool), np.zeros((60, 4)), np.zeros(5))
    root = np.linalg.cholesky(B @ B.T)
    for row, sizes_of_row in zip(Y, found, strict=True):
        right = np.linalg.solve(root, B @ row - LIMITS.small_nats)
        np.testing.assert_allclose(sizes_of_row, nnls(root.T, right)[0], atol=1e-3)


def test_no_round_raises_the_objective_and_the_truth_costs_more_than_what_is_found() -> None:
    rng = np.random.default_rng(4)
    B = np.array([[1.0, 0.0], [0.999, 0.0447], [0.995, 0.0999]])
    size = np.repeat(rng.uniform(0, 500, (20, 3)) * (rng.random((20, 3)) < 0.4), 10, axis=0)
    Y = size @ B + rng.standard_normal((200, 2))
    problem = _Problem(Y, B, np.zeros(200, bool), np.ones(200))

    def objective(a: np.ndarray) -> float:
        fit = 0.5 * np.sum((Y - a @ B) ** 2) + LIMITS.small_nats * a.sum()
        return float(fit + np.log1p(np.diff(a, axis=0) ** 2).sum())

    found = np.maximum(np.linalg.lstsq(B.T, Y.T, rcond=None)[0].T, 0.0)
    costs = []
    for _ in range(30):
        found = problem.with_changes(found, 1.0)
        assert found.min() >= 0
        costs.append(objective(found))
    assert np.all(np.diff(costs) <= 1e-9)
    found = solve_amplitudes(Y, B, np.zeros(200, bool), np.zeros((200, 3)), np.zeros(2))
    assert objective(found) < objective(size)
