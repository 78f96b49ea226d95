"""The week's result put together: every decision about a hopped week, in order, as one `WeekResult`.

Owns no files: `nilm.week.publish` reads the inputs and writes the outputs.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from lfm.arrays import FloatArray
from nilm.appliances.activations import ENERGY_DECIMALS, ActivationOptions, energy_kwh
from nilm.appliances.analyst import AnalystNotes
from nilm.appliances.build import (
    EARLIER_WEEK,
    Load,
    build_appliances,
    look_of,
    measure_loads,
    name_loads,
    suggested_parts,
)
from nilm.appliances.catalogue import Catalogue, Identity, Look, Sighting, WeekRecord, changes, identify
from nilm.appliances.certainty.ranges import energy_ranges
from nilm.appliances.certainty.words import certainty_in_words
from nilm.appliances.correction_words import corrections_in_words
from nilm.appliances.inrush import starts_of
from nilm.appliances.naming import Name, SubmeterMatch, lift_to_machines, match_submeters
from nilm.appliances.parts import PartOf
from nilm.appliances.scores import Estimate, Truth, score_against_submeters, score_against_truth
from nilm.disaggregate.confidence import range_factors
from nilm.disaggregate.disaggregation import Disaggregation
from nilm.recordings.submeters import Submeter
from nilm.results import Quality, Scores, WeekResult
from nilm.timeline import TimeArray, gaps_before


@dataclass(frozen=True, eq=False)
class MeteredRows:
    """What the meter saw in the rows of the solution."""

    start_utc: TimeArray  # (N,)
    duration_s: FloatArray  # (N,) seconds that each row stands for
    measured_utc: TimeArray  # (N,) the instant in each row's time at which it was measured
    metered_w: FloatArray  # (N,) active power
    voltage_v: FloatArray  # (D,) mean cycle
    mains_hz: FloatArray  # (N,)
    rms_v: FloatArray  # (N,)
    inrush: FloatArray  # (N,) of the switch with which a row begins; 0: it begins with none
    inrush_s: FloatArray  # (N,) how long that took


@dataclass(frozen=True, eq=False)
class Surroundings:
    """What is known besides the solution; all of it may be empty."""

    quality: Quality
    catalogue: Catalogue
    analyst: AnalystNotes = field(default_factory=AnalystNotes)
    submeters: Sequence[Submeter] = ()
    truth: Truth | None = None
    notes: tuple[str, ...] = ()  # what could not be used, in words
    provenance: Mapping[str, Any] = field(default_factory=dict)


def build_week(
    hopped: Disaggregation,
    rows: MeteredRows,
    around: Surroundings,
    *,
    solution_digest: str,
    tariff_per_kwh: float,
    currency: str,
    timezone: str,
    activation_options: ActivationOptions,
) -> tuple[WeekResult, WeekRecord]:
    """The week's result, and its record for the catalogue.

    Energy closes exactly: metered_kwh = Σ energy_kwh + unexplained_kwh, each to the milliwatt-hour.
    """
    week = hopped.week
    found = _identified(hopped, rows, around, solution_digest, activation_options)
    loads, identity = found.loads, found.identity
    known = _joined(around.catalogue, around.analyst)
    before = known.before(week)
    ids, names, parts = _named(hopped, rows, around, found, before)
    low, high = range_factors(hopped.evidence, hopped.sure)
    energy = energy_ranges([load.energy_kwh for load in loads], low, high)
    certainty = certainty_in_words(
        hopped,
        appliance_ids=ids,
        names=[n.text for n in names],
        energy=energy,
        duration_s=rows.duration_s,
        starts=[load.start for load in loads],
    )
    appliances = build_appliances(
        hopped, loads, ids, names, parts=parts, indistinguishable=certainty.indistinguishable, energy=energy
    )
    own = around.catalogue.weeks.get(week)
    sightings = _sightings(found.looks, ids, names, before, own, solution=solution_digest)
    metered_kwh = energy_kwh(rows.metered_w, rows.duration_s)
    explained_kwh = sum(a.energy_kwh for a in appliances)
    result = WeekResult(
        house=hopped.house,
        week=week,
        interval_s=hopped.interval_s,
        start_utc=rows.start_utc,
        duration_s=rows.duration_s,
        metered_w=rows.metered_w,
        explained_w=found.power_w.sum(axis=1),
        voltage_v=rows.voltage_v,
        mains_hz=rows.mains_hz,
        rms_v=rows.rms_v,
        appliances=appliances,
        metered_kwh=metered_kwh,
        unexplained_kwh=round(metered_kwh - explained_kwh, ENERGY_DECIMALS),
        tariff_per_kwh=tariff_per_kwh,
        currency=currency,
        timezone=timezone,
        corrections=corrections_in_words(hopped, ids, rows.voltage_v),
        certainty=certainty,
        quality=replace(around.quality, notes=(*around.quality.notes, *around.notes, *found.notes)),
        scores=_scores(hopped, loads, ids, rows, found.matches, around),
        catalogue=changes(known, week, sightings, doubts=identity.doubts),
        provenance=around.provenance,
    )
    # The catalogue keeps the ids as they were found: a merge can be undone.
    return result, WeekRecord(solution_digest, _with_ids(sightings, identity.ids), identity.doubts)


class _Identified(NamedTuple):
    """The loads of a week and who they are, each in the order of the features."""

    loads: list[Load]
    power_w: FloatArray  # (N, K)
    matches: list[SubmeterMatch | None]
    notes: tuple[str, ...]  # on submeters that could not be used
    looks: list[Look]
    identity: Identity


def _identified(
    hopped: Disaggregation,
    rows: MeteredRows,
    around: Surroundings,
    solution_digest: str,
    activation_options: ActivationOptions,
) -> _Identified:
    """What each feature draws and when, its submeter, and the id that the catalogue knows it by."""
    gap_before = gaps_before(rows.start_utc, rows.duration_s)
    loads = measure_loads(
        hopped,
        rows.start_utc,
        rows.duration_s,
        rows.voltage_v,
        options=activation_options,
        starts=starts_of(hopped.solution.Z, gap_before, rows.inrush, rows.inrush_s),
    )
    power_w = hopped.sizes * np.array([load.active_w for load in loads])
    matches, notes = match_submeters(power_w, around.submeters, rows.duration_s)
    observed_s = float(rows.duration_s.sum())
    looks = [look_of(load, match, observed_s=observed_s) for load, match in zip(loads, matches, strict=True)]
    identity = identify(
        around.catalogue,
        hopped.week,
        looks,
        solution=solution_digest,
        energy_kwh=[load.energy_kwh for load in loads],
        called=around.analyst.names,
    )
    return _Identified(loads, power_w, matches, notes, looks, identity)


def _named(
    hopped: Disaggregation,
    rows: MeteredRows,
    around: Surroundings,
    found: _Identified,
    before: Mapping[str, Sighting],
) -> tuple[tuple[str, ...], list[Name], dict[int, PartOf]]:
    """The ids of the loads after the analyst's merges, their names, and which are parts of machines."""
    ids = around.analyst.joined(found.identity.ids)
    parts = suggested_parts(hopped, rows.start_utc, rows.duration_s, ids, around.analyst)
    hosts = {p.part: p.host for p in parts.values()}
    machines = lift_to_machines(found.matches, found.power_w, around.submeters, hosts, rows.duration_s)
    observed_s = float(rows.duration_s.sum())
    names = name_loads(found.loads, ids, machines, around.analyst, before=before, observed_s=observed_s)
    return ids, names, parts


def _sightings(
    looks: Sequence[Look],
    ids: Sequence[str],
    names: Sequence[Name],
    before: Mapping[str, Sighting],
    own: WeekRecord | None,
    *,
    solution: str,
) -> tuple[Sighting, ...]:
    """The loads as the catalogue keeps them: a name from an earlier week keeps the source it had there.

    `own` is this week's record so far. A name that it no longer has is kept as the former one if somebody
    renamed the appliance: an analyst, or labels that changed. Where recordings, options or code have led to
    another `solution` (its digest), the name was that of another answer, and nobody renamed anything.
    """
    same_solution = own is not None and own.solution == solution
    so_far = {s.appliance_id: s for s in own.sightings} if own else {}

    def formerly(appliance_id: str, name: Name) -> str:
        was = so_far.get(appliance_id)
        if was is None:
            return ""
        if was.name == name.text:
            return was.formerly
        return was.name if same_solution or name.source == "analyst" else ""

    return tuple(
        Sighting(
            i,
            name.text,
            look,
            before[i].name_source if name.source == EARLIER_WEEK else name.source,
            formerly(i, name),
        )
        for i, name, look in zip(ids, names, looks, strict=True)
    )


def _joined(catalogue: Catalogue, analyst: AnalystNotes) -> Catalogue:
    """The catalogue with the analyst's merges carried out in every week."""
    weeks = {}
    for week, record in catalogue.weeks.items():
        ids = analyst.joined([s.appliance_id for s in record.sightings])
        weeks[week] = replace(record, sightings=_with_ids(record.sightings, ids))
    return replace(catalogue, weeks=weeks)


def _with_ids(sightings: Sequence[Sighting], ids: Sequence[str]) -> tuple[Sighting, ...]:
    return tuple(replace(s, appliance_id=i) for s, i in zip(sightings, ids, strict=True))


def _scores(
    hopped: Disaggregation,
    loads: Sequence[Load],
    ids: tuple[str, ...],
    rows: MeteredRows,
    matches: Sequence[SubmeterMatch | None],
    around: Surroundings,
) -> Scores | None:
    """Against the simulator's truth where there is one, else against the submeters, else None."""
    baseline = hopped.baseline
    watts_before = baseline.W @ rows.voltage_v / len(rows.voltage_v)
    amplitude = hopped.amplitude
    before = Estimate(ids, baseline.Z, watts_before, amplitude)
    after = Estimate(ids, hopped.solution.Z, np.array([load.active_w for load in loads]), amplitude)
    if around.truth is not None:
        return score_against_truth(before, after, around.truth, duration_s=rows.duration_s)
    by_channel = {s.channel: s for s in around.submeters}
    matches_before, _ = match_submeters(before.power_w, around.submeters, rows.duration_s)

    def pairs(found: Sequence[SubmeterMatch | None]) -> list[tuple[int, Submeter]]:
        return [(k, by_channel[m.channel]) for k, m in enumerate(found) if m is not None]

    return score_against_submeters(
        before, after, pairs(matches), pairs(matches_before), duration_s=rows.duration_s
    )
