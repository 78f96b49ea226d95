"""The week's result as frozen records: what `nilm.week.publish` writes to files and `nilm.report` shows.

Owns the words and units of the result, no arithmetic. Every number that an analyst sees on the page or in a
CSV is a field here, so that the two cannot differ.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lfm.arrays import FloatArray
from nilm.timeline import TimeArray


@dataclass(frozen=True)
class Activation:
    """One run of an appliance, from the start of its first row to the end of its last."""

    start_utc: np.datetime64
    end_utc: np.datetime64
    duration_s: float
    mean_w: float
    energy_kwh: float
    sure: float | None = None  # probability that the appliance ran then; None: not known
    cut: bool = False  # it touches a gap or the week's edge: it may have been longer than is known


@dataclass(frozen=True)
class Appliance:
    """One appliance of the week: what it is, when it was on, what it used, how sure we are."""

    appliance_id: str  # stable from week to week, "A01"
    name: str  # shown; see name_source
    name_source: str  # "analyst", "submeter", "earlier week" or "description"
    name_score: float | None  # how well the submeter fits, 0 to 1; None unless name_source is "submeter"
    kind: str  # "resistive heater", "motor", "electronics", "dimmed light", "always on", "generator", "mixed"
    current_a: FloatArray  # (D,) current over one voltage cycle
    active_w: float
    rms_a: float
    power_factor: float
    thd: float  # total harmonic distortion of the current, a ratio
    on: NDArray[np.uint8]  # (N,) its column of Z
    activations: tuple[Activation, ...]
    share_of_time: float  # of the rows that exist
    energy_kwh: float
    support: float  # share, by weight, of the equivalent solutions with this on/off column, 0 to 1
    correction: str  # "unchanged", "inverted", "duplicated", "merged", "split", "bias level moved"
    colour: int  # index into the report's palette, stable from week to week
    sure: float  # probability that this is one real appliance with these times
    energy_low_kwh: float  # 90% range of energy_kwh
    energy_high_kwh: float
    part_of: str | None = None  # appliance_id of the machine it is likely a part of
    part_evidence: str = ""
    not_told_apart_from: tuple[str, ...] = ()  # appliance_ids that no method separates from this week's data
    amplitude: FloatArray | None = None  # (N,) its size in units of active_w, where that varies with the sun
    doubt: str = ""  # what speaks most against it, in words; empty where we are very sure
    would_settle: str = ""  # and what would settle that
    inrush: float | None = None  # largest current of its starts, in units of the steady one; None: not seen
    inrush_s: float | None = None  # how long its current takes to become steady

    @property
    def power_w(self) -> FloatArray:
        """(N,) its power in each row: active_w where it is on, or what its amplitude makes of it."""
        size = self.on.astype(np.float64) if self.amplitude is None else self.amplitude
        return size * self.active_w


@dataclass(frozen=True)
class ShownCorrection:
    """What the hopper changed in one feature, in words and numbers."""

    appliance_id: str
    kind: str  # as Appliance.correction
    words: str  # one sentence for an analyst
    watts_before: float
    watts_after: float
    current_before_a: FloatArray  # (D,)
    current_after_a: FloatArray  # (D,)
    on_before: NDArray[np.uint8]  # (N,)


@dataclass(frozen=True)
class NotToldApart:
    """Appliances that this week's data does not separate: what is known is their sum."""

    appliance_ids: tuple[str, ...]
    why: str  # in words
    energy_kwh: float
    energy_low_kwh: float  # 90% range of the sum
    energy_high_kwh: float


@dataclass(frozen=True)
class Certainty:
    """The identifiability verdict and the confidence behind the page."""

    verdict: str  # "identifiable", "not identifiable" or "unknown"
    words: str  # the verdict in plain words
    n_equivalent: int
    n_equivalent_is_exact: bool
    dependencies: tuple[str, ...]  # in words, "the amplifier runs only while the television does"
    indistinguishable: tuple[tuple[str, ...], ...]  # groups of appliance_ids
    would_settle: tuple[str, ...]  # "one hour with the television on and the amplifier off"
    residual_before: float  # ‖X − ZW‖_F of the baseline
    residual_after: float  # and after the hop
    relative_residual: float  # ‖X − ZW‖_F / ‖X‖_F after the hop
    at_noise_floor: bool | None  # None where the estimator gives no certificate
    notes: tuple[str, ...] = ()  # rank deficiencies, budget spent, K larger than the states, …
    not_told_apart: tuple[NotToldApart, ...] = ()  # the groups of `indistinguishable`, with their sums
    left_over: float = 0.0  # share of the energy that nothing explains
    left_over_words: tuple[str, ...] = ()  # how much, when, and what it looks like


@dataclass(frozen=True)
class Quality:
    """What the data lacked."""

    rows_expected: int
    rows_used: int
    rows_flagged: int  # present, left out of the fit, decoded afterwards where possible
    coverage: float  # rows whose energy counts / rows expected, 0 to 1
    hours_missing: tuple[str, ...]  # ISO start times
    files_left_out: tuple[Mapping[str, str], ...]  # {"file": …, "reason": …}
    clipped_rows: int
    notes: tuple[str, ...] = ()
    # {"start_utc", "end_utc", "minutes", "reason"} of all the time that the result does not cover
    missing: tuple[Mapping[str, Any], ...] = ()


@dataclass(frozen=True)
class ApplianceScore:
    """One appliance against its submeter or the simulator's truth."""

    appliance_id: str
    truth_name: str
    f1: float
    mae_w: float
    rmse_w: float
    nde: float
    energy_error_kwh: float


@dataclass(frozen=True)
class Scores:
    """Against truth or submeters; where neither exists, WeekResult.scores is None."""

    source: str  # "simulator" or "submeters"
    hamming_before: float | None  # E_Hamm of the baseline; only with a simulator's truth
    hamming_after: float | None
    energy_error: float  # Σ|energy − truth| / Σ|truth|, see nilm.appliances.scores
    appliances_before: tuple[ApplianceScore, ...]
    appliances: tuple[ApplianceScore, ...]
    # Share of the energy rightly assigned (nilm.appliances.energy_assigned); only with a simulator's truth.
    assigned_before: float | None = None
    assigned: float | None = None
    assigned_one: float | None = None  # with one feature at most for each thing that is plugged in


@dataclass(frozen=True)
class CatalogueChanges:
    """This week against the house's catalogue."""

    new: tuple[str, ...]  # appliance_ids
    gone: tuple[str, ...]  # names of appliances not seen this week
    changed: tuple[str, ...]  # sentences: "A03 kettle: 2.8 kW, was 3.0 kW"
    contradictions: tuple[str, ...] = ()  # sentences: which id may be wrong, and what speaks against it
    renamed: tuple[str, ...] = ()  # sentences: "A03 kettle: formerly shown as “2.8 kW heater”"


@dataclass(frozen=True)
class WeekResult:
    """Everything that the report of one house and week shows."""

    house: str
    week: str  # "2015-wk01"
    interval_s: float
    start_utc: TimeArray  # (N,) datetime64[ns], start of each row
    duration_s: FloatArray  # (N,) seconds that each row stands for
    metered_w: FloatArray  # (N,)
    explained_w: FloatArray  # (N,) sum of the appliances that are on
    voltage_v: FloatArray  # (D,) mean voltage cycle
    mains_hz: FloatArray  # (N,)
    rms_v: FloatArray  # (N,)
    appliances: tuple[Appliance, ...]  # by energy, largest first
    metered_kwh: float
    unexplained_kwh: float  # metered_kwh − Σ energy_kwh; may be negative
    tariff_per_kwh: float
    currency: str
    corrections: tuple[ShownCorrection, ...]
    certainty: Certainty
    quality: Quality
    scores: Scores | None
    catalogue: CatalogueChanges
    provenance: Mapping[str, Any] = field(default_factory=dict)  # options, seed, versions, input digests
    timezone: str = "Europe/London"  # of the house's clocks; every time here is UTC

    @property
    def generated_kwh(self) -> float:
        """What generators made: the negative energies, as a positive number."""
        return -sum(a.energy_kwh for a in self.appliances if a.energy_kwh < 0) + 0.0

    @property
    def used_kwh(self) -> float:
        """What was used: the metered energy, and what generators took off it."""
        return self.metered_kwh + self.generated_kwh
