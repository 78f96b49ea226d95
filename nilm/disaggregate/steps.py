"""A week's waveforms become a solution on disk, in two steps: factorise, then hop.

Owns the two steps from path to path, their options and their manifest
(`data/solutions/<house>/<week>/manifest.json`); the work is that of `house` and `hopping` beside it. The
same inputs, options and code give the same bytes, and a step whose outputs are current does nothing.
"""

import hashlib
import logging
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np

from lfm.arrays import FloatArray
from nilm import versions
from nilm.appliances.catalogue import read_catalogue
from nilm.disaggregate.disaggregation import load_factorised, save_solution
from nilm.disaggregate.estimate import Callback
from nilm.disaggregate.hopping import hop_house
from nilm.disaggregate.house import factorise
from nilm.errors import InputFileError, NothingUsableError
from nilm.files import digest, remove_stale
from nilm.manifest import Step, record, why_redo
from nilm.options import FactoriseOptions, PriorOptions
from nilm.recordings.tables import read_week
from nilm.recordings.ukdale import Week, check_house

log = logging.getLogger(__name__)


def factorise_week(
    waveforms_path: Path,
    out_path: Path,
    options: FactoriseOptions,
    *,
    house: str,
    week: str,
    catalogue_path: Path | None = None,
    callback: Callback | None = None,
) -> Path:
    """`out_path`, after it holds the estimator's solution of the week (a `Factorised`).

    `catalogue_path` is read only for `options.warm_start`. NothingUsableError if the week has no usable rows.
    """
    check_house(house)
    Week.parse(week)
    inputs = {"waveforms": digest(waveforms_path)}
    warm_start = _warm_start(catalogue_path, house, week) if options.warm_start else None
    if warm_start is not None:  # not the catalogue as a whole: it grows with every week
        inputs["warm_start"] = hashlib.sha256(warm_start.tobytes()).hexdigest()
    step = Step("factorise", inputs, asdict(options), versions.FACTORISE)
    if _is_current(out_path, step, f"{house} {week}"):
        return out_path
    table = read_week(waveforms_path)
    if len(table) == 0:
        raise NothingUsableError(f"{waveforms_path} holds no rows; its quality file says why")
    found = factorise(
        table.current_a.astype(np.float64),
        table.voltage_v.astype(np.float64),
        gap_before=table.gap_before,
        duration_s=table.duration_s,
        interval_s=float(table.interval_s),
        components=options.components,
        estimator=options.estimator,
        seed=options.seed,
        fit_for_use=table.fit_for_use,
        warm_start=warm_start,
        callback=callback,
    )
    log.info("%s %s: %d appliances in %d rows", house, week, found.baseline.K, found.baseline.N)
    save_solution(out_path, replace(found, house=house, week=week))
    record(out_path.parent / "manifest.json", step, [out_path])
    return out_path


def hop_week(factorised_path: Path, out_path: Path, options: PriorOptions, *, waveforms_path: Path) -> Path:
    """`out_path`, after it holds the week's `Disaggregation`: the most plausible equivalent solution."""
    inputs = {"factorised": digest(factorised_path), "waveforms": digest(waveforms_path)}
    step = Step("hop", inputs, asdict(options), versions.HOP)
    factorised = load_factorised(factorised_path)
    if _is_current(out_path, step, f"{factorised.house} {factorised.week}"):
        return out_path
    table = read_week(waveforms_path)
    if len(factorised.row) == 0 or int(factorised.row.max()) >= len(table):
        raise InputFileError(f"{factorised_path} is not of {waveforms_path}: factorise the week again")
    found = hop_house(
        factorised,
        table.current_a.astype(np.float64),
        table.voltage_v.astype(np.float64),
        gap_before=table.gap_before,
        duration_s=table.duration_s,
        prior=options.prior,
        seed=options.seed,
    )
    save_solution(out_path, found)
    record(out_path.parent / "manifest.json", step, [out_path])
    return out_path


def _warm_start(catalogue_path: Path | None, house: str, week: str) -> FloatArray | None:
    """The waveforms (K, D) that the last week before this one had; None if there is none."""
    if catalogue_path is None or not catalogue_path.is_file():
        return None
    last = read_catalogue(catalogue_path, house).week_before(week)
    return np.stack([s.look.current_a for s in last.sightings]) if last and last.sightings else None


def _is_current(out_path: Path, step: Step, label: str) -> bool:
    remove_stale(out_path.parent)
    reason = why_redo(out_path.parent / "manifest.json", step)
    log.info("%s: %s", label, f"{step.name}: {reason}" if reason else f"{step.name} is current")
    return reason is None
