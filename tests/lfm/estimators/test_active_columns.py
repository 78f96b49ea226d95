import numpy as np
import pytest
from scipy.optimize import check_grad

from lfm.estimators.active_columns import ActiveColumns, _descend, loss_and_gradient
from lfm.estimators.bit_flips import flip_bits


def test_loss_equals_both_of_its_definitions_and_the_gradient_is_its_slope():
    rng = np.random.default_rng(0)
    X, Z, c, tau = rng.standard_normal((9, 4)), rng.integers(0, 2, (9, 5)) * 1.0, rng.random(5), 0.7
    gram, cross = Z.T @ Z, Z.T @ X
    loss, gradient = loss_and_gradient(c, gram, cross @ cross.T, tau)
    loss += 0.5 * np.sum(X**2)
    trace = 0.5 * np.trace(X.T @ np.linalg.solve(np.eye(9) + Z @ np.diag(c) @ Z.T / tau, X))
    Zc = Z * np.sqrt(c)
    V = np.linalg.solve(Zc.T @ Zc + tau * np.eye(5), Zc.T @ X)
    ridge = 0.5 * np.sum((X - Zc @ V) ** 2) + 0.5 * tau * np.sum(V**2)
    assert loss == pytest.approx(trace)
    assert loss == pytest.approx(ridge)
    np.testing.assert_allclose(gradient, -np.sum((Z.T @ (X - Zc @ V)) ** 2, axis=1) / (2 * tau))
    outer = cross @ cross.T
    assert (
        check_grad(
            lambda c: loss_and_gradient(c, gram, outer, tau)[0],
            lambda c: loss_and_gradient(c, gram, outer, tau)[1],
            c,
        )
        < 1e-4
    )


def test_gradient_is_safe_where_a_column_has_no_weight():
    rng = np.random.default_rng(1)
    X, Z = rng.standard_normal((9, 4)), rng.integers(0, 2, (9, 2)) * 1.0
    cross = Z.T @ X
    _, gradient = loss_and_gradient(np.zeros(2), Z.T @ Z, cross @ cross.T, 2.0)
    np.testing.assert_allclose(gradient, -np.sum(cross**2, axis=1) / 4)


def active_set(seed, N=30, J=9, D=6):
    rng = np.random.default_rng(seed)
    Z = rng.integers(0, 2, (N, J)).astype(np.uint8)
    X = Z[:, :4] @ rng.standard_normal((4, D)) + 0.3 * rng.standard_normal((N, D))
    return ActiveColumns.of(Z, rng.random(J), X), X


def test_equal_and_empty_columns_merge_without_changing_the_objective():
    active, X = active_set(0)
    Z = np.column_stack([active.Z, active.Z[:, :2], np.zeros(len(X), np.uint8)])
    merged = ActiveColumns.of(Z, np.append(active.c / 2, [*active.c[:2] / 2, 3.0]), X)
    assert merged.Z.shape == active.Z.shape
    half = active._replace(c=np.append(active.c[:2], active.c[2:] / 2))
    assert merged.objective(0.7, 2.0) == pytest.approx(half.objective(0.7, 2.0))


def test_a_column_that_is_there_or_empty_is_not_added():
    active, X = active_set(1)
    assert active.grown(active.Z[:, 3], X) is active
    assert active.grown(np.zeros(len(X), np.uint8), X) is active
    grown = active.grown(1 - active.Z[:, 3], X)
    real = grown.Z.astype(float)
    np.testing.assert_allclose(grown.gram, real.T @ real)
    np.testing.assert_allclose(grown.cross, real.T @ X)
    assert grown.objective(1.0, 1.0) == pytest.approx(active.objective(1.0, 1.0))


@pytest.mark.parametrize("seed", range(4))
def test_no_step_raises_the_objective_and_no_single_flip_is_left(seed):
    active, X = active_set(seed)
    tau, penalty = 0.8, 1.5
    descended = active.descended(tau, penalty, 50)
    slid = descended.slid(X, tau)
    assert descended.objective(tau, penalty) <= active.objective(tau, penalty)
    assert slid.objective(tau, penalty) < descended.objective(tau, penalty)
    B = descended.features(tau)
    Z = descended.Z.copy()
    assert flip_bits(Z, X @ B.T, B @ B.T) > 0
    left = X - Z @ B
    for j, feature in enumerate(B):
        flipped = left + np.where(Z[:, [j]] == 1, feature, -feature)
        assert np.all(np.sum(flipped**2, axis=1) >= np.sum(left**2, axis=1) - 1e-6)


def test_the_steps_on_c_end_at_the_minimum_that_a_grid_finds():
    rng = np.random.default_rng(5)
    Z = (rng.random((30, 2)) < 0.5).astype(np.uint8)
    X = Z @ rng.standard_normal((2, 4)) + 0.1 * rng.standard_normal((30, 4))
    active = ActiveColumns.of(Z, np.full(2, 0.1), X).descended(1.0, 0.5, 500)
    grid = np.linspace(0, 3, 61)
    outer = active.cross @ active.cross.T
    values = [
        loss_and_gradient(np.array([a, b]), active.gram, outer, 1.0)[0] + 0.5 * (a + b)
        for a in grid
        for b in grid
    ]
    assert active.objective(1.0, 0.5) <= min(values) + 1e-6


def test_the_objective_is_the_loss_and_the_price_of_all_weights():
    active, X = active_set(6)
    tau, penalty = 0.8, 1.5
    M = active.Z * active.c @ active.Z.T
    loss = 0.5 * np.trace(X.T @ np.linalg.solve(np.eye(len(X)) + M / tau, X)) - 0.5 * np.sum(X**2)
    assert active.objective(tau, penalty) == pytest.approx(loss + penalty * active.c.sum())
    V = np.linalg.solve(
        (active.Z * np.sqrt(active.c)).T @ (active.Z * np.sqrt(active.c)) + tau * np.eye(9),
        (active.Z * np.sqrt(active.c)).T @ X,
    )
    np.testing.assert_allclose(active.features(tau), np.sqrt(active.c)[:, None] * V)


def test_columns_of_no_weight_are_dropped_with_all_that_belongs_to_them():
    active, _ = active_set(7)
    light = active._replace(c=np.where(np.arange(9) % 2, 1e-9, active.c))
    kept = light.descended(0.8, 1e-9, 1)
    small = light.descended(0.8, 1e6, 50)
    assert small.Z.shape == (30, 0)
    real = kept.Z.astype(float)
    np.testing.assert_allclose(kept.gram, real.T @ real)
    assert kept.cross.shape == (kept.Z.shape[1], 6)


@pytest.mark.parametrize("seed", range(3))
def test_steps_on_c_satisfy_the_conditions_of_the_minimum(seed):
    """Where c is positive the gradient is −λ, and where it is zero at least that."""
    active, _ = active_set(seed, N=40)
    tau, penalty = 0.8, 1.5
    outer = active.cross @ active.cross.T
    c = _descend(active, tau, penalty, 5000)
    _, gradient = loss_and_gradient(c, active.gram, outer, tau)
    assert np.all(gradient + penalty >= -1e-2)
    np.testing.assert_allclose((gradient + penalty)[c > 1e-3], 0.0, atol=1e-2)
