from dataclasses import replace

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from lfm import CorrectionKind, Solution, hamming_error, least_squares
from nilm.disaggregate.disaggregation import Factorised
from nilm.disaggregate.hopping import hop_house
from nilm.disaggregate.house import disaggregate, factorise
from nilm.errors import NothingUsableError, OptionError
from nilm.simulate import loads
from nilm.simulate.house import drop_rows, observe, simulated_house
from nilm.simulate.solar import with_solar

HOUSE = simulated_house(seed=4, days=3, n_appliances=6, n_points=64)
X = observe(HOUSE, noise_a=0.02, rng=np.random.default_rng(0))


def test_a_house_is_found_from_its_currents_alone() -> None:
    found = disaggregate(X, HOUSE.voltage_v, start_utc=HOUSE.start_utc)
    assert found.solution.K == 6
    assert hamming_error(found.solution.Z, HOUSE.Z) == 0
    np.testing.assert_allclose(np.sort(found.watts), np.sort(HOUSE.watts), rtol=0.01, atol=0.5)
    assert (found.watts > 0).all()
    assert found.at_noise_floor
    assert found.in_fit.all()
    assert found.solution.residual(X) == pytest.approx(found.baseline.residual(X), rel=1e-6)
    np.testing.assert_array_equal(found.row, np.arange(len(X)))
    assert found.diagnosis.bias_features != ()


def test_the_same_seed_gives_the_same_answer_and_voltage_may_come_per_row() -> None:
    a = disaggregate(X, HOUSE.voltage_v)
    b = disaggregate(X, np.broadcast_to(HOUSE.voltage_v, X.shape))
    np.testing.assert_array_equal(a.solution.Z, b.solution.Z)
    np.testing.assert_allclose(a.solution.W, b.solution.W, rtol=1e-12)


def test_an_answer_has_the_same_bits_on_one_thread_and_on_two() -> None:
    house = simulated_house(seed=4, n_appliances=6)  # a week: fewer rows are added up in one order
    swell = 1 + 0.02 * np.sin(np.arange(len(house.Z)) / 200)[:, None]  # of the mains, which loads follow
    current = swell * observe(house, noise_a=0.02, rng=np.random.default_rng(0))
    found = []
    for threads in (1, 2):
        with threadpool_limits(limits=threads):
            found.append(disaggregate(current, swell * house.voltage_v))
    np.testing.assert_array_equal(found[0].baseline.W, found[1].baseline.W)
    np.testing.assert_array_equal(found[0].solution.W, found[1].solution.W)
    assert found[0].left_over == found[1].left_over


def test_unfit_rows_are_left_out_of_the_fit_and_read_afterwards_where_possible() -> None:
    spoilt = X.copy()
    clipped = np.flatnonzero(HOUSE.Z[:, HOUSE.names.index("kettle")])[:3]
    spoilt[clipped] = np.clip(spoilt[clipped], -9, 9)
    spoilt[100] = 50.0  # nothing that was ever seen
    spoilt[200] = np.nan
    fit = np.ones(len(X), bool)
    fit[[*clipped, 100]] = False
    found = disaggregate(spoilt, HOUSE.voltage_v, fit_for_use=fit)
    assert set(range(len(X))) - set(found.row.tolist()) == {100, 200}
    assert set(found.row[~found.in_fit].tolist()) == set(clipped.tolist())
    assert hamming_error(found.solution.Z, HOUSE.Z[found.row]) == 0
    assert hamming_error(found.baseline.Z, HOUSE.Z[found.row]) < 0.5


def test_gaps_between_rows_are_no_switches() -> None:
    house = drop_rows(HOUSE, share=0.05, rng=np.random.default_rng(1))
    rows = observe(house, noise_a=0.02, rng=np.random.default_rng(2))
    found = disaggregate(rows, house.voltage_v, start_utc=house.start_utc)
    assert hamming_error(found.solution.Z, house.Z) < 0.002


def test_an_upside_down_baseline_is_turned_over() -> None:
    start = factorise(X, HOUSE.voltage_v, gap_before=HOUSE.gap_before)
    Z, W = start.baseline.Z.copy(), start.baseline.W.copy()
    steady = int(np.flatnonzero(Z.all(axis=0))[0])
    other = (steady + 1) % Z.shape[1]
    Z[:, other] = 1 - Z[:, other]
    W[steady] += W[other]
    W[other] *= -1
    flipped = replace(start, baseline=Solution(Z, W))
    found = hop_house(flipped, X, HOUSE.voltage_v, gap_before=HOUSE.gap_before)
    assert hamming_error(found.baseline.Z, HOUSE.Z) > 0.05
    assert hamming_error(found.solution.Z, HOUSE.Z) == 0
    assert "inverted" in {c.kind.value for c in found.hop.corrections}


def test_the_papers_prior_is_there_on_request() -> None:
    found = disaggregate(X, HOUSE.voltage_v, prior="paper")
    assert "paper" in found.priors
    with pytest.raises(OptionError, match="prior must be one of"):
        disaggregate(X, HOUSE.voltage_v, prior="mine")


def test_more_components_than_states_are_said_in_words() -> None:
    found = disaggregate(X, HOUSE.voltage_v, components=25)
    assert found.solution.K == 6
    assert any("25 appliances were asked for; the data holds 6" in note for note in found.notes)


def test_two_hours_of_rows_are_enough_to_say_something() -> None:
    found = disaggregate(X[:60], HOUSE.voltage_v)
    assert found.solution.residual(X[:60]) / np.linalg.norm(X[:60]) < 0.05


@pytest.mark.parametrize(
    ("current", "voltage", "words"),
    [
        (np.zeros((0, 64)), HOUSE.voltage_v, "current_a must have shape"),
        (X, HOUSE.voltage_v[:-1], "voltage_v must have shape"),
        (X, np.full(64, np.nan), "NaN"),
    ],
)
def test_what_is_no_week_of_waveforms_is_refused(current, voltage, words: str) -> None:
    with pytest.raises(OptionError, match=words):
        disaggregate(current, voltage)


def test_nothing_usable_is_an_error_that_says_so() -> None:
    with pytest.raises(NothingUsableError, match="0 of 2160 rows are fit"):
        disaggregate(X, HOUSE.voltage_v, fit_for_use=np.zeros(len(X), bool))


def test_a_generator_is_recognised_said_and_keeps_its_negative_watts() -> None:
    sun = ((np.arange(len(X)) % 720 > 300) & (np.arange(len(X)) % 720 < 500)).astype(np.uint8)
    panels = -loads.resistive(HOUSE.voltage_v, 1500)
    found = disaggregate(X + np.outer(sun, panels), HOUSE.voltage_v, start_utc=HOUSE.start_utc)
    assert found.feeds_in
    assert any("generator" in note for note in found.notes)
    assert hamming_error(found.solution.Z, np.column_stack([HOUSE.Z, sun])) == 0
    np.testing.assert_allclose(np.sort(found.watts), np.sort([*HOUSE.watts, -1500]), rtol=0.01, atol=0.5)


def test_appliances_are_found_beside_panels_that_follow_the_sun() -> None:
    with_sun, profile = with_solar(HOUSE, np.random.default_rng(3))
    rows = observe(HOUSE, noise_a=0.002, rng=np.random.default_rng(0))
    rows += np.outer(profile[:, -1], with_sun.W[-1])
    fit = np.ones(len(rows), bool)
    fit[[350, 1000]] = False  # one by day, one by night
    found = disaggregate(rows, HOUSE.voltage_v, start_utc=HOUSE.start_utc, fit_for_use=fit)
    assert found.feeds_in
    assert found.solution.K == found.baseline.K == 7
    assert hamming_error(found.solution.Z[:, :-1], HOUSE.Z) == 0
    assert hamming_error(found.solution.Z, with_sun.Z) < 0.001
    # The washing machine ran by day alone, where a switch is known no better than the sun's step beside it.
    np.testing.assert_allclose(np.sort(found.watts[:-1]), np.sort(HOUSE.watts), rtol=0.02, atol=20)
    assert found.amplitude is not None
    np.testing.assert_array_equal(found.amplitude[:, 0] > 0, found.solution.Z[:, -1] == 1)
    fed_in = found.amplitude[:, 0] * found.watts[-1]
    np.testing.assert_allclose(fed_in, profile[:, -1] * with_sun.watts[-1], atol=60)
    assert fed_in.sum() == pytest.approx((profile[:, -1] * with_sun.watts[-1]).sum(), rel=0.01)
    # What varies is no matter of equivalent explanations.
    assert found.diagnosis.candidates is not None
    assert found.diagnosis.candidates.U.shape[1] == 6
    np.testing.assert_array_equal(found.hop.U[-1], np.eye(7)[-1])
    assert found.hop.corrections[-1].kind is CorrectionKind.UNCHANGED
    assert found.hop.support[-1] == 1
    assert any("varies with the sun" in note for note in found.notes)


def test_a_house_that_only_consumes_has_no_generator() -> None:
    assert not disaggregate(X, HOUSE.voltage_v).feeds_in


def test_the_hop_puts_another_estimator_right_and_the_number_is_found_for_it() -> None:
    found = disaggregate(X[:1440], HOUSE.voltage_v, estimator="binary-decoder")
    assert hamming_error(found.baseline.Z, HOUSE.Z[:1440]) > 0
    assert hamming_error(found.solution.Z, HOUSE.Z[:1440]) == 0
    assert any("6, was found by the switching decoder" in note for note in found.notes)


def with_wrong_bits(estimator: str) -> Factorised:
    """A right answer of which one bit in 500 was flipped, W refitted, as if `estimator` had found it."""
    right = factorise(X, HOUSE.voltage_v, gap_before=HOUSE.gap_before)
    rng = np.random.default_rng(0)
    Z = right.baseline.Z ^ (rng.random(right.baseline.Z.shape) < 0.002)
    return replace(right, estimator=estimator, baseline=Solution(Z, least_squares(Z, X).W), left_over=1.0)


@pytest.mark.parametrize("prior", ["house", "paper"])
def test_the_hop_of_a_plain_estimate_tolerates_wrong_bits_and_says_so(prior: str) -> None:
    start = with_wrong_bits("kfeatures")
    found = hop_house(start, X, HOUSE.voltage_v, gap_before=HOUSE.gap_before, prior=prior)
    assert hamming_error(start.baseline.Z, HOUSE.Z) > 0.001
    if prior == "house":  # the paper's prior prefers a worse explanation
        assert hamming_error(found.solution.Z, HOUSE.Z) < 0.0003
        assert found.at_noise_floor
    assert found.residual_after < found.residual_before
    assert found.left_over < 0.05
    assert any("repaired rows" in note for note in found.notes)


def test_what_was_decoded_in_time_hops_to_exact_equivalents_alone() -> None:
    start = with_wrong_bits("switching")
    found = hop_house(start, X, HOUSE.voltage_v, gap_before=HOUSE.gap_before)
    assert found.residual_after == pytest.approx(found.residual_before, rel=1e-9)
    assert found.left_over == 1.0
    assert not any("repaired" in note for note in found.notes)


def test_rows_of_one_state_may_part_in_a_tolerant_hop() -> None:
    start = with_wrong_bits("kfeatures")
    outside = np.zeros(len(X), bool)
    outside[np.flatnonzero(HOUSE.Z[:, HOUSE.names.index("kettle")])[:2]] = True
    found = hop_house(replace(start, in_fit=~outside), X, HOUSE.voltage_v, gap_before=HOUSE.gap_before)
    assert len(found.solution.Z) == len(X)
    assert hamming_error(found.solution.Z[~outside], HOUSE.Z[~outside]) < 0.0003


@pytest.mark.parametrize("estimator", ["auto", "kfeatures"])
def test_the_estimators_answer_is_not_hopped(estimator: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a hop inside factorise")

    for name in ("hop", "_rounds"):
        monkeypatch.setattr(f"lfm.hopper.hop.{name}", refuse)
    found = factorise(X, HOUSE.voltage_v, gap_before=HOUSE.gap_before, estimator=estimator, components=6)
    assert found.baseline.K > 1


def test_a_feature_that_gives_power_in_a_house_that_does_not_is_never_sure() -> None:
    voltage = 325 * np.sin(2 * np.pi * np.arange(64) / 64)
    heater = voltage / np.mean(voltage**2)
    rng = np.random.default_rng(5)
    Z = np.column_stack([np.ones(600, np.uint8), rng.random(600) < 0.9, rng.random(600) < 0.2])
    W = np.array([-677.0, 771.0, 90.0])[:, None] * heater
    rows = Z @ W + 0.01 * rng.standard_normal((600, 64)) + 800 * heater * (1 - Z[:, 1:2])
    estimate = factorise(rows, voltage, gap_before=np.arange(600) == 0)
    wrong = replace(estimate, baseline=Solution(Z.astype(np.uint8), W), row=np.arange(600), amplitude=None)
    wrong = replace(wrong, in_fit=np.ones(600, bool), feeds_in=False)
    found = hop_house(wrong, rows, voltage, gap_before=np.arange(600) == 0, prior="paper")
    gives = found.watts < -10
    assert gives.any()
    assert (found.sure[gives] == 0).all()
    assert any("though nothing in this house feeds in" in note for note in found.notes)
