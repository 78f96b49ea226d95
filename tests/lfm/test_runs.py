import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lfm.runs import runs_of_ones


@given(st.lists(st.tuples(st.booleans(), st.booleans()), max_size=12))
def test_runs_are_what_walking_along_the_column_finds(rows):
    column = np.array([on for on, _ in rows], dtype=np.uint8)
    gaps = np.array([gap for _, gap in rows], dtype=bool)
    expected = []
    for n, (on, gap) in enumerate(rows):
        if on and n and rows[n - 1][0] and not gap:
            expected[-1] = (expected[-1][0], n + 1)
        elif on:
            expected.append((n, n + 1))
    assert runs_of_ones(column, gaps) == expected


@pytest.mark.parametrize("column", [[], [0, 0], [1, 1, 1]])
def test_without_gaps_a_run_ends_where_the_column_does(column):
    assert runs_of_ones(np.array(column)) == ([(0, len(column))] if any(column) else [])
