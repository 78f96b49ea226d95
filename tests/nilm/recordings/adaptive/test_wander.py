import numpy as np

from nilm.recordings.adaptive.wander import Wander

GRID = np.arange(360) * 160_000
SOUND = np.ones(len(GRID), dtype=bool)


def usual(size: np.ndarray, direction: tuple[float, float] = (1.0, 0.0), **options: np.ndarray) -> float:
    """What is usual along this direction in the middle of a house whose first axis has these sizes."""
    states = np.column_stack([size, 1e-3 * np.random.default_rng(9).standard_normal(len(size))])
    wander = Wander(GRID, states, options.get("sound", SOUND))
    return float(wander.usual(GRID[180:181], np.array([direction]))[0])


def test_a_random_walk_is_usual_in_its_own_direction_only() -> None:
    walk = np.cumsum(0.1 * np.random.default_rng(0).standard_normal(len(GRID)))
    assert 0.25 < usual(walk) < 0.65  # four standard deviations, learnt from six minutes
    assert usual(walk, (0.0, 1.0)) < 0.02


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
    assert wander.usual(GRID[:1], np.ones((1, 1)))[0] == 0
