"""The backfill on a real Dask cluster of two workers: the same outputs as here, also when one is killed."""

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from flows.backfill import backfill
from flows.settings import load_settings
from nilm.paths import WeekPaths
from nilm.recordings.ukdale import Week

Contents = Callable[[Path], dict[str, bytes]]
pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("prefect_server")]


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[tuple[str, list["subprocess.Popen[bytes]"]]]:
    """The address of a Dask scheduler on loopback, and the processes of its two workers."""
    file = tmp_path / "scheduler.json"
    dask = [sys.executable, "-m", "distributed.cli.dask_scheduler"]
    worker = [sys.executable, "-m", "distributed.cli.dask_worker", "--scheduler-file", str(file)]
    worker += ["--nthreads", "1", "--no-nanny", "--no-dashboard", "--local-directory", str(tmp_path)]
    host = ["--host", "127.0.0.1"]
    scheduler = subprocess.Popen(
        [*dask, *host, "--port", "0", "--no-dashboard", "--scheduler-file", str(file)]
    )
    workers = []
    try:
        deadline = time.monotonic() + 60
        while not file.exists():
            assert time.monotonic() < deadline
            time.sleep(0.1)
        workers = [subprocess.Popen([*worker, *host], env=dict(os.environ)) for _ in range(2)]
        yield json.loads(file.read_text())["address"], workers
    finally:
        for process in (*workers, scheduler):
            process.kill()
            process.wait()


@pytest.fixture(scope="session")
def both_weeks(
    worked_out: Path, tmp_path_factory: pytest.TempPathFactory, contents: Contents
) -> dict[str, bytes]:
    """The outputs of both weeks, worked out one after the other without Prefect."""
    root = tmp_path_factory.mktemp("both_weeks")
    shutil.copytree(worked_out, root, dirs_exist_ok=True)
    settings = load_settings(data_root=root / "data", outputs_root=root / "outputs")
    for number in (1, 2):
        place = WeekPaths(settings.data_root, "house_sim", Week(2015, number), settings.outputs_root)
        settings.pipeline(place).solve()
        settings.pipeline(place).finish()
    return contents(root / "outputs")


def test_two_workers_give_the_same_outputs(
    roots: tuple[Path, Path],
    cluster: tuple[str, list["subprocess.Popen[bytes]"]],
    both_weeks: dict[str, bytes],
    contents: Contents,
) -> None:
    rows = backfill(dask=cluster[0])
    assert [row["outcome"] for row in rows] == ["done", "done"]
    assert contents(roots[1]) == both_weeks


def test_a_worker_killed_in_the_middle_does_not_lose_the_backfill(
    roots: tuple[Path, Path],
    cluster: tuple[str, list["subprocess.Popen[bytes]"]],
    both_weeks: dict[str, bytes],
    contents: Contents,
) -> None:
    address, workers = cluster

    def kill_one_when_it_works() -> None:
        while not any((roots[0] / "waveforms").rglob("*.arrow")):
            time.sleep(0.005)
        workers[0].send_signal(signal.SIGKILL)

    killer = threading.Thread(target=kill_one_when_it_works)
    killer.start()
    rows = backfill(dask=address)
    killer.join()
    assert workers[0].wait() == -signal.SIGKILL
    assert [row["outcome"] for row in rows] == ["done", "done"]
    assert contents(roots[1]) == both_weeks
