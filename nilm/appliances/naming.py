"""What to call an appliance: the analyst's own name, else its submeter's, else a description.

Owns these words, how watts and durations are said, and the one-to-one matching to submeters. Reading
submeters is `nilm.recordings.submeters`' business; the analyst's small file is kept by
`nilm.appliances.analyst`.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment

from lfm.arrays import FloatArray
from nilm.appliances.measures import ALWAYS_ON, HEATER
from nilm.appliances.thresholds import APPLIANCES
from nilm.recordings.submeters import Submeter

_PLAIN_KIND = {
    HEATER: "heater",
    "motor": "motor",
    "electronics": "electronics",
    "dimmed light": "dimmed light",
    "generator": "generator",
    "mixed": "load",
}


class Name(NamedTuple):
    """What an appliance is called, and why."""

    text: str
    source: str  # "analyst", "submeter", "earlier week" or "description"
    score: float | None = None  # how well the submeter fits; None for other sources


@dataclass(frozen=True)
class SubmeterMatch:
    """The submeter that fits an appliance best, and how well."""

    name: str
    channel: int
    score: float  # 0 to 1, see `overlap_score`


def overlap_score(power_w: FloatArray, submeter_w: FloatArray, duration_s: FloatArray) -> float:
    """2 ∫ min(a, b) / ∫ (a + b) over the rows where the submeter has a reading: 1 is the same power always.

    The share of the two energies that was used at the same time; rows stand for `duration_s` (N,) seconds. 0
    where less than `least_shared_s` is shared or neither uses any energy.
    """
    shared = np.isfinite(submeter_w)
    seconds = duration_s[shared]
    if seconds.sum() < APPLIANCES.least_shared_s:
        return 0.0
    a, b = np.maximum(power_w[shared], 0.0), np.maximum(submeter_w[shared], 0.0)
    total = float(seconds @ (a + b))
    return float(2 * (seconds @ np.minimum(a, b)) / total) if total > 0 else 0.0


def match_submeters(
    power_w: FloatArray, submeters: Sequence[Submeter], duration_s: FloatArray
) -> tuple[list[SubmeterMatch | None], tuple[str, ...]]:
    """The submeter of each appliance (or None), one-to-one, and notes in words about what could not be used.

    power_w (N, K) is each appliance's power in rows of `duration_s` (N,) seconds. The assignment has the
    largest sum of `overlap_score`; pairs below `least_submeter_score` are never made.
    """
    K = power_w.shape[1]
    matches: list[SubmeterMatch | None] = [None] * K
    silent = [s for s in submeters if duration_s[np.isfinite(s.watts)].sum() < APPLIANCES.least_shared_s]
    usable = [s for s in submeters if s not in silent]
    notes = []
    if silent:
        listed = ", ".join(f"channel {s.channel} ({s.name})" for s in silent[:8])
        more = f" and {len(silent) - 8} more" if len(silent) > 8 else ""
        notes.append(f"{len(silent)} submeters have next to no readings in this period: {listed}{more}.")
    if submeters and not usable:
        notes.append("No submeter covers this period, so appliances are described and not named after one.")
    if K == 0 or not usable:
        return matches, tuple(notes)
    score = np.array([[overlap_score(power_w[:, k], s.watts, duration_s) for s in usable] for k in range(K)])
    allowed = np.where(score >= APPLIANCES.least_submeter_score, score, 0.0)
    for k, s in zip(*linear_sum_assignment(-allowed), strict=True):
        if allowed[k, s] > 0:
            matches[k] = SubmeterMatch(usable[s].name, usable[s].channel, round(float(score[k, s]), 4))
    return matches, tuple(notes)


def lift_to_machines(
    matches: Sequence[SubmeterMatch | None],
    power_w: FloatArray,
    submeters: Sequence[Submeter],
    host_of: Mapping[int, int],
    duration_s: FloatArray,
) -> list[SubmeterMatch | None]:
    """`matches` with a part's submeter given to its machine where it measures the whole of it.

    That is so where the machine has no submeter of its own and fits better together with the part than the
    part alone. `host_of` maps a part (a column of power_w (N, K)) to its machine; rows
    stand for `duration_s` (N,) seconds.
    """
    lifted = list(matches)
    by_channel = {s.channel: s for s in submeters}
    for part, host in sorted(host_of.items()):
        match = lifted[part]
        if match is None or lifted[host] is not None:
            continue
        both = power_w[:, part] + power_w[:, host]
        whole = overlap_score(both, by_channel[match.channel].watts, duration_s)
        if whole > match.score:
            lifted[part], lifted[host] = None, SubmeterMatch(match.name, match.channel, round(whole, 4))
    return lifted


def describe(active_w: float, kind: str, *, per_day: float, share_of_time: float) -> str:
    """A name for an appliance that has none: "2.8 kW heater, about 4 times a day"."""
    size = power_words(abs(active_w))  # the word generator says which way it flows
    if kind == ALWAYS_ON:
        return f"{size}, always on"
    heats = kind != HEATER or abs(active_w) >= APPLIANCES.smallest_heater_w
    what = f"{size} {_PLAIN_KIND.get(kind, kind) if heats else 'resistive load'}"
    if share_of_time == 0:
        return f"{what}, not seen on"
    if share_of_time > 0.5:
        return f"{what}, on most of the time"
    times = round(per_day)
    if times >= 2:
        return f"{what}, about {times} times a day"
    if per_day >= 0.75:
        return f"{what}, about once a day"
    weekly = max(1, round(per_day * 7))
    return f"{what}, about {'once' if weekly == 1 else f'{weekly} times'} a week"


def power_words(active_w: float) -> str:
    """Watts as people say them: "2.8 kW", "85 W", "4.2 W"; a minus sign where it feeds in."""
    size = abs(active_w)
    text = f"{size / 1000:.1f} kW" if size >= 995 else f"{size:.0f} W" if size >= 9.95 else f"{size:.1f} W"
    return f"−{text}" if active_w < 0 else text


def duration_words(seconds: float) -> str:
    """A duration as people say it: "45 s", "12 min", "3 h 20 min", "2 d 4 h"."""
    if seconds < 100:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    if minutes < 100:
        return f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    if hours < 48:
        return f"{hours} h {minutes:02d} min"
    return f"{hours // 24} d {hours % 24} h"


def quoted(name: str) -> str:
    """The name as it stands in a sentence: in quotation marks where its own comma would end a part of it."""
    return f"“{name}”" if "," in name else name


def distinct(names: Mapping[str, str]) -> dict[str, str]:
    """`names` by appliance id, with the id added wherever two appliances would carry the same name."""
    carried = Counter(names.values())
    return {
        appliance_id: f"{name} ({appliance_id})" if carried[name] > 1 else name
        for appliance_id, name in names.items()
    }
