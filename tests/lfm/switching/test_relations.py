import itertools

import numpy as np
import pytest

from lfm.switching.edges import EdgeTypes
from lfm.switching.relations import find_relations
from lfm.switching.segments import distance_limit
from lfm.switching.thresholds import THRESHOLDS


def types_of(vectors, n_candidates, *, drift=0.0, times=10):
    T = len(vectors)
    none = np.zeros(0, dtype=np.int64)
    return EdgeTypes(vectors, np.full(T, 0.01), np.full(T, times), none, none, n_candidates, drift, noise=0.1)


def test_the_relations_are_those_that_trying_every_signed_sum_finds():
    rng = np.random.default_rng(0)
    base = rng.normal(0, 50, (4, 3))
    vectors = np.vstack([base, base[0] - base[1], base[1] + base[2] + base[3], rng.normal(0, 50, (1, 3))])
    relations = find_relations(types_of(vectors, 4))
    expected = set()
    for t, n in itertools.product(range(len(vectors)), (1, 2, 3)):
        for members in itertools.combinations(range(4), n):
            for signs in itertools.product((1, -1), repeat=n):
                left = vectors[t] - np.array(signs) @ vectors[list(members)]
                if t in members and (n > 1 or signs == (-1,)):
                    continue
                if left @ left <= 0.01 * (1 + n) * distance_limit(3):
                    minus = sum(1 << m for m, s in zip(members, signs, strict=True) if s < 0)
                    expected.add((t, sum(1 << m for m in members), minus))
    found = {
        (t, int(relations.members[i]), int(relations.negative[i]))
        for t in range(len(vectors))
        for i in range(relations.first[t], relations.first[t + 1])
    }
    assert found == expected
    assert (4, 0b0011, 0b0010) in found
    assert (5, 0b1110, 0) in found
    assert not relations.surplus.any()


def test_with_drift_a_difference_of_large_edges_costs_more_than_the_edge_itself():
    vectors = np.array([[1000.0, 0.0], [900.0, 0.0], [100.0, 0.0]])
    relations = find_relations(types_of(vectors, 3, drift=0.03))
    of_the_small_one = slice(relations.first[2], relations.first[3])
    members, surplus = relations.members[of_the_small_one], relations.surplus[of_the_small_one]
    assert surplus[members == 0b100] == 0.0
    # ½ log of (1 + δ²(1000² + 900²)/noise) over (1 + δ²·100²/noise)
    more = 0.5 * (np.log1p(0.03**2 * (1000**2 + 900**2) / 0.1) - np.log1p(0.03**2 * 100**2 / 0.1))
    np.testing.assert_allclose(surplus[members == 0b011], more)


def price(t, members, signs, vectors, times, *, drift, variance=0.01, noise=0.1):
    """What a relation costs by its definition, from the vectors themselves; None where it does not hold."""
    rest = vectors[t] - np.array(signs) @ vectors[members]
    distance = rest @ rest
    sizes = np.sum(vectors[members] ** 2, axis=1)
    seen = 1 / times[t] + 1 / times[members]
    spread = variance * (1 + len(members))
    reach = spread * distance_limit(vectors.shape[1])
    slack = drift**2 * np.sum(seen * (vectors[members] @ rest) ** 2) / distance
    loose = drift**2 * np.sum(seen * sizes)
    if distance > reach + THRESHOLDS.reach_sigmas**2 * min(loose, slack):
        return None
    more = np.log1p(drift**2 * sizes.sum() / noise) - np.log1p(drift**2 * vectors[t] @ vectors[t] / noise)
    return 0.5 * max(more, 0.0) + 0.5 * distance / (spread + slack) / times[t]


@pytest.mark.parametrize("drift", [0.01, 0.05])
def test_with_drift_relations_and_their_prices_are_those_of_trying_every_signed_sum(drift):
    rng = np.random.default_rng(1)
    base = rng.normal(0, 50, (5, 3))
    sums = [base[0] - base[1], base[1] + base[2] - base[3], base[4] + base[0], base[2] + base[3], base[0] * 2]
    drifting = np.array(sums) * rng.normal(1, drift / 4, (5, 1))
    vectors = np.vstack([base, drifting + rng.normal(0, 0.1, (5, 3))])
    times = rng.integers(2, 30, len(vectors))
    types = types_of(vectors, 5, drift=drift)._replace(times=times)
    relations = find_relations(types)
    expected = {}
    for t, members in itertools.product(range(len(vectors)), itertools.combinations(range(5), 2)):
        for signs in itertools.product((1, -1), repeat=2):
            cost = None if t in members else price(t, list(members), signs, vectors, times, drift=drift)
            if cost is not None:
                expected[t, members, signs] = cost
    for t, members in itertools.product(range(len(vectors)), itertools.combinations(range(5), 3)):
        for signs in itertools.product((1, -1), repeat=3):
            enough = (t, members[:2], signs[:2]) in expected
            cost = None if t in members else price(t, list(members), signs, vectors, times, drift=drift)
            if cost is not None and not enough:
                expected[t, members, signs] = cost
    found = {}
    for t in range(len(vectors)):
        for i in range(relations.first[t], relations.first[t + 1]):
            members = tuple(c for c in range(5) if int(relations.members[i]) >> c & 1)
            signs = tuple(-1 if int(relations.negative[i]) >> c & 1 else 1 for c in members)
            if len(members) > 1:
                found[t, members, signs] = relations.surplus[i]
    assert found == pytest.approx(expected)
    assert 4 <= len(found) < 200
    assert {len(members) for _, members, _ in found} == {2, 3}


def test_relations_of_one_type_come_in_the_order_of_their_price():
    rng = np.random.default_rng(2)
    base = rng.normal(0, 50, (5, 3))
    vectors = np.vstack([base, base[0] + base[1]])
    relations = find_relations(types_of(vectors, 5, drift=0.05))
    typical = relations.surplus + np.log(THRESHOLDS.rows_per_use) * np.bitwise_count(relations.members)
    for t in range(len(vectors)):
        assert np.all(np.diff(typical[relations.first[t] : relations.first[t + 1]]) >= 0)
