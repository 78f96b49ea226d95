import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lfm import InvalidInputError, nonbinarity
from lfm.equivalence.lattice import (
    _early_rows,
    _enumerate,
    _lll,
    _product,
    _reduced_basis,
    short_vectors,
)
from lfm.thresholds import EQUIVALENCE


@given(st.integers(0, 10_000))
@settings(max_examples=50, deadline=None)
def test_nonbinarity_is_half_the_sum_of_z_times_z_minus_one(seed: int) -> None:
    rng = np.random.default_rng(seed)
    Z = (rng.random((7, 4)) < 0.5).astype(np.uint8)
    U = rng.integers(-2, 3, size=(4, 6))
    ZU = Z.astype(int) @ U
    f = nonbinarity(Z, U)
    np.testing.assert_array_equal(f, (ZU * (ZU - 1)).sum(axis=0) // 2)
    assert np.all(f >= 0)
    np.testing.assert_array_equal(f == 0, np.all((ZU == 0) | (ZU == 1), axis=0))


def test_nonbinarity_takes_fractions_only_where_zu_is_integer() -> None:
    Z = [[1, 1], [1, 1], [0, 0]]
    assert nonbinarity(Z, [[0.5], [0.5]]).tolist() == [0]
    with pytest.raises(InvalidInputError, match="column 0 of U gives fractions"):
        nonbinarity([[1, 0], [0, 1]], [[0.5], [0.5]])


def test_nonbinarity_refuses_numbers_whose_squares_overflow() -> None:
    with pytest.raises(InvalidInputError, match="too large for f to be an exact integer"):
        nonbinarity(np.eye(2), [[1e10], [0.0]])


def test_nonbinarity_names_the_shape_that_does_not_fit() -> None:
    with pytest.raises(InvalidInputError, match=r"U has 3 rows.*K = 2"):
        nonbinarity([[1, 0], [0, 1]], np.eye(3))


@pytest.mark.parametrize("F", [0, 1, 3])
def test_short_vectors_are_all_those_in_a_box_that_holds_the_ellipsoid(F: int) -> None:
    rng = np.random.default_rng(F)
    for _ in range(20):
        rows = np.unique(rng.integers(-1, 3, size=(6, 3)), axis=0).astype(np.int64)
        if np.linalg.matrix_rank(rows) < 3:
            continue
        counts = rng.integers(1, 4, size=len(rows))
        found, f, _, complete = short_vectors(rows, counts, F, 10**6)
        box = np.array(list(itertools.product(range(-8, 9), repeat=3)))
        image = box @ rows.T
        cost = ((image * (image - 1) // 2) * counts).sum(axis=1)
        expected = {tuple(u) for u in box[(cost <= F) & np.any(box != 0, axis=1)]}
        assert complete
        assert np.abs(found).max(initial=0) < 8
        assert {tuple(u) for u in found} == expected
        image = found @ rows.T
        np.testing.assert_array_equal(f, ((image * (image - 1) // 2) * counts).sum(axis=1))


def test_a_spent_budget_is_admitted() -> None:
    rows = np.eye(6, dtype=np.int64)
    found, _, nodes, complete = short_vectors(rows, np.ones(6, dtype=np.int64), 0, 10)
    assert not complete
    assert nodes > 10
    assert len(found) < 2**6 - 1


@pytest.mark.parametrize("seed", range(10))
def test_a_reduced_basis_is_unimodular_short_and_ordered_by_what_each_column_adds(seed: int) -> None:
    rng = np.random.default_rng(seed)
    K = int(rng.integers(2, 7))
    A = rng.integers(-9, 10, size=(3 * K, K))
    T = _lll(np.linalg.cholesky((A.T @ A).astype(float)).T.copy())
    assert abs(round(np.linalg.det(T.astype(float)))) == 1
    R = np.linalg.qr((A @ T).astype(float))[1]
    mu = R / np.diag(R)[:, None]
    assert np.abs(np.triu(mu, 1)).max() <= 0.5 + 1e-9
    for k in range(1, K):  # Lovász's condition
        assert R[k, k] ** 2 + R[k - 1, k] ** 2 >= (0.99 - 1e-9) * R[k - 1, k - 1] ** 2
    ordered = A @ _reduced_basis(A.T @ A)
    for k in range(K):
        before = ordered[:, :k].astype(float)
        rest = ordered[:, k:] - before @ np.linalg.lstsq(before, ordered[:, k:].astype(float))[0]
        lengths = np.linalg.norm(rest, axis=0)
        assert lengths[0] <= lengths.min() + 1e-9


def plain_search(R, c, radius, rows, first, weights, limit):
    """(points in the ellipsoid, nodes) of a plain recursion: each level from the nearest integer outwards."""
    K = len(R)
    found, nodes = [], 0

    def level(k: int, y: dict[int, int], distance: float, known: int) -> None:
        nonlocal nodes
        centre = (c[k] - sum(R[k, j] * y[j] for j in range(k + 1, K))) / R[k, k]
        nearest = sorted(range(-60, 61), key=lambda value: abs(value - centre))
        for value in nearest:
            nodes += 1
            here = distance + (R[k, k] * (value - centre)) ** 2
            if here > radius:
                return
            now = {**y, k: value}
            entries = [sum(rows[r, j] * now[j] for j in range(k, K)) for r in range(first[k], first[k + 1])]
            costs = np.array([e * (e - 1) // 2 for e in entries], dtype=int)
            price = known + int(weights[first[k] : first[k + 1]] @ costs)
            if price > limit:
                continue
            if k:
                level(k - 1, now, here, price)
            else:
                found.append(tuple(now[j] for j in range(K)))

    level(K - 1, {}, 0.0, 0)
    return found, nodes


@pytest.mark.parametrize("limit", [0, 2])
@pytest.mark.parametrize("seed", range(8))
def test_the_search_visits_the_nodes_of_a_plain_recursion_and_no_more(seed: int, limit: int) -> None:
    rng = np.random.default_rng(seed)
    K = int(rng.integers(1, 5))
    rows = np.unique(rng.integers(-1, 3, size=(8, K)), axis=0).astype(np.int64)
    weights = rng.integers(1, 4, size=len(rows))
    R = np.triu(rng.uniform(-0.7, 0.7, (K, K)), 1) + np.diag(rng.uniform(0.6, 1.4, K))
    c = rng.uniform(-2, 2, K)
    radius = float(rng.uniform(2, 7))
    early, first, its_weights = _early_rows(rows, weights)
    expected, n_nodes = plain_search(R, c, radius, early, first, its_weights, limit)
    found, n_found, nodes = _enumerate(R, c, radius, early, first, its_weights, limit, 10**7)
    assert nodes == n_nodes
    assert {tuple(y) for y in found[:n_found]} == set(expected)
    assert n_found == len(expected)


def test_rows_are_decided_at_the_level_of_their_first_entry(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = np.array([[0, 0, 1], [0, 0, 0], [1, 0, 2], [0, 3, 0], [0, 1, 1], [0, 2, 2], [0, 0, 2]])
    weights = np.array([5, 6, 7, 1, 2, 3, 4])
    early, first, its_weights = _early_rows(rows, weights)
    assert first.tolist() == [0, 0, 3, 5]  # none at level 0, which is the last
    assert early.tolist() == [[0, 3, 0], [0, 1, 1], [0, 2, 2], [0, 0, 1], [0, 0, 2]]
    assert its_weights.tolist() == [1, 2, 3, 5, 4]
    monkeypatch.setattr("lfm.equivalence.lattice.EQUIVALENCE", EQUIVALENCE._replace(early_per_level=1))
    early, first, its_weights = _early_rows(rows, weights)
    assert first.tolist() == [0, 0, 1, 2]
    assert its_weights.tolist() == [1, 5]


def test_products_of_integers_are_exact_beyond_floating_point() -> None:
    A, B = np.array([[2**30, 1], [3, -5]]), np.array([[2**29, 0], [1, 2**28]])
    assert _product(A, B).tolist() == [[2**59 + 1, 2**28], [3 * 2**29 - 5, -5 * 2**28]]
    small = np.arange(6).reshape(2, 3)
    assert _product(small, small.T).tolist() == (small @ small.T).tolist()
