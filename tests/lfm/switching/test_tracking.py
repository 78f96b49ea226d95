import numpy as np
import pytest

from lfm.switching.segments import Segments, States
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


@pytest.mark.parametrize("thorough", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_collinear_features_a_tenth_apart_are_told_apart_under_drift(seed, thorough):
    segments, Z = activations(np.random.default_rng(seed), drift=0.02)
    track = track_segments(segments, G, LEVEL, Variation(0.02, 0.002), thorough=thorough)
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
