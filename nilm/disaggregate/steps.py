"""A week's waveforms become a solution on disk, in two steps: factorise, then hop.

Owns the two steps from path to path, their options and their manifest
(`data/solutions/<house>/<week>/manifest.json`); the work is that of `house` and `hopping` beside it. The
same inputs, options and code give the same bytes, and a step whose outputs are current does nothing.
"""

import logging
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np

from nilm import versions
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
    callback: Callback | None = None,
) -> Path:
    """`out_path`, after it holds the estimator's solution of the week (a `Factorised`).

    NothingUsableError if the week has no usable rows.
    """
    check_house(house)
    Week.parse(week)
    step = Step("factorise", {"waveforms": digest(waveforms_path)}, asdict(options), versions.FACTORISE)
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


def _is_current(out_path: Path, step: Step, label: str) -> bool:
    remove_stale(out_path.parent)
    reason = why_redo(out_path.parent / "manifest.json", step)
    log.info("%s: %s", label, f"{step.name}: {reason}" if reason else f"{step.name} is current")
    return reason is None
