"""How sure a week's result is, in plain words: the diagnosis for people who do not know matrices.

Owns the wording of the verdict, of the dependencies, of which appliances cannot be told apart,
and of what would settle it. The mathematics is `lfm.diagnose`.
"""

from collections.abc import Sequence

import numpy as np

from lfm import Pdc
from nilm.appliances.measures import ALWAYS_ON_SHARE
from nilm.disaggregate.disaggregation import Disaggregation
from nilm.results import Certainty

SURE_SUPPORT = 0.95  # share of equally good explanations above which a column is not in doubt
SAME_WAVEFORM = 0.03  # distance, relative to the larger, below which only the size of noise differs
MAX_SENTENCES = 12  # a page lists this many dependencies, the most telling first


def certainty_in_words(
    hopped: Disaggregation, *, appliance_ids: Sequence[str], names: Sequence[str]
) -> Certainty:
    """The verdict on a week, with ids and names in the order of the solution's features."""
    groups = indistinguishable(hopped)
    in_doubt = {k for group in groups for k in group}
    # First what is in doubt, then what runs inside what; that two never met is the least telling.
    pairs = sorted(
        _telling_pairs(hopped),
        key=lambda pair: (len({pair[0], pair[1]} & in_doubt) < 2, pair[2] is Pdc.DISJOINT, pair[:2]),
    )
    sentences = [_dependency_words(i, j, pdc, names) for i, j, pdc in pairs]
    more = len(sentences) - MAX_SENTENCES
    if more > 0:
        sentences = [*sentences[:MAX_SENTENCES], f"and {more} more pairs of this kind"]
    alike = _same_waveform(hopped)
    settle = [
        _settling_words(i, j, pdc, names, alike=(i, j) in alike)
        for i, j, pdc in pairs
        if any({i, j} <= set(g) for g in groups)
    ]
    diagnosis = hopped.diagnosis
    verdict = {True: "identifiable", False: "not identifiable", None: "unknown"}[diagnosis.identifiable]
    return Certainty(
        verdict=verdict,
        words=_verdict_words(hopped),
        n_equivalent=int(diagnosis.n_equivalent),
        n_equivalent_is_exact=diagnosis.n_equivalent_is_exact,
        dependencies=tuple(sentences),
        indistinguishable=tuple(tuple(appliance_ids[k] for k in group) for group in groups),
        would_settle=tuple(dict.fromkeys(settle))[:MAX_SENTENCES],
        residual_before=hopped.residual_before,
        residual_after=hopped.residual_after,
        relative_residual=hopped.relative_residual,
        at_noise_floor=hopped.at_noise_floor,
        notes=(*hopped.notes, *_rank_notes(hopped, names)),
    )


def indistinguishable(hopped: Disaggregation) -> list[tuple[int, ...]]:
    """Groups of features that this week's data does not separate.

    Two features belong together where their waveforms are the same within SAME_WAVEFORM (then nothing says
    which of the two ran), or where one is missing from a good share of the equally good explanations (support
    below SURE_SUPPORT) and the other is what it is most likely mixed up with.
    """
    K = hopped.solution.K
    bound = _mixed_up(hopped) | _same_waveform(hopped)
    group = list(range(K))  # a label per feature; joining relabels, K is small
    for i, j in sorted(bound):
        low, high = sorted((group[i], group[j]))
        group = [low if label == high else label for label in group]
    members = [tuple(k for k in range(K) if group[k] == label) for label in sorted(set(group))]
    return [m for m in members if len(m) > 1]


def _same_waveform(hopped: Disaggregation) -> set[tuple[int, int]]:
    """Pairs (i, j), i < j, of features whose waveforms are the same within SAME_WAVEFORM."""
    W = hopped.solution.W
    sizes = np.linalg.norm(W, axis=1)
    return {
        (i, j)
        for i in range(len(W))
        for j in range(i + 1, len(W))
        if np.linalg.norm(W[i] - W[j]) <= SAME_WAVEFORM * max(sizes[i], sizes[j])
    }


def _mixed_up(hopped: Disaggregation) -> set[tuple[int, int]]:
    """Each feature in doubt with the one that it is most likely mixed up with.

    Where a dependency binds i and j, their exclusive or is also a column that explains the data: z_j − z_i if
    i runs only while j does, z_i + z_j if they never run together. The fewer its switches, the likelier.
    """
    Z = hopped.solution.Z
    pairs = [(i, j) for i, j, _ in _telling_pairs(hopped)]
    found = set()
    for k in np.flatnonzero(hopped.hop.support < SURE_SUPPORT).tolist():
        partners = [i + j - k for i, j in pairs if k in (i, j)]
        if partners:
            other = min(partners, key=lambda p: int(np.count_nonzero(np.diff(Z[:, k] ^ Z[:, p]))))
            found.add((min(k, other), max(k, other)))
    return found


def _telling_pairs(hopped: Disaggregation) -> list[tuple[int, int, Pdc]]:
    """The dependencies that say something: what is always on, or all but, hosts everything."""
    steady = set(np.flatnonzero(hopped.solution.Z.mean(axis=0) >= ALWAYS_ON_SHARE).tolist())
    return [(i, j, pdc) for i, j, pdc in hopped.diagnosis.dependencies if not {i, j} & steady]


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
    # What varies was no part of the diagnosis; its times and its waveform are its own.
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
