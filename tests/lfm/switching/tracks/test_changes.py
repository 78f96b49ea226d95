"""What changes cost beside the same written with whole matrices, and which of them are tried."""

import itertools

import numpy as np
import pytest

from lfm.switching.tracking import _empty_scratch
from lfm.switching.tracks.changes import _least_nats, offer_changes
from lfm.switching.tracks.hypotheses import Beam, innovate

J, R = 4, 3
G = np.array([[20.0, 0, 0], [0, 15.0, 4.0], [3.0, 0, 9.0], [8.0, 7.0, 0]])
LEVEL = np.array([1.0, -2.0, 0.5])
NOISE = 0.25
SWITCH = 4.0
BASELINE = R * np.log(NOISE)


def covariance(around, along, on):
    total = NOISE * np.eye(R)
    for k in on:
        total += around[k] * np.eye(R) + along[k] * np.outer(G[k], G[k])
    return total


def after_change(model, hypotheses, h, changed, mean):
    """(code, misfit, log determinant) of hypothesis h after the features in `changed` switched."""
    before = {k for k in range(J) if hypotheses.code[h] >> k & 1}
    on = before ^ set(changed)
    V, around, along = hypotheses.V[h].copy(), hypotheses.around[h].copy(), hypotheses.along[h].copy()
    for k in on - before:
        V[k], around[k], along[k] = G[k], model.around[k], model.along
    u = mean - LEVEL - sum((V[k] for k in on), np.zeros(R))
    S = covariance(around, along, on)
    return sum(1 << k for k in on), float(u @ np.linalg.solve(S, u)), float(np.linalg.slogdet(S)[1])


EVERYTHING = 1e9  # nats: nothing is hopeless


def empty_beam():
    return Beam(np.zeros(16, np.int64), np.zeros(16), np.zeros(16, np.int64), np.zeros(16, bool))


def costs_by_code(model, hypotheses, mean, most=J):
    expected = {}
    for size in range(most + 1):
        for changed in itertools.combinations(range(J), size):
            code, misfit, determinant = after_change(model, hypotheses, 1, changed, mean)
            expected[code] = 7.0 + 0.5 * (misfit + determinant - BASELINE) + SWITCH * size
    return expected


@pytest.mark.parametrize("switched", [(), (1,), (0,), (0, 1), (2, 3), (0, 1, 2), (1, 2, 3), (0, 1, 2, 3)])
def test_successors_cost_what_whole_matrices_say(model, believed, switched):
    on = {0, 2} ^ set(switched)
    mean = LEVEL + sum((G[k] for k in on), np.zeros(R))
    scratch = _empty_scratch(J, R, 6)
    beam = empty_beam()
    innovation = innovate(model, believed, 1, mean, NOISE, scratch)
    n = offer_changes(model, believed, 1, beam, 0, innovation, (SWITCH, BASELINE), EVERYTHING, True, scratch)
    expected = costs_by_code(model, believed, mean)
    assert n == (11 if len(switched) < 3 else 15 if len(switched) == 3 else 16)
    for code, cost, parent in zip(beam.code[:n], beam.cost[:n], beam.parent[:n], strict=True):
        assert cost == pytest.approx(expected[code])
        assert parent == 1
    assert beam.code[0] == sum(1 << k for k in on)


def test_more_than_two_changes_are_tried_only_where_that_is_allowed(model, believed):
    mean = LEVEL + G[3]
    scratch = _empty_scratch(J, R, 6)
    beam = empty_beam()
    innovation = innovate(model, believed, 1, mean, NOISE, scratch)
    n = offer_changes(model, believed, 1, beam, 0, innovation, (SWITCH, BASELINE), EVERYTHING, False, scratch)
    assert n == 1 + J + J * (J - 1) // 2


@pytest.mark.parametrize("hopeless", [5.0, 40.0, 200.0])
def test_only_the_hopeless_are_left_out(model, believed, hopeless):
    mean = LEVEL + G[0] + G[2] + G[1]
    scratch = _empty_scratch(J, R, 6)
    beam = empty_beam()
    innovation = innovate(model, believed, 1, mean, NOISE, scratch)
    n = offer_changes(model, believed, 1, beam, 0, innovation, (SWITCH, BASELINE), hopeless, False, scratch)
    expected = costs_by_code(model, believed, mean, most=2)
    near = {code for code, cost in expected.items() if cost <= min(expected.values()) + hopeless}
    assert near <= set(beam.code[:n].tolist())


def test_the_bound_is_below_what_a_change_costs(model, believed):
    scratch = _empty_scratch(J, R, 6)
    for mean in (LEVEL, LEVEL + G[1], LEVEL + G[0] + 3.0, LEVEL - 2 * G[3]):
        along = believed.along[1].copy()
        innovation = innovate(model, believed, 1, mean, NOISE, scratch)
        spread = float(sum(believed.along[1, k] * model.gram[k, k] for k in (0, 2)))
        for size in range(J + 1):
            for changed in itertools.combinations(range(J), size):
                changes = (*changed, *[-1] * (4 - size))
                least = _least_nats(
                    0b0101, changes, innovation, spread, model.along, model.gram,
                    scratch.u_inner, scratch.w_inner, scratch.flip, R,
                )  # fmt: skip
                _, misfit, determinant = after_change(model, believed, 1, changed, mean)
                assert least <= 0.5 * (misfit + determinant) + 1e-9
        believed.along[1] = along
