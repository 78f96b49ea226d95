import itertools

import numpy as np
import pytest

from lfm.switching.edges import EdgeTypes, edge_types, varying_edge_types
from lfm.switching.features import choose, description_length, starting_features
from lfm.switching.relations import find_relations
from lfm.switching.segments import Segments, States, find_states
from lfm.switching.tracking import Variation

N_ROWS = 5000


def types_of(vectors, times, variance=1e-3):
    vectors, times = np.asarray(vectors, dtype=float), np.asarray(times)
    T = len(times)
    return EdgeTypes(
        vectors, np.full(T, variance), times, np.full(1, -1), np.ones(1, dtype=int), n_candidates=T
    )


def holds(types, target, members):
    """Whether some signed sum of the members is the target, up to the noise."""
    for signs in itertools.product([1, -1], repeat=len(members)):
        difference = types.vector[target] - np.array(signs) @ types.vector[list(members)]
        if np.linalg.norm(difference) < 0.5:
            return True
    return False


def test_relations_are_all_signed_sums_of_up_to_three_that_hold():
    rng = np.random.default_rng(0)
    a, b, c, d = 30 * rng.normal(size=(4, 5))
    types = types_of([a, b, c, d, a + b, a - c, b - c + d, a + b + c + d], [9, 8, 7, 6, 3, 2, 2, 1])
    relations = find_relations(types)
    found = {
        (t, tuple(k for k in range(8) if int(relations.members[i]) >> k & 1))
        for t in range(8)
        for i in range(relations.first[t], relations.first[t + 1])
    }
    expected = {(t, (t,)) for t in range(8)}
    for size in (2, 3):
        for t in range(8):
            for members in itertools.combinations([k for k in range(8) if k != t], size):
                if holds(types, t, members):
                    expected.add((t, members))
    # A sum that needs two of three members is found as the two, and not again with a third that adds nothing.
    assert found == expected
    assert (4, (0, 1)) in found
    assert (7, (2, 3, 4)) in found


def charge(types, relations, chosen, price):
    """The description length of `choose`, written out."""
    used = dict.fromkeys(chosen, 0)
    total = 0.0
    for t, n in enumerate(types.times):
        for i in range(relations.first[t], relations.first[t + 1]):
            members = [k for k in range(len(types.times)) if int(relations.members[i]) >> k & 1]
            if set(members) <= set(chosen):
                for k in members:
                    used[k] += n
                break
        else:
            total += n * (price + np.log(N_ROWS))
    return total + sum(price + n * np.log(N_ROWS / max(n, 1)) for n in used.values())


@pytest.mark.parametrize("seed", range(6))
def test_the_choice_is_the_best_of_all_subsets(seed):
    rng = np.random.default_rng(seed)
    features = 40 * rng.normal(size=(4, 3))
    features[1] = 1.4 * features[0]  # collinear
    sums = [features[i] + s * features[j] for i, j, s in [(0, 1, 1), (0, 2, -1), (2, 3, 1), (1, 3, 1)]]
    times = np.concatenate([rng.integers(5, 60, size=4), rng.integers(1, 6, size=4)])
    order = np.argsort(-times, kind="stable")
    types = types_of(np.concatenate([features, sums])[order], times[order])
    relations = find_relations(types)
    price = description_length(types)
    choice = choose(types, relations, price=price, n_rows=N_ROWS, most=8)
    best = min(
        (charge(types, relations, chosen, price), chosen)
        for size in range(9)
        for chosen in itertools.combinations(range(8), size)
    )
    assert choice.charges.min() == pytest.approx(best[0])
    chosen = int(choice.sets[np.argmin(choice.charges)])
    assert {k for k in range(8) if chosen >> k & 1} == set(best[1])
    assert set(best[1]) == set(np.flatnonzero(order < 4))


def record(rng, factor=lambda: 1.0):
    """Segments of three features that switch one at a time over a level, and their Z."""
    G = np.array([[200.0, 0, 0], [260.0, 0, 0], [20.0, 90.0, 0]])
    level = np.array([5.0, 5.0, 50.0])
    Z = np.zeros((61, 3), dtype=np.uint8)
    size = np.ones(3)
    means = np.zeros((61, 3))
    means[0] = level
    for s in range(1, 61):
        k = int(rng.integers(3))
        Z[s] = Z[s - 1]
        Z[s, k] ^= 1
        size[k] = factor() if Z[s, k] else 1.0
        means[s] = level + (Z[s] * size) @ G
    length = rng.integers(3, 30, size=61)
    means += rng.standard_normal(means.shape) / np.sqrt(length)[:, None]
    follows = np.ones(61, dtype=bool)
    follows[0] = False
    return Segments(np.cumsum([0, *length[:-1]]), length, means, follows), Z, G, level


def test_edges_of_exact_features_are_counted_by_type_and_signed():
    segments, Z, G, _ = record(np.random.default_rng(1))
    states = find_states(segments)
    types = edge_types(states, segments.follows, segments.length)
    assert len(types.times) == 3
    assert types.times.sum() == 60
    change = types.vector[types.of_segment[1:]] * types.sign[1:, None]
    np.testing.assert_allclose(change, np.diff(Z.astype(int), axis=0) @ G, atol=2.0)


def test_starting_features_point_to_the_mean_and_start_from_the_level_with_all_off():
    segments, _, G, level = record(np.random.default_rng(2))
    states = find_states(segments)
    types = edge_types(states, segments.follows, segments.length)
    relations = find_relations(types)
    found, start = starting_features(
        types, relations, np.uint64(0b111), states, segments.length @ segments.mean, segments.follows
    )
    np.testing.assert_allclose(found[np.argsort(found[:, 0])], G[np.argsort(G[:, 0])], atol=2.0)
    np.testing.assert_allclose(start, level, atol=3.0)


def test_edges_across_a_gap_do_not_count():
    states = States(np.array([0, 1, 0]), np.array([[0.0], [50.0]]), np.array([20.0, 10.0]))
    assert edge_types(states, np.array([False, False, True]), np.full(3, 2)).times.sum() == 1
    assert len(edge_types(states, np.array([False, False, False]), np.full(3, 2)).times) == 0


def test_varying_edges_are_grouped_and_their_drift_is_measured():
    rng = np.random.default_rng(3)
    segments, _, G, _ = record(rng, lambda: 1 + 0.03 * rng.standard_normal())
    types, measured = varying_edge_types(segments, Variation(0.04, 0.01))
    assert types.times[:3].sum() >= 57  # of 60: an activation far out may stand alone
    assert 0.015 < measured.drift < 0.045
    sizes = np.sort(np.linalg.norm(types.vector[:3], axis=1))
    np.testing.assert_allclose(sizes, np.sort(np.linalg.norm(G, axis=1)), rtol=0.03)


def test_the_two_edges_of_a_single_row_are_one_sight_of_a_type() -> None:
    # 0 → a (one row) → 0 → b (one row) → 0 → b → 0: a was seen once, b twice, and twenty odd ones once each
    odd = np.arange(2, 25)
    visits = [0, 1, 0, 2, 0, 2, 0, *np.stack([odd + 1, 0 * odd], axis=1).ravel()]
    label = np.array(visits)
    mean = np.arange(label.max() + 1.0)[:, None] ** 2 * np.array([[100.0, 3.0]])
    states = States(label, mean, np.full(len(mean), 100.0))
    follows = np.arange(len(label)) > 0
    types = edge_types(states, follows, np.where(label == 0, 9, 1))
    assert types.n_candidates == 1
    np.testing.assert_allclose(np.abs(types.vector[0]), mean[2])
    assert types.times[0] == 4


def test_types_beyond_those_that_relations_know_say_nothing_about_who_is_on():
    segments = record(np.random.default_rng(4))[0]
    states = find_states(segments)
    types = edge_types(states, segments.follows, segments.length)
    relations = find_relations(types)
    toward = segments.length @ segments.mean
    whole = starting_features(types, relations, np.uint64(0b111), states, toward, segments.follows)
    fewer = relations._replace(first=relations.first[:3])  # the third type is not known
    found, start = starting_features(types, fewer, np.uint64(0b011), states, toward, segments.follows)
    np.testing.assert_allclose(found, whole[0][:2])
    common = states.mean[np.argmax(states.rows)]
    on = np.linalg.lstsq(whole[0].T, common - whole[1])[0]
    np.testing.assert_allclose(start, common - np.rint(on[:2]) @ found, atol=1e-6)


def test_an_edge_that_is_a_difference_switches_one_feature_on_and_the_other_off():
    a, b, level = np.array([200.0, 0.0]), np.array([10.0, 90.0]), np.array([5.0, 5.0])
    types = EdgeTypes(
        np.array([a, b, a - b]),
        np.full(3, 1e-3),
        np.array([9, 8, 2]),
        np.array([-1, 2, 2]),  # b is on, then a instead, then b again
        np.array([1, 1, -1]),
        n_candidates=3,
    )
    states = States(np.array([0, 1, 0]), np.array([level + b, level + a]), np.array([10.0, 50.0]))
    found, start = starting_features(
        types, find_relations(types), np.uint64(0b011), states, a + b, np.array([False, True, True])
    )
    np.testing.assert_allclose(found, [a, b])
    np.testing.assert_allclose(start, level)
