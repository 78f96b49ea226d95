import math
from pathlib import Path

import numpy as np
import pytest

from nilm.appliances.scores import (
    Estimate,
    Truth,
    f1_score,
    read_truth,
    score_against_submeters,
    score_against_truth,
)
from nilm.errors import InputFileError, OptionError
from nilm.recordings.submeters import Submeter

Z_TRUE = np.array([[1, 1, 0], [1, 0, 0], [1, 0, 1], [1, 1, 1]], np.uint8)
WATTS = np.array([100.0, 2000.0, 50.0])
HOURS = np.full(4, 3600.0)
TRUTH = Truth(("base", "kettle", "lamp"), Z_TRUE, Z_TRUE * WATTS, np.ones(4, bool))


def estimate(columns: list[int], watts: list[float]) -> Estimate:
    return Estimate(
        tuple(f"A{k:02d}" for k in range(1, len(columns) + 1)), Z_TRUE[:, columns], np.array(watts)
    )


def test_the_truth_itself_in_another_order_scores_perfectly() -> None:
    scores = score_against_truth(
        estimate([0, 1, 2], [100, 2000, 50]), estimate([2, 0, 1], [50, 100, 2000]), TRUTH, duration_s=HOURS
    )
    assert scores is not None
    assert scores.hamming_after == 0
    assert scores.energy_error == 0
    assert {s.appliance_id: s.truth_name for s in scores.appliances} == {
        "A01": "lamp",
        "A02": "base",
        "A03": "kettle",
    }
    assert all((s.f1, s.mae_w, s.rmse_w, s.nde) == (1, 0, 0, 0) for s in scores.appliances)


def test_errors_by_hand() -> None:
    wrong = Z_TRUE.copy()
    wrong[1, 1] = 1  # the kettle is said to be on for one row more
    scores = score_against_truth(
        estimate([0, 1, 2], [100, 2000, 50]),
        Estimate(("A01", "A02", "A03"), wrong, WATTS),
        TRUTH,
        duration_s=HOURS,
    )
    assert scores is not None
    assert scores.hamming_before == 0
    assert scores.hamming_after == pytest.approx(1 / 12)
    kettle = scores.appliances[1]
    assert kettle.f1 == pytest.approx(4 / 5)
    assert kettle.mae_w == 500
    assert kettle.rmse_w == 1000
    assert kettle.nde == pytest.approx(math.sqrt(1 / 2))
    assert kettle.energy_error_kwh == 2
    assert scores.energy_error == pytest.approx(2 / 4.5)


def test_an_appliance_that_nothing_was_matched_to_counts_in_full() -> None:
    two = estimate([0, 2], [100, 50])
    scores = score_against_truth(two, two, TRUTH, duration_s=HOURS)
    assert scores is not None
    assert scores.energy_error == pytest.approx(4 / 4.5)


def test_rows_without_truth_do_not_count(tmp_path: Path) -> None:
    start = np.datetime64("2015-01-01", "ns") + np.arange(4) * np.timedelta64(120, "s")
    np.savez(
        tmp_path / "t.npz",
        names=TRUTH.names,
        machines=np.array(["base", "kettle", "lamp"]),
        Z=Z_TRUE,
        watts=WATTS,
        amplitudes=Z_TRUE.astype(float),
        switch_utc=start,
    )
    later = start[[1, 3]] + np.timedelta64(30, "s")
    truth = read_truth(
        tmp_path / "t.npz", np.append(later, start[-1] + np.timedelta64(1, "D")), interval_s=120
    )
    assert truth.known.tolist() == [True, True, False]
    np.testing.assert_array_equal(truth.Z[:2], Z_TRUE[[1, 3]])
    unknown = read_truth(tmp_path / "t.npz", start + np.timedelta64(9, "D"), interval_s=120)
    exact = estimate([0, 1, 2], [100, 2000, 50])
    assert score_against_truth(exact, exact, unknown, duration_s=HOURS) is None


def test_a_file_that_is_no_truth_is_refused(tmp_path: Path) -> None:
    np.savez(tmp_path / "t.npz", Z=Z_TRUE)
    with pytest.raises(InputFileError, match=r"t\.npz is not a simulator's truth"):
        read_truth(tmp_path / "t.npz", np.zeros(1, "datetime64[ns]"), interval_s=120)


def test_submeters_are_scored_where_they_have_readings_and_on_is_ten_watts() -> None:
    meter = Submeter(2, "kettle", np.array([2000.0, 5.0, np.nan, 2000.0]))
    exact = estimate([0, 1, 2], [100, 2000, 50])
    scores = score_against_submeters(exact, exact, [(1, meter)], [], duration_s=HOURS)
    assert scores is not None
    assert scores.source == "submeters"
    assert scores.hamming_after is None
    (kettle,) = scores.appliances
    assert (kettle.appliance_id, kettle.truth_name, kettle.f1) == ("A02", "kettle", 1.0)
    assert kettle.mae_w == pytest.approx(5 / 3)
    assert scores.appliances_before == ()
    assert score_against_submeters(exact, exact, [], [], duration_s=HOURS) is None


def test_f1() -> None:
    assert f1_score([0, 0], [0, 0], HOURS[:2]) == 1
    assert f1_score([1, 0], [0, 1], HOURS[:2]) == 0
    assert f1_score([1, 1], [0, 1], np.array([1.0, 3.0])) == pytest.approx(6 / 7)
    with pytest.raises(OptionError, match="same rows"):
        f1_score([1], [1, 0], HOURS[:2])


def test_a_row_counts_by_the_time_that_it_stands_for() -> None:
    wrong = Z_TRUE.copy()
    wrong[1, 1] = 1
    duration_s = np.array([3600.0, 36.0, 3600.0, 3600.0])
    said = Estimate(("A01", "A02", "A03"), wrong, WATTS)
    scores = score_against_truth(said, said, TRUTH, duration_s=duration_s)
    assert scores is not None
    kettle = scores.appliances[1]
    assert kettle.energy_error_kwh == pytest.approx(0.02)
    assert kettle.mae_w == pytest.approx(2000 * 36 / duration_s.sum())
    assert kettle.f1 == pytest.approx(14400 / 14436)


def test_energy_is_assigned_to_machines_and_one_load_may_have_two_columns(tmp_path: Path) -> None:
    start = np.datetime64("2015-01-05T00:00", "ns") + np.arange(4) * np.timedelta64(120, "s")
    amplitudes = np.array([[0, 0, 0], [0.75, 0.25, 1], [0.5, 0.5, 0], [0, 0, 1]])
    np.savez(
        tmp_path / "t.npz",
        names=np.array(["pump", "pump", "heater"]),
        machines=np.array(["pump", "pump", "washer"]),
        Z=(amplitudes > 0).astype(np.uint8),
        watts=np.array([100.0, 100.0, 2000.0]),
        amplitudes=amplitudes,
        switch_utc=start,
    )
    truth = read_truth(tmp_path / "t.npz", start, interval_s=120)
    assert truth.names == ("pump", "heater")
    np.testing.assert_array_equal(truth.power_w, [[0, 0], [100, 2000], [100, 0], [0, 2000]])
    np.testing.assert_array_equal(truth.Z, [[0, 0], [1, 1], [1, 0], [0, 1]])
    right = Estimate(("A01", "A02"), truth.Z, np.array([100.0, 2000.0]))
    half = Estimate(("A01", "A02"), truth.Z, np.array([100.0, 1000.0]))
    scores = score_against_truth(half, right, truth, duration_s=np.full(4, 120.0))
    assert scores is not None
    assert (scores.assigned, scores.assigned_one) == (1, 1)
    assert scores.assigned_before == pytest.approx(1 - 2000 / (2 * 4200))
