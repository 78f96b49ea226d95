"""The manifest: what a step's outputs were made from, and so whether the step has work to do.

A manifest is a JSON file beside the outputs, written last. It records each step's inputs, options, version
and outputs. Two rules make it honest:

- an input is marked (`digest`, `fingerprint`) before it is read, never after: whatever changes from then on
  has another mark, and the next run sees it;
- a step's version is a number in `nilm.versions` that a person raises when the step's outputs change.

Outputs are named relative to the manifest's folder and lie within it; a manifest that says otherwise counts
as damaged, and its steps are done anew.
"""

import json
import logging
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from nilm.errors import InputFileError
from nilm.files import MADE_ANEW, atomic_path, canonical_json, digest, inside, read_json, write_json

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Step:
    """What decides a step's outputs: if all of it is as recorded, the step need not run again."""

    name: str
    inputs: Mapping[str, str] = field(default_factory=dict)  # label → `digest(path)` or `fingerprint(path)`
    options: Mapping[str, Any] = field(default_factory=dict)  # JSON values
    version: int = 0  # of the step, from `nilm.versions`


@dataclass(frozen=True)
class Entry:
    """What a manifest records of a step."""

    inputs: Mapping[str, str]
    options: Mapping[str, Any]
    version: int
    outputs: Mapping[str, str]  # name within the manifest's folder → digest
    result: Any  # a JSON value that the step keeps beside its outputs


def why_redo(manifest: Path, step: Step) -> str | None:
    """Why the step must run, in words; None if its recorded outputs are all there and current."""
    entry = _entries(manifest).get(step.name)
    if entry is None:
        return f"{step.name} has not been done"
    reasons = _differences("input", entry.inputs, step.inputs)
    reasons += _differences("option", entry.options, json.loads(canonical_json(step.options)), values=True)
    if entry.version != step.version:
        reasons.append(f"changed version of {step.name} ({entry.version} to {step.version})")
    for name, recorded_digest in entry.outputs.items():
        output = manifest.parent / name
        if not output.is_file():
            reasons.append(f"missing output {name}")
        elif digest(output) != recorded_digest:
            reasons.append(f"output {name} is not what was written")
    return "; ".join(reasons) or None


def _differences(
    kind: str, before: Mapping[str, Any], now: Mapping[str, Any], *, values: bool = False
) -> list[str]:
    reasons = [f"new {kind} {name}" for name in now if name not in before]
    reasons += [f"{kind} {name} is gone" for name in before if name not in now]
    for name in now:
        if name in before and now[name] != before[name]:
            reasons.append(f"changed {kind} {name}" + (f" ({before[name]} to {now[name]})" if values else ""))
    return reasons


def _entries(manifest: Path) -> dict[str, Entry]:
    """The recorded steps; none if the manifest is missing or damaged, for then nothing can be relied on."""
    if not manifest.is_file():
        return {}
    try:
        content = read_json(manifest, cure=MADE_ANEW)
        return {name: _entry(manifest, entry) for name, entry in content["steps"].items()}
    except (InputFileError, KeyError, TypeError, AttributeError) as error:
        log.warning(
            "%s is not a manifest of this version (%s); its steps are done anew", manifest, error or "empty"
        )
        return {}


def _entry(manifest: Path, recorded: Mapping[str, Any]) -> Entry:
    """One step of a manifest; TypeError or InputFileError if it is not what `record` writes."""
    entry = Entry(**recorded)
    for marks in (entry.inputs, entry.outputs):
        if not isinstance(marks, dict) or not all(isinstance(mark, str) for mark in marks.values()):
            raise TypeError(f"not digests by name: {marks!r:.60}")
    if not isinstance(entry.options, dict) or type(entry.version) is not int:
        raise TypeError("options or version of another type")
    for name in entry.outputs:
        inside(manifest.parent, name)
    return entry


def record(
    manifest: Path, step: Step, outputs: list[Path], *, result: Any = None, durable: bool = True
) -> None:
    """Write the step into the manifest, after its outputs; `result` is a JSON value kept beside them.

    Outputs lie in the manifest's folder or below. Other steps' entries stay; whoever calls holds the lock of
    the folder's week, so that no other process changes them meanwhile. `durable` as for `atomic_path`.
    """
    entry = Entry(
        dict(step.inputs),
        dict(step.options),
        step.version,
        {path.relative_to(manifest.parent).as_posix(): digest(path) for path in outputs},
        result,
    )
    steps = _entries(manifest) | {step.name: entry}
    write_json(manifest, {"steps": {name: vars(one) for name, one in steps.items()}}, durable=durable)


def recorded(manifest: Path, step_name: str) -> Entry:
    """What the manifest records of a step; InputFileError if it does not hold the step."""
    entry = _entries(manifest).get(step_name)
    if entry is None:
        raise InputFileError(f"{manifest} does not record the step {step_name}; run it first")
    return entry


def replace_outputs(manifest: Path, step: Step, files: Mapping[str, bytes], *, result: Any = None) -> None:
    """Put a step's files beside the manifest so that no half-written one is ever visible.

    All files are complete under hidden names before the first takes its own; files that the step
    recorded before and no longer makes are removed; the manifest comes last.
    """
    folder = manifest.parent
    before = _entries(manifest).get(step.name)
    with ExitStack() as stack:  # its end renames each file; an error before that removes them all
        for name, content in files.items():
            stack.enter_context(atomic_path(folder / name)).write_bytes(content)
    for name in set(before.outputs if before else ()) - set(files):
        inside(folder, name).unlink(missing_ok=True)
    record(manifest, step, [folder / name for name in files], result=result)
