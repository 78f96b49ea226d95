"""The backfill flow: many weeks of many houses, on processes or a Dask cluster; one failing stops no other.

A task is a whole week up to its solution, which depends on no other week. Publishing is done in the flow's
own process, the weeks of a house in order of time, because appliances keep their ids from week to week: so
the outputs do not depend on where and when each week was solved.
"""

import logging
import os
from collections import deque
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from prefect import flow
from prefect.futures import as_completed
from prefect.task_runners import ProcessPoolTaskRunner, TaskRunner
from pydantic import Field

from flows import steps
from flows.artifacts import progress, show_table
from flows.settings import Components, Estimator, Settings, load_settings
from flows.tasks import finish_task, log_to_prefect, solve_task
from flows.weeks import Place, places
from flows.weeks import houses as all_houses
from nilm.errors import NilmError, OptionError

log = logging.getLogger(__name__)

DASK_TIMEOUT_S = 10


class BackfillError(NilmError):
    """Some weeks of a backfill failed; the others are done. `rows` is the summary of all."""

    def __init__(self, message: str, rows: list[dict[str, Any]]) -> None:
        super().__init__(message)
        self.rows = rows


@flow(name="backfill", flow_run_name="backfill {weeks}")
def backfill(
    houses: list[str] | None = None,
    weeks: str = "new",
    dask: str | None = None,
    workers: Annotated[int, Field(ge=1)] | None = None,
    components: Components | None = None,
    estimator: Estimator | None = None,
    seed: int | None = None,
    data_root: Path | None = None,
    outputs_root: Path | None = None,
) -> list[dict[str, Any]]:
    """Work out many weeks and return one row of summary per week; BackfillError at the end if some failed.

    Args:
        houses: Folders of data/raw; all that have recordings if empty.
        weeks: A range such as 2015-wk01:2015-wk08, a list with commas, latest, or new.
        dask: Address of a running Dask scheduler, tcp://host:8786; processes on this machine if empty.
        workers: Weeks at a time without Dask; one per core if empty.
        components: Number of features K, or auto; the setting if empty.
        estimator: What factorises the weeks; the setting if empty.
        seed: Seed of everything random; the setting if empty.
        data_root: Folder of raw recordings, which every worker sees; the setting if empty.
        outputs_root: Folder of the reports; the setting if empty.
    """
    log_to_prefect()
    settings = load_settings(
        components=components,
        estimator=estimator,
        seed=seed,
        data_root=data_root,
        outputs_root=outputs_root,
        workers=workers,
    )
    chosen = _chosen(houses, weeks, settings)
    to_do = [place for place in chosen if steps.why_redo(place, settings) is not None]
    log.info("%d weeks asked for, %d have work to do", len(chosen), len(to_do))
    failures = _work_out(to_do, settings, dask) if to_do else {}
    rows = [_row(place, failures.get(place)) for place in chosen]
    if rows:
        show_table("backfill", rows, f"{len(failures)} of {len(chosen)} weeks failed.")
    if failures:
        place, reason = next(iter(failures.items()))
        raise BackfillError(f"{len(failures)} of {len(chosen)} weeks failed; first {place}: {reason}", rows)
    return rows


def _chosen(houses: list[str] | None, weeks: str, settings: Settings) -> list[Place]:
    """The weeks asked for, of each house in order of time."""
    return [
        place
        for house in houses or all_houses(settings.data_root)
        for place in places(
            house,
            weeks,
            data_root=settings.data_root,
            outputs_root=settings.outputs_root,
            is_current=lambda place: steps.why_redo(place, settings) is None,
        )
    ]


def _work_out(to_do: list[Place], settings: Settings, dask: str | None) -> dict[Place, str]:
    """What went wrong, for each week that failed; the others are solved and published.

    A week is published as soon as it and every earlier one of its house is solved (or has failed).
    """
    failures: dict[Place, str] = {}
    solved: set[Place] = set()
    waiting = {place.house: deque(p for p in to_do if p.house == place.house) for place in to_do}
    with progress("backfill", 2 * len(to_do)) as show, _runner(dask, settings) as runner:
        futures = {runner.submit(solve_task, {"place": p, "settings": settings}): p for p in to_do}
        done = 0
        for future in as_completed(list(futures)):
            place = futures[future]
            _note_failure(place, future.result, failures)
            solved.add(place)
            show(done := done + 1, f"{place} solved")
            in_turn = waiting[place.house]
            while in_turn and in_turn[0] in solved:
                place = in_turn.popleft()
                if place not in failures:
                    _note_failure(place, partial(finish_task, place, settings), failures)
                show(done := done + 1, f"{place} published")
    return failures


def _runner(dask: str | None, settings: Settings) -> TaskRunner[Any]:
    """Where the weeks are solved; OptionError if there is no Dask at the address."""
    if dask is None:
        return ProcessPoolTaskRunner(max_workers=settings.workers or os.cpu_count())
    try:
        from distributed import Client
        from prefect_dask.task_runners import DaskTaskRunner
    except ImportError as error:
        raise OptionError("--dask needs the extra: pip install 'nilm-hopper[dask]'") from error
    try:
        with Client(dask, timeout=DASK_TIMEOUT_S, set_as_default=False) as client:  # type: ignore[no-untyped-call]
            log.info("Dask at %s has %d workers", dask, len(client.scheduler_info()["workers"]))
    except (OSError, ValueError) as error:
        raise OptionError(
            f"no Dask scheduler answers at {dask!r} ({error}); start one, `dask scheduler`"
        ) from error
    return DaskTaskRunner(address=dask)


def _note_failure(place: Place, work: Callable[[], Any], failures: dict[Place, str]) -> None:
    try:
        work()
    except Exception as error:  # noqa: BLE001 - whatever stops one week must not stop the others
        failures[place] = str(error) or type(error).__name__
        log.error("%s failed: %s", place, failures[place])


def _row(place: Place, failure: str | None) -> dict[str, Any]:
    """One line of the summary."""
    if failure is not None:
        return {"house": place.house, "week": str(place.week), "outcome": f"failed: {failure}"}
    return {"outcome": "done", **steps.summary(place)}
