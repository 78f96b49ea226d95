"""The same appliance, week after week: ids that stay, and what is new, gone or changed.

Owns `data/catalogue/<house>.json`: for each published week, its appliances' ids, watts and waveforms. Each
week also keeps its own share of it beside its solution (`identity.json`), so that

- a week that is made again from the same solution gets the ids it had, whatever the catalogue has become;
- a lost catalogue is gathered again from the weeks; published reports carry their ids and never change.

A new week is matched to the nearest weeks in the calendar, by the distance of waveforms and one-to-one, so
the weeks of one house are published one after the other, earliest first, if their ids are to be reproducible.
"""

import logging
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from nilm.appliances.analyst import check_id
from nilm.appliances.measures import ALWAYS_ON, GENERATOR, HEATER, resample_cycle
from nilm.appliances.naming import power_words
from nilm.errors import InputFileError, NilmError
from nilm.files import MADE_ANEW, read_json, write_json
from nilm.recordings.ukdale import Week
from nilm.results import CatalogueChanges

log = logging.getLogger(__name__)

FloatArray = NDArray[np.float64]

MAX_DISTANCE = 0.2  # of the larger waveform's size; from week to week one appliance differs by up to 0.03
MAX_DISTANCE_HEATER = 0.07  # heaters all have the voltage's shape: another size is another heater
MAX_DISTANCE_ALWAYS_ON = 0.7  # what is never switched off changes in size with every new charger
CHANGED_SHARE = 0.05  # watts that differ by more are worth a word, and an old description is no longer true
_SMALLEST_A = 0.05  # RMS amps; below it noise rules the distance
_DECIMALS = 4


@dataclass(frozen=True, eq=False)
class Sighting:
    """One appliance as one week saw it."""

    appliance_id: str
    name: str
    kind: str
    active_w: float
    current_a: FloatArray  # (D,)
    name_source: str = "description"  # "analyst", "submeter" or "description", in the week that first said it


@dataclass(frozen=True, eq=False)
class WeekRecord:
    """The appliances of one week, in the order of its solution's features."""

    solution: str  # digest of the solution that the ids belong to
    sightings: tuple[Sighting, ...]


@dataclass(frozen=True, eq=False)
class Catalogue:
    """What is known of a house's appliances, by week ("2015-wk01")."""

    house: str
    weeks: Mapping[str, WeekRecord] = field(default_factory=dict)

    def with_week(self, week: str, record: WeekRecord) -> "Catalogue":
        """This catalogue with `week` added or replaced."""
        return replace(self, weeks={**self.weeks, week: record})

    def nearest(self, week: str, *, only_before: bool = False) -> dict[str, Sighting]:
        """Each appliance as the week nearest to `week` saw it: itself first, then the earlier of two."""
        here = Week.parse(week).start
        distances = {w: Week.parse(w).start - here for w in self.weeks}
        if only_before:
            distances = {w: d for w, d in distances.items() if d.total_seconds() < 0}
        nearest: dict[str, Sighting] = {}
        for w in sorted(distances, key=lambda w: (abs(distances[w]), w)):
            for sighting in self.weeks[w].sightings:
                nearest.setdefault(sighting.appliance_id, sighting)
        return nearest

    def before(self, week: str) -> dict[str, Sighting]:
        """Each appliance as the last week before `week` saw it, of those that saw it at all."""
        return self.nearest(week, only_before=True)

    def week_before(self, week: str) -> WeekRecord | None:
        """The record of the last week before `week`; None if there is none."""
        earlier = [w for w in self.weeks if Week.parse(w) < Week.parse(week)]
        return self.weeks[max(earlier, key=Week.parse)] if earlier else None


def identify(
    catalogue: Catalogue,
    week: str,
    *,
    solution: str,
    current_a: FloatArray,
    kinds: Sequence[str],
    energy_kwh: Sequence[float],
) -> tuple[str, ...]:
    """The ids of a week's features, waveforms (K, D) in `current_a`, as the catalogue knows them or new.

    The week's own record decides if it is of the same `solution` (a digest). Otherwise the assignment to what
    this week (from another solution) and the others knew, with the smallest sum of distances, none above the
    limit of its kind; what is left gets new ids, largest energy first.
    """
    record = catalogue.weeks.get(week)
    if record is not None and record.solution == solution and len(record.sightings) == len(current_a):
        return tuple(s.appliance_id for s in record.sightings)
    known = list(catalogue.nearest(week).values())
    ids: dict[int, str] = {}
    if known:
        distance = np.array(
            [[_distance(wave, kind, s) for s in known] for wave, kind in zip(current_a, kinds, strict=True)]
        )
        # A pair that is too far costs as much as leaving both alone, so that it never displaces a good one.
        # Among equals the week that is nearest in time decides, hence the small charge by order.
        cost = np.minimum(distance, 1.0) + 1e-9 * np.arange(len(known))
        rows, columns = linear_sum_assignment(cost)
        for row, column in zip(rows.tolist(), columns.tolist(), strict=True):
            if distance[row, column] < 1.0:
                ids[row] = known[column].appliance_id
    taken = [int(s.appliance_id[1:]) for r in catalogue.weeks.values() for s in r.sightings]
    number = max(taken, default=0)
    for k in sorted(set(range(len(current_a))) - set(ids), key=lambda k: (-energy_kwh[k], k)):
        number += 1
        ids[k] = f"A{number:02d}"
    return tuple(ids[k] for k in range(len(current_a)))


def _distance(wave: FloatArray, kind: str, known: Sighting) -> float:
    """How far a waveform is from a known one, 1 being the limit; infinite across the always-on line."""
    always_on = kind == ALWAYS_ON
    if always_on != (known.kind == ALWAYS_ON):
        return math.inf
    other = known.current_a
    if len(other) != len(wave):
        other = resample_cycle(other, len(wave))
    if kind == known.kind == GENERATOR and other.any():  # the sun makes its size, the inverter its shape
        other = other * (np.linalg.norm(wave) / np.linalg.norm(other))
    size = max(float(np.linalg.norm(wave)), float(np.linalg.norm(other)), _SMALLEST_A * math.sqrt(len(wave)))
    heaters = kind == known.kind == HEATER
    limit = MAX_DISTANCE_ALWAYS_ON if always_on else MAX_DISTANCE_HEATER if heaters else MAX_DISTANCE
    return float(np.linalg.norm(wave - other) / size / limit)


def changes(catalogue: Catalogue, week: str, sightings: Iterable[Sighting]) -> CatalogueChanges:
    """This week's appliances against the weeks before it in the calendar; nothing on the first week.

    "New" was never seen before, "gone" was there in the last week before this one, "changed" differs in watts
    by more than CHANGED_SHARE from when it was last seen.
    """
    sightings = list(sightings)
    last = catalogue.week_before(week)
    if last is None:
        return CatalogueChanges((), (), ())
    before = catalogue.before(week)
    here = {s.appliance_id for s in sightings}
    return CatalogueChanges(
        new=tuple(s.appliance_id for s in sightings if s.appliance_id not in before),
        gone=tuple(s.name for s in last.sightings if s.appliance_id not in here),
        changed=tuple(
            f"{s.appliance_id} {s.name}: {power_words(s.active_w)}, was {power_words(was.active_w)}"
            for s in sightings
            if (was := before.get(s.appliance_id)) is not None and differs(s.active_w, was.active_w)
        ),
    )


def differs(active_w: float, was_w: float) -> bool:
    """Whether an appliance's watts are others than they were, by more than CHANGED_SHARE."""
    return abs(active_w - was_w) > CHANGED_SHARE * abs(was_w)


def read_catalogue(path: Path | None, house: str, *, solutions_folder: Path | None = None) -> Catalogue:
    """The catalogue in `path`, completed from the weeks' own `identity.json` under `solutions_folder`.

    Without a file (or path) only those count. InputFileError if it is another house's or cannot be read.
    """
    weeks: dict[str, WeekRecord] = {}
    if path is not None and path.is_file():
        weeks |= _parse(path, house)
    for own in sorted(solutions_folder.glob("*/identity.json")) if solutions_folder else []:
        try:
            weeks |= _parse(own, house)
        except InputFileError as error:  # its week writes it anew; the others must not wait for that
            log.warning("left out of the catalogue: %s", error)
    return Catalogue(house, weeks)


def write_catalogue(path: Path, catalogue: Catalogue) -> None:
    """Write the catalogue, atomically; the same catalogue gives the same bytes."""
    write_json(path, catalogue_json(catalogue))


def catalogue_json(catalogue: Catalogue) -> dict[str, Any]:
    """The catalogue as a JSON value; waveforms to a tenth of a milliampere."""
    return {
        "house": catalogue.house,
        "weeks": {
            week: {
                "solution": record.solution,
                "appliances": [
                    {
                        "appliance_id": s.appliance_id,
                        "name": s.name,
                        "name_source": s.name_source,
                        "kind": s.kind,
                        "active_w": s.active_w,
                        "current_a": np.round(s.current_a, _DECIMALS).tolist(),
                    }
                    for s in record.sightings
                ],
            }
            for week, record in catalogue.weeks.items()
        },
    }


def _finite(numbers: Any, *, ndim: int) -> FloatArray:
    """The numbers of a catalogue; ValueError unless there are some and all are finite."""
    array = np.array(numbers, dtype=np.float64)
    if array.ndim != ndim or array.size == 0 or not np.all(np.isfinite(array)):
        raise ValueError(f"expected finite numbers, got {numbers!r:.60}")
    return array


def _parse(path: Path, house: str) -> dict[str, WeekRecord]:
    content = read_json(path, cure=MADE_ANEW)
    owner = content.get("house") if isinstance(content, dict) else None
    if owner != house:
        raise InputFileError(
            f"{path} is the catalogue of the house {owner!r}, not of {house!r}; move it away, "
            "the right one is gathered again from the weeks"
        )
    try:
        return {
            str(Week.parse(week)): WeekRecord(
                str(record["solution"]),
                tuple(
                    Sighting(
                        check_id(a["appliance_id"]),
                        str(a["name"]),
                        str(a["kind"]),
                        _finite(a["active_w"], ndim=0).item(),
                        _finite(a["current_a"], ndim=1),
                        str(a.get("name_source", "description")),
                    )
                    for a in record["appliances"]
                ),
            )
            for week, record in content["weeks"].items()
        }
    except (NilmError, KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise InputFileError(f"{path} is not a catalogue ({error!r:.200}); {MADE_ANEW}") from error
