import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nilm.appliances.activations import ActivationOptions, energy_kwh, find_activations, gaps_before
from nilm.errors import OptionError

MONDAY = np.datetime64("2014-12-29T00:00:00", "ns")


def times(rows: list[int], interval_s: int = 120) -> np.ndarray:
    return MONDAY + np.array(rows, dtype=np.int64) * np.timedelta64(interval_s, "s")


def runs(on: list[int], rows: list[int] | None = None, watts: float = 1000.0, **options: float):
    start = times(list(range(len(on))) if rows is None else rows)
    return find_activations(on, start, interval_s=120, active_w=watts, options=ActivationOptions(**options))


def minutes(activations) -> list[tuple[float, float]]:
    return [(float((a.start_utc - MONDAY) / np.timedelta64(60, "s")), a.duration_s / 60) for a in activations]


def test_runs_start_at_their_first_row_and_end_after_their_last() -> None:
    found = runs([0, 1, 1, 0, 1, 0])
    assert minutes(found) == [(2, 4), (8, 2)]
    assert [a.energy_kwh for a in found] == [round(1000 * 240 / 3.6e6, 6), round(1000 * 120 / 3.6e6, 6)]
    assert [a.mean_w for a in found] == [1000.0, 1000.0]
    assert not any(a.cut for a in found)


def test_an_amplitude_makes_a_row_more_or_less_than_one() -> None:
    on, amplitude = [0, 1, 1, 0, 1, 0], np.array([0, 0.5, 1.5, 0, 0.25, 0])
    found = find_activations(
        on,
        times(list(range(6))),
        interval_s=120,
        active_w=-1000.0,
        options=ActivationOptions(),
        amplitude=amplitude,
    )
    assert [a.energy_kwh for a in found] == pytest.approx([-2000 * 120 / 3.6e6, -250 * 120 / 3.6e6], abs=1e-6)
    assert [a.mean_w for a in found] == [-1000.0, -250.0]
    assert round(sum(a.energy_kwh for a in found), 6) == energy_kwh(-1000.0, amplitude.sum(), 120)


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
    found = find_activations(on, times(rows), interval_s=120, active_w=watts, options=ActivationOptions())
    total = sum(round(a.energy_kwh * 1e6) for a in found)
    assert total == round(energy_kwh(watts, sum(on), 120) * 1e6)
    assert sum(a.duration_s for a in found) == 120 * sum(on)


def test_gaps_are_where_a_row_is_late_and_disorder_is_refused() -> None:
    assert gaps_before(times([0, 1, 3, 4]), 120).tolist() == [True, False, True, False]
    with pytest.raises(OptionError, match="row 2 starts at"):
        gaps_before(times([0, 1, 1]), 120)


@pytest.mark.parametrize("bad", [-1.0, float("nan"), float("inf")])
def test_durations_out_of_range_are_refused(bad: float) -> None:
    with pytest.raises(OptionError, match="min_on_s"):
        ActivationOptions(min_on_s=bad)
