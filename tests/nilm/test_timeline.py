import numpy as np
import pytest

from nilm.errors import OptionError
from nilm.timeline import ends, gaps_before, holes_before_s, row_durations, seconds, share_of_time, utc

MONDAY = np.datetime64("2014-12-29T00:00:00", "ns")


def at(*offsets_s: float) -> np.ndarray:
    return MONDAY + np.round(np.array(offsets_s) * 1e9).astype("timedelta64[ns]")


def test_a_gap_is_where_nothing_is_known_for_more_than_a_second() -> None:
    duration_s = np.array([120.0, 15.3, 4.7, 60.0, 60.0])
    start = at(0, 120, 135.3, 140.9, 202)
    assert holes_before_s(start, duration_s) == pytest.approx([np.inf, 0, 0, 0.9, 1.1])
    assert gaps_before(start, duration_s).tolist() == [True, False, False, False, True]
    assert gaps_before(at(0, 120, 360, 480), 120).tolist() == [True, False, True, False]
    assert gaps_before(start[:0], duration_s[:0]).tolist() == []


def test_times_that_somebody_wrote_down_may_be_off_by_half_a_row() -> None:
    start = at(0, 118, 245, 500)
    assert gaps_before(start, 120, slack_s=60).tolist() == [True, False, False, True]
    with pytest.raises(OptionError, match=r"row 1 starts at .*2 s before the row before it ends"):
        gaps_before(start, 120)


def test_disorder_is_refused() -> None:
    with pytest.raises(OptionError, match="row 2 starts at"):
        gaps_before(at(0, 120, 120), 120)
    with pytest.raises(OptionError, match="sort them"):
        gaps_before(at(0.2, 0.1), 0.1)


def test_times_go_to_seconds_and_back_to_the_microsecond() -> None:
    start = at(0, 0.1, 57.300001)
    np.testing.assert_array_equal(utc(seconds(start)), start)
    np.testing.assert_array_equal(ends(start, 0.5), start + np.timedelta64(500, "ms"))


def test_shares_are_of_time_not_of_rows() -> None:
    assert share_of_time([1, 0], np.array([15.0, 45.0])) == 0.25
    assert share_of_time([], np.zeros(0)) == 0


def test_rows_last_as_long_as_is_said_or_an_interval() -> None:
    assert row_durations(None, 120, 3).tolist() == [120.0, 120.0, 120.0]
    assert row_durations([1, 2.5], 120, 2).tolist() == [1.0, 2.5]
    for wrong in ([1.0], [1.0, 0.0], [1.0, np.nan], [1.0, np.inf], [[1.0, 2.0]]):
        with pytest.raises(OptionError, match="one number above 0 for each of the 2 rows"):
            row_durations(wrong, 120, 2)
