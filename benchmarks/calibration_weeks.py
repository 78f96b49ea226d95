"""The weeks on which `benchmarks/calibration.py` fits and reports, with the truth behind each of them.

Owns which weeks there are. Simulated ones are as `nilm simulate` records and the ingest reads them (loads
follow the voltage, the street sags, rows are cut at changes, noise is what ten averaged cycles leave of it),
without the detour over FLAC. Seeds from FIT_SEED and REAL_FIT_SEED on are for the fit and for all work on it;
those from REPORT_SEED and REAL_REPORT_SEED on are for the report alone: houses, times and waveforms all
differ. There are only five houses of real habits, so `house` names the real house behind a week: it is
reported with a map that was fitted without it.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from calibration_meter import rows_as_read

from nilm.recordings.waveforms import Sampling
from nilm.simulate.grid import Conditions
from nilm.simulate.habits import observe_habits, read_habits
from nilm.simulate.house import House, simulated_house
from nilm.simulate.lifelike import lifelike_house
from nilm.simulate.signal import Signal, signal_of
from nilm.simulate.solar import with_solar
from nilm.simulate.week import CLOCK_S
from nilm.timeline import utc

SAMPLING = Sampling()
NOISE_A = 0.005 / np.sqrt(SAMPLING.n_cycles)
HABITS = (
    ("ampds_week", 0),
    ("redd_house_2", 0),
    ("tracebase_plugs", 0),
    ("studio_flat", 0),
    ("house_of_25_circuits", 0),
    ("house_of_25_circuits", 7),
)
FIT_SEED, REPORT_SEED = 1000, 70_000
REAL_FIT_SEED, REAL_REPORT_SEED = 10, 70_000  # of the waveforms that real habits are drawn with
# Weeks in each set: some 400 appliances each; of what costs more (20 and 30 appliances, solar) fewer.
WEEKS = {
    "clean": 40,
    "3% drift": 40,
    "20 appliances": 16,
    "30 appliances": 10,
    "gaps": 40,
    "solar": 28,
    "real habits": 4,  # times six weeks
    "lifelike": 16,
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
    duration_s: np.ndarray  # (N,)
    truth_w: np.ndarray  # (N, L) watts of every load, then of every machine that has several
    part_of: np.ndarray  # (L,) the column of the machine that a load is a part of, −1 where there is none
    names: tuple[str, ...]  # (L,)
    estimator: str = "auto"


def weeks_of(kind: str, *, report: bool, share: float, data: Path) -> Iterator[tuple[str, int, str]]:
    """(name, seed, real house) of the weeks of a set; `share` of the usual number, at least one."""
    n_weeks = max(round(share * WEEKS[kind]), 1)
    if kind == OTHER and report:
        return
    if kind != "real habits":
        first = (REPORT_SEED if report else FIT_SEED) + 100 * list(WEEKS).index(kind)  # each set has its own
        for n in range(n_weeks):
            seed = first + n
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
        house, profile = lifelike_house(seed=seed, days=days, interval_s=CLOCK_S)
    else:
        house = simulated_house(seed=seed, days=days, n_appliances=n, interval_s=CLOCK_S)
        profile = np.ones(house.Z.shape)
    rng = np.random.default_rng([seed, 1])
    if kind == "solar":
        house, profile = with_solar(house, np.random.default_rng([seed, 2]))
    signal = signal_of(house, Conditions(drift=drift), rng, profile=profile)
    week = recorded(name, kind, signal, days, rng)
    return replace(without_hours(week, rng) if kind == "gaps" else week, estimator=estimator)


def recorded(name: str, kind: str, signal: Signal, days: float, rng: np.random.Generator) -> TrueWeek:
    """What a meter sees in the first `days` of a signal."""
    house = signal.house
    rows = rows_as_read(signal, days * 86_400, SAMPLING)
    current = signal.cycles_a(rows.window_s)
    current += NOISE_A * rng.standard_normal(current.shape)
    watts = signal.watts(rows.window_s)
    loads = tuple(dict.fromkeys(house.names))
    machines = _machines(house)
    part_of = {name: len(loads) + n for n, parts in enumerate(machines.values()) for name in parts}
    columns = [_summed(watts, house.names, {name}) for name in loads]
    columns += [_summed(watts, house.names, parts) for parts in machines.values()]
    return TrueWeek(
        name=name,
        set=kind,
        house=f"simulated {name}",
        current_a=current,
        voltage_v=np.outer(signal.level(rows.window_s), house.voltage_v),
        start_utc=house.start_utc[0] + (utc(rows.start_s) - utc(0.0)),
        duration_s=rows.duration_s,
        truth_w=np.column_stack(columns),
        part_of=np.array([part_of.get(name, -1) for name in (*loads, *machines)]),
        names=(*loads, *machines),
    )


def _summed(watts: np.ndarray, names: tuple[str, ...], wanted: set[str]) -> np.ndarray:
    """(N,) the watts of all columns that have one of these names."""
    return np.asarray(watts[:, [name in wanted for name in names]].sum(axis=1))


def _machines(house: House) -> dict[str, set[str]]:
    """The machines that have several loads, with the names of these."""
    parts: dict[str, set[str]] = {machine: set() for machine in house.machines}
    for name, machine in zip(house.names, house.machines, strict=True):
        parts[machine].add(name)
    return {machine: names for machine, names in parts.items() if len(names) > 1}


def without_hours(week: TrueWeek, rng: np.random.Generator) -> TrueWeek:
    """The week with one to three stretches of hours missing, a tenth to a third of it in all."""
    hour = (week.start_utc - week.start_utc[0]) // np.timedelta64(1, "h")
    n_hours = int(hour[-1]) + 1
    kept = np.ones(len(hour), bool)
    stretches = int(rng.integers(1, 4))
    for _ in range(stretches):
        length = max(round(rng.uniform(0.1, 0.33) * n_hours / stretches), 1)
        start = int(rng.integers(0, n_hours - length))
        kept[(hour >= start) & (hour < start + length)] = False
    return rows_kept(week, kept)


def rows_kept(week: TrueWeek, kept: np.ndarray) -> TrueWeek:
    """The week with these rows only."""
    return replace(
        week,
        current_a=week.current_a[kept],
        voltage_v=week.voltage_v[kept],
        start_utc=week.start_utc[kept],
        duration_s=week.duration_s[kept],
        truth_w=week.truth_w[kept],
    )


def _real_habits(name: str, seed: int, real: str, data: Path) -> TrueWeek:
    house, day = real.split(":")
    week = read_habits(data / "habits" / f"{house}.npz", first_day=int(day))
    seen = observe_habits(week, data / "appliances" / "hfhad_cycles.npz", seed=seed, noise_a=0.02)
    return TrueWeek(
        name=name,
        set="real habits",
        house=house,
        current_a=seen.current_a,
        voltage_v=seen.voltage_v,
        start_utc=seen.start_utc,
        duration_s=np.full(len(seen.start_utc), seen.interval_s),
        truth_w=seen.truth_w,
        part_of=np.full(len(seen.names), -1),
        names=seen.names,
    )
