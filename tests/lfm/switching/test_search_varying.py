import numpy as np
import pytest

from lfm.switching.search_varying import (
    _alternate,
    _exchanged,
    _grown,
    _pruned,
    refit_varying,
    search_varying,
)
from lfm.switching.thresholds import THRESHOLDS
from lfm.switching.tracking import Variation
from lfm.thresholds import ESTIMATORS

G = np.array([[60.0, 0, 0], [20.0, 45.0, 0], [0, 30.0, 40.0]])
LEVEL = np.array([5.0, 5.0, 50.0])


def same_codes(Z, Z_true):
    return {z.tobytes() for z in Z.T} == {z.tobytes() for z in Z_true.T}


@pytest.mark.parametrize("seed", range(3))
def test_the_varying_search_finds_features_whose_activations_differ(switched, seed):
    segments, Z = switched(seed, drift=0.05)
    fit = search_varying(segments, most=10, drift=None, max_iter=10, report=lambda _: None)
    assert same_codes(fit.Z, Z)
    assert fit.variation is not None
    assert 0.02 < fit.variation.drift < 0.1
    assert fit.misfit < ESTIMATORS.floor_sigmas
    given = search_varying(segments, most=10, drift=0.05, max_iter=10, report=lambda _: None)
    assert given.variation is not None
    assert given.variation.drift == 0.05


def test_the_refit_is_generalised_least_squares_on_the_edges(switched):
    segments, Z = switched(1, S=40, drift=0.03)
    outlier = np.zeros(40, bool)
    outlier[17] = True
    variation = Variation(0.03, 0.01)
    features, level = refit_varying(segments.mean, segments, Z, outlier, G, variation)
    inside = [s for s in range(1, 40) if s not in (17, 18)]
    change = np.array([Z[s].astype(float) - Z[s - 1] for s in inside])
    edges = np.array([segments.mean[s] - segments.mean[s - 1] for s in inside])
    size = (0.03**2 + 0.01**2) * np.sum(G**2, axis=1)
    variance = [
        1 / segments.length[s] + 1 / segments.length[s - 1] + c**2 @ size / 3
        for s, c in zip(inside, change, strict=True)
    ]
    A = change / np.sqrt(variance)[:, None]
    np.testing.assert_allclose(
        features, np.linalg.lstsq(A, edges / np.sqrt(variance)[:, None], rcond=None)[0]
    )
    weight = np.where(outlier, 0.0, 1 / (1 / segments.length + Z @ size))
    np.testing.assert_allclose(level, weight @ (segments.mean - Z @ features) / weight.sum())


def test_the_drift_of_a_heavy_load_does_not_leak_into_a_small_one(switched):
    """Edges in which a heavy load switches too say little about the small one."""
    segments, Z = switched(2, drift=0.1)
    fit, _ = refit_varying(segments.mean, segments, Z, np.zeros(len(Z), bool), G, Variation(0.1, 0.01))
    np.testing.assert_allclose(fit, G, atol=3.0)


def test_a_type_of_edge_that_gains_becomes_a_feature_and_others_do_not(switched):
    segments, Z = switched(3, drift=0.02)
    variation = Variation(0.02, 0.002)
    two = _alternate(segments, G[:2], LEVEL, variation, price=30.0, max_iter=0)
    of_segment = np.full(len(Z), -1)
    change = np.diff(Z.astype(int), axis=0)
    of_segment[1:][change[:, 2] != 0] = 0
    vector = np.vstack([G[2], -2 * G[2]])
    free = np.ones(2, bool)
    grown = _grown(segments, two, vector, of_segment, free, variation, price=30.0, most=10)
    np.testing.assert_array_equal(grown.fit.G, G)
    np.testing.assert_array_equal(grown.fit.Z, Z)
    assert grown.fit.objective < two.fit.objective
    assert free.all()
    for most, allowed in ((2, free), (10, np.array([False, True]))):
        kept = _grown(segments, two, vector, of_segment, allowed, variation, price=30.0, most=most)
        assert kept is two


@pytest.mark.parametrize(
    ("cycle", "wrong", "level"),
    [
        ([[1, 0], [0, 0], [0, 1], [0, 0]], G[1] - G[0], LEVEL),
        ([[1, 0], [1, 1], [1, 0], [0, 0]], G[1] + G[0], LEVEL),
        ([[1, 0], [0, 0], [0, 1], [0, 0]], G[0] - G[1], LEVEL - G[0] + G[1]),
    ],
    ids=["sum", "difference", "difference the other way round"],
)
def test_one_of_two_features_that_mostly_switch_together_is_exchanged(switched, cycle, wrong, level):
    segments, _ = switched(S=120)
    Z = np.tile(np.array(cycle, np.uint8), (30, 1))
    noise = np.random.default_rng(0).standard_normal((120, 3)) / np.sqrt(segments.length)[:, None]
    segments = segments._replace(mean=LEVEL + Z @ G[:2] + noise)
    toward = segments.length @ segments.mean
    variation = Variation(0.01, 0.002)
    start = _alternate(segments, np.stack([G[0], wrong]), level, variation, price=30.0, max_iter=0)
    assert not start.fit.outlier.any()  # all is explained, and wrong
    assert not np.array_equal(start.fit.Z, Z)
    found = _exchanged(segments, start, toward, variation, price=30.0)
    np.testing.assert_allclose(found.fit.G, G[:2])
    np.testing.assert_allclose(found.fit.level, LEVEL)
    np.testing.assert_array_equal(found.fit.Z, Z)
    assert found.fit.objective < start.fit.objective
    assert _exchanged(segments, found, toward, variation, price=30.0) is found


def test_a_feature_that_explains_nothing_is_left_out(switched):
    segments, Z = switched(4, drift=0.02)
    variation = Variation(0.02, 0.002)
    idle = np.vstack([G, [[0.0, 0.0, -35.0]]])
    tracked = _alternate(segments, idle, LEVEL, variation, price=30.0, max_iter=0)
    pruned = _pruned(segments, tracked, variation, price=30.0)
    np.testing.assert_array_equal(pruned.fit.G, G)
    np.testing.assert_array_equal(pruned.fit.Z, Z)


def test_only_features_whose_switches_cost_less_than_a_feature_are_tried_without(switched, monkeypatch):
    segments, _ = switched(5, drift=0.02)
    tracked = _alternate(segments, G, LEVEL, Variation(0.02, 0.002), price=1.0, max_iter=0)
    switches = np.sort(np.count_nonzero(np.diff(tracked.fit.Z.astype(int), axis=0), axis=0))
    tried = []

    def worse(*_args, **_options):
        tried.append(1)
        return tracked._replace(fit=tracked.fit._replace(objective=tracked.fit.objective + 1e9))

    monkeypatch.setattr("lfm.switching.search_varying._alternate", worse)
    for n in range(4):
        limit = (switches[n - 1] + 0.5 if n else switches[0] - 0.5) * THRESHOLDS.switch_nats
        tried.clear()
        assert _pruned(segments, tracked, Variation(0.02, 0.002), price=limit) is tracked
        assert len(tried) == np.count_nonzero(THRESHOLDS.switch_nats * switches <= limit)


def test_what_each_segment_costs_adds_up_to_the_cost(switched):
    segments, _ = switched(6, drift=0.02)
    tracked = _alternate(segments, G, LEVEL, Variation(0.02, 0.002), price=7.0, max_iter=0)
    assert tracked.paid.shape == (len(segments.start),)
    assert tracked.paid.sum() + 3 * 7.0 == pytest.approx(tracked.fit.objective)
