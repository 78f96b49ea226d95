"""Files that are whole or absent: atomic writes, digests, locks, and names that stay in their folder.

It knows no Parquet schema (`nilm.recordings.tables`) and no manifest (`nilm.manifest`). A process killed at
any point leaves at most hidden temporary files, which the next `remove_stale` takes away, and a lock that
the system has released.
"""

import errno
import fcntl
import hashlib
import json
import logging
import os
import secrets
import stat
import struct
import tokenize
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nilm.errors import InputFileError

log = logging.getLogger(__name__)

EDGE_BYTES = 64 * 1024
MADE_ANEW = "delete it, the next run writes it anew"  # the cure for a file that a program makes
KEPT_BY_HAND = (
    "correct it, or put a copy from before in its place"  # the cure for a file with a person's work
)
_NOT_NPZ = (  # what numpy and zipfile raise for a file that is damaged or of another format
    *(OSError, ValueError, TypeError, KeyError, AttributeError, EOFError, MemoryError, RecursionError),
    *(SyntaxError, NotImplementedError, RuntimeError, OverflowError, tokenize.TokenError, struct.error),
    *(zipfile.BadZipFile, zlib.error),
)


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
    found = path.stat()
    ends = hashlib.sha256()
    with path.open("rb") as file:
        ends.update(file.read(EDGE_BYTES))
        file.seek(max(0, found.st_size - EDGE_BYTES))
        ends.update(file.read(EDGE_BYTES))
    return f"size:{found.st_size} mtime_ns:{found.st_mtime_ns} ends:{ends.hexdigest()}"


def inside(folder: Path, name: str) -> Path:
    """`folder / name`, for a name read from a file; InputFileError if it would lead out of the folder.

    A name is not trusted because it stands in a file of ours: `../x`, an absolute path and a folder that is
    a symbolic link to elsewhere are refused.
    """
    path = folder / name
    try:
        with suppress(FileNotFoundError, NotADirectoryError):
            path.lstat()  # a name that the file system cannot hold is an error here, and not later
        within = path.name != ".." and path.parent.resolve().is_relative_to(folder.resolve())
    except (OSError, ValueError):
        within = False
    if not within:
        raise InputFileError(f"{name!r:.100} is not the name of a file within {folder}")
    return path


@contextmanager
def atomic_path(path: Path, *, durable: bool = True) -> Iterator[Path]:
    """A hidden temporary path beside `path` to write to; it takes the name `path` when the block ends well.

    On an exception the temporary file is removed and `path` stays as it was. The file is on disk (fsync)
    before it takes its name, unless it need not be `durable`: then a crash of the machine may leave it empty,
    which is right only for what a manifest checks and a rerun makes again. While the block runs the temporary
    file is locked, which is how `remove_stale` tells the files of a killed run from those of a living one.
    An OSError without a file's name, such as that of a full disk, gets the name `path`.
    """
    with _named(path):
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


@contextmanager
def _named(path: Path) -> Iterator[None]:
    """Give an OSError of the block the name of the file that was to be written, if it has none.

    A temporary file's name says nothing to whoever reads the message, so it is replaced too.
    """
    try:
        yield
    except OSError as error:
        shown = Path(os.fsdecode(error.filename)).name if isinstance(error.filename, str | bytes) else ""
        if error.errno is not None and (error.filename is None or shown.startswith(f".{path.name}.")):
            error.filename, error.filename2 = str(path), None
        raise


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
            handle = os.open(temporary, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        except OSError:
            continue  # its writer has just renamed it, or somebody else made it
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if stat.S_ISREG(os.fstat(handle).st_mode):
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


def read_json(path: Path, *, cure: str = KEPT_BY_HAND) -> Any:
    """What a JSON file holds; InputFileError if it is missing or is not JSON, with the `cure` in the message.

    The cure is MADE_ANEW only for what a run writes by itself: never for a file with a person's own words.
    """
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputFileError(f"{path} cannot be read: {error.strerror or error}") from error
    except (ValueError, RecursionError) as error:
        raise InputFileError(f"{path} is not JSON ({error}); {cure}") from error


def read_npz(path: Path, *, cure: str, fields: Sequence[str] = ()) -> dict[str, NDArray[Any]]:
    """The arrays of an npz file; InputFileError if it is missing or damaged, or lacks one of `fields`."""
    try:
        source = path.open("rb")  # not by numpy, which leaves a file open that it cannot read
    except OSError as error:
        raise InputFileError(f"{path} cannot be read: {error.strerror or error}; {cure}") from error
    try:
        with source, np.load(source, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        if not all(isinstance(array, np.ndarray) for array in arrays.values()):
            raise ValueError("a member that is no array")
    except _NOT_NPZ as error:
        raise InputFileError(f"{path} is not a file of arrays ({error!r:.200}); {cure}") from error
    if missing := [name for name in fields if name not in arrays]:
        raise InputFileError(f"{path} lacks {', '.join(missing)}; it must hold {', '.join(fields)}")
    return arrays


@contextmanager
def lock_file(path: Path, *, waiting: str = "") -> Iterator[None]:
    """Hold the lock that the file `path` stands for; the system releases it when its process ends.

    The file is made if need be, never written to, and never followed if it is a symbolic link. Not
    re-entrant. `waiting` is logged if another process holds it.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    while True:
        handle = _open_lock(path)
        try:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if waiting:
                    log.info("%s; waiting for it to end", waiting)
                fcntl.flock(handle, fcntl.LOCK_EX)
            if _is_still(path, handle):  # else it was deleted meanwhile, and others lock a new file
                yield
                return
        finally:
            os.close(handle)


def _open_lock(path: Path) -> int:
    try:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, 0o644)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.EISDIR, errno.ENXIO):
            raise InputFileError(f"{path} is a lock and must be a plain file; delete it") from error
        raise
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise InputFileError(f"{path} is a lock and must be a plain file; delete it")
    return handle


def _is_still(path: Path, handle: int) -> bool:
    try:
        return os.path.samestat(path.stat(follow_symlinks=False), os.fstat(handle))
    except FileNotFoundError:
        return False


@contextmanager
def week_lock(data_root: Path, house: str, week: str) -> Iterator[None]:
    """Hold the lock of one house and week: a second run of the same week waits here for the first to end.

    The lock is the file `<data_root>/locks/<house>.<week>.lock`. Only the outermost caller (flow, command
    line) takes it.
    """
    path = data_root / "locks" / f"{house}.{week}.lock"
    with lock_file(path, waiting=f"{house} {week}: another run of this week is under way"):
        yield


@contextmanager
def change_lock(path: Path) -> Iterator[None]:
    """Hold the lock under which a file that several processes change is read, changed and written.

    Without it the last to write would undo what the others wrote since it read. The lock is the hidden file
    `.<name>.lock` beside it. It is not re-entrant.
    """
    with lock_file(path.with_name(f".{path.name}.lock")):
        yield
