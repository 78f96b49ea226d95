"""The product on weeks of real habits: how much energy it gives to the right appliance, beside its peers.

    python benchmarks/habits.py [--quick] [--only product,variations,peers,hops,year] [--seeds N]
        [--first-seed S]

Measured watts of real houses, summed with recorded waveforms (`nilm.simulate.habits`): real habits, our sum.
Reported seeds start at 900; seeds below 100 are for development (--first-seed 0) and are never reported. The
data is read from $REAL_DATA or ../shared/data. acc and one are `nilm.appliances.energy_assigned`; "least
week" is the lowest acc. Peak memory is the process's, after the product's own weeks.
"""

import argparse
import os
import resource
import time
from pathlib import Path

import habit_baselines
import habit_hops
import numpy as np
from habit_sets import FIRST_SEED, HEADER, VARIATIONS, Find, Score, assigned, line, observed_weeks
from machine import machine_size

import lfm
from nilm.disaggregate import disaggregate
from nilm.simulate.habits import ObservedHabits

PARTS = ("product", "variations", "peers", "hops", "year")
# Peers that see nothing but the total watts are the same for every seed of the waveforms.
PEERS: dict[str, tuple[Find, bool]] = {
    "saying nothing": (habit_baselines.nothing, False),
    "factorial HMM, given the true levels": (habit_baselines.factorial_hmm, False),
    "combinatorial optimisation, given the true levels": (habit_baselines.combinatorial_optimisation, False),
    "FastICA": (habit_baselines.ica, True),
    "FastICA of the changes": (habit_baselines.ica_of_changes, True),
    "NMF": (habit_baselines.nmf, True),
}


def product(seen: ObservedHabits) -> np.ndarray:
    """Watts (N, K) as the product finds them."""
    found = disaggregate(seen.current_a, seen.voltage_v, interval_s=seen.interval_s, start_utc=seen.start_utc)
    power_w = np.zeros((len(seen.current_a), found.solution.K))
    power_w[found.row] = found.power_w
    return power_w


def scored(find: Find, data: Path, seeds: range, *, verbose: bool = False, **observed: float) -> list[Score]:
    """The scores of one way to find watts, on every week and seed."""
    scores = []
    for week, seed, seen in observed_weeks(data, seeds, **observed):
        start = time.process_time()
        power_w = find(seen)
        seconds = time.process_time() - start
        scores.append(Score(week, seed, assigned(seen, power_w), seconds))
        if verbose:
            print(line(f"{week}, seed {seed}", scores[-1:]), flush=True)
    return scores


def year(data: Path, seed: int) -> None:
    """The cost of `lfm.ShapeDecoder` by the length of the record: the busiest week again and again."""
    print(
        "\n| weeks in a row | rows | shapes | CPU s | CPU s a week | peak memory, GB |\n" + "| --- " * 6 + "|"
    )
    busiest = [seen for _, _, seen in observed_weeks(data, range(seed, seed + 1))][-1]
    rng = np.random.default_rng(seed)
    for weeks in (1, 4, 13, 52):
        X = np.tile(busiest.current_a, (weeks, 1))
        X += 0.2 * 0.02 * rng.standard_normal(X.shape)  # a fifth of its noise: no week is exactly another
        gap_before = np.tile(np.arange(len(busiest.current_a)) == 0, weeks)
        start = time.process_time()
        model = lfm.ShapeDecoder(positive=busiest.voltage_v).fit(X, gap_before=gap_before)
        cpu_s = time.process_time() - start
        memory_gb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9
        print(
            f"| {weeks} | {len(X):,} | {len(model.components_)} | {cpu_s:.1f} | {cpu_s / weeks:.2f} "
            f"| {memory_gb:.2f} |",
            flush=True,
        )


def main(*, data: Path, seeds: range, only: list[str]) -> None:
    print(f"habits benchmark on {machine_size()}; seeds {seeds.start} to {seeds.stop - 1}\n")
    print(HEADER)
    if "product" in only:
        scores = scored(product, data, seeds, verbose=True)
        print(line("**the product, all weeks**", scores), flush=True)
        memory_gb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9
        print(f"| peak memory {memory_gb:.2f} GB |" + " |" * 10)
    if "variations" in only:
        for name, options in VARIATIONS.items():
            print(line(name, scored(product, data, seeds, **options)), flush=True)
    if "peers" in only:
        for name, (find, sees_waveforms) in PEERS.items():
            few = seeds if sees_waveforms else range(seeds.start, seeds.start + 1)
            print(line(name, scored(find, data, few)), flush=True)
    if "hops" in only:
        habit_hops.table(data, range(seeds.start, seeds.start + 1))
    if "year" in only:
        year(data, seeds.start)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--quick", action="store_true", help="one seed, and the product and its variations only"
    )
    parser.add_argument("--seeds", type=int, default=3, help="shape seeds per week")
    parser.add_argument("--first-seed", type=int, default=FIRST_SEED, help="below 100 for development")
    parser.add_argument("--only", default=",".join(PARTS), help="parts, by commas")
    arguments = parser.parse_args()
    wanted = arguments.only.split(",")
    if arguments.quick:
        wanted = [part for part in wanted if part in PARTS[:2]]
    first = arguments.first_seed
    main(
        data=Path(os.environ.get("REAL_DATA", Path(__file__).resolve().parents[2] / "shared" / "data")),
        seeds=range(first, first + (1 if arguments.quick else arguments.seeds)),
        only=wanted,
    )
