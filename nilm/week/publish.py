"""A hopped week becomes what analysts read: `outputs/<house>/<week>/`, and the index of all weeks.

Owns which inputs a report has, and that its files appear together or not at all. The content is `build`'s,
the formats are `files`', the page is `nilm.report`'s.

The catalogue is read for ids and names, but it is no input in the manifest's sense: a week's ids are decided
once and kept in its own `identity.json`, so a catalogue that grows, is lost or rebuilt remakes no report.
"""

import logging
import math
from collections.abc import Mapping
from dataclasses import asdict, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from lfm.threads import one_thread
from nilm import versions
from nilm.appliances.analyst import read_notes
from nilm.appliances.catalogue import Catalogue, read_catalogue, write_catalogue
from nilm.appliances.scores import Truth, read_truth
from nilm.disaggregate.disaggregation import Disaggregation, load_disaggregation
from nilm.errors import InputFileError
from nilm.files import MADE_ANEW, canonical_json, remove_stale, write_text
from nilm.manifest import Step, replace_outputs, why_redo
from nilm.marks import PUBLISH_STEP, report_marks
from nilm.options import PublishOptions
from nilm.paths import WeekPaths
from nilm.recordings.missing import hours_without_result, missing_spans, span_json
from nilm.recordings.quality import read_quality
from nilm.recordings.submeters import read_submeters
from nilm.recordings.tables import WeekTable, read_week
from nilm.recordings.ukdale import check_house
from nilm.report.index import render_house, render_index, years_of
from nilm.report.page import render_report
from nilm.report.summary import read_earlier, week_summary
from nilm.results import Quality, WeekResult
from nilm.timeline import DAY_S
from nilm.week.build import MeteredRows, Surroundings, build_week
from nilm.week.files import week_files

log = logging.getLogger(__name__)

WEEK_S = 7 * DAY_S
VERSIONED = ("nilm-hopper", "numpy", "scipy", "scikit-learn", "numba", "pyarrow")


@one_thread
def publish_week(paths: WeekPaths, options: PublishOptions) -> Path:
    """The path of the report, after the week's outputs are current and the week is in the catalogue.

    Nothing is done if the manifest says that all is current. Submeters, a simulator's truth, the analyst's
    names and the catalogue need not exist. Publish the weeks of one house one after the other.
    """
    marks = report_marks(paths)  # before anything is read: see nilm.manifest
    step = Step(PUBLISH_STEP, marks, asdict(options), versions.PUBLISH)
    for folder in (paths.outputs, paths.catalogue.parent, paths.names.parent):
        remove_stale(folder)
    reason = why_redo(paths.manifest, step)
    if reason is None:
        log.info("%s: the report is current", paths)
        return paths.report
    log.info("%s: making the report (%s)", paths, reason)
    hopped = load_disaggregation(paths.hopped)
    owner = f"{hopped.house} {hopped.week}"
    if owner != str(paths):
        raise InputFileError(f"{paths.hopped} is of {owner}, not of {paths}; {MADE_ANEW}")
    table = read_week(paths.waveforms)
    rows = _metered_rows(table, hopped)
    catalogue, usable, notes = _catalogue(paths)
    around = _surroundings(paths, hopped, table, rows, catalogue, notes=notes)
    result, record = build_week(
        hopped,
        rows,
        replace(around, provenance=_provenance(hopped, options, marks)),
        solution_digest=marks["hopped"],
        tariff_per_kwh=options.tariff_per_kwh,
        currency=options.currency,
        timezone=options.timezone,
        activation_options=options.activations(),
    )
    week = str(paths.week)
    write_catalogue(paths.identity, Catalogue(paths.house, {week: record}))
    if usable:
        write_catalogue(paths.catalogue, catalogue.with_week(week, record))
    files = week_files(result)
    files["report.html"] = render_report(result, read_earlier(paths.outputs)).encode("utf-8")
    files["summary.json"] = canonical_json(week_summary(result)).encode("utf-8")
    replace_outputs(paths.manifest, step, files, result=_summary(result))
    return paths.report


def _surroundings(
    paths: WeekPaths,
    hopped: Disaggregation,
    table: WeekTable,
    rows: MeteredRows,
    catalogue: Catalogue,
    *,
    notes: tuple[str, ...],
) -> Surroundings:
    """What is known besides the solution, read from where it lies; `notes` come before the submeters'."""
    submeters, submeter_notes = read_submeters(paths.house_folder, rows.start_utc, duration_s=rows.duration_s)
    truth, truth_notes = _truth(paths, rows, interval_s=hopped.interval_s)
    return Surroundings(
        quality=_quality(paths, table, hopped),
        catalogue=catalogue,
        analyst=read_notes(paths.names, paths.house),
        submeters=submeters,
        truth=truth,
        notes=(*notes, *submeter_notes, *truth_notes),
    )


def _truth(paths: WeekPaths, rows: MeteredRows, *, interval_s: float) -> tuple[Truth | None, tuple[str, ...]]:
    """A simulator's truth where there is one, and a note where it could not be read: a week needs none."""
    if not paths.truth.is_file():
        return None, ()
    try:
        return read_truth(paths.truth, rows.measured_utc, interval_s=interval_s), ()
    except InputFileError as error:
        log.warning("%s: not scored: %s", paths, error)
        return None, (f"The simulator's truth was left out: {error}",)


def publish_index(outputs_root: Path, house: str, year: int | None = None) -> Path:
    """The path of `outputs/index.html`, after every page that lists a week of `year` is current.

    Pages of other years are written where they are missing, and else left alone.
    """
    check_house(house)
    for folder in (outputs_root, outputs_root / house):
        remove_stale(folder)
    for other in years_of(outputs_root, house):
        page = outputs_root / house / f"{other}.html"
        if other == year or not page.is_file():
            write_text(page, render_house(outputs_root, house, other))
    write_text(outputs_root / house / "index.html", render_house(outputs_root, house))
    write_text(outputs_root / "index.html", render_index(outputs_root))
    return outputs_root / "index.html"


def _metered_rows(table: WeekTable, hopped: Disaggregation) -> MeteredRows:
    """What the meter saw in the solution's rows; InputFileError if the table is not the one it came from."""
    row = hopped.row
    if len(row) == 0 or int(row.max()) >= len(table):
        raise InputFileError(
            f"the solution of {hopped.house} {hopped.week} has rows that its waveforms "
            "lack; factorise the week again"
        )
    return MeteredRows(
        start_utc=table.start_utc[row],
        duration_s=table.duration_s[row],
        measured_utc=table.measured_utc[row],
        metered_w=table.active_w[row],
        voltage_v=table.voltage_v[row].mean(axis=0, dtype=np.float64),
        mains_hz=table.mains_hz[row],
        rms_v=table.rms_v[row],
        inrush=table.inrush[row],
        inrush_s=table.inrush_s[row],
    )


def _quality(paths: WeekPaths, table: WeekTable, hopped: Disaggregation) -> Quality:
    """The ingest's quality, with what became of the rows that were unfit for the fit.

    Coverage is that of the rows whose energy is in the totals: one that could not be read is not covered.
    """
    ingested = read_quality(paths.quality)
    row = hopped.row
    missing = missing_spans(paths.week, table, row, ingested.gaps)
    quality = replace(
        ingested.as_result(),
        coverage=float(table.duration_s[row].sum()) / WEEK_S,
        hours_missing=hours_without_result(paths.week, missing),
        missing=tuple(map(span_json, missing)),
    )
    if not quality.rows_flagged:
        return quality
    decoded = int(np.count_nonzero(~hopped.in_fit))
    lost = quality.rows_flagged - decoded
    words = f"{quality.rows_flagged} rows were left out of the fit; {decoded} of them were read afterwards"
    words += f", {lost} fit no combination of appliances and count as missing." if lost else "."
    return replace(quality, notes=(*quality.notes, words))


def _catalogue(paths: WeekPaths) -> tuple[Catalogue, bool, tuple[str, ...]]:
    """The catalogue, whether it may be written, and a note where it could not be used."""
    solutions = paths.solutions.parent
    try:
        return (
            read_catalogue(paths.catalogue, paths.house, solutions_folder=solutions, week=str(paths.week)),
            True,
            (),
        )
    except InputFileError as error:
        log.warning("%s: the catalogue is not used: %s", paths.house, error)
        own = read_catalogue(None, paths.house, solutions_folder=solutions, week=str(paths.week))
        return own, False, (f"The catalogue of earlier weeks was not used: {error}",)


def _provenance(hopped: Disaggregation, options: PublishOptions, inputs: Mapping[str, str]) -> dict[str, Any]:
    """What the page says of how it was made: nothing in it depends on when or where."""
    return {
        "estimator": hopped.estimator,
        "seed": hopped.seed,
        "components": hopped.baseline.K,
        "priors": hopped.priors,
        "options": asdict(options),
        "versions": {name: version(name) for name in VERSIONED},
        "steps": {
            "ingest": versions.INGEST,
            "factorise": versions.FACTORISE,
            "hop": versions.HOP,
            "publish": versions.PUBLISH,
        },
        # A fingerprint holds a time of modification: it decides a rerun, but a page must not depend on it.
        "inputs": {name: mark for name, mark in inputs.items() if mark.startswith("sha256:")},
    }


def _summary(result: WeekResult) -> dict[str, Any]:
    """A few numbers for whoever lists many weeks."""
    scores = result.scores
    return {
        "house": result.house,
        "week": result.week,
        "metered_kwh": result.metered_kwh,
        "unexplained_kwh": result.unexplained_kwh,
        "appliances": len(result.appliances),
        "coverage": result.quality.coverage,
        "hamming_before": scores.hamming_before if scores else None,
        "hamming_after": scores.hamming_after if scores else None,
        "energy_error": scores.energy_error if scores and math.isfinite(scores.energy_error) else None,
        "provenance": dict(result.provenance),
    }
