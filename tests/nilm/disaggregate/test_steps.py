from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nilm.disaggregate.disaggregation import load_disaggregation
from nilm.disaggregate.steps import factorise_week, hop_week
from nilm.errors import InputFileError, NothingUsableError, OptionError
from nilm.options import FactoriseOptions, PriorOptions
from nilm.recordings.tables import read_week, write_week


def factorise(week: Any, **options: Any) -> Path:
    path = week.solutions / "factorised.npz"
    return factorise_week(week.waveforms, path, FactoriseOptions(**options), house=week.name, week=week.week)


def test_two_steps_leave_the_truth_on_disk_and_a_rerun_does_nothing(
    tmp_path: Path, ingested_week: Callable[..., Any]
) -> None:
    week = ingested_week(tmp_path, n_appliances=5, missing=range(100, 130), clipped=(700,))
    factorised = factorise(week)
    hopped_path = week.solutions / "hopped.npz"
    hop_week(factorised, hopped_path, PriorOptions(), waveforms_path=week.waveforms)
    hopped = load_disaggregation(hopped_path)
    rows = np.delete(np.arange(len(week.house.Z)), range(100, 130))[hopped.row]
    order = [week.house.Z[rows, k].tobytes() for k in range(5)]
    assert {hopped.solution.Z[:, k].tobytes() for k in range(hopped.solution.K)} == set(order)
    assert hopped.residual_after == pytest.approx(hopped.residual_before, rel=1e-6)
    assert hopped.at_noise_floor
    stamps = {p: p.stat().st_mtime_ns for p in week.solutions.iterdir()}
    factorise(week)
    hop_week(factorised, hopped_path, PriorOptions(), waveforms_path=week.waveforms)
    assert {p: p.stat().st_mtime_ns for p in week.solutions.iterdir()} == stamps
    before = hopped_path.read_bytes()
    hopped_path.unlink()
    hop_week(factorised, hopped_path, PriorOptions(), waveforms_path=week.waveforms)
    assert hopped_path.read_bytes() == before
    hop_week(factorised, hopped_path, PriorOptions(prior="paper"), waveforms_path=week.waveforms)
    assert "paper" in load_disaggregation(hopped_path).priors


def test_a_week_without_rows_is_an_error_that_names_the_file(
    tmp_path: Path, ingested_week: Callable[..., Any]
) -> None:
    week = ingested_week(tmp_path, n_appliances=4)
    write_week(week.waveforms, read_week(week.waveforms).take(np.zeros(0, np.int64)))
    with pytest.raises(NothingUsableError, match=r"2015-wk01\.parquet holds no rows"):
        factorise(week)


def test_a_solution_of_other_waveforms_is_refused(tmp_path: Path, ingested_week: Callable[..., Any]) -> None:
    week = ingested_week(tmp_path, n_appliances=4)
    factorised = factorise(week)
    write_week(week.waveforms, read_week(week.waveforms).take(np.arange(50)))
    with pytest.raises(InputFileError, match="factorise the week again"):
        hop_week(factorised, week.solutions / "hopped.npz", PriorOptions(), waveforms_path=week.waveforms)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: FactoriseOptions(components=0), "components"),
        (lambda: FactoriseOptions(estimator="best"), "estimator"),
        (lambda: FactoriseOptions(seed=-1), "seed"),
        (lambda: PriorOptions(prior="none"), "prior"),
        (lambda: PriorOptions(seed=-1), "seed"),
    ],
)
def test_options_out_of_range_are_refused_when_made(make: Callable[[], object], words: str) -> None:
    with pytest.raises(OptionError, match=words):
        make()
