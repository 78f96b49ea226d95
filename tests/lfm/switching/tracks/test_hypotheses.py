"""The filter's arithmetic beside the same written with whole matrices."""

import numpy as np
import pytest

from lfm.switching.tracking import _empty_hypotheses, _empty_scratch
from lfm.switching.tracks.hypotheses import (
    inherit,
    innovate,
    learn,
)

J, R = 4, 3
G = np.array([[20.0, 0, 0], [0, 15.0, 4.0], [3.0, 0, 9.0], [8.0, 7.0, 0]])
LEVEL = np.array([1.0, -2.0, 0.5])
NOISE = 0.25


def test_what_is_on_is_taken_off_and_may_have_wandered(model, believed):
    mean = LEVEL + G[0] + G[2] + 0.3
    scratch = _empty_scratch(J, R, 2)
    square, scale = innovate(model, believed, 1, mean, NOISE, scratch)
    u = mean - LEVEL - believed.V[1, 0] - believed.V[1, 2]
    assert square == pytest.approx(u @ u)
    assert scale == pytest.approx(NOISE + 0.3 + 0.2)
    np.testing.assert_allclose(believed.along[1], [0.01 + 9e-6, 0.02, 0.03 + 9e-6, 0.04])
    np.testing.assert_allclose(scratch.w, [believed.V[1, 0], -G[1], believed.V[1, 2], -G[3]])
    np.testing.assert_allclose(scratch.flip, [-0.3, 0.2, -0.2, 0.15])


def test_a_segment_teaches_as_a_kalman_filter_does(model, believed):
    then = _empty_hypotheses(2, J, R)
    inherit(believed, 1, then, 0, 0b0001, 9.0)
    assert (then.code[0], then.cost[0], then.chi2[0]) == (1, 9.0, 5.0)
    mean = LEVEL + 1.02 * G[0] + 0.1
    learn(model, then, 0, 0b0101, mean, NOISE, _empty_scratch(J, R, 2))
    V = believed.V[1, 0]
    prior = 0.3 * np.eye(R) + 0.01 * np.outer(G[0], G[0])
    S = prior + NOISE * np.eye(R)
    u = mean - LEVEL - V
    np.testing.assert_allclose(then.V[0, 0], V + prior @ np.linalg.solve(S, u))
    assert then.chi2[0] == pytest.approx(5.0 + u @ np.linalg.solve(S, u))
    scale = NOISE + 0.3
    assert then.around[0, 0] == pytest.approx(0.3 * (1 - 0.3 / scale))
    assert then.along[0, 0] == pytest.approx(0.01 / (1 + 0.01 * 400.0 / scale))
    np.testing.assert_array_equal(then.V[0, 1:], believed.V[1, 1:])


def test_what_switches_on_is_believed_to_be_the_feature_itself(model, believed):
    then = _empty_hypotheses(1, J, R)
    inherit(believed, 1, then, 0, 0b0111, 9.0)
    then.V[0, 1] = 99.0
    learn(
        model, then, 0, 0b0101, LEVEL + believed.V[1, 0] + believed.V[1, 2] + G[1], NOISE,
        _empty_scratch(J, R, 2),
    )  # fmt: skip
    np.testing.assert_allclose(then.V[0, 1], G[1], atol=1e-9)
    assert then.around[0, 1] < model.around[1]
    assert then.along[0, 1] < model.along


def test_features_that_are_on_together_are_known_as_well_as_whole_matrices_say(model, believed):
    then = _empty_hypotheses(1, J, R)
    inherit(believed, 1, then, 0, 0b0101, 9.0)
    learn(model, then, 0, 0b0101, LEVEL + G[0] + G[2], NOISE, _empty_scratch(J, R, 2))
    on = [0, 2]
    scale = NOISE + 0.3 + 0.2
    posterior = np.linalg.inv(np.diag([1 / 0.01, 1 / 0.03]) + G[on] @ G[on].T / scale)
    np.testing.assert_allclose(then.along[0, on], np.diag(posterior))
    np.testing.assert_array_equal(then.along[0, [1, 3]], believed.along[1, [1, 3]])
