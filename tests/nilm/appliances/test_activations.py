import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nilm.appliances.activations import ActivationOptions, energy_kwh, find_activations
from nilm.errors import OptionError

MONDAY = np.datetime64("2014-12-29T00:00:00", "ns")


def times(rows: list[int], interval_s: int = 120) -> np.ndarray:
    return MONDAY + np.array(rows, dtype=np.int64) * np.timedelta64(interval_s, "s")


def runs(on: list[int], rows: list[int] | None = None, watts: float = 1000.0, **options: float):
    start = times(list(range(len(on))) if rows is None else rows)
    return find_activations(
        on,
        start,
        duration_s=np.full(len(on), 120.0),
        power_w=watts * np.array(on),
        options=ActivationOptions(**options),
    )


def minutes(activations) -> list[tuple[float, float]]:
    return [(float((a.start_utc - MONDAY) / np.timedelta64(60, "s")), a.duration_s / 60) for a in activations]


def test_runs_start_at_their_first_row_and_end_after_their_last() -> None:
    found = runs([0, 1, 1, 0, 1, 0])
    assert minutes(found) == [(2, 4), (8, 2)]
    assert [a.energy_kwh for a in found] == [round(1000 * 240 / 3.6e6, 6), round(1000 * 120 / 3.6e6, 6)]
    assert [a.mean_w for a in found] == [1000.0, 1000.0]
    assert not any(a.cut for a in found)


def test_rows_of_any_length_and_power_give_times_to_the_tenth_and_their_own_energy() -> None:
    duration_s = np.array([57.3, 15.2, 40.0, 120.0, 10.1])
    start = MONDAY + np.round(np.cumsum([0, *duration_s[:-1]]) * 1e9).astype("timedelta64[ns]")
    power_w = np.array([0.0, 2000.0, 500.0, 0.0, -250.0])
    found = find_activations(
        power_w != 0, start, duration_s=duration_s, power_w=power_w, options=ActivationOptions()
    )
    assert [a.duration_s for a in found] == pytest.approx([55.2, 10.1])
    assert found[0].start_utc == MONDAY + np.timedelta64(57_300, "ms")
    assert found[0].end_utc == MONDAY + np.timedelta64(112_500, "ms")
    joules = [2000 * 15.2 + 500 * 40, -250 * 10.1]
    assert [a.energy_kwh for a in found] == pytest.approx([j / 3.6e6 for j in joules], abs=1e-6)
    assert [a.mean_w for a in found] == pytest.approx([joules[0] / 55.2, -250], abs=1e-3)
    assert round(sum(a.energy_kwh for a in found), 6) == energy_kwh(power_w, duration_s)
    (merged,) = find_activations(
        power_w > 0, start, duration_s=duration_s, power_w=power_w, options=ActivationOptions(20, 0)
    )
    assert merged == found[0]


def test_no_run_crosses_a_gap_and_the_gap_is_neither_on_nor_off() -> None:
    found = runs([1, 1, 1, 1], rows=[0, 1, 10, 11], min_off_s=3600)
    assert minutes(found) == [(0, 4), (20, 4)]
    assert all(a.cut for a in found)


def test_short_pauses_are_merged_and_add_time_but_no_energy() -> None:
    apart, merged = runs([0, 1, 0, 1, 0, 0, 1, 0]), runs([0, 1, 0, 1, 0, 0, 1, 0], min_off_s=200)
    assert minutes(apart) == [(2, 2), (6, 2), (12, 2)]
    assert minutes(merged) == [(2, 6), (12, 2)]
    assert sum(a.energy_kwh for a in merged) == pytest.approx(sum(a.energy_kwh for a in apart), abs=1e-9)
    assert merged[0].mean_w == pytest.approx(2000 / 3, abs=1e-3)


def test_short_runs_are_left_out_unless_a_gap_hides_their_length() -> None:
    assert minutes(runs([0, 1, 0, 1, 1, 0], min_on_s=200)) == [(6, 4)]
    assert minutes(runs([0, 1, 1, 1, 0], rows=[0, 1, 2, 20, 21], min_on_s=300)) == [(2, 4), (40, 2)]


@given(
    on=st.lists(st.integers(0, 1), min_size=1, max_size=60),
    watts=st.floats(-3000, 9000, allow_nan=False),
    breaks=st.sets(st.integers(1, 59)),
)
def test_energies_of_all_runs_add_up_exactly_to_the_appliance(
    on: list[int], watts: float, breaks: set[int]
) -> None:
    rows = [n + 5 * sum(b <= n for b in breaks) for n in range(len(on))]
    watts = round(watts, 3)
    found = runs(on, rows, watts)
    total = sum(round(a.energy_kwh * 1e6) for a in found)
    assert total == round(energy_kwh(watts * np.array(on), 120.0) * 1e6)
    assert sum(a.duration_s for a in found) == 120 * sum(on)


@pytest.mark.parametrize("bad", [-1.0, float("nan"), float("inf")])
def test_durations_out_of_range_are_refused(bad: float) -> None:
    with pytest.raises(OptionError, match="min_on_s"):
        ActivationOptions(min_on_s=bad)
