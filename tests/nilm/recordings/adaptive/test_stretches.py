import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nilm.recordings.adaptive.stretches import Stretches, cut_into_rows, switches
from nilm.thresholds import SWITCHES

WINDOW_S = 0.225


def rows(*switch_s: float, length_s: float = 600.0, first_grid_s: float = 20.0) -> Stretches:
    return cut_into_rows(
        np.array(switch_s), length_s=length_s, first_grid_s=first_grid_s, interval_s=120, window_s=WINDOW_S
    )


def test_without_switches_the_rows_are_those_of_the_plain_grid() -> None:
    found = rows()
    np.testing.assert_allclose(found.window_s, [20, 140, 260, 380, 500])
    np.testing.assert_allclose(found.start_s, [0, 140, 260, 380, 500])
    np.testing.assert_allclose(found.duration_s, [140, 120, 120, 120, 100])


def test_a_switch_starts_a_row_and_a_run_between_two_instants_has_its_own() -> None:
    found = rows(150.0, 165.2, 300.0, length_s=380.0)
    np.testing.assert_allclose(found.start_s, [0, 140, 150, 165.2, 300])
    np.testing.assert_allclose(found.window_s[[0, 1, 3]], [20, 140, 260])
    own = found.window_s[[2, 4]]  # near the middle, at the start of a FLAC frame
    np.testing.assert_allclose(own, np.array([157.6, 340]) - WINDOW_S / 2, atol=0.13)
    np.testing.assert_allclose(own / 0.256, np.rint(own / 0.256), atol=1e-9)


def test_no_row_is_measured_in_an_inrush_or_across_a_switch() -> None:
    assert 140.0 not in rows(139.5).window_s
    assert 140.0 not in rows(140.1).window_s
    assert 140.0 in rows(138.9).window_s


def test_changes_within_an_inrush_belong_to_one_switch() -> None:
    assert switches(np.array([1.0, 1.3, 1.9, 2.5, 9.0])).tolist() == [0, 3, 4]
    assert switches(np.array([])).tolist() == []


@given(st.lists(st.floats(0, 3600), max_size=40), st.floats(0, 119))
def test_rows_tile_the_recording_and_each_holds_its_window(times: list[float], first_grid_s: float) -> None:
    at = np.sort(times)
    at = at[switches(at)]
    found = rows(*at, length_s=3600.0, first_grid_s=first_grid_s)
    end_s = found.start_s + found.duration_s
    assert found.start_s[0] == 0
    assert end_s[-1] == pytest.approx(3600)
    np.testing.assert_allclose(found.start_s[1:], end_s[:-1], atol=1e-9)
    assert found.duration_s.max() <= 2 * 120 + SWITCHES.settle_s
    inside = found.duration_s > WINDOW_S
    assert np.all(found.window_s >= found.start_s - 1e-9)
    assert np.all(found.window_s[inside] + WINDOW_S <= end_s[inside] + 1e-9)
