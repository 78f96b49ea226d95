"""The five worst claims of two weeks that a report was once "very sure" of, as they are made now.

The houses are those of `nilm simulate --clean --house house_big --appliances 30 --seed 3` and of `nilm
simulate --clean --days 1 --seed 1 --fault missing:13`, with a row every two minutes and no FLAC between. Once
every appliance was called "very sure" whose `support` was at least 0.95.
"""

import numpy as np
from calibration_rows import LEAST_F1, MOST_ERROR, held_against
from calibration_weeks import TrueWeek, recorded_at, rows_kept

from nilm.appliances.doubts import sure_word
from nilm.appliances.ranges import energy_ranges
from nilm.disaggregate import disaggregate
from nilm.recordings.ukdale import Week
from nilm.simulate.grid import Conditions
from nilm.simulate.house import simulated_house
from nilm.simulate.signal import signal_of
from nilm.simulate.week import CLOCK_S

ONCE_SURE = 0.95
WORST = 5


def print_worst() -> None:
    """Both weeks, each as a table."""
    for title, week in (
        ("30 appliances, seed 3", simulated_week(seed=3, days=7, n_appliances=30)),
        ("one day, seed 1, without hour 13", _without_hour(simulated_week(seed=1, days=1), 13)),
    ):
        print(f"## {title}\n")
        _print_week(week)


def simulated_week(*, seed: int, days: float, n_appliances: int = 10) -> TrueWeek:
    """The clean house that `nilm simulate` records in 2015-wk01, at rows two minutes apart."""
    start = Week.parse("2015-wk01").start
    start_utc = np.datetime64(start.replace(tzinfo=None), "s")
    house = simulated_house(
        seed=seed, days=days, n_appliances=n_appliances, interval_s=CLOCK_S, start_utc=start_utc
    )
    rng = np.random.default_rng([seed, 3, int(start.timestamp())])
    signal = signal_of(house, Conditions(), rng, profile=np.ones(house.Z.shape))
    return recorded_at(f"seed {seed}", "worst", signal, np.arange(0, days * 86_400, 120.0), rng)


def _without_hour(week: TrueWeek, hour: int) -> TrueWeek:
    rows = np.arange(len(week.current_a)) // 30
    return rows_kept(week, rows != hour)


def _print_week(week: TrueWeek) -> None:
    found = disaggregate(week.current_a, week.voltage_v, start_utc=week.start_utc, interval_s=week.interval_s)
    hours = week.interval_s / 3.6e6
    held = [h for k in range(found.solution.K) if (h := held_against(found, k, week)) is not None]
    kwh = [h.found * hours for h in held]
    ranges = energy_ranges(kwh, found.sure[[h.feature for h in held]])
    wrong = [not (h.f1 >= LEAST_F1 and abs(h.found / max(h.true, 1e-9) - 1) <= MOST_ERROR) for h in held]
    once = sum(found.hop.support[h.feature] >= ONCE_SURE for h in held)
    now = sum(found.sure[h.feature] >= 0.9 for h in held)
    both = sum(w and found.sure[h.feature] >= 0.9 for h, w in zip(held, wrong, strict=True))
    print(
        f"{len(held)} features, {sum(wrong)} of them wrong; once very sure of {once}, now of {now}, of which "
        f"{both} wrong. {100 * found.left_over:.1f}% of the energy left over, at the noise floor: "
        f"{found.at_noise_floor}.\n"
    )
    print("| held against | kWh | true kWh | F1 | once | now | 90% range |\n" + "| --- " * 7 + "|")
    order = sorted(range(len(held)), key=lambda n: -abs(held[n].true - held[n].found) * wrong[n])
    for n in [n for n in order if wrong[n]][:WORST]:
        h = held[n]
        name = "standby" if h.load < 0 else week.names[h.load]
        was = "very sure" if found.hop.support[h.feature] >= ONCE_SURE else "less sure"
        sure = float(found.sure[h.feature])
        print(
            f"| {name} | {kwh[n]:.2f} | {h.true * hours:.2f} | {h.f1:.2f} | {was} | {sure_word(sure)} "
            f"({100 * sure:.0f}%) | {ranges[n].low_kwh:.2f} to {ranges[n].high_kwh:.2f} |"
        )
    print()
