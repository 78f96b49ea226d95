"""The backfill flow: many weeks of many houses, on processes or a Dask cluster; one failing stops no other.

A task is a whole week up to its solution, or its publication; both run on the workers, and the flow's own
process only hands them out, in the order of `flows.job_order`. So the outputs do not depend on where and when
each week was worked out, and a second worker counts (docs/decisions/0170-publish-on-workers.md).
"""

import logging
import os
from collections.abc import Callable
from concurrent.futures import BrokenExecutor
from functools import cache, partial
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, Self

from prefect import flow
from prefect.context import refresh_global_settings_context
from prefect.futures import PrefectFuture
from prefect.task_runners import ProcessPoolTaskRunner, TaskRunner

from flows.artifacts import progress, show_markdown
from flows.failures import WeeksFailedError, in_words, note
from flows.job_order import WORKERS_IMPORT, Job, JobOrder
from flows.settings import Components, EstimatorChoice, Settings, Workers, load_settings
from flows.tasks import finish_task, log_to_prefect, solve_task
from flows.weeks import places_of_houses
from nilm.errors import OptionError
from nilm.paths import WeekPaths
from nilm.report.text.brief import markdown_table
from nilm.workers import begin_worker, copies_of_one

if TYPE_CHECKING:
    from prefect_dask.task_runners import DaskTaskRunner

log = logging.getLogger("flows.backfill")  # a Prefect worker loads this file under another name

DASK_TIMEOUT_S = 10
LOOK_AGAIN_S = 1.0  # for workers that have joined
_TASKS = {"solve": solve_task, "publish": finish_task}
_ENDED = {"solve": "solved", "publish": "published"}


class BackfillError(WeeksFailedError):
    """Some weeks of a backfill failed; the others are done. `rows` is the summary of all."""

    def __init__(self, failures: dict[WeekPaths, str], rows: list[dict[str, Any]]) -> None:
        super().__init__(failures, len(rows))
        self.rows = rows


@flow(name="backfill", flow_run_name="backfill {weeks}")
def backfill(
    houses: list[str] | None = None,
    weeks: str = "new",
    dask: str | None = None,
    workers: Workers | None = None,
    components: Components | None = None,
    estimator: EstimatorChoice = "as set",
    seed: int | None = None,
    data_root: Path | None = None,
    outputs_root: Path | None = None,
) -> list[dict[str, Any]]:
    """Work out many weeks and return one row of summary per week; BackfillError at the end if some failed.

    Args:
        houses: Folders of data/raw; all that have recordings if empty.
        weeks: A range such as 2015-wk01:2015-wk08, a list with commas, latest, or new.
        dask: Address of a running Dask scheduler, tcp://host:8786; processes on this machine if empty.
        workers: Weeks at a time without Dask; the setting if empty, and one per core without it.
        components: Number of features K, or auto; the setting if empty.
        estimator: What factorises the weeks.
        seed: Seed of everything random; the setting if empty.
        data_root: Folder of raw recordings, which every worker sees; the setting if empty.
        outputs_root: Folder of the reports; the setting if empty.
    """
    log_to_prefect()
    settings = load_settings(
        components=components,
        estimator=None if estimator == "as set" else estimator,
        seed=seed,
        data_root=data_root,
        outputs_root=outputs_root,
        workers=workers,
    ).with_absolute_roots()  # a worker may run in another folder
    is_current = cache(lambda place: settings.pipeline(place).why_redo() is None)
    chosen = places_of_houses(
        houses,
        weeks,
        data_root=settings.data_root,
        outputs_root=settings.outputs_root,
        is_current=is_current,
    )
    to_do = [place for place in chosen if not is_current(place)]
    log.info("weeks asked for: %d; with work to do: %d", len(chosen), len(to_do))
    if to_do and not dask:
        settings.check_roots()
    failures = _work_out(to_do, settings, dask) if to_do else {}
    for place, reason in failures.items():
        note(settings.pipeline(place), reason)
    rows = [_row(place, settings, failures.get(place)) for place in chosen]
    if rows:
        show_markdown("backfill", _table(rows), f"{len(failures)} of {len(chosen)} weeks failed.")
    if failures:
        raise BackfillError(failures, rows)
    return rows


def _work_out(to_do: list[WeekPaths], settings: Settings, dask: str | None) -> dict[WeekPaths, str]:
    """What went wrong, for each week that failed; the others are solved and published.

    A process that is killed breaks its whole pool, and nobody knows which week was to blame. So the weeks
    that were lost are done again one at a time, in a new pool, before the others go on.
    """
    order = JobOrder(to_do)
    with progress("backfill", 2 * len(to_do)) as show:
        while not order.over:
            runner, room = _runner(dask, 1 if order.suspects else settings.workers)
            with runner:
                _hand_out(runner, room, order, settings, show)
    return order.failures


def _hand_out(
    runner: TaskRunner[Any],
    room: Callable[[], int],
    order: JobOrder,
    settings: Settings,
    show: Callable[[float, str], None],
) -> None:
    """Keep `room()` jobs running until all are done, or the pool breaks, or the last suspect has ended.

    No more, though the runner has a queue of its own: what is submitted early would be done before what is
    urgent later.
    """
    running: dict[PrefectFuture[Any], Job] = {}
    finished: SimpleQueue[PrefectFuture[Any]] = SimpleQueue()
    broken, suspected, ended = False, bool(order.suspects), ""
    while True:
        while not broken and len(running) < room() and (order.suspects or not suspected):
            job = order.take()
            if job is None:
                break
            future = runner.submit(_TASKS[job.step], {"place": job.place, "settings": settings})
            running[future] = job
            future.add_done_callback(finished.put)
        if ended:  # said while the workers have their next jobs: it takes an answer of the server
            show(order.n_ended, ended)
            ended = ""
        if not running:
            return
        try:
            future = finished.get(timeout=LOOK_AGAIN_S)
        except Empty:
            continue
        job = running.pop(future)
        try:
            future.result()
            order.done(job)
        except BrokenExecutor:
            broken = True
            log.warning("%s: the process that worked on it was killed", job.place)
            order.lost(job, "the process that worked on it was killed, twice; too little memory?")
        except Exception as error:  # noqa: BLE001 - whatever stops one week must not stop the others
            reason = in_words(error)
            log.error("%s failed: %s", job.place, reason)
            order.done(job, reason)
        ended = f"{job.place} {_ENDED[job.step]}"


class _Processes(ProcessPoolTaskRunner):
    """Processes that have imported what a week needs before they are asked for one."""

    def __enter__(self) -> Self:
        super().__enter__()
        assert self._executor is not None, "Prefect makes it when the runner is entered"
        self._executor._mp_context = copies_of_one(WORKERS_IMPORT)  # Prefect has no option for it
        return self


def _own_prefect() -> dict[str, str]:
    """The variables that tell a process which Prefect server is ours."""
    return {name: value for name, value in os.environ.items() if name.startswith("PREFECT_")}


def _begin_worker(prefect: dict[str, str]) -> None:
    """Set a worker process up: what it is a copy of may have begun before the server had an address."""
    begin_worker()
    os.environ.update(prefect)
    refresh_global_settings_context()


def _runner(dask: str | None, workers: int | None) -> tuple[TaskRunner[Any], Callable[[], int]]:
    """Where the jobs run and how many at a time; OptionError if there is no Dask at the address."""
    if dask is None:
        processes = workers or os.cpu_count() or 1
        return _Processes(processes, initializer=_begin_worker, initargs=(_own_prefect(),)), lambda: processes
    try:
        from distributed import Client
        from prefect_dask.task_runners import DaskTaskRunner
    except ImportError as error:
        raise OptionError("--dask needs the extra: in a clone, pip install '.[dask]'") from error
    try:
        with Client(dask, timeout=DASK_TIMEOUT_S, set_as_default=False) as client:  # type: ignore[no-untyped-call]
            there = len(client.scheduler_info()["workers"])
    except (OSError, ValueError) as error:
        raise OptionError(
            f"no Dask scheduler answers at {dask!r} ({error}); start one with `dask scheduler` and give the "
            "address that it prints, such as tcp://127.0.0.1:8786"
        ) from error
    if there:
        log.info("Dask workers at %s: %d", dask, there)
    else:
        log.warning("Dask at %s has no worker yet; start one: dask worker %s --nthreads 1", dask, dask)
    runner = DaskTaskRunner(address=dask)
    return runner, partial(_threads, runner)


def _threads(runner: "DaskTaskRunner") -> int:
    """How many threads the cluster has now, for workers come and go; one if it has none yet."""
    threads: dict[str, int] = runner.client.nthreads()  # type: ignore[no-untyped-call]
    return max(1, sum(threads.values()))


def _row(place: WeekPaths, settings: Settings, failure: str | None) -> dict[str, Any]:
    """One line of the summary."""
    if failure is not None:
        return {"house": place.house, "week": str(place.week), "outcome": f"failed: {failure}"}
    return {"outcome": "done", **settings.pipeline(place).summary()}


def _table(rows: list[dict[str, Any]]) -> str:
    """The summary as a person reads it."""
    columns = ("house", "week", "outcome", "energy", "appliances", "recorded")
    lines = []
    for row in rows:
        numbers = ("", "", "")
        if "metered_kwh" in row:
            numbers = (f"{row['metered_kwh']:.1f} kWh", str(row["appliances"]), f"{row['coverage']:.0%}")
        lines.append((row["house"], row["week"], row["outcome"], *numbers))
    return markdown_table(columns, lines)
