"""From a week's waveforms to who was on when: `disaggregate` on arrays, `steps` from file to file."""

from nilm.disaggregate.disaggregation import Disaggregation
from nilm.disaggregate.house import disaggregate

__all__ = ["Disaggregation", "disaggregate"]
