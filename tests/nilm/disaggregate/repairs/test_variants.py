import numpy as np
import pytest

from lfm import Solution
from nilm.disaggregate.house_priors import StateEvidence
from nilm.disaggregate.repairs.variants import nats_for_one, waveform_scatter, with_variants_joined

N, D = 2000, 40
NO_GAPS = np.zeros(N, bool)
ANGLE = 2 * np.pi * np.arange(D) / D
FRIDGE, LAMP = np.sin(ANGLE), 3 * np.sin(ANGLE) ** 3


def runs(starts: range, length: int) -> np.ndarray:
    column = np.zeros(N, np.uint8)
    for first in starts:
        column[first : first + length] = 1
    return column


def observed(Z: np.ndarray, W: np.ndarray, *, scatter: float) -> np.ndarray:
    """Rows in which each run of each feature lies `scatter` of its size across the feature."""
    rng = np.random.default_rng(0)
    X = Z.astype(np.float64) @ W + 1e-4 * rng.standard_normal((N, D))
    for column, feature in zip(Z.T, W, strict=True):
        begins = np.flatnonzero(np.diff(column.astype(np.int8), prepend=0) == 1)
        for number, first in enumerate(begins):
            end = first + np.argmin(np.append(column[first:], 0))
            across = np.cos((2 + number % 7) * ANGLE)
            X[first:end] += scatter * np.linalg.norm(feature) * across / np.linalg.norm(across)
    return X


def fridge_of_two_variants() -> Solution:
    """Every third run of a fridge draws less, and a lamp is on now and then, with both."""
    Z = np.column_stack([runs(range(0, N, 20), 7), runs(range(200, N, 300), 90)])
    less = runs(range(40, N, 60), 7)
    return Solution(
        np.column_stack([Z[:, 0] & ~less & 1, less, Z[:, 1]]), np.stack([FRIDGE, 0.8 * FRIDGE, LAMP])
    )


def test_variants_of_one_appliance_are_one_feature_where_runs_differ_in_shape() -> None:
    found = fridge_of_two_variants()
    notes: list[str] = []
    joined = with_variants_joined(found, observed(found.Z, found.W, scatter=0.02), NO_GAPS, notes)
    assert np.array_equal(joined.Z, np.column_stack([runs(range(0, N, 20), 7), found.Z[:, 2]]))
    rows = found.Z.sum(axis=0)
    mean = (rows[0] + 0.8 * rows[1]) / (rows[0] + rows[1])
    np.testing.assert_allclose(joined.W, [mean * FRIDGE, LAMP])
    assert "1 of 3" in notes[0]


def test_nothing_is_joined_where_runs_are_alike() -> None:
    found = fridge_of_two_variants()
    notes: list[str] = []
    assert with_variants_joined(found, observed(found.Z, found.W, scatter=0.0), NO_GAPS, notes) is found
    assert notes == []


def test_appliances_that_are_on_together_stay_two() -> None:
    Z = np.column_stack([runs(range(0, N, 20), 7), runs(range(45, N, 60), 7)])
    found = Solution(Z, np.stack([FRIDGE, 0.8 * FRIDGE]))
    assert with_variants_joined(found, observed(Z, found.W, scatter=0.02), NO_GAPS, []) is found


def test_appliances_far_from_each_other_stay_two() -> None:
    found = fridge_of_two_variants()
    far = Solution(found.Z, np.stack([FRIDGE, 0.5 * FRIDGE, LAMP]))
    assert with_variants_joined(far, observed(far.Z, far.W, scatter=0.02), NO_GAPS, []) is far


def test_times_that_differ_speak_for_two_appliances() -> None:
    # Short and long runs, far apart in time: no common appliance, though they are never on together.
    Z = np.column_stack([runs(range(0, 900, 10), 1), runs(range(1000, N, 210), 200)])
    assert nats_for_one(Z, NO_GAPS) < 0
    found = Solution(Z, np.stack([FRIDGE, 0.8 * FRIDGE]))
    assert with_variants_joined(found, observed(Z, found.W, scatter=0.02), NO_GAPS, []) is found


def test_the_choices_of_all_runs_share_out_one_unit() -> None:
    # However three runs are shared out, the union is the same. Without the prices of the columns, the odds
    # are the probability of the choice, and the probabilities of all choices add up to one.
    at = [range(first, first + 1) for first in (100, 500, 900)]
    whole = np.sum([runs(one, 5) for one in at], axis=0).astype(np.uint8)
    total = 0.0
    for choice in range(8):
        parts = [
            np.sum([runs(at[n], 5) for n in range(3) if (choice >> n & 1) == side] or [np.zeros(N)], axis=0)
            for side in (0, 1)
        ]
        Z = np.column_stack(parts).astype(np.uint8)
        prices = StateEvidence(NO_GAPS).columns(np.column_stack([Z, whole]))
        total += np.exp(nats_for_one(Z, NO_GAPS) - (prices[0] + prices[1] - prices[2]))
    assert total == pytest.approx(1.0)


@pytest.mark.parametrize("scatter", [0.0, 0.01, 0.1])
def test_scatter_is_what_runs_differ_by_across_their_feature(scatter: float) -> None:
    found = fridge_of_two_variants()
    X = observed(found.Z, found.W, scatter=scatter)
    assert waveform_scatter(found, X, NO_GAPS) == pytest.approx(scatter, rel=0.3, abs=2e-4)


def test_runs_that_differ_in_size_alone_have_no_scatter() -> None:
    found = fridge_of_two_variants()
    sizes = 1 + 0.1 * np.sin(np.arange(N) // 20)
    X = (found.Z * sizes[:, None]) @ found.W + 1e-4 * np.random.default_rng(1).standard_normal((N, D))
    assert waveform_scatter(found, X, NO_GAPS) < 1e-3


def test_without_a_switch_of_one_feature_alone_no_scatter_is_seen() -> None:
    Z = np.column_stack([runs(range(0, N, 20), 7)] * 2)
    assert (
        waveform_scatter(Solution(Z, np.stack([FRIDGE, LAMP])), Z @ np.stack([FRIDGE, LAMP]), NO_GAPS) == 0.0
    )
