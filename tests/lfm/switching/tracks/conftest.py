import numpy as np
import pytest

from lfm.switching.tracking import _empty_hypotheses
from lfm.switching.tracks.hypotheses import Model, start_over

J, R = 4, 3
G = np.array([[20.0, 0, 0], [0, 15.0, 4.0], [3.0, 0, 9.0], [8.0, 7.0, 0]])
LEVEL = np.array([1.0, -2.0, 0.5])
_MODEL = Model(
    G,
    G @ G.T,
    LEVEL,
    0.02**2,
    np.array([0.1, 0.2, 0.05, 0.15]),
    0.003**2,
    np.array([(a, -1, -1, -1) for a in range(-1, J)]),
    np.array([(a, b, -1, -1) for a in range(J) for b in range(a + 1, J)]),
)


@pytest.fixture
def model():
    return _MODEL


@pytest.fixture
def believed():
    """Three hypotheses; the second has features 0 and 2 on and has learnt something about them."""
    hypotheses = _empty_hypotheses(3, J, R)
    for h in range(3):
        start_over(_MODEL, hypotheses, h, 0b0101 if h == 1 else 0, 0)
    hypotheses.V[1] += np.random.default_rng(0).normal(size=(J, R))
    hypotheses.along[1] = [0.01, 0.02, 0.03, 0.04]
    hypotheses.around[1] = [0.3, 0.1, 0.2, 0.4]
    hypotheses.cost[1], hypotheses.chi2[1] = 7.0, 5.0
    return hypotheses
