"""What an analyst decided about a house: names of appliances, and parts that are none.

Owns one small JSON file per house, `data/names/<house>.json`, that people may also edit by hand:

    {"house": "house_1", "names": {"A03": "Kettle"}, "not_parts": ["A05"]}

It is an input of every report of the house; only `name_appliance`, `ungroup` and `regroup` write it.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from nilm.errors import InputFileError, OptionError
from nilm.files import read_json, write_json

MAX_NAME = 80
_ID = re.compile(r"A\d{2,6}", re.ASCII)


@dataclass(frozen=True)
class AnalystNotes:
    """The analyst's decisions about one house."""

    names: Mapping[str, str] = field(default_factory=dict)  # appliance_id → name
    not_parts: frozenset[str] = frozenset()  # appliance_ids that stand for themselves


def read_notes(path: Path, house: str) -> AnalystNotes:
    """The decisions in the file, none without a file; InputFileError if it is broken or another house's."""
    if not path.is_file():
        return AnalystNotes()
    content = read_json(path)
    if not isinstance(content, dict) or content.get("house") != house:
        owner = content.get("house") if isinstance(content, dict) else None
        raise InputFileError(f"{path} holds names of the house {owner!r}, not of {house!r}; move it away")
    names, not_parts = content.get("names", {}), content.get("not_parts", [])
    try:
        if not isinstance(names, dict) or not isinstance(not_parts, list):
            raise OptionError("names must be an object and not_parts a list")
        return AnalystNotes(
            {check_id(key): check_name(value) for key, value in names.items()},
            frozenset(check_id(key) for key in not_parts),
        )
    except OptionError as error:
        raise InputFileError(f"{path}: {error}") from error


def name_appliance(path: Path, *, house: str, appliance_id: str, name: str) -> None:
    """Give an appliance the analyst's own name, which stays in every week; the file is made if need be."""
    check_id(appliance_id)
    notes = read_notes(path, house)
    _write(path, house, AnalystNotes({**notes.names, appliance_id: check_name(name)}, notes.not_parts))


def ungroup(path: Path, *, house: str, appliance_id: str) -> None:
    """Undo the suggestion that an appliance is a part of another, now and in every week."""
    check_id(appliance_id)
    notes = read_notes(path, house)
    _write(path, house, AnalystNotes(notes.names, notes.not_parts | {appliance_id}))


def regroup(path: Path, *, house: str, appliance_id: str) -> None:
    """Take an `ungroup` back: the suggestion shows again where the data makes it."""
    check_id(appliance_id)
    notes = read_notes(path, house)
    _write(path, house, AnalystNotes(notes.names, notes.not_parts - {appliance_id}))


def check_id(appliance_id: Any) -> str:
    """`appliance_id` itself if it is like A03; OptionError otherwise."""
    if not isinstance(appliance_id, str) or not _ID.fullmatch(appliance_id):
        raise OptionError(f"an appliance id is written like A03, as in appliances.csv; got {appliance_id!r}")
    return appliance_id


def check_name(name: Any) -> str:
    """`name` without outer blanks if it can be shown on one line; OptionError otherwise."""
    if not isinstance(name, str) or not name.strip() or len(name) > MAX_NAME or not name.isprintable():
        raise OptionError(f"a name is one line of 1 to {MAX_NAME} printable characters; got {name!r}")
    return name.strip()


def _write(path: Path, house: str, notes: AnalystNotes) -> None:
    write_json(path, {"house": house, "names": dict(notes.names), "not_parts": sorted(notes.not_parts)})
