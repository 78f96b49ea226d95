import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nilm.appliances.energy_assigned import divided, energy_rightly_assigned
from nilm.errors import OptionError

# Four rows of a lamp, a fridge and a kettle; all of them are off at some time, so nothing stands by.
LAMP = [60.0, 60.0, 0.0, 0.0]
FRIDGE = [0.0, 100.0, 100.0, 0.0]
KETTLE = [0.0, 0.0, 2000.0, 0.0]
TRUTH = np.transpose([LAMP, FRIDGE, KETTLE])
TOTAL = 60 * 2 + 100 * 2 + 2000


def test_the_truth_itself_scores_one() -> None:
    found = energy_rightly_assigned(TRUTH, TRUTH)
    assert (found.acc, found.one, found.left_over) == (1, 1, 0)
    assert found.channel.tolist() == [0, 1, 2]
    assert found.n_features == found.n_large_features == found.n_large_channels == 3


def test_an_empty_answer_scores_a_half() -> None:
    found = energy_rightly_assigned(TRUTH, np.zeros((4, 0)))
    assert (found.acc, found.one, found.left_over, found.n_features) == (0.5, 0.5, 1, 0)


def test_a_merged_feature_counts_for_its_largest_channel() -> None:
    # The kettle's channel gets fridge and kettle: 200 W row too much there, and 200 missing at the fridge.
    merged = np.transpose([LAMP, np.add(FRIDGE, KETTLE)])
    found = energy_rightly_assigned(TRUTH, merged)
    assert found.acc == pytest.approx(1 - (200 + 200) / (2 * TOTAL))
    assert found.one == pytest.approx(found.acc)
    assert found.channel.tolist() == [0, 2]
    assert found.left_over == 0


def test_a_split_feature_is_whole_many_to_one_but_not_one_to_one() -> None:
    split = np.transpose([LAMP, FRIDGE, np.multiply(KETTLE, 0.7), np.multiply(KETTLE, 0.3)])
    found = energy_rightly_assigned(TRUTH, split)
    assert found.acc == pytest.approx(1)
    assert found.one == pytest.approx(1 - 600 / (2 * TOTAL))
    assert found.n_features == 4


def test_an_invention_costs_what_it_claims() -> None:
    invented = np.column_stack([TRUTH, [0.0, 0.0, 0.0, 500.0]])
    found = energy_rightly_assigned(TRUTH, invented)
    assert found.acc == pytest.approx(1 - 500 / (2 * TOTAL))
    assert found.channel.tolist() == [0, 1, 2, 4]
    assert found.one == 1, "a feature that no channel wants is left out"
    assert found.left_over == pytest.approx(500 / TOTAL)


def test_the_floors_are_one_channel_whoever_was_given_them() -> None:
    # 40 W of the lamp and 20 W of the fridge never go away: one feature of 60 W is a right answer.
    truth = TRUTH + np.array([40.0, 20.0, 0.0])
    apart = np.column_stack([TRUTH, np.full(4, 60.0)])
    for found in (apart, truth, TRUTH + np.array([0.0, 0.0, 60.0])):
        assert energy_rightly_assigned(truth, found).acc == pytest.approx(1)
    nothing_but_base = energy_rightly_assigned(truth, np.full((4, 1), 60.0))
    assert nothing_but_base.acc == pytest.approx(1 - TOTAL / (2 * (TOTAL + 240)))
    assert nothing_but_base.n_features == 0
    moving = energy_rightly_assigned(truth, np.array([[50.0], [50.0], [50.0], [65.0]]))
    assert moving.channel.tolist() == [4], "what comes and goes is no standby"
    assert moving.acc == pytest.approx(1 - (TOTAL + 4 * 10 + 15) / (2 * (TOTAL + 240)))


def test_a_generator_counts_by_its_size() -> None:
    truth = np.transpose([FRIDGE, [0.0, -900.0, -1500.0, 0.0]])
    assert energy_rightly_assigned(truth, truth).acc == 1
    # 2,400 W are missing at the panels, and too much for nobody.
    wrong_sign = energy_rightly_assigned(truth, truth * [1, -1])
    assert wrong_sign.acc == pytest.approx(1 - (2400 + 2400) / (2 * 2600))


def test_rows_count_by_their_duration() -> None:
    durations = [120.0, 120.0, 10.0, 120.0]
    without_kettle = energy_rightly_assigned(TRUTH, TRUTH[:, :2], durations)
    energy = 60 * 240 + 100 * 130 + 2000 * 10
    assert without_kettle.acc == pytest.approx(1 - 20_000 / (2 * energy))
    assert without_kettle.left_over == pytest.approx(20_000 / energy)


def test_the_floor_holds_in_all_but_two_percent_of_the_time() -> None:
    watts = np.full((100, 1), 50.0)
    watts[:2] = 0
    assert divided(watts).standby_w[5] == 50
    watts[:3] = 0
    assert divided(watts).standby_w[5] == 0
    assert divided(watts, np.where(np.arange(100) < 3, 0.1, 1.0)).standby_w[5] == 50


@given(st.integers(0, 2**32 - 1))
def test_the_parts_add_up_and_the_order_of_columns_does_not_matter(seed: int) -> None:
    rng = np.random.default_rng(seed)
    # Half of the rows are off: a standby that never moves would leave ties between features.
    truth = rng.uniform(0, 100, (30, 3)) * (rng.permuted(np.arange(90).reshape(30, 3), axis=0) % 2)
    found = rng.uniform(-20, 100, (30, 5)) * rng.integers(0, 2, (30, 5))
    above, standby = divided(found)
    np.testing.assert_allclose(above.sum(axis=1) + standby, found.sum(axis=1))
    one_way = energy_rightly_assigned(truth, found)
    other_way = energy_rightly_assigned(truth[:, ::-1], found[:, rng.permutation(5)])
    assert one_way.acc == pytest.approx(other_way.acc)
    assert one_way.one == pytest.approx(other_way.one)
    assert one_way.acc <= 1


@pytest.mark.parametrize(
    ("truth", "found", "words"),
    [
        (TRUTH, TRUTH[:2], "4 rows and found_w 2"),
        (TRUTH, TRUTH[:, 0], "one column per channel"),
        (TRUTH, TRUTH * np.nan, "not finite"),
        (TRUTH * 0, TRUTH, "no energy"),
    ],
)
def test_what_cannot_be_scored_is_said(truth: np.ndarray, found: np.ndarray, words: str) -> None:
    with pytest.raises(OptionError, match=words):
        energy_rightly_assigned(truth, found)
