"""Every moment of a week that the result does not cover, and why: no time is missing without a reason.

Owns the sum: the time that the used rows stand for and the time listed here make up the week. What went wrong
with a recording or a row is `nilm.recordings.quality`'s to say.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from lfm.arrays import IntArray
from nilm.recordings.quality import FLAG_MEANINGS, UNFIT, Flag, iso
from nilm.recordings.spans import Span, cut_by_reason, holes
from nilm.recordings.tables import WeekTable
from nilm.recordings.ukdale import HOUR_S, Week
from nilm.thresholds import ROWS
from nilm.timeline import seconds

NOT_EXPLAINED = "fits no combination of appliances"


def missing_spans(
    week: Week, table: WeekTable, used: IntArray, gaps: Sequence[Mapping[str, Any]]
) -> tuple[Span, ...]:
    """What lies between the `used` rows of a week's table, in order of time, each span with one reason.

    `gaps` are those of the ingest, {"start_utc", "end_utc", "reason"}. A row that is there and was not used
    is named by its flags.
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
    for hole in holes(start_s[in_use], end_s[in_use], (week.start.timestamp(), week.end.timestamp())):
        for span in cut_by_reason(*hole, known):
            if spans and spans[-1].reason == span.reason and spans[-1].end_s == span.start_s:
                spans[-1] = spans[-1]._replace(end_s=span.end_s)
            else:
                spans.append(span)
    return tuple(spans)


def span_json(span: Span) -> dict[str, Any]:
    """A span as quality.json has it."""
    return {
        "start_utc": iso(span.start_s),
        "end_utc": iso(span.end_s),
        "minutes": round((span.end_s - span.start_s) / 60, 3),
        "reason": span.reason,
    }


def hours_without_result(week: Week, spans: Sequence[Span]) -> tuple[str, ...]:
    """The starts of the UTC hours of the week that lie within `spans` from end to end."""
    first_s = week.start.timestamp()
    covered = np.zeros(round((week.end.timestamp() - first_s) / HOUR_S))
    for span in spans:
        hours = np.arange(len(covered)) * HOUR_S + first_s
        covered += np.clip(np.minimum(span.end_s, hours + HOUR_S) - np.maximum(span.start_s, hours), 0, None)
    return tuple(iso(first_s + HOUR_S * hour) for hour in np.flatnonzero(covered > HOUR_S - ROWS.gap_s))


def _reason(flags: int) -> str:
    said = [FLAG_MEANINGS[flag] for flag in Flag if flag & flags & UNFIT]
    return "; ".join([*said, NOT_EXPLAINED])


def _unix_s(text: str) -> float:
    return float(np.datetime64(text.removesuffix("Z"), "s").astype(np.int64))
