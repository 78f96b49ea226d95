import numpy as np
import pytest

from lfm.switching.tracks.beam import evidence, offer

BEAM = 24


@pytest.mark.parametrize("m", [0, 1, 3])
def test_evidence_is_that_of_the_full_covariance(m):
    rng = np.random.default_rng(m)
    G, u = rng.normal(size=(4, 6)), rng.normal(size=6)
    terms, along = np.array([2, 0, 3]), np.array([0.5, 2.0, 0.1])
    S = 0.3 * np.eye(6) + sum(along[i] * np.outer(G[terms[i]], G[terms[i]]) for i in range(m))
    work = np.zeros((4, 5))
    square, determinant = evidence(u @ u, G @ u, G @ G.T, terms, along, m, 0.3, 6, work)
    assert square == pytest.approx(u @ np.linalg.solve(S, u))
    assert determinant == pytest.approx(np.linalg.slogdet(S)[1])
    solved = (u - sum(G[terms[i]] * work[i, m] / 0.3 for i in range(m))) / 0.3
    np.testing.assert_allclose(solved, np.linalg.solve(S, u))


def test_the_beam_keeps_the_cheapest_of_each_code_in_order():
    rng = np.random.default_rng(0)
    codes, parents = np.zeros(BEAM, dtype=np.int64), np.zeros(BEAM, dtype=np.int64)
    costs, passes = np.zeros(BEAM), np.zeros(BEAM, dtype=bool)
    offered = {}
    n = 0
    for parent in range(400):
        code, cost = int(rng.integers(60)), float(rng.random())
        n = offer(codes, costs, parents, passes, n, code, cost, parent, False)
        offered[code] = min(offered.get(code, (np.inf, 0)), (cost, parent))
    expected = sorted((cost, code, parent) for code, (cost, parent) in offered.items())[:BEAM]
    assert n == BEAM
    assert list(zip(costs, codes, parents, strict=True)) == expected
