import numpy as np
import pytest

from lfm.switching.segments import Segments

G = np.array([[60.0, 0, 0], [20.0, 45.0, 0], [0, 30.0, 40.0]])
LEVEL = np.array([5.0, 5.0, 50.0])


def _switched(seed=0, S=120, drift=0.0):
    """Segments in which one of three features switches at a time, and their codes Z (S, 3)."""
    rng = np.random.default_rng(seed)
    Z = np.zeros((S, 3), np.uint8)
    size = np.ones(3)
    mean = np.tile(LEVEL, (S, 1))
    for s in range(1, S):
        k = int(rng.integers(3))
        Z[s] = Z[s - 1]
        Z[s, k] ^= 1
        if Z[s, k]:
            size[k] = 1 + drift * rng.standard_normal()
        mean[s] += (Z[s] * size) @ G
    length = rng.integers(4, 40, size=S)
    mean += rng.standard_normal(mean.shape) / np.sqrt(length)[:, None]
    follows = np.arange(S) > 0
    return Segments(np.cumsum([0, *length[:-1]]), length, mean, follows), Z


@pytest.fixture
def switched():
    """Makes segments of three features G above LEVEL, one of which switches at a time, and their codes."""
    return _switched
