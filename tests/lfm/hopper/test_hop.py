import logging

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lfm import (
    BernoulliZ,
    GaussianW,
    InvalidInputError,
    LaplaceW,
    PassiveSign,
    Pdc,
    Prior,
    Solution,
    SwitchingZ,
    enumerate_candidates,
    hamming_error,
    hop,
    lattice_index,
    random_equivalent,
    sample_candidates,
    transform,
)
from lfm.synthetic import constrained_states, images, with_bias


def _noisy(truth: Solution, rng: np.random.Generator, share: float, X: np.ndarray) -> Solution:
    start = random_equivalent(truth, rng)
    Z = start.Z ^ (rng.random(start.Z.shape) < share)
    return Solution(Z, np.linalg.lstsq(Z.astype(float), X, rcond=None)[0])


@pytest.mark.parametrize("unimodular", [True, False])
@pytest.mark.parametrize("seed", range(4, 24))  # seed 3 has 10⁵ solutions: too many to list
def test_the_optimum_is_that_of_brute_force(seed: int, unimodular: bool, brute_force) -> None:
    Z = brute_force.full_rank_states(seed)
    solution = Solution(Z, np.random.default_rng(seed).standard_normal((Z.shape[1], 6)))
    prior = LaplaceW(1.0) if seed % 2 else GaussianW(1.0)
    found = hop(solution, priors=[prior], unimodular=unimodular, n_restarts=40)
    values = [
        prior.value(transform(solution, U))
        for U in brute_force.bases(brute_force.columns(Z))
        if not unimodular or abs(np.linalg.det(U)) < 1 + 1e-6
    ]
    lowest_index = min(abs(np.linalg.det(U)) for U in brute_force.bases(brute_force.columns(Z)))
    if unimodular and lowest_index < 1 - 1e-6:
        assert found.objective_after <= found.objective_before + 1e-9
        assert lattice_index(found.solution.Z) <= lattice_index(Z)
    else:
        assert found.objective_after == pytest.approx(min(values))


@given(st.integers(0, 10_000))
@settings(max_examples=25, deadline=None)
def test_the_product_is_preserved_and_the_objective_never_rises(seed: int) -> None:
    rng = np.random.default_rng(seed)
    Z = with_bias((rng.random((30, 4)) < 0.5).astype(np.uint8))
    if np.linalg.matrix_rank(Z.astype(float)) < 5:
        return
    solution = Solution(Z, rng.standard_normal((5, 7)))
    beta = float(rng.choice([0.1, 1.0, np.inf]))
    found = hop(solution, priors=[GaussianW(1.0), SwitchingZ(0.1)], beta=beta, n_steps=60, rng=rng)
    np.testing.assert_allclose(found.solution.product(), solution.product(), atol=1e-8)
    np.testing.assert_allclose(Z @ found.U, found.solution.Z, atol=1e-9)
    assert found.objective_after <= found.objective_before + 1e-9
    assert np.all((found.support >= 0) & (found.support <= 1))
    assert len(found.corrections) == 5


def test_column_order_changes_nothing() -> None:
    rng = np.random.default_rng(4)
    data = images(6, 200, 3, 0.1, rng)
    start = random_equivalent(data.truth, rng)
    order = rng.permutation(6)
    turned = Solution(start.Z[:, order], start.W[order])
    first, second = (hop(s, priors=[GaussianW(1.0)]).solution for s in (start, turned))
    assert hamming_error(first.Z, second.Z) == 0


@pytest.mark.parametrize("n_pdc", [3, 6, 9, 12])
def test_images_are_recovered_from_any_equivalent_start(n_pdc: int) -> None:
    for seed in range(3):
        rng = np.random.default_rng(seed)
        data = images(14, 1000, n_pdc, 0.1, rng)
        start = random_equivalent(data.truth, rng)
        assert hamming_error(start.Z, data.truth.Z) > 0
        found = hop(start, priors=[GaussianW(1.0)], X=data.X)
        assert hamming_error(found.solution.Z, data.truth.Z) == 0
        assert found.solution.residual(data.X) == pytest.approx(start.residual(data.X))


def test_a_start_of_index_two_comes_down() -> None:
    rng = np.random.default_rng(0)
    pairs = np.array([[1, 1, 0], [1, 0, 1], [0, 1, 1], [0, 0, 0]], dtype=np.uint8)
    Z = pairs[rng.integers(4, size=100)]
    truth_Z = np.rint(Z @ (0.5 * np.array([[1, 1, -1], [1, -1, 1], [-1, 1, 1]]))).astype(np.uint8)
    truth = Solution(truth_Z, np.diag([1.0, 2.0, 3.0]))
    start = Solution(Z, np.linalg.lstsq(Z.astype(float), truth.product(), rcond=None)[0])
    assert lattice_index(Z) == 2
    found = hop(start, priors=[LaplaceW(1.0)])
    assert lattice_index(found.solution.Z) == 1
    assert hamming_error(found.solution.Z, truth_Z) == 0


def test_a_house_with_collinear_heaters_is_set_right_by_its_priors() -> None:
    rng = np.random.default_rng(0)
    t = np.linspace(0, 2 * np.pi, 40, endpoint=False)
    voltage = 325 * np.sin(t)
    runs = np.zeros((800, 4), dtype=np.uint8)
    for k in range(4):
        for start in rng.choice(760, size=8, replace=False):
            runs[start : start + 5 * (k + 1), k] = 1
    Z = with_bias(runs)
    W = np.array([np.sin(t), 2.2 * np.sin(t), 3.5 * np.sin(t), np.sin(t + 0.6), 0.3 * np.sin(t) ** 3])
    truth = Solution(Z, W)
    start = random_equivalent(truth, rng)
    assert hamming_error(start.Z, Z) > 0.1
    priors = [SwitchingZ(1.0), BernoulliZ(0.01), PassiveSign(100.0, voltage)]
    assert hamming_error(hop(start, priors=priors).solution.Z, Z) == 0


@pytest.mark.parametrize("share", [0.002, 0.01, 0.03])
def test_tolerant_hops_survive_flipped_bits(share: float) -> None:
    rng = np.random.default_rng(7)
    data = images(8, 400, 5, 0.1, rng)
    start = _noisy(data.truth, rng, share, data.X)
    candidates = enumerate_candidates(start.Z, max_nonbinarity=20)
    found = hop(start, priors=[GaussianW(1.0)], candidates=candidates, X=data.X, rng=rng)
    assert hamming_error(found.solution.Z, data.truth.Z) == 0
    assert found.objective_after <= found.objective_before
    assert found.solution.residual(data.X) <= 1.01 * start.residual(data.X)


def test_tolerant_candidates_of_algorithm_1_are_taken_as_they_are() -> None:
    rng = np.random.default_rng(3)
    data = images(6, 200, 4, 0.1, rng)
    start = _noisy(data.truth, rng, 0.01, data.X)
    sampled = sample_candidates(start.Z, n_samples=2000, decay=0.2, rng=rng)
    assert not sampled.strict
    found = hop(start, priors=[GaussianW(1.0)], candidates=sampled, X=data.X, rng=rng)
    assert found.objective_after <= found.objective_before
    assert found.solution.residual(data.X) <= 1.01 * start.residual(data.X)
    assert hamming_error(found.solution.Z, data.truth.Z) < hamming_error(start.Z, data.truth.Z)


def test_a_tolerant_hop_that_fits_worse_is_not_taken() -> None:
    """W alone would gladly give up a bit; the promise on the residual holds it back."""
    Z = np.vstack([np.eye(3), [[1, 1, 0], [1, 1, 1], [0, 1, 1], [1, 0, 1]]]).astype(np.uint8)
    solution = Solution(Z, np.array([[5.0, 0, 0], [0, 5, 0], [0, 0, 5]]))
    X = solution.product()
    candidates = enumerate_candidates(Z, max_nonbinarity=3)
    assert not candidates.strict
    found = hop(solution, priors=[GaussianW(10.0)], candidates=candidates, X=X, gamma=0.0)
    assert found.solution.residual(X) <= 1e-6
    assert found.objective_after <= found.objective_before + 1e-6


@pytest.mark.parametrize("seed", range(5))
def test_a_hop_that_no_residual_allows_returns_the_start(seed: int) -> None:
    rng = np.random.default_rng(seed)
    data = images(6, 200, 5, 0.1, rng)
    start = _noisy(data.truth, rng, 0.01, data.X)
    sampled = sample_candidates(start.Z, n_samples=300, decay=0.2, rng=rng)
    found = hop(
        start, priors=[GaussianW(50.0)], candidates=sampled, X=data.X, residual_tolerance=-1.0, rng=rng
    )
    np.testing.assert_array_equal(found.solution.Z, start.Z)
    np.testing.assert_allclose(found.solution.W, start.W, atol=1e-9)
    np.testing.assert_array_equal(found.U, np.eye(6))


def test_support_tells_certain_columns_from_doubtful_ones() -> None:
    rng = np.random.default_rng(0)
    Z = constrained_states(300, 4, [(0, 1, Pdc.DISJOINT)], rng)
    sharp = hop(Solution(Z, 20 * rng.standard_normal((4, 30))), priors=[GaussianW(1.0)])
    np.testing.assert_allclose(sharp.support, 1.0)
    vague = hop(Solution(Z, 1e-3 * rng.standard_normal((4, 30))), priors=[GaussianW(1.0)])
    np.testing.assert_allclose(vague.support[2:], 1.0)
    np.testing.assert_allclose(vague.support[:2], 2 / 3, atol=0.01)  # 2 of 3 solutions hold each
    assert sharp.support_is_exact
    assert vague.support_is_exact


def test_support_of_too_many_solutions_is_a_share_of_the_chain_and_said_to_be() -> None:
    Z = with_bias(constrained_states(400, 12, [], np.random.default_rng(0)))
    solution = Solution(Z, 1e-3 * np.random.default_rng(0).standard_normal((13, 5)))
    found = hop(solution, priors=[GaussianW(1.0)])  # 14·2¹¹ of them by the bias alone
    exact = hop(Solution(Z[:, 5:], solution.W[5:]), priors=[GaussianW(1.0)])
    assert (found.support_is_exact, exact.support_is_exact) == (False, True)
    assert np.all((found.support >= 0) & (found.support <= 1))


def test_the_same_call_gives_the_same_answer() -> None:
    data = images(8, 300, 6, 0.1, np.random.default_rng(0))
    first, second = (
        hop(data.truth, priors=[GaussianW(0.01)], beta=2.0, n_steps=100, rng=np.random.default_rng(5))
        for _ in range(2)
    )
    np.testing.assert_array_equal(first.trace, second.trace)
    np.testing.assert_array_equal(first.support, second.support)
    assert len(first.trace) >= 100


class Late(Prior):
    """Features that are on late in the record cost more: ten lines of a user's own."""

    def columns(self, Z):
        return np.arange(len(Z)) @ Z / len(Z)


def test_a_users_own_prior_needs_no_change_of_the_hopper(brute_force) -> None:
    rng = np.random.default_rng(1)
    Z = with_bias(constrained_states(40, 3, [(0, 1, Pdc.IMPLIES)], rng))
    solution = Solution(Z, rng.standard_normal((4, 3)))
    found = hop(solution, priors=[Late()])
    best = min(
        Late().value(transform(solution, U))
        for U in brute_force.bases(brute_force.columns(Z))
        if abs(abs(np.linalg.det(U)) - 1) < 1e-6
    )
    assert found.objective_after == pytest.approx(best)


class Scalar(Prior):
    """A mistake: one price for all columns."""

    def columns(self, Z):
        return Z.sum()


class Undefined(Prior):
    """A mistake: prices that are not numbers."""

    def features(self, W):
        return np.full(len(W), np.nan)


class Whole(Prior):
    """A mistake: a prior that is no sum over columns and features."""

    def value(self, solution):
        return 1.0


@pytest.mark.parametrize(
    ("prior", "message"),
    [
        (Scalar(), r"Scalar\.columns returned shape \(\) where one price for each of 4"),
        (Undefined(), r"Undefined\.features returned NaN"),
        (Whole(), "Whole overrides value, which the hopper never asks for"),
    ],
)
def test_a_users_prior_that_cannot_work_is_named(prior: Prior, message: str) -> None:
    Z = constrained_states(60, 4, [(0, 1, Pdc.DISJOINT)], np.random.default_rng(0))
    with pytest.raises(InvalidInputError, match=message):
        hop(Solution(Z, np.eye(4)), priors=[prior])


@pytest.mark.parametrize(
    "as_given", [np.asarray, pd.DataFrame, np.asfortranarray, lambda a: a[:, ::-1][:, ::-1]]
)
def test_the_form_of_the_arrays_does_not_matter(as_given) -> None:
    data = images(5, 80, 3, 0.1, np.random.default_rng(2))
    start = random_equivalent(data.truth, np.random.default_rng(2))
    found, same = (
        hop(Solution(form(start.Z), form(start.W)), priors=[GaussianW(1.0)], X=form(data.X))
        for form in (np.asarray, as_given)
    )
    np.testing.assert_array_equal(found.solution.Z, same.solution.Z)
    np.testing.assert_array_equal(found.support, same.support)


def test_sampled_candidates_work_and_are_said_to_be_incomplete(caplog) -> None:
    data = images(6, 200, 3, 0.1, np.random.default_rng(0))
    sampled = sample_candidates(data.truth.Z, n_samples=500, rng=np.random.default_rng(0))
    with caplog.at_level(logging.INFO, logger="lfm.hopper.hop"):
        found = hop(data.truth, priors=[GaussianW(1.0)], candidates=sampled)
    assert not found.complete
    assert "not known to be complete" in caplog.text


@pytest.mark.parametrize("n_steps", [1, 3, 6, 7, 8, 12, 20])
def test_descents_and_kicks_together_take_no_more_steps_than_allowed(n_steps: int) -> None:
    for seed in range(4):
        rng = np.random.default_rng(seed)
        data = images(14, 300, 12, 0.1, rng)
        start = random_equivalent(data.truth, rng)
        found = hop(start, priors=[GaussianW(1.0)], n_steps=n_steps, n_restarts=50, rng=rng)
        assert 0 < len(found.trace) <= n_steps
