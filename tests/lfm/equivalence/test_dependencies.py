import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from lfm import Pdc, pairwise_dependencies


@given(st.integers(0, 10_000))
@settings(max_examples=60, deadline=None)
def test_conditions_hold_row_by_row(seed: int) -> None:
    rng = np.random.default_rng(seed)
    Z = rng.random((5, 4)) < 0.5
    expected = set()
    for i in range(4):
        for j in range(i + 1, 4):
            if all(not (a and b) for a, b in Z[:, [i, j]]):
                expected.add((i, j, Pdc.DISJOINT))
            if all(b for a, b in Z[:, [i, j]] if a):
                expected.add((i, j, Pdc.IMPLIES))
            if all(not b for a, b in Z[:, [i, j]] if not a):
                expected.add((i, j, Pdc.IMPLIED_BY))
    found = pairwise_dependencies(Z)
    assert set(found) == expected
    assert len(found) == len(expected)


def test_real_label_sets_have_as_many_pairs_as_the_paper_says(real_data) -> None:
    """Table 2: yeast 8, scene 8, siam 14."""
    for name, expected in {"yeast": 8, "scene": 8, "siam": 14}.items():
        with np.load(real_data / "multilabel" / f"{name}.npz", allow_pickle=False) as stored:
            pairs = {(i, j) for i, j, _ in pairwise_dependencies(stored["Z"])}
        assert len(pairs) == expected
