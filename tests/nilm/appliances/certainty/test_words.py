from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from lfm import Solution, diagnose
from nilm.appliances.certainty.not_told_apart import indistinguishable
from nilm.appliances.certainty.ranges import EnergyRange
from nilm.appliances.certainty.words import certainty_in_words
from nilm.disaggregate.disaggregation import Disaggregation
from nilm.simulate.house import House, simulated_house

HOUSE = simulated_house(seed=1, days=7, n_appliances=7, n_points=64)


@pytest.fixture
def hopped(hopped_week):
    """A house as found, with its diagnosis; `changes` as those of `hopped_week`."""

    def make(house: House = HOUSE, **changes: object) -> Disaggregation:
        diagnosis = diagnose(house.Z, house.W)
        return hopped_week(Solution(house.Z, house.W), **vars(diagnosis) | changes)

    return make


def certainty(week: Disaggregation, ids: Sequence[str], names: Sequence[str], *, high_kwh: float = 5.0):
    energy = [EnergyRange(2.0, 1.0, high_kwh) for _ in ids]
    duration_s = np.full(week.solution.N, 120.0)
    return certainty_in_words(week, appliance_ids=ids, names=names, energy=energy, duration_s=duration_s)


def words(week: Disaggregation):
    ids = [f"A{k + 1:02d}" for k in range(week.solution.K)]
    return certainty(week, ids, HOUSE.names)


def test_a_house_with_parts_is_not_identifiable_and_the_words_say_what_binds(hopped) -> None:
    found = words(hopped())
    assert found.verdict == "not identifiable"
    assert "amplifier ran only while television did" in found.dependencies
    assert not any("standby" in sentence for sentence in found.dependencies)
    assert found.indistinguishable == ()
    assert found.would_settle == ()
    count = "exactly" if found.n_equivalent_is_exact else "at least"
    assert f"{count} {found.n_equivalent:,}" in found.words
    assert found.notes[0] == "from the fit"
    assert any("independent shapes" in note for note in found.notes)


def test_what_is_in_doubt_is_named_with_what_would_settle_it(hopped) -> None:
    tv, amplifier = (HOUSE.names.index(n) for n in ("television", "amplifier"))
    Z = HOUSE.Z.copy()
    Z[:, amplifier] = Z[:, tv]
    Z[np.flatnonzero(Z[:, tv])[0], amplifier] = 0  # one row tells the two apart
    support = np.ones(7)
    support[amplifier] = 0.6
    week = hopped(replace(HOUSE, Z=Z), support=support)
    assert [group.members for group in indistinguishable(week)] == [(tv, amplifier)]
    assert words(week).would_settle == ("one hour with amplifier on and television off",)


def test_two_heaters_of_one_size_cannot_be_told_apart(hopped) -> None:
    W = HOUSE.W.copy()
    W[4] = 1.01 * W[2]
    week = hopped(replace(HOUSE, W=W))
    assert [group.members for group in indistinguishable(week)] == [(2, 4)]
    found = words(week)
    assert found.indistinguishable == (("A03", "A05"),)
    (group,) = found.not_told_apart
    assert "nearly the same current" in group.why
    # What is known is the sum of twice 2 kWh, each between 1 and 5.
    assert (group.energy_kwh, group.energy_low_kwh, group.energy_high_kwh) == (4.0, 2.0, 10.0)
    (group,) = certainty(week, [f"A{k + 1:02d}" for k in range(7)], HOUSE.names, high_kwh=9.0).not_told_apart
    assert group.energy_high_kwh == 14.0  # all seven together, not twice 9 kWh


def test_what_draws_the_same_and_never_met_may_be_one_appliance(hopped) -> None:
    W, Z = HOUSE.W.copy(), HOUSE.Z.copy()
    W[4] = 1.01 * W[2]
    Z[Z[:, 2] == 1, 4] = 0
    assert Z[:, 4].any()
    (sentence,) = words(hopped(replace(HOUSE, W=W, Z=Z))).would_settle
    assert f"{HOUSE.names[2]} and {HOUSE.names[4]} draw nearly the same current" in sentence
    assert "they may be one appliance" in sentence


@pytest.mark.parametrize(
    ("identifiable", "verdict", "phrase"),
    [(True, "identifiable", "proved"), (None, "unknown", "could not be decided")],
)
def test_verdicts(hopped, identifiable: bool | None, verdict: str, phrase: str) -> None:
    found = words(hopped(identifiable=identifiable))
    assert found.verdict == verdict
    assert phrase in found.words


def test_more_than_a_billion_explanations_are_not_counted_out(hopped) -> None:
    found = words(hopped(identifiable=False, n_equivalent=10**12, n_equivalent_is_exact=False))
    assert "allow more than a billion explanations" in found.words


def test_long_lists_are_cut_and_counted(hopped) -> None:
    house = simulated_house(seed=1, days=2, n_appliances=14, n_points=64)
    week = hopped(house)
    found = certainty(week, [f"A{k:02d}" for k in range(14)], [f"n{k}" for k in range(14)])
    assert len(found.dependencies) == 13
    assert "more pairs" in found.dependencies[-1]
