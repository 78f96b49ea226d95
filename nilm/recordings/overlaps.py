"""Each instant of a week once: rows cut at the ends of a week, and where two recordings overlap.

Owns which of two rows is used for a time that both stand for. Whole rows that nothing overlaps stay as they
are.
"""

import heapq
from dataclasses import replace

import numpy as np

from lfm.arrays import FloatArray
from nilm.recordings.tables import WeekTable
from nilm.thresholds import ROWS
from nilm.timeline import seconds, utc


def cut_to(table: WeekTable, from_s: float, until_s: float) -> WeekTable:
    """The rows that reach into [from_s, until_s), UNIX seconds, cut at both ends.

    What is left of a cut row counts if it is longer than the longest hole that is no gap: a recording that
    begins a moment before Monday is not one of the week before.
    """
    start_s = seconds(table.start_utc)
    begin_s, end_s = np.maximum(start_s, from_s), np.minimum(start_s + table.duration_s, until_s)
    whole = end_s - begin_s >= table.duration_s - ROWS.shortest_s
    kept = whole | (end_s - begin_s > ROWS.gap_s)
    return _with_times(table.take(kept), begin_s[kept], end_s[kept])


def each_instant_once(offered: WeekTable) -> WeekTable:
    """The rows in order of time, without overlaps.

    Of two rows for one time the one whose waveform is sound is used, then the one with more cycles, then the
    one of the earlier file.
    """
    order = np.lexsort((offered.source_file, -offered.n_cycles, ~offered.fit_for_use))
    start_s = seconds(offered.start_utc)
    end_s = start_s + offered.duration_s
    # (start, rank, end): rank 0 is the best row. What is left of a row after a cut waits for its turn.
    waiting = [(float(start_s[row]), rank, float(end_s[row])) for rank, row in enumerate(order.tolist())]
    heapq.heapify(waiting)
    kept: list[tuple[float, int, float]] = []
    while waiting:
        begin, rank, end = heapq.heappop(waiting)
        if end - begin <= ROWS.shortest_s:
            continue
        if kept and kept[-1][2] > begin:
            last_begin, last_rank, last_end = kept.pop()
            if last_rank < rank:
                kept.append((last_begin, last_rank, last_end))
                heapq.heappush(waiting, (last_end, rank, end))
                continue
            if begin - last_begin > ROWS.shortest_s:
                kept.append((last_begin, last_rank, begin))
            heapq.heappush(waiting, (end, last_rank, last_end))
        kept.append((begin, rank, end))
    begins, ranks, ends = (np.array(column) for column in zip(*kept, strict=True))
    return _with_times(offered.take(order[ranks]), begins, ends)


def _with_times(table: WeekTable, start_s: FloatArray, end_s: FloatArray) -> WeekTable:
    """The table with other times; a row whose start is cut no longer begins with the switch it began with."""
    same = np.abs(seconds(table.start_utc) - start_s) < ROWS.shortest_s
    return replace(
        table,
        start_utc=np.where(same, table.start_utc, utc(start_s)),
        duration_s=end_s - np.where(same, seconds(table.start_utc), start_s),
        inrush=np.where(same, table.inrush, 0.0),
        inrush_s=np.where(same, table.inrush_s, 0.0),
    )
