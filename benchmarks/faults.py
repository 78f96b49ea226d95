"""A campaign that tries to break the pipeline: faults, kills, arrivals, disks, mutated files, hostile scales.

python benchmarks/faults.py [--quick] [--seed N] [--only kills-of-run,scales] [--part 2/3] [--results FILE]

Prints one table: what, trials, held, failed; ends with 1 if anything failed. Everything random follows the
seed, which is printed, and a trial's numbers do not depend on the others. So the campaign can be run in
pieces: --only takes some of its attacks, --part 2/3 the second third of each one's trials, and --results
keeps the outcomes in a file, from which the table of all pieces is printed.
"""

import argparse
import json
import logging
import random
import sys
from dataclasses import dataclass
from pathlib import Path

from fault_at_once import at_once, names_at_once, run_and_name
from fault_bench import Attack, clean_up
from fault_disks import full_disks, read_only
from fault_inputs import mutated_inputs
from fault_processes import arrivals, killed_workers, kills_of_backfill, kills_of_run
from fault_scales import hostile_scales, hostile_shapes
from fault_weeks import same_bytes, simulator_faults, weeks_in_a_row


@dataclass(frozen=True)
class Row:
    """One line of the table."""

    words: str
    attack: Attack
    trials: int
    quick: int


CAMPAIGN = {
    "faults": Row("recorder's faults, each alone and in random combinations", simulator_faults, 209, 12),
    "kills-of-run": Row("SIGKILL of `nilm run`, rerun compared byte by byte", kills_of_run, 50, 1),
    "kills-of-backfill": Row("SIGKILL of `nilm backfill`, the same", kills_of_backfill, 50, 1),
    "kills-of-workers": Row("SIGKILL of a backfill's worker, which goes on", killed_workers, 10, 0),
    "arrivals": Row("files that arrive, grow, shrink or are replaced during a run", arrivals, 40, 1),
    "at-once": Row("two runs, or a run and a backfill, at once", at_once, 20, 0),
    "run-and-name": Row("a run and `nilm name` at once", run_and_name, 10, 0),
    "names": Row("six `nilm name` at once", names_at_once, 20, 1),
    "full": Row("a full disk: outputs, data or temporary", full_disks, 24, 1),
    "read-only": Row("a disk that cannot be written to", read_only, 12, 1),
    "mutations": Row("mutated files through every reader", mutated_inputs, 100_000, 2_000),
    "scales": Row("hostile values through every public function of lfm", hostile_scales, 4_000, 300),
    "shapes": Row("the same of lfm.shapes", hostile_shapes, 500, 0),
    "weeks": Row("weeks in a row: sizes, time and memory stay", weeks_in_a_row, 60, 0),
    "same-bytes": Row(
        "same bytes from two copies of the packages, one and two threads, any hash seed", same_bytes, 4, 0
    ),
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="minutes instead of hours")
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--only", default=",".join(CAMPAIGN), help="of " + ", ".join(CAMPAIGN))
    parser.add_argument("--part", default="1/1", help="such as 2/3")
    parser.add_argument("--results", type=Path, default=None)
    options = parser.parse_args()
    seed = options.seed if options.seed is not None else random.SystemRandom().randrange(10**6)
    logging.disable(logging.CRITICAL)
    print(f"seed {seed}", flush=True)
    found = []
    try:
        asked = filter(None, options.only.split(","))
        found += [_outcome(name, seed, options.part, quick=options.quick) for name in asked]
    finally:
        clean_up()
    if options.results is not None:
        with options.results.open("a") as file:
            file.writelines(json.dumps(outcome) + "\n" for outcome in found)
        found = [json.loads(line) for line in options.results.read_text().splitlines()]
    return _table([outcome for outcome in found if outcome["seed"] == seed])


def _outcome(name: str, seed: int, part: str, *, quick: bool) -> dict[str, object]:
    """What became of one piece of one attack."""
    row = CAMPAIGN[name]
    number, parts = map(int, part.split("/"))
    total = row.quick if quick else row.trials
    trials = range(total * (number - 1) // parts, total * number // parts)
    failures = row.attack(seed, trials) if trials else []
    for failure in failures[:20]:
        print(f"{name}: {failure}", flush=True)
    return {"name": name, "seed": seed, "trials": len(trials), "failed": len(failures)}


def _table(found: list[dict[str, object]]) -> int:
    """Print the table of all outcomes; 1 if anything failed."""
    print("\n| what | trials | held | failed |\n| --- | --- | --- | --- |")
    for name, row in CAMPAIGN.items():
        trials = sum(int(str(o["trials"])) for o in found if o["name"] == name)
        failed = sum(int(str(o["failed"])) for o in found if o["name"] == name)
        if trials:
            print(f"| {row.words} | {trials} | {trials - failed} | {failed} |")
    return 1 if any(outcome["failed"] for outcome in found) else 0


if __name__ == "__main__":
    sys.exit(main())
