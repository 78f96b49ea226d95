"""A week's waveforms become a solution on disk, in two steps: factorise, then hop.

Owns the two steps from path to path, their options and their manifest
(`data/solutions/<house>/<week>/manifest.json`); the work is `nilm.disaggregate.house`'s. The same inputs,
options and code give the same bytes, and a step whose outputs are current does nothing.
"""

import hashlib
import logging
from dataclasses import asdict
from pathlib import Path

import numpy as np
from scipy.linalg import block_diag

from lfm import CorrectionKind, Solution
from nilm import versions
from nilm.appliances.catalogue import read_catalogue
from nilm.disaggregate.estimate import Callback
from nilm.disaggregate.house import Disaggregation, Factorisation, factorise, hop_house
from nilm.disaggregate.solutions import (
    Factorised,
    Hopped,
    load_factorised,
    save_factorised,
    save_hopped,
    sizes,
)
from nilm.errors import InputFileError, NothingUsableError
from nilm.files import digest, remove_stale
from nilm.manifest import Step, record, why_redo
from nilm.options import FactoriseOptions, HopOptions
from nilm.recordings.tables import read_week
from nilm.recordings.ukdale import Week, check_house
from nilm.results import FloatArray

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
        components=options.components,
        estimator=options.estimator,
        seed=options.seed,
        fit_for_use=table.fit_for_use,
        warm_start=warm_start,
        callback=callback,
    )
    log.info("%s %s: %d appliances in %d rows", house, week, found.solution.K, found.solution.N)
    factorised = Factorised(
        solution=found.solution,
        row=found.row,
        in_fit=found.in_fit,
        house=house,
        week=week,
        interval_s=float(table.interval_s),
        estimator=found.estimator,
        seed=options.seed,
        at_noise_floor=found.at_noise_floor,
        feeds_in=found.feeds_in,
        notes=found.notes,
        amplitude=found.amplitude,
        left_over=found.left_over,
    )
    save_factorised(out_path, factorised)
    record(out_path.parent / "manifest.json", step, [out_path])
    return out_path


def hop_week(factorised_path: Path, out_path: Path, options: HopOptions, *, waveforms_path: Path) -> Path:
    """`out_path`, after it holds the most plausible equivalent solution with its diagnosis (a `Hopped`)."""
    inputs = {"factorised": digest(factorised_path), "waveforms": digest(waveforms_path)}
    step = Step("hop", inputs, asdict(options), versions.HOP)
    factorised = load_factorised(factorised_path)
    if _is_current(out_path, step, f"{factorised.house} {factorised.week}"):
        return out_path
    table = read_week(waveforms_path)
    if len(factorised.row) == 0 or int(factorised.row.max()) >= len(table):
        raise InputFileError(f"{factorised_path} is not of {waveforms_path}: factorise the week again")
    current = table.current_a.astype(np.float64)
    found = hop_house(
        Factorisation(
            solution=factorised.solution,
            row=factorised.row,
            in_fit=factorised.in_fit,
            gap_before=table.take(factorised.row).gap_before,
            estimator=factorised.estimator,
            at_noise_floor=factorised.at_noise_floor,
            feeds_in=factorised.feeds_in,
            notes=factorised.notes,
            amplitude=factorised.amplitude,
            left_over=factorised.left_over,
        ),
        current,
        table.voltage_v.astype(np.float64),
        prior=options.prior,
        seed=options.seed,
    )
    save_hopped(out_path, _hopped(factorised, found, current[factorised.row[factorised.in_fit]]))
    record(out_path.parent / "manifest.json", step, [out_path])
    return out_path


def _hopped(factorised: Factorised, found: Disaggregation, X: FloatArray) -> Hopped:
    diagnosis = found.diagnosis
    assert diagnosis.rank_W is not None
    fitted = factorised.in_fit

    def residual(solution: Solution) -> float:
        return float(np.linalg.norm(X - (sizes(solution.Z, found.amplitude) @ solution.W)[fitted]))

    before, after = residual(factorised.solution), residual(found.solution)
    U, support = found.hop.U, found.hop.support
    corrections = [(c.kind.value, c.on_terms, c.feature_terms) for c in found.hop.corrections]
    varying = 0 if found.amplitude is None else found.amplitude.shape[1]
    for _ in range(varying):  # it is in every explanation as it was found
        U, support = block_diag(U, [1.0]), np.append(support, 1.0)
        itself = ((len(corrections), 1.0),)
        corrections.append((CorrectionKind.UNCHANGED.value, itself, itself))
    return Hopped(
        factorised=factorised,
        solution=found.solution,
        U=U,
        support=support,
        sure=found.sure,
        corrections=tuple(corrections),
        priors=found.priors,
        objective_before=float(found.hop.objective_before),
        objective_after=float(found.hop.objective_after),
        residual_before=before,
        residual_after=after,
        relative_residual=after / max(float(np.linalg.norm(X)), np.finfo(float).tiny),
        identifiable=diagnosis.identifiable,
        n_equivalent=int(diagnosis.n_equivalent),
        n_equivalent_is_exact=diagnosis.n_equivalent_is_exact,
        dependencies=tuple((i, j, pdc.name) for i, j, pdc in diagnosis.dependencies),
        bias_features=diagnosis.bias_features,
        rank_Z=diagnosis.rank_Z + varying,
        rank_W=diagnosis.rank_W + varying,
        notes=found.notes[len(factorised.notes) :],
    )


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
