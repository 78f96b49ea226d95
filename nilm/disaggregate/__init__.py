"""From a week's waveforms to who was on when: `disaggregate` on arrays, `steps` from file to file."""

from nilm.disaggregate.house import Disaggregation, disaggregate

__all__ = ["Disaggregation", "disaggregate"]
