"""Attacks on the disk: full, and not to be written to. Real ones where a small file system can be mounted."""

import os
import random
import resource
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from fault_bench import RUN, Failures, Place, copy_of, differences, half_written, numbers_of, reference

FOLDERS = ("outputs", "data", "tmp")
ROOMY = "200m"
_MARGIN_BYTES = 400_000  # a file system's own


def can_mount() -> bool:
    """Whether this process may mount a file system, as root may."""
    return os.geteuid() == 0 and subprocess.run(["unshare", "-m", "true"], check=False).returncode == 0


@contextmanager
def mounted(folder: Path, size: str) -> Iterator[Path]:
    """The folder as a file system of its own in memory."""
    folder.mkdir(parents=True, exist_ok=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)], check=True)
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def remount(folder: Path, options: str) -> None:
    subprocess.run(["mount", "-o", f"remount,{options}", str(folder)], check=True)


def full_disks(seed: int, trials: range) -> Failures:
    """A run on a disk with too little room says which file; with room it ends as an undisturbed one."""
    original = reference(RUN)
    failures = []
    for trial in trials:
        rng = numbers_of(seed, "full", trial)
        which = FOLDERS[trial % len(FOLDERS)]
        with copy_of(original) as bare, _moved(bare, which, ROOMY) as place:
            if can_mount():
                room = _used(place.root / which) + int(rng.random() * _need(original, which))
                remount(place.root / which, f"size={room}")
                code = place.run(*RUN)
                remount(place.root / which, f"size={ROOMY}")
            else:
                code = _run_with_small_files(place, rng)
            wrong = _said_and_completed(place, code, original.processed())
            failures += [f"full {which}: {wrong}"] if wrong else []
    return failures


def read_only(seed: int, trials: range) -> Failures:
    """A run that may not write says where; afterwards it ends as an undisturbed one."""
    original = reference(RUN)
    failures = []
    for trial in trials:
        which = FOLDERS[trial % len(FOLDERS)]
        half_done = numbers_of(seed, "read only", trial).random() < 0.5
        with copy_of(original, worked_out=half_done) as bare, _moved(bare, which, ROOMY) as place:
            (place.outputs / "index.html").unlink(missing_ok=True)
            (place.root / "tmp").mkdir(exist_ok=True)
            _protect(place.root / which, writable=False)
            code = place.run(*RUN)
            _protect(place.root / which, writable=True)
            wrong = _said_and_completed(place, code, original.processed())
            failures += [f"read-only {which}: {wrong}"] if wrong else []
    return failures


def _protect(folder: Path, *, writable: bool) -> None:
    if can_mount():
        remount(folder, "rw" if writable else "ro")
    else:
        folder.mkdir(parents=True, exist_ok=True)
        folder.chmod(0o755 if writable else 0o555)


@contextmanager
def _moved(bare: Place, which: str, size: str) -> Iterator[Place]:
    """The place with one of its folders on a file system of its own, if one can be mounted."""
    if not can_mount():
        yield bare
        return
    folder = bare.root / which
    aside = bare.root / f"{which} before"
    if folder.exists():
        folder.rename(aside)
    with mounted(folder, size):
        if aside.exists():
            shutil.copytree(aside, folder, dirs_exist_ok=True)
        yield bare


def _run_with_small_files(place: Place, rng: random.Random) -> int:
    """Run with a limit on the size of files, which stands for a full disk where nothing can be mounted."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (rng.randrange(1000, 200_000), before[1]))
    try:
        return place.run(*RUN)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def _said_and_completed(place: Place, code: int, wanted: dict[str, bytes]) -> str:
    words = place.said()
    last = (words.strip().splitlines() or [""])[-1]
    if code and (
        code not in (1, 2) or "Traceback" in words or "unexpected" in last or not last.startswith("nilm: ")
    ):
        return f"ended with {code}: {words[-600:]}"
    if code and str(place.root) not in last:
        return f"names no file: {last[:300]}"
    wrong = half_written(place, wanted)
    if place.run(*RUN):
        return f"the next run failed: {place.said()[-300:]}"
    return wrong or differences(place.processed(), wanted)


def _used(folder: Path) -> int:
    """The bytes that a folder takes in pages of 4 KiB."""
    blocks = [p.stat().st_size // 4096 + 1 for p in folder.rglob("*")]
    return 4096 * (sum(blocks) + 1)


def _need(original: Place, which: str) -> int:
    """The bytes that a run adds to a folder, about."""
    if which == "tmp":
        return 3_000_000
    added = [c for n, c in original.processed().items() if n.startswith(which)]
    return sum(map(len, added)) + _MARGIN_BYTES
