"""Scales and values that no physics has: an answer or an error of our own, no hang, no foreign error."""

import warnings
from collections.abc import Callable

import numpy as np
import pytest

import lfm
from lfm import InvalidInputError, synthetic

HOSTILE = [1e160, 1e300, 1e-160, 1e-300]


def _problem(scale: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    Z = np.array([[1, 0], [0, 1], [1, 1], [0, 0], [1, 0]], dtype=np.uint8)
    W = scale * rng.standard_normal((2, 4))
    return Z, W, Z @ W


@pytest.mark.parametrize("scale", HOSTILE)
@pytest.mark.parametrize(
    "estimator", [lfm.LatentLasso, lfm.MEIBP, lfm.KFeatures, lfm.BinaryDecoder, lfm.SwitchingDecoder]
)
def test_every_estimator_refuses_a_scale_whose_squares_are_lost(estimator: type, scale: float) -> None:
    with pytest.raises(InvalidInputError, match=r"the largest entry of X has the size .*; scale it"):
        estimator(n_components=2).fit(np.abs(_problem(scale)[2]))


@pytest.mark.parametrize("scale", HOSTILE)
def test_functions_of_data_refuse_it_too(scale: float) -> None:
    Z, W, X = _problem(scale)
    sound = lfm.Solution(Z, _problem(1.0)[1])
    gap = np.zeros(len(X), dtype=bool)
    for call in (
        lambda: lfm.Solution(Z, W),
        lambda: lfm.decode_rows(X, W),
        lambda: lfm.merge_twins(sound, X, tolerance=0.1),
        lambda: lfm.separate_siblings(sound, X, gap_before=gap),
        lambda: lfm.regulariser(W),
    ):
        with pytest.raises(InvalidInputError, match="scale it"):
            call()


@pytest.mark.parametrize("scale", [1e-100, 1e-30, 1e30, 1e100])
def test_rows_are_decoded_alike_at_every_scale_that_is_accepted(scale: float) -> None:
    Z, W, X = _problem(scale)
    np.testing.assert_array_equal(lfm.decode_rows(X, W), Z)


def test_whole_numbers_beyond_float64_are_named() -> None:
    with pytest.raises(InvalidInputError, match="X must be an array of real numbers"):
        lfm.decode_rows([[10**400]], [[1.0]])
    with pytest.raises(InvalidInputError, match="Z must be an array of real numbers"):
        lfm.Solution([[10**400]], [[1.0]])
    with pytest.raises(InvalidInputError, match="tau"):
        lfm.GaussianW(tau=10**400)
    with pytest.raises(InvalidInputError, match="weight"):
        lfm.BernoulliZ(weight=10**400)


@pytest.mark.parametrize(
    "sizes", [{"K": 0}, {"K": -1}, {"K": 2.5}, {"N": 0}, {"N": "x"}, {"n_pdc": -1}, {"noise": np.inf}]
)
def test_sizes_of_a_synthetic_set_are_checked(sizes: dict[str, object]) -> None:
    given = {"K": 3, "N": 40, "n_pdc": 0, "noise": 0.1, **sizes}
    with pytest.raises(InvalidInputError, match=next(iter(sizes))):
        synthetic.images(**given, rng=np.random.default_rng(0))  # type: ignore[arg-type]


def test_a_prior_that_returns_one_number_is_told_what_was_asked() -> None:
    class OneNumber(lfm.Prior):  # type: ignore[name-defined]
        def columns(self, Z: np.ndarray) -> float:  # type: ignore[override]
            return 1.0

    Z, W, X = _problem(1.0)
    solution = lfm.Solution(Z, W)
    with pytest.raises(InvalidInputError, match=r"OneNumber\.columns returned shape \(\) where one price"):
        OneNumber().value(solution)
    with warnings.catch_warnings(), pytest.raises(InvalidInputError, match="OneNumber"):
        lfm.hop(solution, priors=[OneNumber()], X=X)


@pytest.mark.parametrize("tolerance", [np.nan, -1.0, np.inf, "x", 10**400])
def test_tolerances_are_checked(tolerance: object) -> None:
    Z, W, X = _problem(1.0)
    with pytest.raises(InvalidInputError, match="tolerance"):
        lfm.merge_twins(lfm.Solution(Z, W), X, tolerance=tolerance)  # type: ignore[arg-type]


def test_gaps_that_are_no_booleans_are_refused() -> None:
    Z, W, X = _problem(1.0)
    for gaps in ([0.0] * 5, [False] * 4, "no"):
        with pytest.raises(InvalidInputError, match="gap_before"):
            lfm.separate_siblings(lfm.Solution(Z, W), X, gap_before=gaps)  # type: ignore[arg-type]


@pytest.mark.parametrize("scale", [1e-100, 1e100])
def test_estimates_are_the_same_at_every_scale_that_is_accepted(scale: float) -> None:
    images = lfm.synthetic.images(K=4, N=80, n_pdc=0, noise=0.1, rng=np.random.default_rng(2))
    fits = [lfm.BinaryDecoder(n_components=4, random_state=0).fit(x) for x in (images.X, images.X * scale)]
    assert lfm.hamming_error(fits[1].solution_.Z, fits[0].solution_.Z) == 0


@pytest.mark.parametrize(
    "call",
    [
        lambda: lfm.least_squares(np.ones((3, 1)), np.ones((2, 4))),
        lambda: lfm.least_squares(np.ones((3, 1)), np.full((3, 4), "x")),
        lambda: lfm.runs_of_ones(np.ones((2, 2))),
        lambda: lfm.runs_of_ones(np.ones(3), np.zeros(2, dtype=bool)),
        lambda: lfm.level_changes(np.full((3, 2), np.nan), np.zeros(3, dtype=bool)),
        lambda: lfm.level_changes(np.ones((0, 2)), np.zeros(0, dtype=bool)),
        lambda: lfm.count_bases(np.zeros((0, 3), dtype=np.int64)),
        lambda: lfm.count_bases(np.eye(3) * 1e100),
        lambda: lfm.separate_siblings(
            lfm.Solution([[1], [0]], [[2.0]]), np.ones((1, 1)), gap_before=np.zeros(2, dtype=bool)
        ),
        lambda: synthetic.with_bias(np.ones(3, dtype=np.uint8)),
        lambda: synthetic.blocks(4, 10**20),
        lambda: synthetic.random_dependencies(10**9, 1, np.random.default_rng(0)),
        lambda: lfm.LatentLasso(n_components=1).fit(np.full((3, 2), 10**400, dtype=object)),
    ],
)
def test_what_cannot_be_meant_is_refused_in_words(call: Callable[[], object]) -> None:
    with pytest.raises(InvalidInputError):
        call()
