"""Energies with their 90% ranges, of appliances and of sums.

Owns how the factors of `nilm.disaggregate.confidence` become kWh. A range is around the truth, not around
zero: what is one appliance on the page may be a part of a larger one in the house.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from nilm.appliances.activations import ENERGY_DECIMALS
from nilm.disaggregate.confidence import energy_range
from nilm.results import FloatArray


class EnergyRange(NamedTuple):
    """An energy in kWh, and the range that holds the true one in 90% of all cases."""

    kwh: float
    low_kwh: float
    high_kwh: float


def energy_ranges(energy_kwh: Sequence[float], sure: FloatArray) -> list[EnergyRange]:
    """The ranges of the appliances' energies (K,), which are `sure` (K,); negative where one generates.

    No appliance used more than all together.
    """
    most = float(np.abs(np.asarray(energy_kwh)).sum())
    ranges = []
    for kwh, low, high in zip(energy_kwh, *energy_range(sure), strict=True):
        ends = sorted((kwh * float(low), np.sign(kwh) * min(abs(kwh) * float(high), most)))
        ranges.append(EnergyRange(kwh, *(round(float(end), ENERGY_DECIMALS) for end in ends)))
    return ranges


def range_of_sum(members: Iterable[EnergyRange]) -> EnergyRange:
    """The sum of some energies, whose ends add up: what cannot be told apart has its errors in common.

    How many of the true sums the range holds is printed by `benchmarks/calibration.py`.
    """
    columns = zip(*members, strict=True)
    return EnergyRange(*(round(float(sum(column)), ENERGY_DECIMALS) for column in columns))
