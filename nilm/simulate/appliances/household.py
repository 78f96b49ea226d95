"""What stands in a simulated house: each appliance's kind, size, current and habit.

A list to read, not code to run: `nilm.simulate.house` draws a house from it. The kinds are those of
`nilm.results.Appliance`. Sizes are nominal; a house draws its own within a few percent.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from lfm.arrays import FloatArray
from nilm.simulate import loads
from nilm.simulate.appliances.variation import Variation
from nilm.simulate.schedules import Habit, always, heated, meals, thermostat

Draw = Callable[[FloatArray, float, np.random.Generator], FloatArray]  # (voltage_v, watts, rng) → current_a

ALWAYS_ON = "always on"
HEAT, TURN, POWER = "resistive heater", "motor", "electronics"


@dataclass(frozen=True)
class Model:
    """One column of Z: a load that is on or off."""

    name: str
    kind: str
    watts: float
    draw: Draw
    habit: Habit
    machine: str | None = None  # what is plugged in, where the load is a part of it
    only_with: str | None = None  # on only while this one is on; `shares` replaces the habit
    shares: tuple[tuple[float, float], ...] = ()  # of each run of the partner
    probability: float = 1.0  # that it takes part in a run of the partner
    never_with: str | None = None  # an interlock: off while that one is on
    varies: Variation | None = None  # its power over time, in units of `watts`; None: the same all the time
    draw_full: Draw | None = None  # the current at full power, where its shape changes with the load

    @property
    def heats(self) -> bool:
        """Whether it is a heater and nothing else."""
        return self.kind == HEAT


def _heater(voltage_v: FloatArray, watts: float, rng: np.random.Generator) -> FloatArray:  # noqa: ARG001
    return loads.resistive(voltage_v, watts)


def _motor(power_factor: float) -> Draw:
    def draw(voltage_v: FloatArray, watts: float, rng: np.random.Generator) -> FloatArray:
        return loads.motor(
            voltage_v,
            watts,
            power_factor=power_factor * rng.uniform(0.95, 1.05),
            saturation=rng.uniform(0.03, 0.12),
        )

    return draw


def pulsed(voltage_v: FloatArray, watts: float, rng: np.random.Generator) -> FloatArray:
    """The current of a supply without correction, its pulses of some width."""
    return loads.rectifier(voltage_v, watts, ripple=rng.uniform(0.06, 0.25))


def corrected(voltage_v: FloatArray, watts: float, rng: np.random.Generator) -> FloatArray:
    """The current of a supply with power-factor correction, more or less good."""
    return loads.corrected_supply(
        voltage_v, watts, cusp=rng.uniform(0.1, 0.3), filter_va=rng.uniform(0.05, 0.2) * watts
    )


def _dimmed(voltage_v: FloatArray, watts: float, rng: np.random.Generator) -> FloatArray:
    return loads.dimmed(voltage_v, watts, firing_deg=rng.uniform(50, 120))


def _standby(voltage_v: FloatArray, watts: float, rng: np.random.Generator) -> FloatArray:
    return loads.standby(voltage_v, watts, leading_va=rng.uniform(0.3, 0.8) * watts)


_evening = meals((19.5,), probability=0.9, lasts_s=(5400, 12600))

STANDBY = Model("standby", ALWAYS_ON, 95, _standby, always)

# Every house of ten columns or more has these; a smaller one has the first of them.
CORE = (
    STANDBY,
    Model("fridge", TURN, 90, _motor(0.68), thermostat(1100, 2200)),
    Model(
        "kettle",
        HEAT,
        2800,
        _heater,
        meals((7.2, 10.5, 13.0, 16.2, 19.8), probability=0.7, lasts_s=(120, 240)),
    ),
    Model(
        "washing machine motor",
        TURN,
        260,
        _motor(0.6),
        meals((10.0,), probability=0.6, lasts_s=(4200, 6600)),
        machine="washing machine",
    ),
    Model(
        "washing machine heater",
        HEAT,
        1900,
        _heater,
        always,
        only_with="washing machine motor",
        shares=((0.1, 0.35),),
        machine="washing machine",
    ),
    Model(
        "television",
        POWER,
        130,
        corrected,
        meals((12.5, 18.0, 21.0), probability=0.6, lasts_s=(3600, 9000)),
    ),
    Model(
        "amplifier",
        POWER,
        60,
        pulsed,
        always,
        only_with="television",
        shares=((0.2, 0.8),),
        probability=0.7,
    ),
    Model(
        "oven",
        HEAT,
        2300,
        _heater,
        heated(720, 180, 420, session=meals((18.0,), probability=0.7, lasts_s=(2400, 4800))),
    ),
    Model(
        "immersion heater",
        HEAT,
        3100,
        _heater,
        heated(3000, 300, 2400, session=meals((4.0, 17.0), probability=0.7, lasts_s=(5400, 9000))),
        never_with="oven",
    ),
    Model("dimmed lights", "dimmed light", 180, _dimmed, _evening),
)

# Larger houses add whole groups of these in random order.
EXTRAS = (
    (Model("freezer", TURN, 120, _motor(0.72), thermostat(1500, 2700)),),
    (
        Model(
            "dishwasher pump",
            TURN,
            110,
            _motor(0.75),
            meals((20.5,), probability=0.6, lasts_s=(5400, 7200)),
            machine="dishwasher",
        ),
        Model(
            "dishwasher heater",
            HEAT,
            2050,
            _heater,
            always,
            only_with="dishwasher pump",
            shares=((0.12, 0.3), (0.65, 0.8)),
            machine="dishwasher",
        ),
    ),
    (Model("laptop", POWER, 65, pulsed, meals((9.0, 14.0, 20.0), probability=0.5, lasts_s=(3600, 9000))),),
    (
        Model(
            "iron",
            HEAT,
            2500,
            _heater,
            heated(240, 120, 240, session=meals((15.0,), probability=0.4, lasts_s=(1800, 3600))),
        ),
    ),
    (Model("toaster", HEAT, 950, _heater, meals((7.4, 12.8), probability=0.6, lasts_s=(45, 180))),),
    (Model("computer", POWER, 210, corrected, meals((10.0, 15.0), probability=0.7, lasts_s=(5400, 14400))),),
    (Model("water pump", TURN, 550, _motor(0.85), thermostat(30, 1500, hours=(5.5, 22.0))),),
    (Model("microwave", POWER, 1250, pulsed, meals((12.9, 19.0), probability=0.5, lasts_s=(15, 300))),),
    (Model("electric shower", HEAT, 8500, _heater, meals((7.0,), probability=0.9, lasts_s=(300, 600))),),
    (
        Model(
            "tumble dryer drum",
            TURN,
            190,
            _motor(0.7),
            meals((14.0,), probability=0.5, lasts_s=(3000, 5400)),
            machine="tumble dryer",
        ),
        Model(
            "tumble dryer heater",
            HEAT,
            2150,
            _heater,
            always,
            only_with="tumble dryer drum",
            shares=((0.05, 0.4), (0.5, 0.85)),
            machine="tumble dryer",
        ),
    ),
    (
        Model(
            "vacuum cleaner",
            "mixed",
            850,
            _dimmed,
            meals((11.0,), probability=0.5, lasts_s=(900, 2400)),
        ),
    ),
    (
        Model(
            "fan heater",
            HEAT,
            1500,
            _heater,
            heated(900, 420, 420, session=meals((8.0, 21.5), probability=0.5, lasts_s=(2400, 5400))),
        ),
    ),
    (Model("dehumidifier", TURN, 280, _motor(0.9), thermostat(2400, 3600, hours=(10.0, 17.0))),),
    (Model("hair dryer", HEAT, 1700, _heater, meals((7.5,), probability=0.6, lasts_s=(240, 480))),),
    (
        Model(
            "kitchen lights",
            POWER,
            45,
            corrected,
            meals((6.8, 18.2), probability=0.9, lasts_s=(1800, 5400)),
        ),
    ),
    (Model("towel rail", HEAT, 160, _heater, thermostat(2700, 2700, hours=(5.0, 8.5))),),
    (
        Model(
            "slow cooker",
            HEAT,
            240,
            _heater,
            meals((13.5,), probability=0.4, lasts_s=(10800, 16200)),
        ),
    ),
    (
        Model(
            "games console",
            POWER,
            150,
            corrected,
            meals((16.5, 20.5), probability=0.4, lasts_s=(2400, 7200)),
        ),
    ),
)

# Kind and habit of the appliances of HFHAD-C, a public set of recorded cycles, by their name there.
RECORDED: dict[str, tuple[str, Habit]] = {
    "AirConditioner": (POWER, thermostat(1500, 1500, hours=(12.0, 20.0))),
    "Desktop": (POWER, meals((10.0, 15.0), probability=0.7, lasts_s=(5400, 14400))),
    "InductionCooker": (POWER, meals((7.2, 12.2, 18.5), probability=0.8, lasts_s=(900, 2400))),
    "Kettle": (HEAT, meals((7.2, 10.5, 13.0, 16.2, 19.8), probability=0.7, lasts_s=(120, 240))),
    "Laptop": (POWER, meals((9.0, 14.0, 20.0), probability=0.5, lasts_s=(3600, 9000))),
    "RangeHood": (TURN, meals((12.2, 18.5), probability=0.7, lasts_s=(900, 2400))),
    "Refrigerator": (TURN, thermostat(1100, 2200)),
    "RiceCooker": (HEAT, meals((11.5, 17.8), probability=0.6, lasts_s=(1500, 2400))),
    "WashingMachine": (TURN, meals((10.0,), probability=0.6, lasts_s=(4200, 6600))),
    "WaterDispenser": (HEAT, thermostat(300, 3000, hours=(6.0, 23.0))),
    "WaterHeater": (
        HEAT,
        heated(2400, 300, 2400, session=meals((5.0, 17.0), probability=0.7, lasts_s=(5400, 9000))),
    ),
    "XiaomiTV5": (POWER, meals((12.5, 18.0, 21.0), probability=0.6, lasts_s=(3600, 9000))),
}
