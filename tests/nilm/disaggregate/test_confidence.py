import json
from importlib.resources import files

import numpy as np
import pytest

from nilm.disaggregate.confidence import (
    LEAST_SURE,
    ON_OFF,
    SHAPES,
    WAYS,
    Map,
    RangeMap,
    judge_features,
    log_odds,
    package_maps,
    range_factors,
    scaled_log,
    strongest_doubt,
)
from nilm.disaggregate.evidence import AS_SHAPES, EVIDENCE, OF_THE_FEATURE, OF_THE_WEEK, SPEAKS, Fit
from nilm.disaggregate.run_evidence import RUN_EVIDENCE, RUN_SPEAKS


def test_a_map_is_a_logistic_sum_and_nobody_is_certain() -> None:
    table = Map(("b",), (1.0,), (2.0,), 0.5)
    seen = np.array([[9.0, 1.0], [9.0, 3.0], [9.0, -3.0]])
    said = [1 / (1 + np.exp(-0.5)), 1 / (1 + np.exp(-4.5)), LEAST_SURE]
    np.testing.assert_allclose(table.probability(seen, ("a", "b")), np.minimum(said, 1 - LEAST_SURE))


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("name", "speaks"), [("appliance", SPEAKS), ("run", RUN_SPEAKS)])
def test_evidence_counts_in_the_direction_in_which_it_speaks(
    way: str, name: str, speaks: dict[str, int]
) -> None:
    table: Map = getattr(package_maps()[way], name)
    assert len(table.evidence) == len(table.centre) == len(table.weight) > 1
    for piece, weight in zip(table.evidence, table.weight, strict=True):
        assert weight * speaks[piece] > 0 or speaks[piece] == 0


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("name", "speaks"), [("appliance", SPEAKS), ("run", RUN_SPEAKS)])
def test_the_tables_reach_from_wrong_to_nearly_sure(way: str, name: str, speaks: dict[str, int]) -> None:
    table: Map = getattr(package_maps()[way], name)
    best = np.array([2.0 * direction for direction in speaks.values()])
    low, high = table.probability(np.array([-2 * best, best]), tuple(speaks))
    assert low < 0.2
    assert 0.9 < high < 1


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
        feeds_in=False,
        as_shapes=as_shapes,
    )


@pytest.mark.parametrize(("as_shapes", "way"), [(False, ON_OFF), (True, SHAPES)])
def test_a_week_is_judged_by_the_maps_of_the_way_it_is_explained(as_shapes: bool, way: str) -> None:
    maps, judged = package_maps()[way], judge_features(week_of_one(as_shapes=as_shapes))
    seen = judged.evidence
    np.testing.assert_allclose(judged.sure, maps.appliance.probability(seen, EVIDENCE))
    known = np.column_stack([judged.runs.evidence, seen[judged.runs.feature]])
    np.testing.assert_allclose(judged.runs.sure, maps.run.probability(known, RUN_EVIDENCE))
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
    # What holds for the whole week is no doubt about one feature, however it speaks.
    for n, name in enumerate(table.evidence):
        seen[EVIDENCE.index(name)] -= np.sign(table.weight[n]) * (100 if name in OF_THE_WEEK else 0)
    own = next(n for n, name in enumerate(table.evidence) if name in OF_THE_FEATURE)
    seen[EVIDENCE.index(table.evidence[own])] -= np.sign(table.weight[own])
    assert strongest_doubt(seen) == table.evidence[own]


def test_odds_are_bounded() -> None:
    np.testing.assert_array_equal(log_odds(np.array([0.0, 0.5, 1.0])), [-5, 0, 5])


def test_the_table_says_how_it_was_made() -> None:
    table = json.loads((files("nilm.disaggregate") / "confidence.json").read_text(encoding="utf-8"))
    assert table["made_by"].startswith("python benchmarks/calibration.py --fit")
    assert all(table[way]["appliances"] > 100 for way in WAYS)
