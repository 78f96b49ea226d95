"""Is what we say we are sure of right? A reliability table, by kind of week; --fit makes the map anew.

    python benchmarks/calibration.py [--weeks N]          # report: seeds from 8000, real habits seeds from
    950 python benchmarks/calibration.py --fit [--weeks N]    # fit: seeds from 100, real habits seeds from 10

An appliance is right if its on/off times have an F1 of at least 0.9 and its energy is within 10% of the truth
of the load that it overlaps most. Houses of real habits for the report: tracebase_plugs, studio_flat and the
second week of house_of_25_circuits; for the fit: the others. The always-on level is not judged.
"""

import argparse
import itertools
import json
import os
from pathlib import Path

import numpy as np
from machine import machine_size
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression

from nilm.disaggregate import Disaggregation, disaggregate
from nilm.disaggregate.confidence import EVIDENCE, energy_range
from nilm.simulate.grid import Conditions
from nilm.simulate.habits import observe_habits, read_habits
from nilm.simulate.house import observe, simulated_house
from nilm.simulate.signal import signal_of

TABLE = Path(__file__).parents[1] / "nilm" / "disaggregate" / "confidence.json"
DATA = Path(os.environ.get("REAL_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))
FIT_HABITS = (("ampds_week", 0), ("redd_house_2", 0), ("house_of_25_circuits", 0))
REPORT_HABITS = (("tracebase_plugs", 0), ("studio_flat", 0), ("house_of_25_circuits", 7))
BINS = (0.0, 0.2, 0.4, 0.6, 0.8, 0.9, 1.001)
Judged = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]  # evidence, right, ratio of energies, sure


def judge(found: Disaggregation, truth_w: np.ndarray) -> Judged:
    """Each appliance of a week against the load (N, C) that it overlaps most."""
    truth = truth_w[found.row]
    floor = np.percentile(truth, 2, axis=0)
    truth = truth - floor
    power = np.maximum(found.power_w, 0.0)
    seen, right, ratio, sure = [], [], [], []
    for k in range(power.shape[1]):
        if found.solution.Z[:, k].mean() > 0.99 or power[:, k].sum() == 0:
            continue
        overlap = np.minimum(power[:, k, None], truth).sum(axis=0)
        load = truth[:, int(np.argmax(overlap))]
        on, true_on = power[:, k] > 5, load > 5
        f1 = 2 * (on & true_on).sum() / max(on.sum() + true_on.sum(), 1)
        share = load.sum() / power[:, k].sum()
        seen.append(found.evidence[k])
        right.append(f1 >= 0.9 and abs(1 / max(share, 1e-9) - 1) <= 0.1)
        ratio.append(share)
        sure.append(found.sure[k])
    return np.array(seen).reshape(-1, len(EVIDENCE)), np.array(right), np.array(ratio), np.array(sure)


def simulated(seed: int, K: int, *, gap: bool = False, **conditions: float) -> Judged:
    house = simulated_house(seed=seed, n_appliances=K)
    rng = np.random.default_rng([seed, 1])
    current = observe(house, noise_a=0.01, rng=rng)
    voltage = house.voltage_v
    if conditions:
        signal = signal_of(house, Conditions(**conditions), rng)
        current = signal.cycles_a(house.row_s)
        current += 0.0016 * rng.standard_normal(current.shape)
        voltage = np.outer(signal.level(house.row_s), house.voltage_v)
    kept = np.ones(len(current), bool)
    if gap:
        kept[len(current) // 3 : len(current) // 2] = False
    found = disaggregate(
        current[kept],
        voltage if voltage.ndim == 1 else voltage[kept],
        start_utc=house.start_utc[kept],
        interval_s=house.interval_s,
    )
    return judge(found, (house.Z * house.watts)[kept])


def habits(name: str, day: int, seed: int) -> Judged:
    week = read_habits(DATA / "habits" / f"{name}.npz", first_day=day)
    seen = observe_habits(week, DATA / "appliances" / "hfhad_cycles.npz", seed=seed, noise_a=0.02)
    found = disaggregate(seen.current_a, seen.voltage_v, interval_s=seen.interval_s, start_utc=seen.start_utc)
    return judge(found, seen.truth_w)


def sets(
    first: int, weeks: int, real: tuple[tuple[str, int], ...], real_seed: int
) -> dict[str, list[Judged]]:
    made = {
        "clean": [simulated(first + n, 10) for n in range(weeks)],
        "3% drift": [simulated(first + n, 10, drift=0.03) for n in range(weeks)],
        "20 appliances": [simulated(first + n, 20, drift=0.01) for n in range(max(weeks // 4, 1))],
        "30 appliances": [simulated(first, 30, drift=0.01)],
        "a gap": [simulated(first + n, 10, gap=True) for n in range(weeks)],
    }
    if (DATA / "habits").is_dir():
        made["real habits"] = [
            habits(*house, real_seed + n) for house in real for n in range(max(weeks // 2, 1))
        ]
    return made


def together(judged: list[Judged]) -> Judged:
    return tuple(np.concatenate([j[i] for j in judged]) for i in range(4))


def fit(weeks: int) -> None:
    seen, right, ratio, _ = together([j for s in sets(100, weeks, FIT_HABITS, 10).values() for j in s])
    mean, scale = seen.mean(axis=0), seen.std(axis=0) + 1e-9
    model = LogisticRegression(C=0.3).fit((seen - mean) / scale, right)
    said = model.predict_proba((seen - mean) / scale)[:, 1]
    curve = IsotonicRegression(y_min=0.02, y_max=0.98, out_of_bounds="clip").fit(said, right)
    grid = np.linspace(0, 1, 21)
    # A few wrong ones in every ten: the curve is drawn towards the plain share of what is right.
    true = (curve.predict(grid) * 0.9 + 0.1 * right.mean()).clip(0.02, 0.98)
    sure = np.interp(said, grid, true)
    edges = np.quantile(sure, [0, 0.25, 0.5, 0.75, 1.0])
    low, high, centre = [], [], []
    for a, b in itertools.pairwise(edges):
        inside = ratio[(sure >= a) & (sure <= b)]
        low.append(min(float(np.quantile(inside, 0.05)), 1.0))
        high.append(max(float(np.quantile(inside, 0.95)), 1.0))
        centre.append(float((a + b) / 2))
    table = {
        "made_by": f"python benchmarks/calibration.py --fit --weeks {weeks}",
        "appliances": len(right),
        "mean": mean.round(4).tolist(),
        "scale": scale.round(4).tolist(),
        "weight": model.coef_[0].round(4).tolist(),
        "intercept": round(float(model.intercept_[0]), 4),
        "said": grid.round(2).tolist(),
        "true": true.round(4).tolist(),
        "range_sure": np.round(centre, 4).tolist(),
        "range_low": np.round(low, 3).tolist(),
        "range_high": np.round(high, 3).tolist(),
    }
    TABLE.write_text(json.dumps(table, indent=1) + "\n", encoding="utf-8")
    print(f"{TABLE.name}: fitted on {len(right)} appliances, {right.mean():.2f} of them right")


def report(weeks: int) -> None:
    print(f"calibration benchmark on {machine_size()}\n")
    print("| set | appliances | right | said | calibration error | over 90% sure, wrong | 90% ranges hold |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    all_sets = sets(8000, weeks, REPORT_HABITS, 950)
    everything = together([j for s in all_sets.values() for j in s])
    for name, judged in [*((n, together(s)) for n, s in all_sets.items()), ("**all**", everything)]:
        _, right, ratio, sure = judged
        bins = np.digitize(sure, BINS) - 1
        error = sum(
            abs(sure[bins == b].mean() - right[bins == b].mean()) * (bins == b).mean() for b in set(bins)
        )
        low, high = energy_range(sure)
        high_sure = sure > 0.9
        print(
            f"| {name} | {len(right)} | {right.mean():.2f} | {sure.mean():.2f} | {error:.3f} | "
            f"{int((~right[high_sure]).sum())} of {int(high_sure.sum())} | "
            f"{np.mean((ratio >= low) & (ratio <= high)):.2f} |"
        )
    _, right, _, sure = everything
    print("\n| said | appliances | mean said | right |\n| --- | --- | --- | --- |")
    for a, b in itertools.pairwise(BINS):
        inside = (sure >= a) & (sure < b)
        if inside.any():
            print(
                f"| {a:.1f} to {min(b, 1):.1f} | {inside.sum()} | {sure[inside].mean():.2f} | "
                f"{right[inside].mean():.2f} |"
            )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--fit", action="store_true")
    parser.add_argument("--weeks", type=int, default=6)
    arguments = parser.parse_args()
    (fit if arguments.fit else report)(arguments.weeks)
