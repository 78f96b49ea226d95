"""What half and double of every threshold do to small simulated weeks.

    python benchmarks/thresholds.py [--only switching] [--weeks 1]

Thresholds lie in records: modules of lfm and nilm named `thresholds`, one record for each room. One number of
one record is changed at a time, in the whole program. A number between ½ and 1 is a share or a cosine that is
close to 1: its distance from 1 is halved and doubled. There are nine kinds of weeks: on/off loads alone, with
drift, slow change, switches within rows, missing rows, and the sun; ten appliances; a lifelike house,
whose loads vary; and on/off loads explained by K-features, which hop. Printed are, as means over the weeks,
E_Hamm, the appliances found less those that are there, the energy error (Σ|energy − truth| / Σ truth over
matched appliances) and the share of the matched appliances whose kind is right. A number that changes none
of these is listed below the table: these weeks do not ask for it. The weeks are of development (seeds below
200): this is about how much hangs on a number, not about how good the answers are.
"""

import argparse
import importlib
import pkgutil
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
from machine import machine_size

import lfm
import nilm
from lfm import hamming_error, match_columns
from nilm.appliances.measures import kind_of_load
from nilm.disaggregate import Disaggregation, disaggregate
from nilm.simulate.house import House, drop_rows, observe, simulated_house
from nilm.simulate.lifelike import lifelike_house
from nilm.simulate.solar import with_solar

FIRST_SEED = 100
N_POINTS = 64
NOISE_A = 0.01
AFTERWARDS = ("nilm.appliances",)  # what they decide comes after the solution
# No number here could change: they decide about reading a recording, words and folds of a page, what is
# refused, the truth of a simulated week, and what the experiments show.
ELSEWHERE = (
    "lfm.synthetic",
    "nilm.switches",
    "nilm.appliances.page",
    "nilm.input",
    "nilm.world",
    "nilm.shown",
)
KINDS: dict[str, dict[str, Any]] = {
    "plain": {},
    "drift": {"drift": 0.03},
    "slow change": {"slow_change": 0.03},
    "switches within rows": {"switch_rows": 0.2},
    "missing rows": {"missing": 0.05},
    "sun": {"sun": True},
    "ten appliances": {"n_appliances": 10, "drift": 0.02},
    "lifelike": {"lifelike": True},
    "a baseline, hopped": {"estimator": "kfeatures"},
}


class Effect(NamedTuple):
    """Means over the weeks."""

    error: float
    extra: float  # appliances found less those that are there
    energy: float
    kinds: float

    def __str__(self) -> str:
        return f"{self.error:.4f} | {self.extra:+.2f} | {self.energy:.3f} | {self.kinds:.2f}"


class Week(NamedTuple):
    """A house, what the meter sees of it, the size of each load in each row, and who explains it."""

    house: House
    current_a: np.ndarray
    amount: np.ndarray  # (N, K)
    estimator: str


def week(
    seed: int,
    *,
    missing: float = 0.0,
    sun: bool = False,
    n_appliances: int = 6,
    lifelike: bool = False,
    estimator: str = "auto",
    **observed: float,
) -> Week:
    """A day or two of a house."""
    rng = np.random.default_rng(seed)
    if lifelike:
        return _lifelike(seed, rng)
    house = simulated_house(seed=seed, days=2 if sun else 1, n_appliances=n_appliances, n_points=N_POINTS)
    if missing:
        house = drop_rows(house, share=missing, rng=rng)
    current = observe(house, noise_a=NOISE_A / 5 if sun else NOISE_A, rng=rng, **observed)
    amount = house.Z.astype(np.float64)
    if sun:
        house, profile = with_solar(house, rng)
        amount = house.Z * profile
        current = current + np.outer(amount[:, -1], house.W[-1])
    return Week(house, current, amount, estimator)


def _lifelike(seed: int, rng: np.random.Generator) -> Week:
    """A day of a house whose loads vary; what is one load in two columns is one in the truth."""
    house, profile = lifelike_house(seed=seed, days=1, n_points=N_POINTS)
    amount = house.Z * profile
    current = amount @ house.W + NOISE_A * rng.standard_normal((len(amount), N_POINTS))
    first = [house.names.index(name) for name in dict.fromkeys(house.names)]
    power_w = amount * house.watts
    summed = np.column_stack(
        [power_w[:, [n == house.names[k] for n in house.names]].sum(axis=1) for k in first]
    )
    one_each = replace(
        house,
        names=tuple(house.names[k] for k in first),
        machines=tuple(house.machines[k] for k in first),
        kinds=tuple(house.kinds[k] for k in first),
        Z=house.Z[:, first],
        W=house.W[first],
        watts=house.watts[first],
    )
    return Week(one_each, current, summed / house.watts[first], "auto")


def solved(weeks: list[Week]) -> list[Disaggregation]:
    """What the product finds."""
    return [
        disaggregate(
            w.current_a,
            w.house.voltage_v,
            estimator=w.estimator,
            start_utc=w.house.start_utc,
            interval_s=w.house.interval_s,
        )
        for w in weeks
    ]


def effect(weeks: list[Week], solutions: list[Disaggregation]) -> Effect:
    """How far that is from the truth."""
    found = np.array([_of_one(w, solution) for w, solution in zip(weeks, solutions, strict=True)])
    return Effect(*found.mean(axis=0).tolist())


def _of_one(w: Week, found: Disaggregation) -> tuple[float, float, float, float]:
    house = w.house
    Z, watts = found.solution.Z, found.watts
    columns, true = match_columns(Z, house.Z)
    energy = found.power_w[:, columns].sum(axis=0)
    truth = (w.amount * house.watts)[:, true].sum(axis=0)
    kinds = [
        kind_of_load(found.solution.W[k], house.voltage_v, share_of_time=float(Z[:, k].mean()))
        == house.kinds[t]
        for k, t in zip(columns, true, strict=True)
    ]
    return (
        hamming_error(Z, house.Z),
        float(len(watts) - house.Z.shape[1]),
        float(np.abs(energy - truth).sum() / np.abs(truth).sum()),
        float(np.mean(kinds)),
    )


def records() -> Iterator[tuple[str, ModuleType, str]]:
    """(name, module, attribute) of every record of thresholds; all modules are loaded afterwards."""
    for package in (lfm, nilm):
        for info in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            importlib.import_module(info.name)
            if info.name.endswith(".thresholds"):
                module = sys.modules[info.name]
                for attribute, value in list(vars(module).items()):
                    if attribute.isupper() and isinstance(value, tuple) and hasattr(value, "_fields"):
                        room, own = info.name.removesuffix(".thresholds"), attribute.lower()
                        name = room if own in ("thresholds", room.split(".")[-1]) else f"{room}.{own}"
                        yield name, module, attribute


def changes(value: float) -> tuple[float, float]:
    """A threshold's half and double."""
    if isinstance(value, int):
        return max(1, value // 2), 2 * value
    if 0.5 < value < 1:
        return 1 - 2 * (1 - value), 1 - (1 - value) / 2
    return value / 2, 2 * value


def put(old: object, new: object) -> None:
    """Have every module of ours use another record."""
    for name, module in list(sys.modules.items()):
        if name.split(".")[0] in ("lfm", "nilm"):
            for attribute, value in list(vars(module).items()):
                if value is old:
                    setattr(module, attribute, new)


def main(only: str, n_weeks: int) -> None:
    weeks = [week(FIRST_SEED + n, **options) for options in KINDS.values() for n in range(n_weeks)]
    found = [record for record in records() if only in record[0] and record[0] not in ELSEWHERE]
    if not found:
        sys.exit(f"no record of thresholds has a name that holds {only!r}")
    solved(weeks)  # compiles
    begin = time.process_time()
    solutions = solved(weeks)
    usual = effect(weeks, solutions)
    print(f"{len(weeks)} weeks, {time.process_time() - begin:.1f} CPU s a line, {machine_size()}\n")
    print("| threshold | value | E_Hamm | appliances | energy error | kinds right |")
    print("| --- | --- | --- | --- | --- | --- |")
    print(f"| as they are | | {usual} |", flush=True)
    unasked = []
    for name, module, attribute in found:
        record = getattr(module, attribute)
        for field, value in record._asdict().items():
            if isinstance(value, tuple | bool):
                continue
            lines = []
            for other in changes(value):
                changed = record._replace(**{field: other})
                put(record, changed)
                try:
                    again = solutions if name in AFTERWARDS else solved(weeks)
                    seen: object = effect(weeks, again)
                except Exception as error:  # noqa: BLE001 - a benchmark goes on: that it breaks is the finding
                    seen = f"{type(error).__name__} | | |"
                put(changed, record)
                if str(seen) != str(usual):  # to the digits that are shown
                    lines.append(f"| {name}.{field} | {value:g} → {other:g} | {seen} |")
            print("\n".join(lines), end="\n" if lines else "", flush=True)
            if not lines:
                unasked.append(f"{name}.{field}")
    print(f"\nNo difference: {', '.join(unasked)}.")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", default="", help="part of the record's name, such as switching")
    parser.add_argument("--weeks", type=int, default=1, help="of each of the nine kinds")
    arguments = parser.parse_args()
    main(arguments.only, arguments.weeks)
