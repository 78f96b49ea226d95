"""The steps of a week as Prefect tasks: plain functions wrapped, with names, and retries on reading files.

Nothing is cached by Prefect: the manifests decide. Only reading a recording is tried again, and only when the
file system failed: a bad recording stays bad, and is left out.
"""

import logging
from typing import Any

from prefect import Task
from prefect.cache_policies import NO_CACHE
from prefect.client.schemas.objects import State, TaskRun
from prefect.context import FlowRunContext, TaskRunContext
from prefect.logging.handlers import APILogHandler

from flows import steps
from flows.settings import Settings
from flows.terminal import ROOMS
from flows.weeks import Place
from nilm.recordings.ingest import assemble_week, ingest_hour

READ_RETRY_DELAYS_S = [1.0, 5.0]


def _file_system_failed(_task: Any, _run: TaskRun, state: State[Any]) -> bool:
    """Whether the task failed with an OSError, which may pass: a network disk, a file being copied."""
    return isinstance(state.result(raise_on_failure=False), OSError)


class _RunLog(APILogHandler):
    """Send records to the page of the run that they belong to; outside of runs there is none."""

    def emit(self, record: logging.LogRecord) -> None:
        if FlowRunContext.get() or TaskRunContext.get():
            super().emit(record)


def log_to_prefect() -> None:
    """Send the log lines of our packages to the run's page as well; call at the start of every flow."""
    for room in ROOMS:
        logger = logging.getLogger(room)
        logger.setLevel(min(logger.level or logging.INFO, logging.INFO))
        if not any(isinstance(handler, _RunLog) for handler in logger.handlers):
            logger.addHandler(_RunLog())


# What a backfill hands out runs in other processes than the flow's, hence the log.
def _solve(place: Place, settings: Settings) -> None:
    log_to_prefect()
    steps.solve(place, settings)


def _finish(place: Place, settings: Settings) -> None:
    log_to_prefect()
    steps.finish(place, settings)


ingest_hour_task = Task(
    ingest_hour,
    name="ingest hour",
    task_run_name="{recording.name}",
    retries=len(READ_RETRY_DELAYS_S),
    retry_delay_seconds=READ_RETRY_DELAYS_S,
    retry_condition_fn=_file_system_failed,
    cache_policy=NO_CACHE,
)
assemble_task = Task(assemble_week, name="assemble", cache_policy=NO_CACHE)
factorise_task = Task(
    steps.factorise, name="factorise", task_run_name="factorise {place}", cache_policy=NO_CACHE
)
hop_task = Task(steps.hop, name="hop", task_run_name="hop {place}", cache_policy=NO_CACHE)
publish_task = Task(steps.publish, name="publish", task_run_name="publish {place}", cache_policy=NO_CACHE)
solve_task = Task(_solve, name="solve", task_run_name="{place}", cache_policy=NO_CACHE)
finish_task = Task(_finish, name="finish", task_run_name="{place}", cache_policy=NO_CACHE)
