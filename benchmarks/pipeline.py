"""The pipeline's time and memory: stages of a week, Prefect's share, weeks per hour here and on Dask.

python benchmarks/pipeline.py [--quick]. Simulates weeks of two houses in a temporary folder; every run starts
from the same recordings with nothing worked out, after one small week has compiled what numba compiles.
Comparisons are within one run of this file; on a machine with other load, compare ratios, not seconds.
"""

import argparse
import contextlib
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
from machine import machine_size

from flows.command_line.embedded import prefect_api
from flows.settings import Settings, load_settings
from nilm.paths import WeekPaths
from nilm.pipeline import silent
from nilm.recordings.ukdale import Week
from nilm.week.publish import publish_index

HOUSE, OTHER = "house_bench", "house_other"


def seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def simulate(root: Path, weeks: int, days: float, appliances: int) -> list[str]:
    """The names of the weeks, which both houses have; the other house differs in its seed."""
    from nilm.simulate.week import simulate_week  # here: a worker process imports this file anew

    names = [f"2015-wk{number:02d}" for number in range(1, weeks + 1)]
    for house, seed in ((HOUSE, 1001), (OTHER, 1002)):
        for name in names:
            simulate_week(root / "raw", house=house, week=name, seed=seed, days=days, n_appliances=appliances)
    return names


def fresh(folder: Path, source: Path) -> Settings:
    """Settings of empty roots with the same recordings."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(source / "raw", folder / "data" / "raw", copy_function=os.link)
    return load_settings(data_root=folder / "data", outputs_root=folder / "outputs")


def stages(settings: Settings, week: str) -> dict[str, float]:
    """Seconds of each step of a week, without Prefect, on one thread."""
    place = WeekPaths(settings.data_root, HOUSE, Week.parse(week), settings.outputs_root)
    pipeline = replace(settings.pipeline(place), workers=1)
    found = {
        **{step.name: seconds(lambda step=step: step.run(silent)) for step in pipeline.steps},
        "index alone": seconds(lambda: publish_index(place.outputs_root, place.house, place.week.year)),
        "nothing to do": seconds(pipeline.why_redo),
    }
    assert pipeline.why_redo() is None
    return found


@contextlib.contextmanager
def dask_cluster(folder: Path, workers: int) -> Iterator[str]:
    """Yield the address of a scheduler on loopback with that many one-thread worker processes."""
    from distributed import Client

    folder.mkdir(parents=True)
    file = folder / "scheduler.json"
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    common = ["--host", "127.0.0.1", "--no-dashboard", "--scheduler-file", str(file)]
    own = ["--nthreads", "1", "--no-nanny", "--local-directory", str(folder)]
    module = [sys.executable, "-m"]
    processes = [
        subprocess.Popen([*module, "distributed.cli.dask_scheduler", *common, "--port", "0"], **quiet)
    ]
    try:
        while not file.exists():
            time.sleep(0.05)
        for _ in range(workers):
            command = [*module, "distributed.cli.dask_worker", *common, *own]
            processes.append(subprocess.Popen(command, **quiet))
        address = json.loads(file.read_text())["address"]
        with Client(address, set_as_default=False) as client:
            client.wait_for_workers(workers)
        yield address
    finally:
        for process in reversed(processes):
            process.kill()
            process.wait()


def command(*words: str, settings: Settings | None = None) -> tuple[float, float]:
    """Seconds on the clock and of the processor (its children's too) that a new process takes."""
    roots = (
        {"NILM_DATA_ROOT": settings.data_root, "NILM_OUTPUTS_ROOT": settings.outputs_root} if settings else {}
    )
    environment = os.environ | {name: str(root) for name, root in roots.items()}
    before = _spent_by_children()
    took = seconds(
        lambda: subprocess.run(
            [sys.executable, *words],
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            check=True,
        )
    )
    return took, _spent_by_children() - before


def _spent_by_children() -> float:
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return spent.ru_utime + spent.ru_stime


def felt(root: Path, source: Path, week: str) -> None:
    """What a person waits for, each in a process of its own, from the shell's prompt to the next."""
    settings = fresh(root / "felt", source)
    run_week = ("-m", "flows.cli", "run", "--house", HOUSE, "--week", week)
    rows = {
        "import lfm": ("-c", "import lfm"),
        "import lfm and all of its names": ("-c", "from lfm import *"),
        "nilm --help": ("-m", "flows.cli", "--help"),
        "nilm run of a week": run_week,
        "nilm run, nothing to do": run_week,
    }
    print(
        "| what a person waits for | seconds | CPU seconds, the server's not counted |\n| --- | --- | --- |"
    )
    for what, words in rows.items():
        took, spent = command(*words, settings=settings)
        print(f"| {what} | {took:.2f} | {spent:.2f} |", flush=True)
    print()


def peak_of_a_run(settings: Settings, week: str) -> float:
    """Peak resident megabytes of the process that runs the weekly flow, its server not counted."""
    code = (
        "import resource, sys; from flows.weekly import weekly; weekly(house=sys.argv[1], week=sys.argv[2]); "
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
    )
    environment = os.environ | {
        "NILM_DATA_ROOT": str(settings.data_root),
        "NILM_OUTPUTS_ROOT": str(settings.outputs_root),
        "PREFECT_LOGGING_HANDLERS_CONSOLE_LEVEL": "CRITICAL",
    }
    command = [sys.executable, "-c", code, HOUSE, week]
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    return int(done.stdout.split()[-1]) / 1024


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--quick", action="store_true", help="two weeks of a quarter of a day")
    options.add_argument("--weeks", type=int, default=4)
    options.add_argument("--days", type=float, default=7.0)
    chosen = options.parse_args()
    n_weeks, days = (2, 0.25) if chosen.quick else (chosen.weeks, chosen.days)
    os.environ.setdefault("PREFECT_LOGGING_HANDLERS_CONSOLE_LEVEL", "CRITICAL")
    print(f"{machine_size()}; {n_weeks} weeks of {days:g} days, 10 appliances; load {os.getloadavg()[0]:.1f}")
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        simulate(root / "small", 1, 0.25, 5)
        stages(fresh(root / "warm", root / "small"), "2015-wk01")  # compiles
        start = time.perf_counter()
        weeks = simulate(root / "source", n_weeks, days, 10)
        print(f"simulated in {time.perf_counter() - start:.1f} s\n")
        run(root, weeks)


def run(root: Path, weeks: list[str]) -> None:
    source = root / "source"
    each = [stages(fresh(root / "alone", source), week) for week in weeks[:2]]
    print("| stage, one week, no Prefect | seconds |\n| --- | --- |")
    for stage in each[0]:
        print(f"| {stage} | {np.median([e[stage] for e in each]):.2f} |")
    alone = sum(each[0][stage] for stage in ("ingest", "factorise", "hop", "publish"))
    print(f"| week | {alone:.2f} |\n")
    felt(root, source, weeks[0])
    start = time.perf_counter()
    with prefect_api():
        started = time.perf_counter() - start
        with_prefect(root, source, weeks, alone, started)


def with_prefect(root: Path, source: Path, weeks: list[str], alone: float, started: float) -> None:
    from flows.backfill import backfill
    from flows.weekly import weekly

    def roots(settings: Settings) -> dict[str, Path]:
        return {"data_root": settings.data_root, "outputs_root": settings.outputs_root}

    settings = fresh(root / "flow", source)
    flow = seconds(lambda: weekly(house=HOUSE, week=weeks[0], **roots(settings)))
    again = seconds(lambda: weekly(house=HOUSE, week=weeks[0], **roots(settings)))
    print("| the weekly flow | seconds |\n| --- | --- |")
    print(f"| embedded server until it answers | {started:.1f} |\n| the flow, first time | {flow:.2f} |")
    print(f"| the same steps without Prefect, hours one after the other | {alone:.2f} |")
    print(f"| the flow again, nothing to do (all of it Prefect and digests) | {again:.2f} |")
    print(f"| Prefect's share of a first run, from that | {again / flow:.1%} |")
    peak_mb = peak_of_a_run(fresh(root / "memory", source), weeks[0])
    print(f"| peak memory of the flow's process, MB | {peak_mb:.0f} |\n")

    print("| backfill | weeks | seconds | weeks per hour |\n| --- | --- | --- | --- |")

    def row(what: str, houses: list[str], **where: object) -> float:
        settings = fresh(root / "many", source)
        n = len(weeks) * len(houses)
        took = seconds(
            lambda: backfill(houses=houses, weeks=f"{weeks[0]}:{weeks[-1]}", **where, **roots(settings))
        )
        print(f"| {what} | {n} | {took:.1f} | {3600 * n / took:.0f} |", flush=True)
        return took

    gains = []
    for houses, of in (([HOUSE], "one house"), ([HOUSE, OTHER], "two houses")):
        one, two = (row(f"{n} processes, {of}", houses, workers=n) for n in (1, 2))
        gains.append(f"{of} {one / two:.2f}")
    on_dask = []
    for workers in (1, 2):
        with dask_cluster(root / f"dask{workers}", workers) as address:
            on_dask.append(row(f"Dask, {workers} workers, two houses", [HOUSE, OTHER], dask=address))
    gains.append(f"two houses on Dask {on_dask[0] / on_dask[1]:.2f}")
    print(f"\ntwo workers against one, times as fast: {', '.join(gains)}")
    children = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    print(f"largest child process of all: {children:.0f} MB")


if __name__ == "__main__":
    main()
