"""Which appliance of this week is which of the weeks before: one decision over all of them.

Owns the assignment and what it leaves in doubt. Each pair has its log odds (`resemblance`); the assignment
has the largest sum, one to one, and a pair whose odds speak against it is not made: the appliance is new
then. An id is in doubt where another assignment is nearly as good, and where it comes or goes from one week
to the next beside one like it: two heaters that were read as one explain that as well.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import linear_sum_assignment

from lfm.arrays import FloatArray
from nilm.appliances.catalogue.habits import habit_nats
from nilm.appliances.catalogue.records import (
    NEW_APPLIANCE,
    OTHER_HABITS,
    OTHER_WAVEFORM,
    Catalogue,
    Doubt,
    Look,
    Wander,
)
from nilm.appliances.catalogue.resemblance import Model, Past, past_of, same_nats, shape_nats
from nilm.appliances.measures import ALWAYS_ON, GENERATOR
from nilm.appliances.thresholds import APPLIANCES
from nilm.recordings.ukdale import Week

_NO_NAMES: Mapping[str, str] = {}


@dataclass(frozen=True)
class Identity:
    """The ids of a week's appliances, in their order, and which of them are in doubt."""

    ids: tuple[str, ...]
    doubts: tuple[Doubt, ...] = ()


def identify(
    catalogue: Catalogue,
    week: str,
    looks: Sequence[Look],
    *,
    solution: str,
    energy_kwh: Sequence[float],
    called: Mapping[str, str] = _NO_NAMES,
) -> Identity:
    """The ids of a week's appliances, as the catalogue knows them or new, and what is in doubt.

    The week's own record decides if it is of the same `solution` (a digest). Otherwise the most likely
    assignment to what this week (from another solution) and the others knew; what is left gets new ids,
    largest energy first. `called` are the analyst's names by id.
    """
    record = catalogue.weeks.get(week)
    if record is not None and record.solution == solution and len(record.sightings) == len(looks):
        return Identity(tuple(s.appliance_id for s in record.sightings), record.doubts)
    model = Model()
    known = _known(catalogue, week, looks, called, model)
    nats = np.array([[same_nats(look, past, model) for past in known] for look in looks])
    nats = nats.reshape(len(looks), len(known))
    pairs, _ = _best(nats)
    ids = {k: known[h].appliance_id for k, h in pairs.items()}
    number = catalogue.last_number
    for k in sorted(set(range(len(looks))) - set(ids), key=lambda k: (-energy_kwh[k], k)):
        number += 1
        ids[k] = f"A{number:02d}"
    unlike = [doubt for k, h in pairs.items() for doubt in _unlike_itself(looks[k], known[h], model)]
    ordered = tuple(ids[k] for k in range(len(looks)))
    rivals = _rivals(nats, pairs, ordered, [p.appliance_id for p in known])
    said = {frozenset((doubt.appliance_id, doubt.other)) for doubt in rivals}
    beside = [
        doubt
        for doubt in _come_or_gone(catalogue, week, dict(zip(ordered, looks, strict=True)))
        if frozenset((doubt.appliance_id, doubt.other)) not in said
    ]
    return Identity(ordered, (*rivals, *unlike, *beside))


def _come_or_gone(catalogue: Catalogue, week: str, now: Mapping[str, Look]) -> list[Doubt]:
    """Ids that come or go from the week before to this one, beside one that could be the same.

    One that came could be one that went, unless their sizes are far apart; or, if they are alike, one that
    stayed. One that went could be one that stayed, likewise.
    """
    last = catalogue.week_before(week)
    if last is None:
        return []
    before = {s.appliance_id: s.look for s in last.sightings}
    came, went = [i for i in now if i not in before], [i for i in before if i not in now]
    stayed = [i for i in now if i in before]
    doubts = [
        Doubt(new, old) for new in came for old in went if _alike(now[new], before[old], APPLIANCES.far_apart)
    ]
    doubts += [
        Doubt(new, old)
        for new in came
        for old in stayed
        if _alike(now[new], before[old], APPLIANCES.most_drift)
    ]
    return doubts + [
        Doubt(kept, old)
        for old in went
        for kept in stayed
        if _alike(now[kept], before[old], APPLIANCES.most_drift)
    ]


def _alike(one: Look, other: Look, share: float) -> bool:
    """Whether two are of one kind, and their watts differ by at most this share of the larger.

    What is always on and what always feeds in are of one kind here, whatever their size: each is the level
    below all others, of which an estimate may have taken too much away.
    """
    if {one.kind, other.kind} == {ALWAYS_ON, GENERATOR}:
        return True
    larger = max(abs(one.active_w), abs(other.active_w))
    return one.kind == other.kind and abs(one.active_w - other.active_w) <= share * larger


def _unlike_itself(look: Look, past: Past, model: Model) -> list[Doubt]:
    """Where one kind of evidence speaks against the id, though the others outweigh it."""
    against = {
        OTHER_WAVEFORM: shape_nats(look, past, model),
        OTHER_HABITS: habit_nats(look.habits, past.habits, model.habits),
    }
    return [Doubt(past.appliance_id, what) for what, nats in against.items() if nats < APPLIANCES.unlike_nats]


def _known(
    catalogue: Catalogue, week: str, looks: Sequence[Look], called: Mapping[str, str], model: Model
) -> list[Past]:
    """What is known of each appliance, those seen nearest to `week` first.

    If the week itself was solved before, its record alone speaks for the appliances in it.
    """
    n_points = len(looks[0].current_a) if looks else 0
    here = Week.parse(week).start
    found = []
    for appliance_id, sightings in sorted(catalogue.sightings().items()):
        own = [pair for pair in sightings if pair[0] == week]
        away = [(abs((Week.parse(w).start - here).days) / 7, s) for w, s in own or sightings]
        summary = catalogue.summaries.get(appliance_id)
        wander = summary.wander if summary else Wander()
        name = called.get(appliance_id, "")
        found.append(past_of(away, wander, n_points=n_points, called=name, model=model))
    return sorted(found, key=lambda past: (past.weeks_away, past.appliance_id))


def _best(nats: FloatArray) -> tuple[dict[int, int], float]:
    """The pairs (row → column) with the largest sum of log odds, none of them below 0, and that sum."""
    # Among equals what was seen nearest in time comes first, hence the small charge by order.
    gain = np.maximum(nats, 0.0) - 1e-9 * np.arange(nats.shape[1])
    rows, columns = linear_sum_assignment(-gain)
    pairs = {k: h for k, h in zip(rows.tolist(), columns.tolist(), strict=True) if nats[k, h] > 0}
    return pairs, float(sum(nats[k, h] for k, h in pairs.items()))


def _rivals(
    nats: FloatArray, pairs: Mapping[int, int], ids: Sequence[str], known: Sequence[str]
) -> list[Doubt]:
    """What each appliance might be instead, where that is nearly as likely.

    For an appliance that was matched: the best assignment without that pair. For a new one: the best in which
    it is something known after all.
    """
    best = sum(float(nats[k, h]) for k, h in pairs.items())
    doubts: dict[frozenset[str], Doubt] = {}
    for k in range(len(nats)):
        changed = nats.copy()
        bonus = 0.0
        if k in pairs:
            changed[k, pairs[k]] = -np.inf
        else:
            bonus = 1e3  # larger than any sum: so it is matched with something
            changed[k] += bonus
        other, value = _best(changed)
        if (k not in pairs and k not in other) or best - (value - bonus) >= APPLIANCES.doubt_nats:
            continue
        instead = known[other[k]] if k in other else NEW_APPLIANCE
        doubts.setdefault(frozenset((ids[k], instead)), Doubt(ids[k], instead))
    return list(doubts.values())
