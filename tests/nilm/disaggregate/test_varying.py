import numpy as np
import pytest

from lfm import Solution
from nilm.disaggregate import disaggregate
from nilm.disaggregate.varying import LEVELS_WORDS, Varying, _in_units, _with_wander, vary

D = 64
V = 325 * np.sin(2 * np.pi * np.arange(D) / D)
HEATER = V / np.mean(V * V)  # amperes of one watt
LAMP = np.sign(V) * (np.abs(V) > 150)
LAMP = LAMP / np.mean(LAMP * V)
MOTOR = np.roll(V, 8)
MOTOR = MOTOR / np.mean(MOTOR * V)
N = 1500


def house(rng: np.random.Generator) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Rows of a house with two heaters, a motor that is on or off, and a lamp that is dimmed at will."""
    t = np.arange(N)
    watts = {
        "kettle": 2000.0 * (t % 173 < 4),
        "oven": 900.0 * (t % 401 < 37),
        "pump": 150.0 * (t % 59 < 23),
        "lamp": np.repeat(rng.uniform(20, 300, N // 10), 10) * (t % 300 < 150),
    }
    X = np.outer(watts["kettle"] + watts["oven"], HEATER) + np.outer(watts["pump"], MOTOR)
    X += np.outer(watts["lamp"], LAMP) + 40 * HEATER
    return X + 0.01 * rng.standard_normal(X.shape), watts


def test_heaters_come_apart_and_what_varies_keeps_its_watts_in_every_row() -> None:
    X, watts = house(np.random.default_rng(0))
    found = disaggregate(X, V, estimator="shapes")
    power = {
        name: np.abs(found.power_w - truth[found.row, None]).sum(axis=0).min() / truth.sum()
        for name, truth in watts.items()
    }
    assert max(power.values()) < 0.05, power
    assert found.power_w.shape == (len(found.row), found.solution.K)
    assert found.left_over < 0.01
    assert np.abs(found.power_w.sum(axis=1) - X[found.row] @ V / D).mean() < 5


def test_a_week_that_varies_is_explained_by_shapes_and_a_week_of_switches_is_not() -> None:
    rng = np.random.default_rng(1)
    X, _ = house(rng)
    X += np.outer(np.abs(np.cumsum(30 * rng.standard_normal(N))), LAMP)
    assert disaggregate(X, V).amplitude is not None
    t = np.arange(N)
    steady = np.outer(2000.0 * (t % 173 < 9), HEATER) + np.outer(150.0 * (t % 59 < 23), MOTOR)
    steady += 0.01 * np.random.default_rng(2).standard_normal(steady.shape)
    found = disaggregate(steady, V)
    assert found.amplitude is None
    assert found.at_noise_floor


def test_a_single_load_that_varies_all_week_is_one_appliance() -> None:
    rng = np.random.default_rng(3)
    size = np.abs(200 + np.cumsum(rng.standard_normal(N) * 8))
    X = np.outer(size, LAMP) + 0.01 * rng.standard_normal((N, D))
    found = vary(
        X, np.zeros(N, bool), V, duration_s=np.full(N, 120.0), components="auto", feeds_in=False, notes=[]
    )
    assert len(found.shapes) + found.solution.K == 2  # and the base
    power = found.amplitude[:, 0] * np.mean(found.shapes[0] * V) + np.mean(found.solution.W[0] * V)
    on = found.amplitude[:, 0] > 0
    assert np.abs(power - size)[on].max() < 10


@pytest.mark.parametrize("what", ["nothing changes", "noise alone"])
def test_a_week_in_which_nothing_happens_is_its_base(what: str) -> None:
    noise = 0.0 if what == "nothing changes" else 0.02
    X = 100 * HEATER + noise * np.random.default_rng(4).standard_normal((400, D))
    found = disaggregate(X, V, estimator="shapes")
    assert found.solution.K == 1
    assert found.watts == pytest.approx([100], abs=1)


def test_two_that_are_identical_are_said_together() -> None:
    t = np.arange(N)
    both = 500.0 * (t % 97 < 20) + 500.0 * (t % 131 < 40)
    X = np.outer(both, LAMP) + 0.01 * np.random.default_rng(5).standard_normal((N, D))
    found = disaggregate(X, V, estimator="shapes")
    assert np.abs(found.power_w.sum(axis=1) - both).mean() < 5


def test_a_capacitor_draws_no_watts_and_takes_none() -> None:
    t = np.arange(N)
    quadrature = 2.0 * np.cos(2 * np.pi * np.arange(D) / D)
    X = np.outer(t % 83 < 30, quadrature) + np.outer(300.0 * (t % 57 < 9), LAMP)
    X += 0.01 * np.random.default_rng(6).standard_normal((N, D))
    found = disaggregate(X, V, estimator="shapes")
    assert found.watts.max() == pytest.approx(300, rel=0.03)


def test_a_load_that_runs_for_an_hour_a_week_is_on_for_an_hour() -> None:
    power_w = np.full(5000, 0.5)  # what other loads leak into its track
    power_w[100:130] = 800.0 + np.arange(30)
    mean, size = _in_units(power_w, np.full(5000, 120.0))
    assert np.flatnonzero(size).tolist() == list(range(100, 130))
    assert mean == pytest.approx(814.5)


def test_a_load_whose_waveform_wanders_is_one_though_no_switch_is_seen() -> None:
    """Sessions of 150 rows with a gap before each."""
    rng = np.random.default_rng(2)
    sessions = np.array(
        [[0, 0, 0], [0, 1, 0], [1, 0, 0], [1, 1, 0], [1, 0, 1], [0, 0, 1], [0, 0, 0], [0, 1, 1]]
    )
    on = np.repeat(sessions, 150, axis=0)
    gaps = np.arange(len(on)) % 150 == 0
    cooler = 1000 * (1 + 0.04 * rng.standard_normal(len(on)))
    watts = on * np.column_stack([cooler, np.full(len(on), 300.0), np.full(len(on), 1800.0)])
    X = watts @ np.array([MOTOR, LAMP, HEATER]) + 60 * HEATER
    fifth = np.exp(2j * np.pi * 5 * np.arange(D) / D)
    wander = 0.2 * np.linalg.norm(1000 * MOTOR) / np.sqrt(D) * np.exp(2j * np.pi * rng.random(len(on)))
    X += on[:, :1] * np.real(np.outer(wander, fifth)) + 0.02 * rng.standard_normal(X.shape)
    notes: list[str] = []
    found = vary(X, gaps, V, duration_s=np.ones(len(X)), components="auto", feeds_in=False, notes=notes)
    assert LEVELS_WORDS in notes
    assert len(found.shapes) + found.solution.K == 4
    explained_w = (found.solution.product() + found.amplitude @ found.shapes) @ V / D
    assert np.abs(X @ V / D - explained_w).sum() < 0.02 * np.abs(X @ V / D).sum()
    states = np.column_stack([found.solution.Z[:, 1:], found.amplitude != 0])
    assert {column.tobytes() for column in states.T.astype(int)} == {column.tobytes() for column in on.T}


def test_what_is_left_goes_to_the_load_that_wanders_and_its_watts_stay_above_zero() -> None:
    rng = np.random.default_rng(3)
    on = (np.arange(N) % 100 < 60).astype(np.uint8)
    wander_w = 80 * on * rng.standard_normal(N)
    base = Solution(np.ones((N, 1), dtype=np.uint8), 60 * HEATER[None])
    found = Varying(base, 100 * MOTOR[None], on[:, None].astype(float))
    X = base.product() + np.outer(100 * on + wander_w, MOTOR)
    amplitude = _with_wander(found, X, V).amplitude
    assert (amplitude >= 0).all()
    assert (amplitude[on == 0] == 0).all()
    np.testing.assert_allclose(amplitude[:, 0], np.maximum(on * (1 + wander_w / 100), 0), atol=0.02)


def test_lamps_of_one_waveform_come_apart_by_the_sizes_that_recur() -> None:
    rng = np.random.default_rng(2)
    on = np.repeat(rng.random((120, 2)) < [0.4, 0.2], 25, axis=0)
    small, large = 60.0 * on[:, 0], 240.0 * np.roll(on[:, 1], 12)
    varies = np.roll(np.repeat(rng.uniform(60, 140, 100) * (np.arange(100) % 2), 30), 5)
    X = np.outer(small + large, LAMP) + np.outer(varies, MOTOR) + 30 * HEATER
    X += 0.02 * rng.standard_normal(X.shape)
    gaps = np.arange(len(X)) == 0
    found = vary(X, gaps, V, duration_s=np.ones(len(X)), components="auto", feeds_in=False, notes=[])
    watts = np.concatenate([found.solution.W, found.shapes]) @ V / len(V)
    power = np.column_stack([found.solution.Z, found.amplitude]) * watts
    for truth in (small, large):
        assert np.abs(power - truth[:, None]).mean(axis=0).min() < 0.1 * truth.mean()
