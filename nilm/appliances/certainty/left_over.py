"""What is left over of a week, in words: how much, when, and what it looks like.

Owns the description of the watts that nothing explains. Whether they are more than the meter's noise is
measured by `lfm.at_noise_floor`; only then is "only noise" said.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from lfm.arrays import FloatArray
from nilm.appliances.naming import power_words
from nilm.appliances.thresholds import APPLIANCES
from nilm.disaggregate.disaggregation import Disaggregation

ONLY_NOISE = "What is left over is only noise: no more than the meter's own, at any time of the week."


def left_over_words(found: Disaggregation, names: Sequence[str], duration_s: FloatArray) -> tuple[str, ...]:
    """Sentences on what is left over; `duration_s` (M,) is what each reading stands for."""
    known = np.isfinite(found.left_w)
    left, weight = found.left_w[known], duration_s[known]
    if found.at_noise_floor:
        return (ONLY_NOISE,)
    total = float(weight @ np.abs(left))
    amount = f"{_percent(found.left_over)} of the energy is left over, more than the meter's noise"
    if total <= 0:
        return (f"{amount}: current that draws no power.",)
    when, who = _when(np.abs(left) * weight / total, found.solution.Z[known] == 1, names, weight)
    return (f"{amount}.", f"{when}; {_looks(left, weight, who)}.")


def _when(
    part: FloatArray, on: NDArray[np.bool_], names: Sequence[str], weight: FloatArray
) -> tuple[str, str]:
    """When most of it is left over, and the appliance that then runs or ""; `part` (M,) adds up to 1."""
    held = part @ on
    share = weight @ on / weight.sum()
    tells = (held >= APPLIANCES.mostly) & (held >= APPLIANCES.lift * share)
    if tells.any():
        k = int(np.argmax(np.where(tells, held - share, -1.0)))
        return f"It is mostly left over while {names[k]} runs ({_percent(float(held[k]))} of it)", names[k]
    most = np.sort(part)[::-1]
    n = int(np.searchsorted(np.cumsum(most), APPLIANCES.mostly)) + 1
    if n <= APPLIANCES.moments * len(part):
        return f"Half of it is left over in {n} of {len(part)} readings", ""
    return "It is left over all week", ""


def _looks(left: FloatArray, weight: FloatArray, who: str) -> str:
    """What it looks like: a load that varies, one that comes and goes, or jumps."""
    slow = _running_median(left)
    size = float(np.percentile(np.abs(slow), 95))
    subject = f"the power of {who}" if who else f"something of about {power_words(max(size, 1.0))}"
    if float(weight @ np.abs(slow)) < APPLIANCES.mostly * float(weight @ np.abs(left)):
        return "it jumps from reading to reading, as where something switches within one"
    sign = float(weight @ left) / float(weight @ np.abs(left))
    if sign < -APPLIANCES.one_sided:
        return f"as if {subject} were counted too high" if who else "more is explained than was metered"
    if not who and float((np.abs(slow) < APPLIANCES.not_there * size).mean()) >= APPLIANCES.mostly_off:
        return f"as if {subject} came and went"
    if who:
        return f"as if {subject} varied by about {power_words(max(size, 1.0))}"
    return f"as if {subject} varied all day"


def _running_median(values: FloatArray) -> FloatArray:
    """(N,) the median of each value and its neighbours."""
    width = APPLIANCES.smoothed_readings
    if len(values) < width:
        return values
    padded = np.pad(values, width // 2, mode="edge")
    return np.asarray(np.median(np.lib.stride_tricks.sliding_window_view(padded, width), axis=1))


def _percent(share: float) -> str:
    return f"{100 * share:.1f}%" if share < 0.0995 else f"{100 * share:.0f}%"
