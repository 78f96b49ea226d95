"""Attacks on a running command: SIGKILL, and files that change meanwhile."""

import json
import os
import random
import shutil
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from fault_bench import (
    BACKFILL,
    HOUSE,
    LONGEST_S,
    RUN,
    WEEKS,
    Failures,
    Place,
    copy_of,
    differences,
    half_written,
    numbers_of,
    pipeline_of,
    reference,
    wait_for_a_moment,
    work_out,
)

MOST_TRIES = 20  # to meet a run while it is alive
NOT_MET = f"there was nothing to kill in {MOST_TRIES} tries, so the trial was not made"
NOTES = {"house": HOUSE, "names": {"A01": "The old kettle"}, "not_parts": []}


def kills_of_run(seed: int, trials: range) -> Failures:
    """A killed `nilm run` that is started again leaves the bytes of an undisturbed one, and no process."""
    return _kills(seed, trials, RUN)


def kills_of_backfill(seed: int, trials: range) -> Failures:
    return _kills(seed, trials, BACKFILL)


def _kills(seed: int, trials: range, command: tuple[str, ...]) -> Failures:
    original = reference(command)
    wanted = original.processed()
    failures = []
    for trial in trials:
        rng = numbers_of(seed, f"kill {command[0]}", trial)
        for _ in range(MOST_TRIES):
            with copy_of(original) as place:
                moment = _killed(place, command, rng)
                if not moment:
                    continue  # it was over before
                wrong = place.left_behind() or half_written(place, wanted)
                wrong = wrong or _started_again(place, command, by_command=trial % 5 == 0)
                wrong = wrong or differences(place.processed(), wanted)
                failures += [f"killed {moment}: {wrong}"] if wrong else []
                break
        else:
            failures.append(NOT_MET)
    return failures


def _started_again(place: Place, command: tuple[str, ...], *, by_command: bool) -> str:
    """What went wrong with the next run, in words: the command itself, or the same steps without Prefect."""
    if by_command:
        return f"the next run failed: {place.said()[-300:]}" if place.run(*command) else ""
    try:
        for week in WEEKS if command == BACKFILL else WEEKS[:1]:
            work_out(pipeline_of(place.root, week))
    except Exception as error:  # noqa: BLE001 - whatever it is, it is a finding
        return f"the next run failed: {error!r:.300}"
    return ""


def _killed(place: Place, command: tuple[str, ...], rng: random.Random) -> str:
    """When the command was killed, in words; empty if it ended before. At times with its children."""
    process = place.start(*command)
    moment = wait_for_a_moment(process, place, rng)
    everything = rng.random() < 0.5
    victims = [process.pid, *(place.alive() if everything else ())]
    for pid in victims:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    process.wait()
    if everything:  # nobody is left to tidy up what lies in the temporary folder
        shutil.rmtree(place.root / "tmp", ignore_errors=True)
        (place.root / "tmp").mkdir()
    return moment and f"{moment}{' with its children' if everything else ''}"


def killed_workers(seed: int, trials: range) -> Failures:
    """A backfill that loses a worker goes on to its end by itself."""
    original = reference(BACKFILL)
    wanted = original.processed()
    failures = []
    for trial in trials:
        rng = numbers_of(seed, "worker", trial)
        for _ in range(MOST_TRIES):
            with copy_of(original) as place:
                process = place.start(*BACKFILL)
                moment = wait_for_a_moment(process, place, rng)
                workers = _workers(process.pid)
                if not moment or not workers:
                    process.kill()
                    process.wait()
                    place.left_behind()
                    continue
                os.kill(rng.choice(workers), signal.SIGKILL)
                wrong = f"failed: {place.said()[-300:]}" if process.wait(LONGEST_S) else ""
                wrong = wrong or differences(place.processed(), wanted)
                failures += [f"a worker killed {moment}: {wrong}"] if wrong else []
                break
        else:
            failures.append(NOT_MET)
    return failures


def _workers(command: int) -> list[int]:
    """The processes that work out weeks for a backfill: copies of the one that it has started for that."""
    return [pid for server in _children(command, "forkserver") for pid in _children(server, "forkserver")]


def _children(parent: int, doing: str) -> list[int]:
    """The children of a process whose command line has these words."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            of = int((process / "stat").read_text().rpartition(")")[2].split()[1])
            if of == parent and doing.encode() in (process / "cmdline").read_bytes():
                found.append(int(process.name))
    return found


def arrivals(seed: int, trials: range) -> Failures:
    """What arrives, grows, shrinks, vanishes or is replaced during a run is in the result of the next."""
    original = reference(RUN)
    failures = []
    acts = sorted(_ACTS)
    for trial in trials:
        rng = numbers_of(seed, "arrival", trial)
        act = acts[trial % len(acts)]
        with copy_of(original) as place:
            before, during, after = _ACTS[act](place, rng)
            before()
            process = place.start(*RUN)
            moment = wait_for_a_moment(process, place, rng)
            during()
            code = process.wait(LONGEST_S)
            after()
            wrong = _after_the_next_run(place, act, code, _wanted(act, original))
            failures += [f"{act} {moment or 'at the end'}: {wrong}"] if wrong else []
    return failures


def _after_the_next_run(place: Place, act: str, code: int, wanted: dict[str, bytes]) -> str:
    words = place.said()
    if code not in (0, 1) or "Traceback" in words:
        return f"the disturbed run ended with {code}: {words[-300:]}"
    if place.run(*RUN):
        return f"the next run failed: {place.said()[-300:]}"
    found = place.processed()
    if act in _SHOWN:  # a page says under which name it showed an appliance before
        found, wanted = _tables(found), _tables(wanted)
    return differences(found, wanted)


def _tables(files: dict[str, bytes]) -> dict[str, bytes]:
    return {name: content for name, content in files.items() if name.endswith((".csv", ".parquet"))}


_references: dict[str, dict[str, bytes]] = {}


def _wanted(act: str, original: Place) -> dict[str, bytes]:
    """What an undisturbed run makes of what is there in the end."""
    write = _SHOWN.get(act)
    if write is None:
        return original.processed()
    if act not in _references:
        with copy_of(original) as place:
            write(place)
            place.run(*RUN)
            _references[act] = place.processed()
    return _references[act]


Act = tuple[Callable[[], object], Callable[[], object], Callable[[], object]]


def _nothing() -> None:
    """For an act that has nothing to do before or after the run."""


def _on_a_recording(kind: str) -> Callable[[Place, random.Random], Act]:
    """Something that happens to a recording before, during and after the run, after which it is whole."""

    def act(place: Place, rng: random.Random) -> Act:
        recording = rng.choice(place.recordings)
        other = next(r for r in place.recordings if r != recording)
        whole, stamp = recording.read_bytes(), recording.stat()
        cut = rng.randrange(len(whole))

        def restore() -> None:
            recording.write_bytes(whole)
            os.utime(recording, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))

        def grow() -> None:
            with recording.open("ab") as file:
                for at in range(cut, len(whole), max(1, (len(whole) - cut) // 20)):
                    file.write(whole[at : at + max(1, (len(whole) - cut) // 20)])
                    file.flush()
                    time.sleep(0.05)

        acts: dict[str, Act] = {
            "arrives": (recording.unlink, restore, _nothing),
            "grows": (lambda: recording.write_bytes(whole[:cut]), grow, restore),
            "is completed": (lambda: recording.write_bytes(whole[:cut]), restore, _nothing),
            "shrinks": (_nothing, lambda: recording.write_bytes(whole[:cut]), restore),
            "vanishes": (_nothing, recording.unlink, restore),
            "is replaced": (lambda: recording.write_bytes(other.read_bytes()), restore, _nothing),
            "is swapped under the same name": (
                _nothing,
                lambda: Path(shutil.copyfile(other, place.root / "new")).replace(recording),
                restore,
            ),
        }
        return acts[kind]

    return act


def _write_names(place: Place) -> None:
    path = place.data / "names" / f"{HOUSE}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(NOTES))


def _write_labels(place: Place) -> None:
    path = place.data / "raw" / HOUSE / "labels.dat"
    lines = path.read_text().splitlines()
    path.write_text("\n".join(f"{line}_{n}" for n, line in enumerate(lines)) + "\n")
    os.utime(path, ns=(10**18, 10**18))


def _writes(write: Callable[[Place], None]) -> Callable[[Place, random.Random], Act]:
    return lambda place, _rng: (_nothing, lambda: write(place), _nothing)


def _calibration(place: Place, _rng: random.Random) -> Act:
    path = place.data / "raw" / HOUSE / "calibration.cfg"
    right = path.read_text()
    wrong = right.replace("e-0", "e-1", 1) if "e-0" in right else right + "\nadc_scale = 1e9\n"
    return lambda: path.write_text(wrong), lambda: path.write_text(right), _nothing


_RECORDING_ACTS = (
    "arrives",
    "grows",
    "is completed",
    "shrinks",
    "vanishes",
    "is replaced",
    "is swapped under the same name",
)
_SHOWN = {"names are given": _write_names, "labels change": _write_labels}
_ACTS = {f"a recording {kind}": _on_a_recording(kind) for kind in _RECORDING_ACTS}
_ACTS |= {act: _writes(write) for act, write in _SHOWN.items()} | {
    "the calibration changes": _calibration,
}
