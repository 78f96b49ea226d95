"""A house as houses are: levels, loads that wander, a waveform that changes with its load, heaters alike.

Owns the list of its appliances and how they become a house. A load whose shape changes with its power has two
columns of one name, its current at rest and at full power, and moves from the one to the other. The house of
on/off loads is `nilm.simulate.house`, the physics `nilm.simulate.loads`.
"""

from dataclasses import replace

import numpy as np

from lfm.arrays import BoolArray, FloatArray
from nilm.errors import OptionError
from nilm.simulate import loads
from nilm.simulate.appliances.household import CORE, EXTRAS, POWER, STANDBY, Draw, Model, corrected, pulsed
from nilm.simulate.appliances.variation import by_demand, charging, chosen, falling, programme, wandering
from nilm.simulate.house import FIRST_WEEK, House, column_of, house_of
from nilm.simulate.schedules import Clock, meals, thermostat
from nilm.timeline import DAY_S

_SIZE_SPREAD = 0.06
_N_STANDBY = 12  # things that are never switched off


def _dozen(voltage_v: FloatArray, watts: float, rng: np.random.Generator) -> FloatArray:
    """The current of a dozen small supplies that share the watts unevenly."""
    shares = watts * rng.dirichlet(np.full(_N_STANDBY, 2.0))
    draws: list[Draw] = [pulsed, corrected, STANDBY.draw]
    currents = [draws[n % len(draws)](voltage_v, share, rng) for n, share in enumerate(shares)]
    return np.asarray(np.sum(currents, axis=0), dtype=np.float64)


def _dimmed(firing_deg: float) -> Draw:
    def draw(voltage_v: FloatArray, watts: float, rng: np.random.Generator) -> FloatArray:
        return loads.dimmed(voltage_v, watts, firing_deg=firing_deg + rng.uniform(-5, 5))

    return draw


def _inverter(cusp: float) -> Draw:
    """A pump's converter: the less it draws, the less its current resembles the voltage."""

    def draw(voltage_v: FloatArray, watts: float, rng: np.random.Generator) -> FloatArray:
        return loads.corrected_supply(voltage_v, watts, cusp=cusp, filter_va=rng.uniform(0.05, 0.1) * watts)

    return draw


_NAMED = {model.name: model for model in (*CORE, *(m for group in EXTRAS for m in group))}
# Spin, pauses and tumbling of a wash; the heater has its own column.
_WASH = programme((0.1, 0.5), (0.35, 0.8), (0.6, 1.0), (0.7, 0.6), (0.85, 1.0), (1.0, 2.2))
_DISHES = programme((0.1, 0.55), (0.3, 1.0), (0.65, 0.7), (0.8, 1.0), (1.0, 0.3))

MODELS: tuple[Model, ...] = (
    replace(STANDBY, draw=_dozen, watts=110),
    replace(_NAMED["fridge"], varies=falling(0.35, 420)),
    replace(_NAMED["freezer"], varies=falling(0.2, 900)),
    replace(_NAMED["washing machine motor"], varies=_WASH),
    _NAMED["washing machine heater"],
    replace(_NAMED["dishwasher pump"], varies=_DISHES),
    _NAMED["dishwasher heater"],
    replace(_NAMED["tumble dryer drum"], varies=wandering(0.05, 600)),
    _NAMED["tumble dryer heater"],
    _NAMED["kettle"],
    _NAMED["toaster"],
    _NAMED["oven"],
    _NAMED["immersion heater"],
    _NAMED["iron"],
    replace(_NAMED["microwave"], varies=chosen(1.0, 0.55, for_s=300)),
    replace(_NAMED["television"], varies=wandering(0.15, 240)),
    replace(_NAMED["computer"], varies=wandering(0.3, 400, least=0.35)),
    replace(_NAMED["laptop"], varies=charging(4500)),
    Model(
        "dimmed lights",
        "dimmed light",
        220,
        _dimmed(115),
        meals((6.8, 19.5), probability=0.8, lasts_s=(3600, 12600)),
        varies=chosen(0.25, 0.45, 0.7, 1.0, for_s=3600),
        draw_full=_dimmed(35),
    ),
    _NAMED["kitchen lights"],
    Model(
        "heat pump",
        POWER,
        1200,
        _inverter(0.7),
        thermostat(6000, 3600, hours=(4.0, 22.5)),
        varies=by_demand(0.2, 1500),
        draw_full=_inverter(0.15),
    ),
    _NAMED["water pump"],
    replace(_NAMED["vacuum cleaner"], varies=falling(0.08, 120)),
)


def lifelike_house(
    *,
    seed: int,
    days: float = 7.0,
    n_points: int = 320,
    interval_s: float = 120,
    start_utc: np.datetime64 = FIRST_WEEK,
) -> tuple[House, FloatArray]:
    """The house over `days` from midnight `start_utc`, and its profile (N, K): factors on W in each row.

    One seed is one house: another `start_utc` gives another schedule of the same appliances. Raises
    OptionError for less than one row.
    """
    if seed < 0:
        raise OptionError(f"seed must be at least 0, got {seed}")
    clock = Clock(round(days * DAY_S / interval_s), interval_s)
    if clock.n_rows < 1:
        raise OptionError(f"days = {days} at interval_s = {interval_s} gives no row; ask for more days")
    # Separate streams, as in `simulated_house`: of the house, of each load's current, of the week.
    rng = np.random.default_rng([seed, 10])
    voltage = loads.voltage_cycle(rng, n_points)
    sizes = np.exp(_SIZE_SPREAD * rng.standard_normal(len(MODELS)))
    week = np.random.default_rng([seed, 12, int(start_utc.astype("datetime64[D]").astype(np.int64))])
    on: dict[str, BoolArray] = {}
    columns: list[tuple[Model, FloatArray, FloatArray]] = []  # with current and factors
    for k, (model, size) in enumerate(zip(MODELS, sizes, strict=True)):
        own = np.random.default_rng([seed, 11, k])
        on[model.name] = column_of(model, on, clock, week)
        factors = model.varies(on[model.name], clock, week) if model.varies else np.ones(clock.n_rows)
        current = model.draw(voltage, model.watts * float(size), own)
        if model.draw_full is None:
            columns.append((model, current, factors))
            continue
        full = model.draw_full(voltage, model.watts * float(size), own)
        columns.append((model, current, factors * (1 - factors)))
        columns.append((model, full, factors**2))
    models, currents, factors_of = zip(*columns, strict=True)
    Z = np.column_stack([on[model.name] for model in models]).astype(np.uint8)
    house = house_of(models, Z, np.stack(currents), voltage, start_utc=start_utc, interval_s=interval_s)
    return house, np.column_stack(factors_of)
