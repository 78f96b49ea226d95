import itertools
import math

import numpy as np
import pytest

from lfm import (
    InvalidInputError,
    NotEquivalentError,
    Pdc,
    Solution,
    diagnose,
    enumerate_candidates,
    transform,
)
from lfm.equivalence.counting import BaseCount
from lfm.equivalence.identifiability import _verdict
from lfm.synthetic import blocks, constrained_states, hierarchy, with_bias


def _full_rows(K: int) -> np.ndarray:
    return np.array(list(itertools.product([0, 1], repeat=K)))


@pytest.mark.parametrize("K", [1, 3, 6])
def test_full_rows_are_identifiable(K: int) -> None:
    verdict = diagnose(_full_rows(K), np.random.default_rng(0).standard_normal((K, 8)))
    assert verdict.identifiable is True
    assert verdict.full_rows
    assert verdict.n_equivalent == 1
    assert verdict.n_equivalent_is_exact
    assert verdict.witness is None
    assert verdict.integer_certificate


@pytest.mark.parametrize("pdc", list(Pdc))
def test_one_pdc_makes_three_solutions(pdc: Pdc) -> None:
    """Theorem 4, and Fig. 3c: three solutions in the limit of many rows."""
    verdict = diagnose(constrained_states(400, 6, [(1, 4, pdc)], np.random.default_rng(0)))
    assert (verdict.n_equivalent, verdict.n_equivalent_is_exact) == (3, True)
    assert verdict.n_equivalent_at_most == 3
    assert verdict.identifiable is False
    assert verdict.dependencies == ((1, 4, pdc),)
    assert not verdict.full_rows
    assert verdict.reason.startswith("3 equivalent solutions")


@pytest.mark.parametrize("K", [2, 3, 6, 11])
def test_a_bias_makes_k_plus_one_times_two_to_the_k_minus_two(K: int) -> None:
    """Erratum E2: (K + 1)·2^{K−2}, 112 for K = 6, and not (K + 1)·2^{K−1}."""
    Z = with_bias(_full_rows(K - 1).astype(np.uint8))
    verdict = diagnose(Z)
    assert verdict.n_equivalent == (K + 1) * 2 ** (K - 2)
    assert verdict.n_equivalent_is_exact
    assert verdict.bias_features == (K - 1,)


@pytest.mark.parametrize("seed", range(40))
def test_the_count_is_that_of_all_bases(seed: int, brute_force) -> None:
    Z = brute_force.full_rank_states(seed, K_max=5)
    verdict = diagnose(Z)
    expected = sum(1 for _ in brute_force.bases(brute_force.columns(Z)))
    assert verdict.n_equivalent == expected
    assert verdict.n_equivalent_is_exact
    assert verdict.identifiable is (expected == 1)


@pytest.mark.parametrize("seed", range(40))
def test_the_witness_is_another_solution(seed: int, brute_force) -> None:
    Z = brute_force.full_rank_states(seed)
    W = np.random.default_rng(seed).standard_normal((Z.shape[1], 9))
    verdict = diagnose(Z, W)
    if verdict.identifiable:
        return
    assert verdict.witness is not None
    other = transform(Solution(Z, W), verdict.witness)
    np.testing.assert_allclose(other.product(), Z @ W, atol=1e-9)
    assert set(map(tuple, other.Z.T)) != set(map(tuple, Z.T))


def test_independent_pdcs_multiply() -> None:
    rng = np.random.default_rng(0)
    three = [(0, 1, Pdc.DISJOINT), (2, 3, Pdc.IMPLIES), (4, 5, Pdc.IMPLIED_BY)]
    assert diagnose(constrained_states(2000, 6, three, rng)).n_equivalent == 27


def test_blocks_and_hierarchies_are_counted() -> None:
    rng = np.random.default_rng(0)
    assert diagnose(constrained_states(800, 6, blocks(6, 2), rng)).n_equivalent == 29**2  # regular 3×3
    assert diagnose(constrained_states(800, 3, hierarchy(3), rng)).identifiable is False


@pytest.mark.parametrize("broken", ["zero", "equal", "sum"])
def test_dependent_columns_of_z_are_reported_and_survived(broken: str) -> None:
    Z = constrained_states(60, 4, [(0, 1, Pdc.DISJOINT)], np.random.default_rng(0))
    Z[:, 3] = {"zero": 0 * Z[:, 0], "equal": Z[:, 0], "sum": Z[:, 0] + Z[:, 1]}[broken]
    W = np.random.default_rng(1).standard_normal((4, 7))
    verdict = diagnose(Z, W)
    assert verdict.rank_Z == 3
    assert verdict.identifiable is False
    assert math.isinf(verdict.n_equivalent)
    assert "column" in verdict.reason
    assert verdict.candidates is None
    assert verdict.witness is not None
    other = transform(Solution(Z, W), verdict.witness)
    np.testing.assert_allclose(other.product(), Z @ W, atol=1e-9)
    assert not np.allclose(other.W, W)


def test_the_papers_counterexample_is_left_undecided() -> None:
    """Erratum E6: rank(W) < K proves nothing; this (Z, W) is identifiable, with X = (0, 10, 1, 11)ᵀ."""
    Z, W = np.array([[0, 0], [0, 1], [1, 0], [1, 1]]), np.array([[1.0], [10.0]])
    assert (Z @ W).ravel().tolist() == [0, 10, 1, 11]
    verdict = diagnose(Z, W)
    assert verdict.identifiable is None
    assert verdict.rank_W == 1
    assert "Theorem 2 assumes rank(W) = K" in verdict.reason


def test_collinear_heaters_with_a_pdc_are_not_identifiable() -> None:
    Z = constrained_states(60, 3, [(0, 1, Pdc.DISJOINT)], np.random.default_rng(0))
    W = np.outer([1.0, 2.0, 3.0], np.sin(np.linspace(0, 6, 20)))
    verdict = diagnose(Z, W)
    assert verdict.identifiable is False
    assert verdict.rank_W == 1


def test_a_search_cut_short_says_so() -> None:
    verdict = diagnose(_full_rows(8), max_nodes=5)
    assert verdict.identifiable is None
    assert "cut short" in verdict.reason
    assert not verdict.n_equivalent_is_exact
    assert math.isinf(verdict.n_equivalent_at_most)


def test_fractions_are_reported_by_the_integer_certificate() -> None:
    Z = np.array([[1, 1, 0], [1, 0, 1], [0, 1, 1]])
    verdict = diagnose(Z)
    assert (verdict.lattice_index, verdict.integer_certificate) == (2, False)


@pytest.mark.parametrize(("i", "j"), [(0, 1), (1, 0)])
def test_errata_e4_the_papers_flips_are_not_binary_and_ours_are(i: int, j: int) -> None:
    K, bias = 3, 2
    unit = np.eye(K)
    Z = with_bias(_full_rows(2).astype(np.uint8))
    W = np.random.default_rng(0).standard_normal((K, 4))
    flip = np.eye(K) + np.outer(unit[bias], unit[i]) - 2 * np.outer(unit[i], unit[i])
    printed = np.eye(K) + np.outer(unit[i], unit[bias]) - 2 * np.outer(unit[i], unit[i])
    turned = transform(Solution(Z, W), flip)
    np.testing.assert_array_equal(turned.Z[:, i], 1 - Z[:, i])
    np.testing.assert_allclose(turned.W[i], -W[i])
    np.testing.assert_allclose(turned.W[bias], W[bias] + W[i])
    with pytest.raises(NotEquivalentError):
        transform(Solution(Z, W), printed)
    # Q_ij for PDC3 on (i, j): j on only while i is on.
    nested = _full_rows(2)[[0, 1, 3]][:, ::-1] if i == 0 else _full_rows(2)[[0, 1, 3]]
    e = np.eye(2)
    Q = np.eye(2) + np.outer(e[i], e[j]) - 2 * np.outer(e[j], e[j])
    Q_printed = np.eye(2) + np.outer(e[i], e[j]) - 2 * np.outer(e[i], e[i])
    assert np.all(nested[:, i] >= nested[:, j])
    transform(Solution(nested, W[:2]), Q)
    with pytest.raises(NotEquivalentError):
        transform(Solution(nested, W[:2]), Q_printed)


def test_bad_shapes_are_named() -> None:
    with pytest.raises(InvalidInputError, match="W has 3 rows and Z has 2 columns"):
        diagnose(np.eye(2), np.ones((3, 4)))


@pytest.mark.parametrize(
    ("exact", "max_nodes", "words"),
    [
        (True, 10**6, "5 equivalent solutions"),
        (False, 10**6, "at least 5 and at most 9 equivalent solutions"),
        (True, 3, "at least 5 equivalent solutions"),
        (False, 3, "at least 5 equivalent solutions"),
    ],
)
def test_a_number_is_called_exact_only_if_neither_the_count_nor_the_search_was_cut_short(
    exact: bool, max_nodes: int, words: str
) -> None:
    candidates = enumerate_candidates(_full_rows(6), max_nodes=max_nodes)
    identifiable, reason = _verdict((), candidates, BaseCount(5, exact, 5 if exact else 9), None, 6)
    assert identifiable is False
    assert reason.startswith(words)


def test_a_rank_below_k_is_named_with_its_columns() -> None:
    Z = np.array([[1, 0, 1, 1], [0, 1, 1, 1], [0, 0, 0, 0]])
    verdict = diagnose(Z, np.eye(4))
    assert verdict.identifiable is False
    assert verdict.reason.startswith("rank(Z) = 2 < K: column 2 = column 0 + column 1; column 3 = ")
