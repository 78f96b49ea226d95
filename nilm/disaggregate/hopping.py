"""From the estimator's answer to the most plausible equivalent, with its diagnosis and how sure it is.

Owns which estimates hop tolerantly, and how features that vary stay as they are while the others hop.
"""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
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
from lfm.arrays import FloatArray
from lfm.threads import one_thread
from nilm.disaggregate.confidence import judge_features
from nilm.disaggregate.disaggregation import Disaggregation, Factorised, sizes
from nilm.disaggregate.estimate import SHAPES
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
    gap_before: NDArray[np.bool_],
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
    whole, amplitude, generator = factorised, factorised.amplitude, factorised.feeds_in
    whole_current = current
    if amplitude is not None:  # what is left is on or off, and most likely consumes
        current = current.copy()
        current[whole.row] -= amplitude @ whole.baseline.W[-amplitude.shape[1] :]
        left = current[whole.row], per_row(voltage, whole.row), gaps_of_rows(whole.row, gap_before)
        generator = generator and feeds_in(*left)
        factorised = whole.switched()
    fitted = factorised.in_fit
    rows = factorised.row[fitted]
    mean_v = per_row(voltage, rows).mean(axis=0)
    gaps = gaps_of_rows(rows, gap_before)
    X = at_steady_voltage(current[rows], per_row(voltage, rows), gaps)
    baseline = Solution(factorised.baseline.Z[fitted], factorised.baseline.W)
    sun = amplitude is not None and whole.feeds_in
    # Sources taken apart by their sizes have very many equivalents; a budget keeps a week within seconds.
    budget = {"max_nodes": HOUSE.nodes_beside_varying} if amplitude is not None and not sun else {}
    tolerant = amplitude is None and factorised.estimator not in DECODED_IN_TIME
    strict = None if tolerant else enumerate_candidates(baseline.Z, **budget)
    notes = list(factorised.notes)
    found, words = most_plausible(
        baseline,
        X,
        prior,
        Setting(gaps, mean_v, feeds_in=generator, in_the_sun=sun),
        strict=strict,
        rng=np.random.default_rng(seed),
        notes=notes,
    )
    repaired = _after_repair(baseline, found.solution, X, gaps, mean_v) if tolerant else {}
    notes.extend(repaired.get("notes", ()))
    if not found.complete:
        notes.append("The search for equivalent explanations ended at its budget; there may be more.")
    # A row that was decoded afterwards has the state of some row of the fit, and keeps its company.
    Z = found.solution.Z[rows_with_state(baseline.Z, factorised.baseline.Z)]
    Z[fitted] = found.solution.Z  # rows of one state may differ after a repair
    W = found.solution.W
    if amplitude is not None:
        varying = whole.baseline.W[-amplitude.shape[1] :]
        Z = np.column_stack([Z, whole.baseline.Z[:, -amplitude.shape[1] :]])
        W = np.vstack([_consuming(W, varying[-1], mean_v) if sun else W, varying])
    whole_hop = _with_varying(found, Solution(Z, W))
    watts = W @ mean_v / len(mean_v)
    left_a = X - Z[fitted, : found.solution.K] @ W[: found.solution.K]
    left_w = np.full(len(fitted), np.nan)
    left_w[fitted] = left_a @ mean_v / len(mean_v)
    judged = judge_features(
        Fit(
            residual_a=left_a,
            sizes=sizes(Z, amplitude)[fitted],
            W=W,
            watts=watts,
            support=whole_hop.support,
            voltage_v=mean_v,
            gap_before=gaps,
            duration_s=row_durations(duration_s, whole.interval_s, len(current))[rows],
            n_varying=whole.n_varying,
            left_over=repaired.get("left_over", whole.left_over),
            feeds_in=whole.feeds_in,
            as_shapes=whole.estimator == SHAPES,
        )
    )
    gives = np.zeros(len(watts), bool) if whole.feeds_in else _gives_power(W, mean_v)
    if gives.any():
        notes.append(GIVES_WORDS.format(float(watts[gives].min())))
    seen_in_fit = whole_current[rows]
    before, after = (
        float(np.linalg.norm(seen_in_fit - (sizes(s.Z, amplitude) @ s.W)[fitted]))
        for s in (whole.baseline, whole_hop.solution)
    )
    return Disaggregation(
        **vars(whole) | repaired | {"notes": tuple(notes)},
        hop=whole_hop,
        diagnosis=diagnose(found.solution.Z, found.solution.W, **budget),
        watts=watts,
        evidence=judged.evidence,
        sure=np.where(gives, 0.0, judged.sure),
        runs=judged.runs.among(np.flatnonzero(fitted)),
        left_w=left_w,
        priors=words,
        residual_before=before,
        residual_after=after,
        relative_residual=after / max(float(np.linalg.norm(seen_in_fit)), np.finfo(float).tiny),
    )


def _after_repair(
    start: Solution, found: Solution, X: FloatArray, gaps: NDArray[np.bool_], mean_v: FloatArray
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


def _gives_power(W: FloatArray, voltage_v: FloatArray) -> NDArray[np.bool_]:
    """(K,) which waveforms W (K, D) feed in, by more than a reactive current does that is slightly off."""
    apparent = np.linalg.norm(W, axis=1) * np.linalg.norm(voltage_v)
    return np.asarray(W @ voltage_v < -HOUSE.reactive * apparent)


def _consuming(W: FloatArray, sun: FloatArray, mean_v: FloatArray) -> FloatArray:
    """W (K, D) with no watts where they came out negative within their doubt: the sun has them."""
    watts = W @ mean_v
    missing = np.where((watts < 0) & (watts >= -HOUSE.sunny_w * len(mean_v)), watts, 0.0)
    return np.asarray(W - np.outer(missing / (sun @ mean_v), sun), dtype=np.float64)
