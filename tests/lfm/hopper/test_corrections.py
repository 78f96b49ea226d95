import numpy as np

from lfm import CorrectionKind, GaussianW, Solution, hop, transform
from lfm.hopper.corrections import describe_corrections
from lfm.synthetic import constrained_states, with_bias


def test_an_inverted_feature_is_called_so_and_the_bias_took_its_level() -> None:
    rng = np.random.default_rng(0)
    Z = with_bias(constrained_states(200, 3, [], rng))
    W = np.vstack([rng.standard_normal((3, 8)), np.zeros((1, 8))])
    unit = np.eye(4)
    flip = np.eye(4) + np.outer(unit[3], unit[1]) - 2 * np.outer(unit[1], unit[1])
    start = transform(Solution(Z, W), flip)
    found = hop(start, priors=[GaussianW(1.0)])
    np.testing.assert_array_equal(found.solution.Z, Z)
    kinds = [correction.kind for correction in found.corrections]
    unchanged = CorrectionKind.UNCHANGED
    assert kinds == [unchanged, CorrectionKind.INVERTED, unchanged, CorrectionKind.BIAS_MOVED]
    inverted = found.corrections[1]
    assert inverted.on_terms == ((1, -1.0), (3, 1.0))
    assert inverted.feature_terms == ((1, -1.0),)
    assert str(inverted) == "feature 1: inverted; on = −z[1] + z[3], feature = −w[1]"
    assert "unchanged (feature 0" in str(found.corrections[0])


def test_each_kind_by_its_u() -> None:
    Z = np.array([[1, 0, 0], [0, 1, 0], [0, 1, 1], [0, 0, 0]], dtype=np.uint8)
    exact = np.ones(3, dtype=bool)
    joined = np.array([[1, 0, 0], [1, 1, 0], [0, 0, 1]])  # z0′ = z0 + z1, w1′ = w1 − w0
    kinds = [c.kind for c in describe_corrections(Z, joined.astype(float), exact)]
    assert kinds == [CorrectionKind.DUPLICATED, CorrectionKind.SPLIT, CorrectionKind.UNCHANGED]
    parted = np.array([[1, 0, 0], [0, 1, 0], [0, -1, 1]])  # z1′ = z1 − z2, w2′ = w2 + w1
    kinds = [c.kind for c in describe_corrections(Z, parted.astype(float), exact)]
    assert kinds == [CorrectionKind.UNCHANGED, CorrectionKind.SPLIT, CorrectionKind.MERGED]


def test_what_was_only_nearly_equivalent_is_said() -> None:
    U = np.array([[1.0, 0.0], [1.0, 1.0]])
    corrections = describe_corrections(np.eye(2, dtype=np.uint8), U, np.array([False, True]))
    assert "(nearly)" in str(corrections[0])
    assert not corrections[0].exact
