"""Waveforms to appliances' on/off times: estimator, then the hop with the house's priors, then the diagnosis.

Owns the choice of estimator, what happens to rows that are unfit for a fit, and which of two explanations is
kept. It works on arrays; `nilm.disaggregate_week` does the same from file to file.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lfm import Hop, Identifiability, Prior, Solution, diagnose, hop, merge_twins, separate_siblings
from nilm.activations import gaps_before
from nilm.errors import NothingUsableError, OptionError
from nilm.estimate import (
    Callback,
    check_components,
    check_estimator,
    fit_estimator,
    independent,
    refitted_if_poor,
    warmer,
    with_misfits_decoded,
    without_traces,
)
from nilm.house_priors import evidence_priors, feeds_in, house_priors, paper_priors, price
from nilm.results import FloatArray, TimeArray
from nilm.unfit_rows import rows_with_state, states_of_unfit

PRIORS = ("house", "paper")
MIN_ROWS = 2
# Two waveforms closer than this are one appliance whose activations differ by a percent or two; two sizes fit
# those better than one, which proves nothing, so the residual may rise by the slack.
TWINS, TWINS_SLACK = 0.03, 0.25


@dataclass(frozen=True, eq=False)
class Factorisation:
    """What the estimator found, before any hop."""

    solution: Solution  # Z (M, K), W (K, D) amperes
    row: NDArray[np.int64]  # (M,) rows of the input that could be fitted or decoded
    in_fit: NDArray[np.bool_]  # (M,) False for a row decoded afterwards
    gap_before: NDArray[np.bool_]  # (M,)
    estimator: str
    at_noise_floor: bool | None
    feeds_in: bool
    notes: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Disaggregation:
    """Who was on when, and what each draws."""

    baseline: Solution  # the estimator's, over the rows `row`
    hop: Hop  # over the rows of the fit
    solution: Solution  # the hopped one, over the rows `row`
    diagnosis: Identifiability  # of the hopped one, over the rows of the fit
    watts: FloatArray  # (K,) mean of voltage × current
    priors: str  # what decided between equivalent explanations, in words
    row: NDArray[np.int64]  # (M,) rows of the input
    in_fit: NDArray[np.bool_]  # (M,)
    at_noise_floor: bool | None
    feeds_in: bool
    notes: tuple[str, ...]


def disaggregate(
    current_a: ArrayLike,
    voltage_v: ArrayLike,
    *,
    components: int | str = "auto",
    estimator: str = "auto",
    interval_s: float = 120,
    seed: int = 0,
    start_utc: TimeArray | None = None,
    fit_for_use: ArrayLike | None = None,
    prior: str = "house",
    warm_start: ArrayLike | None = None,
    callback: Callback | None = None,
) -> Disaggregation:
    """The appliances in current_a (N, D) amperes, one mains cycle per row, voltage_v (D,) or (N, D) volts.

    `start_utc` (N,) tells gaps between rows `interval_s` apart; without it every row follows the one before.
    `fit_for_use` (N,) False leaves a row out of the fit; it is decoded afterwards where it is close to a
    state that was seen. Rows with NaN are left out altogether. `components` is an upper bound or "auto";
    `warm_start` (K, D) are waveforms to try before the estimator.
    """
    current, voltage = _checked(current_a, voltage_v)
    times = start_utc
    if times is None:
        times = np.datetime64(0, "ns") + np.arange(len(current)) * np.timedelta64(
            round(interval_s * 1e9), "ns"
        )
    factorisation = factorise(
        current,
        voltage,
        gap_before=gaps_before(times, interval_s),
        components=components,
        estimator=estimator,
        seed=seed,
        fit_for_use=fit_for_use,
        warm_start=warm_start,
        callback=callback,
    )
    return hop_house(factorisation, current, voltage, prior=prior, seed=seed)


def factorise(
    current: FloatArray,
    voltage: FloatArray,
    *,
    gap_before: NDArray[np.bool_],
    components: int | str = "auto",
    estimator: str = "auto",
    seed: int = 0,
    fit_for_use: ArrayLike | None = None,
    warm_start: ArrayLike | None = None,
    callback: Callback | None = None,
) -> Factorisation:
    """The estimator's solution for current (N, D) with voltage (D,) or (N, D); see `disaggregate`."""
    name = check_estimator(estimator)
    check_components(components)
    finite = np.isfinite(current).all(axis=1)
    fit_for_use = np.ones(len(current), bool) if fit_for_use is None else np.asarray(fit_for_use, bool)
    use: NDArray[np.bool_] = np.logical_and(finite, fit_for_use)
    fit_rows = np.flatnonzero(use)
    if len(fit_rows) < MIN_ROWS:
        raise NothingUsableError(
            f"{len(fit_rows)} of {len(current)} rows are fit for use; at least {MIN_ROWS} are needed: the "
            "quality of the week says why rows were left out"
        )
    X = current[fit_rows]
    notes: list[str] = []
    gaps = _gaps_of(fit_rows, gap_before)
    solution, at_noise_floor = fit_estimator(X, gaps, name, components, seed, callback, notes)
    solution = without_traces(independent(solution, notes), notes)
    generator = feeds_in(np.mean(X * _per_row(voltage, fit_rows), axis=1))
    mean_v = _per_row(voltage, fit_rows).mean(axis=0)
    solution = _without_twins(solution, X, house_priors(gaps, mean_v, feeds_in=generator)[0], notes)
    solution = with_misfits_decoded(solution, X)
    if name == "switching":
        solution = independent(separate_siblings(solution, X, gap_before=gaps), notes)
    solution = refitted_if_poor(solution, X, notes)
    if warm_start is not None:
        solution = warmer(solution, X, warm_start, notes)
    if isinstance(components, int) and components > solution.K:
        notes.append(
            f"{components} appliances were asked for; the data holds {solution.K} that can be told apart."
        )
    if generator:
        notes.append(
            "Power flows out of the house at times: a generator (solar panels) is among the appliances, and "
            "its negative watts are meant."
        )
    unfit_rows = np.flatnonzero(finite & ~use)
    same_state = states_of_unfit(solution, X, current[unfit_rows])
    row = np.concatenate([fit_rows, unfit_rows[same_state >= 0]])
    Z = np.concatenate([solution.Z, solution.Z[same_state[same_state >= 0]]])
    order = np.argsort(row)
    row = row[order]
    return Factorisation(
        solution=Solution(Z[order], solution.W),
        row=row,
        in_fit=use[row],
        gap_before=_gaps_of(row, gap_before),
        estimator=name,
        at_noise_floor=at_noise_floor,
        feeds_in=generator,
        notes=tuple(notes),
    )


def _without_twins(solution: Solution, X: FloatArray, priors: list[Prior], notes: list[str]) -> Solution:
    """The solution with each appliance in one feature; a hop shows twins that a sum had hidden.

    Where it does, the baseline that scores and corrections compare with is already a hopped one.
    """
    merged = independent(merge_twins(solution, X, tolerance=TWINS, slack=TWINS_SLACK), notes)
    shown = merge_twins(hop(merged, priors=priors).solution, X, tolerance=TWINS, slack=TWINS_SLACK)
    return independent(shown if shown.K < merged.K else merged, notes)


def hop_house(
    factorisation: Factorisation,
    current: FloatArray,
    voltage: FloatArray,
    *,
    prior: str = "house",
    seed: int = 0,
) -> Disaggregation:
    """The most plausible equivalent of a factorisation of `current` (N, D), by the prior "house" or "paper".

    The house's priors carry weights. Where the evidence of the on/off times, which has none, finds their
    choice less plausible than the start, the hop is made again by that evidence: a right answer stays.
    """
    if prior not in PRIORS:
        raise OptionError(f"prior must be one of {', '.join(PRIORS)}; got {prior!r}")
    fitted = factorisation.in_fit
    rows = factorisation.row[fitted]
    X = current[rows]
    mean_v = _per_row(voltage, rows).mean(axis=0)
    gaps = _gaps_of(np.flatnonzero(fitted), factorisation.gap_before)
    baseline = Solution(factorisation.solution.Z[fitted], factorisation.solution.W)
    generator = factorisation.feeds_in
    priors, words = paper_priors() if prior == "paper" else house_priors(gaps, mean_v, feeds_in=generator)
    rng = np.random.default_rng(seed)
    found = hop(baseline, priors=priors, X=X, rng=rng)
    notes = list(factorisation.notes)
    if prior == "house":
        evidence, evidence_words = evidence_priors(gaps, mean_v, feeds_in=generator)
        if price(evidence, found.solution) > price(evidence, baseline):
            found, words = hop(baseline, priors=evidence, X=X, rng=rng), evidence_words
            notes.append("The usual weights would have made the on and off times less plausible.")
    if not found.complete:
        notes.append("The search for equivalent explanations ended at its budget; there may be more.")
    # A row that was decoded afterwards has the state of some row of the fit, and keeps its company.
    Z = found.solution.Z[rows_with_state(baseline.Z, factorisation.solution.Z)]
    return Disaggregation(
        baseline=factorisation.solution,
        hop=found,
        solution=Solution(Z, found.solution.W),
        diagnosis=diagnose(found.solution.Z, found.solution.W),
        watts=found.solution.W @ mean_v / len(mean_v),
        priors=words,
        row=factorisation.row,
        in_fit=fitted,
        at_noise_floor=factorisation.at_noise_floor,
        feeds_in=generator,
        notes=tuple(notes),
    )


def _checked(current_a: ArrayLike, voltage_v: ArrayLike) -> tuple[FloatArray, FloatArray]:
    current, voltage = np.asarray(current_a, dtype=np.float64), np.asarray(voltage_v, dtype=np.float64)
    if current.ndim != 2 or 0 in current.shape:
        raise OptionError(f"current_a must have shape (N, D), one cycle per row; got {current.shape}")
    if voltage.shape not in {current.shape, current.shape[1:]}:
        raise OptionError(
            f"voltage_v must have shape {current.shape[1:]} or {current.shape}, got {voltage.shape}"
        )
    if not np.isfinite(voltage).all():
        raise OptionError("voltage_v holds values that are NaN or infinite; leave those rows out of both")
    return current, voltage


def _per_row(voltage: FloatArray, rows: NDArray[np.int64]) -> FloatArray:
    return voltage[rows] if voltage.ndim == 2 else np.broadcast_to(voltage, (len(rows), len(voltage)))


def _gaps_of(rows: NDArray[np.int64], gap_before: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """gap_before for a selection of rows: True also where a row between two of them was left out."""
    stretch = np.cumsum(gap_before)
    breaks = (np.diff(rows) != 1) | (np.diff(stretch[rows]) != 0)
    return np.concatenate([[True], breaks])
