"""What the hopper corrected, for people: one sentence per feature, with watts before and after.

Owns the wording, and which feature of the baseline stands beside a corrected one. What was changed is
`lfm.hopper.corrections`' finding.
"""

from collections.abc import Sequence

import numpy as np

from lfm import CorrectionKind, Solution
from lfm.arrays import FloatArray
from nilm.appliances.naming import power_words
from nilm.disaggregate.disaggregation import Disaggregation
from nilm.results import ShownCorrection

Terms = tuple[tuple[int, float], ...]  # (feature of the baseline, coefficient)


def corrections_in_words(
    hopped: Disaggregation, appliance_ids: Sequence[str], voltage_v: FloatArray
) -> tuple[ShownCorrection, ...]:
    """The changed features of a hopped week in words; ids in the order of its features, voltage_v (D,)."""
    before, after = hopped.baseline, hopped.solution
    watts_before = np.round(before.W @ voltage_v / len(voltage_v), 3)
    watts_after = np.round(after.W @ voltage_v / len(voltage_v), 3)
    found = []
    for k, change in enumerate(hopped.hop.corrections):
        kind, on, feature = change.kind, change.on_terms, change.feature_terms
        if kind is CorrectionKind.UNCHANGED:
            continue
        j = _counterpart(before, kind, on)
        found.append(
            ShownCorrection(
                appliance_id=appliance_ids[k],
                kind=kind.value,
                words=_words(kind, float(watts_before[j]), float(watts_after[k]), on, feature),
                watts_before=float(watts_before[j]),
                watts_after=float(watts_after[k]),
                current_before_a=before.W[j],
                current_after_a=after.W[k],
                on_before=before.Z[:, j],
            )
        )
    return tuple(found)


def _counterpart(before: Solution, kind: CorrectionKind, on: Terms) -> int:
    """The feature of the baseline that shows what was wrong: the longest on of those that it is made of.

    An inverted feature is the always-on level minus its counterpart, so that one is the negative term.
    """
    ones = before.Z.sum(axis=0, dtype=np.int64)
    sign = -1 if kind is CorrectionKind.INVERTED else 1
    terms = [j for j, coefficient in on if sign * coefficient > 0]
    return max(terms, key=lambda j: int(ones[j]))


def _words(kind: CorrectionKind, before_w: float, after_w: float, on: Terms, feature: Terms) -> str:
    before, after = power_words(before_w), power_words(after_w)
    if kind is CorrectionKind.INVERTED:
        return (
            f"It had been read upside down: {before} while the appliance was in fact off. Turned over, it "
            f"draws {after} when it is on."
        )
    if kind is CorrectionKind.DUPLICATED:
        return f"It had been read as {len(on)} appliances that never ran together; they are one, of {after}."
    if kind is CorrectionKind.SPLIT:
        mixed = max(len(on), len(feature)) - 1
        return (
            f"It had been read mixed with {mixed} other{'' if mixed == 1 else 's'}, as {before}; taken "
            f"apart, it draws {after}."
        )
    if kind is CorrectionKind.MERGED:
        return f"Part of what it draws had been counted elsewhere: {before} before, {after} now."
    return f"The always-on level had been mixed with what is switched: {before} before, {after} now."
