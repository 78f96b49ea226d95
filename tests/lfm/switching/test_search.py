import numpy as np
import pytest

from lfm.switching.edges import EdgeTypes
from lfm.switching.search import (
    Fit,
    _alternate,
    _prune,
    exact_edge_types,
    repeats_exactly,
    search_exact,
    standardised,
    varies,
)
from lfm.switching.segments import Segments, find_states
from lfm.switching.thresholds import THRESHOLDS
from lfm.thresholds import ESTIMATORS

G = np.array([[60.0, 0, 0], [20.0, 45.0, 0], [0, 30.0, 40.0]])
LEVEL = np.array([5.0, 5.0, 50.0])


def same_codes(Z, Z_true):
    return {z.tobytes() for z in Z.T} == {z.tobytes() for z in Z_true.T}


def test_the_exact_search_finds_the_features_and_says_that_they_explain_all(switched):
    segments, Z = switched()
    reported = []
    fit = search_exact(segments, find_states(segments), most=10, max_iter=20, report=reported.append)
    assert fit is not None
    assert same_codes(fit.Z, Z)
    np.testing.assert_allclose(
        np.sort(np.linalg.norm(fit.G, axis=1)), np.sort(np.linalg.norm(G, axis=1)), 0.01
    )
    np.testing.assert_allclose(fit.level, LEVEL, atol=0.5)
    assert fit.certified
    assert fit.converged
    assert fit.variation is None
    assert not fit.outlier.any()
    assert reported[-1] == fit.objective


def test_fewer_features_than_there_are_explain_less(switched):
    segments, _ = switched()
    states = find_states(segments)
    whole = search_exact(segments, states, most=10, max_iter=20, report=lambda _: None)
    few = search_exact(segments, states, most=2, max_iter=20, report=lambda _: None)
    assert whole is not None
    assert few is not None
    assert len(few.G) == 2
    assert few.misfit > ESTIMATORS.floor_sigmas
    assert few.objective > whole.objective


def test_a_feature_that_explains_nothing_is_pruned_and_a_needed_one_stays(switched):
    segments, Z = switched()
    states = find_states(segments)
    idle = np.vstack([G, [[0.0, 0.0, -35.0]]])
    fit = _alternate(segments, states, idle, LEVEL, price=30.0, max_iter=20)
    pruned = _prune(segments, states, fit, price=30.0, max_iter=20)
    assert len(pruned.G) == 3
    assert same_codes(pruned.Z, Z)
    again = _prune(segments, states, pruned, price=30.0, max_iter=20)
    assert len(again.G) == 3


def test_objectives_count_the_price_of_each_feature(switched):
    segments, _ = switched()
    states = find_states(segments)
    cheap, dear = (_alternate(segments, states, G, LEVEL, price=p, max_iter=20) for p in (0.0, 10.0))
    assert dear.objective == pytest.approx(cheap.objective + 30.0)


def types_seen(times, n_candidates):
    times = np.asarray(times)
    T = len(times)
    return EdgeTypes(np.zeros((T, 3)), np.ones(T), times, np.zeros(1, int), np.ones(1, int), n_candidates)


@pytest.mark.parametrize(
    ("times", "n_candidates", "recur"),
    [
        ([50] * 60, 60, True),
        ([2] * 61, 61, False),
        ([1] * 100 + [600], 31, True),  # 15% of the edges may be types of their own
        ([1] * 100 + [20] * 25, 25, True),  # most edges are of a recurring type, and candidates are few
        ([1] * 100 + [20] * 25, 31, False),
        ([1] * 200 + [20] * 25, 25, False),
        ([2] * 100 + [20] * 10, 25, False),  # a type seen twice does not recur
        ([3] * 100 + [20] * 10, 25, True),
    ],
)
def test_edges_recur_or_features_must_vary(times, n_candidates, recur):
    assert repeats_exactly(types_seen(times, n_candidates)) is recur


def test_edges_that_never_recur_end_the_exact_search_at_once():
    rng = np.random.default_rng(0)
    S = 150
    mean = np.cumsum(rng.normal(scale=200, size=(S, 3)), axis=0)
    segments = Segments(np.arange(S) * 9, np.full(S, 9), mean, np.arange(S) > 0)
    states = find_states(segments)
    assert not repeats_exactly(exact_edge_types(segments, states)[0])
    assert search_exact(segments, states, most=10, max_iter=5, report=lambda _: None) is None


def test_the_certificate_is_a_distance_in_standard_deviations():
    assert standardised(100 + 3 * np.sqrt(200), 100) == pytest.approx(3.0)
    assert standardised(100.0, 100) == 0
    assert standardised(1.0, -5) == 0  # no freedom is left: one is taken
    fit = Fit(
        G,
        LEVEL,
        np.zeros((1, 3), np.uint8),
        np.zeros(1, bool),
        0.0,
        ESTIMATORS.floor_sigmas,
        True,
        None,
    )
    assert fit.certified
    assert not fit._replace(misfit=ESTIMATORS.floor_sigmas + 0.1).certified


def test_only_features_whose_switches_are_cheap_are_tried_without(switched, monkeypatch):
    """A feature is left alone where its switches cost more than three prices of a feature."""
    segments, _ = switched()
    states = find_states(segments)
    fit = _alternate(segments, states, G, LEVEL, price=1.0, max_iter=20)
    switches = np.sort(np.count_nonzero(np.diff(fit.Z.astype(int), axis=0), axis=0))
    tried = []

    def worse(*_args, **_options):
        tried.append(1)
        return fit._replace(objective=fit.objective + 1e9)

    monkeypatch.setattr("lfm.switching.search._alternate", worse)
    for n in range(4):
        limit = (switches[n - 1] + 0.5 if n else switches[0] - 0.5) * THRESHOLDS.switch_nats / 3
        tried.clear()
        assert _prune(segments, states, fit, price=limit, max_iter=20) is fit
        assert len(tried) == np.count_nonzero(THRESHOLDS.switch_nats * switches <= 3 * limit)


def test_a_column_varies_where_it_takes_both_values():
    Z = np.array([[0, 1, 0], [0, 1, 1]], dtype=np.uint8)
    assert varies(Z).tolist() == [False, False, True]


def test_a_fit_counts_misfit_in_the_rows_that_fit_and_its_freedom(switched):
    segments, Z = switched(3)
    states = find_states(segments)
    fit = _alternate(segments, states, G, LEVEL, price=2.0, max_iter=20)
    design = np.column_stack([fit.Z, np.ones(len(Z))])
    root = np.sqrt(segments.length)[:, None]
    W = np.linalg.lstsq(design * root, segments.mean * root)[0]
    np.testing.assert_allclose(np.vstack([fit.G, fit.level]), W, atol=1e-8)
    chi2 = np.sum(segments.length[:, None] * (segments.mean - design @ W) ** 2)
    freedom = (len(Z) - 4) * 3
    assert fit.misfit == pytest.approx((chi2 - freedom) / np.sqrt(2 * freedom))
    switches = np.count_nonzero(np.diff(fit.Z.astype(int), axis=0))
    assert fit.objective == pytest.approx(0.5 * chi2 + THRESHOLDS.switch_nats * switches + 2.0 * 3)
