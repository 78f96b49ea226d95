"""The five worst claims of two weeks that a report was once "very sure" of, as they are made now.

The houses are those of `nilm simulate --clean --house house_big --appliances 30 --seed 3` and of `nilm
simulate --clean --days 1 --seed 1 --fault missing:13`, with rows as the ingest takes them, without FLAC.
Once every appliance was called "very sure" whose `support` was at least 0.95.
"""

import numpy as np
from calibration_rows import held_against, solved
from calibration_weeks import TrueWeek, recorded, rows_kept

from nilm.appliances.certainty.doubts import VERY_SURE, sure_word
from nilm.appliances.certainty.ranges import energy_ranges
from nilm.disaggregate.confidence import range_factors
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
    """The clean house that `nilm simulate` records in 2015-wk01, with the rows of the ingest."""
    start = Week.parse("2015-wk01").start
    start_utc = np.datetime64(start.replace(tzinfo=None), "s")
    house = simulated_house(
        seed=seed, days=days, n_appliances=n_appliances, interval_s=CLOCK_S, start_utc=start_utc
    )
    rng = np.random.default_rng([seed, 3, int(start.timestamp())])
    signal = signal_of(house, Conditions(), rng, profile=np.ones(house.Z.shape))
    return recorded(f"seed {seed}", "worst", signal, days, rng)


def _without_hour(week: TrueWeek, hour: int) -> TrueWeek:
    hours = (week.start_utc - week.start_utc[0]) // np.timedelta64(1, "h")
    return rows_kept(week, hours != hour)


def _print_week(week: TrueWeek) -> None:
    found = solved(week)
    held = held_against(found, week)
    kept = [h.feature for h in held]
    sure = found.sure[kept]
    factors = range_factors(found.evidence[kept], sure)
    ranges = energy_ranges([h.kwh for h in held], *factors)
    very_sure = [sure_word(p) == VERY_SURE for p in sure]
    once = sum(found.hop.support[kept] >= ONCE_SURE)
    wrong = [not h.right for h in held]
    now, both = sum(very_sure), sum(a and b for a, b in zip(very_sure, wrong, strict=True))
    print(
        f"{len(held)} features, {sum(wrong)} of them wrong; once very sure of {once}, now of {now}, of which "
        f"{both} wrong. {100 * found.left_over:.1f}% of the energy left over, at the noise floor: "
        f"{found.at_noise_floor}.\n"
    )
    print(
        "| held against | kWh | kWh of that load | kWh of what is shown | F1 | once | now | 90% range |\n"
        + "| --- " * 8
        + "|"
    )
    order = sorted(range(len(held)), key=lambda n: -abs(held[n].load_kwh - held[n].kwh))
    for n in [n for n in order if wrong[n]][:WORST]:
        h = held[n]
        name = "standby" if h.load < 0 else week.names[h.load]
        was = "very sure" if found.hop.support[h.feature] >= ONCE_SURE else "less sure"
        print(
            f"| {name} | {h.kwh:.2f} | {h.load_kwh:.2f} | {h.true_kwh:.2f} | {h.f1:.2f} | {was} "
            f"| {sure_word(sure[n])} ({100 * sure[n]:.0f}%) "
            f"| {ranges[n].low_kwh:.2f} to {ranges[n].high_kwh:.2f} |"
        )
    print()
