import json
from importlib.resources import files

import numpy as np
import pytest

from nilm.disaggregate.confidence import (
    ON_OFF,
    SHAPES,
    WAYS,
    Map,
    RangeMap,
    judge_features,
    package_maps,
    range_factors,
    scaled_log,
    strongest_doubt,
)
from nilm.disaggregate.evidence import AS_SHAPES, EVIDENCE, Fit
from nilm.disaggregate.run_evidence import RUN_EVIDENCE


def test_a_map_is_a_logistic_sum_and_then_a_curve() -> None:
    table = Map(("b",), (1.0,), (2.0,), 0.5, (0.0, 0.5, 1.0), (0.1, 0.2, 0.9))
    seen = np.array([[9.0, 1.0], [9.0, 3.0], [9.0, -3.0]])
    said = 1 / (1 + np.exp(-(0.5 + 2 * (seen[:, 1] - 1))))
    np.testing.assert_allclose(
        table.probability(seen, ("a", "b")),
        np.interp(said, *zip((0, 0.1), (0.5, 0.2), (1, 0.9), strict=True)),
    )


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("name", "names"), [("appliance", EVIDENCE), ("run", RUN_EVIDENCE)])
def test_the_tables_know_only_evidence_that_is_read_and_rise(
    way: str, name: str, names: tuple[str, ...]
) -> None:
    table: Map = getattr(package_maps()[way], name)
    assert set(table.evidence) <= set(names)
    assert len(table.evidence) == len(table.centre) == len(table.weight)
    assert (np.diff(table.said) > 0).all()
    assert (np.diff(table.true) >= 0).all()


@pytest.mark.parametrize("name", ["appliance", "run"])
def test_the_tables_of_both_ways_reach_from_wrong_to_nearly_sure(name: str) -> None:
    tables: list[Map] = [getattr(package_maps()[way], name) for way in WAYS]
    assert min(table.true[0] for table in tables) < 0.2
    assert 0.9 < max(table.true[-1] for table in tables) < 1  # nothing is certain


def week_of_one(*, as_shapes: bool) -> Fit:
    """A load of 10 A that runs in every other ten minutes of a day."""
    cycle = np.sin(2 * np.pi * np.arange(32) / 32)
    on = (np.arange(720) // 5 % 2).astype(float)[:, None]
    return Fit(
        residual_a=0.01 * np.random.default_rng(0).standard_normal((720, 32)),
        sizes=on,
        W=10 * cycle[None],
        watts=np.array([1625.0]),
        support=np.ones(1),
        voltage_v=325 * cycle,
        gap_before=np.zeros(720, dtype=np.bool_),
        duration_s=np.full(720, 120.0),
        n_varying=0,
        left_over=0.001,
        feeds_in=False,
        as_shapes=as_shapes,
    )


@pytest.mark.parametrize(("as_shapes", "way"), [(False, ON_OFF), (True, SHAPES)])
def test_a_week_is_judged_by_the_maps_of_the_way_it_is_explained(as_shapes: bool, way: str) -> None:
    maps, judged = package_maps()[way], judge_features(week_of_one(as_shapes=as_shapes))
    seen = judged.evidence
    np.testing.assert_allclose(judged.sure, maps.appliance.probability(seen, EVIDENCE))
    np.testing.assert_allclose(judged.runs.sure, maps.run.probability(judged.runs.evidence, RUN_EVIDENCE))
    np.testing.assert_array_equal(range_factors(seen, judged.sure), maps.range.factors(seen, judged.sure))
    assert strongest_doubt(seen[0]) in maps.appliance.evidence


@pytest.mark.parametrize("way", WAYS)
def test_the_range_of_what_is_surer_is_never_wider(way: str) -> None:
    rng = np.random.default_rng(0)
    for seen in rng.normal(-1, 2, (20, len(EVIDENCE))):
        low, high = package_maps()[way].range.factors(np.tile(seen, (50, 1)), np.linspace(0, 1, 50))
        assert (np.diff(low) >= 0).all()
        assert (np.diff(high) <= 0).all()
        assert (low > 0).all()
        assert (low <= 1).all()
        assert (high >= 1).all()
        assert np.isfinite(high).all()


def test_a_range_is_a_sum_over_odds_and_evidence() -> None:
    table = RangeMap(EVIDENCE[:1], (2.0,), (0.0, -9.0, 0, -1.0, -0.5, 0.0), (0.5, 0, 0, 0, 0, 1.0))
    seen = np.full((1, len(EVIDENCE)), 3.0)
    low, high = table.factors(seen, np.array([0.5]))  # two nats from each knot to the next
    assert -scaled_log(np.log(low)) == pytest.approx(2 * 0.5 + 2 * 1.0)
    assert scaled_log(np.log(high)) == pytest.approx(1.5)


@pytest.mark.parametrize("way", WAYS)
def test_the_strongest_doubt_is_the_most_negative_part(way: str) -> None:
    table = package_maps()[way].appliance
    seen = np.zeros(len(EVIDENCE))
    seen[AS_SHAPES] = way == SHAPES
    for name, centre in zip(table.evidence, table.centre, strict=True):
        seen[EVIDENCE.index(name)] = centre
    seen[EVIDENCE.index(table.evidence[1])] -= np.sign(table.weight[1])
    assert strongest_doubt(seen) == table.evidence[1]


def test_the_table_says_how_it_was_made() -> None:
    table = json.loads((files("nilm.disaggregate") / "confidence.json").read_text(encoding="utf-8"))
    assert table["made_by"].startswith("python benchmarks/calibration.py --fit")
    assert all(table[way]["appliances"] > 100 for way in WAYS)
