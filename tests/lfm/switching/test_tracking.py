import numpy as np
import pytest

from lfm.switching.segments import Segments, States
from lfm.switching.thresholds import THRESHOLDS
from lfm.switching.tracking import Variation, track_segments
from lfm.switching.viterbi import decode_segments

G = np.array([[200.0, 0, 0], [222.0, 0, 0], [20.0, 90.0, 0], [0, 30.0, 40.0]])
LEVEL = np.array([5.0, 5.0, 50.0])


def activations(rng, drift, S=80):
    """Segments in which one feature at a time switches, each activation with a size of its own, and Z."""
    Z = np.zeros((S, 4), dtype=np.uint8)
    size = np.ones(4)
    means = np.tile(LEVEL, (S, 1))
    for s in range(1, S):
        k = int(rng.integers(4))
        Z[s] = Z[s - 1]
        Z[s, k] ^= 1
        if Z[s, k]:
            size[k] = 1 + drift * rng.standard_normal()
        means[s] += (Z[s] * size) @ G
    length = rng.integers(4, 40, size=S)
    means += rng.standard_normal(means.shape) / np.sqrt(length)[:, None]
    follows = np.ones(S, dtype=bool)
    follows[0] = False
    return Segments(np.cumsum([0, *length[:-1]]), length, means, follows), Z


@pytest.mark.parametrize("seed", range(3))
def test_collinear_features_a_tenth_apart_are_told_apart_under_drift(seed):
    segments, Z = activations(np.random.default_rng(seed), drift=0.02)
    track = track_segments(segments, G, LEVEL, Variation(0.02, 0.002))
    assert np.mean(track.Z != Z) < 0.02
    assert not track.glitch.any()
    assert track.chi2 < 1.3 * Z.shape[0] * 3


def test_without_drift_the_track_is_the_cheapest_path():
    segments, Z = activations(np.random.default_rng(4), drift=0.0)
    track = track_segments(segments, G, LEVEL, Variation(1e-6, 1e-6))
    np.testing.assert_array_equal(track.Z, Z)
    states = States(np.arange(len(Z)), segments.mean, segments.length.astype(float))
    path = decode_segments(segments, states, G, LEVEL)
    assert track.cost == pytest.approx(path.cost, rel=1e-6)


def test_a_gap_lets_everything_change():
    segments, Z = activations(np.random.default_rng(5), drift=0.0)
    kept = np.ones(len(Z), dtype=bool)
    kept[20:45] = False
    segments = segments.only(kept)
    segments.follows[20] = False
    track = track_segments(segments, G, LEVEL, Variation(0.001, 0.001))
    np.testing.assert_array_equal(track.Z, Z[kept])


def test_a_spoilt_row_is_passed_over():
    segments, Z = activations(np.random.default_rng(6), drift=0.02)
    segments.length[30] = 1
    segments.mean[30] = [-700.0, 400.0, -300.0]
    track = track_segments(segments, G, LEVEL, Variation(0.02, 0.002))
    np.testing.assert_array_equal(np.flatnonzero(track.glitch), [30])
    others = np.arange(len(Z)) != 30
    assert np.mean(track.Z[others] != Z[others]) < 0.02


def test_the_model_is_that_of_its_variation_and_starts_after_gaps_at_the_closest_code(monkeypatch):
    segments, Z = activations(np.random.default_rng(7), drift=0.0, S=30)
    segments.follows[[10, 20]] = False
    seen = {}

    def captured(means, length, follows, closest, skip_cost, model, limits):
        seen.update(closest=closest, model=model, limits=limits)
        nothing = np.zeros(len(means))
        return nothing.astype(np.int64), nothing.astype(bool), nothing, 0.0

    monkeypatch.setattr("lfm.switching.tracking._track", captured)
    track_segments(segments, G, LEVEL, Variation(0.03, 0.02))
    codes = Z @ (1 << np.arange(4))
    assert seen["closest"].tolist() == [codes[s] if s in (0, 10, 20) else 0 for s in range(30)]
    model = seen["model"]
    assert model.along == pytest.approx(0.03**2)
    np.testing.assert_allclose(model.around, 0.02**2 * np.sum(G**2, axis=1) / 3)
    assert model.wander == pytest.approx((THRESHOLDS.wander * 0.03) ** 2)
    np.testing.assert_allclose(model.gram, G @ G.T)
    assert model.singles.tolist() == [[k, -1, -1, -1] for k in range(-1, 4)]
    pairs = [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]]
    assert model.pairs.tolist() == [[*pair, -1, -1] for pair in pairs]
    assert seen["limits"] is THRESHOLDS
    track_segments(segments, G, LEVEL, Variation(0.0, 0.02))
    assert seen["model"].along == 1e-12


def many(n=9, r=6):
    """Features of many sizes and directions, and no level below them."""
    return np.random.default_rng(11).uniform(20.0, 90.0, (n, 1)) * np.abs(
        np.random.default_rng(12).standard_normal((n, r))
    )


@pytest.mark.parametrize("n_changed", [1, 2, 3, 4])
def test_up_to_four_features_that_switch_in_one_row_are_found(n_changed):
    features = many()
    rng = np.random.default_rng(13)
    Z = np.zeros((60, 9), np.uint8)
    for s in range(1, 60):
        Z[s] = Z[s - 1]
        Z[s, rng.choice(9, n_changed, replace=False)] ^= 1
    length = rng.integers(4, 20, size=60)
    mean = Z @ features + rng.standard_normal((60, 6)) / np.sqrt(length)[:, None]
    segments = Segments(np.cumsum([0, *length[:-1]]), length, mean, np.arange(60) > 0)
    track = track_segments(segments, features, np.zeros(6), Variation(0.01, 0.002))
    np.testing.assert_array_equal(track.Z, Z)


def test_two_features_that_come_together_stay_uncertain_one_by_one():
    """Their sum is known after a row; when one goes, the other may be off by what the sum hides."""
    pair = np.array([[600.0, 0.0, 0.0], [100.0, 60.0, 0.0]])
    Z = np.array([[0, 0], [1, 1], [0, 1], [0, 0]], np.uint8)
    mean = np.array([[0.0, 0.0, 0.0], [700.0, 60.0, 0.0], [106.0, 63.6, 0.0], [0.0, 0.0, 0.0]])
    segments = Segments(np.array([0, 30, 40, 60]), np.array([30, 10, 20, 30]), mean, np.arange(4) > 0)
    track = track_segments(segments, pair, np.zeros(3), Variation(0.03, 0.002))
    np.testing.assert_array_equal(track.Z, Z)
    assert track.chi2 < 40.0
