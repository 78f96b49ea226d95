"""Files that are whole or absent, and manifests that say whether a step's outputs are current.

Owns atomic writes, digests of outputs, cheap fingerprints of large inputs, the code version, the lock of one
house and week, and the manifest: a JSON file, written last, that records each step's inputs, options, code
version and outputs. It knows no Parquet schema (`nilm.recordings.tables`) and no order of steps (`flows`).

A run killed at any point leaves at most hidden temporary files, which the next `remove_stale` takes away, and
outputs whose digests differ from the manifest's, which makes `why_redo` ask for the step again.
"""

import ast
import fcntl
import hashlib
import json
import logging
import os
import secrets
import threading
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from nilm.errors import InputFileError

log = logging.getLogger(__name__)

EDGE_BYTES = 64 * 1024
ROOMS = ("lfm", "nilm")
_ROOT = Path(__file__).parents[1]
_ENTRY_KEYS = {"inputs", "options", "code", "outputs", "result"}


def canonical_json(value: Any) -> str:
    """`value` as JSON text that is the same for equal values: sorted keys, no NaN, a final newline."""
    return json.dumps(value, sort_keys=True, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def digest(path: Path) -> str:
    """The SHA-256 of a file's bytes, as "sha256:…"; two files with equal digests are equal."""
    with path.open("rb") as file:
        return "sha256:" + hashlib.file_digest(file, "sha256").hexdigest()


def fingerprint(path: Path) -> str:
    """A mark of a large input, cheap to take: its size, modification time, and SHA-256 of both ends.

    Only the first and last 64 KiB are read. FLAC encoders put the MD5 of all samples into the file's head, so
    that even a file changed in the middle, at equal size and with its time set back, is noticed.
    """
    stat = path.stat()
    ends = hashlib.sha256()
    with path.open("rb") as file:
        ends.update(file.read(EDGE_BYTES))
        file.seek(max(0, stat.st_size - EDGE_BYTES))
        ends.update(file.read(EDGE_BYTES))
    return f"size:{stat.st_size} mtime_ns:{stat.st_mtime_ns} ends:{ends.hexdigest()}"


# Python 3.11's parser is not safe to use from several threads at once, and tasks run in threads.
_parsing = threading.Lock()


def code_version(*modules: str) -> str:
    """A digest of the source of `modules` and of all that they import, directly or not, from lfm and nilm.

    Without arguments, of both packages whole. Comments count: a digest cannot tell what matters. A package's
    other files (templates) count with its `__init__.py`.
    """
    with _parsing:
        return _code_version(*modules)


@lru_cache
def _code_version(*modules: str) -> str:
    unread = list(modules) or [_module_name(p) for room in ROOMS for p in (_ROOT / room).rglob("*.py")]
    files: dict[str, Path] = {}
    while unread:
        name = unread.pop()
        path = _source(name)
        if path is None or name in files:
            continue
        files[name] = path
        if path.name == "__init__.py" and name not in ROOMS:
            files |= {f"{name}:{p.name}": p for p in path.parent.rglob("*") if _is_template(p)}
        unread += _imports(name, path)
    total = hashlib.sha256()
    for name, path in sorted(files.items()):
        total.update(f"{name} {digest(path)}\n".encode())
    return total.hexdigest()[:16]


def _module_name(path: Path) -> str:
    parts = path.relative_to(_ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _source(module: str) -> Path | None:
    """The file of a module of ours; None for a name that is no module (a function, another package)."""
    if module.split(".")[0] not in ROOMS:
        return None
    base = _ROOT.joinpath(*module.split("."))
    return next((p for p in (base.with_suffix(".py"), base / "__init__.py") if p.is_file()), None)


def _is_template(path: Path) -> bool:
    return path.is_file() and path.suffix not in {".py", ".pyc", ".nbi", ".nbc"}


def _imports(module: str, path: Path) -> list[str]:
    """The names that a module may import; `from a import b` gives `a` and `a.b`, for b may be a module."""
    names = [module.rpartition(".")[0]]  # importing a.b runs a's __init__ first
    stub = path.with_suffix(".pyi")  # lists what a package loads late, in imports relative to it
    listing = stub if stub.is_file() else path
    for node in ast.walk(ast.parse(listing.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and (node.module or node.level):
            home = ".".join(([module] if node.level else []) + ([node.module] if node.module else []))
            names += [home, *(f"{home}.{alias.name}" for alias in node.names)]
    return names


@contextmanager
def atomic_path(path: Path, *, durable: bool = True) -> Iterator[Path]:
    """A hidden temporary path beside `path` to write to; it takes the name `path` when the block ends well.

    On an exception the temporary file is removed and `path` stays as it was. The file is on disk (fsync)
    before it takes its name, unless it need not be `durable`: then a crash of the machine may leave it empty,
    which is right only for what a manifest checks and a rerun makes again. While the block runs the temporary
    file is locked, which is how `remove_stale` tells the files of a killed run from those of a living one.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary, handle = _new_temporary(path)
    try:
        yield temporary
        if durable:
            # A writer may have replaced the file by its own: sync what lies there now, not our handle.
            with temporary.open("rb") as written:
                os.fsync(written.fileno())
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    finally:
        os.close(handle)


def _new_temporary(path: Path) -> tuple[Path, int]:
    while True:
        temporary = path.parent / f".{path.name}.{secrets.token_hex(6)}.tmp"
        handle = os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o644)
        fcntl.flock(handle, fcntl.LOCK_EX)
        if temporary.exists():  # remove_stale may have come between the two calls
            return temporary, handle
        os.close(handle)


def remove_stale(folder: Path) -> int:
    """How many temporary files of killed runs were removed from `folder` (not from folders below it)."""
    removed = 0
    for temporary in sorted(folder.glob(".*.tmp")) if folder.is_dir() else []:
        try:
            handle = os.open(temporary, os.O_RDONLY)
        except FileNotFoundError:
            continue  # its writer has just renamed it
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            temporary.unlink(missing_ok=True)
            removed += 1
        except BlockingIOError:
            pass  # its writer lives
        finally:
            os.close(handle)
    if removed:
        log.info("removed %d temporary files of an interrupted run from %s", removed, folder)
    return removed


def write_bytes(path: Path, content: bytes, *, durable: bool = True) -> None:
    """Write `content` to `path` atomically."""
    with atomic_path(path, durable=durable) as temporary:
        temporary.write_bytes(content)


def write_text(path: Path, content: str) -> None:
    """Write `content` to `path` atomically, as UTF-8."""
    write_bytes(path, content.encode("utf-8"))


def write_json(path: Path, value: Any, *, durable: bool = True) -> None:
    """Write `value` to `path` atomically, as canonical JSON."""
    write_bytes(path, canonical_json(value).encode("utf-8"), durable=durable)


def read_json(path: Path) -> Any:
    """What a JSON file holds; InputFileError if it is missing or is not JSON."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputFileError(f"{path} cannot be read: {error.strerror or error}") from error
    except ValueError as error:
        raise InputFileError(
            f"{path} is not JSON ({error}); delete it, the next run writes it anew"
        ) from error


@contextmanager
def week_lock(data_root: Path, house: str, week: str) -> Iterator[None]:
    """Hold the lock of one house and week: a second run of the same week waits here for the first to end.

    The lock is the file `<data_root>/locks/<house>.<week>.lock`. The system releases it when its process
    ends, however it ends. It is not re-entrant: only the outermost caller (flow, command line) takes it.
    """
    path = data_root / "locks" / f"{house}.{week}.lock"
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            log.info("%s %s: another run of this week is under way; waiting for it to end", house, week)
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


@dataclass(frozen=True)
class Step:
    """What decides a step's outputs: if all of it is as recorded, the step need not run again."""

    name: str
    inputs: Mapping[str, str] = field(default_factory=dict)  # label → `digest(path)` or `fingerprint(path)`
    options: Mapping[str, Any] = field(default_factory=dict)  # JSON values
    code: str = ""  # `code_version(…)` of the step's module


def why_redo(manifest: Path, step: Step) -> str | None:
    """Why the step must run, in words; None if its recorded outputs are all there and current."""
    entry = _entries(manifest).get(step.name)
    if entry is None:
        return f"{step.name} has not been done"
    reasons = _differences("input", entry["inputs"], step.inputs)
    reasons += _differences("option", entry["options"], json.loads(canonical_json(step.options)), values=True)
    if entry["code"] != step.code:
        reasons.append(f"changed code version ({entry['code']} to {step.code})")
    for name, recorded_digest in entry["outputs"].items():
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


def _entries(manifest: Path) -> dict[str, Any]:
    """The recorded steps; none if the manifest is missing or not one, for then nothing can be relied on."""
    if not manifest.is_file():
        return {}
    try:
        entries: dict[str, Any] = read_json(manifest)["steps"]
        usable = all(entry.keys() == _ENTRY_KEYS for entry in entries.values())
    except (InputFileError, KeyError, TypeError, AttributeError):
        usable = False
    if not usable:
        log.warning("%s is not a manifest of this version; its steps are done anew", manifest)
        return {}
    return entries


def record(
    manifest: Path, step: Step, outputs: list[Path], *, result: Any = None, durable: bool = True
) -> None:
    """Write the step into the manifest, after its outputs; `result` is a JSON value kept beside them.

    Outputs lie in the manifest's folder or below. Other steps' entries stay. `durable` as for `atomic_path`.
    """
    entry = {
        "inputs": dict(step.inputs),
        "options": dict(step.options),
        "code": step.code,
        "outputs": {path.relative_to(manifest.parent).as_posix(): digest(path) for path in outputs},
        "result": result,
    }
    write_json(manifest, {"steps": _entries(manifest) | {step.name: entry}}, durable=durable)


def recorded_result(manifest: Path, step_name: str) -> Any:
    """The `result` that a step recorded; InputFileError if the manifest does not hold the step."""
    entry = _entries(manifest).get(step_name)
    if entry is None:
        raise InputFileError(f"{manifest} does not record the step {step_name}; run it first")
    return entry["result"]


def recorded_outputs(manifest: Path, step_name: str) -> list[Path]:
    """The files that a step recorded as its outputs; InputFileError if the manifest lacks the step."""
    entry = _entries(manifest).get(step_name)
    if entry is None:
        raise InputFileError(f"{manifest} does not record the step {step_name}; run it first")
    return [manifest.parent / name for name in entry["outputs"]]


def publish(manifest: Path, step: Step, files: Mapping[str, bytes], *, result: Any = None) -> None:
    """Put a set of files beside the manifest so that no half-written one is ever visible.

    All files are complete under hidden names before the first takes its own; files that the step
    recorded before and no longer makes are removed; the manifest comes last.
    """
    folder = manifest.parent
    before = _entries(manifest).get(step.name, {"outputs": {}})["outputs"]
    with ExitStack() as stack:  # its end renames each file; an error before that removes them all
        for name, content in files.items():
            stack.enter_context(atomic_path(folder / name)).write_bytes(content)
    for name in set(before) - set(files):
        (folder / name).unlink(missing_ok=True)
    record(manifest, step, [folder / name for name in files], result=result)
