"""The steps of a week as Prefect tasks: plain functions wrapped, with names.

Nothing is cached by Prefect: the manifests decide. Nothing is tried again by Prefect either: the one thing
worth it, reading a recording, is tried again where it is read, for every command alike.
"""

import logging
from dataclasses import replace

from prefect import Task
from prefect.cache_policies import NO_CACHE
from prefect.context import FlowRunContext, TaskRunContext
from prefect.logging.handlers import APILogHandler

from flows.command_line.terminal import ROOMS
from flows.settings import Settings
from nilm.paths import WeekPaths
from nilm.pipeline import Show, WeekPipeline


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


def _run(pipeline: WeekPipeline, step: str, show: Show) -> None:
    pipeline.step(step).run(show)


# What a backfill hands out runs in other processes than the flow's, hence the log.
def _solve(place: WeekPaths, settings: Settings) -> None:
    log_to_prefect()
    replace(settings.pipeline(place), workers=1).solve()  # weeks side by side, not hours


def _finish(place: WeekPaths, settings: Settings) -> None:
    log_to_prefect()
    settings.pipeline(place).finish()


step_task = Task(_run, name="step", task_run_name="{step} {pipeline}", cache_policy=NO_CACHE)
solve_task = Task(_solve, name="solve", task_run_name="{place}", cache_policy=NO_CACHE)
finish_task = Task(_finish, name="finish", task_run_name="{place}", cache_policy=NO_CACHE)
