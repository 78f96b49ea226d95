"""Waveforms to appliances' on/off times: estimator, then the hop with the house's priors, then the diagnosis.

Owns the choice of estimator, what happens to rows that are unfit for a fit, and which of two explanations is
kept. It works on arrays; `nilm.disaggregate.steps` does the same from file to file.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lfm import (
    Hop,
    Identifiability,
    Solution,
    at_noise_floor,
    diagnose,
    enumerate_candidates,
    find_signal,
    hop,
)
from nilm.appliances.naming import power_words
from nilm.disaggregate.confidence import probability, read_evidence
from nilm.disaggregate.estimate import SHAPES, Callback, warmer
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
from nilm.disaggregate.solutions import sizes
from nilm.disaggregate.unfit_rows import rows_with_state, states_of_unfit
from nilm.disaggregate.voltage_response import at_steady_voltage
from nilm.errors import NothingUsableError, OptionError
from nilm.options import check_components, check_estimator, check_prior
from nilm.results import FloatArray, TimeArray
from nilm.timeline import gaps_before

MIN_ROWS = 2
MAX_NODES = 2_000_000  # of the search for equivalent columns, as in `lfm.hop`
NODES_BESIDE_VARYING = 3_000
SUN_WORDS = (
    "The feed-in varies with the sun: the generator's waveform was measured where nothing else switched, and "
    "its power in each row is what the appliances leave. Its watts and its waveform are means over the hours "
    "in which it feeds in. The watts of an appliance that runs by day only are known to some tens of watts. "
)
SEEN_WORDS = "By day a heater of less than {} is taken for sunshine."
UNSEEN_WORDS = (
    "The inverter's current has nearly the voltage's own shape, as a heater's has: by day heaters are taken "
    "for sunshine or the lack of it, and the appliances of this week should be read with care."
)
MUCH_UNSEEN_W = 800.0  # kettle, oven and immersion heater draw more
NO_WARM_START = "The appliances of the week before were not tried."


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
    # (M, V) sizes of the last V features, which vary, in units of their W: 0 where they are off, 1 on the
    # average of the rows where they are on. None where every feature is on or off.
    amplitude: FloatArray | None = None
    left_over: float = 0.0  # share of the energy that is not explained

    def switched(self) -> "Factorisation":
        """The features that are on or off; itself where no feature varies."""
        if self.amplitude is None:
            return self
        n = self.solution.K - self.amplitude.shape[1]
        return replace(self, solution=Solution(self.solution.Z[:, :n], self.solution.W[:n]), amplitude=None)


@dataclass(frozen=True, eq=False)
class Disaggregation:
    """Who was on when, and what each draws."""

    baseline: Solution  # the estimator's, over the rows `row`
    hop: Hop  # over the rows of the fit, without a generator that varies
    solution: Solution  # the hopped one, over the rows `row`
    diagnosis: Identifiability  # of what was hopped
    watts: FloatArray  # (K,) mean of voltage × current
    priors: str  # what decided between equivalent explanations, in words
    row: NDArray[np.int64]  # (M,) rows of the input
    in_fit: NDArray[np.bool_]  # (M,)
    at_noise_floor: bool | None
    feeds_in: bool
    notes: tuple[str, ...]
    power_w: FloatArray  # (M, K) watts of every appliance in every row, what is always on among them
    left_over: float  # share of the energy that is not explained
    evidence: FloatArray  # (K, …) what `sure` was read from; see `nilm.disaggregate.confidence`
    sure: FloatArray  # (K,) probability that each is one real appliance with these times and this energy
    amplitude: FloatArray | None = None  # (M, V) of the last features; see `Factorisation`


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
        gap_before=gaps_before(times, interval_s, slack_s=interval_s / 2),
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
    notes: list[str] = []
    gaps = _gaps_of(fit_rows, gap_before)
    X, V = current[fit_rows], _per_row(voltage, fit_rows)
    feeding = feeds_in(np.mean(X * V, axis=1))
    mean_v = V.mean(axis=0)
    sun = find_generator(X, mean_v, gaps)
    way = Way(name, components, seed, callback)
    if sun is not None:  # beside it appliances are on or off
        name = "switching" if name in ("auto", SHAPES) else name
        way = Way(name, fewer(components), seed, callback)
    amplitude: FloatArray | None = None
    shapes = np.zeros((0, X.shape[1]))
    if sun is None:
        X = at_steady_voltage(X, V, gaps)
        first = explain(X, gaps, mean_v, way, notes, feeds_in=feeding)
        name, solution, amplitude, shapes = first.estimator, first.solution, first.amplitude, first.shapes
        if warm_start is not None and amplitude is None:
            solution = warmer(solution, X, warm_start, notes)
    else:
        amplitude = first_amplitude(X, sun, gaps)
        loads = at_steady_voltage(X - np.outer(amplitude, sun.shape), V, gaps)
        solution, _ = solve_beside(sun, loads, gaps, mean_v, way, notes)
        solution, amplitude = completed(solution, X, sun, amplitude)
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
    return Factorisation(
        solution=solution,
        row=row,
        in_fit=use[row],
        gap_before=_gaps_of(row, gap_before),
        estimator=name,
        at_noise_floor=at_floor,
        feeds_in=feeding,
        notes=tuple(notes),
        amplitude=amplitude,
        left_over=left_over,
    )


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
    check_prior(prior)
    whole, amplitude, generator = factorisation, factorisation.amplitude, factorisation.feeds_in
    whole_current = current
    if amplitude is not None:  # what is left is on or off, and most likely consumes
        current = current.copy()
        current[whole.row] -= amplitude @ whole.solution.W[-amplitude.shape[1] :]
        generator = feeds_in(np.mean(current[whole.row] * _per_row(voltage, whole.row), axis=1))
        factorisation = whole.switched()
    fitted = factorisation.in_fit
    rows = factorisation.row[fitted]
    mean_v = _per_row(voltage, rows).mean(axis=0)
    gaps = _gaps_of(np.flatnonzero(fitted), factorisation.gap_before)
    X = at_steady_voltage(current[rows], _per_row(voltage, rows), gaps)
    baseline = Solution(factorisation.solution.Z[fitted], factorisation.solution.W)
    sun = amplitude is not None and whole.feeds_in
    sign = {"feeds_in": generator, "in_the_sun": sun}
    priors, words = paper_priors() if prior == "paper" else house_priors(gaps, mean_v, **sign)
    rng = np.random.default_rng(seed)
    # Sources taken apart by their sizes have very many equivalents; a budget keeps a week within seconds.
    nodes = NODES_BESIDE_VARYING if amplitude is not None and not sun else MAX_NODES
    candidates = None if nodes == MAX_NODES else enumerate_candidates(baseline.Z, max_nodes=nodes)
    found = hop(baseline, priors=priors, X=X, rng=rng, candidates=candidates)
    notes = list(factorisation.notes)
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
    Z = found.solution.Z[rows_with_state(baseline.Z, factorisation.solution.Z)]
    W = found.solution.W
    if amplitude is not None:
        varying = whole.solution.W[-amplitude.shape[1] :]
        Z = np.column_stack([Z, whole.solution.Z[:, -amplitude.shape[1] :]])
        W = np.vstack([_consuming(W, varying[-1], mean_v) if sun else W, varying])
    watts = W @ mean_v / len(mean_v)
    n_varying = 0 if amplitude is None else amplitude.shape[1]
    size = sizes(Z, amplitude)
    seen = read_evidence(
        whole_current[whole.row],
        W,
        size,
        watts,
        np.append(found.support, np.ones(n_varying)),
        left_over=whole.left_over,
        n_varying=n_varying,
    )
    return Disaggregation(
        baseline=whole.solution,
        hop=found,
        solution=Solution(Z, W),
        diagnosis=diagnose(found.solution.Z, found.solution.W, max_nodes=nodes),
        watts=watts,
        priors=words,
        row=factorisation.row,
        in_fit=fitted,
        at_noise_floor=factorisation.at_noise_floor,
        feeds_in=whole.feeds_in,
        notes=tuple(notes),
        amplitude=amplitude,
        power_w=size * watts,
        evidence=seen,
        sure=probability(seen),
        left_over=whole.left_over,
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


def _per_row(voltage: FloatArray, rows: NDArray[np.int64]) -> FloatArray:
    return voltage[rows] if voltage.ndim == 2 else np.broadcast_to(voltage, (len(rows), len(voltage)))


def _gaps_of(rows: NDArray[np.int64], gap_before: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """gap_before for a selection of rows: True also where a row between two of them was left out."""
    stretch = np.cumsum(gap_before)
    breaks = (np.diff(rows) != 1) | (np.diff(stretch[rows]) != 0)
    return np.concatenate([[True], breaks])
