"""What an analyst decided about a house: names, wrong names, what is one machine and what is not.

Owns one small JSON file per house, `data/names/<house>.json`, that people may also edit by hand:

    {"house": "house_1", "names": {"A03": "Kettle"}, "wrong_names": {"A04": ["fridge"]},
     "merged": {"A07": "A03"}, "not_parts": ["A05"], "history": [...]}

It is an input of every report of the house. Only the functions here write it, one at a time (a lock), and
each appends to the history what it changed, so that `undo` takes back exactly that.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from nilm.errors import InputFileError, OptionError
from nilm.files import change_lock, read_json, write_json
from nilm.thresholds import INPUT

# The file holds what a person decided: no advice may cost them their words.
_CURE = "it holds an analyst's own words: correct it by hand, or move it away and keep it"
_ID = re.compile(r"A\d{2,6}", re.ASCII)
_Values = dict[tuple[str, str], Any]  # (field, appliance_id) → its new value, None to take it out


@dataclass(frozen=True)
class Edit:
    """One value of the file that changed; None where there was or is no value."""

    field: str  # "names", "wrong_names", "merged" or "not_parts"
    appliance_id: str
    before: Any
    after: Any


@dataclass(frozen=True)
class Change:
    """One decision of the analyst."""

    at_utc: str  # ISO, to the second
    words: str  # what was decided
    edits: tuple[Edit, ...]
    undoes: int | None = None  # place in the history of the change that it takes back


@dataclass(frozen=True)
class AnalystNotes:
    """The analyst's decisions about one house."""

    names: Mapping[str, str] = field(default_factory=dict)  # appliance_id → name
    not_parts: frozenset[str] = frozenset()  # appliance_ids that stand for themselves
    merged: Mapping[str, str] = field(default_factory=dict)  # appliance_id → the one that it belongs to
    wrong_names: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # not to be used again
    history: tuple[Change, ...] = ()  # oldest first

    @property
    def last(self) -> int | None:
        """The place in the history of the last change that can be undone; None if there is none."""
        taken_back = {change.undoes for change in self.history}
        standing = [n for n, c in enumerate(self.history) if c.undoes is None and n not in taken_back]
        return standing[-1] if standing else None

    def host_of(self, appliance_id: str) -> str | None:
        """The appliance into which this one was merged, followed to its end; None if it was not."""
        host = None
        while appliance_id in self.merged:
            host = appliance_id = self.merged[appliance_id]
        return host

    def joined(self, appliance_ids: Sequence[str]) -> tuple[str, ...]:
        """The ids of one week, each merged one under the id of its host where the host is not there itself.

        Two ids of one appliance in different weeks so become one; two features of one week stay two.
        """
        taken = set(appliance_ids)
        found = []
        for appliance_id in appliance_ids:
            host = self.host_of(appliance_id)
            found.append(host if host is not None and host not in taken else appliance_id)
            taken.add(found[-1])
        return tuple(found)


def read_notes(path: Path, house: str) -> AnalystNotes:
    """The decisions in the file, none without a file; InputFileError if it is broken or another house's."""
    if not path.is_file():
        return AnalystNotes()
    content = read_json(path, cure=_CURE)
    if not isinstance(content, dict) or content.get("house") != house:
        owner = content.get("house") if isinstance(content, dict) else None
        raise InputFileError(f"{path} holds names of the house {owner!r}, not of {house!r}; {_CURE}")
    try:
        return _notes(content)
    except OptionError as error:
        raise InputFileError(f"{path}: {error}; {_CURE}") from error


def name_appliance(path: Path, *, house: str, appliance_id: str, name: str) -> None:
    """Give an appliance the analyst's own name, which stays in every week; the file is made if need be."""
    _change(
        path,
        house,
        f"{check_id(appliance_id)} is called {check_name(name)!r}",
        lambda _: {("names", appliance_id): check_name(name)},
    )


def reject_name(path: Path, *, house: str, appliance_id: str, name: str) -> None:
    """Mark a name as wrong for an appliance: nothing but an analyst gives it that name again."""
    check_id(appliance_id)

    def decide(notes: AnalystNotes) -> _Values:
        refused = {*notes.wrong_names.get(appliance_id, ()), check_name(name)}
        values: _Values = {("wrong_names", appliance_id): sorted(refused)}
        return values | ({("names", appliance_id): None} if appliance_id in notes.names else {})

    _change(path, house, f"{appliance_id} is not {check_name(name)!r}", decide)


def merge(path: Path, *, house: str, appliance_id: str, into: str) -> None:
    """Make an appliance a part of another: of one machine where both ran, under one id where only one did."""
    check_id(appliance_id)
    check_id(into)

    def decide(notes: AnalystNotes) -> _Values:
        if appliance_id in (into, notes.host_of(into)):
            raise OptionError(f"{appliance_id} cannot be merged into {into}: they are one already")
        return {("merged", appliance_id): into, ("not_parts", appliance_id): None}

    _change(path, house, f"{appliance_id} belongs to {into}", decide)


def ungroup(path: Path, *, house: str, appliance_id: str) -> None:
    """Split an appliance from its machine, whether an analyst or the data put it there, in every week."""
    check_id(appliance_id)
    _change(
        path,
        house,
        f"{appliance_id} stands for itself",
        lambda _: {("not_parts", appliance_id): True, ("merged", appliance_id): None},
    )


def regroup(path: Path, *, house: str, appliance_id: str) -> None:
    """Take an `ungroup` back: the suggestion shows again where the data makes it."""
    check_id(appliance_id)
    _change(path, house, f"{appliance_id} may be a part again", lambda _: {("not_parts", appliance_id): None})


def undo(path: Path, *, house: str) -> str:
    """Take the last standing change back and return its words; OptionError if there is none."""
    with change_lock(path):
        notes = read_notes(path, house)
        if notes.last is None:
            raise OptionError(f"nothing stands in {path} that could be undone")
        change = notes.history[notes.last]
        values = {(edit.field, edit.appliance_id): edit.before for edit in change.edits}
        _write(path, house, notes, f"undone: {change.words}", values, undoes=notes.last)
        return change.words


def check_id(appliance_id: Any) -> str:
    """`appliance_id` itself if it is like A03; OptionError otherwise."""
    if not isinstance(appliance_id, str) or not _ID.fullmatch(appliance_id):
        raise OptionError(f"an appliance id is written like A03, as in appliances.csv; got {appliance_id!r}")
    return appliance_id


def check_name(name: Any) -> str:
    """`name` without outer blanks if it can be shown on one line; OptionError otherwise."""
    if not isinstance(name, str) or not name.strip() or len(name) > INPUT.most_name or not name.isprintable():
        raise OptionError(f"a name is one line of 1 to {INPUT.most_name} printable characters; got {name!r}")
    return name.strip()


def _change(path: Path, house: str, words: str, decide: Callable[[AnalystNotes], _Values]) -> None:
    """Write what `decide` makes of the notes; nothing if all is so already."""
    with change_lock(path):
        notes = read_notes(path, house)
        _write(path, house, notes, words, decide(notes))


def _write(
    path: Path, house: str, notes: AnalystNotes, words: str, values: _Values, *, undoes: int | None = None
) -> None:
    """Write the notes with `values` put in, and the change at the end of their history."""
    tables = _tables(notes)
    edits = []
    for (table, appliance_id), after in values.items():
        before = tables[table].pop(appliance_id, None)
        if after is not None:
            tables[table][appliance_id] = after
        if before != after:
            edits.append(Edit(table, appliance_id, before, after))
    if edits:
        change = Change(f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}", words, tuple(edits), undoes)
        history = [asdict(entry) for entry in (*notes.history, change)]
        write_json(
            path, {"house": house, **tables, "not_parts": sorted(tables["not_parts"]), "history": history}
        )


def _tables(notes: AnalystNotes) -> dict[str, dict[str, Any]]:
    """The decisions in force, by field and appliance, as the file's JSON has them."""
    return {
        "names": dict(notes.names),
        "wrong_names": {i: list(names) for i, names in notes.wrong_names.items()},
        "merged": dict(notes.merged),
        "not_parts": dict.fromkeys(notes.not_parts, True),
    }


def _notes(content: Mapping[str, Any]) -> AnalystNotes:
    """The notes in a file's content; OptionError says what is wrong with them."""
    names, not_parts = content.get("names", {}), content.get("not_parts", [])
    merged, wrong = content.get("merged", {}), content.get("wrong_names", {})
    tables_fit = all(isinstance(table, dict) for table in (names, merged, wrong))
    if not (tables_fit and isinstance(not_parts, list) and all(isinstance(w, list) for w in wrong.values())):
        raise OptionError(
            "names and merged must be objects, not_parts a list, and wrong_names an object of lists"
        )
    notes = AnalystNotes(
        names={check_id(key): check_name(value) for key, value in names.items()},
        not_parts=frozenset(check_id(key) for key in not_parts),
        merged={check_id(key): check_id(value) for key, value in merged.items()},
        wrong_names={check_id(key): tuple(map(check_name, value)) for key, value in wrong.items()},
        history=_history(content.get("history", [])),
    )
    for appliance_id in notes.merged:
        seen = [appliance_id]
        while (following := notes.merged.get(seen[-1])) is not None:
            if following in seen:
                raise OptionError(
                    f"{' belongs to '.join([*seen, following])}: a circle; take one of them out"
                )
            seen.append(following)
    return notes


def _history(entries: Any) -> tuple[Change, ...]:
    try:
        return tuple(
            Change(
                str(entry["at_utc"]),
                str(entry["words"]),
                tuple(Edit(**edit) for edit in entry["edits"]),
                entry.get("undoes"),
            )
            for entry in entries
        )
    except (TypeError, KeyError) as error:
        raise OptionError(f'its history is not one ({error}); take "history" out to go on') from error
