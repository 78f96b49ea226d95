import json
from importlib.resources import files

import numpy as np
import pytest

from nilm.disaggregate.confidence import (
    Map,
    RangeMap,
    appliance_map,
    range_map,
    run_map,
    scaled_log,
    strongest_doubt,
)
from nilm.disaggregate.evidence import EVIDENCE
from nilm.disaggregate.run_evidence import RUN_EVIDENCE


def test_a_map_is_a_logistic_sum_and_then_a_curve() -> None:
    table = Map(("b",), (1.0,), (2.0,), 0.5, (0.0, 0.5, 1.0), (0.1, 0.2, 0.9))
    seen = np.array([[9.0, 1.0], [9.0, 3.0], [9.0, -3.0]])
    said = 1 / (1 + np.exp(-(0.5 + 2 * (seen[:, 1] - 1))))
    np.testing.assert_allclose(
        table.probability(seen, ("a", "b")),
        np.interp(said, *zip((0, 0.1), (0.5, 0.2), (1, 0.9), strict=True)),
    )


@pytest.mark.parametrize(("table", "names"), [(appliance_map(), EVIDENCE), (run_map(), RUN_EVIDENCE)])
def test_the_tables_know_only_evidence_that_is_read_and_rise(table: Map, names: tuple[str, ...]) -> None:
    assert set(table.evidence) <= set(names)
    assert len(table.evidence) == len(table.centre) == len(table.weight)
    assert (np.diff(table.said) > 0).all()
    assert (np.diff(table.true) >= 0).all()
    assert table.true[0] < 0.2
    assert 0.9 < table.true[-1] < 1  # nothing is certain


def test_the_range_of_what_is_surer_is_never_wider() -> None:
    rng = np.random.default_rng(0)
    for seen in rng.normal(-1, 2, (20, len(EVIDENCE))):
        low, high = range_map().factors(np.tile(seen, (50, 1)), np.linspace(0, 1, 50))
        assert (np.diff(low) >= 0).all()
        assert (np.diff(high) <= 0).all()
        assert (low > 0).all()
        assert (low <= 1).all()
        assert (high >= 1).all()
        assert np.isfinite(high).all()


def test_a_range_is_a_sum_over_odds_and_evidence() -> None:
    table = RangeMap(EVIDENCE[:1], (2.0,), (0.0, 0, 0, 0, -1.0, 0.0), (0.5, 0, 0, 0, 0, 1.0))
    seen = np.full((1, len(EVIDENCE)), 3.0)
    low, high = table.factors(seen, np.array([0.5]))  # four nats below the last knot
    assert -scaled_log(np.log(low)) == pytest.approx(4.0)
    assert scaled_log(np.log(high)) == pytest.approx(1.5)


def test_the_strongest_doubt_is_the_most_negative_part() -> None:
    table = appliance_map()
    seen = np.zeros(len(EVIDENCE))
    for name, centre in zip(table.evidence, table.centre, strict=True):
        seen[EVIDENCE.index(name)] = centre
    seen[EVIDENCE.index(table.evidence[1])] -= np.sign(table.weight[1])
    assert strongest_doubt(seen) == table.evidence[1]


def test_the_table_says_how_it_was_made() -> None:
    table = json.loads((files("nilm.disaggregate") / "confidence.json").read_text(encoding="utf-8"))
    assert table["made_by"].startswith("python benchmarks/calibration.py --fit")
    assert table["appliances"] > 100
