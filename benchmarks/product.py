"""The product on simulated weeks: rows as the ingest gives them to appliances, against the truth.

    python benchmarks/product.py [--quick] [--weeks N] [--only WORDS] [--first-seed N] [--adaptive]
                                 [--waveforms FILE.npz]

Each week is `nilm.disaggregate.house.disaggregate` with nothing given but currents, voltages and times. The
first sets are what `nilm simulate` records (loads follow the voltage, the street sags, every activation has
its own size; noise as ten averaged cycles leave it), without the detour over FLAC. With --adaptive the
same loads switch every 15 s at the soonest instead of every two minutes, rows are cut at every switch, as the
ingest does by default, and are scored every 15 s. The others are the hard ones
of `benchmarks/houses.py`. Seeds start at 7000; all development was on seeds below 200. "exact" is E_Hamm
below 0.002. The energy error is Σ|energy − truth| / Σ truth over matched appliances.
"""

import argparse
import os
import time
from pathlib import Path

import numpy as np
from calibration_meter import rows_as_read
from machine import machine_size

from lfm import hamming_error, match_columns
from nilm.disaggregate.house import disaggregate
from nilm.recordings.waveforms import Sampling
from nilm.simulate.grid import Conditions
from nilm.simulate.house import House, observe, simulated_house
from nilm.simulate.signal import signal_of
from nilm.simulate.week import CLOCK_S

FIRST_SEED = 7000
EXACT = 0.002
NOISE_A = 0.005 / np.sqrt(10)

# Truth, current (N, D), voltage (N, D), and when each row begins and how long it stands for, in seconds.
Week = tuple[House, np.ndarray, np.ndarray, np.ndarray, np.ndarray]


def on_the_grid(house: House) -> tuple[np.ndarray, np.ndarray]:
    return house.row_s, np.full(len(house.Z), float(house.interval_s))


def recorded(
    seed: int, K: int, waveforms: Path | None, *, adaptive: bool = False, **conditions: float
) -> Week:
    clock_s = CLOCK_S if adaptive else Sampling().interval_s
    house = simulated_house(seed=seed, n_appliances=K, waveforms=waveforms, interval_s=clock_s)
    rng = np.random.default_rng([seed, 1])
    signal = signal_of(house, Conditions(**conditions), rng)
    start_s, duration_s = on_the_grid(house)
    measured_s = start_s
    if adaptive:
        rows = rows_as_read(signal, len(house.Z) * house.interval_s, Sampling())
        start_s, duration_s, measured_s = rows.start_s, rows.duration_s, rows.window_s
    current = signal.cycles_a(measured_s)
    current += NOISE_A * rng.standard_normal(current.shape)
    return house, current, np.outer(signal.level(measured_s), house.voltage_v), start_s, duration_s


def observed(seed: int, K: int, waveforms: Path | None, **hard: float) -> Week:
    house = simulated_house(seed=seed, n_appliances=K, waveforms=waveforms)
    current = observe(house, noise_a=0.01, rng=np.random.default_rng([seed, 1]), **hard)
    return house, current, np.broadcast_to(house.voltage_v, current.shape), *on_the_grid(house)


SETS = {
    "as recorded, parametric": (recorded, 10, False, {}),
    "as recorded, real cycles": (recorded, 10, True, {}),
    "as recorded, 3% drift": (recorded, 10, False, {"drift": 0.03}),
    "as recorded, real cycles, 3% drift": (recorded, 10, True, {"drift": 0.03}),
    "as recorded, 20 appliances": (recorded, 20, False, {}),
    "as recorded, 30 appliances": (recorded, 30, False, {}),
    "hard: another recording each time": (observed, 9, True, {"recordings": True}),
    "hard: slow change 5%": (observed, 10, False, {"slow_change": 0.05}),
}


def main(*, weeks: int, waveforms: Path, only: str, first_seed: int, adaptive: bool) -> None:
    print(f"product benchmark on {machine_size()}, {'adaptive rows' if adaptive else 'plain grid'}\n")
    print("| set | weeks | at the floor | K right | mean E_Hamm | exact | energy error | CPU s, median |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for name, (make, K, real, given) in SETS.items():
        if only not in name or (adaptive and make is not recorded):
            continue
        options = given | {"adaptive": True} if adaptive else given
        if real and not waveforms.is_file():
            print(f"| {name} | no {waveforms.name} | | | | | | |")
            continue
        n_weeks = weeks if name.startswith("as recorded") and K == 10 else max(2, weeks // 3)
        rows = [
            score(make(first_seed + n, K, waveforms if real else None, **options)) for n in range(n_weeks)
        ]
        floor, right, error, energy, seconds = (np.array(column) for column in zip(*rows, strict=True))
        print(
            f"| {name} | {n_weeks} | {floor.mean():.2f} | {right.mean():.2f} | {error.mean():.4f} | "
            f"{(error < EXACT).mean():.2f} | {energy.mean():.3f} | {np.median(seconds):.2f} |",
            flush=True,
        )


def score(week: Week) -> tuple[bool, bool, float, float, float]:
    """At the floor, K right, E_Hamm, energy error and CPU seconds of one week."""
    house, current, voltage, start_s, duration_s = week
    start = time.process_time()
    found = disaggregate(
        current,
        voltage,
        start_utc=house.start_utc[0] + np.rint(start_s * 1e6).astype("timedelta64[us]"),
        duration_s=duration_s,
        interval_s=Sampling().interval_s,
    )
    seconds = time.process_time() - start
    Z = found.solution.Z[np.searchsorted(start_s[found.row], house.row_s, side="right") - 1]
    columns, true = match_columns(Z, house.Z)
    energy = found.watts[columns] * Z[:, columns].sum(axis=0)
    truth = house.watts[true] * house.Z[:, true].sum(axis=0)
    return (
        bool(found.at_noise_floor),
        house.Z.shape[1] == found.solution.K,
        hamming_error(Z, house.Z),
        float(np.abs(energy - truth).sum() / truth.sum()),
        seconds,
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="3 weeks a set")
    parser.add_argument(
        "--weeks", type=int, default=30, help="per set; a third for 20 and 30 appliances and hard sets"
    )
    parser.add_argument("--only", default="", metavar="WORDS", help="the sets whose name holds these words")
    parser.add_argument("--adaptive", action="store_true", help="rows cut at every switch")
    parser.add_argument("--first-seed", type=int, default=FIRST_SEED, help="below 200 for development")
    default = Path(os.environ.get("REAL_DATA", "../shared/data")) / "appliances" / "hfhad_cycles.npz"
    parser.add_argument("--waveforms", type=Path, default=default, help="recorded cycles")
    arguments = parser.parse_args()
    main(
        weeks=3 if arguments.quick else arguments.weeks,
        waveforms=arguments.waveforms,
        only=arguments.only,
        first_seed=arguments.first_seed,
        adaptive=arguments.adaptive,
    )
