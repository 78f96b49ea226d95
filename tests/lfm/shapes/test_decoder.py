import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from lfm import InvalidInputError, ShapeDecoder

N, D = 1200, 40


def record(rng: np.random.Generator, *, noise: float = 0.01) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows, shapes (3, D) and sizes (N, 3): one source on or off, one of levels, one that wanders."""
    shapes = rng.standard_normal((3, D)) + 1.0
    shapes /= np.linalg.norm(shapes, axis=1, keepdims=True)
    t = np.arange(N)
    sizes = np.column_stack(
        [
            8.0 * (t % 97 < 30),
            np.repeat(rng.choice([0.0, 2.0, 5.0], N), 13)[:N],
            np.repeat(rng.uniform(0, 4, N), 7)[:N] * (t % 400 < 250),
        ]
    )
    return 3.0 * shapes[0] + sizes @ shapes + noise * rng.standard_normal((N, D)), shapes, sizes


@pytest.mark.parametrize("seed", range(3))
def test_shapes_and_sizes_of_sources_that_vary_come_back(seed: int) -> None:
    X, shapes, sizes = record(np.random.default_rng(seed))
    model = ShapeDecoder().fit(X)
    cosine = np.abs(shapes @ model.components_.T)
    assert cosine.max(axis=1).min() > 0.999
    found = model.amplitudes_[:, cosine.argmax(axis=1)]
    assert np.abs(found - sizes).mean() < 0.15
    assert model.noise_ == pytest.approx(0.01, rel=0.05)
    assert model.left_over_ < 0.01


def test_a_new_record_of_the_same_sources_is_read_with_the_known_shapes() -> None:
    X, _, _ = record(np.random.default_rng(0))
    model = ShapeDecoder().fit(X[:800])
    later = model.transform(X[800:])
    assert later.shape == (400, len(model.components_))
    assert model.score(X[800:]) > 0.99
    np.testing.assert_allclose(model.inverse_transform(later), X[800:], atol=0.5)


def test_the_same_record_in_another_unit_gives_the_same_answer() -> None:
    X, _, _ = record(np.random.default_rng(1))
    one, other = ShapeDecoder().fit(X), ShapeDecoder().fit(1000 * X)
    np.testing.assert_allclose(other.components_, one.components_, atol=1e-6)
    np.testing.assert_allclose(other.amplitudes_, 1000 * one.amplitudes_, rtol=1e-5, atol=1e-2)


def test_the_most_shapes_that_may_be_kept_are_kept() -> None:
    X, _, _ = record(np.random.default_rng(2))
    assert len(ShapeDecoder(n_components=2).fit(X).components_) == 2


@pytest.mark.parametrize("rare", range(3))
def test_of_too_many_shapes_those_stay_that_changed_most(rare: int) -> None:
    rng = np.random.default_rng(4)
    X, shapes, sizes = record(rng)
    others = [k for k in range(3) if k != rare]
    X -= 0.9 * np.outer(sizes[:, rare], shapes[rare])  # a tenth of it is left,
    X += 9 * sizes[:, others] @ shapes[others]  # and the others are ten times as large
    found = ShapeDecoder(n_components=2).fit(X).components_
    cosine = np.abs(shapes @ found.T).max(axis=1)
    assert np.flatnonzero(cosine > 0.999).tolist() == others


def test_the_certificate_holds_for_noise_and_not_for_what_is_left_over() -> None:
    rng = np.random.default_rng(3)
    quiet = ShapeDecoder().fit(2.0 + 0.1 * rng.standard_normal((500, D)))
    assert quiet.at_noise_floor_
    assert quiet.components_.shape == (0, D)
    X, _, _ = record(rng)
    model = ShapeDecoder(n_components=1).fit(X)
    assert not model.at_noise_floor_
    assert model.left_over_ > 0.05


@pytest.mark.parametrize("bad", [0, -1, 1.5, "many", True])
def test_numbers_of_shapes_out_of_range_are_refused(bad: object) -> None:
    with pytest.raises(InvalidInputError, match="n_components must be 'auto' or a whole number"):
        ShapeDecoder(n_components=bad).fit(np.ones((4, 3)))


@parametrize_with_checks([ShapeDecoder()])
def test_scikit_learns_own_checks(estimator, check) -> None:
    check(estimator)


def test_shapes_and_base_are_positive_where_asked() -> None:
    rng = np.random.default_rng(4)
    voltage = np.sin(2 * np.pi * np.arange(16) / 16)
    other = np.cos(2 * np.pi * np.arange(16) / 16) - 0.3 * voltage  # feeds in while it is on
    size = np.repeat(rng.uniform(0, 50, 40) * (np.arange(40) % 2), 25)
    X = np.outer(size, other) + 20 * voltage + 0.01 * rng.standard_normal((1000, 16))
    model = ShapeDecoder(positive=voltage).fit(X)
    assert (model.components_ @ voltage > 0).all()
    assert model.base_ @ voltage >= -1e-6


@pytest.mark.parametrize("options", [{"positive": np.ones(3)}, {"positive": np.zeros(16)}])
def test_a_direction_that_does_not_fit_is_refused(options: dict) -> None:
    with pytest.raises(InvalidInputError, match="positive must hold 16 numbers"):
        ShapeDecoder(**options).fit(np.random.default_rng(0).standard_normal((50, 16)))


@pytest.mark.parametrize("duration", [np.ones(3), np.zeros(50), np.full(50, np.nan)])
def test_durations_that_do_not_fit_are_refused(duration: np.ndarray) -> None:
    with pytest.raises(InvalidInputError, match="duration"):
        ShapeDecoder().fit(np.random.default_rng(0).standard_normal((50, 16)), duration=duration)
