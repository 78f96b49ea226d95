"""From a solution to appliances: what each is, when it ran, what it used, and what it is called.

Owns the order of these decisions; each is made in a module of its own (`measures`, `activations`,
`catalogue`, `naming`, `parts`). Numbers are rounded here, once, so that the page and every file agree.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from lfm.arrays import BinaryArray, FloatArray
from nilm.appliances.activations import (
    ActivationOptions,
    activations_per_day,
    energy_kwh,
    find_activations,
)
from nilm.appliances.analyst import AnalystNotes
from nilm.appliances.catalogue import Look, Sighting, differs, habits_of
from nilm.appliances.certainty.doubts import doubt_of
from nilm.appliances.certainty.ranges import EnergyRange
from nilm.appliances.inrush import Start
from nilm.appliances.measures import kind_of_load, measure_waveform
from nilm.appliances.naming import Name, SubmeterMatch, describe, distinct
from nilm.appliances.parts import PartOf, evidence_words, likely_parts
from nilm.disaggregate.disaggregation import Disaggregation
from nilm.results import Activation, Appliance
from nilm.timeline import DAY_S, TimeArray, gaps_before, share_of_time

EARLIER_WEEK = "earlier week"  # where a name comes from that this week did not find itself


@dataclass(frozen=True, eq=False)
class Load:
    """One feature of the solution, measured: an appliance that has no id and no name yet.

    All but `start` are fields of `nilm.results.Appliance`.
    """

    current_a: FloatArray  # (D,)
    on: BinaryArray  # (N,)
    kind: str
    active_w: float  # to the milliwatt
    rms_a: float
    power_factor: float
    thd: float
    share_of_time: float
    activations: tuple[Activation, ...]
    energy_kwh: float  # active_w × time on, to the milliwatt-hour
    amplitude: FloatArray | None = None  # (N,) in units of active_w, where it varies
    start: Start | None = None  # None: not seen


def measure_loads(
    hopped: Disaggregation,
    start_utc: TimeArray,
    duration_s: FloatArray,
    voltage_v: FloatArray,
    *,
    options: ActivationOptions,
    starts: Sequence[Start | None] = (),
) -> list[Load]:
    """The features of a hopped week, in their order; voltage_v is (D,).

    Rows stand for `duration_s` (N,) from `start_utc` (N,) on. `starts` tells how each feature starts.
    """
    Z, W = hopped.solution.Z, hopped.solution.W
    loads = []
    for k in range(hopped.solution.K):
        measures = measure_waveform(W[k], voltage_v)
        active_w = round(measures.active_w, 3)
        share = share_of_time(Z[:, k], duration_s)
        size = hopped.sizes[:, k]
        amplitude = size if k >= hopped.solution.K - hopped.n_varying else None  # those that vary come last
        power_w = active_w * size
        start = starts[k] if starts else None
        loads.append(
            Load(
                current_a=W[k],
                on=Z[:, k],
                kind=kind_of_load(
                    W[k],
                    voltage_v,
                    share_of_time=share,
                    starts_like_a_motor=start is not None and start.like_a_motor,
                ),
                active_w=active_w,
                rms_a=round(measures.rms_a, 5),
                power_factor=round(measures.power_factor, 4),
                thd=round(measures.thd, 4),
                share_of_time=round(share, 6),
                activations=find_activations(
                    Z[:, k],
                    start_utc,
                    duration_s=duration_s,
                    power_w=power_w,
                    options=options,
                    sure=hopped.run_sure(k),
                ),
                energy_kwh=energy_kwh(power_w, duration_s),
                amplitude=amplitude,
                start=start,
            )
        )
    return loads


def look_of(load: Load, match: SubmeterMatch | None, *, observed_s: float) -> Look:
    """How a load looked this week, as the catalogue compares it; `match` is the submeter that fits it."""
    size = load.amplitude[load.on == 1] if load.amplitude is not None else np.ones(1)
    mean = abs(float(size.mean())) if len(size) else 0.0
    return Look(
        kind=load.kind,
        active_w=load.active_w,
        current_a=load.current_a,
        habits=habits_of(load.activations, days=observed_s / DAY_S),
        spread=round(float(size.std()) / mean, 4) if mean > 0 else 0.0,
        inrush=load.start.inrush if load.start is not None else None,
        submeter=match.name if match is not None else None,
    )


def suggested_parts(
    hopped: Disaggregation,
    start_utc: TimeArray,
    duration_s: FloatArray,
    appliance_ids: Sequence[str],
    analyst: AnalystNotes,
) -> dict[int, PartOf]:
    """The parts by feature: those that are likely, without those that the analyst split, and those merged."""
    gaps = gaps_before(start_utc, duration_s)
    Z = hopped.solution.Z
    Z = Z[:, : hopped.solution.K - hopped.n_varying]  # solar panels vary: what runs by day is no part of them
    found = likely_parts(Z, gaps, duration_s)
    parts = {p.part: p for p in found if appliance_ids[p.part] not in analyst.not_parts}
    for part, appliance_id in enumerate(appliance_ids):
        host = analyst.host_of(appliance_id)
        if host in appliance_ids and host != appliance_id:
            parts[part] = PartOf(part, appliance_ids.index(host), 0, 0.0, 0.0, 0.0, 0.0, by_analyst=True)
    return parts


def name_loads(
    loads: Sequence[Load],
    appliance_ids: Sequence[str],
    submeters: Sequence[SubmeterMatch | None],
    analyst: AnalystNotes,
    *,
    before: Mapping[str, Sighting],
    observed_s: float,
) -> list[Name]:
    """The name of each load, distinct within the week.

    The name of an earlier week (`before`, by appliance id) stays, so that a table over many weeks has one
    name for each appliance: a submeter's name, unless another appliance has it now; a description, as long as
    it still fits the kind and the watts.
    """
    given = {match.name for match in submeters if match is not None}
    given |= {analyst.names[i] for i in appliance_ids if i in analyst.names}
    found: dict[str, Name] = {}
    for load, appliance_id, match in zip(loads, appliance_ids, submeters, strict=True):
        taken = given | set(analyst.wrong_names.get(appliance_id, ()))
        if appliance_id in analyst.names:
            found[appliance_id] = Name(analyst.names[appliance_id], "analyst")
        elif match is not None and match.name not in analyst.wrong_names.get(appliance_id, ()):
            found[appliance_id] = Name(match.name, "submeter", match.score)
        elif (was := before.get(appliance_id)) and was.name not in taken and _still_true(was, load):
            found[appliance_id] = Name(was.name, EARLIER_WEEK)
        else:
            per_day = activations_per_day(load.activations, observed_s)
            words = describe(load.active_w, load.kind, per_day=per_day, share_of_time=load.share_of_time)
            found[appliance_id] = Name(words, "description")
    texts = distinct({appliance_id: name.text for appliance_id, name in found.items()})
    return [found[i]._replace(text=texts[i]) for i in appliance_ids]


def _still_true(was: Sighting, load: Load) -> bool:
    """Whether an earlier week's name may stay; an analyst's own is kept by `analyst` alone."""
    if was.name_source == "description":
        return was.look.kind == load.kind and not differs(load.active_w, was.look.active_w)
    return was.name_source == "submeter"


def build_appliances(
    hopped: Disaggregation,
    loads: Sequence[Load],
    appliance_ids: Sequence[str],
    names: Sequence[Name],
    *,
    parts: Mapping[int, PartOf],
    indistinguishable: Sequence[tuple[str, ...]],
    energy: Sequence[EnergyRange],
) -> tuple[Appliance, ...]:
    """The appliances of the week by energy, largest first; `energy` holds the ranges of the loads."""
    appliances = []
    for k, load in enumerate(loads):
        appliance_id, name = appliance_ids[k], names[k]
        part = parts.get(k)
        measured = {name: value for name, value in vars(load).items() if name != "start"}
        doubt = doubt_of(hopped.evidence[k], float(hopped.sure[k]))
        appliances.append(
            Appliance(
                appliance_id=appliance_id,
                name=name.text,
                name_source=name.source,
                name_score=name.score,
                **measured,
                inrush=load.start.inrush if load.start is not None else None,
                inrush_s=load.start.lasts_s if load.start is not None else None,
                support=round(float(hopped.hop.support[k]), 6),
                sure=round(float(hopped.sure[k]), 3),
                energy_low_kwh=energy[k].low_kwh,
                energy_high_kwh=energy[k].high_kwh,
                doubt=doubt.words,
                would_settle=doubt.would_settle,
                correction=hopped.hop.corrections[k].kind.value,
                colour=int(appliance_id[1:]) - 1,
                part_of=appliance_ids[part.host] if part else None,
                part_evidence=evidence_words(part, host_name=names[part.host].text) if part else "",
                not_told_apart_from=tuple(
                    other
                    for group in indistinguishable
                    if appliance_id in group
                    for other in group
                    if other != appliance_id
                ),
            )
        )
    return tuple(sorted(appliances, key=lambda a: (-a.energy_kwh, a.appliance_id)))
