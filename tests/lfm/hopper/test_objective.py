import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lfm import (
    BernoulliZ,
    GaussianW,
    LaplaceW,
    NonNegativeW,
    PassiveSign,
    Prior,
    Solution,
    SwitchingZ,
    enumerate_candidates,
    transform,
)
from lfm.hopper import objective as objective_module
from lfm.hopper.objective import Objective
from lfm.synthetic import constrained_states, random_dependencies, with_bias


class Spread(Prior):
    """A prior of a user's own: on columns and features at once."""

    def columns(self, Z):
        return 0.3 * (Z.sum(axis=0) - 5.0) ** 2

    def features(self, W):
        return np.ptp(W, axis=1)


def _problem(seed: int, *, fractions: bool = False) -> tuple[Solution, list[Prior]]:
    rng = np.random.default_rng(seed)
    if fractions:
        Z = np.array([[1, 1, 0, 0], [1, 0, 1, 0], [0, 1, 1, 0], [0, 0, 0, 1], [1, 1, 0, 1]], dtype=np.uint8)
    else:
        Z = with_bias(constrained_states(40, 4, random_dependencies(4, 2, rng), rng))
    W = rng.standard_normal((Z.shape[1], 6))
    priors = [
        GaussianW(0.7),
        LaplaceW(0.4),
        NonNegativeW(1.3),
        BernoulliZ(0.1),
        SwitchingZ(0.2, rng.random(len(Z)) < 0.2),
        PassiveSign(2.0, rng.standard_normal(6)),
        Spread(),
    ]
    return Solution(Z, W), priors


def _direct(solution: Solution, priors: list[Prior], U: np.ndarray) -> float:
    moved = transform(solution, U)
    return sum(prior.value(moved) for prior in priors)


def _try_problem(seed: int) -> tuple[Solution, list[Prior]]:
    for attempt in range(20):
        try:
            return _problem(seed + 100_000 * attempt)
        except ValueError:  # a draw of rank below K
            continue
    raise AssertionError("no draw of full rank")


@given(st.integers(0, 5000), st.booleans())
@settings(max_examples=25, deadline=None)
def test_every_exchange_is_priced_as_if_computed_directly(seed: int, unimodular: bool) -> None:
    solution, priors = _try_problem(seed)
    rng = np.random.default_rng(seed)
    candidates = enumerate_candidates(solution.Z)
    objective = Objective(solution, candidates, priors, gamma=1.0, unimodular=unimodular)
    for _ in range(6):
        changes = objective.changes().copy()
        U = objective.tableau.U
        assert objective.value == pytest.approx(_direct(solution, priors, U))
        np.testing.assert_allclose(objective.tableau.inverse, np.linalg.inv(U), atol=1e-9)
        for k in range(solution.K):
            for i in range(len(candidates)):
                V = U.copy()
                V[:, k] = candidates.U[i]
                determinant = abs(np.linalg.det(V))
                allowed = determinant > 1e-6 and (
                    not unimodular or determinant < abs(np.linalg.det(U)) + 1e-6
                )
                assert np.isfinite(changes[k, i]) == allowed
                if allowed:
                    assert objective.value + changes[k, i] == pytest.approx(_direct(solution, priors, V))
        moves = np.argwhere(np.isfinite(changes))
        k, i = moves[rng.integers(len(moves))]
        objective.exchange(int(k), int(i), float(changes[k, i]))


def test_fractions_are_priced_directly_too() -> None:
    solution, priors = _problem(3, fractions=True)
    candidates = enumerate_candidates(solution.Z)
    assert candidates.denominator == 2
    objective = Objective(solution, candidates, priors, gamma=1.0, unimodular=True)
    assert objective.tableau.determinant == 2
    changes = objective.changes()
    checked = 0
    for k, i in np.argwhere(np.isfinite(changes)):
        V = objective.tableau.U
        V[:, k] = candidates.U[i]
        assert objective.value + changes[k, i] == pytest.approx(_direct(solution, priors, V))
        checked += abs(np.linalg.det(V)) < 0.75
    assert checked > 0  # some exchanges lower the lattice index


def test_nothing_drifts_in_two_thousand_exchanges() -> None:
    solution, priors = _try_problem(11)
    candidates = enumerate_candidates(solution.Z)
    objective = Objective(solution, candidates, priors[:1], gamma=1.0, unimodular=False)
    rng = np.random.default_rng(0)
    for _ in range(2000):
        changes = objective.changes()
        moves = np.argwhere(np.isfinite(changes))
        k, i = moves[rng.integers(len(moves))]
        objective.exchange(int(k), int(i), float(changes[k, i]))
    U = objective.tableau.U
    np.testing.assert_allclose(objective.tableau.inverse @ U, np.eye(solution.K), atol=1e-12)
    assert objective.value == pytest.approx(_direct(solution, priors[:1], U), rel=1e-9)
    assert objective.tableau.determinant == pytest.approx(np.linalg.det(U))


def test_errata_e3_the_objective_falls_as_the_prior_rises() -> None:
    """g = −log P: the smaller W, the smaller g (with the printed signs it would be the other way round)."""
    Z = np.eye(2)
    assert GaussianW(1.0).value(Solution(Z, np.ones((2, 3)))) < GaussianW(1.0).value(
        Solution(Z, 2 * np.ones((2, 3)))
    )


@pytest.mark.parametrize("chunk", [1, 60, 200])
def test_prices_do_not_depend_on_how_many_numbers_are_held_at_once(
    chunk: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    solution, priors = _try_problem(11)
    candidates = enumerate_candidates(solution.Z)
    at_once = Objective(solution, candidates, priors, gamma=0.5, unimodular=False)
    rng = np.random.default_rng(0)
    states = np.array([at_once.tableau.columns] * 7)
    for state in states[1:]:
        moves = np.argwhere(np.isfinite(at_once.changes()))
        k, i = moves[rng.integers(len(moves))]
        at_once.exchange(int(k), int(i), float(at_once.changes()[k, i]))
        state[:] = at_once.tableau.columns
    direct = [_direct(solution, priors, candidates.U[state].T.astype(float)) for state in states]
    monkeypatch.setattr(objective_module, "_CHUNK", chunk)
    in_pieces = Objective(solution, candidates, priors, gamma=0.5, unimodular=False)
    np.testing.assert_allclose(in_pieces.costs, at_once.costs)
    np.testing.assert_allclose(in_pieces.values(states), direct)
    start = Objective(solution, candidates, priors, gamma=0.5, unimodular=False)
    monkeypatch.undo()
    expected = start.changes().copy()
    monkeypatch.setattr(objective_module, "_CHUNK", chunk)
    np.testing.assert_allclose(start.changes(), expected)
