import numpy as np
import pytest

from lfm import (
    BernoulliZ,
    GaussianW,
    InvalidInputError,
    NonNegativeW,
    RankDeficientError,
    Solution,
    hamming_error,
    hop,
    hop_tolerantly,
)
from lfm.hopper import tolerant
from lfm.least_squares import least_squares
from lfm.synthetic import images


def objective(solution: Solution, X: np.ndarray, priors: list) -> float:
    return solution.residual(X) ** 2 + sum(prior.value(solution) for prior in priors)


def flipped(seed: int, share: float) -> tuple[Solution, np.ndarray, np.ndarray]:
    """A start with wrong bits, W refitted to them; the data; the true states."""
    rng = np.random.default_rng(seed)
    data = images(6, 1000, 4, 0.1, rng)
    Z = data.truth.Z ^ (rng.random(data.truth.Z.shape) < share)
    return Solution(Z, least_squares(Z, data.X).W), data.X, data.truth.Z


@pytest.mark.parametrize("seed", range(3))
def test_wrong_bits_are_set_right_where_a_strict_hop_finds_nothing(seed: int) -> None:
    start, X, truth = flipped(seed, 0.01)
    priors = [GaussianW(1.0)]
    found = hop_tolerantly(start, X=X, priors=priors)
    assert hamming_error(hop(start, priors=priors, X=X).solution.Z, truth) > 0.005
    assert hamming_error(found.solution.Z, truth) == 0
    assert found.solution.residual(X) <= 1.01 * start.residual(X)
    assert objective(found.solution, X, priors) < objective(start, X, priors)


def test_no_tolerance_ends_lower_than_what_comes_back() -> None:
    start, X, _ = flipped(3, 0.03)
    priors = [GaussianW(1.0), BernoulliZ(0.01)]
    found = objective(hop_tolerantly(start, X=X, priors=priors).solution, X, priors)
    assert found <= objective(hop(start, priors=priors, X=X).solution, X, priors)
    for share in tolerant.HOPPER.tolerances:
        near = tolerant.enumerate_candidates(start.Z, max_nonbinarity=int(share * start.N))
        one = hop(start, priors=priors, candidates=near, X=X).solution
        assert found <= objective(one, X, priors) * (1 + 1e-9)


def test_where_nothing_is_wrong_the_strict_hop_is_kept() -> None:
    data = images(6, 1000, 4, 0.0, np.random.default_rng(0))
    start, priors = data.truth, [GaussianW(1.0)]
    strict = hop(start, priors=priors, X=data.X)
    found = hop_tolerantly(start, X=data.X, priors=priors)
    np.testing.assert_array_equal(found.solution.Z, strict.solution.Z)
    np.testing.assert_array_equal(found.solution.W, strict.solution.W)
    assert found.objective_after == strict.objective_after


def test_a_tolerance_with_too_many_candidates_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    start, X, _ = flipped(0, 0.01)
    few = tolerant.HOPPER._replace(tolerant_nodes=1)
    monkeypatch.setattr(tolerant, "HOPPER", few)
    found = hop_tolerantly(start, X=X, priors=[GaussianW(1.0)])
    strict = hop(start, X=X, priors=[GaussianW(1.0)])
    np.testing.assert_array_equal(found.solution.Z, strict.solution.Z)


def test_rows_too_few_for_any_tolerance_hop_strictly() -> None:
    start = Solution([[1, 1], [1, 1], [1, 0]], [[4.0], [-1.0]])
    found = hop_tolerantly(start, X=start.product(), priors=[NonNegativeW(1.0), BernoulliZ(0.1)])
    assert found.solution.W.tolist() == [[3.0], [1.0]]


@pytest.mark.parametrize("K", [6, 24])
def test_features_of_a_start_without_negative_ones_stay_so(K: int) -> None:
    """24 features are more than are decoded exactly: single bits are flipped."""
    rng = np.random.default_rng(K)
    Z = rng.integers(0, 2, (1200, K)).astype(np.uint8)
    W = np.abs(rng.standard_normal((K, 40))) * (rng.random((K, 40)) < 0.3)
    X = np.maximum(Z @ W + 0.1 * rng.standard_normal((1200, 40)), 0)
    wrong = Z ^ (rng.random(Z.shape) < 0.002)
    start = Solution(wrong, least_squares(wrong, X, nonnegative=True).W)
    found = hop_tolerantly(start, X=X, priors=[GaussianW(0.1), NonNegativeW(1.0)]).solution
    assert (found.W >= 0).all()
    assert found.residual(X) < start.residual(X)
    assert hamming_error(found.Z, Z) < hamming_error(wrong, Z)


def test_mistakes_are_named() -> None:
    start, X, _ = flipped(0, 0.01)
    with pytest.raises(InvalidInputError, match="priors is empty"):
        hop_tolerantly(start, X=X, priors=[])
    with pytest.raises(InvalidInputError, match="X"):
        hop_tolerantly(start, X=np.full_like(X, np.nan), priors=[GaussianW(1.0)])
    twice = Solution(np.ones((4, 2), dtype=np.uint8), np.ones((2, 3)))
    with pytest.raises(RankDeficientError):
        hop_tolerantly(twice, X=np.ones((4, 3)), priors=[GaussianW(1.0)])
