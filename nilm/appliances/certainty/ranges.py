"""Energies with their 90% ranges, of appliances and of sums.

Owns how the factors of `nilm.disaggregate.confidence` become kWh. A range is about the energy of what an
appliance of the page stands for, each kWh of the house once: where two of them are parts of one load, about
the part of each.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from lfm.arrays import FloatArray
from nilm.appliances.activations import ENERGY_DECIMALS


class EnergyRange(NamedTuple):
    """An energy in kWh, and the range that holds the true one in 90% of all cases."""

    kwh: float
    low_kwh: float
    high_kwh: float


def energy_ranges(energy_kwh: Sequence[float], low: FloatArray, high: FloatArray) -> list[EnergyRange]:
    """The ranges of the appliances' energies (K,), between the factors `low` and `high` (K,) on each.

    Energies are negative where one generates. No appliance used more than all together.
    """
    most = float(np.abs(np.asarray(energy_kwh)).sum())
    ranges = []
    for kwh, least, largest in zip(energy_kwh, low.tolist(), high.tolist(), strict=True):
        ends = sorted((kwh * least, np.sign(kwh) * min(abs(kwh) * largest, most)))
        ranges.append(EnergyRange(kwh, *(round(float(end), ENERGY_DECIMALS) for end in ends)))
    return ranges


def range_of_sum(members: Iterable[EnergyRange]) -> EnergyRange:
    """The sum of some energies, whose ends add up: what cannot be told apart has its errors in common.

    How many of the true sums the range holds is printed by `benchmarks/calibration.py`.
    """
    columns = zip(*members, strict=True)
    return EnergyRange(*(round(float(sum(column)), ENERGY_DECIMALS) for column in columns))
