"""How sure a week's result is, in plain words: the diagnosis for people who do not know matrices.

Owns the wording of the verdict, of the dependencies, of which appliances cannot be told apart,
and of what would settle it. The mathematics is `lfm.diagnose`; which appliances cannot be told apart is
`nilm.appliances.certainty.not_told_apart`'s, what is left over `nilm.appliances.certainty.left_over`'s.
"""

from collections.abc import Sequence

from lfm import Pdc
from lfm.arrays import FloatArray
from nilm.appliances.certainty.left_over import left_over_words
from nilm.appliances.certainty.not_told_apart import (
    DRIFT,
    MIXED,
    SAME,
    TOGETHER,
    VARY,
    Inseparable,
    indistinguishable,
    telling_pairs,
)
from nilm.appliances.certainty.ranges import EnergyRange, range_of_sum
from nilm.appliances.inrush import Start
from nilm.appliances.naming import quoted
from nilm.appliances.thresholds import APPLIANCES
from nilm.disaggregate.disaggregation import Disaggregation
from nilm.results import Certainty, NotToldApart

_WHY = {
    SAME: "they draw nearly the same current, so nothing says which of them ran",
    DRIFT: "they draw nearly the same current and never ran together: one appliance whose size changes looks "
    "like this",
    TOGETHER: "they always ran together, so how their sum is divided is a guess",
    VARY: "they have the same waveform and vary, so how their sum is divided is a guess",
    MIXED: "other divisions between them fit as well",
}


def certainty_in_words(
    hopped: Disaggregation,
    *,
    appliance_ids: Sequence[str],
    names: Sequence[str],
    energy: Sequence[EnergyRange],
    duration_s: FloatArray,
    starts: Sequence[Start | None] = (),
) -> Certainty:
    """The verdict on a week; ids, names, energies and starts are in the order of its features.

    `duration_s` (M,) is the time that each row stands for.
    """
    names = [quoted(name) for name in names]
    groups = indistinguishable(hopped, starts, duration_s=duration_s)
    in_doubt = {k for group in groups for k in group.members}
    # First what is in doubt, then what runs inside what; that two never met is the least telling.
    pairs = sorted(
        telling_pairs(hopped, duration_s),
        key=lambda pair: (len({pair[0], pair[1]} & in_doubt) < 2, pair[2] is Pdc.DISJOINT, pair[:2]),
    )
    sentences = [_dependency_words(i, j, pdc, names) for i, j, pdc in pairs]
    more = len(sentences) - APPLIANCES.most_sentences
    if more > 0:
        sentences = [*sentences[: APPLIANCES.most_sentences], f"and {more} more pairs of this kind"]
    alike = {(bond.i, bond.j) for group in groups for bond in group.bonds if bond.why in (SAME, DRIFT)}
    settle = [
        _settling_words(i, j, pdc, names, alike=(i, j) in alike)
        for i, j, pdc in pairs
        if any({i, j} <= set(g.members) for g in groups)
    ]
    explained = {(i, j) for i, j, _ in pairs}
    settle += [
        f"one hour with {names[bond.i]} on and {names[bond.j]} off"
        for group in groups
        for bond in group.bonds
        if bond.why in (TOGETHER, VARY) and (bond.i, bond.j) not in explained
    ]
    diagnosis = hopped.diagnosis
    verdict = {True: "identifiable", False: "not identifiable", None: "unknown"}[diagnosis.identifiable]
    return Certainty(
        verdict=verdict,
        words=_verdict_words(hopped),
        n_equivalent=int(diagnosis.n_equivalent),
        n_equivalent_is_exact=diagnosis.n_equivalent_is_exact,
        dependencies=tuple(sentences),
        indistinguishable=tuple(tuple(appliance_ids[k] for k in group.members) for group in groups),
        not_told_apart=tuple(_sum_of(group, appliance_ids, energy) for group in groups),
        would_settle=tuple(dict.fromkeys(settle))[: APPLIANCES.most_sentences],
        residual_before=hopped.residual_before,
        residual_after=hopped.residual_after,
        relative_residual=hopped.relative_residual,
        at_noise_floor=hopped.at_noise_floor,
        left_over=hopped.left_over,
        left_over_words=left_over_words(hopped, names, duration_s),
        notes=(*hopped.notes, *_rank_notes(hopped, names)),
    )


def _sum_of(group: Inseparable, ids: Sequence[str], energy: Sequence[EnergyRange]) -> NotToldApart:
    """A group with the reason that binds most of it, and what is known: the sum, no more than all used."""
    reasons = [bond.why for bond in group.bonds]
    total = range_of_sum(energy[k] for k in group.members)
    most = sum(abs(e.kwh) for e in energy)
    return NotToldApart(
        appliance_ids=tuple(ids[k] for k in group.members),
        why=_WHY[max(dict.fromkeys(reasons), key=reasons.count)],
        energy_kwh=total.kwh,
        energy_low_kwh=max(total.low_kwh, -most),
        energy_high_kwh=min(total.high_kwh, most),
    )


def _dependency_words(i: int, j: int, pdc: Pdc, names: Sequence[str]) -> str:
    if pdc is Pdc.DISJOINT:
        return f"{names[i]} and {names[j]} never ran at the same time"
    part, host = (i, j) if pdc is Pdc.IMPLIES else (j, i)
    return f"{names[part]} ran only while {names[host]} did"


def _settling_words(i: int, j: int, pdc: Pdc, names: Sequence[str], *, alike: bool) -> str:
    if pdc is Pdc.DISJOINT and alike:
        return (
            f"a look at the house: {names[i]} and {names[j]} draw nearly the same current and never ran "
            "together, so they may be one appliance"
        )
    if pdc is Pdc.DISJOINT:
        return f"one hour with {names[i]} and {names[j]} both on"
    part, host = (i, j) if pdc is Pdc.IMPLIES else (j, i)
    return f"one hour with {names[part]} on and {names[host]} off"


def _verdict_words(hopped: Disaggregation) -> str:
    diagnosis = hopped.diagnosis
    if diagnosis.identifiable:
        return (
            "There is one explanation only: no other set of appliances and times fits this week's "
            "measurements equally well. This is proved, not estimated."
        )
    if diagnosis.identifiable is None:
        return (
            "Whether another set of appliances and times fits equally well could not be decided within the "
            "search budget; the explanation shown is the most plausible one found."
        )
    bound = "exactly" if diagnosis.n_equivalent_is_exact else "at least"
    many = diagnosis.n_equivalent >= 10**9
    how_many = "more than a billion" if many else f"{bound} {int(diagnosis.n_equivalent):,}"
    reason = (
        "mostly because part of the house is always on, so that any appliance could be read upside down"
        if diagnosis.bias_features
        else "because some appliances never ran without, or never beside, another"
    )
    return (
        f"The measurements alone allow {how_many} explanations that fit equally well, {reason}. The one "
        f"shown is the most plausible: {hopped.priors}."
    )


def _rank_notes(hopped: Disaggregation, names: Sequence[str]) -> list[str]:
    notes = []
    K, diagnosis = hopped.solution.K, hopped.diagnosis
    # The diagnosis leaves out features that vary. Each of them adds one to both ranks.
    rank_Z, rank_W = diagnosis.rank_Z + hopped.n_varying, (diagnosis.rank_W or 0) + hopped.n_varying
    if rank_W < K:
        notes.append(
            f"The {K} waveforms span only {rank_W} independent shapes (heaters all draw the same "
            "shape): such appliances are told apart by their size alone."
        )
    if rank_Z < K:
        notes.append(
            f"The on and off times of the {K} appliances are not independent (rank {rank_Z}): some "
            "always switch together, and their sizes cannot be separated with certainty."
        )
    if len(diagnosis.bias_features) > 1:
        listed = ", ".join(names[k] for k in diagnosis.bias_features)
        notes.append(f"More than one appliance never switches, and the data cannot separate them: {listed}.")
    return notes
