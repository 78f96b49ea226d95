import numpy as np

from nilm.recordings.adaptive.wander import Wander

GRID = np.arange(360) * 160_000
SOUND = np.ones(len(GRID), dtype=bool)


SMALL = np.array([1e-9])


def stands_out(wander: Wander, change: tuple[float, ...], part: float = 1.0, noise: float = 1e6) -> float:
    """How far a change in the middle of the looks stands out; along its own direction if noise is large."""
    left = GRID[180:181]
    right = left + round(part * 160_000)
    out = wander.stands_out(left, right, np.array([change]), limit=SMALL, noise=np.array([noise]))
    return float(out[0])


def usual(size: np.ndarray, direction: tuple[float, float] = (1.0, 0.0), **options: np.ndarray) -> float:
    """What is usual along this direction in the middle of a house whose first axis has these sizes."""
    states = np.column_stack([size, 1e-3 * np.random.default_rng(9).standard_normal(len(size))])
    return 1 / stands_out(Wander(GRID, states, options.get("sound", SOUND)), direction)


def test_a_random_walk_is_usual_in_its_own_direction_only() -> None:
    walk = np.cumsum(0.1 * np.random.default_rng(0).standard_normal(len(GRID)))
    assert 0.3 < usual(walk) < 0.9  # five and a half standard deviations, learnt from six minutes
    assert usual(walk, (0.0, 1.0)) < 0.02


def test_half_the_time_makes_a_random_walk_usual_only_by_the_root_of_it() -> None:
    walk = np.cumsum(0.1 * np.random.default_rng(0).standard_normal(len(GRID)))
    wander = Wander(GRID, walk[:, None], SOUND)
    assert np.isclose(stands_out(wander, (1.0,), part=0.25), 2 * stands_out(wander, (1.0,)))


def test_a_lamp_that_is_switched_beside_a_wandering_pump_stands_out_by_its_waveform() -> None:
    rng = np.random.default_rng(2)
    pump, lamp = np.array([0.6, 0.8, 0.0]), np.array([0.6, 0.75, 0.28])  # 16 degrees apart
    walk = np.cumsum(0.1 * rng.standard_normal(len(GRID)))
    states = np.outer(walk, pump) + 1e-3 * rng.standard_normal((len(GRID), 3))
    states[181:] += 0.2 * lamp
    wander = Wander(GRID, states, SOUND)
    switched, moved = states[181] - states[180], 0.2 * pump
    assert stands_out(wander, tuple(switched), noise=0.01) > 2
    assert stands_out(wander, tuple(switched)) < 0.7  # by its size alone it does not
    assert stands_out(wander, tuple(moved), noise=0.01) < 0.7


def test_a_steady_drift_is_usual() -> None:
    assert usual(0.05 * np.arange(len(GRID))) > 0.05


def test_switching_however_often_is_not_usual() -> None:
    rng = np.random.default_rng(1)
    assert usual(4.0 * (np.cumsum(rng.random(len(GRID)) < 0.45) % 2)) < 0.1
    for period in (2, 4, 6, 12):
        assert usual(4.0 * (np.arange(len(GRID)) % period < period // 2)) < 0.1, period


def test_an_outage_teaches_nothing() -> None:
    size = np.full(len(GRID), 5.0)
    size[170:190] = 0
    assert usual(size, sound=size > 0) < 0.02


def test_too_few_looks_teach_nothing() -> None:
    wander = Wander(GRID[:5], np.arange(5.0)[:, None], SOUND[:5])
    change = np.ones((1, 1))
    assert wander.stands_out(GRID[:1], GRID[1:2], change, limit=SMALL, noise=SMALL)[0] == 1 / SMALL[0]
