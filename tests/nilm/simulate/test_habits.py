from pathlib import Path

import numpy as np
import pytest

from nilm.errors import InputFileError, OptionError
from nilm.simulate import loads
from nilm.simulate.habits import Habits, is_heater, observe_habits, parts_of, read_habits

START = 1_400_000_400  # a multiple of 120 s


@pytest.fixture(scope="module")
def waveforms(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three recordings of each of four appliances, made by our own physics."""
    rng = np.random.default_rng(0)
    voltage = loads.voltage_cycle(rng, 128)
    shapes = {
        "motor": lambda: loads.motor(voltage, 200, power_factor=rng.uniform(0.6, 0.8), saturation=0.1),
        "supply": lambda: loads.rectifier(voltage, 60, ripple=rng.uniform(0.1, 0.2)),
        "corrected": lambda: loads.corrected_supply(voltage, 150, cusp=rng.uniform(0.1, 0.3), filter_va=20),
        "lamp": lambda: loads.dimmed(voltage, 100, firing_deg=rng.uniform(40, 90)),
    }
    path = tmp_path_factory.mktemp("waveforms") / "cycles.npz"
    names = np.repeat(list(shapes), 3)
    np.savez(path, appliance=names, current_a=[shapes[n]() for n in names], voltage_v=[voltage] * len(names))
    return path


def habits_file(path: Path, watts: np.ndarray, *, step_s: int = 60, **other: object) -> Path:
    times = START + step_s * np.arange(len(watts))
    fields = {"times": times, "watts": watts, "step_s": np.array(step_s), "valid": np.ones(len(watts), bool)}
    np.savez(path, **(fields | {"channels": [f"channel {c}" for c in range(watts.shape[1])]} | other))
    return path


def a_house(names: tuple[str, ...], n_rows: int = 50) -> Habits:
    watts = np.random.default_rng(5).uniform(0, 300, (n_rows, len(names)))
    start = np.datetime64(START, "s").astype("datetime64[ns]") + np.arange(n_rows) * np.timedelta64(120, "s")
    return Habits(names, watts, start, 120)


def test_a_row_holds_the_last_sample_before_it(tmp_path: Path) -> None:
    watts = np.arange(10.0)[:, None]
    path = habits_file(tmp_path / "h.npz", watts)
    assert read_habits(path).power_w[:, 0].tolist() == [0, 2, 4, 6, 8]
    fine = read_habits(path, interval_s=30)
    assert fine.power_w[:5, 0].tolist() == [0, 0, 1, 1, 2]
    assert fine.start_utc[0] == np.datetime64(START, "s")
    assert read_habits(path, first_day=4 / 1440, days=4 / 1440).power_w[:, 0].tolist() == [4, 6]


def test_times_that_are_not_valid_or_silent_give_no_row(tmp_path: Path) -> None:
    watts = np.arange(1.0, 21.0)[:, None]
    watts[12] = np.nan
    watts[2] = -3
    valid = np.ones(20, bool)
    valid[4:8] = False
    habits = read_habits(habits_file(tmp_path / "h.npz", watts, valid=valid))
    assert habits.power_w[:, 0].tolist() == [1, 0, 9, 11, 15, 17, 19]
    assert habits.gap_before.tolist() == [True, False, True, False, True, False, False]


@pytest.mark.parametrize(
    ("name", "heats"),
    [
        ("WaterKettle_D330A3", True),
        ("DuctHeaterHRV", True),
        ("Dryer", True),
        ("CDE", True),
        ("stove", True),
        ("Microwave", False),
        ("environment", False),
        ("Dishwasher_B7E6FA", False),
        ("kitchen_outlets_1", False),
    ],
)
def test_heaters_are_told_by_a_word_of_their_name(name: str, heats: bool) -> None:
    assert is_heater(name) is heats


def test_every_shape_draws_one_watt_and_heaters_have_the_voltages_own(waveforms: Path) -> None:
    parts = parts_of(a_house(("kettle", "fridge", "wall_oven", "tv")), waveforms, seed=3)
    np.testing.assert_allclose(parts.W @ parts.voltage_v / parts.W.shape[1], 1)
    assert parts.heater.tolist() == [True, False, True, False]
    np.testing.assert_array_equal(parts.W[0], parts.W[2])
    power_factor = 1 / (loads.rms(parts.voltage_v) * np.sqrt(np.mean(parts.W**2, axis=1)))
    assert (power_factor >= 0.45).all()
    assert not np.allclose(parts.W[1], parts.W[3], rtol=0.01)


def test_a_large_channel_has_a_heater_of_its_own(waveforms: Path) -> None:
    house = a_house(("washer",), n_rows=4)
    house.power_w[:, 0] = [0, 150, 1300, 2100]
    parts = parts_of(house, waveforms, seed=0)
    assert parts.channel.tolist() == [0, 0]
    assert parts.power_w.tolist() == [[0, 0], [150, 0], [200, 1100], [200, 1900]]
    house.power_w[3, 0] = 1700
    assert parts_of(house, waveforms, seed=0).power_w.shape == (4, 1), "1.8 kW were never reached"


def test_rows_are_the_sum_of_the_channels(waveforms: Path) -> None:
    house = a_house(("kettle", "fridge", "tv"))
    seen = observe_habits(house, waveforms, seed=1, noise_a=0)
    parts = parts_of(house, waveforms, seed=1)
    np.testing.assert_allclose(seen.current_a, house.power_w @ parts.W)
    np.testing.assert_array_equal(seen.truth_w, house.power_w)
    noisy = observe_habits(house, waveforms, seed=1, noise_a=0.1)
    assert np.std(noisy.current_a - seen.current_a) == pytest.approx(0.1, rel=0.05)
    other = observe_habits(house, waveforms, seed=2, noise_a=0)
    assert not np.allclose(other.current_a, seen.current_a, atol=0.01)


def test_loads_follow_the_voltage_and_the_truth_with_them(waveforms: Path) -> None:
    house = a_house(("kettle", "fridge", "tv"))
    seen = observe_habits(house, waveforms, seed=1, noise_a=0, voltage_swing=0.02)
    watts = np.mean(seen.current_a * seen.voltage_v, axis=1)
    np.testing.assert_allclose(watts, seen.truth_w.sum(axis=1))
    level = np.sqrt(np.mean(seen.voltage_v**2, axis=1)) / loads.NOMINAL_V
    assert 0.98 <= level.min() < 0.995
    np.testing.assert_allclose(seen.truth_w[:, 0], house.power_w[:, 0] * level**2)


def test_half_of_the_channels_wobble_at_their_own_watts(waveforms: Path) -> None:
    house = a_house(("kettle", "fridge", "tv", "lamp"), n_rows=2000)
    house.power_w[:] = [1000, 100, 100, 100]
    still = observe_habits(house, waveforms, seed=1, noise_a=0)
    moved = observe_habits(house, waveforms, seed=1, noise_a=0, wobble=0.05)
    off = moved.current_a - still.current_a
    np.testing.assert_allclose(off @ still.voltage_v, 0, atol=1e-6)
    W = 100 * parts_of(house, waveforms, seed=1).W[1:]
    # 5% of the RMS of the two that wobble, a little less because their watts stay.
    expected = [0.05 * np.sqrt(np.mean(W[i] ** 2) + np.mean(W[j] ** 2)) for i, j in ((0, 1), (0, 2), (1, 2))]
    assert np.sqrt(np.mean(off**2)) == pytest.approx(min(expected, key=lambda e: abs(e - off.std())), rel=0.2)
    assert abs(np.corrcoef(off[:-1, 10], off[1:, 10])[0, 1]) < 0.1, "rows wobble independently"


def test_bad_files_and_options_are_named(tmp_path: Path, waveforms: Path) -> None:
    with pytest.raises(InputFileError, match=r"absent\.npz cannot be read: No such file"):
        read_habits(tmp_path / "absent.npz")
    with pytest.raises(InputFileError, match="lacks times"):
        read_habits(waveforms)
    with pytest.raises(InputFileError, match="must be"):
        read_habits(habits_file(tmp_path / "a.npz", np.ones((4, 1)), valid=np.ones(3, bool)))
    with pytest.raises(InputFileError, match="rise"):
        read_habits(habits_file(tmp_path / "b.npz", np.ones((4, 1)), times=[1, 3, 2, 4]))
    with pytest.raises(OptionError, match="no usable row"):
        read_habits(habits_file(tmp_path / "c.npz", np.ones((4, 1))), first_day=3)
    with pytest.raises(OptionError, match="wobble must be at least 0"):
        observe_habits(a_house(("tv",)), waveforms, seed=0, wobble=-0.1)


def test_a_real_week_closes(real_data: Path) -> None:
    habits = read_habits(real_data / "habits" / "redd_house_2.npz")
    assert habits.power_w.shape == (4936, 8)
    seen = observe_habits(habits, real_data / "appliances" / "hfhad_cycles.npz", seed=0, noise_a=0)
    np.testing.assert_allclose(seen.current_a @ seen.voltage_v / 128, seen.truth_w.sum(axis=1), atol=1e-6)
