import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from nilm.recordings.adaptive.bisection import Difference, find_changes

GRID = np.arange(0, 160_001, 16_000)


def steps(*at: int) -> Difference:
    """The difference of a staircase that rises by one at each of these samples."""

    def difference(left: np.ndarray, right: np.ndarray) -> np.ndarray:
        edges = np.array(sorted(at))
        return 2.0 * (np.searchsorted(edges, right, "right") - np.searchsorted(edges, left, "right"))

    return difference


@given(st.sets(st.integers(1, 160_000), max_size=12))
def test_every_step_lies_in_a_piece_and_every_piece_holds_a_step(at: set[int]) -> None:
    found = find_changes(GRID, steps(*at), piece=600, max_looks=10_000)
    assert len(found.unresolved) == 0
    assert all(right - left <= 600 for left, right in found.pieces)
    held = [{s for s in at if left < s <= right} for left, right in found.pieces]
    assert all(held)
    assert set().union(*held) == at


def test_a_middle_like_neither_side_leads_into_both_halves() -> None:
    found = find_changes(GRID, steps(3_000, 13_000), piece=1_000, max_looks=1_000)
    assert len(found.pieces) == 2


def test_nothing_is_looked_at_twice_and_a_quiet_grid_only_once() -> None:
    assert len(find_changes(GRID, steps(), piece=600, max_looks=100).looks) == len(GRID)
    looks = find_changes(GRID, steps(5, 77_000, 77_500), piece=600, max_looks=1_000).looks
    assert len(looks) == len(np.unique(looks))


def test_when_looks_are_few_the_largest_changes_are_followed() -> None:
    large = steps(*[41_000 + n for n in range(5)])

    def difference(left: np.ndarray, right: np.ndarray) -> np.ndarray:
        return large(left, right) + steps(100_000, 120_000)(left, right)

    found = find_changes(GRID, difference, piece=1_000, max_looks=len(GRID) + 6)
    assert len(found.looks) <= len(GRID) + 6
    assert any(left < 41_004 <= right for left, right in found.pieces)
    assert len(found.unresolved) == 2
    assert np.all(np.diff(found.unresolved, axis=1) > 1_000)


@given(st.sets(st.integers(1, 160_000), max_size=6))
def test_looks_lie_at_multiples_of_the_unit_and_find_the_same_steps(at: set[int]) -> None:
    grid = np.arange(0, 40 * 4_096 + 1, 39 * 1_024 * 4)
    found = find_changes(
        np.unique(np.append(grid, 163_840)), steps(*at), piece=4_096, max_looks=10_000, unit=4_096
    )
    assert np.all(found.looks % 4_096 == 0)
    held = [{s for s in at if left < s <= right} for left, right in found.pieces]
    assert set().union(*held) == at
