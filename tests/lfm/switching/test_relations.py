import itertools

import numpy as np

from lfm.switching.edges import EdgeTypes
from lfm.switching.relations import find_relations
from lfm.switching.segments import distance_limit


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
