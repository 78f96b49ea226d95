"""A week's result beside what it was made from."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from lfm import Solution
from nilm.appliances.activations import ActivationOptions
from nilm.appliances.analyst import AnalystNotes
from nilm.appliances.catalogue import Catalogue, WeekRecord
from nilm.appliances.scores import Truth
from nilm.disaggregate import Disaggregation
from nilm.recordings.submeters import Submeter
from nilm.results import Quality, WeekResult
from nilm.simulate.house import simulated_house
from nilm.week.build import MeteredRows, Surroundings, build_week

HOUSE = simulated_house(seed=1, days=3, n_appliances=6, n_points=64)
N, K = HOUSE.Z.shape
KETTLE = HOUSE.names.index("kettle")
POWER = HOUSE.Z * HOUSE.watts
QUALITY = Quality(
    rows_expected=N, rows_used=N, rows_flagged=0, coverage=1.0, hours_missing=(), files_left_out=(),
    clipped_rows=0, notes=("from the ingest",),
)  # fmt: skip
ROWS = MeteredRows(
    start_utc=HOUSE.start_utc,
    duration_s=np.full(N, HOUSE.interval_s),
    measured_utc=HOUSE.start_utc,
    metered_w=POWER.sum(axis=1) + 7.0,
    voltage_v=HOUSE.voltage_v,
    mains_hz=np.full(N, 50.0),
    rms_v=np.full(N, 240.0),
    inrush=np.full(N, np.nan),
    inrush_s=np.full(N, np.nan),
)


@pytest.fixture(scope="module")
def found(hopped_week: Callable[..., Disaggregation]) -> Disaggregation:
    return hopped_week(Solution(HOUSE.Z, HOUSE.W))


def build(
    found: Disaggregation, *, week: str = "2015-wk01", digest: str = "s", rows: MeteredRows = ROWS, **around
) -> tuple[WeekResult, WeekRecord]:
    known = {"quality": QUALITY, "catalogue": Catalogue("house_1")} | around
    return build_week(
        replace(found, week=week),
        rows,
        Surroundings(**known),
        solution_digest=digest,
        tariff_per_kwh=0.3,
        currency="GBP",
        timezone="UTC",
        activation_options=ActivationOptions(),
    )


def test_energy_closes_and_what_no_appliance_draws_is_unexplained(found: Disaggregation) -> None:
    result, record = build(found)
    assert result.metered_kwh == pytest.approx(ROWS.metered_w.sum() * HOUSE.interval_s / 3.6e6)
    assert result.unexplained_kwh == pytest.approx(7.0 * 24 * 3 / 1000, abs=2e-4)
    assert (
        round(sum(a.energy_kwh for a in result.appliances) + result.unexplained_kwh, 6) == result.metered_kwh
    )
    np.testing.assert_allclose(result.explained_w, POWER.sum(axis=1), rtol=1e-6, atol=1e-3)
    assert record.solution == "s"
    assert {s.appliance_id for s in record.sightings} == {a.appliance_id for a in result.appliances}
    assert result.scores is None


def test_rows_count_by_the_time_that_they_stand_for(found: Disaggregation) -> None:
    half, _ = build(found, rows=replace(ROWS, duration_s=ROWS.duration_s / 2))
    whole, _ = build(found)
    assert half.metered_kwh == pytest.approx(whole.metered_kwh / 2)
    assert half.unexplained_kwh == pytest.approx(whole.unexplained_kwh / 2, abs=1e-4)


def test_a_submeter_gives_its_name_and_one_without_readings_a_note(found: Disaggregation) -> None:
    meters = [Submeter(4, "our_kettle", POWER[:, KETTLE]), Submeter(9, "freezer", np.full(N, np.nan))]
    result, record = build(found, submeters=meters, notes=("from around",))
    assert [a.name for a in result.appliances].count("our_kettle") == 1
    assert [s.name for s in record.sightings].index("our_kettle") == KETTLE
    first, second, third = result.quality.notes[:3]
    assert (first, second) == ("from the ingest", "from around")
    assert "channel 9 (freezer)" in third
    assert result.scores is not None
    assert result.scores.appliances[0].truth_name == "our_kettle"


def test_the_truth_is_scored_before_submeters_and_baseline_before_solution(
    hopped_week: Callable[..., Disaggregation],
) -> None:
    Z, W = HOUSE.Z.copy(), HOUSE.W.copy()
    Z[:, KETTLE], W[0], W[KETTLE] = 1 - Z[:, KETTLE], W[0] + W[KETTLE], -W[KETTLE]
    upside_down = hopped_week(Solution(HOUSE.Z, HOUSE.W), Solution(Z, W))
    truth = Truth(HOUSE.names, HOUSE.Z, POWER, np.ones(N, bool))
    meters = [Submeter(4, "our_kettle", POWER[:, KETTLE])]
    scores = build(upside_down, truth=truth, submeters=meters)[0].scores
    assert scores is not None
    assert scores.hamming_after == 0
    assert scores.hamming_before is not None
    assert scores.hamming_before > 0.1
    assert {row.truth_name for row in scores.appliances} == set(HOUSE.names)
    others = [row for row in scores.appliances_before if row.truth_name not in ("standby", "kettle")]
    assert len(others) == K - 2
    assert all(row.mae_w == pytest.approx(0, abs=0.1) for row in others)
    assert scores.energy_error == pytest.approx(0, abs=1e-4)


def test_ids_and_names_come_from_the_week_before(found: Disaggregation) -> None:
    first, record = build(found)
    catalogue = Catalogue("house_1").with_week("2015-wk01", record)
    louder = replace(ROWS, metered_w=ROWS.metered_w + 1)
    second, again = build(found, week="2015-wk02", digest="t", catalogue=catalogue, rows=louder)
    assert [s.appliance_id for s in again.sightings] == [s.appliance_id for s in record.sightings]
    assert [a.name for a in second.appliances] == [a.name for a in first.appliances]


def test_a_merge_of_the_analyst_shows_on_the_page_and_leaves_the_catalogue_as_it_was_found(
    found: Disaggregation,
) -> None:
    _, record = build(found)
    ids = [s.appliance_id for s in record.sightings]
    catalogue = Catalogue("house_1").with_week("2015-wk01", record)
    merged = AnalystNotes(merged={ids[2]: "A99"}, names={"A99": "the kitchen"})
    result, kept = build(found, week="2015-wk02", digest="t", catalogue=catalogue, analyst=merged)
    assert "the kitchen" in {a.name for a in result.appliances}
    assert "A99" in {a.appliance_id for a in result.appliances}
    assert [s.appliance_id for s in kept.sightings] == ids


def test_a_name_that_the_week_had_is_kept_as_the_former_one(found: Disaggregation) -> None:
    _, record = build(found)
    kettle = record.sightings[KETTLE].appliance_id
    catalogue = Catalogue("house_1").with_week("2015-wk01", record)
    named = AnalystNotes(names={kettle: "Our kettle"})
    _, renamed = build(found, catalogue=catalogue, analyst=named)
    assert renamed.sightings[KETTLE].name == "Our kettle"
    assert renamed.sightings[KETTLE].formerly == record.sightings[KETTLE].name
    _, again = build(found, catalogue=catalogue.with_week("2015-wk01", renamed), analyst=named)
    assert again.sightings[KETTLE].formerly == record.sightings[KETTLE].name
    assert all(s.formerly == "" for k, s in enumerate(renamed.sightings) if k != KETTLE)


def test_a_name_that_other_recordings_led_to_is_no_rename(found: Disaggregation) -> None:
    meters = [Submeter(4, "our_kettle", POWER[:, KETTLE])]
    _, before_an_hour_arrived = build(found, digest="half")
    catalogue = Catalogue("house_1").with_week("2015-wk01", before_an_hour_arrived)
    result, record = build(found, digest="whole", catalogue=catalogue, submeters=meters)
    undisturbed, _ = build(found, digest="whole", submeters=meters)
    assert record.sightings[KETTLE].name == "our_kettle"
    assert all(s.formerly == "" for s in record.sightings)
    assert result.catalogue == undisturbed.catalogue
    labelled, _ = build(found, digest="half", catalogue=catalogue, submeters=meters)
    assert len(labelled.catalogue.renamed) == 1  # the same solution: it was the labels that changed
