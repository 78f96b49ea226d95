"""From the estimator's answer to the most plausible equivalent, with its diagnosis and how sure it is.

Owns which estimates hop tolerantly, and how features that vary stay as they are while the others hop.
"""

from dataclasses import replace
from typing import Any

import numpy as np
from scipy.linalg import block_diag

from lfm import (
    Correction,
    CorrectionKind,
    Hop,
    Solution,
    at_noise_floor,
    diagnose,
    enumerate_candidates,
    find_signal,
)
from lfm.arrays import BinaryArray, BoolArray, FloatArray
from lfm.threads import one_thread
from nilm.choices import SHAPES
from nilm.disaggregate.confidence import judge_features
from nilm.disaggregate.disaggregation import Disaggregation, Factorised, sizes
from nilm.disaggregate.evidence import Fit
from nilm.disaggregate.first_solution import share_left_over
from nilm.disaggregate.house_priors import Setting, feeds_in, most_plausible
from nilm.disaggregate.unfit_rows import rows_with_state
from nilm.disaggregate.voltage_response import at_steady_voltage, per_row
from nilm.options import check_prior
from nilm.thresholds import HOUSE
from nilm.timeline import gaps_of_rows, row_durations

# These decide a row's states together with those of the rows around it; to repair rows one by one, as a
# tolerant hop does, would undo that.
DECODED_IN_TIME = ("switching", SHAPES)
GIVES_WORDS = (
    "A feature comes out with {:.0f} W, though nothing in this house feeds in: the estimator is wrong there, "
    "and so is whatever runs against it."
)
REPAIRED_WORDS = "The hop also repaired rows: ‖X − ZW‖ went from {:.3g} to {:.3g} A."


@one_thread
def hop_house(
    factorised: Factorised,
    current: FloatArray,
    voltage: FloatArray,
    *,
    gap_before: BoolArray,
    duration_s: FloatArray | None = None,
    prior: str = "house",
    seed: int = 0,
) -> Disaggregation:
    """The most plausible equivalent of what was found in `current` (N, D), by the prior "house" or "paper".

    `duration_s` (N,) is the time that each row stands for; None where all stand for the same.

    An estimate that looked at each row by itself may have wrong bits, and then few exact equivalents: its hop
    tolerates some, and is kept only where the fit and the priors together gain (`lfm.hop_tolerantly`). The
    estimates of DECODED_IN_TIME, and any beside a load that varies, hop to exact equivalents alone. Either
    way what is left over grows by 1% at most.

    The house's priors carry weights. Where the evidence of the on/off times, which has none, finds their
    choice less plausible than the start, the hop is made again by that evidence: a right answer stays.
    """
    check_prior(prior)
    amplitude, fitted = factorised.amplitude, factorised.in_fit
    switched, left_a, feeding = _what_switches(factorised, current, voltage, gap_before)
    rows = factorised.row[fitted]
    gaps, V = gaps_of_rows(rows, gap_before), per_row(voltage, rows)
    mean_v = V.mean(axis=0)
    X = at_steady_voltage(left_a[rows], V, gaps)
    start = Solution(switched.Z[fitted], switched.W)
    sun = amplitude is not None and factorised.feeds_in
    # Sources taken apart by their sizes have very many equivalents; a budget keeps a week within seconds.
    budget = {"max_nodes": HOUSE.nodes_beside_varying} if amplitude is not None and not sun else {}
    tolerant = amplitude is None and factorised.estimator not in DECODED_IN_TIME
    notes = list(factorised.notes)
    setting = Setting(gaps, mean_v, feeds_in=feeding, in_the_sun=sun)
    strict = None if tolerant else enumerate_candidates(start.Z, **budget)
    rng = np.random.default_rng(seed)
    found, words = most_plausible(start, X, prior, setting, strict=strict, rng=rng, notes=notes)
    repaired = _after_repair(start, found.solution, X, gaps, mean_v) if tolerant else {}
    notes.extend(repaired.get("notes", ()))
    if not found.complete:
        notes.append("The search for equivalent explanations ended at its budget; there may be more.")
    hop = _with_varying(found, _in_all_rows(found.solution, factorised, switched.Z, mean_v))
    Z, W = hop.solution.Z, hop.solution.W
    n = found.solution.K  # those that vary have no residual of their own: they were taken off `current`
    fit = Fit(
        residual_a=X - Z[fitted, :n] @ W[:n],
        sizes=sizes(Z, amplitude)[fitted],
        W=W,
        watts=W @ mean_v / len(mean_v),
        support=hop.support,
        voltage_v=mean_v,
        gap_before=gaps,
        duration_s=row_durations(duration_s, factorised.interval_s, len(current))[rows],
        **_kind_of_week(factorised),
    )
    judged = _judged(fit, factorised, notes)
    return Disaggregation(
        **vars(factorised) | repaired | {"notes": tuple(notes)},
        **judged,
        **_residuals(factorised, hop.solution, current[rows]),
        hop=hop,
        diagnosis=diagnose(found.solution.Z, found.solution.W, **budget),
        priors=words,
    )


def _kind_of_week(whole: Factorised) -> dict[str, Any]:
    """What tells a fit how its week was explained."""
    return {
        "n_varying": whole.n_varying,
        "feeds_in": whole.feeds_in,
        "as_shapes": whole.estimator == SHAPES,
    }


def _judged(fit: Fit, whole: Factorised, notes: list[str]) -> dict[str, Any]:
    """What the record says of each feature (watts, how sure it is), and of what nothing explains."""
    judged = judge_features(fit)
    gives = np.zeros(len(fit.watts), bool) if whole.feeds_in else _gives_power(fit.W, fit.voltage_v)
    if gives.any():
        notes.append(GIVES_WORDS.format(float(fit.watts[gives].min())))
    left_w = np.full(len(whole.row), np.nan)
    left_w[whole.in_fit] = fit.residual_a @ fit.voltage_v / len(fit.voltage_v)
    return {
        "watts": fit.watts,
        "evidence": judged.evidence,
        "sure": np.where(gives, 0.0, judged.sure),
        "runs": judged.runs.among(np.flatnonzero(whole.in_fit)),
        "left_w": left_w,
    }


def _residuals(whole: Factorised, solution: Solution, seen: FloatArray) -> dict[str, Any]:
    """What baseline and `solution` leave of the current `seen` (N, D) in the rows of the fit."""
    before, after = (
        float(np.linalg.norm(seen - (sizes(s.Z, whole.amplitude) @ s.W)[whole.in_fit]))
        for s in (whole.baseline, solution)
    )
    relative = after / max(float(np.linalg.norm(seen)), np.finfo(float).tiny)
    return {"residual_before": before, "residual_after": after, "relative_residual": relative}


def _what_switches(
    whole: Factorised, current: FloatArray, voltage: FloatArray, gap_before: BoolArray
) -> tuple[Solution, FloatArray, bool]:
    """The features that are on or off, the current that is left to them (N, D), and whether it feeds in."""
    if whole.amplitude is None:
        return whole.baseline, current, whole.feeds_in
    n = whole.baseline.K - whole.n_varying
    left = current.copy()
    left[whole.row] -= whole.amplitude @ whole.baseline.W[n:]
    # What is left most likely consumes, also in a house with a generator.
    feeding = whole.feeds_in and feeds_in(
        left[whole.row], per_row(voltage, whole.row), gaps_of_rows(whole.row, gap_before)
    )
    return Solution(whole.baseline.Z[:, :n], whole.baseline.W[:n]), left, feeding


def _in_all_rows(found: Solution, whole: Factorised, states: BinaryArray, mean_v: FloatArray) -> Solution:
    """The hopped features in all rows, and those that vary, last.

    `states` (M, K) are those of the estimate. A row that was decoded after the fit had the state of some row
    of the fit, and gets that row's new state.
    """
    Z = found.Z[rows_with_state(states[whole.in_fit], states)]
    Z[whole.in_fit] = found.Z  # rows of one state may differ after a repair
    if whole.amplitude is None:
        return Solution(Z, found.W)
    varying = whole.baseline.W[-whole.n_varying :]
    W = _consuming(found.W, varying[-1], mean_v) if whole.feeds_in else found.W
    return Solution(np.column_stack([Z, whole.baseline.Z[:, -whole.n_varying :]]), np.vstack([W, varying]))


def _after_repair(
    start: Solution, found: Solution, X: FloatArray, gaps: BoolArray, mean_v: FloatArray
) -> dict[str, Any]:
    """What a tolerant hop changed in the record beside Z and W: nothing where it kept the product ZW."""
    before_a, after_a = start.residual(X), found.residual(X)
    if abs(after_a - before_a) <= 1e-9 * before_a:
        return {}
    explained = found.product()
    return {
        "notes": (REPAIRED_WORDS.format(before_a, after_a),),
        "at_noise_floor": at_noise_floor(X - explained, find_signal(X, gaps).noise),
        "left_over": share_left_over(X, explained, mean_v),
    }


def _with_varying(found: Hop, solution: Solution) -> Hop:
    """A hop between features that are on or off, as one of `solution`, whose other, last features vary.

    Those are in every equivalent explanation as they were found.
    """
    n = found.solution.K
    last = range(n, solution.K)
    itself = [((k, 1.0),) for k in last]
    return replace(
        found,
        solution=solution,
        U=block_diag(found.U, np.eye(len(last))),
        support=np.append(found.support, np.ones(len(last))),
        corrections=(
            *found.corrections,
            *(
                Correction(k, CorrectionKind.UNCHANGED, terms, terms, exact=True)
                for k, terms in zip(last, itself, strict=True)
            ),
        ),
    )


def _gives_power(W: FloatArray, voltage_v: FloatArray) -> BoolArray:
    """(K,) which waveforms W (K, D) feed in, by more than a reactive current does that is slightly off."""
    apparent = np.linalg.norm(W, axis=1) * np.linalg.norm(voltage_v)
    return np.asarray(W @ voltage_v < -HOUSE.reactive * apparent)


def _consuming(W: FloatArray, sun: FloatArray, mean_v: FloatArray) -> FloatArray:
    """W (K, D) with no watts where they came out negative within their doubt: the sun has them."""
    watts = W @ mean_v
    missing = np.where((watts < 0) & (watts >= -HOUSE.sunny_w * len(mean_v)), watts, 0.0)
    return np.asarray(W - np.outer(missing / (sun @ mean_v), sun), dtype=np.float64)
