import itertools

import numpy as np
import pytest

from lfm import (
    BernoulliZ,
    GaussianW,
    LaplaceW,
    PassiveSign,
    Pdc,
    Prior,
    Solution,
    SwitchingZ,
    enumerate_candidates,
    transform,
)
from lfm.equivalence.tableau import Tableau
from lfm.hopper.objective import Objective
from lfm.hopper.support import _bases, _cheapest, _total, exact_support
from lfm.synthetic import constrained_states, with_bias


class Centred(Prior):
    """A user's own prior on features, which may be negative."""

    def features(self, W):
        return W.mean(axis=1)


def _problem(seed: int) -> tuple[Solution, list[Prior]]:
    rng = np.random.default_rng(seed)
    if seed % 3 == 2:  # lattice index 2: fractions among the candidates
        Z = np.array([[1, 1, 0, 0], [1, 0, 1, 0], [0, 1, 1, 0], [0, 0, 0, 1], [1, 1, 0, 1]], dtype=np.uint8)
    elif seed % 3:
        Z = with_bias(constrained_states(30, 3, [(0, 1, Pdc.DISJOINT)], rng))
    else:
        Z = constrained_states(60, 4, [(0, 1, Pdc.DISJOINT), (2, 3, Pdc.IMPLIES)], rng)
    solution = Solution(Z, 0.5 * rng.standard_normal((4, 5)))
    priors: list[Prior] = [
        [GaussianW(1.0)],
        [SwitchingZ(0.3), BernoulliZ(0.05), PassiveSign(2.0, rng.standard_normal(5))],
        [LaplaceW(0.5), BernoulliZ(0.3)],
        [Centred(), SwitchingZ(0.1)],
    ][seed % 4]
    return solution, priors


def _brute_force(
    solution: Solution, priors: list[Prior], *, unimodular: bool, beta: float
) -> tuple[np.ndarray, int]:
    """The shares of the unit vectors by listing every basis, and how many bases there are."""
    columns = enumerate_candidates(solution.Z).U.astype(float)
    units = enumerate_candidates(solution.Z).unit_positions()
    shares, total, n = np.zeros(len(columns)), 0.0, 0
    for chosen in itertools.combinations(range(len(columns)), solution.K):
        U = columns[list(chosen)].T
        determinant = abs(np.linalg.det(U))
        if determinant < 1e-6:
            continue
        n += 1
        if unimodular and determinant > 1 + 1e-6:
            continue
        moved = transform(solution, U)
        weight = np.exp(-beta * sum(prior.value(moved) for prior in priors))
        shares[list(chosen)] += weight
        total += weight
    return shares[units] / total, n


@pytest.mark.parametrize("beta", [1.0, 0.3])
@pytest.mark.parametrize("unimodular", [True, False])
@pytest.mark.parametrize("seed", range(12))
def test_the_shares_are_those_of_all_solutions(seed: int, unimodular: bool, beta: float) -> None:
    solution, priors = _problem(seed)
    objective = Objective(
        solution, enumerate_candidates(solution.Z), priors, gamma=0.0, unimodular=unimodular
    )
    expected, _ = _brute_force(solution, priors, unimodular=unimodular, beta=beta)
    found = exact_support(objective, beta)
    assert found is not None
    np.testing.assert_allclose(found, expected, atol=2e-6)
    assert found.min() < 1  # something to tell


@pytest.mark.parametrize("seed", range(6))
def test_the_search_meets_each_basis_once(seed: int) -> None:
    solution, priors = _problem(seed)
    objective = Objective(solution, enumerate_candidates(solution.Z), priors, gamma=0.0, unimodular=False)
    _, n = _brute_force(solution, priors, unimodular=False, beta=1.0)
    tableau = objective.tableau
    bases, determinants, m = _bases(
        tableau.minors, tableau.determinant, tableau.columns, 0 * objective.costs, 0.0, 5000, 2**24
    )
    assert m == n
    assert len({frozenset(basis) for basis in bases[:m].tolist()}) == n
    for basis, determinant in zip(bases[:m], determinants[:m], strict=True):
        U = objective.candidates.U[basis].astype(float)
        assert abs(np.linalg.det(U)) * objective.candidates.index == pytest.approx(abs(determinant))


def test_far_more_solutions_than_are_looked_at_are_summed_where_switches_tell_them_apart() -> None:
    rng = np.random.default_rng(0)
    runs = np.repeat((rng.random((60, 9)) < 0.3).astype(np.uint8), rng.integers(5, 40, 60), axis=0)
    Z = with_bias(runs)
    solution = Solution(Z, np.abs(rng.standard_normal((10, 6))))
    priors = [SwitchingZ(1.0), BernoulliZ(0.01), PassiveSign(100.0, np.ones(6))]
    objective = Objective(solution, enumerate_candidates(Z), priors, gamma=0.0, unimodular=True)
    assert (10 + 1) * 2**8 > 2000  # a bias alone makes as many
    found = exact_support(objective, 1.0, max_bases=2000)
    assert found is not None
    assert np.all((found > 0) & (found <= 1))


def test_too_many_solutions_are_given_up() -> None:
    Z = with_bias(constrained_states(80, 5, [], np.random.default_rng(0)))
    objective = Objective(
        Solution(Z, np.zeros((6, 2))), enumerate_candidates(Z), [GaussianW(1.0)], gamma=0.0, unimodular=True
    )
    assert exact_support(objective, 1.0, max_bases=111) is None
    np.testing.assert_allclose(exact_support(objective, 1.0, max_bases=112), _bias_shares(6))


def _bias_shares(K: int) -> np.ndarray:
    """Of (K + 1)·2^(K−2) equally likely solutions: those with e_k, and those with the bias (the last)."""
    n = (K + 1) * 2 ** (K - 2)
    with_bias_column = 2 ** (K - 1)
    others = (n * K - with_bias_column) / (2 * (K - 1))  # e_k and b − e_k are alike, and K columns in all
    return np.array([others] * (K - 1) + [with_bias_column]) / n


def test_the_total_weight_is_that_of_every_basis_times_its_squared_index() -> None:
    for seed in range(6):
        solution, priors = _problem(seed)
        candidates = enumerate_candidates(solution.Z)
        objective = Objective(solution, candidates, priors, gamma=0.0, unimodular=False)
        tableau = Tableau(candidates)
        assert _cheapest(tableau, objective.costs)
        floor = objective.costs[tableau.columns].sum()
        weights, cheapest = 0.0, np.inf
        for chosen in itertools.combinations(range(len(candidates)), solution.K):
            index = np.rint(abs(np.linalg.det(candidates.U[list(chosen)].astype(float))) * candidates.index)
            if index:
                cost = objective.costs[list(chosen)].sum()
                cheapest = min(cheapest, cost)
                weights += index**2 * np.exp(-0.7 * (cost - floor))
        assert floor == pytest.approx(cheapest)
        assert _total(tableau, objective.costs, 0.7) == pytest.approx(weights)


@pytest.mark.parametrize("limit", [0.5, 2.0, 6.0])
def test_the_search_finds_exactly_the_bases_within_the_limit(limit: float) -> None:
    for seed in range(6):
        solution, _ = _problem(seed)
        candidates = enumerate_candidates(solution.Z)
        costs = np.random.default_rng(seed).uniform(0, 2, len(candidates))
        tableau = Tableau(candidates)
        assert _cheapest(tableau, costs)
        within = costs[tableau.columns].sum() + limit
        expected = {
            frozenset(chosen)
            for chosen in itertools.combinations(range(len(candidates)), solution.K)
            if abs(np.linalg.det(candidates.U[list(chosen)].astype(float))) > 1e-6
            and costs[list(chosen)].sum() <= within
        }
        bases, _, m = _bases(tableau.minors, tableau.determinant, tableau.columns, costs, within, 5000, 2**24)
        assert {frozenset(basis) for basis in bases[:m].tolist()} == expected
        assert m == len(expected)


def test_a_determinant_above_the_largest_gives_the_search_up() -> None:
    Z = np.array([[1, 1, 0], [1, 0, 1], [0, 1, 1], [0, 0, 0]], dtype=np.uint8)
    for largest, given_up in ((1, True), (2, False)):
        tableau = Tableau(enumerate_candidates(Z))
        costs = np.zeros(tableau.minors.shape[1])
        m = _bases(tableau.minors, tableau.determinant, tableau.columns, costs, 0.0, 5000, largest)[2]
        assert (m == -1) == given_up


def test_a_state_far_from_the_best_is_weighed_without_overflow() -> None:
    """Such a state comes back where better ones would have broken the promise on the residual."""
    Z = np.array([[1, 0], [1, 1], [1, 1]], dtype=np.uint8)
    solution = Solution(Z, [[4.0], [-1.0]])  # inverted: 1000 nats worse than it need be
    candidates = enumerate_candidates(Z)
    objective = Objective(solution, candidates, [PassiveSign(1000.0, [1.0])], gamma=0.0, unimodular=True)
    shares = exact_support(objective, 1.0)
    # Of its two columns each is in one of the two solutions without negative power.
    np.testing.assert_allclose(shares, [0.5, 0.5])
