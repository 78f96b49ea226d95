import numpy as np
import pytest

from lfm import split_track
from lfm.errors import InvalidInputError
from lfm.shapes import parts as parts_module
from lfm.switching.collinear.partition import Activations
from lfm.switching.thresholds import THRESHOLDS
from lfm.thresholds import SHAPES

N = 2000
NO_GAPS = np.zeros(N, dtype=bool)


def test_sources_of_one_shape_come_apart() -> None:
    t = np.arange(N)
    states = np.column_stack([t % 173 > 132, t % 401 > 310, t % 57 > 45])
    sizes = np.array([2000.0, 900.0, 350.0])
    track = states @ sizes + np.random.default_rng(0).standard_normal(N)
    parts = split_track(track, NO_GAPS, resolution=5.0)
    np.testing.assert_allclose(parts.size.max(axis=0), sizes, atol=5)
    right = np.all((parts.size > 0) == states, axis=1)
    assert right.mean() > 0.95  # all but runs that begin or end with another, or that the record cuts off
    assert np.abs(parts.left[right]).max() < 10


def test_two_of_almost_one_size_come_apart_by_what_else_is_on() -> None:
    t = np.arange(N)
    with_other, alone = t % 50 // 10 == 1, t % 50 // 10 == 3
    other = t % 50 < 23
    track = 2000.0 * with_other + 2020.0 * alone
    parts = split_track(track, NO_GAPS, resolution=5.0, beside=other[:, None].astype(np.uint8))
    assert parts.size.shape[1] == 2
    found = {tuple(np.flatnonzero(part)) for part in parts.size.T}
    assert found == {tuple(np.flatnonzero(with_other)), tuple(np.flatnonzero(alone))}
    together = split_track(track, NO_GAPS, resolution=5.0)
    assert together.size.shape[1] == 1


def test_durations_tell_two_of_almost_one_size_apart() -> None:
    t = np.arange(N)
    short, long = t % 50 == 5, (t % 50 >= 20) & (t % 50 < 37)
    track = 2000.0 * short + 2020.0 * long
    parts = split_track(track, NO_GAPS, resolution=5.0)
    assert {int(np.count_nonzero(part)) for part in parts.size.T} == {40, 680}
    alike = split_track(track, NO_GAPS, resolution=5.0, shortest=100.0)  # both are short beside it
    assert alike.size.shape[1] == 1


def test_a_row_counts_as_long_as_it_stands_for() -> None:
    t = np.arange(N)
    track = 2000.0 * (t % 50 == 5) + 2020.0 * (t % 50 == 30)
    duration = np.where(t % 50 == 30, 40.0, 1.0)
    assert split_track(track, NO_GAPS, resolution=5.0, duration=duration).size.shape[1] == 2
    assert split_track(track, NO_GAPS, resolution=5.0).size.shape[1] == 1


def test_a_track_that_only_wanders_has_no_parts() -> None:
    track = 300 + np.cumsum(np.random.default_rng(1).standard_normal(N))
    parts = split_track(track, NO_GAPS, resolution=5.0)
    assert parts.size.shape == (N, 0)
    np.testing.assert_allclose(parts.left, track)


def test_a_pulse_that_is_like_no_other_is_left() -> None:
    track = np.zeros(N)
    track[100:130] = 900.0
    assert split_track(track, NO_GAPS, resolution=5.0).size.shape == (N, 0)


def test_more_pulses_than_can_be_compared_are_left() -> None:
    n = 2 * (SHAPES.most_pulses + 1) + 1
    track = 900.0 * (np.arange(n) % 2)
    parts = split_track(track, np.zeros(n, dtype=bool), resolution=5.0)
    assert parts.size.shape == (n, 0)
    np.testing.assert_array_equal(parts.left, track)


def test_parts_and_what_they_leave_add_up_to_the_track() -> None:
    rng = np.random.default_rng(2)
    track = 500.0 * (np.arange(N) % 91 > 50) + np.repeat(rng.uniform(0, 60, N // 20), 20)
    parts = split_track(track, NO_GAPS, resolution=5.0)
    assert parts.size.shape[1] >= 1
    np.testing.assert_allclose(parts.size.sum(axis=1) + parts.left, track)


@pytest.mark.parametrize("shortest", [0.0, -1.0, np.inf, "x"])
def test_a_shortest_time_is_a_finite_number_above_0(shortest: object) -> None:
    with pytest.raises(InvalidInputError, match="shortest"):
        split_track(np.ones(N), NO_GAPS, resolution=5.0, shortest=shortest)


def test_what_is_beside_has_as_many_rows_as_the_track() -> None:
    with pytest.raises(InvalidInputError, match="beside has 3 rows; the track has 2000"):
        split_track(np.ones(N), NO_GAPS, resolution=5.0, beside=np.ones((3, 1)))


def test_what_is_known_of_each_pulse(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Activations] = []

    def keep(label: np.ndarray, activations: Activations) -> tuple[np.ndarray, Activations]:
        seen.append(activations)
        return label, activations

    monkeypatch.setattr(parts_module, "best_partition_and_spread", keep)
    track = np.zeros(100)
    track[10:14], track[40:48], track[70:71] = 1000.0, 1005.0, 300.0
    beside = (np.arange(100) >= 38).astype(np.uint8)[:, None]
    duration = np.where(np.arange(100) < 50, 2.0, 1.0)
    split_track(track, np.zeros(100, bool), resolution=5.0, duration=duration, beside=beside)
    (a,) = seen
    assert a.usual.tolist() == pytest.approx([(12 * 2 + 50) / 150])
    assert a.context[:, 0].tolist() == [0, 1, 1]
    assert (np.exp(np.diff(a.size))).tolist() == pytest.approx([1.005, 300 / 1005])
    assert a.duration.tolist() == [3, 4, 0]  # 8, 16 and 1
    assert a.company.tolist() == [5, 5, THRESHOLDS.n_bins - 1]  # 52 from the end of one to the next, and none
    sigma = THRESHOLDS.least_drift**2 + (5.0 / np.sqrt(2) / np.array([1000.0, 1005.0, 300.0])) ** 2
    assert a.variance.tolist() == pytest.approx(sigma.tolist())
