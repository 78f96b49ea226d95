"""When an appliance runs: how often, how long and at what time of day, in a few numbers.

Owns how habits are counted and pooled over weeks, and how much two habits speak for one appliance. Times of
day are UTC: a change of summer time moves a habit by one hour, which bins of two hours bear.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln
from scipy.stats import norm

from lfm.arrays import FloatArray
from nilm.results import Activation
from nilm.timeline import DAY_S

N_BINS = 12  # of the day; a bin is two hours


@dataclass(frozen=True)
class Habits:
    """The runs of an appliance over some days."""

    days: float  # that were observed
    runs: int
    log_duration: float  # mean of the logarithm of a run's seconds; 0 without runs
    log_duration_sd: float
    hours: tuple[int, ...]  # (N_BINS,) how many runs began in each part of the day

    @property
    def runs_per_week(self) -> float:
        """How often it runs in seven days; 0 where no day was observed."""
        return 7 * self.runs / self.days if self.days > 0 else 0.0


@dataclass(frozen=True)
class HabitModel:
    """How far habits of one appliance change, and how far those of different ones differ.

    Chosen on simulated houses with seeds below 200; `benchmarks/identity.py` reports on others.
    """

    rate_sd: float = 0.35  # log runs a day, from week to week of one appliance
    rate_typical: float = math.log(2.0)  # log runs a day of any appliance, and its spread
    rate_spread: float = 1.5
    duration_sd: float = 0.25  # mean log duration, from week to week of one appliance
    duration_typical: float = math.log(1800.0)
    duration_spread: float = 1.5
    run_sd: float = 0.2  # least spread of log durations within a week
    runs_a_day: float = 2.0  # that count as independent: an oven's six runs are one meal
    hours_counted: float = 14.0  # most runs that count as independent draws of a time of day
    hours_prior: float = 0.5  # Dirichlet weight of each bin
    exception: float = 0.03  # share of weeks in which an appliance runs unlike itself


def habits_of(activations: Sequence[Activation], *, days: float) -> Habits:
    """The habits that the activations of `days` observed days show."""
    durations = np.log([max(a.duration_s, 1.0) for a in activations])
    seconds = [
        float((a.start_utc - a.start_utc.astype("datetime64[D]")) / np.timedelta64(1, "s"))
        for a in activations
    ]
    bins = np.array([int(s / DAY_S * N_BINS) for s in seconds], dtype=np.int64)
    return Habits(
        days=round(days, 3),
        runs=len(activations),
        log_duration=round(float(durations.mean()), 4) if len(durations) else 0.0,
        log_duration_sd=round(float(durations.std()), 4) if len(durations) else 0.0,
        hours=tuple(np.bincount(bins, minlength=N_BINS).tolist()),
    )


def pooled(habits: Sequence[Habits]) -> Habits | None:
    """The habits of several weeks as one; None of none."""
    if not habits:
        return None
    runs = sum(h.runs for h in habits)
    weights = np.array([h.runs / runs if runs else 0.0 for h in habits])
    means = np.array([h.log_duration for h in habits])
    mean = float(weights @ means)
    variance = float(weights @ (np.square([h.log_duration_sd for h in habits]) + np.square(means - mean)))
    hours = np.sum([h.hours for h in habits], axis=0)
    return Habits(sum(h.days for h in habits), runs, mean, math.sqrt(variance), tuple(hours.tolist()))


def habit_nats(now: Habits | None, past: Habits | None, model: HabitModel) -> float:
    """How much habits speak for one appliance: ln p(now | that of `past`) − ln p(now | another one).

    0 where either is not known.
    """
    if now is None or past is None or now.days <= 0 or past.days <= 0:
        return 0.0
    return _rate_nats(now, past, model) + _duration_nats(now, past, model) + _hours_nats(now, past, model)


def log_ratio(log_same: float, log_other: float, *, exception: float) -> float:
    """The logarithm of (1 − exception) same / other + exception: evidence against has a floor."""
    return float(np.logaddexp(math.log1p(-exception) + log_same - log_other, math.log(exception)))


def _rate_nats(now: Habits, past: Habits, model: HabitModel) -> float:
    rate, was = (math.log((h.runs + 0.5) / h.days) for h in (now, past))
    seen, seen_before = (1 / (_independent(h, model) + 0.5) for h in (now, past))
    same = norm.logpdf(rate, was, math.sqrt(model.rate_sd**2 + seen + seen_before))
    other = norm.logpdf(rate, model.rate_typical, math.sqrt(model.rate_spread**2 + seen))
    return log_ratio(same, other, exception=model.exception)


def _duration_nats(now: Habits, past: Habits, model: HabitModel) -> float:
    if not now.runs or not past.runs:
        return 0.0
    within = max(past.log_duration_sd, now.log_duration_sd, model.run_sd) ** 2
    seen, seen_before = (within / _independent(h, model) for h in (now, past))
    sd = math.sqrt(model.duration_sd**2 + seen + seen_before)
    same = norm.logpdf(now.log_duration, past.log_duration, sd)
    spread = math.sqrt(model.duration_spread**2 + seen)
    other = norm.logpdf(now.log_duration, model.duration_typical, spread)
    return log_ratio(same, other, exception=model.exception)


def _hours_nats(now: Habits, past: Habits, model: HabitModel) -> float:
    """The Bayes factor of one multinomial over the day against two, under a Dirichlet prior."""
    a, b = (_counted(h, model) for h in (now, past))
    factor = _log_evidence(a + b, model) - _log_evidence(a, model) - _log_evidence(b, model)
    return log_ratio(factor, 0.0, exception=model.exception)


def _independent(habits: Habits, model: HabitModel) -> float:
    """How many of the runs were started for a reason of their own."""
    return min(float(habits.runs), model.runs_a_day * habits.days)


def _counted(habits: Habits, model: HabitModel) -> FloatArray:
    """The runs by time of day, scaled down to as many as are independent."""
    most = min(_independent(habits, model), model.hours_counted)
    return np.array(habits.hours, dtype=np.float64) * (most / max(habits.runs, 1))


def _log_evidence(counts: FloatArray, model: HabitModel) -> float:
    alpha = np.full(len(counts), model.hours_prior)
    return float(
        gammaln(alpha.sum())
        - gammaln(alpha.sum() + counts.sum())
        + np.sum(gammaln(alpha + counts) - gammaln(alpha))
    )
