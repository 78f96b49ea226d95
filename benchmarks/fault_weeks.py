"""Attacks through weeks: recorder's faults in every combination, sixty weeks in a row, the same bytes."""

import gc
import json
import resource
import shutil
import statistics
import time
from pathlib import Path

from fault_bench import (
    HOUSE,
    RUN,
    Failures,
    Place,
    differences,
    numbers_of,
    pipeline_of,
    scratch,
    simulate,
    work_out,
)

from nilm.errors import NothingUsableError
from nilm.recordings.ukdale import Week
from nilm.simulate.faults import Fault, FaultKind

HOURS = 3
WEEK_MINUTES = 7 * 24 * 60
SETTLED = 20  # weeks after which nothing may grow any more, but for what a year holds
MOST_GROWTH = 1.5  # of sizes, time and memory from then on
MB = 1e6


def simulator_faults(seed: int, trials: range) -> Failures:
    """Each fault alone, then random combinations: every minute is accounted for, and a rerun has no work."""
    failures = []
    for trial in trials:
        rng = numbers_of(seed, "fault", trial)
        kinds = list(FaultKind)
        faults = [Fault(kinds[trial], 1)] if trial < len(kinds) else []
        if not faults:
            hours = rng.sample(range(HOURS), rng.randint(1, HOURS))
            faults = [Fault(rng.choice(kinds), hour) for hour in hours]
        said = ", ".join(f"{fault.kind}:{fault.hour}" for fault in faults)
        with scratch() as root:
            try:
                simulate(root / "data" / "raw", rng.randrange(10**6), hours=HOURS, faults=faults)
                pipeline = pipeline_of(root)
                work_out(pipeline)
                minutes = _minutes_accounted_for(pipeline.paths.outputs / "quality.json")
                if abs(minutes - WEEK_MINUTES) > 0.1:
                    failures.append(f"{said}: {minutes:.2f} of {WEEK_MINUTES} minutes accounted for")
                if pipeline.why_redo() is not None:
                    failures.append(f"{said}: not current after a run: {pipeline.why_redo()}")
            except NothingUsableError:
                continue  # said in words, which is what is promised
            except Exception as error:  # noqa: BLE001 - whatever it is, it is a finding
                failures.append(f"{said}: {error!r:.200}")
    return failures


def _minutes_accounted_for(quality_file: Path) -> float:
    """The minutes of the week that are covered, or missing with a reason."""
    quality = json.loads(quality_file.read_text())
    named = sum(span["minutes"] for span in quality["missing"] if span["reason"])
    return float(quality["coverage"]) * WEEK_MINUTES + named


def weeks_in_a_row(seed: int, trials: range) -> Failures:
    """Week after week of one house: neither its files nor the time and memory of a week keep growing."""
    rows: list[dict[str, float]] = []
    with scratch() as root:
        week = Week(2015, 1)
        for trial in trials:
            simulate(root / "data" / "raw", numbers_of(seed, "row", 0).randrange(10**6), weeks=[str(week)])
            pipeline = pipeline_of(root, str(week))
            before = time.process_time()
            work_out(pipeline)
            rows.append(
                {
                    "CPU seconds": time.process_time() - before,
                    "memory, MB": _resident_mb(),
                    "catalogue, MB": pipeline.paths.catalogue.stat().st_size / MB,
                    "index, MB": pipeline.paths.indexes[0].stat().st_size / MB,
                    "house page, MB": pipeline.paths.indexes[1].stat().st_size / MB,
                }
            )
            shutil.rmtree(pipeline.paths.house_folder / week.folder)  # recordings of the past may go
            if trial % 10 == 9:
                _show(rows, trial + 1)
            week = week.next
    return _growth(rows)


def _show(rows: list[dict[str, float]], n: int) -> None:
    recent = {name: statistics.median(row[name] for row in rows[-10:]) for name in rows[0]}
    print(f"<!-- weeks to {n}: {', '.join(f'{k} {v:.3f}' for k, v in recent.items())} -->", flush=True)


def _growth(rows: list[dict[str, float]]) -> Failures:
    """What the last ten weeks have more of than ten weeks when all was settled, in words."""
    if len(rows) < SETTLED + 20:
        return []
    early, late = rows[SETTLED : SETTLED + 10], rows[-10:]
    medians = {n: [statistics.median(row[n] for row in part) for part in (early, late)] for n in rows[0]}
    return [
        f"{name}: {first:.3f} after {SETTLED} weeks, {last:.3f} after {len(rows)}"
        for name, (first, last) in medians.items()
        if last > MOST_GROWTH * first
    ]


def _resident_mb() -> float:
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / MB


def same_bytes(seed: int, trials: range) -> Failures:
    """The same inputs give the same files from two copies of the packages, with any threads and hash seed."""
    failures = []
    source = Path(__file__).parents[1]
    with scratch() as folder:
        raw = folder / "raw"
        simulate(raw, seed, hours=4)
        wanted: dict[str, bytes] = {}
        for trial in trials:
            threads = 1 + trial % 2
            copy = folder / f"copy {trial % 2}"
            if not copy.exists():
                _copy(source, copy)
            place = Place(folder / f"place {trial}")
            place.root.mkdir()
            shutil.copytree(raw, place.data / "raw")
            code = place.run(
                *RUN,
                PYTHONPATH=str(copy),
                PYTHONHASHSEED=str(numbers_of(seed, "hash", trial).randrange(2**32)),
                NUMBA_CACHE_DIR=str(folder / f"numba {trial % 2}"),
                **dict.fromkeys(
                    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"), str(threads)
                ),
                NILM_WORKERS=str(threads),
            )
            found = {n: c for n, c in place.processed().items() if not n.startswith("data/waveforms/")}
            found |= {p.name: p.read_bytes() for p in (place.data / "waveforms" / HOUSE).glob("*.parquet")}
            wrong = f"failed: {place.said()[-300:]}" if code else differences(found, wanted or found)
            wanted = wanted or found
            failures += [f"trial {trial}, {threads} threads: {wrong}"] if wrong else []
    return failures


def _copy(source: Path, target: Path) -> None:
    """Put the packages alone into a folder of their own, compiled code left out."""
    for room in ("lfm", "nilm", "flows"):
        shutil.copytree(source / room, target / room, ignore=shutil.ignore_patterns("__pycache__"))
