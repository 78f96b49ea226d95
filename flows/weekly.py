"""The weekly flow: from a week's recordings to its report, redoing only what is out of date."""

import logging
from pathlib import Path
from typing import Annotated

from prefect import flow
from prefect.runtime import flow_run
from pydantic import Field

from flows.artifacts import progress, show_report, show_table
from flows.failures import WeeksFailedError, in_words
from flows.settings import Components, Estimator, Settings, Workers, load_settings
from flows.tasks import log_to_prefect, step_task
from flows.weeks import LATEST, places
from nilm.paths import WeekPaths
from nilm.pipeline import WeekPipeline
from nilm.recordings.ukdale import weeks_present

log = logging.getLogger(__name__)

House = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]*$")]
_DONE_AFTER = {"ingest": 35.0, "factorise": 75.0, "hop": 85.0, "publish": 100.0}  # % of a week's time


def _run_name() -> str:
    """The house and week of the run: `latest` is told by its date, `new` may be several and stays a word."""
    asked = flow_run.parameters
    week = asked["week"]
    if week == LATEST:
        data_root = load_settings(data_root=asked.get("data_root")).data_root
        week = next(reversed(weeks_present(data_root / "raw" / asked["house"])), week)
    elif "," in week:
        week = f"{week.count(',') + 1} weeks"
    return f"{asked['house']} {week}"


@flow(name="weekly", flow_run_name=_run_name)
def weekly(
    house: House,
    week: str = "latest",
    components: Components | None = None,
    estimator: Estimator | None = None,
    seed: int | None = None,
    workers: Workers | None = None,
    data_root: Path | None = None,
    outputs_root: Path | None = None,
) -> list[Path]:
    """Work out one week of a house, or all its new ones, and return the paths of the reports.

    Steps whose inputs, options and code are as the manifest has them are not run again. Of several weeks one
    that fails does not stop the others; the run fails at its end.

    Args:
        house: Folder of data/raw with the recordings, such as house_1.
        week: Such as 2015-wk01; or latest, the last week with recordings; or new, every week whose report is
            missing or out of date.
        components: Number of features K, or auto; the setting if empty.
        estimator: What factorises the week; the setting if empty.
        seed: Seed of everything random; the setting if empty.
        workers: Recordings read at a time; the setting if empty, and one per core without it.
        data_root: Folder of raw recordings and intermediate files; the setting if empty.
        outputs_root: Folder of the reports; the setting if empty.
    """
    log_to_prefect()
    settings = load_settings(
        components=components,
        estimator=estimator,
        seed=seed,
        workers=workers,
        data_root=data_root,
        outputs_root=outputs_root,
    )
    chosen = places(
        house,
        week,
        data_root=settings.data_root,
        outputs_root=settings.outputs_root,
        is_current=lambda place: settings.pipeline(place).why_redo() is None,
    )
    if not chosen:
        log.info("%s: every week's report is current; nothing to do", house)
    if len(chosen) == 1:
        return [_work_out(chosen[0], settings)]
    reports: list[Path] = []
    failures: dict[WeekPaths, str] = {}
    for place in chosen:
        try:
            reports.append(_work_out(place, settings))
        except Exception as error:  # noqa: BLE001 - a bad week would hold up every later one, each Monday
            failures[place] = in_words(error)
            log.error("%s failed: %s", place, failures[place])
    if failures:
        raise WeeksFailedError(failures, len(chosen))
    return reports


def _work_out(place: WeekPaths, settings: Settings) -> Path:
    """The path of the week's report, current."""
    pipeline = settings.pipeline(place)
    with pipeline.locked():
        reason = pipeline.why_redo()
        if reason is None:
            log.info("%s: the report is current; nothing to do", place)
        else:
            log.info("%s: %s", place, _shortened(reason))
            settings.check_roots()
            _run_steps(pipeline)
    show_report(str(place), place.report)
    return place.report


def _run_steps(pipeline: WeekPipeline) -> None:
    before = 0.0
    with progress(str(pipeline), 100.0) as show:
        for step in pipeline.steps:
            after = _DONE_AFTER[step.name]
            show(before, step.words)
            step_task(
                pipeline,
                step.name,
                lambda done, doing, since=before, until=after: show(since + done * (until - since), doing),
            )
            before = after
        show(before, "done")
    show_table(str(pipeline), [pipeline.summary()], "The week in numbers; the report says more.")


def _shortened(reason: str, most: int = 160) -> str:
    """`reason`, cut where it would list every recording of a week."""
    return reason if len(reason) <= most else f"{reason[:most].rsplit(';', 1)[0]}; …"
