"""What can be wrong with an hour of a recording, on request: for tests of all that reads one."""

import enum
from dataclasses import dataclass

from nilm.errors import OptionError


class FaultKind(enum.StrEnum):
    """The faults; the value is how the command line spells it."""

    MISSING = "missing"  # the file is not there
    LATE_START = "late-start"  # it starts twenty minutes into the hour, and its name says so
    OVERLAP = "overlap"  # it goes on for ten minutes into the next hour
    TRUNCATED = "truncated"  # the last third of its bytes is cut off
    CLIPPED = "clipped"  # both channels were recorded 1.5 times too loud and cut at full scale
    WRONG_RATE = "wrong-rate"  # recorded at 8 kHz
    SWAPPED = "swapped"  # left is current, right is voltage
    DC_OFFSET = "dc-offset"  # 2 % of full scale was added to both channels
    OUTAGE = "outage"  # no mains from 19:30 to 29:30 past the hour: five rows of two minutes


@dataclass(frozen=True)
class Fault:
    """One fault in one hour of the week, counted from 0."""

    kind: FaultKind
    hour: int

    def __post_init__(self) -> None:
        if not 0 <= self.hour < 7 * 24:
            raise OptionError(
                f"a fault's hour must be 0 to 167, counted from Monday 00:00 UTC; got {self.hour}"
            )

    @classmethod
    def parse(cls, text: str) -> "Fault":
        """The fault that `kind:hour` names, such as `clipped:5`; OptionError lists the kinds."""
        kind, _, hour = text.partition(":")
        if kind not in list(FaultKind) or not (hour.isascii() and hour.isdigit()):
            raise OptionError(
                f"a fault is written kind:hour, such as clipped:5, with kind one of {', '.join(FaultKind)}; "
                f"got {text!r}"
            )
        return cls(FaultKind(kind), int(hour))
