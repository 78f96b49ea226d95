import itertools
import math

import numpy as np
import pytest

from lfm import Solution, hop, random_equivalent
from nilm.disaggregate.house_priors import (
    ConsumesInTheSun,
    ConsumesOrFeedsIn,
    StateEvidence,
    evidence_priors,
    feeds_in,
    house_priors,
    price,
)
from nilm.simulate import loads
from nilm.simulate.house import simulated_house

VOLTS = loads.voltage_cycle(np.random.default_rng(0), 64)


def test_evidence_is_a_probability_over_all_columns() -> None:
    every = np.array(list(itertools.product([0, 1], repeat=7)), np.uint8).T
    gaps = np.array([True, False, False, True, False, False, False])
    total = np.exp(-StateEvidence(gaps).columns(every)).sum()
    # Given the state after each gap, the transitions of all columns share out exactly one unit.
    assert total == pytest.approx(2**2)


def test_evidence_prefers_runs_to_flicker_and_a_gap_costs_nothing() -> None:
    calm = np.repeat([0, 1, 0, 1], 10).astype(np.uint8)[:, None]
    flicker = np.tile([0, 1, 1, 0, 0, 1, 0, 1], 5).astype(np.uint8)[:, None]
    gaps = np.zeros(40, bool)
    assert StateEvidence(gaps).columns(calm)[0] < StateEvidence(gaps).columns(flicker)[0]
    broken = gaps.copy()
    broken[[10, 20, 30]] = True
    assert StateEvidence(broken).columns(calm)[0] < StateEvidence(gaps).columns(calm)[0]


def test_a_generator_is_free_and_an_upside_down_motor_is_not() -> None:
    solar = -loads.resistive(VOLTS, 2000)
    motor = -loads.motor(VOLTS, 90, power_factor=0.7, saturation=0.05)
    kettle = loads.resistive(VOLTS, 2800)
    prior = ConsumesOrFeedsIn(100.0, VOLTS)
    W = np.stack([solar, motor, kettle])
    np.testing.assert_allclose(prior.features(prior.project(W)), [0, 9000, 0], rtol=1e-6)


def test_in_the_sun_a_few_negative_watts_are_free() -> None:
    W = np.stack([loads.resistive(VOLTS, watts) for watts in (-30.0, 30.0, -70.0)])
    prior = ConsumesInTheSun(100.0, VOLTS)
    np.testing.assert_allclose(prior.features(prior.project(W)), [0, 0, 2000], atol=1e-6)


def test_in_the_sun_one_feature_that_gives_much_costs_less_than_several_that_give_some() -> None:
    W = np.stack([loads.resistive(VOLTS, watts) for watts in (-800.0, -90.0, -90.0)])
    prior = ConsumesInTheSun(100.0, VOLTS)
    np.testing.assert_allclose(prior.features(prior.project(W)), [5000, 4000, 4000], atol=1e-6)


def test_feed_in_needs_more_than_a_reading_or_two() -> None:
    assert not _feeds_in(n_rows=0)
    assert not _feeds_in(n_rows=3)
    assert _feeds_in(n_rows=300)


def test_noise_that_swings_below_nothing_is_no_feed_in_and_a_feed_in_louder_than_it_is() -> None:
    assert not _feeds_in(n_rows=0, load_w=0.0, noise_a=1.0)
    assert _feeds_in(n_rows=300, load_w=0.0, noise_a=1.0)


def _feeds_in(*, n_rows: int, load_w: float = 300.0, noise_a: float = 0.01) -> bool:
    """Whether something feeds in where n_rows of 5,000 hold −500 W and the others a load."""
    power = np.full(5000, load_w)
    power[:n_rows] = -500
    current = np.outer(power, loads.resistive(VOLTS, 1.0))
    current += noise_a * np.random.default_rng(0).standard_normal(current.shape)
    return feeds_in(current, np.broadcast_to(VOLTS, current.shape), np.zeros(5000, dtype=bool))


@pytest.mark.parametrize("seed", range(4))
def test_from_any_equivalent_start_both_sets_of_priors_find_the_house(seed: int) -> None:
    house = simulated_house(seed=seed, n_appliances=8, n_points=64)
    truth = Solution(house.Z, house.W)
    start = random_equivalent(truth, rng=np.random.default_rng(seed))
    for choose in (house_priors, evidence_priors):
        priors, words = choose(house.gap_before, house.voltage_v, feeds_in=False)
        found = hop(start, priors=priors)
        columns = {found.solution.Z[:, k].tobytes() for k in range(8)}
        assert columns == {house.Z[:, k].tobytes() for k in range(8)}
        assert math.isclose(price(priors, found.solution), price(priors, truth), rel_tol=1e-6)
        assert "consume" in words
