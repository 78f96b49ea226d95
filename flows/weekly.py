"""The weekly flow: from a week's recordings to its report, redoing only what is out of date."""

import logging
import os
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

from prefect import flow
from prefect.futures import PrefectFuture, as_completed
from prefect.runtime import flow_run
from prefect.task_runners import TaskRunner, ThreadPoolTaskRunner
from pydantic import Field

from flows import steps
from flows.artifacts import progress, show_report, show_table
from flows.failures import WeeksFailedError, in_words
from flows.settings import Components, Estimator, Settings, Workers, load_settings
from flows.tasks import (
    assemble_task,
    factorise_task,
    hop_task,
    ingest_hour_task,
    log_to_prefect,
    publish_task,
)
from flows.weeks import LATEST, Place, places
from nilm import store
from nilm.recordings.ingest import give_up_hour
from nilm.recordings.ukdale import weeks_present

log = logging.getLogger(__name__)

House = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]*$")]
_INGESTED, _FACTORISED, _HOPPED, _PUBLISHED = 35.0, 75.0, 85.0, 100.0  # percent of a typical week's time


def _run_name() -> str:
    """The house and week of the run: `latest` is told by its date, `new` may be several and stays a word."""
    asked = flow_run.parameters
    week = asked["week"]
    if week == LATEST:
        data_root = load_settings(data_root=asked.get("data_root")).data_root
        week = next(reversed(weeks_present(data_root / "raw" / asked["house"])), week)
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
        is_current=lambda place: steps.why_redo(place, settings) is None,
    )
    if not chosen:
        log.info("%s: every week's report is current; nothing to do", house)
    if len(chosen) == 1:
        return [_work_out(chosen[0], settings)]
    reports: list[Path] = []
    failures: dict[Place, str] = {}
    for place in chosen:
        try:
            reports.append(_work_out(place, settings))
        except Exception as error:  # noqa: BLE001 - a bad week would hold up every later one, each Monday
            failures[place] = in_words(error)
            log.error("%s failed: %s", place, failures[place])
    if failures:
        raise WeeksFailedError(failures, len(chosen))
    return reports


def _work_out(place: Place, settings: Settings) -> Path:
    """The path of the week's report, current."""
    with store.week_lock(place.data_root, place.house, str(place.week)):
        reason = steps.why_redo(place, settings)
        if reason is None:
            log.info("%s: the report is current; nothing to do", place)
        else:
            log.info("%s: %s", place, _shortened(reason))
            settings.check_roots()
            _run_steps(place, settings)
    show_report(str(place), place.report)
    return place.report


def _run_steps(place: Place, settings: Settings) -> None:
    with progress(str(place), _PUBLISHED) as show:
        recordings = steps.recordings(place)
        _ingest_hours(place, recordings, settings, show)
        assemble_task(place.ingest, recordings, sampling=steps.sampling(settings))
        show(_INGESTED, "finding appliances")
        factorise_task(
            place,
            settings,
            lambda n, _: show(min(_INGESTED + n, _FACTORISED), f"finding appliances, round {n}"),
        )
        show(_FACTORISED, "hopping to equivalent solutions")
        hop_task(place, settings)
        show(_HOPPED, "writing the report")
        publish_task(place, settings)
        steps.record(place, settings)
        show(_PUBLISHED, "done")
    show_table(str(place), [steps.summary(place)], "The week in numbers; the report says more.")


def _ingest_hours(
    place: Place, recordings: list[Path], settings: Settings, show: Callable[[float, str], None]
) -> None:
    """Bring the rows of every recording up to date, `settings.workers` of them at a time."""
    runner: TaskRunner[Any] = ThreadPoolTaskRunner(max_workers=settings.workers or os.cpu_count())
    with runner:
        futures: dict[PrefectFuture[Any], Path] = {
            runner.submit(
                ingest_hour_task,
                {
                    "recording": recording,
                    "piece": place.ingest.hour_piece(recording),
                    "calibration_file": place.ingest.calibration,
                    "sampling": steps.sampling(settings),
                },
            ): recording
            for recording in recordings
        }
        for done, future in enumerate(as_completed(list(futures)), start=1):
            _give_up_if_unreadable(place, futures[future], future)
            show(_INGESTED * done / len(futures), f"{done} of {len(futures)} recordings read")


def _give_up_if_unreadable(place: Place, recording: Path, future: PrefectFuture[Any]) -> None:
    """Leave a recording out that the file system did not give after all tries; other errors stop the week."""
    try:
        future.result()
    except OSError as error:
        give_up_hour(recording, place.ingest.hour_piece(recording), error)


def _shortened(reason: str, most: int = 160) -> str:
    """`reason`, cut where it would list every recording of a week."""
    return reason if len(reason) <= most else f"{reason[:most].rsplit(';', 1)[0]}; …"
