"""What a week changed in a house, in words: new, gone, changed and renamed appliances, and contradictions.

Owns the sentences. What they rest on is decided in `matching` and kept in `records`.
"""

from collections.abc import Iterable, Mapping

from nilm.appliances.catalogue.records import (
    NEW_APPLIANCE,
    OTHER_HABITS,
    OTHER_WAVEFORM,
    Catalogue,
    Doubt,
    Sighting,
)
from nilm.appliances.catalogue.resemblance import telling_words
from nilm.appliances.measures import ALWAYS_ON
from nilm.appliances.naming import power_words
from nilm.appliances.thresholds import APPLIANCES
from nilm.results import CatalogueChanges

_GIVEN = ("analyst", "submeter")  # a name that somebody gave; a description changes with what it describes


def changes(
    catalogue: Catalogue, week: str, sightings: Iterable[Sighting], *, doubts: Iterable[Doubt] = ()
) -> CatalogueChanges:
    """This week's appliances against the weeks before it in the calendar; nothing on the first week.

    "New" was never seen before, "gone" was there in the last week before this one, "changed" differs in watts
    by more than `changed_share` from when it was last seen, or has another name than it had.
    """
    sightings = list(sightings)
    last = catalogue.week_before(week)
    before = catalogue.before(week)
    renamed = tuple(_renamed(sightings, before))
    if last is None:
        return CatalogueChanges((), (), (), renamed=renamed)
    here = {s.appliance_id for s in sightings}
    ever = catalogue.seen_before(week)
    return CatalogueChanges(
        new=tuple(s.appliance_id for s in sightings if s.appliance_id not in ever),
        gone=tuple(s.name for s in last.sightings if s.appliance_id not in here),
        changed=tuple(
            f"{s.appliance_id} {s.name}: {power_words(s.look.active_w)}, was {power_words(was.look.active_w)}"
            for s in sightings
            if (was := before.get(s.appliance_id)) is not None and differs(s.look.active_w, was.look.active_w)
        ),
        contradictions=(*_doubts_in_words(doubts, sightings, before), *_names_at_odds(sightings, before)),
        renamed=renamed,
    )


def in_words(sighting: Sighting) -> str:
    """What is known of an appliance, on one line: "A03, so far 'fridge', motor, 91 W, 180 runs a week"."""
    look = sighting.look
    words = [sighting.appliance_id, f"so far {sighting.name!r}", look.kind, power_words(look.active_w)]
    if look.habits is not None and look.kind != ALWAYS_ON:
        runs = round(look.habits.runs_per_week)
        words.append(f"{runs} run{'' if runs == 1 else 's'} a week")
    return ", ".join(words)


def differs(active_w: float, was_w: float) -> bool:
    """Whether an appliance's watts are others than they were, by more than `changed_share`."""
    return abs(active_w - was_w) > APPLIANCES.changed_share * abs(was_w)


def _renamed(sightings: Iterable[Sighting], before: Mapping[str, Sighting]) -> Iterable[str]:
    for s in sightings:
        was = before.get(s.appliance_id)
        formerly = s.formerly or (was.name if was else "")
        if formerly and formerly != s.name and s.name_source in _GIVEN:
            yield f"{s.appliance_id} {s.name}: formerly shown as “{formerly}”"


def _doubts_in_words(
    doubts: Iterable[Doubt], sightings: Iterable[Sighting], before: Mapping[str, Sighting]
) -> Iterable[str]:
    here = {s.appliance_id: f"{s.appliance_id} {s.name}" for s in sightings}
    names = {s.appliance_id: f"{s.appliance_id} {s.name}" for s in before.values()} | here
    for doubt in doubts:
        this, other = (names.get(i, i) for i in (doubt.appliance_id, doubt.other))
        if doubt.other == OTHER_WAVEFORM:
            yield f"{this} is known by its habits and names; its waveform is not what it was."
        elif doubt.other == OTHER_HABITS:
            yield f"{this} is known by its waveform and names; it ran unlike the weeks before."
        elif doubt.other == NEW_APPLIANCE:
            yield f"{this} may be another appliance than in the weeks before: it fits only just."
        elif doubt.other in here:
            yield f"{this} may be {other}: both fit nearly as well."
        else:
            yield f"{this} may be {other}, which is not seen this week."


def _names_at_odds(sightings: Iterable[Sighting], before: Mapping[str, Sighting]) -> Iterable[str]:
    """Where this week's submeter is not the one before, or has no word of the analyst's name."""
    for s in sightings:
        now, past = s.look.submeter, before.get(s.appliance_id)
        was = past.look.submeter if past else None
        if now is None or now == was:
            continue
        if was is not None:
            yield f"{s.appliance_id} {s.name}: the submeter that fits it was {was} and is {now} this week."
        elif s.name_source == "analyst" and not telling_words(now) & telling_words(s.name):
            yield f"{s.appliance_id}: the analyst calls it {s.name}, but the submeter that fits it is {now}."
