"""Machines with parts: a feature that is on only while another is, as a suggestion with its evidence.

Owns the decision when a PDC2 (Theorem 4) is evidence of a machine and when it is luck. The suggestion can be
undone: `nilm.analyst.ungroup`.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lfm import Pdc, pairwise_dependencies
from nilm.waveform_measures import ALWAYS_ON_SHARE

MAX_CHANCE = 0.05  # expected number of such pairs by luck, over all pairs of the house


@dataclass(frozen=True)
class PartOf:
    """Feature `part` is likely inside the machine of feature `host`."""

    part: int
    host: int
    runs: int  # runs of the host in which the part was seen
    rows: int  # rows in which the part is on; the host is on in all of them
    host_share: float  # share of all rows in which the host is on
    chance: float  # host_share ** runs: how likely it is that unrelated uses all fell into the host's


def likely_parts(Z: ArrayLike, gap_before: ArrayLike) -> list[PartOf]:
    """The likely parts in Z (N, K), at most one host for each; a part is never itself a host.

    A feature i is suggested as a part of j where i is on only while j is, j is off some of the time (an
    always-on level hosts everything and says nothing), the two differ, and chance alone would hardly have put
    every run of i inside j's: host_share ** runs, times the number of pairs, is at most MAX_CHANCE. Of
    several hosts the one that is on least is the machine.
    """
    Z = np.asarray(Z, dtype=np.uint8)
    gaps = np.asarray(gap_before, dtype=bool)
    N, K = Z.shape
    ones = Z.sum(axis=0, dtype=np.int64)
    hosts_of: dict[int, list[int]] = {}
    for i, j, pdc in pairwise_dependencies(Z):
        if pdc is Pdc.DISJOINT:
            continue
        part, host = (i, j) if pdc is Pdc.IMPLIES else (j, i)
        if 0 < ones[part] < ones[host] < ALWAYS_ON_SHARE * N:
            hosts_of.setdefault(part, []).append(host)
    found: dict[int, PartOf] = {}
    for part in sorted(hosts_of, key=lambda k: -int(ones[k])):  # hosts are settled before their parts
        for host in sorted(hosts_of[part], key=lambda k: (int(ones[k]), k)):
            if host in found:  # it is a part itself; its own host is on this list too
                continue
            run_of_row = np.cumsum(_starts(Z[:, host], gaps)) * Z[:, host]
            runs = len(np.unique(run_of_row[Z[:, part] == 1]))
            share = float(ones[host] / N)
            chance = share**runs
            if chance * K * (K - 1) <= MAX_CHANCE:
                found[part] = PartOf(part, host, runs, int(ones[part]), share, chance)
                break
    return [found[part] for part in sorted(found)]


def evidence_words(part: PartOf, *, host_name: str, interval_s: float) -> str:
    """One sentence for an analyst: what was seen, and how likely it would be by chance."""
    minutes = part.rows * interval_s / 60
    chance = "less than one in a million" if part.chance < 1e-6 else f"about 1 in {round(1 / part.chance):,}"
    return (
        f"It was on for {minutes:,.0f} minutes, always while {host_name} was on, in {part.runs} separate "
        f"runs of it, although {host_name} is on only {100 * part.host_share:.1f}% of the time; "
        f"by chance: {chance}."
    )


def _starts(column: NDArray[np.uint8], gaps: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Which rows begin a run of ones."""
    before = np.concatenate([[0], column[:-1]])
    return np.asarray((column == 1) & ((before == 0) | gaps))
