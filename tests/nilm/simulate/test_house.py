from pathlib import Path

import numpy as np
import pytest

from lfm import Pdc, pairwise_dependencies, runs_of_ones
from nilm.errors import InputFileError, OptionError
from nilm.simulate import loads
from nilm.simulate.house import drop_rows, observe, simulated_house


def column(house, name: str) -> np.ndarray:
    return house.Z[:, house.names.index(name)] == 1


def test_a_default_week_has_the_shapes_units_and_ranks_it_states() -> None:
    house = simulated_house(seed=1)
    assert house.Z.shape == (5040, 10)
    assert house.Z.dtype == np.uint8
    assert house.W.shape == (10, 320)
    assert house.start_utc[0] == np.datetime64("2014-12-29T00:00:00")
    assert (np.diff(house.start_utc) == np.timedelta64(120, "s")).all()
    assert house.Z[:, 0].all()
    assert np.linalg.matrix_rank(house.Z) == 10
    # Four collinear heaters: seven directions for ten loads.
    assert np.linalg.matrix_rank(house.W) == 7
    for k in range(10):
        assert house.watts[k] == pytest.approx(loads.active_w(house.voltage_v, house.W[k]))
    assert (house.watts > 0).all()


@pytest.mark.parametrize("seed", range(6))
def test_the_dependencies_of_the_house_hold(seed: int) -> None:
    house = simulated_house(seed=seed, n_appliances=30)
    for heater, motor in [
        ("washing machine heater", "washing machine motor"),
        ("dishwasher heater", "dishwasher pump"),
        ("amplifier", "television"),
    ]:
        if heater in house.names and motor in house.names:
            assert not (column(house, heater) & ~column(house, motor)).any()
            assert (column(house, motor) & ~column(house, heater)).any()
    assert not (column(house, "oven") & column(house, "immersion heater")).any()
    small = simulated_house(seed=seed)
    pairs = {(small.names[i], small.names[j]): pdc for i, j, pdc in pairwise_dependencies(small.Z)}
    assert pairs["washing machine motor", "washing machine heater"] is Pdc.IMPLIED_BY
    assert pairs["television", "amplifier"] is Pdc.IMPLIED_BY
    assert pairs["oven", "immersion heater"] is Pdc.DISJOINT


@pytest.mark.parametrize("n_appliances", [1, 2, 3, 5, 8, 11, 12, 20, 31, 36])
def test_every_size_has_full_rank_and_everything_runs_twice(n_appliances: int) -> None:
    house = simulated_house(seed=7, n_appliances=n_appliances)
    assert len(set(house.names)) == n_appliances
    assert np.linalg.matrix_rank(house.Z) == n_appliances
    assert all(len(runs_of_ones(house.Z[:, k] == 1)) >= 2 for k in range(1, n_appliances))


@pytest.mark.parametrize("seed", range(5))
def test_a_few_hours_still_hold_every_appliance(seed: int) -> None:
    house = simulated_house(seed=seed, days=0.125)
    assert len(house.Z) == 90
    assert np.linalg.matrix_rank(house.Z) == 10
    assert all(len(runs_of_ones(house.Z[:, k] == 1)) >= 2 for k in range(1, 10))


def test_the_same_seed_gives_the_same_house_and_another_seed_another() -> None:
    first, again, other = (simulated_house(seed=s, days=1) for s in (4, 4, 5))
    np.testing.assert_array_equal(first.Z, again.Z)
    np.testing.assert_array_equal(first.W, again.W)
    assert (first.Z != other.Z).any()
    assert (first.W != other.W).any()


def test_one_seed_is_one_house_in_every_week_and_more_appliances_add_to_it() -> None:
    first = simulated_house(seed=4)
    later = simulated_house(seed=4, start_utc=np.datetime64("2015-01-05"))
    larger = simulated_house(seed=4, n_appliances=14)
    np.testing.assert_array_equal(first.W, later.W)
    assert (first.Z != later.Z).any()
    assert larger.names[:10] == first.names
    np.testing.assert_array_equal(larger.W[:10], first.W)


def test_parts_of_one_machine_share_its_name() -> None:
    house = simulated_house(seed=0, n_appliances=30)
    parts = dict(zip(house.names, house.machines, strict=True))
    assert parts["washing machine heater"] == parts["washing machine motor"] == "washing machine"
    assert parts["kettle"] == "kettle"


def test_n_points_changes_the_grid_and_not_the_shape() -> None:
    coarse, fine = (simulated_house(seed=2, days=1, n_points=n) for n in (320, 640))
    np.testing.assert_array_equal(coarse.Z, fine.Z)
    np.testing.assert_allclose(coarse.watts, fine.watts, rtol=1e-6)
    assert np.abs(fine.W[:, ::2] - coarse.W).max() < 0.01 * np.abs(coarse.W).max(axis=1).min()


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"n_appliances": 0}, "^appliances must be 1 .* got 0"),
        ({"n_appliances": 101}, "^appliances must be 1 .* to 100, got 101"),
        ({"n_points": 8}, "n_points"),
        ({"days": 0.01}, "more days"),
        ({"days": 0.03}, "more days"),
        ({"interval_s": 0}, "interval_s"),
    ],
)
def test_a_house_that_cannot_be_is_refused_with_the_remedy(options, word: str) -> None:
    with pytest.raises(OptionError, match=word):
        simulated_house(seed=0, **options)


def test_observed_without_options_is_the_product_plus_noise() -> None:
    house = simulated_house(seed=0, days=1)
    exact = house.Z.astype(float) @ house.W
    np.testing.assert_allclose(observe(house, noise_a=0, rng=np.random.default_rng(0)), exact, atol=1e-12)
    noisy = observe(house, noise_a=0.05, rng=np.random.default_rng(0))
    assert np.std(noisy - exact) == pytest.approx(0.05, rel=0.01)


def test_drift_is_one_factor_per_activation_and_slow_change_dies_away() -> None:
    house = simulated_house(seed=0)
    k = house.names.index("fridge")
    alone = house.Z[:, [j for j in range(10) if j not in (0, k)]].sum(axis=1) == 0
    size = np.sum(house.W[k] ** 2)

    def factors(X):
        return (X - house.W[0]) @ house.W[k] / size

    drifted = factors(observe(house, noise_a=0, rng=np.random.default_rng(1), drift=0.05))
    slow = factors(observe(house, noise_a=0, rng=np.random.default_rng(1), slow_change=0.2))
    levels, excess, rest = [], [], []
    for first, end in runs_of_ones(house.Z[:, k] == 1):
        if alone[first:end].all() and end - first >= 8:
            assert np.ptp(drifted[first:end]) < 1e-9
            levels.append(drifted[first])
            excess.append(abs(slow[first] - 1))
            rest.append(abs(slow[end - 1] - 1))
    assert np.std(levels) == pytest.approx(0.05, rel=0.3)
    assert np.median(rest) < 0.4 * np.median(excess)


def test_switch_rows_mix_the_state_before_into_less_than_half_of_the_row() -> None:
    house = simulated_house(seed=0, days=1)
    exact = house.Z.astype(float) @ house.W
    X = observe(house, noise_a=0, rng=np.random.default_rng(0), switch_rows=1.0)
    changed = np.flatnonzero(np.abs(X - exact).max(axis=1) > 1e-9)
    switches = 1 + np.flatnonzero((np.diff(house.Z.astype(int), axis=0) != 0).any(axis=1))
    assert set(changed) <= set(switches)
    assert len(changed) > 0.9 * len(switches)
    n = changed[0]
    step = exact[n - 1] - exact[n]
    share = (X[n] - exact[n]) @ step / (step @ step)
    assert 0 < share < 0.5
    np.testing.assert_allclose(X[n], exact[n] + share * step, atol=1e-9)


def test_dropped_rows_leave_gaps_that_the_house_names() -> None:
    house = simulated_house(seed=0, days=1)
    assert list(np.flatnonzero(house.gap_before)) == [0]
    fewer = drop_rows(house, share=0.05, rng=np.random.default_rng(0))
    assert len(fewer.Z) == 684
    assert np.isin(fewer.start_utc, house.start_utc).all()
    gaps = fewer.gap_before
    assert gaps[0]
    for n in range(1, len(gaps)):
        assert gaps[n] == (fewer.start_utc[n] - fewer.start_utc[n - 1] != np.timedelta64(120, "s"))
    assert observe(fewer, noise_a=0.01, rng=np.random.default_rng(0), switch_rows=1).shape == (684, 320)


@pytest.mark.parametrize(
    "options", [{"noise_a": -1}, {"drift": -0.1}, {"slow_change": float("nan")}, {"switch_rows": 2}]
)
def test_observe_refuses_what_makes_no_sense(options) -> None:
    house = simulated_house(seed=0, days=1)
    with pytest.raises(OptionError, match=next(iter(options))):
        observe(house, **{"noise_a": 0.1, "rng": np.random.default_rng(0), **options})
    with pytest.raises(OptionError, match="parametric"):
        observe(house, noise_a=0.1, rng=np.random.default_rng(0), recordings=True)


def _cycles_file(path: Path, **changes: np.ndarray) -> Path:
    """Twelve recordings of three appliances in the stated format, cut half a sample after the crossing."""
    phase = 2 * np.pi * (np.arange(128) + 0.5) / 128
    rng = np.random.default_rng(0)
    names = np.repeat(["Kettle", "Lamp", "Fan"], 4)
    lag = np.repeat([0.0, 0.3, 1.0], 4)[:, None]
    size = np.repeat([8.0, 0.5, 1.5], 4)[:, None] * rng.uniform(0.95, 1.05, size=(12, 1))
    fields = {
        "appliance": names,
        "current_a": size * np.sin(phase - lag) - 0.012,
        "voltage_v": np.tile(250 * np.sin(phase), (12, 1)),
    }
    np.savez(path, **{**fields, **changes})
    return path


def test_recorded_cycles_are_aligned_to_the_crossing_and_used_one_per_activation(tmp_path: Path) -> None:
    house = simulated_house(seed=0, n_appliances=4, waveforms=_cycles_file(tmp_path / "c.npz"))
    assert set(house.names) == {"standby", "Kettle", "Lamp", "Fan"}
    fan = house.W[house.names.index("Fan")]
    spectrum = np.fft.rfft(fan) / np.fft.rfft(house.voltage_v)
    assert np.degrees(np.angle(spectrum[1])) == pytest.approx(-np.degrees(1.0), abs=0.02)
    assert np.angle(np.fft.rfft(house.voltage_v)[1]) == pytest.approx(-np.pi / 2, abs=1e-9)
    assert np.abs(house.W.mean(axis=1)).max() < 1e-9

    k = house.names.index("Kettle")
    X = observe(house, noise_a=0, rng=np.random.default_rng(0), recordings=True)
    alone = (house.Z.sum(axis=1) == 2) & (house.Z[:, k] == 1)
    seen = (X - house.W[0])[alone]
    assert house.recordings is not None
    distance = np.abs(seen[:, None] - house.recordings[k][None]).max(axis=2).min(axis=1)
    assert distance.max() < 1e-9
    assert len(np.unique(seen[:, 80].round(6))) > 1


def test_a_file_of_cycles_that_is_not_one_is_named_with_what_it_lacks(tmp_path: Path) -> None:
    with pytest.raises(InputFileError, match=r"gone\.npz"):
        simulated_house(seed=0, waveforms=tmp_path / "gone.npz")
    np.savez(tmp_path / "half.npz", current_a=np.zeros((2, 128)))
    with pytest.raises(InputFileError, match="appliance, voltage_v"):
        simulated_house(seed=0, waveforms=tmp_path / "half.npz")
    bad = _cycles_file(tmp_path / "bad.npz", voltage_v=np.ones((3, 128)))
    with pytest.raises(InputFileError, match="alike"):
        simulated_house(seed=0, waveforms=bad)
    with pytest.raises(OptionError, match="holds 3 appliances"):
        simulated_house(seed=0, n_appliances=10, waveforms=_cycles_file(tmp_path / "c.npz"))


def test_real_cycles_make_a_house(real_data: Path) -> None:
    house = simulated_house(seed=0, n_appliances=13, waveforms=real_data / "appliances" / "hfhad_cycles.npz")
    assert house.recordings is not None
    assert house.recordings.shape == (13, 40, 320)
    assert np.linalg.matrix_rank(house.Z) == 13
    assert (house.watts > 0).all()
    assert loads.rms(house.voltage_v) == pytest.approx(240)
    cooker, hood = column(house, "InductionCooker"), column(house, "RangeHood")
    assert not (hood & ~cooker).any()
