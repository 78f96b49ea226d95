"""A campaign that tries to break the pipeline: faults, kills, arrivals, mutated files, hostile scales.

python benchmarks/faults.py [--quick] [--seed N]. Prints one table: what, trials, held, failed; ends with 1
if anything failed. Everything random follows the seed, which is printed. Works in a temporary folder.
"""

import argparse
import contextlib
import logging
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from fault_inputs import mutated_inputs
from fault_scales import hostile_scales

from nilm.errors import NilmError, NothingUsableError
from nilm.options import WeekOptions
from nilm.paths import WeekPaths
from nilm.pipeline import WeekPipeline
from nilm.recordings.quality import read_quality
from nilm.recordings.ukdale import Week, week_hours
from nilm.simulate.faults import Fault, FaultKind
from nilm.simulate.week import simulate_week

HOUSE, WEEK, HOURS = "house_sim", Week(2015, 1), 3
RUN = """
import sys
from pathlib import Path
from nilm.paths import WeekPaths
from nilm.options import WeekOptions
from nilm.pipeline import WeekPipeline
from nilm.recordings.ukdale import Week
root = Path(sys.argv[1])
pipeline = WeekPipeline(WeekPaths(root / "data", "house_sim", Week(2015, 1), root / "outputs"), WeekOptions())
pipeline.solve()
pipeline.finish()
"""

Failures = list[str]


def pipeline_of(root: Path) -> WeekPipeline:
    return WeekPipeline(WeekPaths(root / "data", HOUSE, WEEK, root / "outputs"), WeekOptions())


def simulated(root: Path, seed: int, faults: list[Fault]) -> WeekPipeline:
    simulate_week(
        root / "data" / "raw",
        house=HOUSE,
        week=str(WEEK),
        seed=seed,
        days=HOURS / 24,
        n_appliances=2,
        faults=faults,
    )
    return pipeline_of(root)


def run(pipeline: WeekPipeline) -> None:
    pipeline.solve()
    pipeline.finish()


def contents(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


@contextlib.contextmanager
def scratch() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="nilm-faults-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def simulator_faults(rng: random.Random, trials: int) -> Failures:
    """Each fault alone, then random combinations: every missing minute is named, and a rerun has no work."""
    failures = []
    alone = [[Fault(kind, 1)] for kind in FaultKind]
    for n in range(trials):
        faults = (
            alone[n]
            if n < len(alone)
            else [
                Fault(rng.choice(list(FaultKind)), hour)
                for hour in rng.sample(range(HOURS), rng.randint(1, HOURS))
            ]
        )
        said = ", ".join(f"{fault.kind}:{fault.hour}" for fault in faults)
        with scratch() as root:
            try:
                pipeline = simulated(root, rng.randrange(10**6), faults)
                run(pipeline)
                missing = read_outputs_quality(pipeline)
                if abs(missing - 1.0) > 1e-6:
                    failures.append(f"{said}: {missing:.4f} of the week accounted for")
                if pipeline.why_redo() is not None:
                    failures.append(f"{said}: not current after a run: {pipeline.why_redo()}")
            except NothingUsableError:
                continue  # said in words, which is what is promised
            except Exception as error:  # noqa: BLE001 - whatever it is, it is a finding
                failures.append(f"{said}: {error!r:.200}")
    return failures


def read_outputs_quality(pipeline: WeekPipeline) -> float:
    """The share of the week that is covered or missing with a reason; 1 if nothing is forgotten."""
    import json

    quality = json.loads((pipeline.paths.outputs / "quality.json").read_text())
    named = sum(span["minutes"] for span in quality["missing"] if span["reason"])
    return float(quality["coverage"]) + named / (7 * 24 * 60)


def kills(rng: random.Random, trials: int) -> Failures:
    """A run that is killed at a random moment and started again leaves the bytes of an undisturbed one."""
    failures = []
    with scratch() as root:
        run(simulated(root / "reference", 7, []))
        reference = contents(root / "reference" / "outputs")
        started = time.monotonic()
        subprocess.run([sys.executable, "-c", RUN, str(root / "reference")], check=True)
        shutil.copytree(root / "reference" / "data" / "raw", root / "timed" / "data" / "raw")
        started = time.monotonic()
        subprocess.run([sys.executable, "-c", RUN, str(root / "timed")], check=True)
        takes_s = time.monotonic() - started
        for n in range(trials):
            here = root / f"killed_{n}"
            shutil.copytree(root / "reference" / "data" / "raw", here / "data" / "raw")
            after_s = rng.uniform(0.2, 1.0) * takes_s
            with subprocess.Popen([sys.executable, "-c", RUN, str(here)]) as process:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(after_s)
                process.send_signal(signal.SIGKILL)
            run(pipeline_of(here))
            if contents(here / "outputs") != reference:
                failures.append(f"killed after {after_s:.2f} s: other outputs")
            if list(here.rglob(".*.tmp")):
                failures.append(f"killed after {after_s:.2f} s: temporary files are left")
            shutil.rmtree(here)
    return failures


def arrivals(rng: random.Random, trials: int) -> Failures:
    """Recordings that arrive, grow, shrink or are replaced during a run are in the result of the next."""
    failures = []
    with scratch() as root:
        run(simulated(root / "reference", 7, []))
        reference = contents(root / "reference" / "outputs")
        for n in range(trials):
            here = root / f"disturbed_{n}"
            shutil.copytree(root / "reference" / "data" / "raw", here / "data" / "raw")
            pipeline = pipeline_of(here)
            recording = rng.choice(week_hours(pipeline.paths.house_folder, WEEK))
            whole, stamp = recording.read_bytes(), recording.stat()
            act = rng.choice(["arrives", "grows", "shrinks", "is replaced"])
            if act == "arrives":
                recording.unlink()
            elif act == "grows":
                recording.write_bytes(whole[: rng.randrange(len(whole))])
            elif act == "is replaced":
                recording.write_bytes(b"not a recording")
            process = subprocess.Popen([sys.executable, "-c", RUN, str(here)], stderr=subprocess.DEVNULL)
            time.sleep(rng.uniform(0.0, 4.0))
            recording.write_bytes(whole[: len(whole) // 2] if act == "shrinks" else whole)
            process.wait()
            recording.write_bytes(whole)
            os.utime(recording, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
            run(pipeline)
            if contents(here / "outputs").keys() != reference.keys() or len(
                read_quality(pipeline.paths.quality).files_left_out
            ):
                failures.append(f"a recording {act}: not in the result of the next run")
            shutil.rmtree(here)
    return failures


def names_at_once(rng: random.Random, trials: int) -> Failures:
    """Of names that are given at the same moment every one is kept."""
    from nilm.appliances.analyst import read_notes

    code = (
        "import sys; from pathlib import Path; from nilm.appliances.analyst import name_appliance; "
        "name_appliance(Path(sys.argv[1]), house='house_1', appliance_id=sys.argv[2], name=sys.argv[3])"
    )
    failures = []
    for _ in range(trials):
        with scratch() as root:
            path = root / "names" / "house_1.json"
            wanted = {f"A{n:02d}": f"name {rng.randrange(1000)}" for n in range(1, 7)}
            started = [
                subprocess.Popen([sys.executable, "-c", code, str(path), key, name])
                for key, name in wanted.items()
            ]
            for process in started:
                process.wait()
            if dict(read_notes(path, "house_1").names) != wanted:
                failures.append("a name was lost")
    return failures


def read_only_outputs(_rng: random.Random, trials: int) -> Failures:
    """Outputs that cannot be written end in an error with a file's name, and a later run completes them."""
    failures = []
    with scratch() as root:
        pipeline = simulated(root, 7, [])
        for _ in range(trials):
            shutil.rmtree(root / "outputs", ignore_errors=True)
            (root / "outputs").write_text("a file where a folder must be")
            try:
                run(pipeline)
                failures.append("no error")
            except OSError as error:
                if not error.filename:
                    failures.append(f"no file named: {error}")
            except NilmError:
                pass
            (root / "outputs").unlink()
            run(pipeline)
    return failures


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="minutes instead of hours")
    parser.add_argument("--seed", type=int, default=None)
    options = parser.parse_args()
    seed = options.seed if options.seed is not None else int(np.random.default_rng().integers(10**6))
    logging.disable(logging.CRITICAL)
    campaign: dict[str, tuple[Callable[[random.Random, int], Failures], int, int]] = {
        "simulator faults, alone and combined": (simulator_faults, 209, 14),
        "SIGKILL at random moments, rerun compared byte by byte": (kills, 50, 4),
        "recordings that change during a run": (arrivals, 40, 4),
        "six names at once": (names_at_once, 20, 2),
        "outputs that cannot be written": (read_only_outputs, 10, 1),
        "mutated inputs through every reader": (mutated_inputs, 100_000, 2_000),
        "hostile scales through lfm": (hostile_scales, 2_000, 200),
    }
    print(f"seed {seed}\n\n| what | trials | held | failed |\n| --- | --- | --- | --- |", flush=True)
    found: Failures = []
    for what, (attack, full, quick) in campaign.items():
        trials = quick if options.quick else full
        failures = attack(random.Random(f"{seed} {what}"), trials)
        print(f"| {what} | {trials} | {trials - len(failures)} | {len(failures)} |", flush=True)
        found += [f"{what}: {failure}" for failure in failures]
    print("\n".join(["", *found[:40]]))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
