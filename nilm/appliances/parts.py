"""Machines with parts: a feature that is on only while another is, as a suggestion with its evidence.

Owns the decision when a PDC2 (Theorem 4) is evidence of a machine and when it is luck; one or two
wrong readings that break the condition do not rule a machine out. The suggestion can be undone:
`nilm.appliances.analyst.ungroup`.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import bdtrc

from lfm import runs_of_ones
from lfm.arrays import BinaryArray, BoolArray, FloatArray
from nilm.appliances.naming import duration_words
from nilm.appliances.thresholds import APPLIANCES


@dataclass(frozen=True)
class PartOf:
    """Feature `part` is likely inside the machine of feature `host`."""

    part: int
    host: int
    runs: int  # runs of the host in which the part was seen
    on_s: float  # seconds for which the part is on
    outside_s: float  # of these, seconds in which the host is off
    host_share: float  # share of all the time in which the host is on
    chance: float  # how likely it is that so many of unrelated uses all fell into the host's
    by_analyst: bool = False  # an analyst said so; the data were not asked


def likely_parts(Z: ArrayLike, gap_before: ArrayLike, duration_s: FloatArray) -> list[PartOf]:
    """The likely parts in Z (N, K), at most one host for each; a part is never itself a host.

    Rows stand for `duration_s` (N,) seconds. A feature i is suggested as a part of j where i is on only while
    j is (but for `most_outside` of its time), j is off some of the time (everything runs while the always-on
    level does, which says nothing), the two differ, and chance alone, times the number of pairs, is at most
    `most_chance`. Of several hosts the one that is on least is the machine.
    """
    Z = np.asarray(Z, dtype=np.uint8)
    gaps = np.asarray(gap_before, dtype=bool)
    K = Z.shape[1]
    weighted = Z * duration_s[:, None]
    on_s = weighted.sum(axis=0)
    outside_s = weighted.T @ (1 - Z.astype(np.float64))  # seconds of i in which j is off
    found: dict[int, PartOf] = {}
    for part in sorted(range(K), key=lambda k: -on_s[k]):  # hosts are settled before their parts
        hosts = np.flatnonzero(
            (outside_s[part] <= APPLIANCES.most_outside * on_s[part])
            & (0 < on_s[part] < on_s)
            & (on_s < APPLIANCES.always_on_share * duration_s.sum())
        )
        for host in sorted(hosts.tolist(), key=lambda k: (on_s[k], k)):
            if host in found:  # it is a part itself; its own host is on this list too
                continue
            runs = _runs_touched(Z[:, host], Z[:, part], gaps)
            own_runs = len(runs_of_ones(Z[:, part], gaps))
            strays = own_runs - _runs_touched(Z[:, part], Z[:, host], gaps)
            share = float(on_s[host] / duration_s.sum())
            chance = float(bdtrc(runs - 1, runs + strays, share))  # without strays this is share ** runs
            if chance * K * (K - 1) <= APPLIANCES.most_chance:
                on, outside = float(on_s[part]), float(outside_s[part, host])
                found[part] = PartOf(part, host, runs, on, outside, share, chance)
                break
    return [found[part] for part in sorted(found)]


def evidence_words(part: PartOf, *, host_name: str) -> str:
    """One sentence for an analyst: what was seen, and how likely it would be by chance."""
    if part.by_analyst:
        return "An analyst put it there."
    always = f"all but {duration_words(part.outside_s)} of it" if part.outside_s else "always"
    return (
        f"It was on for {duration_words(part.on_s)}, {always} while {host_name} was on, in "
        f"{part.runs} separate runs of it, although {host_name} is on only {100 * part.host_share:.1f}% of "
        f"the time; by chance: {_chance_words(part.chance)}."
    )


def _chance_words(chance: float) -> str:
    """A small probability in words, to two digits: it is an estimate."""
    if chance < 1e-6:
        return "less than one in a million"
    return f"about 1 in {float(f'{1 / chance:.2g}'):,.0f}"


def _runs_touched(column: BinaryArray, by: BinaryArray, gaps: BoolArray) -> int:
    """How many runs of ones in `column` have a row in which `by` is on too."""
    return sum(bool(by[first:end].any()) for first, end in runs_of_ones(column, gaps))
