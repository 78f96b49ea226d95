import numpy as np
import pytest

from lfm import InvalidInputError, at_noise_floor, find_signal
from lfm.shapes.noise import _noise_variance

N = 800


def levels(r: int, D: int = 20, *, size: float = 5.0, seed: int = 0) -> np.ndarray:
    """Rows (N, D) of r sources that are on or off for a while, without noise."""
    rng = np.random.default_rng(seed)
    on = np.repeat(rng.integers(0, 2, (N // 40, r)), 40, axis=0)
    shapes = np.linalg.qr(rng.standard_normal((D, r)))[0].T
    return size * on @ shapes


@pytest.mark.parametrize("noise", [0.05, 0.5])
@pytest.mark.parametrize("r", [1, 4])
def test_the_noise_and_the_directions_of_the_signal_are_found(r: int, noise: float) -> None:
    rng = np.random.default_rng(1)
    clean = levels(r)
    signal = find_signal(clean + noise * rng.standard_normal(clean.shape), np.zeros(N, bool))
    assert signal.noise == pytest.approx(noise, rel=0.03)
    assert signal.basis.shape == (20, r)
    np.testing.assert_allclose(signal.basis.T @ signal.basis, np.eye(r), atol=1e-9)
    centred = clean - clean.mean(axis=0)
    inside = centred @ signal.basis @ signal.basis.T
    assert np.linalg.norm(inside - centred) < 0.05 * np.linalg.norm(centred)
    power = np.sum((centred @ signal.basis) ** 2, axis=0)
    assert np.all(np.diff(power) <= 0)  # the strongest first


def test_noise_alone_has_no_direction_and_changes_across_gaps_are_no_noise() -> None:
    rng = np.random.default_rng(2)
    X = 0.3 * rng.standard_normal((N, 20))
    assert find_signal(X, np.zeros(N, bool)).basis.shape[1] == 0
    jumping = X + 50 * (np.arange(N) % 2)[:, None] * rng.standard_normal(20)
    assert find_signal(jumping, np.arange(N) % 2 == 1).noise < 20
    pairs = np.repeat(100 * rng.standard_normal((N // 2, 20)), 2, axis=0) + X
    found = find_signal(pairs, np.arange(N) % 2 == 0)
    assert found.noise == pytest.approx(0.3, rel=0.03)


def test_directions_below_the_least_noise_are_left_out() -> None:
    rng = np.random.default_rng(3)
    clean = levels(2) * 1.0
    X = clean + 0.01 * rng.standard_normal(clean.shape)
    assert find_signal(X, np.zeros(N, bool), min_noise=0.5).basis.shape[1] == 2
    assert find_signal(X, np.zeros(N, bool), min_noise=5.0).basis.shape[1] == 0


def test_what_lasts_is_found_below_the_noise_of_a_row_and_what_does_not_last_is_not() -> None:
    rng = np.random.default_rng(4)
    shape = np.ones(20) / np.sqrt(20)
    noise = rng.standard_normal((N, 20))
    # Its variance is 0.12. Rows show a direction from √(20/800) = 0.16 on, means of 16 from √(20/50)/16.
    lasting = 0.7 * (np.arange(N) % 80 < 40)
    passing = 0.7 * (np.arange(N) % 2)
    no_gaps = np.zeros(N, bool)
    found = find_signal(np.outer(lasting, shape) + noise, no_gaps).basis
    assert found.shape[1] == 1
    assert abs(float(found[:, 0] @ shape)) > 0.7  # the theory of the spiked model says 0.86
    assert find_signal(np.outer(passing, shape) + noise, no_gaps).basis.shape[1] == 0
    between_gaps = np.arange(N) % 10 == 0  # no sixteen rows follow one another
    assert find_signal(np.outer(lasting, shape) + noise, between_gaps).basis.shape[1] == 0


def test_one_row_has_no_direction_and_no_row_is_refused() -> None:
    one = find_signal(np.ones((1, 4)), np.zeros(1, bool))
    assert one.basis.shape == (4, 0)
    with pytest.raises(InvalidInputError, match="at least one row and one column"):
        find_signal(np.zeros((0, 3)), np.zeros(0, bool))


@pytest.mark.parametrize("ratio", [0.02, 0.3])
def test_the_variance_of_noise_is_the_mean_below_the_edge(ratio: float) -> None:
    """Eigenvalues of noise in 200 dimensions, and a few of a signal."""
    rng = np.random.default_rng(4)
    rows = rng.standard_normal((round(200 / ratio), 200)) * 0.7
    values = np.append(np.linalg.eigvalsh(rows.T @ rows / len(rows)), [9.0, 40.0, 100.0])
    found = _noise_variance(values, ratio)
    assert found == pytest.approx(0.49, rel=0.03)
    assert found == pytest.approx(values[values <= found * (1 + np.sqrt(ratio)) ** 2 * 1.05].mean())


@pytest.mark.parametrize("shape", [(900, 10), (60, 60), (40, 200)])
def test_noise_is_at_its_floor_and_a_little_more_of_it_is_not(shape: tuple[int, int]) -> None:
    for seed in range(20):
        noise = 0.2 * np.random.default_rng(seed).standard_normal(shape)
        assert at_noise_floor(noise, 0.2)
    assert not at_noise_floor(1.5 * noise, 0.2)


def test_a_short_stretch_or_a_weak_direction_is_noticed() -> None:
    rng = np.random.default_rng(5)
    noise = rng.standard_normal((1000, 20))
    bump = noise.copy()
    bump[500:520] *= 1.6  # one stretch of fifty
    assert not at_noise_floor(bump, 1.0)
    tilted = noise + 0.7 * rng.standard_normal((1000, 1)) * np.eye(20)[0]
    assert np.sum(tilted**2) < 1.05 * noise.size
    assert not at_noise_floor(tilted, 1.0)


def test_without_noise_only_zeros_are_at_the_floor() -> None:
    assert at_noise_floor(np.zeros((5, 3)), 0.0)
    assert not at_noise_floor(np.full((5, 3), 1e-9), 0.0)
    assert at_noise_floor(np.zeros((0, 3)), 0.0)
