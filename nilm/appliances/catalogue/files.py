"""The catalogue as JSON: `data/catalogue/<house>.json`, and each week's own share of it, `identity.json`.

Owns the form of both. A week's own share, beside its solution, is what counts:

- a week that is made again from the same solution gets the ids it had, whatever the catalogue has become;
- a lost catalogue is gathered again from the weeks; published reports carry their ids and never change.

The catalogue holds the recent weeks and the summaries, so that a new week reads a bounded amount.
"""

import logging
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np

from nilm.appliances.analyst import check_id
from nilm.appliances.catalogue.habits import N_BINS, Habits
from nilm.appliances.catalogue.records import (
    Catalogue,
    Doubt,
    Look,
    Sighting,
    Summary,
    Wander,
    WeekRecord,
    gathered,
)
from nilm.appliances.thresholds import APPLIANCES
from nilm.errors import InputFileError, NilmError
from nilm.files import MADE_ANEW, read_json, write_json
from nilm.recordings.ukdale import Week

log = logging.getLogger(__name__)

_DECIMALS = 4  # waveforms are kept to a tenth of a milliampere


def read_catalogue(
    path: Path | None, house: str, *, solutions_folder: Path | None = None, week: str | None = None
) -> Catalogue:
    """The catalogue in `path`, with the own records of the weeks around `week` under `solutions_folder`.

    Without a file (or path), or where it is damaged, it is gathered from all weeks there. InputFileError if
    it is another house's: then it is not ours to write over.
    """
    own = {p.parent.name: p for p in (solutions_folder.glob("*/identity.json") if solutions_folder else [])}
    kept = _parse_or_warn(path, house) if path is not None and path.is_file() else None
    catalogue = kept or gathered(
        house, [pair for name in sorted(own) for pair in _own_weeks(own[name], house)]
    )
    for name in _around(own, week):
        for found, record in _own_weeks(own[name], house):
            catalogue = catalogue.with_week(found, record)
    return catalogue


def write_catalogue(path: Path, catalogue: Catalogue) -> None:
    """Write the catalogue, bounded, atomically; the same catalogue gives the same bytes."""
    write_json(path, catalogue_json(catalogue.bounded()))


def _own_weeks(path: Path, house: str) -> list[tuple[str, WeekRecord]]:
    """The week of an `identity.json`; none where it is damaged or another house's: the ids are lost."""
    try:
        found = _parse_or_warn(path, house)
    except InputFileError as error:  # in a folder of ours, which the week's next report writes anew
        log.warning("not used: %s", error)
        return []
    return list(found.weeks.items()) if found else []


def _around(own: Mapping[str, Path], week: str | None) -> list[str]:
    """The weeks whose own record is read: the last ones of all, `week`, and the nearest on both sides."""
    names = sorted((name for name in own if Week.named(name)), key=Week.parse)
    near = set(names[-APPLIANCES.recent_weeks :])
    if week is not None:
        here = Week.parse(week)
        near |= set([n for n in names if Week.parse(n) <= here][-APPLIANCES.recent_weeks - 1 :])
        near |= set([n for n in names if Week.parse(n) > here][: APPLIANCES.recent_weeks])
    return sorted(near, key=Week.parse)


def catalogue_json(catalogue: Catalogue) -> dict[str, Any]:
    """The catalogue as a JSON value."""
    return {
        "house": catalogue.house,
        "last_number": catalogue.last_number,
        "weeks": {
            week: {
                "solution": record.solution,
                "appliances": [_sighting_json(s) for s in record.sightings],
                "doubts": [asdict(doubt) for doubt in record.doubts],
            }
            for week, record in catalogue.weeks.items()
        },
        "summaries": [
            {
                **_sighting_json(summary.sighting),
                "first_week": summary.first_week,
                "last_week": summary.last_week,
                "wander": asdict(summary.wander),
            }
            for summary in catalogue.summaries.values()
        ],
    }


def _sighting_json(s: Sighting) -> dict[str, Any]:
    look = s.look
    return {
        "appliance_id": s.appliance_id,
        "name": s.name,
        "name_source": s.name_source,
        "formerly": s.formerly,
        "kind": look.kind,
        "active_w": look.active_w,
        "current_a": np.round(look.current_a, _DECIMALS).tolist(),
        "habits": asdict(look.habits) if look.habits else None,
        "spread": look.spread,
        "inrush": look.inrush,
        "submeter": look.submeter,
    }


def _parse_or_warn(path: Path, house: str) -> Catalogue | None:
    """What the file holds; None, with a warning, where it is damaged. InputFileError if another house's."""
    try:
        content = read_json(path, cure=MADE_ANEW)
        owner = content["house"]
        if owner == house:
            return _parse(content)
    except (NilmError, KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        log.warning("%s is not a catalogue (%.200r); it is made again from what the weeks keep", path, error)
        return None
    raise InputFileError(
        f"{path} is the catalogue of the house {owner!r}, not of {house!r}; move it away, "
        "the right one is gathered again from the weeks"
    )


def _parse(content: Mapping[str, Any]) -> Catalogue:
    catalogue = Catalogue(str(content["house"]), last_number=int(content.get("last_number", 0)))
    for week, record in content["weeks"].items():
        sightings = tuple(_sighting(a) for a in record["appliances"])
        doubts = tuple(Doubt(str(d["appliance_id"]), str(d["other"])) for d in record.get("doubts", []))
        found = WeekRecord(str(record["solution"]), sightings, doubts)
        catalogue = catalogue.with_week(str(Week.parse(week)), found)
    summaries = {s["appliance_id"]: _summary(s) for s in content.get("summaries", [])}
    return replace(catalogue, summaries=summaries)


def _sighting(content: Mapping[str, Any]) -> Sighting:
    wave = np.array(content["current_a"], dtype=np.float64)
    if wave.ndim != 1 or wave.size < 4 or not np.isfinite(wave).all():
        raise ValueError("a waveform is a list of at least 4 finite numbers")
    habits, inrush, submeter = (content.get(key) for key in ("habits", "inrush", "submeter"))
    numbers = [float(content["active_w"]), float(content.get("spread", 0.0)), float(inrush or 0.0)]
    if not np.isfinite(numbers).all():
        raise ValueError("watts, spread and inrush are finite numbers")
    return Sighting(
        check_id(content["appliance_id"]),
        str(content["name"]),
        Look(
            str(content["kind"]),
            float(content["active_w"]),
            wave,
            habits=_habits(habits) if habits is not None else None,
            spread=float(content.get("spread", 0.0)),
            inrush=float(inrush) if inrush is not None else None,
            submeter=str(submeter) if submeter is not None else None,
        ),
        str(content.get("name_source", "description")),
        str(content.get("formerly", "")),
    )


def _habits(content: Mapping[str, Any]) -> Habits:
    hours = tuple(int(n) for n in content["hours"])
    if len(hours) != N_BINS or min(hours) < 0:
        raise ValueError(f"hours are {N_BINS} counts")
    return Habits(
        float(content["days"]),
        int(content["runs"]),
        float(content["log_duration"]),
        float(content["log_duration_sd"]),
        hours,
    )


def _summary(content: Mapping[str, Any]) -> Summary:
    wander = content["wander"]
    return Summary(
        _sighting(content),
        str(Week.parse(content["first_week"])),
        str(Week.parse(content["last_week"])),
        Wander(int(wander["changes"]), float(wander["size_squares"]), float(wander["shape_squares"])),
    )
