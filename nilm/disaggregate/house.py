"""Waveforms to appliances' on/off times: estimator, then the hop with the house's priors, then the diagnosis.

Owns the choice of estimator, what happens to rows that are unfit for a fit, and which of two explanations is
kept. It works on arrays; `nilm.disaggregate.steps` does the same from file to file.
"""

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray
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
    hop,
)
from nilm.appliances.naming import power_words
from nilm.disaggregate.confidence import judge_features
from nilm.disaggregate.disaggregation import Disaggregation, Factorised, sizes
from nilm.disaggregate.estimate import SHAPES, Callback, warmer
from nilm.disaggregate.evidence import Fit
from nilm.disaggregate.feed_in import completed, first_amplitude, with_generator
from nilm.disaggregate.first_solution import Way, explain, fewer, share_left_over, solve_beside
from nilm.disaggregate.generator import find_generator
from nilm.disaggregate.house_priors import (
    SUNNY_W,
    evidence_priors,
    feeds_in,
    house_priors,
    paper_priors,
    price,
)
from nilm.disaggregate.unfit_rows import rows_with_state, states_of_unfit
from nilm.disaggregate.voltage_response import at_steady_voltage
from nilm.errors import NothingUsableError, OptionError
from nilm.options import check_components, check_estimator, check_prior
from nilm.results import FloatArray, TimeArray
from nilm.timeline import gaps_before, utc

MIN_ROWS = 2
MAX_NODES = 2_000_000  # of the search for equivalent columns, as in `lfm.hop`
NODES_BESIDE_VARYING = 3_000
SUN_WORDS = (
    "The feed-in varies with the sun: the generator's waveform was measured where nothing else switched, and "
    "its power in each row is what the appliances leave. Its watts and its waveform are means over the hours "
    "in which it feeds in. The watts of an appliance that runs by day only are known to some tens of watts. "
)
SEEN_WORDS = "A heater of less than {} is taken for sunshine."
UNSEEN_WORDS = (
    "The inverter's current has nearly the voltage's own shape, as a heater's has: by day heaters are taken "
    "for sunshine or the lack of it, and the appliances of this week should be read with care."
)
MUCH_UNSEEN_W = 800.0  # kettle, oven and immersion heater draw more
NO_WARM_START = "The appliances of the week before were not tried."


def disaggregate(
    current_a: ArrayLike,
    voltage_v: ArrayLike,
    *,
    components: int | str = "auto",
    estimator: str = "auto",
    interval_s: float = 120,
    seed: int = 0,
    start_utc: TimeArray | None = None,
    duration_s: ArrayLike | None = None,
    fit_for_use: ArrayLike | None = None,
    prior: str = "house",
    warm_start: ArrayLike | None = None,
    callback: Callback | None = None,
) -> Disaggregation:
    """The appliances in current_a (N, D) amperes, one mains cycle per row, voltage_v (D,) or (N, D) volts.

    `start_utc` (N,) tells gaps between rows; without it every row follows the one before. `duration_s` (N,)
    is the time that each row stands for, `interval_s` where it is None.
    `fit_for_use` (N,) False leaves a row out of the fit; it is decoded afterwards where it is close to a
    state that was seen. Rows with NaN are left out altogether. `components` is an upper bound or "auto";
    `warm_start` (K, D) are waveforms to try before the estimator.
    """
    current, voltage = _checked(current_a, voltage_v)
    length = _durations(duration_s, interval_s, len(current))
    times = utc(np.cumsum(length) - length) if start_utc is None else start_utc
    gap_before = gaps_before(times, length, slack_s=interval_s / 2)
    factorised = factorise(
        current,
        voltage,
        gap_before=gap_before,
        duration_s=length,
        interval_s=interval_s,
        components=components,
        estimator=estimator,
        seed=seed,
        fit_for_use=fit_for_use,
        warm_start=warm_start,
        callback=callback,
    )
    return hop_house(
        factorised, current, voltage, gap_before=gap_before, duration_s=length, prior=prior, seed=seed
    )


def factorise(
    current: FloatArray,
    voltage: FloatArray,
    *,
    gap_before: NDArray[np.bool_],
    duration_s: FloatArray | None = None,
    interval_s: float = 120,
    components: int | str = "auto",
    estimator: str = "auto",
    seed: int = 0,
    fit_for_use: ArrayLike | None = None,
    warm_start: ArrayLike | None = None,
    callback: Callback | None = None,
) -> Factorised:
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
    notes: list[str] = []
    gaps = _gaps_of(fit_rows, gap_before)
    X, V = current[fit_rows], _per_row(voltage, fit_rows)
    feeding = feeds_in(X, V, gaps)
    mean_v = V.mean(axis=0)
    sun = find_generator(X, mean_v, gaps) if feeding else None
    way = Way(name, components, seed, callback)
    if sun is not None:  # beside it appliances are on or off
        name = "switching" if name in ("auto", SHAPES) else name
        way = Way(name, fewer(components), seed, callback)
    amplitude: FloatArray | None = None
    shapes = np.zeros((0, X.shape[1]))
    if sun is None:
        X = at_steady_voltage(X, V, gaps)
        length = _durations(duration_s, interval_s, len(current))[fit_rows]
        first = explain(X, gaps, mean_v, way, notes, duration_s=length, feeds_in=feeding)
        name, solution, amplitude, shapes = first.estimator, first.solution, first.amplitude, first.shapes
        if warm_start is not None and amplitude is None:
            solution = warmer(solution, X, warm_start, notes)
    else:
        amplitude = first_amplitude(X, sun, gaps)
        loads = at_steady_voltage(X - np.outer(amplitude, sun.shape), V, gaps)
        solution = solve_beside(sun, loads, gaps, mean_v, way, notes)
        solution, amplitude = completed(solution, X, sun)
        X = at_steady_voltage(X - np.outer(amplitude, sun.shape), V, gaps)
        unseen = sun.unseen_w > MUCH_UNSEEN_W
        notes.append(SUN_WORDS + (UNSEEN_WORDS if unseen else SEEN_WORDS.format(power_words(sun.unseen_w))))
        if warm_start is not None:
            notes.append(NO_WARM_START)
    explained = solution.product()
    if sun is None and amplitude is not None:
        explained = explained + amplitude @ shapes
    at_floor = at_noise_floor(X - explained, find_signal(X, gaps).noise)
    left_over = share_left_over(X, explained, mean_v)
    n_found = solution.K + (sun is not None) + len(shapes)
    if isinstance(components, int) and components > n_found:
        notes.append(
            f"{components} appliances were asked for; the data holds {n_found} that can be told apart."
        )
    if feeding:
        notes.append(
            "Power flows out of the house at times: a generator (solar panels) is among the appliances, and "
            "its negative watts are meant."
        )
    unfit_rows = np.flatnonzero(finite & ~use)
    free = sun.shape if sun is not None else None
    same_state = (
        np.full(len(unfit_rows), -1)  # a load that varies has no state that could be seen elsewhere
        if len(shapes)
        else states_of_unfit(solution, X, current[unfit_rows], free=free)
    )
    row = np.concatenate([fit_rows, unfit_rows[same_state >= 0]])
    Z = np.concatenate([solution.Z, solution.Z[same_state[same_state >= 0]]])
    order = np.argsort(row)
    row = row[order]
    solution = Solution(Z[order], solution.W)
    if sun is not None and amplitude is not None:
        # A row that was left out of the fit had the sun of its neighbours.
        solution, amplitude = with_generator(solution, sun.shape, np.interp(row, fit_rows, amplitude))
    elif amplitude is not None:
        solution = Solution(
            np.column_stack([solution.Z, (amplitude != 0).astype(np.uint8)]), np.vstack([solution.W, shapes])
        )
    return Factorised(
        baseline=solution,
        row=row,
        in_fit=use[row],
        interval_s=float(interval_s),
        estimator=name,
        seed=seed,
        at_noise_floor=at_floor,
        feeds_in=feeding,
        notes=tuple(notes),
        amplitude=amplitude,
        left_over=left_over,
    )


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

    The house's priors carry weights. Where the evidence of the on/off times, which has none, finds their
    choice less plausible than the start, the hop is made again by that evidence: a right answer stays.
    """
    check_prior(prior)
    whole, amplitude, generator = factorised, factorised.amplitude, factorised.feeds_in
    whole_current = current
    if amplitude is not None:  # what is left is on or off, and most likely consumes
        current = current.copy()
        current[whole.row] -= amplitude @ whole.baseline.W[-amplitude.shape[1] :]
        left = current[whole.row], _per_row(voltage, whole.row), _gaps_of(whole.row, gap_before)
        generator = generator and feeds_in(*left)
        factorised = whole.switched()
    fitted = factorised.in_fit
    rows = factorised.row[fitted]
    mean_v = _per_row(voltage, rows).mean(axis=0)
    gaps = _gaps_of(rows, gap_before)
    X = at_steady_voltage(current[rows], _per_row(voltage, rows), gaps)
    baseline = Solution(factorised.baseline.Z[fitted], factorised.baseline.W)
    sun = amplitude is not None and whole.feeds_in
    sign = {"feeds_in": generator, "in_the_sun": sun}
    priors, words = paper_priors() if prior == "paper" else house_priors(gaps, mean_v, **sign)
    rng = np.random.default_rng(seed)
    # Sources taken apart by their sizes have very many equivalents; a budget keeps a week within seconds.
    nodes = NODES_BESIDE_VARYING if amplitude is not None and not sun else MAX_NODES
    candidates = None if nodes == MAX_NODES else enumerate_candidates(baseline.Z, max_nodes=nodes)
    found = hop(baseline, priors=priors, X=X, rng=rng, candidates=candidates)
    notes = list(factorised.notes)
    if prior == "house":
        evidence, evidence_words = evidence_priors(gaps, mean_v, **sign)
        # Where a sign is in doubt the evidence knows no difference; rounding must not make one.
        tie = 1e-6 if sun else 0.0
        if price(evidence, found.solution) > price(evidence, baseline) + tie:
            found = hop(baseline, priors=evidence, X=X, rng=rng, candidates=candidates)
            words = evidence_words
            notes.append("The usual weights would have made the on and off times less plausible.")
    if not found.complete:
        notes.append("The search for equivalent explanations ended at its budget; there may be more.")
    # A row that was decoded afterwards has the state of some row of the fit, and keeps its company.
    Z = found.solution.Z[rows_with_state(baseline.Z, factorised.baseline.Z)]
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
            duration_s=_durations(duration_s, whole.interval_s, len(current))[rows],
            n_varying=whole.n_varying,
            left_over=whole.left_over,
        )
    )
    seen_in_fit = whole_current[rows]
    before, after = (
        float(np.linalg.norm(seen_in_fit - (sizes(s.Z, amplitude) @ s.W)[fitted]))
        for s in (whole.baseline, whole_hop.solution)
    )
    return Disaggregation(
        **vars(whole) | {"notes": tuple(notes)},
        hop=whole_hop,
        diagnosis=diagnose(found.solution.Z, found.solution.W, max_nodes=nodes),
        watts=watts,
        evidence=judged.evidence,
        sure=judged.sure,
        runs=judged.runs.among(np.flatnonzero(fitted)),
        left_w=left_w,
        priors=words,
        residual_before=before,
        residual_after=after,
        relative_residual=after / max(float(np.linalg.norm(seen_in_fit)), np.finfo(float).tiny),
    )


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


def _consuming(W: FloatArray, sun: FloatArray, mean_v: FloatArray) -> FloatArray:
    """W (K, D) with no watts where they came out negative within their doubt: the sun has them."""
    watts = W @ mean_v
    missing = np.where((watts < 0) & (watts >= -SUNNY_W * len(mean_v)), watts, 0.0)
    return np.asarray(W - np.outer(missing / (sun @ mean_v), sun), dtype=np.float64)


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


def _durations(duration_s: ArrayLike | None, interval_s: float, n_rows: int) -> FloatArray:
    """(n_rows,) seconds that each row stands for."""
    if duration_s is None:
        return np.full(n_rows, float(interval_s))
    length = np.asarray(duration_s, dtype=np.float64)
    if length.shape != (n_rows,) or not (np.isfinite(length) & (length > 0)).all():
        raise OptionError(
            f"duration_s must hold one number above 0 for each of the {n_rows} rows; got shape {length.shape}"
        )
    return length


def _per_row(voltage: FloatArray, rows: NDArray[np.int64]) -> FloatArray:
    return voltage[rows] if voltage.ndim == 2 else np.broadcast_to(voltage, (len(rows), len(voltage)))


def _gaps_of(rows: NDArray[np.int64], gap_before: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """gap_before for a selection of rows: True also where a row between two of them was left out."""
    stretch = np.cumsum(gap_before)
    breaks = (np.diff(rows) != 1) | (np.diff(stretch[rows]) != 0)
    return np.concatenate([[True], breaks])
