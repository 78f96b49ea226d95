import numpy as np
import pytest

from nilm.recordings.overlaps import cut_to, each_instant_once
from nilm.recordings.quality import Flag
from nilm.recordings.tables import WeekTable
from nilm.timeline import seconds, utc


def table(rows: list[tuple[float, float, str, int, int]]) -> WeekTable:
    """Rows of (start, end, file, cycles, flags); inrush is 5 everywhere."""
    start, end, file, cycles, flags = zip(*rows, strict=True)
    n = len(rows)
    wave, none = np.zeros((n, 4), np.float32), np.zeros(n)
    return WeekTable(
        start_utc=utc(start),
        current_a=wave,
        voltage_v=wave,
        measured_utc=utc(start),
        duration_s=np.array(end) - np.array(start),
        mains_hz=none,
        rms_v=none,
        rms_a=none,
        active_w=none,
        reactive_var=none,
        apparent_va=none,
        inrush=np.full(n, 5.0),
        inrush_s=none,
        n_cycles=np.array(cycles, np.int16),
        source_file=np.array(file),
        flags=np.array(flags, np.uint16),
        interval_s=120,
    )


def spans(found: WeekTable) -> list[tuple[float, float, str]]:
    start = seconds(found.start_utc)
    return [
        (round(s, 3), round(s + d, 3), str(f))
        for s, d, f in zip(start, found.duration_s, found.source_file, strict=True)
    ]


def test_the_earlier_file_goes_on_to_its_end_and_a_cut_row_has_no_switch_at_its_start() -> None:
    found = each_instant_once(table([(0, 60, "a", 10, 0), (60, 100, "a", 10, 0), (70, 130, "b", 10, 0)]))
    assert spans(found) == [(0, 60, "a"), (60, 100, "a"), (100, 130, "b")]
    assert found.inrush.tolist() == [5, 5, 0]


def test_a_sound_row_takes_its_time_out_of_an_unsound_one() -> None:
    bad = int(Flag.CLIPPED_CURRENT)
    found = each_instant_once(table([(0, 120, "a", 10, bad), (50, 60, "b", 10, 0)]))
    assert spans(found) == [(0, 50, "a"), (50, 60, "b"), (60, 120, "a")]


def test_rows_of_one_grid_are_taken_whole() -> None:
    found = each_instant_once(table([(0, 120, "a", 4, 0), (0, 120, "b", 10, 0), (120, 240, "b", 10, 0)]))
    assert spans(found) == [(0, 120, "b"), (120, 240, "b")]


def test_whatever_overlaps_each_instant_is_used_once() -> None:
    rng = np.random.default_rng(0)
    for _ in range(20):
        start = np.sort(rng.uniform(0, 1000, 40))
        rows = [
            (s, s + rng.uniform(1, 200), rng.choice(["a", "b"]), rng.integers(3, 11), rng.choice([0, 64]))
            for s in start
        ]
        found = each_instant_once(table(rows))
        end = seconds(found.start_utc) + found.duration_s
        assert np.all(seconds(found.start_utc)[1:] - end[:-1] > -1e-5)
        covered = np.array([any(s <= t < e for s, e, *_ in rows) for t in np.arange(0, 1200, 3.7)])
        assert found.duration_s.sum() == pytest.approx(covered.mean() * 1200, abs=60)


def test_rows_are_cut_at_the_ends_of_a_week() -> None:
    offered = table([(0, 60, "a", 10, 0), (60, 100, "a", 10, 0), (100, 160, "a", 10, 0)])
    assert spans(cut_to(offered, 30, 110)) == [(30, 60, "a"), (60, 100, "a"), (100, 110, "a")]
    assert cut_to(offered, 30, 110).inrush.tolist() == [0, 5, 5]
    assert len(cut_to(offered, 200, 300)) == 0


def test_what_a_cut_leaves_of_less_than_a_gap_is_no_row() -> None:
    offered = table([(0, 60.4, "a", 10, 0), (60.4, 100, "a", 10, 0)])
    assert spans(cut_to(offered, 60, 200)) == [(60.4, 100, "a")]
