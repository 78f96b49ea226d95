"""The weekly flow end to end on a few hours, in this process, with a real Prefect server."""

import contextlib
import logging
import threading
from pathlib import Path
from typing import Any, get_args

import pytest
from prefect.client.orchestration import get_client
from prefect.exceptions import ParameterTypeError
from prefect.utilities.callables import parameter_schema

from flows.cli import main
from flows.failures import WeeksFailedError
from flows.settings import Estimator
from flows.silence import SilentHouseError
from flows.weekly import weekly
from nilm.errors import NothingUsableError, OptionError
from nilm.recordings.waveforms import read_hour

pytestmark = pytest.mark.usefixtures("prefect_server")

FILES = {
    "report.html",
    "appliances.csv",
    "appliances.parquet",
    "activations.csv",
    "activations.parquet",
    "power.parquet",
    "states.parquet",
    "waveforms.parquet",
    "corrections.json",
    "quality.json",
    "scores.json",
    "manifest.json",
}


def test_a_week_from_recordings_to_report(
    roots: tuple[Path, Path],
    caplog: pytest.LogCaptureFixture,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    _, outputs = roots
    monkeypatch.setenv("NILM_REPORTS_URL", "http://reports.test/")
    reports = weekly(house="house_sim", week="2015-wk01")
    assert reports == [outputs / "house_sim" / "2015-wk01" / "report.html"]
    assert {path.name for path in reports[0].parent.iterdir()} >= FILES
    assert "house_sim" in reports[0].read_text()
    assert "2015-wk01" in (outputs / "index.html").read_text()

    with get_client(sync_client=True) as client:
        runs = {run.name: run for run in client.read_flow_runs()}
        shown = {artifact.key: str(artifact.data) for artifact in client.read_artifacts()}
    assert "house_sim 2015-wk01" in runs
    assert float(shown["progress-house-sim-2015-wk01"]) == 100
    assert set(runs["house_sim 2015-wk01"].tags) == {"house_sim", "2015-wk01"}
    assert runs["house_sim 2015-wk01"].state.message.startswith("house_sim 2015-wk01: ")
    assert " appliances" in runs["house_sim 2015-wk01"].state.message
    assert "http://reports.test/house_sim/2015-wk01/report.html" in shown["report-house-sim-2015-wk01"]
    assert "house_sim used" in shown["summary-house-sim-2015-wk01"]

    # Running again computes nothing and says so, in the flow and on the command line.
    before = {path: path.stat().st_mtime_ns for path in outputs.rglob("*") if path.is_file()}
    with caplog.at_level(logging.INFO, "flows"):
        assert weekly(house="house_sim", week="2015-wk01") == reports
    assert "the report is current; nothing to do" in caplog.text
    assert {path: path.stat().st_mtime_ns for path in outputs.rglob("*") if path.is_file()} == before
    assert main(["run", "--house", "house_sim", "--week", "2015-wk01"]) == 0
    assert "nothing to do" in capsys.readouterr().out

    # The other week is new; after it nothing is.
    assert [path.parent.name for path in weekly(house="house_sim", week="new")] == ["2015-wk02"]
    weekly(house="house_sim")
    with get_client(sync_client=True) as client:
        assert "house_sim 2015-wk02" in {run.name for run in client.read_flow_runs()}
    silent = weekly(house="house_sim", week="new", return_state=True)
    assert silent.result(_sync=True) == []  # even where a browser of another test keeps a loop running
    assert silent.name == "No new recordings"
    assert silent.message.startswith("house_sim: no recordings since 2015-01-05 03:59 UTC; every week")
    monkeypatch.setenv("NILM_FAIL_AFTER_SILENT_DAYS", "9")
    with pytest.raises(SilentHouseError, match="longer than fail_after_silent_days = 9; see to the recorder"):
        weekly(house="house_sim", week="new")
    assert main(["run", "--house", "house_sim", "--week", "new"]) == 1
    assert "longer than fail_after_silent_days = 9" in capsys.readouterr().err
    assert main(["diagnose", str(reports[0].parent)]) == 0
    assert "equivalent solutions:" in capsys.readouterr().out


def test_reading_is_tried_again_when_the_file_system_failed(
    roots: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    failures = {"left": 2}

    def flaky(*arguments: Any, **options: Any) -> Any:
        if failures["left"]:
            failures["left"] -= 1
            raise OSError(5, "Input/output error")
        return read_hour(*arguments, **options)

    monkeypatch.setattr("nilm.recordings.ingest.read_hour", flaky)
    monkeypatch.setattr("nilm.recordings.ingest.RETRY_DELAYS_S", (0.0, 0.0))
    weekly(house="house_sim", week="2015-wk01")
    quality = (roots[0] / "waveforms" / "house_sim" / "2015-wk01.quality.json").read_text()
    assert failures["left"] == 0
    assert '"files_left_out": []' in quality


def test_a_full_disk_is_no_fault_of_the_recordings(
    roots: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_arguments: Any, **_options: Any) -> Any:
        raise OSError(28, "No space left on device", "piece.parquet")

    monkeypatch.setattr("nilm.recordings.ingest.write_week", full)
    with pytest.raises(OSError, match="No space left"):
        weekly(house="house_sim", week="2015-wk01")


def test_a_week_without_one_usable_row(roots: tuple[Path, Path]) -> None:
    for recording in (roots[0] / "raw" / "house_sim" / "2015" / "wk01").iterdir():
        recording.write_bytes(b"not a recording")
    with pytest.raises(NothingUsableError, match="not one usable row"):
        weekly(house="house_sim", week="2015-wk01")
    assert [path.name for path in (roots[1] / "house_sim" / "2015-wk01").iterdir()] == ["failed.json"]
    assert "not one usable row" in (roots[1] / "index.html").read_text(encoding="utf-8")


def test_a_bad_week_does_not_hold_up_the_next(roots: tuple[Path, Path]) -> None:
    for recording in (roots[0] / "raw" / "house_sim" / "2015" / "wk01").iterdir():
        recording.write_bytes(b"not a recording")
    with pytest.raises(WeeksFailedError, match=r"1 of 2 weeks failed; first house_sim 2015-wk01: .*not one"):
        weekly(house="house_sim", week="new")
    assert (roots[1] / "house_sim" / "2015-wk02" / "report.html").is_file()
    assert "2015-wk01: failed on" in (roots[1] / "index.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("workers", [1, 3])
def test_as_many_recordings_are_read_at_a_time_as_there_are_workers(
    roots: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch, workers: int
) -> None:
    at_work = {"now": 0, "most": 0}
    all_there = threading.Barrier(workers)

    def read_one(*arguments: Any, **options: Any) -> Any:
        at_work["now"] += 1
        at_work["most"] = max(at_work.values())
        if at_work["most"] < workers or not all_there.broken:
            with contextlib.suppress(threading.BrokenBarrierError):
                all_there.wait(10)  # passes only if `workers` are here at once
            all_there.abort()
        at_work["now"] -= 1
        return read_hour(*arguments, **options)

    monkeypatch.setattr("nilm.recordings.ingest.read_hour", read_one)
    weekly(house="house_sim", week="2015-wk01", workers=workers)
    assert at_work["most"] == workers


def test_outputs_that_cannot_be_written_are_told_before_any_work(roots: tuple[Path, Path]) -> None:
    roots[1].write_text("a file where a folder should be")
    with pytest.raises(OptionError, match=r"outputs_root = .* cannot be written to"):
        weekly(house="house_sim", week="2015-wk01")
    assert not (roots[0] / "waveforms").exists()


def test_parameters_are_checked(roots: tuple[Path, Path]) -> None:
    with pytest.raises(ParameterTypeError):
        weekly(house="../elsewhere")
    with pytest.raises(ParameterTypeError):
        weekly(house="house_sim", components=0)
    with pytest.raises(OptionError, match="written like 2015-wk01"):
        weekly(house="house_sim", week="next")


def test_parameters_are_described_in_the_ui() -> None:
    properties = parameter_schema(weekly).properties  # what a deployment shows
    assert all(properties[name].get("description") for name in properties), properties
    assert set(properties["estimator"]["enum"]) == {"as set", *get_args(Estimator)}  # a list to choose from
