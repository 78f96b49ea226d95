import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lfm import InvalidInputError, NotEquivalentError, Solution, enumerate_candidates, transform

Z = np.array([[1, 0], [0, 1], [0, 0]])
W = np.array([[1.0, 2.0, 0.0], [0.0, -1.0, 3.0]])


def test_a_solution_knows_its_sizes_residual_and_regulariser() -> None:
    solution = Solution(Z, W)
    assert (solution.N, solution.K, solution.D) == (3, 2, 3)
    np.testing.assert_array_equal(solution.product(), Z @ W)
    assert solution.residual(Z @ W + 2.0) == pytest.approx(2.0 * 3)
    assert solution.regulariser == pytest.approx(np.sqrt(1 + 4 + 1 + 9) / 6)


def test_a_residual_in_pieces_is_that_of_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    states, features, X = (
        rng.integers(0, 2, (101, 3)),
        rng.standard_normal((3, 7)),
        rng.standard_normal((101, 7)),
    )
    monkeypatch.setattr("lfm.solution._CHUNK", 70)
    assert Solution(states, features).residual(X) == pytest.approx(np.linalg.norm(X - states @ features))


def test_a_solution_is_a_frozen_copy() -> None:
    mine = W.copy()
    solution = Solution(Z, mine)
    mine[0, 0] = 99.0
    assert solution.W[0, 0] == 1.0
    with pytest.raises(ValueError, match="read-only"):
        solution.W[0, 0] = 2.0
    with pytest.raises(AttributeError):
        solution.W = W


@given(st.integers(0, 10_000))
@settings(max_examples=40, deadline=None)
def test_transforming_keeps_the_product_and_can_be_undone(seed: int) -> None:
    rng = np.random.default_rng(seed)
    states = (rng.random((6, 3)) < 0.5).astype(np.uint8)
    if np.linalg.matrix_rank(states.astype(float)) < 3:
        return
    solution = Solution(states, rng.standard_normal((3, 4)))
    columns = enumerate_candidates(states).U.astype(float)
    U = columns[rng.choice(len(columns), size=3, replace=False)].T
    if abs(np.linalg.det(U)) < 1e-9:
        with pytest.raises(NotEquivalentError, match="singular"):
            transform(solution, U)
        return
    moved = transform(solution, U)
    np.testing.assert_allclose(moved.product(), solution.product(), atol=1e-9)
    back = transform(moved, np.linalg.inv(U))
    np.testing.assert_array_equal(back.Z, solution.Z)


def test_what_is_not_equivalent_is_refused() -> None:
    with pytest.raises(NotEquivalentError, match="ZU is not binary: 1 of its 6 entries"):
        transform(Solution(Z, W), [[2.0, 0.0], [0.0, 1.0]])
    with pytest.raises(NotEquivalentError, match="U is singular"):
        transform(Solution(Z, W), np.ones((2, 2)))
    with pytest.raises(InvalidInputError, match=r"wrap it as Solution\(Z, W\)"):
        transform(Z, np.eye(2))
    with pytest.raises(InvalidInputError, match=r"U has shape \(3, 3\)"):
        transform(Solution(Z, W), np.eye(3))


@pytest.mark.parametrize(
    ("states", "features", "message"),
    [
        ([[0, 2]], np.ones((2, 2)), "Z must hold only 0 and 1"),
        ([[0, 1]], [[1.0], [np.inf]], "W holds 1 entries that are NaN or infinite"),
        ([[0, 1]], np.ones((3, 2)), "Z has 2 columns and W 3 rows"),
        (np.zeros((2, 0)), np.ones((0, 2)), "at least one row and one column"),
        ([[0, 1]], np.ones(2), "W must have 2 dimensions"),
        ([["a", "b"]], np.ones((2, 2)), "Z must be an array of real numbers"),
    ],
)
def test_bad_input_is_named(states, features, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        Solution(states, features)


def test_a_residual_needs_the_shape_it_explains() -> None:
    with pytest.raises(InvalidInputError, match=r"X has shape \(2, 2\); this solution explains \(3, 3\)"):
        Solution(Z, W).residual(np.ones((2, 2)))
