import numpy as np
import pytest

from lfm.shapes.pulses import find_pulses
from lfm.thresholds import SHAPES

RESOLUTION = 5.0


def pulses_of(levels: list[float], *, gap_at: int | None = None) -> list[tuple[int, int, float]]:
    """(first, end, size) of a track's pulses, counted in levels: each stays for ten rows."""
    track = np.repeat(np.array(levels, dtype=float), 10)
    gaps = np.zeros(len(track), dtype=bool)
    if gap_at is not None:
        gaps[10 * gap_at] = True
    found = find_pulses(track, gaps, resolution=RESOLUTION)
    edges = found.first / 10, found.end / 10
    return sorted(zip(*(edge.tolist() for edge in (*edges, found.size)), strict=True))


def test_a_rise_belongs_to_the_fall_of_its_size() -> None:
    assert pulses_of([0, 0, 900, 900, 0]) == [(2, 4, 900.0)]


def test_pulses_that_overlap_come_apart_whichever_ends_first() -> None:
    nested = [0, 900, 2900, 900, 0]
    crossed = [0, 900, 2900, 2000, 0]
    assert pulses_of(nested) == [(1, 4, 900.0), (2, 3, 2000.0)]
    assert pulses_of(crossed) == [(1, 3, 900.0), (2, 4, 2000.0)]


def test_of_two_rises_of_one_size_the_later_one_ends_first() -> None:
    assert pulses_of([0, 900, 1800, 900, 0]) == [(1, 4, 900.0), (2, 3, 900.0)]


def test_a_rise_that_no_longer_fits_under_the_track_is_over() -> None:
    # The load of 900 has faded to 400 before something of 900 falls.
    assert pulses_of([0, 900, 700, 500, 400, 1300, 400]) == [(5, 6, 900.0)]


def test_no_pulse_reaches_across_a_gap() -> None:
    assert pulses_of([0, 900, 900, 900, 0], gap_at=3) == [(1, 3, 900.0), (3, 4, 900.0)]


def test_what_is_on_where_the_record_begins_or_ends_has_its_edge_there() -> None:
    assert pulses_of([900, 900, 0, 0, 2000, 2000]) == [(0, 2, 900.0), (4, 6, 2000.0)]
    assert pulses_of([300, 0, 900, 0]) == [(0, 1, 300.0), (2, 3, 900.0)]
    assert pulses_of([300, 1200, 300, 700]) == [(1, 2, 900.0), (3, 4, 400.0)]


def test_the_changes_of_a_load_that_varies_are_no_edges() -> None:
    rng = np.random.default_rng(3)
    wanders = 1000 + 60 * rng.standard_normal(2000)
    no_gaps = np.zeros(2000, dtype=bool)
    assert len(find_pulses(wanders, no_gaps, resolution=RESOLUTION).size) == 0
    both = wanders + 3000.0 * (np.arange(2000) % 100 > 80)
    found = find_pulses(both, no_gaps, resolution=RESOLUTION)
    assert len(found.size) == 20
    assert np.abs(found.size - 3000).max() < 400
    assert np.all(found.sigma > 30)


def test_small_changes_are_wander() -> None:
    small = (SHAPES.least_steps - 0.1) * RESOLUTION
    assert pulses_of([0, small, small, 0]) == []
    assert len(pulses_of([0, small + 1, small + 1, 0])) == 1


@pytest.mark.parametrize(("off", "ends"), [(0.9, True), (1.1, False)])
def test_sizes_agree_within_their_tolerance(off: float, ends: bool) -> None:
    size = 1000.0
    limit = SHAPES.same_sigmas * np.hypot(RESOLUTION, SHAPES.same_size * size)
    found = pulses_of([0, size, size + 300, 300 + off * limit])
    assert ((1, 3) in [(first, end) for first, end, _ in found]) == ends


def test_more_open_rises_than_are_kept_give_up_the_oldest() -> None:
    levels = np.cumsum(np.geomspace(100, 1e6, 70))
    assert 60 <= len(pulses_of([0.0, *levels, *(levels[::-1][1:]), 0.0])) <= 65


@pytest.mark.parametrize("seed", range(5))
def test_sources_that_are_on_or_off_are_found_pulse_by_pulse(seed: int) -> None:
    rng = np.random.default_rng(seed)
    N, sizes = 3000, np.array([3000.0, 2000.0, 850.0])
    states = np.column_stack([_runs(rng, N, 40, 100 + 30 * k) for k in range(3)])
    track = states @ sizes + rng.normal(0, 1, N)
    found = find_pulses(track, np.zeros(N, dtype=bool), resolution=RESOLUTION)
    rebuilt = np.zeros((N, 3))
    for first, end, size in zip(found.first, found.end, found.size, strict=True):
        rebuilt[first:end, np.argmin(np.abs(sizes - size))] += 1
    assert np.mean(rebuilt != states) < 0.03  # two that switch in one row are rare


def _runs(rng: np.random.Generator, N: int, on: int, off: int) -> np.ndarray:
    """(N,) a state that starts and ends off, with runs and pauses of random lengths."""
    state = np.zeros(N, dtype=int)
    t = int(rng.integers(5, off))
    while t < N - 2 * on:
        end = t + int(rng.integers(2, on))
        state[t:end] = 1
        t = end + int(rng.integers(5, off))
    return state
