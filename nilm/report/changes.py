"""What changed from week to week: energy and cost, the largest rises and falls, what came and what went.

Owns the comparison of weeks by their summaries, and the reason that the numbers give for a change. The
report's first screen, the house's page and the index show what is found here.
"""

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from nilm.appliances.naming import duration_words, power_words
from nilm.appliances.thresholds import PAGE
from nilm.recordings.ukdale import Week
from nilm.report.summary import ApplianceLine, WeekSummary


@dataclass(frozen=True)
class Move:
    """One appliance's energy against another week's."""

    appliance_id: str
    name: str
    colour: int
    kwh: float  # this week
    change_kwh: float
    reason: str  # in words; empty where the numbers give none
    in_doubt: bool = False  # the 90% ranges of both weeks overlap: the split may have changed, not the house


@dataclass(frozen=True)
class Arrivals:
    """What a week has that the week before had not, and the other way round; by name."""

    new: tuple[str, ...] = ()  # in no week before
    back: tuple[str, ...] = ()  # in an earlier week, not in the one before
    vanished: tuple[str, ...] = ()  # in the week before, not in this one


@dataclass(frozen=True)
class Comparison:
    """A week against the one before it, and against the mean of the last four."""

    week: str  # the one before
    follows: bool  # it is the calendar's week before, not an older one
    change_kwh: float
    change_cost: float  # both at this week's price
    usual_change_kwh: float | None  # against the mean of the last `usual_weeks`; None with fewer than two
    usual_weeks: int
    moves: tuple[Move, ...]  # largest first
    arrivals: Arrivals
    coverage: float | None  # of the week before, where it differs enough to be a reason


def earlier_weeks(week: str, weeks: Sequence[WeekSummary]) -> list[WeekSummary]:
    """Those before `week`, in order of time."""
    before = [summary for summary in weeks if Week.parse(summary.week) < Week.parse(week)]
    return sorted(before, key=lambda summary: Week.parse(summary.week))


def compare(
    this: WeekSummary, weeks: Sequence[WeekSummary], *, seen: Collection[str] = ()
) -> Comparison | None:
    """`this` against those of `weeks` that came before it; None if there is none.

    `seen` are ids of appliances that older weeks than these are known to have had: they are not new.
    """
    before = earlier_weeks(this.week, weeks)
    if not before:
        return None
    last, usual = before[-1], before[-PAGE.usual_weeks :]
    change = this.metered_kwh - last.metered_kwh
    usual_kwh = sum(s.metered_kwh for s in usual) / len(usual)
    moves = sorted(_moves(this, last), key=lambda move: -abs(move.change_kwh))
    least = PAGE.least_move * max(abs(this.metered_kwh), abs(last.metered_kwh))
    differs = abs(this.coverage - last.coverage) > PAGE.least_coverage_change
    days = (Week.parse(this.week).start - Week.parse(last.week).start).days
    return Comparison(
        week=last.week,
        follows=days == 7,
        change_kwh=change,
        change_cost=change * this.tariff_per_kwh,
        usual_change_kwh=this.metered_kwh - usual_kwh if len(usual) > 1 else None,
        usual_weeks=len(usual),
        moves=tuple(move for move in moves if abs(move.change_kwh) > least)[: PAGE.most_moves],
        arrivals=arrivals(this, before, seen=seen),
        coverage=last.coverage if differs else None,
    )


def arrivals(this: WeekSummary, before: Sequence[WeekSummary], *, seen: Collection[str] = ()) -> Arrivals:
    """What came and went in a week, against the weeks before it in order of time; nothing without any."""
    if not before:
        return Arrivals()
    here = {line.appliance_id: line.name for line in this.appliances}
    last = {line.appliance_id: line.name for line in before[-1].appliances}
    ever = {*seen, *(line.appliance_id for summary in before for line in summary.appliances)}
    return Arrivals(
        new=tuple(name for i, name in here.items() if i not in ever),
        back=tuple(name for i, name in here.items() if i in ever and i not in last),
        vanished=tuple(name for i, name in last.items() if i not in here),
    )


def _moves(this: WeekSummary, last: WeekSummary) -> list[Move]:
    """Every appliance of both weeks with its change."""
    was = {line.appliance_id: line for line in last.appliances}
    return [
        Move(
            line.appliance_id,
            line.name,
            line.colour,
            line.energy_kwh,
            line.energy_kwh - was[line.appliance_id].energy_kwh,
            reason(line, was[line.appliance_id]),
            _overlap(line, was[line.appliance_id]),
        )
        for line in this.appliances
        if line.appliance_id in was
    ]


def _overlap(now: ApplianceLine, was: ApplianceLine) -> bool:
    """Whether the ranges of an appliance's energy in two weeks overlap; not where one of them has none."""
    if now.low_kwh is None or now.high_kwh is None or was.low_kwh is None or was.high_kwh is None:
        return False
    return now.low_kwh <= was.high_kwh and was.low_kwh <= now.high_kwh


def reason(now: ApplianceLine, was: ApplianceLine) -> str:
    """Which of runs, their length and the power changed most, in words; empty where all are about the same.

    Energy is runs × hours a run × watts, so the largest of the three ratios explains most of the change.
    """
    factors = [
        (_ratio(now.runs, was.runs), f"{now.runs:,} runs instead of {was.runs:,}"),
        (
            _ratio(now.run_s, was.run_s),
            f"runs of {duration_words(now.run_s)} instead of {duration_words(was.run_s)}",
        ),
        (
            _ratio(now.mean_w, was.mean_w),
            f"{power_words(now.mean_w)} instead of {power_words(was.mean_w)}",
        ),
    ]
    size, words = max(factors, key=lambda factor: factor[0])
    return words if size > math.log(PAGE.telling_ratio) else ""


def _ratio(now: float, was: float) -> float:
    """The size of a ratio, as the absolute value of its logarithm; 0 where it says nothing."""
    return abs(math.log(now / was)) if now > 0 and was > 0 else 0.0
