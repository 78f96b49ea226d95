"""The backfill flow: on processes, one failing week stops no other; the same outputs as week by week."""

import multiprocessing
import os
import signal
import threading
import time
from concurrent.futures import Future
from pathlib import Path

import pytest

from flows.backfill import BackfillError, _hand_out, backfill
from flows.job_order import JobOrder
from flows.settings import load_settings
from nilm.errors import OptionError
from nilm.paths import WeekPaths
from nilm.recordings.ukdale import Week

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
    assert [path.name for path in (outputs / "house_sim" / "2015-wk01").iterdir()] == ["failed.json"]
    assert "2015-wk01: failed on" in (outputs / "index.html").read_text(encoding="utf-8")


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
        place = WeekPaths(settings.data_root, "house_sim", Week(2015, number), settings.outputs_root)
        settings.pipeline(place).solve()
        settings.pipeline(place).finish()
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


class _Cluster:
    """A runner whose jobs end only when two of them run: a cluster whose second worker joins late."""

    def __init__(self) -> None:
        self.running: list[Future[None]] = []
        self.n_most = 0

    def room(self) -> int:
        return 1 if not self.running else 2

    def submit(self, *_: object) -> Future[None]:
        future: Future[None] = Future()
        self.running.append(future)
        self.n_most = max(self.n_most, len(self.running))
        if len(self.running) == 2:
            for one in self.running:
                threading.Timer(0.01, one.set_result, [None]).start()
            self.running = []
        return future


def test_a_worker_that_joins_late_gets_work_before_the_first_job_has_ended() -> None:
    cluster = _Cluster()
    turns = JobOrder([WeekPaths(Path("data"), f"house_{n}", Week(2015, 1), Path("outputs")) for n in (1, 2)])
    handing_out = threading.Thread(
        target=_hand_out,
        args=(cluster, cluster.room, turns, load_settings(), lambda *_: None),
        daemon=True,
    )
    handing_out.start()
    handing_out.join(timeout=30)
    assert not handing_out.is_alive()
    assert turns.over
    assert cluster.n_most == 2
