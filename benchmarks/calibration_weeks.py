"""The weeks on which `benchmarks/calibration.py` fits and reports, with the truth behind each of them.

Owns which weeks there are. Simulated ones are as `nilm simulate` records them (loads follow the voltage, the
street sags, noise as ten averaged cycles leave it), without the detour over FLAC. Seeds below 5000 are for
the fit, the others for the report: houses, times and waveforms all differ. There are only five houses of real
habits, so `house` names the real house behind a week: it is reported with a map that was fitted without it.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from nilm.simulate.grid import Conditions
from nilm.simulate.habits import observe_habits, read_habits
from nilm.simulate.house import House, simulated_house
from nilm.simulate.lifelike import lifelike_house
from nilm.simulate.signal import Signal, signal_of
from nilm.simulate.solar import with_solar

NOISE_A = 0.005 / np.sqrt(10)
HABITS = (
    ("ampds_week", 0),
    ("redd_house_2", 0),
    ("tracebase_plugs", 0),
    ("studio_flat", 0),
    ("house_of_25_circuits", 0),
    ("house_of_25_circuits", 7),
)
FIT_SEED, REPORT_SEED = 1000, 8000
REAL_FIT_SEED, REAL_REPORT_SEED = 10, 950  # of the waveforms that real habits are drawn with
# Weeks in each set: some 200 appliances each where that is affordable. Those that cost more have fewer.
WEEKS = {
    "clean": 20,
    "3% drift": 20,
    "20 appliances": 8,
    "30 appliances": 5,
    "gaps": 20,
    "solar": 10,
    "real habits": 3,  # times six weeks
    "lifelike": 4,
    "the other estimator": 8,  # of the fit alone
}
OTHER = "the other estimator"
# Weeks that are solved by the estimator that the rule would not choose, so that the map knows answers that
# fit badly, whoever gave them: (estimator, number of appliances, drift).
_OTHERS = (("shapes", 10, 0.01), ("switching", 30, 0.01), ("shapes", 10, 0.03), ("switching", 26, 0.02))


@dataclass(frozen=True, eq=False)
class TrueWeek:
    """Rows of a week as the product gets them, and what was really on."""

    name: str
    set: str
    house: str
    current_a: np.ndarray  # (N, D)
    voltage_v: np.ndarray  # (D,) or (N, D)
    start_utc: np.ndarray  # (N,)
    interval_s: float
    truth_w: np.ndarray  # (N, L) watts of every load, then of every machine that has several
    names: tuple[str, ...]  # (L,)
    standby_w: float  # what all loads draw at least, but for 2% of their time
    estimator: str = "auto"


def weeks_of(kind: str, *, report: bool, share: float, data: Path) -> Iterator[tuple[str, int, str]]:
    """(name, seed, real house) of the weeks of a set; `share` of the usual number, at least one."""
    n_weeks = max(round(share * WEEKS[kind]), 1)
    if kind == OTHER and report:
        return
    if kind != "real habits":
        first = REPORT_SEED if report else FIT_SEED
        for n in range(n_weeks):
            seed = first + n + (500 if kind == OTHER else 0)  # other houses than those of the other sets
            yield f"{kind}, seed {seed}", seed, ""
    elif (data / "habits").is_dir():
        first = REAL_REPORT_SEED if report else REAL_FIT_SEED
        for house, day in HABITS:
            for n in range(n_weeks):
                yield f"{house} from day {day}, seed {first + n}", first + n, f"{house}:{day}"


def true_week(kind: str, name: str, seed: int, real: str, data: Path) -> TrueWeek:
    """The rows of one week of `weeks_of`."""
    if kind == "real habits":
        return _real_habits(name, seed, real, data)
    days, estimator, drift = 7.0, "auto", Conditions().drift
    n = {"20 appliances": 20, "30 appliances": 30}.get(kind, 10)
    if kind == "3% drift":
        drift = 0.03
    elif kind == "gaps":
        days = 1.0 if seed % 2 else 7.0
    elif kind == OTHER:
        estimator, n, drift = _OTHERS[seed % len(_OTHERS)]
    if kind == "lifelike":
        house, profile = lifelike_house(seed=seed, days=days)
    else:
        house = simulated_house(seed=seed, days=days, n_appliances=n)
        profile = np.ones(house.Z.shape)
    rng = np.random.default_rng([seed, 1])
    if kind == "solar":
        house, profile = with_solar(house, np.random.default_rng([seed, 2]))
    week = recorded(name, kind, house, profile, Conditions(drift=drift), rng)
    return replace(without_hours(week, rng) if kind == "gaps" else week, estimator=estimator)


def recorded(
    name: str, kind: str, house: House, profile: np.ndarray, conditions: Conditions, rng: np.random.Generator
) -> TrueWeek:
    """A simulated house as a week of rows."""
    signal = signal_of(house, conditions, rng, profile=profile)
    return recorded_at(name, kind, signal, house.row_s, rng)


def recorded_at(
    name: str, kind: str, signal: Signal, row_s: np.ndarray, rng: np.random.Generator
) -> TrueWeek:
    """What a meter sees at these instants, `row_s` (N,) seconds after the first, evenly spaced."""
    house = signal.house
    current = signal.cycles_a(row_s)
    current += NOISE_A * rng.standard_normal(current.shape)
    watts = signal.watts(row_s)
    loads = _summed(watts, house.names)
    machines = _machines(watts, house)
    return TrueWeek(
        name=name,
        set=kind,
        house=f"simulated {name}",
        current_a=current,
        voltage_v=np.outer(signal.level(row_s), house.voltage_v),
        start_utc=house.start_utc[0] + np.rint(row_s * 1e9).astype("timedelta64[ns]"),
        interval_s=float(row_s[1] - row_s[0]),
        truth_w=np.column_stack([loads, *machines.values()]),
        standby_w=standby(loads),
        names=(*dict.fromkeys(house.names), *machines),
    )


def standby(loads_w: np.ndarray) -> float:
    """Watts that the loads (N, L) draw together at all times, generators aside."""
    return float(np.maximum(np.percentile(loads_w, 2, axis=0), 0.0).sum())


def _summed(watts: np.ndarray, names: tuple[str, ...]) -> np.ndarray:
    """Columns of one name are one load."""
    return np.column_stack(
        [
            watts[:, [k for k, other in enumerate(names) if other == name]].sum(axis=1)
            for name in dict.fromkeys(names)
        ]
    )


def _machines(watts: np.ndarray, house: House) -> dict[str, np.ndarray]:
    """The watts of each machine that has several loads."""
    parts: dict[str, list[int]] = {machine: [] for machine in house.machines}
    for k, machine in enumerate(house.machines):
        parts[machine].append(k)
    return {
        machine: watts[:, ks].sum(axis=1)
        for machine, ks in parts.items()
        if len({house.names[k] for k in ks}) > 1
    }


def without_hours(week: TrueWeek, rng: np.random.Generator) -> TrueWeek:
    """The week with one to three stretches of hours missing, a tenth to a third of it in all."""
    n = len(week.current_a)
    kept = np.ones(n, bool)
    per_hour = round(3600 / week.interval_s)
    stretches = int(rng.integers(1, 4))
    for _ in range(stretches):
        length = max(round(rng.uniform(0.1, 0.33) * n / stretches / per_hour), 1) * per_hour
        start = int(rng.integers(0, n - length) // per_hour * per_hour)
        kept[start : start + length] = False
    return rows_kept(week, kept)


def rows_kept(week: TrueWeek, kept: np.ndarray) -> TrueWeek:
    """The week with these rows only."""
    return replace(
        week,
        current_a=week.current_a[kept],
        voltage_v=week.voltage_v[kept],
        start_utc=week.start_utc[kept],
        truth_w=week.truth_w[kept],
    )


def _real_habits(name: str, seed: int, real: str, data: Path) -> TrueWeek:
    house, day = real.split(":")
    week = read_habits(data / "habits" / f"{house}.npz", first_day=int(day))
    seen = observe_habits(week, data / "appliances" / "hfhad_cycles.npz", seed=seed, noise_a=0.02)
    return TrueWeek(
        name,
        "real habits",
        house,
        seen.current_a,
        seen.voltage_v,
        seen.start_utc,
        seen.interval_s,
        seen.truth_w,
        seen.names,
        standby(seen.truth_w),
    )
