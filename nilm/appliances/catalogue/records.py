"""What is known of a house's appliances: the recent weeks in full, and a summary of each appliance ever seen.

Owns the records and what leaves them with time. Nothing here grows without bound: the last weeks are kept in
full, and a summary of each appliance, of those that were seen last (`nilm.appliances.thresholds` says how
many). An older week's own record stays beside its solution (`identity.json`) and is read where that week is
made again.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from lfm.arrays import FloatArray
from nilm.appliances.catalogue.habits import Habits
from nilm.appliances.measures import resample_cycle
from nilm.appliances.thresholds import APPLIANCES
from nilm.recordings.ukdale import Week

SUMMARY_POINTS = 64  # of a waveform in a summary: 31 harmonics


@dataclass(frozen=True, eq=False)
class Look:
    """How an appliance looked in one week, whatever its id and name."""

    kind: str
    active_w: float
    current_a: FloatArray  # (D,)
    habits: Habits | None = None
    spread: float = 0.0  # standard deviation of its power while on, over the mean; 0: on or off
    inrush: float | None = None  # largest current after a switch-on, in units of the steady one
    submeter: str | None = None  # name of the submeter that fits it

    @property
    def size(self) -> float:
        """RMS amperes."""
        return float(np.sqrt(np.mean(np.square(self.current_a))))


@dataclass(frozen=True, eq=False)
class Sighting:
    """One appliance as one week saw it."""

    appliance_id: str
    name: str
    look: Look
    name_source: str = "description"  # "analyst", "submeter" or "description", in the week that first said it
    formerly: str = ""  # the name that this week's report had for it before it was renamed


@dataclass(frozen=True)
class Doubt:
    """Why an id might be wrong: `appliance_id` could as well be `other`, or looks unlike itself."""

    appliance_id: str
    other: str  # an appliance id, NEW_APPLIANCE, OTHER_WAVEFORM or OTHER_HABITS


NEW_APPLIANCE = "new"
OTHER_WAVEFORM = "other waveform"
OTHER_HABITS = "other habits"


@dataclass(frozen=True, eq=False)
class WeekRecord:
    """The appliances of one week, in the order of its solution's features."""

    solution: str  # digest of the solution that the ids belong to
    sightings: tuple[Sighting, ...]
    doubts: tuple[Doubt, ...] = ()


@dataclass(frozen=True)
class Wander:
    """How far an appliance moved from one week to the next, summed over `changes` such steps."""

    changes: int = 0
    size_squares: float = 0.0  # of the logarithm of its size
    shape_squares: float = 0.0  # of the distance of its shape

    def after(self, before: Look, now: Look) -> "Wander":
        """This with one more step."""
        size = min(abs(math.log(max(now.size, 1e-9) / max(before.size, 1e-9))), APPLIANCES.largest_change)
        shape = min(shape_distance(before.current_a, now.current_a), APPLIANCES.largest_change)
        return Wander(self.changes + 1, self.size_squares + size**2, self.shape_squares + shape**2)


@dataclass(frozen=True, eq=False)
class Summary:
    """One appliance over the weeks that are no longer kept in full."""

    sighting: Sighting  # the last of them, its waveform at SUMMARY_POINTS
    first_week: str
    last_week: str
    wander: Wander = Wander()

    def after(self, week: str, sighting: Sighting) -> "Summary":
        """This with one more week; itself if the week is no later than what it holds."""
        if Week.parse(week) <= Week.parse(self.last_week):
            return self
        return Summary(
            _compact(sighting), self.first_week, week, self.wander.after(self.sighting.look, sighting.look)
        )


@dataclass(frozen=True, eq=False)
class Catalogue:
    """What is known of a house's appliances: weeks ("2015-wk01") and summaries by appliance id."""

    house: str
    weeks: Mapping[str, WeekRecord] = field(default_factory=dict)
    summaries: Mapping[str, Summary] = field(default_factory=dict)
    last_number: int = 0  # of all ids that were ever given, so that none is given twice

    def with_week(self, week: str, record: WeekRecord) -> "Catalogue":
        """This catalogue with `week` added or replaced."""
        numbers = [int(s.appliance_id[1:]) for s in record.sightings]
        return replace(
            self,
            weeks={**self.weeks, week: record},
            last_number=max([self.last_number, *numbers]),
        )

    def bounded(self) -> "Catalogue":
        """This catalogue with its last weeks in full, and the others in the summaries alone."""
        in_order = sorted(self.weeks, key=Week.parse)
        summaries = dict(self.summaries)
        for week in in_order[: -APPLIANCES.recent_weeks]:
            for s in self.weeks[week].sightings:
                known = summaries.get(s.appliance_id)
                summaries[s.appliance_id] = (
                    known.after(week, s) if known else Summary(_compact(s), week, week)
                )
        latest = sorted(summaries, key=lambda i: (Week.parse(summaries[i].last_week), i))[
            -APPLIANCES.most_appliances :
        ]
        return replace(
            self,
            weeks={week: self.weeks[week] for week in in_order[-APPLIANCES.recent_weeks :]},
            summaries={i: summaries[i] for i in sorted(latest)},
        )

    def sightings(self, *, before: str | None = None) -> dict[str, list[tuple[str, Sighting]]]:
        """(week, sighting) of each appliance in the order of weeks, of those `before` a week if one is given.

        A summary stands for the weeks that are not kept: its last one.
        """
        found: dict[str, dict[str, Sighting]] = {}
        for appliance_id, summary in self.summaries.items():
            found.setdefault(appliance_id, {})[summary.last_week] = summary.sighting
        for week, record in self.weeks.items():
            for s in record.sightings:
                found.setdefault(s.appliance_id, {})[week] = s
        limit = Week.parse(before) if before else None
        chosen = {
            i: [
                (w, by_week[w]) for w in sorted(by_week, key=Week.parse) if not limit or Week.parse(w) < limit
            ]
            for i, by_week in found.items()
        }
        return {i: seen for i, seen in chosen.items() if seen}

    def last(self) -> dict[str, Sighting]:
        """Each appliance as the last week that saw it did."""
        return {i: seen[-1][1] for i, seen in self.sightings().items()}

    def before(self, week: str) -> dict[str, Sighting]:
        """Each appliance as the last week before `week` saw it, of those that saw it at all."""
        return {i: seen[-1][1] for i, seen in self.sightings(before=week).items()}

    def seen_before(self, week: str) -> set[str]:
        """The ids of appliances that some week before `week` saw."""
        here = Week.parse(week)
        old = {i for i, summary in self.summaries.items() if Week.parse(summary.first_week) < here}
        return old | set(self.sightings(before=week))

    def week_before(self, week: str) -> WeekRecord | None:
        """The record of the last week before `week`; None if there is none."""
        earlier = [w for w in self.weeks if Week.parse(w) < Week.parse(week)]
        return self.weeks[max(earlier, key=Week.parse)] if earlier else None


def unit_shape(current_a: FloatArray) -> FloatArray:
    """A waveform at an RMS of one; zeros stay zeros."""
    size = float(np.sqrt(np.mean(np.square(current_a))))
    return current_a / size if size > 0 else current_a


def shape_distance(a: FloatArray, b: FloatArray) -> float:
    """RMS of the difference of two waveforms, each at an RMS of one: 0 (one shape) to 2 (the opposite)."""
    n = min(len(a), len(b))
    a, b = (unit_shape(w if len(w) == n else resample_cycle(w, n)) for w in (a, b))
    return float(np.sqrt(np.mean(np.square(a - b))))


def gathered(house: str, records: Iterable[tuple[str, WeekRecord]]) -> Catalogue:
    """A catalogue from weeks in any order, as bounded as one that was kept."""
    catalogue = Catalogue(house)
    for week, record in records:
        catalogue = catalogue.with_week(week, record)
    return catalogue.bounded()


def _compact(sighting: Sighting) -> Sighting:
    wave = sighting.look.current_a
    if len(wave) <= SUMMARY_POINTS:
        return sighting
    return replace(sighting, look=replace(sighting.look, current_a=resample_cycle(wave, SUMMARY_POINTS)))
