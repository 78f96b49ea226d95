from dataclasses import replace

import numpy as np
import pytest

from lfm import runs_of_ones
from nilm.disaggregate.evidence import Fit
from nilm.disaggregate.run_evidence import OF_THE_RUN, RUN_EVIDENCE, read_runs
from nilm.simulate.house import simulated_house

HOUSE = simulated_house(seed=1, days=2, n_appliances=6, n_points=64)
N, K = HOUSE.Z.shape
KETTLE = HOUSE.names.index("kettle")
FIT = Fit(
    residual_a=0.001 * np.random.default_rng(0).standard_normal((N, 64)),
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
SURE = np.linspace(0.2, 0.95, K)


def kettle_runs(fit: Fit = FIT):
    runs = read_runs(fit, SURE)
    own = runs.feature == KETTLE
    return runs._replace(**{name: value[own] for name, value in runs._asdict().items()})


def column(runs, name: str) -> np.ndarray:
    return runs.evidence[:, RUN_EVIDENCE.index(name)]


def test_every_run_of_every_feature_is_there() -> None:
    runs = read_runs(FIT, SURE)
    expected = [(k, *run) for k in range(K) for run in runs_of_ones(HOUSE.Z[:, k], HOUSE.gap_before)]
    assert list(zip(runs.feature, runs.first, runs.end, strict=True)) == expected
    np.testing.assert_array_equal(runs.sure, SURE[runs.feature])
    assert runs.evidence.shape == (len(runs.feature), len(OF_THE_RUN))


def test_a_run_of_another_size_stands_out_among_its_like() -> None:
    odd = kettle_runs().first[1], kettle_runs().end[1]
    left = FIT.residual_a.copy()
    left[odd[0] : odd[1]] -= 0.4 * HOUSE.W[KETTLE]
    runs = kettle_runs(replace(FIT, residual_a=left))
    for name in RUN_EVIDENCE[:3]:
        assert np.argmax(column(runs, name)) == 1
        assert column(runs, name)[1] == pytest.approx(np.log10(0.4), abs=0.05)


def test_a_run_at_a_gap_has_one_end_only() -> None:
    gaps = FIT.gap_before.copy()
    gaps[kettle_runs().end[0]] = True
    name = "share of its start and end at a gap"
    assert column(kettle_runs(replace(FIT, gap_before=gaps)), name)[0] == 0.5
    assert column(kettle_runs(), name)[0] == 0


def test_a_run_is_as_far_from_the_usual_one_whether_longer_or_shorter() -> None:
    sizes = np.zeros((60, 1))
    for first, end in ((0, 4), (10, 14), (20, 24), (30, 32), (40, 48)):
        sizes[first:end] = 1
    fit = replace(
        FIT, residual_a=FIT.residual_a[:60], sizes=sizes, W=HOUSE.W[:1], watts=HOUSE.watts[:1],
        gap_before=np.zeros(60, bool), duration_s=np.full(60, 120.0),
    )  # fmt: skip
    runs = read_runs(fit, np.array([0.9]))
    far = column(runs, "how far it is from a usual run of its appliance, in log seconds")
    np.testing.assert_allclose(far, [0, 0, 0, np.log10(2), np.log10(2)], atol=1e-12)


def test_rows_of_the_fit_are_found_among_all_rows() -> None:
    rows = np.arange(N) * 2
    runs = kettle_runs()
    among = runs.among(rows)
    np.testing.assert_array_equal(among.first, 2 * runs.first)
    np.testing.assert_array_equal(among.end, 2 * (runs.end - 1) + 1)
