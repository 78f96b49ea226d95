from dataclasses import replace

import numpy as np
import pytest

from lfm import Correction, CorrectionKind, Solution
from nilm.appliances.correction_words import corrections_in_words
from nilm.disaggregate.disaggregation import Disaggregation
from nilm.simulate.house import simulated_house

HOUSE = simulated_house(seed=4, days=3, n_appliances=5, n_points=64)
WATTS = HOUSE.W @ HOUSE.voltage_v / 64


def with_corrections(week: Disaggregation, corrections: list[Correction]) -> Disaggregation:
    return replace(week, hop=replace(week.hop, corrections=tuple(corrections)))


@pytest.fixture
def hopped(hopped_week):
    """A week hopped to the house's truth from a baseline, with these corrections by feature."""

    def make(baseline: Solution, corrections: dict[int, Correction]) -> Disaggregation:
        week = hopped_week(Solution(HOUSE.Z, HOUSE.W), baseline)
        given = [corrections.get(k, c) for k, c in enumerate(week.hop.corrections)]
        return with_corrections(week, given)

    return make


IDS = ["A01", "A02", "A03", "A04", "A05"]


def test_an_inverted_feature_is_shown_beside_what_it_was_read_as(hopped) -> None:
    Z, W = HOUSE.Z.copy(), HOUSE.W.copy()
    Z[:, 1], W[0], W[1] = 1 - Z[:, 1], W[0] + W[1], -W[1]
    week = hopped(
        Solution(Z, W),
        {
            0: Correction(0, CorrectionKind.BIAS_MOVED, ((0, 1.0),), ((0, 1.0), (1, 1.0)), exact=True),
            1: Correction(1, CorrectionKind.INVERTED, ((0, 1.0), (1, -1.0)), ((1, -1.0),), exact=True),
        },
    )
    steady, fridge = corrections_in_words(week, IDS, HOUSE.voltage_v)
    assert (fridge.appliance_id, fridge.kind) == ("A02", "inverted")
    assert fridge.watts_before == pytest.approx(-WATTS[1], abs=1e-3)
    assert fridge.watts_after == pytest.approx(WATTS[1], abs=1e-3)
    assert "upside down: −" in fridge.words
    np.testing.assert_array_equal(fridge.on_before, 1 - HOUSE.Z[:, 1])
    assert steady.watts_before == pytest.approx(WATTS[0] + WATTS[1], abs=1e-3)
    assert "always-on level" in steady.words


@pytest.mark.parametrize("kind", [k for k in CorrectionKind if k is not CorrectionKind.UNCHANGED])
def test_every_kind_has_a_sentence_of_its_own(hopped, kind: CorrectionKind) -> None:
    terms = ((1, 1.0), (2, -1.0))
    week = hopped(Solution(HOUSE.Z, HOUSE.W), {1: Correction(1, kind, terms, terms, exact=True)})
    (found,) = corrections_in_words(week, IDS, HOUSE.voltage_v)
    assert found.words.endswith(".")
    others = {
        corrections_in_words(with_corrections(week, c), IDS, HOUSE.voltage_v)[0].words
        for other in CorrectionKind
        if other not in {kind, CorrectionKind.UNCHANGED}
        for c in [[replace(c, kind=other) if c.column == 1 else c for c in week.hop.corrections]]
    }
    assert found.words not in others
