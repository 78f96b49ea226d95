import itertools

import numpy as np
import pytest
from scipy.stats import chisquare

from lfm import GaussianW, Pdc, Solution, SwitchingZ, enumerate_candidates, transform
from lfm.hopper.objective import Objective
from lfm.hopper.walk import Walk, _draw
from lfm.synthetic import constrained_states, with_bias

BETA = 0.7
N_SAMPLES = 4000
THIN = 4


def _problem(seed: int, priors: list) -> tuple[Solution, Objective]:
    rng = np.random.default_rng(seed)
    if seed % 2:
        Z = with_bias(constrained_states(30, 2, [], rng))
    else:
        Z = constrained_states(60, 4, [(0, 1, Pdc.DISJOINT), (2, 3, Pdc.IMPLIES)], rng)
    solution = Solution(Z, 0.5 * rng.standard_normal((Z.shape[1], 5)))
    candidates = enumerate_candidates(Z)
    return solution, Objective(solution, candidates, priors, gamma=1.0, unimodular=True)


def _expected(solution: Solution, priors: list) -> dict[frozenset[int], float]:
    """exp(−βg) over all unimodular sets of candidates, normalised."""
    columns = enumerate_candidates(solution.Z).U.astype(float)
    weights = {}
    for chosen in itertools.combinations(range(len(columns)), solution.K):
        U = columns[list(chosen)].T
        if abs(abs(np.linalg.det(U)) - 1) < 1e-6:
            moved = transform(solution, U)
            weights[frozenset(chosen)] = np.exp(-BETA * sum(prior.value(moved) for prior in priors))
    total = sum(weights.values())
    return {state: weight / total for state, weight in weights.items()}


def _p_value(visits: dict[frozenset[int], int], expected: dict[frozenset[int], float]) -> float:
    assert set(visits) <= set(expected)
    n = sum(visits.values())
    common = [state for state, share in expected.items() if share * n >= 8]
    observed = [visits.get(state, 0) for state in common]
    wanted = [expected[state] * n for state in common]
    rest = n - sum(wanted)
    if rest >= 8:
        observed.append(n - sum(observed))
        wanted.append(rest)
    wanted = np.array(wanted) * sum(observed) / sum(wanted)
    return float(chisquare(observed, wanted).pvalue)


def _chain(objective: Objective, rng: np.random.Generator) -> dict[frozenset[int], int]:
    walk = Walk(objective, unimodular=True, rng=rng)
    visits: dict[frozenset[int], int] = {}
    for _ in range(N_SAMPLES):
        walk.boltzmann(BETA, THIN)
        state = frozenset(objective.tableau.columns.tolist())
        visits[state] = visits.get(state, 0) + 1
    return visits


def _as_printed(objective: Objective, rng: np.random.Generator) -> dict[frozenset[int], int]:
    """The wrong kernel: the draw of Algorithm 2 taken as it is."""
    visits: dict[frozenset[int], int] = {}
    for _ in range(N_SAMPLES):
        for _ in range(THIN):
            changes = objective.changes()
            k, i, _ = _draw(changes, BETA, rng.random())
            if i != objective.tableau.columns[k]:
                objective.exchange(k, i, float(changes[k, i]))
        state = frozenset(objective.tableau.columns.tolist())
        visits[state] = visits.get(state, 0) + 1
    return visits


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_the_chain_visits_states_as_often_as_exp_minus_beta_g(seed: int) -> None:
    priors = [GaussianW(1.0), SwitchingZ(0.05)]
    solution, objective = _problem(seed, priors)
    expected = _expected(solution, priors)
    assert len(expected) >= 8
    assert _p_value(_chain(objective, np.random.default_rng(seed)), expected) > 1e-3


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_the_printed_kernel_is_rejected(seed: int) -> None:
    """Taking every draw leaves exp(−βg)·S(U) invariant, not exp(−βg)."""
    priors = [GaussianW(1.0), SwitchingZ(0.05)]
    solution, objective = _problem(seed, priors)
    assert _p_value(_as_printed(objective, np.random.default_rng(seed)), _expected(solution, priors)) < 1e-6


def test_draws_follow_the_weights_of_their_changes() -> None:
    changes = np.array([[0.0, np.inf, 1.0], [np.inf, 0.0, 2.0]])
    rng = np.random.default_rng(0)
    counts = np.zeros((2, 3))
    for _ in range(20_000):
        k, i, log_sum = _draw(changes, 1.0, rng.random())
        counts[k, i] += 1
    weights = np.exp(-changes)
    assert log_sum == pytest.approx(np.log(weights.sum()))
    assert counts[weights == 0].sum() == 0
    seen, wanted = counts[weights > 0], weights[weights > 0]
    assert chisquare(seen, wanted / wanted.sum() * seen.sum()).pvalue > 1e-3


def test_going_to_a_state_arrives_and_prices_it() -> None:
    priors = [GaussianW(1.0)]
    _, objective = _problem(0, priors)
    walk = Walk(objective, unimodular=True, rng=np.random.default_rng(0))
    home = objective.tableau.columns.copy()
    value = objective.value
    walk.kick(10)
    walk.go_to(home)
    assert set(objective.tableau.columns.tolist()) == set(home.tolist())
    assert objective.value == pytest.approx(value)


def test_a_descent_ends_where_no_exchange_helps() -> None:
    _, objective = _problem(1, [GaussianW(1.0)])
    walk = Walk(objective, unimodular=True, rng=np.random.default_rng(0))
    walk.kick(20)
    walk.descend(100)
    assert objective.changes().min() >= -1e-6


def test_every_step_is_traced_and_the_best_state_is_never_worse_than_the_start() -> None:
    _, objective = _problem(1, [GaussianW(1.0)])
    walk = Walk(objective, unimodular=True, rng=np.random.default_rng(0))
    start = objective.value
    walk.kick(5)
    assert len(walk.trace) == 5
    assert walk.trace[-1] == pytest.approx(objective.value)
    taken = walk.descend(2)
    assert taken <= 2
    assert len(walk.trace) == 5 + taken
    values = objective.values(np.array(walk.visited_best))
    assert values[0] == pytest.approx(start)
    assert np.all(np.diff(values) < 0)


def test_a_chain_shares_its_steps_among_k_candidates() -> None:
    _, objective = _problem(0, [GaussianW(0.1)])
    walk = Walk(objective, unimodular=True, rng=np.random.default_rng(0))
    walk.boltzmann(1.0, 50)
    assert len(walk.trace) == 50
    assert walk.share.sum() == pytest.approx(len(objective.tableau.columns))
    assert walk.share.max() <= 1.0


def test_a_descent_goes_down_to_lattice_index_one_even_if_the_objective_does_not_fall() -> None:
    Z = np.array([[1, 1, 0], [1, 0, 1], [0, 1, 1], [0, 0, 0]], dtype=np.uint8)
    objective = Objective(
        Solution(Z, np.eye(3)), enumerate_candidates(Z), [SwitchingZ(0.0)], gamma=0.0, unimodular=True
    )
    walk = Walk(objective, unimodular=True, rng=np.random.default_rng(0))
    assert abs(objective.tableau.determinant) == 2
    walk.descend(10)
    assert abs(objective.tableau.determinant) == 1


def test_a_short_chain_visits_states_as_often_as_exp_minus_beta_g() -> None:
    """The slow tests do this with four problems; here one chain is long enough to tell a wrong kernel."""
    priors = [GaussianW(1.0), SwitchingZ(0.3)]
    solution, objective = _problem(1, priors)
    expected = _expected(solution, priors)
    walk = Walk(objective, unimodular=True, rng=np.random.default_rng(0))
    visits: dict[frozenset[int], int] = {}
    for _ in range(1500):
        walk.boltzmann(BETA, THIN)
        state = frozenset(objective.tableau.columns.tolist())
        visits[state] = visits.get(state, 0) + 1
        assert walk.trace[-1] == pytest.approx(objective.value)
    assert _p_value(visits, expected) > 1e-3
    shares = np.zeros(len(objective.costs))
    for state, share in expected.items():
        shares[list(state)] += share
    walk.boltzmann(BETA, 6000)
    np.testing.assert_allclose(walk.share, shares, atol=0.05)


def test_the_record_prefers_a_lower_index_and_then_a_lower_objective() -> None:
    Z = np.array([[1, 1, 0], [1, 0, 1], [0, 1, 1], [0, 0, 0]], dtype=np.uint8)
    candidates = enumerate_candidates(Z)
    objective = Objective(Solution(Z, np.eye(3)), candidates, [SwitchingZ(0.0)], gamma=0.0, unimodular=False)
    walk = Walk(objective, unimodular=True, rng=np.random.default_rng(0))
    first = objective.tableau.columns.copy()
    objective.value += 1.0  # worse than the start: never recorded
    walk._record()
    assert len(walk.visited_best) == 1
    objective.value -= 1.5
    walk._record()
    assert len(walk.visited_best) == 2
    walk._record()  # no better than itself
    assert len(walk.visited_best) == 2
    lower = np.argwhere(np.abs(objective.tableau.minors) == 1)[0]
    objective.tableau.exchange(int(lower[0]), int(lower[1]))
    objective.value = 0.0  # as at the start, with a lower index
    walk._record()
    assert len(walk.visited_best) == 3
    walk.go_to(first)
    objective.value = -9.0  # far better, but with the higher index
    walk._record()
    assert len(walk.visited_best) == 3
