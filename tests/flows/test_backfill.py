"""The backfill flow: on processes, one failing week stops no other; the same outputs as week by week."""

import multiprocessing
import os
import signal
import threading
import time
from pathlib import Path

import pytest

from flows import steps
from flows.backfill import BackfillError, backfill
from flows.settings import load_settings
from flows.weeks import Place
from nilm.errors import OptionError
from nilm.ukdale import Week

pytestmark = pytest.mark.usefixtures("prefect_server")


def test_one_failing_week_does_not_stop_the_others(roots: tuple[Path, Path]) -> None:
    data, outputs = roots
    for recording in (data / "raw" / "house_sim" / "2015" / "wk01").iterdir():
        recording.write_bytes(b"not a recording")
    with pytest.raises(
        BackfillError, match=r"1 of 2 weeks failed; first house_sim 2015-wk01: .*not one usable"
    ) as e:
        backfill(weeks="2015-wk01:2015-wk02", workers=1)
    assert [row["outcome"].split(":")[0] for row in e.value.rows] == ["failed", "done"]
    assert (outputs / "house_sim" / "2015-wk02" / "report.html").is_file()
    assert not (outputs / "house_sim" / "2015-wk01").exists()


@pytest.mark.slow
def test_the_same_outputs_as_week_by_week(roots: tuple[Path, Path], tmp_path: Path) -> None:
    data, outputs = roots
    rows = backfill(workers=2)
    assert [(row["week"], row["outcome"]) for row in rows] == [("2015-wk01", "done"), ("2015-wk02", "done")]
    assert backfill(workers=2) == []

    settings = load_settings(data_root=tmp_path / "alone", outputs_root=tmp_path / "alone_outputs")
    (data / "raw").rename(tmp_path / "alone_raw")
    (tmp_path / "alone").mkdir()
    (tmp_path / "alone_raw").rename(tmp_path / "alone" / "raw")
    for number in (1, 2):
        place = Place("house_sim", Week(2015, number), settings.data_root, settings.outputs_root)
        steps.solve(place, settings)
        steps.finish(place, settings)
    alone = {p.relative_to(settings.outputs_root): p.read_bytes() for p in settings.outputs_root.rglob("*.*")}
    assert {p.relative_to(outputs): p.read_bytes() for p in outputs.rglob("*.*")} == alone


def test_no_dask_at_the_address(roots: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("flows.backfill.DASK_TIMEOUT_S", 1)
    with pytest.raises(OptionError, match=r"no Dask scheduler answers at 'tcp://127\.0\.0\.1:9'"):
        backfill(dask="tcp://127.0.0.1:9")


def _kill_one_pool_process_at_work(data: Path) -> None:
    """SIGKILL a process of the pool, as the system does when memory runs out, once a week is under way."""
    while not any((data / "locks").glob("*.lock")):
        time.sleep(0.01)
    ours = multiprocessing.active_children()
    os.kill(ours[0].pid or 0, signal.SIGKILL)


@pytest.mark.slow
def test_a_killed_process_does_not_lose_the_backfill(roots: tuple[Path, Path]) -> None:
    data, outputs = roots
    killer = threading.Thread(target=_kill_one_pool_process_at_work, args=[data])
    killer.start()
    rows = backfill(workers=2)
    killer.join()
    assert [(row["week"], row["outcome"]) for row in rows] == [("2015-wk01", "done"), ("2015-wk02", "done")]
    assert (outputs / "house_sim" / "2015-wk02" / "report.html").is_file()
