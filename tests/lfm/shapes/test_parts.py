import itertools

import numpy as np
import pytest

from lfm import split_track
from lfm.shapes import parts as parts_module
from lfm.thresholds import SHAPES

N = 2000
NO_GAPS = np.zeros(N, dtype=bool)


def test_sources_of_one_shape_come_apart_by_their_sizes() -> None:
    t = np.arange(N)
    states = np.column_stack([t % 173 < 40, t % 401 < 90, t % 57 < 11])
    sizes = np.array([2000.0, 900.0, 350.0])
    track = states @ sizes + np.random.default_rng(0).standard_normal(N)
    parts = split_track(track, NO_GAPS, resolution=5.0)
    order = np.argsort(-parts.size)
    np.testing.assert_allclose(parts.size[order], sizes, atol=3)
    np.testing.assert_array_equal(parts.on[:, order], states)
    assert np.abs(parts.left).max() < 10


def test_a_track_that_only_wanders_has_no_parts() -> None:
    track = 300 + np.cumsum(np.random.default_rng(1).standard_normal(N))
    parts = split_track(track, NO_GAPS, resolution=5.0)
    assert parts.on.shape == (N, 0)
    np.testing.assert_allclose(parts.left, track)


def test_parts_and_what_they_leave_add_up_to_the_track() -> None:
    rng = np.random.default_rng(2)
    track = 500.0 * (np.arange(N) % 91 < 33) + np.repeat(rng.uniform(0, 60, N // 20), 20)
    parts = split_track(track, NO_GAPS, resolution=5.0)
    np.testing.assert_allclose(parts.on @ parts.size + parts.left, track)


def price(left: np.ndarray, gap_before: np.ndarray) -> float:
    """The price of a track by its definition: Σ log(1 + Δ²) + λ Σ log(1 + a²)(1 + κ[a < 0])."""
    total = 0.0
    for t, level in enumerate(left):
        total += SHAPES.level_nats * np.log(1 + level**2) * (1 + SHAPES.below * (level < 0))
        if t and not gap_before[t]:
            total += np.log(1 + (level - left[t - 1]) ** 2)
    return total


@pytest.mark.parametrize("seed", range(10))
def test_the_states_of_a_part_are_the_cheapest_of_all(seed: int) -> None:
    rng = np.random.default_rng(seed)
    size = 20.0
    left = size * rng.integers(0, 2, 9) + rng.normal(0, 6, 9)
    gaps = rng.random(9) < 0.2
    assert parts_module._cost(left, gaps) == pytest.approx(price(left, gaps))

    def whole_price(state: np.ndarray) -> float:
        switches = np.count_nonzero(np.diff(state)[~gaps[1:]])
        return price(left - size * state, gaps) + SHAPES.switch_nats * switches

    every = [np.array(state) for state in itertools.product((0, 1), repeat=9)]
    found = parts_module._states(left, size, gaps)
    assert whole_price(found.astype(int)) == pytest.approx(min(whole_price(state) for state in every))


def test_a_step_is_the_median_change_where_the_state_changes() -> None:
    left = np.array([0.0, 10, 11, 0, 13, 2, 50])
    state = np.array([0, 1, 1, 0, 1, 0, 1], dtype=np.uint8)
    no_gaps = np.zeros(7, bool)
    assert parts_module._step_size(left, state, no_gaps, 99.0) == 11  # of 10, 11, 13, 11 and 48
    gaps = np.array([0, 0, 0, 0, 0, 1, 0], dtype=bool)
    assert parts_module._step_size(left, state, gaps, 99.0) == pytest.approx(12)  # of 10, 11, 13 and 48
    assert parts_module._step_size(left, 0 * state, no_gaps, 99.0) == 99.0


@pytest.mark.parametrize("seed", range(5))
def test_sizes_that_recur_are_those_that_counting_finds(seed: int) -> None:
    rng = np.random.default_rng(seed)
    steps = np.concatenate(
        [rng.uniform(0, 400, 150), rng.normal(60, 0.4, 30), rng.normal(200, 1, 40), rng.normal(64, 0.4, 20)]
    )
    size = np.sort(steps[steps > SHAPES.least_steps])
    speaks = []
    for one in size:
        half = max(SHAPES.narrow_steps, SHAPES.narrow * one)
        wide = SHAPES.wide
        n = np.count_nonzero((size >= one - half) & (size <= one + half))
        around = np.count_nonzero((size >= one / wide) & (size <= one * wide)) - n
        e = (around + 1) * 2 * half / (one * (wide - 1 / wide))
        speaks.append(n * np.log(n / e) - (n - e) if n > e else 0.0)
    expected: list[float] = []
    for i in np.argsort(-np.array(speaks), kind="stable"):
        clear = speaks[i] >= SHAPES.peak_nats and len(expected) < SHAPES.tries
        if clear and all(abs(np.log(size[i] / other)) > SHAPES.apart for other in expected):
            expected.append(size[i])
    assert parts_module._recurring(steps) == pytest.approx(expected)
    assert {round(found, -1) for found in expected} >= {60, 200}
    assert parts_module._recurring(np.array([50.0])) == []


def test_a_new_part_is_priced_by_its_switches_and_its_size() -> None:
    rng = np.random.default_rng(3)
    left = 40.0 * (np.arange(400) % 50 < 20) + rng.normal(0, 0.5, 400)
    found = parts_module._new_part(left, np.zeros(400, bool))
    assert found is not None
    cost, size, state = found
    assert size == pytest.approx(40, abs=0.5)
    switches = np.count_nonzero(np.diff(state.astype(int)))
    timed = SHAPES.switch_nats + np.log(400 / switches)
    rest = price(left - size * state, np.zeros(400, bool))
    assert cost == pytest.approx(rest + timed * switches + SHAPES.size_nats)
    once = np.repeat([0.0, 40.0], 200)  # a change that never comes back is no part
    assert parts_module._new_part(once, np.zeros(400, bool)) is None
