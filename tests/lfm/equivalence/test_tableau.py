import numpy as np

from lfm import Solution, enumerate_candidates, lattice_index, random_equivalent
from lfm.equivalence.tableau import Tableau
from lfm.synthetic import constrained_states, with_bias


def test_the_determinant_is_the_lattice_index_of_zu() -> None:
    Z = np.array([[1, 1, 0], [1, 0, 1], [0, 1, 1], [0, 0, 0]], dtype=np.uint8)
    candidates = enumerate_candidates(Z)
    tableau = Tableau(candidates)
    rng = np.random.default_rng(0)
    seen = set()
    for _ in range(60):
        moves = np.argwhere(tableau.minors != 0)
        k, i = moves[rng.integers(len(moves))]
        tableau.exchange(int(k), int(i))
        ZU = np.rint(Z @ tableau.U)
        assert abs(tableau.determinant) == lattice_index(ZU)
        seen.add(abs(tableau.determinant))
    assert seen == {1, 2}


def test_a_random_equivalent_keeps_product_and_index_and_is_somewhere_else() -> None:
    rng = np.random.default_rng(0)
    Z = with_bias(constrained_states(100, 5, [], rng))
    truth = Solution(Z, rng.standard_normal((6, 4)))
    other = random_equivalent(truth, rng)
    np.testing.assert_allclose(other.product(), truth.product(), atol=1e-9)
    assert lattice_index(other.Z) == lattice_index(Z)
    assert set(map(tuple, other.Z.T)) != set(map(tuple, Z.T))


def test_an_identifiable_solution_is_its_own_only_equivalent() -> None:
    rng = np.random.default_rng(0)
    truth = Solution(constrained_states(500, 4, [], rng), rng.standard_normal((4, 4)))
    np.testing.assert_array_equal(random_equivalent(truth, rng, n_exchanges=5).Z, truth.Z)


def test_the_tableau_holds_every_candidate_in_the_coordinates_of_u() -> None:
    for Z in ([[1, 1, 0], [1, 0, 1], [0, 1, 1], [0, 0, 0]], [[1, 0, 1], [1, 1, 0], [1, 0, 0], [1, 1, 1]]):
        candidates = enumerate_candidates(Z)
        tableau = Tableau(candidates)
        rng = np.random.default_rng(1)
        for _ in range(20):
            inverse = np.linalg.inv(tableau.U)
            np.testing.assert_allclose(tableau.inverse, inverse, atol=1e-12)
            np.testing.assert_allclose(
                tableau.minors, tableau.determinant * inverse @ candidates.U.T, atol=1e-9
            )
            determinant = np.linalg.det(tableau.U) * candidates.index
            assert abs(tableau.determinant) == np.rint(abs(determinant))
            k, i = (int(v) for v in rng.choice(np.argwhere(tableau.minors != 0)))
            tableau.exchange(k, i)
            assert tableau.columns[k] == i
