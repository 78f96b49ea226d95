"""Whose turn it is in a backfill: which week is solved or published next. Knows no Prefect and reads no file.

A week is solved whenever there is room, for that depends on no other week. It is published when it is solved
and every earlier week of its house is published or has failed, because appliances keep their ids from week
to week. Publishing goes first: a house's weeks wait for each other in line, and the line must keep moving.
"""

from collections import Counter, deque
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from nilm.paths import WeekPaths

WORKERS_IMPORT = ("flows.preloaded",)  # not imported here: it takes seconds
MOST_LOSSES = 1  # a week that takes its process down twice is at fault itself

Step = Literal["solve", "publish"]


@dataclass(frozen=True)
class Job:
    """One step of one week, to run anywhere."""

    step: Step
    place: WeekPaths


class JobOrder:
    """What is still to be done of some weeks, those of a house in order of time; `failures` says what failed.

    Call `take` for a job, and `done` or `lost` when it has ended, all in one thread.
    """

    def __init__(self, places: Iterable[WeekPaths]) -> None:
        self._lines: dict[str, deque[WeekPaths]] = {}  # of each house, the weeks not yet published
        for place in places:
            self._lines.setdefault(place.house, deque()).append(place)
        # The first week of every house before the second of any, so that houses are published side by side.
        places_in_line = {place: n for line in self._lines.values() for n, place in enumerate(line)}
        self._unsolved = deque(sorted(places_in_line, key=lambda place: places_in_line[place]))
        self._n_weeks = len(self._unsolved)
        self._solved: set[WeekPaths] = set()
        self._being_published: set[str] = set()  # houses
        self._losses: Counter[Job] = Counter()
        self.suspects: set[Job] = set()  # lost once, and not ended since
        self.failures: dict[WeekPaths, str] = {}

    @property
    def over(self) -> bool:
        """Whether every week is published or has failed."""
        return not any(self._lines.values())

    @property
    def n_ended(self) -> int:
        """How many jobs of two for each week have ended; a week that failed counts as both."""
        weeks = {place for line in self._lines.values() for place in line}
        return 2 * (self._n_weeks - len(weeks)) + len(weeks & self._solved)

    def take(self) -> Job | None:
        """A job that may start now; None if there is none before others have ended."""
        for house, line in self._lines.items():
            if line and line[0] in self._solved and house not in self._being_published:
                self._being_published.add(house)
                return Job("publish", line[0])
        return Job("solve", self._unsolved.popleft()) if self._unsolved else None

    def done(self, job: Job, failure: str | None = None) -> None:
        """Note that a job has ended, and with what failure if it has failed."""
        line = self._lines[job.place.house]
        self.suspects.discard(job)
        if failure is not None:
            self.failures[job.place] = failure
        if job.step == "solve":
            self._solved.add(job.place)
        else:
            line.popleft()
            self._being_published.discard(job.place.house)
        while line and line[0] in self.failures:
            line.popleft()

    def lost(self, job: Job, why: str) -> None:
        """Note that a job's process is gone: it is taken again, once; after that it has failed."""
        self._losses[job] += 1
        self.suspects.add(job)
        if self._losses[job] > MOST_LOSSES:
            self.done(job, why)
        elif job.step == "solve":
            self._unsolved.appendleft(job.place)
        else:
            self._being_published.discard(job.place.house)
