"""The filter's arithmetic beside the same written with whole matrices."""

import itertools

import numpy as np
import pytest

from lfm.switching.hypotheses import (
    Beam,
    Model,
    inherit,
    innovate,
    learn,
    offer_changes,
    start_over,
)
from lfm.switching.tracking import _empty_hypotheses, _empty_scratch

J, R = 4, 3
RNG = np.random.default_rng(0)
G = np.array([[20.0, 0, 0], [0, 15.0, 4.0], [3.0, 0, 9.0], [8.0, 7.0, 0]])
LEVEL = np.array([1.0, -2.0, 0.5])
MODEL = Model(
    G,
    G @ G.T,
    LEVEL,
    0.02**2,
    np.array([0.1, 0.2, 0.05, 0.15]),
    0.003**2,
    0.0,  # nothing is negligible, so that whole matrices give the same
    np.array([(a, -1, -1) for a in range(-1, J)]),
    np.array([(a, b, -1) for a in range(J) for b in range(a + 1, J)]),
)
NOISE = 0.25
SWITCH = 4.0
BASELINE = R * np.log(NOISE)


@pytest.fixture
def believed():
    """Three hypotheses; the second has features 0 and 2 on and has learnt something about them."""
    hypotheses = _empty_hypotheses(3, J, R)
    for h in range(3):
        start_over(MODEL, hypotheses, h, 0b0101 if h == 1 else 0, 0)
    hypotheses.V[1] += RNG.normal(size=(J, R))
    hypotheses.along[1] = [0.01, 0.02, 0.03, 0.04]
    hypotheses.around[1] = [0.3, 0.1, 0.2, 0.4]
    hypotheses.cost[1], hypotheses.chi2[1] = 7.0, 5.0
    return hypotheses


def covariance(around, along, on):
    total = NOISE * np.eye(R)
    for k in on:
        total += around[k] * np.eye(R) + along[k] * np.outer(G[k], G[k])
    return total


def after_change(hypotheses, h, changed, mean):
    """(code, misfit, log determinant) of hypothesis h after the features in `changed` switched."""
    before = {k for k in range(J) if hypotheses.code[h] >> k & 1}
    on = before ^ set(changed)
    V, around, along = hypotheses.V[h].copy(), hypotheses.around[h].copy(), hypotheses.along[h].copy()
    for k in on - before:
        V[k], around[k], along[k] = G[k], MODEL.around[k], MODEL.along
    u = mean - LEVEL - sum((V[k] for k in on), np.zeros(R))
    S = covariance(around, along, on)
    return sum(1 << k for k in on), float(u @ np.linalg.solve(S, u)), float(np.linalg.slogdet(S)[1])


def test_what_is_on_is_taken_off_and_may_have_wandered(believed):
    mean = LEVEL + G[0] + G[2] + 0.3
    scratch = _empty_scratch(J, R, 2)
    square, scale = innovate(MODEL, believed, 1, mean, NOISE, scratch)
    u = mean - LEVEL - believed.V[1, 0] - believed.V[1, 2]
    assert square == pytest.approx(u @ u)
    assert scale == pytest.approx(NOISE + 0.3 + 0.2)
    np.testing.assert_allclose(believed.along[1], [0.01 + 9e-6, 0.02, 0.03 + 9e-6, 0.04])
    np.testing.assert_allclose(scratch.w, [believed.V[1, 0], -G[1], believed.V[1, 2], -G[3]])
    np.testing.assert_allclose(scratch.flip, [-0.3, 0.2, -0.2, 0.15])


@pytest.mark.parametrize("switched", [(), (1,), (0,), (0, 1), (2, 3), (0, 1, 2), (1, 2, 3)])
def test_successors_cost_what_whole_matrices_say(believed, switched):
    on = {0, 2} ^ set(switched)
    mean = LEVEL + sum((G[k] for k in on), np.zeros(R))
    scratch = _empty_scratch(J, R, 6)
    beam = Beam(np.zeros(16, np.int64), np.zeros(16), np.zeros(16, np.int64), np.zeros(16, bool))
    innovation = innovate(MODEL, believed, 1, mean, NOISE, scratch)
    n = offer_changes(MODEL, believed, 1, beam, 0, innovation, (SWITCH, BASELINE), 0.0, scratch)
    expected = {}
    for size in range(4):
        for changed in itertools.combinations(range(J), size):
            code, misfit, determinant = after_change(believed, 1, changed, mean)
            expected[code] = 7.0 + 0.5 * (misfit + determinant - BASELINE) + SWITCH * size
    assert n == len(expected) == 15  # all but the change of four
    for code, cost, parent in zip(beam.code[:n], beam.cost[:n], beam.parent[:n], strict=True):
        assert cost == pytest.approx(expected[code])
        assert parent == 1
    assert beam.code[0] == sum(1 << k for k in on)


def test_more_changes_are_tried_only_where_fewer_explain_nothing(believed):
    scratch = _empty_scratch(J, R, 2)
    beam = Beam(np.zeros(16, np.int64), np.zeros(16), np.zeros(16, np.int64), np.zeros(16, bool))
    mean = LEVEL + believed.V[1, 0] + believed.V[1, 2]
    innovation = innovate(MODEL, believed, 1, mean, NOISE, scratch)
    assert offer_changes(MODEL, believed, 1, beam, 0, innovation, (SWITCH, BASELINE), 5.0, scratch) == J + 1
    mean = mean + G[1] + G[3]
    innovation = innovate(MODEL, believed, 1, mean, NOISE, scratch)
    n = offer_changes(MODEL, believed, 1, beam, 0, innovation, (SWITCH, BASELINE), 5.0, scratch)
    assert n == 1 + J + J * (J - 1) // 2
    assert beam.code[0] == 0b1111


def test_a_segment_teaches_as_a_kalman_filter_does(believed):
    then = _empty_hypotheses(2, J, R)
    inherit(believed, 1, then, 0, 0b0001, 9.0)
    assert (then.code[0], then.cost[0], then.chi2[0]) == (1, 9.0, 5.0)
    mean = LEVEL + 1.02 * G[0] + 0.1
    learn(MODEL, then, 0, 0b0101, mean, NOISE, _empty_scratch(J, R, 2))
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


def test_what_switches_on_is_believed_to_be_the_feature_itself(believed):
    then = _empty_hypotheses(1, J, R)
    inherit(believed, 1, then, 0, 0b0111, 9.0)
    then.V[0, 1] = 99.0
    learn(
        MODEL, then, 0, 0b0101, LEVEL + believed.V[1, 0] + believed.V[1, 2] + G[1], NOISE,
        _empty_scratch(J, R, 2),
    )  # fmt: skip
    np.testing.assert_allclose(then.V[0, 1], G[1], atol=1e-9)
    assert then.around[0, 1] < MODEL.around[1]
    assert then.along[0, 1] < MODEL.along
