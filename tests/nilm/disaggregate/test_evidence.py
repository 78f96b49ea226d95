from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from nilm.disaggregate.evidence import EVIDENCE, Fit, read_evidence
from nilm.simulate.house import simulated_house

HOUSE = simulated_house(seed=1, days=2, n_appliances=6, n_points=64)
N, K = HOUSE.Z.shape
KETTLE, FRIDGE = HOUSE.names.index("kettle"), HOUSE.names.index("fridge")
NOISE = 0.01 * np.random.default_rng(0).standard_normal((N, 64))
FIT = Fit(
    residual_a=NOISE,
    sizes=HOUSE.Z.astype(float),
    W=HOUSE.W,
    watts=HOUSE.watts,
    support=np.ones(K),
    voltage_v=HOUSE.voltage_v,
    gap_before=HOUSE.gap_before,
    duration_s=np.full(N, HOUSE.interval_s),
    n_varying=0,
    feeds_in=False,
    as_shapes=False,
)


def seen(name: str, fit: Fit = FIT) -> np.ndarray:
    return read_evidence(fit)[:, EVIDENCE.index(name)]


def test_a_right_fit_shows_noise_alone() -> None:
    assert (seen("log residual while on, in units of its own current")[1:] < -0.5).all()
    assert seen("log residual while on over while off")[KETTLE] == pytest.approx(0, abs=0.03)
    assert np.isfinite(read_evidence(FIT)).all()


def test_what_is_left_while_one_runs_speaks_against_that_one() -> None:
    left = NOISE + 0.3 * np.outer(HOUSE.Z[:, KETTLE], HOUSE.W[KETTLE])
    spoilt = replace(FIT, residual_a=left)
    for name in ("log residual while on, in units of its own current", "log bias of its size"):
        assert seen(name, spoilt)[KETTLE] > seen(name)[KETTLE] + 0.5
    assert seen("log bias of its size", spoilt)[KETTLE] == pytest.approx(np.log10(0.3), abs=0.01)


def test_the_nearest_combination_is_that_of_brute_force() -> None:
    found = 10 ** seen("log distance to the nearest other or sum or difference of two")
    for k in range(K):
        others = [j for j in range(K) if j != k]
        sums = [s * HOUSE.W[j] for j in others for s in (1, -1)]
        sums += [
            s * HOUSE.W[i] + t * HOUSE.W[j]
            for i, j in combinations(others, 2)
            for s in (1, -1)
            for t in (1, -1)
        ]
        nearest = min(np.linalg.norm(HOUSE.W[k] - combination) for combination in sums)
        assert found[k] == pytest.approx(max(nearest / np.linalg.norm(HOUSE.W[k]), 1e-3), rel=1e-6)


def test_a_shower_that_is_kettle_and_fridge_is_near_to_them() -> None:
    W = HOUSE.W.copy()
    shower = next(k for k in range(1, K) if k not in (KETTLE, FRIDGE))
    W[shower] = W[KETTLE] + W[FRIDGE]
    fit = replace(FIT, W=W)
    assert seen("log distance to the nearest other or sum or difference of two", fit)[shower] == -3
    assert seen("log distance to all mixtures of others", fit)[shower] == -4


def test_what_never_moves_alone_is_seen() -> None:
    sizes = FIT.sizes.copy()
    sizes[:, KETTLE] = sizes[:, FRIDGE]
    both = replace(FIT, sizes=sizes)
    assert seen("share of its changes in which it moves alone")[KETTLE] > 0.8
    assert seen("most common changes with another", both)[KETTLE] == pytest.approx(1)
    # The fridge is the smaller one, so the kettle hides its changes.
    assert seen("share of its changes in which it moves alone", both)[FRIDGE] == 0


def test_runs_end_at_gaps_and_drift_is_that_of_the_runs() -> None:
    runs = 10 ** seen("log number of runs")[KETTLE] - 1
    assert runs == np.count_nonzero(np.diff(np.r_[0, HOUSE.Z[:, KETTLE]].astype(int)) == 1)
    sizes = np.random.default_rng(1).normal(0, 0.05, N)
    run = np.cumsum(np.diff(np.r_[0, HOUSE.Z[:, KETTLE]].astype(int)) == 1)
    left = np.outer(HOUSE.Z[:, KETTLE] * sizes[run], HOUSE.W[KETTLE])
    drift = 10 ** seen("log drift of its size between runs", replace(FIT, residual_a=left))[KETTLE]
    assert drift == pytest.approx(sizes[1 : int(runs) + 1].std(), rel=1e-6)


def test_one_feature_and_a_feature_that_is_never_on_have_evidence() -> None:
    lonely = replace(FIT, W=HOUSE.W[:1], watts=HOUSE.watts[:1], sizes=np.zeros((N, 1)), support=np.ones(1))
    assert np.isfinite(read_evidence(lonely)).all()


def test_rows_that_were_cut_at_changes_are_told_from_a_steady_grid() -> None:
    duration_s = FIT.duration_s.copy()
    duration_s[3] /= 2
    assert seen("rows of one length") == pytest.approx(1)
    assert seen("rows of one length", replace(FIT, duration_s=duration_s)) == pytest.approx(0)


def test_rows_count_by_their_time_and_not_by_their_number() -> None:
    """The same week with every third row cut in two says the same, but for the noise from row to row."""
    left = NOISE + 0.1 * np.outer(HOUSE.Z[:, KETTLE], HOUSE.W[KETTLE])
    whole = replace(FIT, residual_a=left, sizes=FIT.sizes * (1 + 0.1 * np.sin(np.arange(N)))[:, None])
    twice = np.repeat(np.arange(N), np.where(np.arange(N) % 3, 1, 2))
    again = np.r_[False, np.diff(twice) == 0]
    cut = replace(
        whole,
        residual_a=whole.residual_a[twice],
        sizes=whole.sizes[twice],
        gap_before=whole.gap_before[twice] & ~again,
        duration_s=np.where(np.bincount(twice)[twice] > 1, 0.5, 1.0) * HOUSE.interval_s,
    )
    by_rows = {"rows of one length", "most common changes with another"}
    for name in set(EVIDENCE) - by_rows:
        assert seen(name, cut) == pytest.approx(seen(name, whole), rel=1e-9, abs=1e-9), name


def test_a_feature_moves_alone_where_the_others_change_by_little_beside_it() -> None:
    sizes = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 0.0]])
    fit = Fit(
        residual_a=np.zeros((4, 2)),
        sizes=sizes,
        W=np.array([[10.0, 0.0], [0.0, 5.0]]),
        watts=np.array([100.0, 50.0]),
        support=np.ones(2),
        voltage_v=np.ones(2),
        gap_before=np.arange(4) == 0,
        duration_s=np.ones(4),
        n_varying=0,
        feeds_in=False,
        as_shapes=False,
    )
    assert fit.alone.tolist() == [[True, False], [False, True], [False, False]]
