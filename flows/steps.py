"""The order of a week's steps, without Prefect: what runs after what, with which options, under which lock.

Every step of `nilm` finds out for itself, from its manifest, whether it has work to do. Here one more entry,
the step "the week" in the manifest of the outputs, covers all of them: recordings, names, options and code
in, the published files out. If it is current, nothing at all is done; that is also what `new` asks.
"""

import logging
from pathlib import Path
from typing import Any

from flows.settings import Settings
from flows.weeks import Place
from nilm import store
from nilm.disaggregate.estimate import Callback
from nilm.disaggregate.steps import FactoriseOptions, HopOptions, factorise_week, hop_week
from nilm.publish import PublishOptions, earlier_summaries, publish_index, publish_week
from nilm.recordings import ukdale
from nilm.recordings.ingest import UNREADABLE, ingest_week
from nilm.recordings.quality import read_quality
from nilm.recordings.submeters import submeter_files
from nilm.recordings.waveforms import Sampling

log = logging.getLogger(__name__)

WEEK_STEP = "the week"


def sampling(settings: Settings) -> Sampling:
    """How rows are taken from recordings."""
    return Sampling(settings.interval_s, settings.n_points, settings.n_cycles)


def factorise_options(settings: Settings) -> FactoriseOptions:
    """How the estimator works."""
    return FactoriseOptions(settings.components, settings.estimator, settings.seed)


def hop_options(settings: Settings) -> HopOptions:
    """How the hopper works."""
    return HopOptions(settings.prior, settings.seed)


def publish_options(settings: Settings) -> PublishOptions:
    """How the week is shown."""
    return PublishOptions(
        settings.tariff_per_kwh,
        settings.currency,
        settings.min_on_s,
        settings.min_off_s,
        settings.timezone,
    )


def recordings(place: Place) -> list[Path]:
    """The week's recordings; InputFileError here, and not once per recording, if the calibration is bad."""
    ukdale.read_calibration(place.ingest.calibration)
    for folder in (place.ingest.waveforms.parent, place.ingest.hour_piece(Path("any")).parent):
        store.remove_stale(folder)
    return ukdale.week_hours(place.ingest.house_folder, place.week)


def factorise(place: Place, settings: Settings, callback: Callback | None = None) -> None:
    """Make the factorised week current; `callback(round, objective)` hears of the estimator's rounds."""
    factorise_week(
        place.ingest.waveforms,
        place.factorised,
        factorise_options(settings),
        house=place.house,
        week=str(place.week),
        callback=callback,
    )


def hop(place: Place, settings: Settings) -> None:
    """Make the hopped week current."""
    hop_week(place.factorised, place.hopped, hop_options(settings), waveforms_path=place.ingest.waveforms)


def publish(place: Place, settings: Settings) -> None:
    """Make the week's outputs and the index current; the weeks of a house take their turns."""
    with store.week_lock(place.data_root, place.house, "publish"):
        publish_week(
            place.hopped,
            place.outputs,
            publish_options(settings),
            waveforms_path=place.ingest.waveforms,
            house_folder=place.ingest.house_folder,
            names_path=place.names,
            catalogue_path=place.catalogue,
        )
    with store.week_lock(place.data_root, "all", "index"):
        publish_index(place.outputs_root, place.house)


def solve(place: Place, settings: Settings) -> None:
    """Make everything but the outputs current: the part of a week that depends on no other week."""
    with store.week_lock(place.data_root, place.house, str(place.week)):
        ingest_week(place.ingest, sampling=sampling(settings))
        factorise(place, settings)
        hop(place, settings)


def finish(place: Place, settings: Settings) -> None:
    """Make the outputs current and write down what the whole week was made from."""
    with store.week_lock(place.data_root, place.house, str(place.week)):
        publish(place, settings)
        record(place, settings)


def record(place: Place, settings: Settings) -> None:
    """Write the step "the week" into the manifest of the outputs, as the last act of a run.

    Not if a recording could not be read for a reason that may pass: then the next run tries it again.
    """
    left_out = read_quality(place.ingest.quality).files_left_out
    if any(entry["reason"].startswith(UNREADABLE) for entry in left_out):
        log.warning("%s: some recordings could not be read; the next run tries them again", place)
        return
    published = store.recorded_outputs(place.manifest, "publish")
    store.record(place.manifest, _week_step(place, settings), published)


def why_redo(place: Place, settings: Settings) -> str | None:
    """Why the week has work to do, in words; None if its outputs are current."""
    for index in (place.outputs_root / "index.html", place.outputs.parent / "index.html"):
        if place.manifest.is_file() and not index.is_file():
            return f"missing output {index}"
    return store.why_redo(place.manifest, _week_step(place, settings))


def _week_step(place: Place, settings: Settings) -> store.Step:
    """All that decides the outputs of a week."""
    house = place.ingest.house_folder
    files = [*ukdale.week_hours(house, place.week), place.ingest.calibration, *submeter_files(house)]
    files += [place.names, house / "truth" / f"{place.week}.npz"]
    inputs = {path.relative_to(place.data_root).as_posix(): _mark(path) for path in files if path.is_file()}
    between = (place.ingest.waveforms, place.factorised, place.hopped)
    inputs |= {path.name: store.digest(path) if path.is_file() else "absent" for path in between}
    inputs |= earlier_summaries(place.outputs)
    options = settings.model_dump(mode="json", exclude={"data_root", "outputs_root", "workers"})
    code = store.code_version("nilm.recordings.ingest", "nilm.disaggregate.steps", "nilm.publish")
    return store.Step(WEEK_STEP, inputs, options, code)


def _mark(path: Path) -> str:
    try:
        return store.fingerprint(path)
    except OSError as error:  # the week goes on without it, and is current only until it can be read
        return f"unreadable: {error.strerror}"


def summary(place: Place) -> dict[str, Any]:
    """A published week in a few numbers."""
    published = store.recorded_result(place.manifest, "publish")
    return {name: value for name, value in published.items() if name != "provenance"}
