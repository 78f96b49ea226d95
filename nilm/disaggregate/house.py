"""Waveforms to appliances' on/off times: the estimator, then the hop (`nilm.disaggregate.hopping`).

Owns the choice of estimator and what happens to rows that are unfit for a fit. It works on arrays;
`nilm.disaggregate.steps` does the same from file to file.
"""

import numpy as np
from numpy.typing import ArrayLike

from lfm import Solution, at_noise_floor, find_signal
from lfm.arrays import BoolArray, FloatArray, IntArray
from lfm.threads import one_thread
from nilm.appliances.naming import power_words
from nilm.choices import SHAPES
from nilm.disaggregate.disaggregation import Disaggregation, Factorised
from nilm.disaggregate.estimate import Callback
from nilm.disaggregate.first_solution import (
    EstimatorChoice,
    Explained,
    explain,
    fewer,
    on_or_off,
    share_left_over,
    solve_beside,
)
from nilm.disaggregate.hopping import hop_house
from nilm.disaggregate.house_priors import feeds_in
from nilm.disaggregate.sun.feed_in import completed, first_amplitude, with_generator
from nilm.disaggregate.sun.generator import Generator, find_generator
from nilm.disaggregate.unfit_rows import states_of_unfit
from nilm.disaggregate.voltage_response import at_steady_voltage, check_cycles, per_row
from nilm.errors import NothingUsableError
from nilm.options import check_components, check_estimator
from nilm.thresholds import HOUSE
from nilm.timeline import TimeArray, gaps_before, gaps_of_rows, row_durations, utc

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
TOO_FEW_ROWS = (
    "{} of {} rows are fit for use; at least {} are needed: the quality of the week says why rows were left "
    "out"
)
ASKED_FOR_MORE = "{} appliances were asked for; the data holds {} that can be told apart."
FEEDING_WORDS = (
    "Power flows out of the house at times: a generator (solar panels) is among the appliances, and its "
    "negative watts are meant."
)


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
    callback: Callback | None = None,
) -> Disaggregation:
    """The appliances in a house's current: who was on when, what each draws, and how sure that is.

    Parameters
    ----------
    current_a : array of shape (N, D)
        Amperes, one mains cycle per row. Rows with NaN are left out.
    voltage_v : array of shape (D,) or (N, D)
        Volts, one cycle for all rows or one for each.
    components : int or str, default "auto"
        The most appliances that are looked for, at least 1, or "auto".
    estimator : str, default "auto"
        Who finds the first solution; an unknown name is answered with those that exist.
    interval_s : float, default 120
        Seconds from one row to the next, above 0.
    seed : int, default 0
        Seed of everything random, at least 0.
    start_utc : array of datetime64, shape (N,), optional
        When each row begins: it tells gaps. Default: every row follows the one before.
    duration_s : array of shape (N,), optional
        Seconds that each row stands for, above 0. Default: interval_s.
    fit_for_use : array of bool, shape (N,), optional
        False leaves a row out of the fit; it is decoded afterwards where it is close to a known state.
    prior : str, default "house"
        What chooses among equivalent solutions: "house", or "paper" (small waveforms).
    callback : callable, optional
        Called as callback(number, objective) after each round; numbers count from 1.

    Returns
    -------
    Disaggregation
        The estimator's answer, the hop from it, and what is known of every appliance.

    Raises
    ------
    NothingUsableError
        Where fewer than two rows are fit for use.
    OptionError
        Where an argument has the wrong shape, or a value that is unknown or out of range.

    Examples
    --------
    >>> import numpy as np
    >>> cycle, on = np.sin(np.pi * np.arange(32) / 16), np.arange(200) % 40 < 10
    >>> disaggregate(np.outer(2 + 10 * on, cycle), 325 * cycle).watts.round().tolist()  # 2 A, at times 12 A
    [325.0, 1625.0]
    """
    current, voltage = check_cycles(current_a, voltage_v)
    length = row_durations(duration_s, interval_s, len(current))
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
        callback=callback,
    )
    return hop_house(
        factorised, current, voltage, gap_before=gap_before, duration_s=length, prior=prior, seed=seed
    )


@one_thread
def factorise(
    current: FloatArray,
    voltage: FloatArray,
    *,
    gap_before: BoolArray,
    duration_s: FloatArray | None = None,
    interval_s: float = 120,
    components: int | str = "auto",
    estimator: str = "auto",
    seed: int = 0,
    fit_for_use: ArrayLike | None = None,
    callback: Callback | None = None,
) -> Factorised:
    """The estimator's solution for current (N, D) with voltage (D,) or (N, D); see `disaggregate`."""
    check_components(components)
    choice = EstimatorChoice(check_estimator(estimator), components, seed, callback)
    finite = np.isfinite(current).all(axis=1)
    wanted = np.ones(len(current), bool) if fit_for_use is None else np.asarray(fit_for_use, bool)
    use: BoolArray = np.logical_and(finite, wanted)
    fit_rows = np.flatnonzero(use)
    if len(fit_rows) < HOUSE.fewest_rows:
        raise NothingUsableError(TOO_FEW_ROWS.format(len(fit_rows), len(current), HOUSE.fewest_rows))
    X, V, gaps = current[fit_rows], per_row(voltage, fit_rows), gaps_of_rows(fit_rows, gap_before)
    mean_v = V.mean(axis=0)
    notes: list[str] = []
    feeding = feeds_in(X, V, gaps)
    sun = find_generator(X, mean_v, gaps, interval_s=interval_s) if feeding else None
    if sun is None:
        length = row_durations(duration_s, interval_s, len(current))[fit_rows]
        steady = at_steady_voltage(X, V, gaps)
        found = explain(steady, gaps, mean_v, choice, notes, duration_s=length, feeds_in=feeding)
    else:
        found = _explained_beside(sun, X, V, gaps, choice, notes)
    n_found = found.solution.K + (sun is not None) + len(found.shapes)
    if isinstance(components, int) and components > n_found:
        notes.append(ASKED_FOR_MORE.format(components, n_found))
    if feeding:
        notes.append(FEEDING_WORDS)
    row, solution, amplitude = _with_unfit(found, fit_rows, current, finite & ~use, sun)
    explained = found.product()
    return Factorised(
        baseline=solution,
        row=row,
        in_fit=use[row],
        interval_s=float(interval_s),
        estimator=found.estimator,
        seed=seed,
        at_noise_floor=at_noise_floor(found.X - explained, find_signal(found.X, gaps).noise),
        feeds_in=feeding,
        notes=tuple(notes),
        amplitude=amplitude,
        left_over=share_left_over(found.X, explained, mean_v),
    )


def _explained_beside(
    sun: Generator,
    X: FloatArray,
    V: FloatArray,
    gaps: BoolArray,
    choice: EstimatorChoice,
    notes: list[str],
) -> Explained:
    """The rows explained beside a generator that varies: appliances are then on or off."""
    name = "switching" if choice.estimator in ("auto", SHAPES) else choice.estimator
    choice = choice._replace(estimator=name, components=fewer(choice.components))
    fed_in = first_amplitude(X, sun, gaps)
    loads = at_steady_voltage(X - np.outer(fed_in, sun.shape), V, gaps)
    solution, fed_in = completed(solve_beside(sun, loads, gaps, choice, notes), X, sun)
    unseen = sun.unseen_w > HOUSE.much_unseen_w
    notes.append(SUN_WORDS + (UNSEEN_WORDS if unseen else SEEN_WORDS.format(power_words(sun.unseen_w))))
    X = at_steady_voltage(X - np.outer(fed_in, sun.shape), V, gaps)
    return on_or_off(name, X, solution)._replace(fed_in=fed_in)


def _with_unfit(
    found: Explained,
    fit_rows: IntArray,
    current: FloatArray,
    unfit: BoolArray,
    sun: Generator | None,
) -> tuple[IntArray, Solution, FloatArray | None]:
    """The rows of the fit and those left out of it that show a state seen in it: (rows, solution, amplitude).

    Features that vary come last in the solution. A load that varies has no state that could be seen
    elsewhere: beside such loads no row is added.
    """
    Z, W = found.solution.Z, found.solution.W
    if len(found.shapes):
        Z = np.column_stack([Z, (found.amplitude != 0).astype(np.uint8)])
        return fit_rows, Solution(Z, np.vstack([W, found.shapes])), found.amplitude
    unfit_rows = np.flatnonzero(unfit)
    free = None if sun is None else sun.shape
    same_state = states_of_unfit(found.solution, found.X, current[unfit_rows], free=free)
    row = np.concatenate([fit_rows, unfit_rows[same_state >= 0]])
    order = np.argsort(row)
    row, Z = row[order], np.concatenate([Z, Z[same_state[same_state >= 0]]])[order]
    if sun is None or found.fed_in is None:
        return row, Solution(Z, W), None
    # A row that was left out of the fit had the sun of its neighbours.
    return row, *with_generator(Solution(Z, W), sun.shape, np.interp(row, fit_rows, found.fed_in))
