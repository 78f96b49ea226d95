import numpy as np

from nilm.appliances.catalogue import Catalogue, Look, Sighting, WeekRecord, identify
from nilm.appliances.catalogue.files import catalogue_json
from nilm.appliances.catalogue.records import shape_distance
from nilm.appliances.thresholds import APPLIANCES
from nilm.files import canonical_json
from nilm.recordings.ukdale import Week
from nilm.simulate.house import simulated_house

HOUSE = simulated_house(seed=1, n_appliances=8, n_points=320)


def week_of(ids: list[str], scale: float = 1.0) -> WeekRecord:
    looks = [Look(HOUSE.kinds[k], float(HOUSE.watts[k]), scale * HOUSE.W[k]) for k in range(len(ids))]
    return WeekRecord("s", tuple(Sighting(i, i, look) for i, look in zip(ids, looks, strict=True)))


def after(n_weeks: int, ids: list[str] | None = None) -> Catalogue:
    ids = ids or [f"A{k:02d}" for k in range(1, 9)]
    catalogue, week = Catalogue("house_1"), Week.parse("2015-wk01")
    for n in range(n_weeks):
        catalogue = catalogue.with_week(str(week), week_of(ids, 1 + 0.01 * (n % 2))).bounded()
        week = week.next
    return catalogue


def size(catalogue: Catalogue) -> int:
    return len(canonical_json(catalogue_json(catalogue)))


def test_a_year_of_weeks_takes_no_more_room_than_three_months() -> None:
    quarter, year = after(13), after(52)
    assert len(year.weeks) == APPLIANCES.recent_weeks
    assert set(year.summaries) == {f"A{k:02d}" for k in range(1, 9)}
    assert size(year) < 1.01 * size(quarter)


def test_the_number_of_summaries_is_bounded_and_no_id_is_given_twice() -> None:
    catalogue, week, looks = Catalogue("house_1"), Week.parse("2015-wk01"), []
    rng = np.random.default_rng(0)
    for _ in range(APPLIANCES.recent_weeks + APPLIANCES.most_appliances // 50 + 2):
        looks = [Look("mixed", 1.0, rng.standard_normal(64)) for _ in range(50)]
        found = identify(catalogue, str(week), looks, solution="s", energy_kwh=[1.0] * 50)
        sightings = tuple(Sighting(i, i, look) for i, look in zip(found.ids, looks, strict=True))
        catalogue = catalogue.with_week(str(week), WeekRecord("s", sightings)).bounded()
        week = week.next
    assert len(catalogue.summaries) == APPLIANCES.most_appliances
    given = [int(s.appliance_id[1:]) for s in catalogue.weeks[str(week.previous)].sightings]
    assert max(given) <= catalogue.last_number


def test_what_was_away_longer_than_weeks_are_kept_comes_back_under_its_id() -> None:
    ids = [f"A{k:02d}" for k in range(1, 9)]
    catalogue, week = Catalogue("house_1"), Week.parse("2015-wk01")
    for n in range(APPLIANCES.recent_weeks + 12):
        catalogue = catalogue.with_week(str(week), week_of(ids if n == 0 else ids[:7])).bounded()
        week = week.next
    assert "A08" not in {s.appliance_id for r in catalogue.weeks.values() for s in r.sightings}
    looks = [s.look for s in week_of(ids).sightings]
    assert identify(catalogue, str(week), looks, solution="s", energy_kwh=[1.0] * 8).ids == tuple(ids)
    assert "A08" in catalogue.seen_before(str(week))


def test_a_week_made_again_after_it_was_summarised_counts_once() -> None:
    catalogue = after(20)
    again = catalogue.with_week("2015-wk02", catalogue.weeks["2015-wk20"]).bounded()
    assert canonical_json(catalogue_json(again)) == canonical_json(catalogue_json(catalogue))


def test_shape_distance_knows_no_size_and_no_sampling() -> None:
    a, b = HOUSE.W[1], HOUSE.W[5]
    assert shape_distance(a, 3 * a) < 1e-9
    assert abs(shape_distance(a, b) - shape_distance(2 * a[::2], b)) < 0.02
    assert abs(shape_distance(a, -a) - 2) < 1e-9
