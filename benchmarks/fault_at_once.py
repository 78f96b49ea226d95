"""Several commands at the same time: two runs, a run and a backfill, a run and a name, six names."""

import json
import subprocess
import time

from fault_bench import (
    BACKFILL,
    HOUSE,
    LONGEST_S,
    RUN,
    WEEKS,
    Failures,
    copy_of,
    differences,
    numbers_of,
    reference,
)


def at_once(seed: int, trials: range) -> Failures:
    """Two runs, and a run and a backfill, at the same time leave the bytes of one."""
    failures = []
    for trial in trials:
        rng = numbers_of(seed, "at once", trial)
        commands = (RUN, RUN) if trial % 2 else (RUN, BACKFILL)
        original = reference(commands[1])
        with copy_of(original) as place:
            started = [place.start(*commands[0])]
            time.sleep(rng.uniform(0.0, 3.0))
            started.append(place.start(*commands[1]))
            codes = [process.wait(LONGEST_S) for process in started]
            wrong = f"ended with {codes}: {place.said()[-300:]}" if any(codes) else ""
            wrong = wrong or differences(place.processed(), original.processed())
            failures += [f"{commands[0][0]} and {commands[1][0]}: {wrong}"] if wrong else []
    return failures


def run_and_name(seed: int, trials: range) -> Failures:
    """A name that is given during a run is on the page after the next."""
    original = reference(RUN)
    failures = []
    for trial in trials:
        rng = numbers_of(seed, "name", trial)
        with copy_of(original, worked_out=True) as place:
            name = f"Kettle {rng.randrange(10**6)}"
            (place.outputs / HOUSE / WEEKS[0] / "manifest.json").unlink()
            run = place.start(*RUN)
            time.sleep(rng.uniform(0.0, 5.0))
            codes = [place.run("name", "--house", HOUSE, "A01", name), run.wait(LONGEST_S), place.run(*RUN)]
            page = (place.outputs / HOUSE / WEEKS[0] / "report.html").read_text()
            if any(codes) or name not in page:
                failures.append(f"ended with {codes}, the name is {'' if name in page else 'not '}shown")
    return failures


def names_at_once(seed: int, trials: range) -> Failures:
    """Of six names that are given at the same moment every one is kept, or was replaced by a later one."""
    original = reference(RUN)
    failures = []
    for trial in trials:
        rng = numbers_of(seed, "names", trial)
        with copy_of(original, worked_out=True) as place:
            given = [(rng.choice(("A01", "A02")), f"name {n}") for n in range(6)]
            started: list[subprocess.Popen[str]] = [place.start("name", "--house", HOUSE, *g) for g in given]
            codes = [process.wait(LONGEST_S) for process in started]
            notes = json.loads((place.data / "names" / f"{HOUSE}.json").read_text())
            kept = {(e["appliance_id"], e["after"]) for change in notes["history"] for e in change["edits"]}
            if any(codes) or kept != set(given):
                failures.append(f"ended with {codes}, kept {len(kept)} of {len(given)}")
    return failures
