"""The weekly flow: from a week's recordings to its report, redoing only what is out of date."""

import logging
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

from prefect import flow
from prefect.runtime import flow_run
from prefect.states import Completed, State
from pydantic import Field

from flows.artifacts import progress, show_markdown, show_report, tag_run
from flows.failures import WeeksFailedError, in_words, noted
from flows.settings import Components, EstimatorChoice, Settings, Workers, load_settings
from flows.silence import check_silence, last_recorded, silence
from flows.tasks import log_to_prefect, step_task
from flows.weeks import LATEST, NEW, places
from nilm.files import week_lock
from nilm.paths import WeekPaths
from nilm.pipeline import WeekPipeline
from nilm.recordings.ukdale import weeks_present
from nilm.report.folders import SUMMARY_FILE
from nilm.report.summary import WeekSummary, read_earlier, read_summary
from nilm.report.text.brief import week_brief, week_line
from nilm.report.troubles import note_silence
from nilm.week.publish import publish_index

log = logging.getLogger("flows.weekly")  # a Prefect worker loads this file under another name

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
    estimator: EstimatorChoice = "as set",
    seed: int | None = None,
    workers: Workers | None = None,
    data_root: Path | None = None,
    outputs_root: Path | None = None,
) -> State[list[Path]]:
    """Work out one week of a house, or all its new ones; the result are the paths of the reports.

    Steps whose inputs, options and code are as the manifest has them are not run again. Of several weeks one
    that fails does not stop the others; the run fails at its end.

    Args:
        house: Folder of data/raw with the recordings, such as house_1.
        week: Such as 2015-wk01; or latest, the last week with recordings; or new, every week whose report is
            missing or out of date.
        components: Number of features K, or auto; the setting if empty.
        estimator: What factorises the week.
        seed: Seed of everything random; the setting if empty.
        workers: Recordings read at a time; the setting if empty, and one per core without it.
        data_root: Folder of raw recordings and intermediate files; the setting if empty.
        outputs_root: Folder of the reports; the setting if empty.
    """
    log_to_prefect()
    tag_run([house])
    settings = load_settings(
        components=components,
        estimator=None if estimator == "as set" else estimator,
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
    tag_run([house, *(str(place.week) for place in chosen)])  # also where a week fails
    last = last_recorded(settings.data_root / "raw" / house)
    reports = _work_out_all(chosen, settings)
    if week == NEW:
        if not chosen:
            _show_silence(house, last, settings)
        check_silence(house, last, most_days=settings.fail_after_silent_days, now=datetime.now(UTC))
    if not chosen:
        words = f"{silence(house, last)}; every week's report is current, nothing to do"
        log.info(words)
        return Completed(name="No new recordings", message=words, data=reports)
    return Completed(message=_outcome(chosen), data=reports)


def _show_silence(house: str, last: datetime | None, settings: Settings) -> None:
    """Say on the index that a house is late, if it is."""
    if note_silence(settings.outputs_root / house, last, now=datetime.now(UTC)):
        with week_lock(settings.data_root, "all", "index"):
            publish_index(settings.outputs_root, house)


def _outcome(chosen: list[WeekPaths]) -> str:
    """The run's last word: each week in a line, the newest first, and at most four of them."""
    lines = [week_line(*_with_earlier(place)) for place in reversed(chosen[-4:])]
    return "; ".join(lines) + ("; …" if len(chosen) > 4 else "")


def _with_earlier(place: WeekPaths) -> tuple[WeekSummary, list[WeekSummary]]:
    """The published week in numbers, and the weeks before it."""
    return read_summary(place.outputs / SUMMARY_FILE), read_earlier(place.outputs)


def _work_out_all(chosen: list[WeekPaths], settings: Settings) -> list[Path]:
    """The paths of the reports; WeeksFailedError at the end if some of several weeks failed."""
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
    with pipeline.locked(), noted(pipeline):
        reason = pipeline.why_redo()
        if reason is None:
            log.info("%s: the report is current; nothing to do", place)
        else:
            log.info("%s: %s", place, _shortened(reason))
            settings.check_roots()
            _run_steps(pipeline)
    address = show_report(str(place), place.report, settings)
    brief = week_brief(*_with_earlier(place), report=address)
    show_markdown(str(place), brief, "The week in a sentence and in numbers; the report says more.")
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


def _shortened(reason: str, most: int = 160) -> str:
    """`reason`, cut where it would list every recording of a week."""
    return reason if len(reason) <= most else f"{reason[:most].rsplit(';', 1)[0]}; …"
