"""Every moment of a week that the result does not cover, with the reason: nothing is missing without a word.

Owns the sum: the time that the used rows stand for and the time listed here make up the week. What went wrong
with a recording or a row is `nilm.recordings.quality`'s to say.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nilm.recordings.quality import FLAG_MEANINGS, NOT_RECORDED, UNFIT, Flag, iso
from nilm.recordings.tables import WeekTable
from nilm.recordings.ukdale import HOUR_S, Week
from nilm.thresholds import ROWS
from nilm.timeline import seconds

NOT_EXPLAINED = "fits no combination of appliances"


@dataclass(frozen=True)
class Span:
    """A stretch of time, in UNIX seconds, and why there is no result for it."""

    start_s: float
    end_s: float
    reason: str

    def as_json(self) -> dict[str, Any]:
        """The span for quality.json."""
        minutes = round((self.end_s - self.start_s) / 60, 3)
        return {
            "start_utc": iso(self.start_s),
            "end_utc": iso(self.end_s),
            "minutes": minutes,
            "reason": self.reason,
        }


def missing_spans(
    week: Week, table: WeekTable, used: NDArray[np.int64], gaps: Sequence[Mapping[str, Any]]
) -> tuple[Span, ...]:
    """What lies between the `used` rows of a week's table, in order of time, each span with one reason.

    `gaps` are those of the ingest, {"start_utc", "end_utc", "reason"}. A row that is there and was not used
    is named by its flags. Holes shorter than a second, between two recordings, are passed over.
    """
    known = [Span(_unix_s(gap["start_utc"]), _unix_s(gap["end_utc"]), gap["reason"]) for gap in gaps]
    start_s = seconds(table.start_utc)
    end_s = start_s + table.duration_s
    in_use = np.zeros(len(table), dtype=bool)
    in_use[used] = True
    known += [
        Span(float(start_s[row]), float(end_s[row]), _reason(int(table.flags[row])))
        for row in np.flatnonzero(~in_use)
    ]
    spans: list[Span] = []
    for begin, end in _holes(week, start_s[in_use], end_s[in_use]):
        for span in _explained(begin, end, known):
            if spans and spans[-1].reason == span.reason and spans[-1].end_s == span.start_s:
                spans[-1] = Span(spans[-1].start_s, span.end_s, span.reason)
            else:
                spans.append(span)
    return tuple(spans)


def hours_without_result(week: Week, spans: Sequence[Span]) -> tuple[str, ...]:
    """The starts of the UTC hours of the week that lie within `spans` from end to end."""
    first_s = week.start.timestamp()
    covered = np.zeros(round((week.end.timestamp() - first_s) / HOUR_S))
    for span in spans:
        hours = np.arange(len(covered)) * HOUR_S + first_s
        covered += np.clip(np.minimum(span.end_s, hours + HOUR_S) - np.maximum(span.start_s, hours), 0, None)
    return tuple(iso(first_s + HOUR_S * hour) for hour in np.flatnonzero(covered > HOUR_S - ROWS.gap_s))


def _holes(week: Week, start_s: NDArray[Any], end_s: NDArray[Any]) -> Iterator[tuple[float, float]]:
    """The stretches of the week in which no row stands, a second long or longer."""
    order = np.argsort(start_s)
    reached = week.start.timestamp()
    for begin, end in zip(start_s[order].tolist(), end_s[order].tolist(), strict=True):
        if begin - reached >= ROWS.gap_s:
            yield reached, begin
        reached = max(reached, end)
    if week.end.timestamp() - reached >= ROWS.gap_s:
        yield reached, week.end.timestamp()


def _explained(begin: float, end: float, known: Sequence[Span]) -> Iterator[Span]:
    """The hole from `begin` to `end`, cut where the reason changes; without a reason: not recorded."""
    within = [span for span in known if span.start_s < end and span.end_s > begin]
    cuts = {begin, end} | {t for span in within for t in (span.start_s, span.end_s) if begin < t < end}
    for first, last in pairwise(sorted(cuts)):
        reason = next((s.reason for s in within if s.start_s <= first and last <= s.end_s), NOT_RECORDED)
        yield Span(first, last, reason)


def _reason(flags: int) -> str:
    said = [FLAG_MEANINGS[flag] for flag in Flag if flag & flags & UNFIT]
    return "; ".join([*said, NOT_EXPLAINED])


def _unix_s(text: str) -> float:
    return float(np.datetime64(text.removesuffix("Z"), "s").astype(np.int64))
