"""What each command of `nilm` does: from parsed options to the lines of its result."""

import argparse
import threading
import time
from collections.abc import Generator, Iterator
from contextlib import closing
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flows.command_line.embedded import prefect_api
from flows.settings import Settings, load_settings
from nilm.errors import InputFileError, OptionError

if TYPE_CHECKING:
    from nilm.pipeline import WeekPipeline

# This very week showed faults that were then repaired: a demo, no measurement.
DEMO_HOUSE, DEMO_WEEK, DEMO_SEED = "house_demo", "2015-wk01", 1000

SPECTRA = ("window_s", "hop_s", "max_hz")  # options of the piano flow, passed on where given

Lines = Iterator[str]


def _given(options: argparse.Namespace) -> dict[str, Any]:
    """The options that stand for a setting, whichever of them the command has; flows call them the same."""
    given = {name: value for name, value in vars(options).items() if value is not None}
    return {name: value for name, value in given.items() if name in Settings.model_fields}


def _settings(options: argparse.Namespace) -> Settings:
    return load_settings(**_given(options))


def simulate(options: argparse.Namespace) -> Lines:
    """Write a simulated week into data/raw."""
    from nilm.recordings.ukdale import parse_weeks
    from nilm.simulate.faults import Fault
    from nilm.simulate.week import simulate_week

    settings = _settings(options)
    for name in parse_weeks(options.weeks):
        week = simulate_week(
            settings.data_root / "raw",
            house=options.house,
            week=str(name),
            seed=options.seed,
            days=options.days,
            n_appliances=options.appliances,
            waveforms=options.waveforms,
            habits=options.habits,
            clean=options.clean,
            interval_s=settings.interval_s,
            solar=options.solar,
            continuous=options.continuous,
            faults=[Fault.parse(text) for text in options.fault],
        )
        megabytes = f"{week.size_bytes / 1e6:.0f} MB"
        yield f"{len(week.hours)} recordings, {megabytes}, in {week.hours[0].parent if week.hours else '-'}"
        yield f"truth in {week.truth}"
    yield f"next: nilm run --house {options.house} --week {options.weeks}"


def ingest(options: argparse.Namespace) -> Lines:
    """Make the Parquet file of a week's rows current."""
    from flows.command_line import terminal

    settings = _settings(options)
    for place in _places(options.house, options.weeks, settings):
        pipeline = settings.pipeline(place)
        with pipeline.locked(), terminal.bar(str(place), 1.0) as show:
            quality = pipeline.ingest(show)
        for entry in quality.files_left_out:
            yield f"left out: {entry['file']}: {entry['reason']}"
        yield (
            f"{place}: {quality.rows_present} rows for {100 * quality.coverage:.1f}% of the week in "
            f"{place.waveforms}"
        )


def run(options: argparse.Namespace) -> Lines:
    """Run the weekly flow; without work to do, not even a server is started."""
    from flows.weeks import NEW

    settings = _settings(options)
    chosen = _places(options.house, options.weeks, settings)
    # What `new` names has work to do; a week that was asked for by name may have none.
    if options.weeks != NEW and all(settings.pipeline(place).why_redo() is None for place in chosen):
        for place in chosen:
            yield f"{place}: nothing to do, the report is current: {place.report}"
        return
    if not chosen:
        yield f"{_heard(options.house, settings)}; every week's report is current, nothing to do"
        return
    settings.check_roots()
    with closing(_first_steps(settings.pipeline(chosen[0]))) as work, prefect_api(meanwhile=work):
        work.close()  # it holds the week's lock, which the flow takes now
        from flows.weekly import weekly

        weekly(house=options.house, week=",".join(str(place.week) for place in chosen), **_given(options))
    for place in chosen:
        yield from _outcome(settings.pipeline(place).summary())
        yield f"report: {place.report}"
    if options.weeks == NEW:
        _heard(options.house, settings)


def _heard(house: str, settings: Settings) -> str:
    """Since when a house is silent, in words; SilentHouseError if that is longer than the setting allows."""
    from flows.silence import check_silence, last_recorded, silence

    last = last_recorded(settings.data_root / "raw" / house)
    check_silence(house, last, most_days=settings.fail_after_silent_days, now=datetime.now(UTC))
    return silence(house, last)


def _first_steps(pipeline: "WeekPipeline") -> Generator[None, None, None]:
    """Do the steps of a week up to its report, one at a time; the flow finds them current.

    While other processes read the recordings, this one loads the flow. Not before the first is read: those
    processes are copies of this one, and must not be made while a thread imports.
    """
    from flows.command_line import terminal
    from flows.failures import noted

    loading = threading.Thread(target=import_module, args=["flows.weekly"], daemon=True)
    with pipeline.locked(), noted(pipeline), terminal.bar(str(pipeline), 1.0) as show:

        def shown(done: float, doing: str) -> None:
            if loading.ident is None:
                loading.start()
            show(done, doing)

        for step in pipeline.steps[:-1]:
            try:
                step.run(shown)
            finally:
                if loading.ident is not None:
                    loading.join()
            yield


def backfill(options: argparse.Namespace) -> Lines:
    """Run the backfill flow and show its table, also when some weeks failed."""
    from flows.job_order import WORKERS_IMPORT
    from nilm.workers import copies_of_one

    settings = _settings(options)
    if not options.dask:
        copies_of_one(WORKERS_IMPORT)  # while the server starts
    with prefect_api():
        from flows.backfill import BackfillError
        from flows.backfill import backfill as flow

        try:
            rows = flow(houses=options.house, weeks=options.weeks, dask=options.dask, **_given(options))
        except BackfillError as error:
            yield from _table(error.rows)
            raise
    yield from _table(rows) if rows else ["nothing to do, every week's report is current"]
    yield f"index: {settings.outputs_root / 'index.html'}"


def piano(options: argparse.Namespace) -> Lines:
    """Run the piano flow."""
    if not options.audio.is_file():
        raise OptionError(f"{options.audio} is not a file; give the path of a recording")
    with prefect_api():
        from flows.piano import piano as flow

        spectra = {name: value for name in SPECTRA if (value := getattr(options, name)) is not None}
        report = flow(audio=options.audio, **spectra, **_given(options))
    yield f"report: {report}"


def experiments(options: argparse.Namespace) -> Lines:
    """Run the experiments flow."""
    from nilm.experiments.write import chosen_experiments

    only = [name.strip() for name in options.only.split(",") if name.strip()]
    chosen_experiments(only)  # a wrong name is told before a server is started
    with prefect_api():
        from flows.experiments import experiments as flow

        index = flow(
            only=only,
            quick=options.quick,
            real_data=options.real_data,
            labels=options.labels,
            **_given(options),
        )
    yield f"pages: {index}"


def diagnose(options: argparse.Namespace) -> Lines:
    """Say what the data of a finished week can and cannot tell apart."""
    from nilm.files import MADE_ANEW, read_json

    path = options.folder / "corrections.json"
    if not path.is_file():
        raise OptionError(
            f"{options.folder} holds no finished week (no corrections.json); `nilm run` makes one"
        )
    try:
        yield from _certainty(read_json(path, cure=MADE_ANEW)["certainty"])
    except (KeyError, TypeError) as error:
        raise InputFileError(f"{path} is not what `nilm run` writes ({error!r}); {MADE_ANEW}") from error


def _certainty(certainty: dict[str, Any]) -> Lines:
    yield f"{certainty['verdict']}: {certainty['words']}"
    exactly = "" if certainty["n_equivalent_is_exact"] else "at least "
    yield f"equivalent solutions: {exactly}{certainty['n_equivalent']}"
    for title, entries in (
        ("dependency", certainty["dependencies"]),
        ("not told apart", [", ".join(group) for group in certainty["indistinguishable"]]),
        ("would settle it", certainty["would_settle"]),
        ("note", certainty["notes"]),
    ):
        for entry in entries:
            yield f"{title}: {entry}"


def export(options: argparse.Namespace) -> Lines:
    """Write published weeks in another program's format."""
    from nilm.export.write import export as write

    settings = _settings(options)
    folder = options.to or settings.outputs_root / "export"
    yield from write(
        settings.outputs_root,
        folder,
        options.format,
        houses=options.house or (),
        weeks=options.weeks,
        timezone=settings.timezone,
    )


def name(options: argparse.Namespace) -> Lines:
    """Keep an analyst's name for an appliance; reports take it up when they are next made."""
    from nilm.appliances.analyst import name_appliance

    path, so_far = _notes_on_known(options)
    name_appliance(path, house=options.house, appliance_id=options.appliance_id, name=options.name)
    yield f"{so_far} ({options.house})"
    yield f"{options.house} {options.appliance_id} is called {options.name!r} from now on ({path})"
    yield f"next: nilm backfill --house {options.house}, which makes the house's reports anew"


def ungroup(options: argparse.Namespace) -> Lines:
    """Keep an analyst's word that an appliance is no part of another, or take it back."""
    from nilm.appliances.analyst import regroup
    from nilm.appliances.analyst import ungroup as stand_alone

    path, so_far = _notes_on_known(options)
    (regroup if options.undo else stand_alone)(path, house=options.house, appliance_id=options.appliance_id)
    yield f"{so_far} ({options.house})"
    whether = "is suggested as a part again" if options.undo else "stands for itself from now on"
    yield f"{options.house} {options.appliance_id} {whether} ({path})"
    yield f"next: nilm backfill --house {options.house}, which makes the house's reports anew"


def serve(options: argparse.Namespace) -> Lines:
    """Show the pages until Ctrl-C."""
    import uvicorn

    from flows.command_line.serve import address, listen, loopback, serving

    settings = _settings(options).with_absolute_roots()
    with listen(options.host, options.port) as listening:
        at = address(listening)
        if not loopback(options.host):
            yield f"everyone who reaches {at} can read these pages and name appliances"
        yield f"pages: http://{at}/ (Ctrl-C ends it)"
        server = uvicorn.Server(uvicorn.Config(serving(settings, at), log_level="warning"))
        server.run(sockets=[listening])


def _notes_on_known(options: argparse.Namespace) -> tuple[Path, str]:
    """Where notes on the house are kept, and what is known of the appliance, in words.

    OptionError if no finished week of the house has it.
    """
    from nilm.appliances.analyst import check_id
    from nilm.appliances.catalogue import in_words, read_catalogue
    from nilm.recordings.ukdale import check_house

    data_root, house = _settings(options).data_root, check_house(options.house)
    catalogue = read_catalogue(
        data_root / "catalogue" / f"{house}.json", house, solutions_folder=data_root / "solutions" / house
    )
    known = catalogue.last()
    if not known:
        raise OptionError(f"{house} has no finished week below {data_root}; `nilm run` makes one")
    if check_id(options.appliance_id) not in known:
        raise OptionError(f"{house} has no {options.appliance_id}; there are {', '.join(sorted(known))}")
    return data_root / "names" / f"{house}.json", in_words(known[options.appliance_id])


def demo(options: argparse.Namespace) -> Lines:
    """Simulate a week unless it is there, work it out, and show the hopper at work on it."""
    from nilm.simulate.week import simulate_week, truth_path

    started = time.monotonic()
    settings = _settings(options)
    raw = settings.data_root / "raw"
    if not truth_path(raw, DEMO_HOUSE, DEMO_WEEK).is_file():
        simulate_week(raw, house=DEMO_HOUSE, week=DEMO_WEEK, seed=DEMO_SEED)
    yield from run(argparse.Namespace(house=DEMO_HOUSE, weeks=DEMO_WEEK, **_given(options)))
    yield from _hop_shown(_places(DEMO_HOUSE, DEMO_WEEK, settings)[0].outputs / "hopper.html")
    yield f"the demo took {time.monotonic() - started:.0f} s"


def _hop_shown(page: Path) -> Lines:
    """A plain baseline before and after the hop on small houses, in three lines and a page."""
    from nilm.experiments.hop_shown import show_hop, totals

    houses = show_hop(page)
    before, equivalent, tolerant, product = totals(houses)
    yield (
        f"a plain baseline (K-features) on {len(houses)} small houses: {before.upside_down} features upside "
        f"down, E_Hamm {before.hamming:.4f}"
    )
    yield (
        f"after the hop: {equivalent.upside_down}, {equivalent.hamming:.4f}; after the tolerant hop: "
        f"{tolerant.upside_down}, {tolerant.hamming:.4f}; the product: {product.upside_down}, "
        f"{product.hamming:.4f}"
    )
    yield f"in pictures: {page}"


def _places(house: str, week: str, settings: Settings) -> list[Any]:
    from flows.weeks import places

    return places(
        house,
        week,
        data_root=settings.data_root,
        outputs_root=settings.outputs_root,
        is_current=lambda place: settings.pipeline(place).why_redo() is None,
    )


def _outcome(summary: dict[str, Any]) -> Lines:
    """A week in three lines."""
    left = summary["unexplained_kwh"]
    yield (
        f"{summary['house']} {summary['week']}: {summary['appliances']} appliances, "
        f"{summary['metered_kwh']:.1f} kWh metered, "
        f"{abs(left):.1f} kWh {'counted too much' if left < -0.05 else 'unexplained'}, "
        f"{summary['coverage']:.1%} of the week recorded"
    )
    if summary["hamming_after"] is not None:
        yield (
            f"against the simulator's truth: E_Hamm {summary['hamming_before']:.4f} before the hopper, "
            f"{summary['hamming_after']:.4f} after"
        )
    if summary["energy_error"] is not None:
        yield f"energy error per appliance, matched: {summary['energy_error']:.1%}"


def _table(rows: list[dict[str, Any]]) -> Lines:
    """The summary of a backfill, one line per week."""
    for row in rows:
        place = f"{row['house']} {row['week']}"
        if "metered_kwh" in row:
            yield f"{place}  {row['outcome']}  {row['metered_kwh']:.1f} kWh  {row['appliances']} appliances"
        else:
            yield f"{place}  {row['outcome']}"
