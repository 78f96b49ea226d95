"""Stretches of time and why they are missing: holes between rows, cut where the reason changes.

The ingest says it of recordings (`nilm.recordings.quality`), the report of the whole result
(`nilm.recordings.missing`).
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from lfm.arrays import FloatArray
from nilm.thresholds import ROWS

NOT_RECORDED = "not recorded"


class Span(NamedTuple):
    """A stretch of time, in UNIX seconds, and why it is missing."""

    start_s: float
    end_s: float
    reason: str


def holes(start_s: FloatArray, end_s: FloatArray, within_s: tuple[float, float]) -> list[tuple[float, float]]:
    """The times between two instants that no row (N,) stands for; rows are in order of time.

    What is no longer than a gap may be is passed over: one recording ends and the next begins.
    """
    begin = np.append(start_s, within_s[1])
    end = np.concatenate([[within_s[0]], end_s])
    missing = begin - end > ROWS.gap_s
    return list(zip(end[missing].tolist(), begin[missing].tolist(), strict=True))


def cut_by_reason(begin_s: float, end_s: float, known: Sequence[Span]) -> Iterator[Span]:
    """The hole from `begin_s` to `end_s`, cut where the reason changes: the first `known` one that covers it.

    What none covers is not recorded.
    """
    inside = [span for span in known if span.start_s < end_s and span.end_s > begin_s]
    edges = {t for span in inside for t in (span.start_s, span.end_s) if begin_s < t < end_s}
    for low, high in pairwise(sorted({begin_s, end_s, *edges})):
        reason = next((s.reason for s in inside if s.start_s <= low and high <= s.end_s), NOT_RECORDED)
        yield Span(low, high, reason)
