"""The weeks of real habits that `benchmarks/habits.py` measures on, and one line of a table of them.

Six weeks of five real houses, their waveforms drawn by a seed (`nilm.simulate.habits`). Seeds from 900 on are
reported. Seeds below 100 are for development: thresholds may be set on those and on no others.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from nilm.appliances.energy_assigned import EnergyAssigned, energy_rightly_assigned
from nilm.simulate.habits import Habits, ObservedHabits, observe_habits, read_habits

FIRST_SEED = 900
WEEKS = {
    "ampds_week": ("ampds_week", 0),
    "redd_house_2": ("redd_house_2", 0),
    "tracebase_plugs": ("tracebase_plugs", 0),
    "studio_flat": ("studio_flat", 0),
    "house_of_25_circuits": ("house_of_25_circuits", 0),
    "house_of_25_circuits, day 7": ("house_of_25_circuits", 7),
}
# What each variation changes; `interval_s` and `n_rows` are of the rows, the rest of the observation.
VARIATIONS: dict[str, dict[str, float]] = {
    "noise 0.05 A": {"noise_a": 0.05},
    "noise 0.1 A": {"noise_a": 0.1},
    "1,000 rows": {"n_rows": 1000},
    "voltage ±2%": {"voltage_swing": 0.02},
    "wobble 5% in half of the channels": {"wobble": 0.05},
    "30 s rows": {"interval_s": 30},
}

Find = Callable[[ObservedHabits], np.ndarray]  # → power_w (N, K), zeros in rows without an answer


@dataclass(frozen=True)
class Score:
    """One week's result."""

    week: str
    seed: int
    assigned: EnergyAssigned
    cpu_s: float


def habits_of(week: str, data: Path, *, interval_s: float = 120, n_rows: int | None = None) -> Habits:
    """The habits of one of the WEEKS."""
    name, day = WEEKS[week]
    habits = read_habits(data / "habits" / f"{name}.npz", interval_s=interval_s, first_day=day)
    return habits if n_rows is None else habits.first_rows(int(n_rows))


def observed_weeks(
    data: Path, seeds: range, *, interval_s: float = 120, n_rows: int | None = None, **observed: float
) -> Iterator[tuple[str, int, ObservedHabits]]:
    """(week, seed, rows) of every week and seed."""
    waveforms = data / "appliances" / "hfhad_cycles.npz"
    for week in WEEKS:
        habits = habits_of(week, data, interval_s=interval_s, n_rows=n_rows)
        for seed in seeds:
            yield week, seed, observe_habits(habits, waveforms, seed=seed, **observed)


def assigned(seen: ObservedHabits, power_w: np.ndarray) -> EnergyAssigned:
    """The score of watts (N, K) found for the week."""
    return energy_rightly_assigned(seen.truth_w, power_w, seen.interval_s)


HEADER = (
    "| set | weeks | acc | one | least week | features | over 1% | channels over 1% | left over "
    "| CPU s, median | worst |\n" + "| --- " * 11 + "|"
)


def line(name: str, scores: list[Score]) -> str:
    """One line of the table: means over the weeks, and the least acc."""
    found = [score.assigned for score in scores]
    cpu = [score.cpu_s for score in scores]

    def mean(field: str) -> float:
        return float(np.mean([getattr(a, field) for a in found]))

    return (
        f"| {name} | {len(scores)} | {mean('acc'):.3f} | {mean('one'):.3f} | {min(a.acc for a in found):.3f} "
        f"| {mean('n_features'):.1f} | {mean('n_large_features'):.1f} | {mean('n_large_channels'):.1f} "
        f"| {mean('left_over'):.4f} | {np.median(cpu):.2f} | {max(cpu):.2f} |"
    )
