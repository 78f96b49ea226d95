"""Every number that decides whether a row can be used: what it means, its unit, and its origin.

What counts as a change of the current is `nilm.recordings.adaptive.switch_times.Limits`.
"""

from typing import NamedTuple


class RowThresholds(NamedTuple):
    """When a row is dropped, and when it is flagged. The mains have 50 Hz and 230 or 240 V."""

    # Dropped (waveforms)
    least_v: float = 50.0
    """Volts RMS of the fundamental below which there is no mains. Origin: set by hand."""
    lock_hz: float = 5.0
    """Distance from 50 Hz above which the frequency cannot be the mains'. Origin: set by hand."""
    fewest_cycles: int = 3
    """Whole cycles that a row needs; one at a file's edge is left to the next file. Origin: set by hand."""

    # Flagged (waveforms)
    low_v: float = 150.0
    """Volts RMS below which the voltage is odd. Origin: set by hand."""
    high_v: float = 300.0
    """Volts RMS above which it is. Origin: set by hand."""
    odd_hz: float = 0.5
    """Distance from 50 Hz above which the frequency is odd. Origin: set by hand."""
    offset_v: float = 0.01
    """DC offset of the voltage, as a share of its RMS, that is flagged. Origin: set by hand."""
    offset_a: float = 0.005
    """DC offset of the current, as a share of the converter's full scale, that is flagged. Origin: set by
    hand."""
    distorted: float = 0.15
    """What harmonics 1, 3, 5 and 7 leave of the voltage, as a share of the fundamental, above which it is no
    steady mains cycle. Origin: set by hand."""


THRESHOLDS = RowThresholds()
"""The values in use."""
