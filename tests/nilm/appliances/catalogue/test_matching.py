from dataclasses import replace

import numpy as np

from nilm.appliances.catalogue import (
    Catalogue,
    Doubt,
    Habits,
    Look,
    Sighting,
    WeekRecord,
    changes,
    identify,
)
from nilm.appliances.catalogue.habits import N_BINS
from nilm.appliances.measures import resample_cycle
from nilm.simulate.house import simulated_house

HOUSE = simulated_house(seed=1, n_appliances=8, n_points=64)
WAVES = HOUSE.W


def looks_of(waves: np.ndarray, order: list[int]) -> list[Look]:
    return [Look(HOUSE.kinds[k], float(HOUSE.watts[k]), waves[k]) for k in order]


def ids_of(catalogue: Catalogue, week: str, waves: np.ndarray, *, solution: str = "s", order=None):
    order = list(range(len(waves))) if order is None else order
    energy = [float(len(waves) - k) for k in order]
    return identify(catalogue, week, looks_of(waves, order), solution=solution, energy_kwh=energy).ids


def one_id(known: Catalogue, look: Look) -> str:
    (found,) = identify(known, "2015-wk02", [look], solution="t", energy_kwh=[1.0]).ids
    return found


def record(ids: tuple[str, ...], looks: list[Look], *, solution: str = "s") -> WeekRecord:
    return WeekRecord(
        solution, tuple(Sighting(i, f"name of {i}", look) for i, look in zip(ids, looks, strict=True))
    )


def catalogue_of(week: str, found: WeekRecord) -> Catalogue:
    return Catalogue("house_1").with_week(week, found)


FIRST = ids_of(Catalogue("house_1"), "2015-wk01", WAVES)
KNOWN = catalogue_of("2015-wk01", record(FIRST, looks_of(WAVES, list(range(8)))))


def test_the_first_week_numbers_its_appliances_by_energy() -> None:
    assert tuple(f"A{k:02d}" for k in range(1, 9)) == FIRST


def test_the_same_appliances_keep_their_ids_in_any_order_and_with_drift() -> None:
    rng = np.random.default_rng(0)
    order = rng.permutation(8).tolist()
    drifted = WAVES * rng.normal(1, 0.02, size=(8, 1)) + rng.normal(0, 0.01, size=WAVES.shape)
    assert ids_of(KNOWN, "2015-wk02", drifted, order=order) == tuple(FIRST[k] for k in order)


def test_waveforms_of_another_length_are_compared_all_the_same() -> None:
    finer = np.stack([resample_cycle(wave, 128) for wave in WAVES])
    assert ids_of(KNOWN, "2015-wk02", finer) == FIRST


def test_a_generator_is_known_by_its_shape_however_much_sun_a_week_had() -> None:
    panels = -2 * WAVES[2]
    known = catalogue_of("2015-wk01", record(("A01",), [Look("generator", -1200.0, panels)]))
    for wave, kind, expected in (
        (0.4 * panels, "generator", "A01"),
        (-WAVES[1], "generator", "A02"),
        (0.4 * panels, "motor", "A02"),
    ):
        assert one_id(known, Look(kind, -500.0, wave)) == expected


def test_a_stranger_gets_a_new_id_and_takes_nobody_elses() -> None:
    changed = WAVES.copy()
    changed[3] = 5 * WAVES[3][::-1]
    ids = ids_of(KNOWN, "2015-wk02", changed)
    assert ids == (*FIRST[:3], "A09", *FIRST[4:])


HEATERS = [k for k, kind in enumerate(HOUSE.kinds) if kind == "resistive heater"]


def test_what_is_away_for_two_weeks_comes_back_under_its_id() -> None:
    kettle = HEATERS[0]
    others = [k for k in range(8) if k != kettle]
    catalogue = KNOWN
    for week in ("2015-wk02", "2015-wk03"):
        ids = ids_of(catalogue, week, WAVES, order=others)
        assert ids == tuple(FIRST[k] for k in others)
        sightings = tuple(KNOWN.weeks["2015-wk01"].sightings[k] for k in others)
        catalogue = catalogue.with_week(week, WeekRecord("s", sightings))
    assert ids_of(catalogue, "2015-wk04", WAVES) == FIRST
    back = changes(catalogue, "2015-wk04", KNOWN.weeks["2015-wk01"].sightings)
    assert back.new == back.gone == ()


def test_a_heater_of_another_size_is_another_heater_even_alone() -> None:
    k = HEATERS[0]
    known = catalogue_of("2015-wk01", WeekRecord("s", (KNOWN.weeks["2015-wk01"].sightings[k],)))

    def id_at(scale: float) -> str:
        return one_id(known, Look("resistive heater", scale * float(HOUSE.watts[k]), scale * WAVES[k]))

    taken = FIRST[k]
    assert id_at(1.03) == id_at(0.97) == taken
    assert id_at(1.1) == id_at(0.9) == f"A{int(taken[1:]) + 1:02d}"


def test_two_heaters_of_nearly_one_size_keep_their_own_ids() -> None:
    def twins(factor: float) -> list[Look]:
        sizes = (factor, 1.04 * factor)
        return [Look("resistive heater", 2000 * size, size * WAVES[HEATERS[0]]) for size in sizes]

    def ids(catalogue: Catalogue, week: str, looks: list[Look]) -> tuple[str, ...]:
        return identify(catalogue, week, looks, solution=week, energy_kwh=[2.0, 1.0]).ids

    first = ids(Catalogue("house_1"), "2015-wk01", twins(1.0))
    known = catalogue_of("2015-wk01", record(first, twins(1.0)))
    assert ids(known, "2015-wk02", twins(1.01)[::-1]) == first[::-1]


def test_a_week_made_again_gets_the_ids_it_had_and_a_new_solution_is_matched_to_them() -> None:
    odd = tuple(f"A{k:02d}" for k in range(11, 19))
    catalogue = KNOWN.with_week("2015-wk02", record(odd, looks_of(WAVES, list(range(8))), solution="mine"))
    assert ids_of(catalogue, "2015-wk02", WAVES, solution="mine") == odd
    assert ids_of(catalogue, "2015-wk02", WAVES, solution="another", order=[2, 0, 1]) == (
        odd[2],
        odd[0],
        odd[1],
    )


def kettle_or_oven(size: float, *, runs: int, minutes: float, hour: int) -> Look:
    hours = tuple(runs if n == hour // 2 else 0 for n in range(N_BINS))
    habits = Habits(7.0, runs, float(np.log(60 * minutes)), 0.2, hours)
    return Look("resistive heater", 2400 * size, size * WAVES[HEATERS[0]], habits=habits)


def two_heaters(kettle_size: float, oven_size: float) -> list[Look]:
    return [
        kettle_or_oven(kettle_size, runs=25, minutes=3, hour=8),
        kettle_or_oven(oven_size, runs=9, minutes=25, hour=18),
    ]


def test_habits_tell_heaters_apart_whose_sizes_have_crossed() -> None:
    known = catalogue_of("2015-wk01", record(("A01", "A02"), two_heaters(1.0, 1.05)))
    found = identify(known, "2015-wk02", two_heaters(1.05, 1.0), solution="t", energy_kwh=[1.0, 2.0])
    assert found.ids == ("A01", "A02")
    assert found.doubts == ()


def test_a_submeters_name_tells_heaters_apart_whose_sizes_have_crossed() -> None:
    def named(sizes: tuple[float, float]) -> list[Look]:
        pairs = zip(sizes, ("kettle", "oven"), strict=True)
        return [Look("resistive heater", 2400 * x, x * WAVES[HEATERS[0]], submeter=name) for x, name in pairs]

    known = catalogue_of("2015-wk01", record(("A01", "A02"), named((1.0, 1.04))))
    crossed = named((1.04, 1.0))
    assert identify(known, "2015-wk02", crossed, solution="t", energy_kwh=[1, 2]).ids == ("A01", "A02")
    unnamed = [replace(look, submeter=None) for look in crossed]
    assert identify(known, "2015-wk02", unnamed, solution="t", energy_kwh=[1, 2]).ids == ("A02", "A01")


def test_the_analysts_words_count_where_a_submeter_speaks_for_the_first_time() -> None:
    looks = [Look("resistive heater", 2400 * x, x * WAVES[HEATERS[0]]) for x in (1.0, 1.03)]
    known = catalogue_of("2015-wk01", record(("A01", "A02"), looks))
    now = [replace(looks[1], submeter="kettle"), looks[0]]
    given = {"solution": "t", "energy_kwh": [1.0, 2.0]}
    assert identify(known, "2015-wk02", now, **given).ids == ("A02", "A01")
    assert identify(known, "2015-wk02", now, called={"A01": "Our kettle"}, **given).ids == ("A01", "A02")


def test_two_ids_that_fit_equally_well_are_a_doubt() -> None:
    looks = [Look("resistive heater", 2400 * x, x * WAVES[HEATERS[0]]) for x in (1.0, 1.04)]
    known = catalogue_of("2015-wk01", record(("A01", "A02"), looks))
    between = Look("resistive heater", 2448.0, 1.021 * WAVES[HEATERS[0]])
    (doubt,) = identify(known, "2015-wk02", [between], solution="t", energy_kwh=[1.0]).doubts
    assert {doubt.appliance_id, doubt.other} == {"A01", "A02"}


def test_a_new_appliance_that_is_nearly_a_known_one_is_a_doubt() -> None:
    known = catalogue_of("2015-wk01", record(("A01",), looks_of(WAVES, [HEATERS[0]])))
    near = Look("resistive heater", 1.0, 1.1 * WAVES[HEATERS[0]])
    found = identify(known, "2015-wk02", [near], solution="t", energy_kwh=[1.0])
    assert found.ids == ("A02",)
    assert found.doubts == (Doubt("A02", "A01"),)


def test_an_appliance_that_varies_is_known_by_its_shape_at_any_size() -> None:
    motor = HOUSE.kinds.index("motor")
    known = catalogue_of("2015-wk01", record(("A01",), [Look("motor", 400.0, WAVES[motor], spread=0.5)]))
    assert one_id(known, Look("motor", 700.0, 1.8 * WAVES[motor], spread=0.5)) == "A01"
    other = HOUSE.kinds.index("electronics")
    assert one_id(known, Look("motor", 400.0, WAVES[other], spread=0.5)) == "A02"


def test_the_tolerance_is_learnt_from_how_an_appliance_varied() -> None:
    def catalogue(*sizes: float) -> Catalogue:
        found = Catalogue("house_1")
        for n, size in enumerate(sizes, start=1):
            look = Look("resistive heater", size, size * WAVES[HEATERS[0]])
            found = found.with_week(f"2015-wk{n:02d}", record(("A01",), [look]))
        return found

    def id_in_week_6(known: Catalogue) -> str:
        look = Look("resistive heater", 1.12, 1.12 * WAVES[HEATERS[0]])
        (found,) = identify(known, "2015-wk06", [look], solution="t", energy_kwh=[1.0]).ids
        return found

    assert id_in_week_6(catalogue(1.0, 1.0, 1.0, 1.0, 1.0)) == "A02"
    assert id_in_week_6(catalogue(1.0, 1.1, 0.98, 1.08, 1.0)) == "A01"


def test_an_appliance_that_runs_unlike_itself_keeps_its_id_and_is_a_doubt() -> None:
    kettle, oven = two_heaters(1.0, 1.0)
    known = catalogue_of("2015-wk01", record(("A01",), [replace(kettle, submeter="kettle")]))
    now = [replace(oven, submeter="kettle")]
    found = identify(known, "2015-wk02", now, solution="t", energy_kwh=[1.0])
    assert found.ids == ("A01",)
    assert Doubt("A01", "other habits") in found.doubts


def test_two_appliances_alike_are_told_apart_by_how_they_start() -> None:
    motor = HOUSE.kinds.index("motor")
    fridge, fan = (Look("motor", 90.0, WAVES[motor], inrush=inrush) for inrush in (9.0, 3.0))
    known = catalogue_of("2015-wk01", record(("A01", "A02"), [fridge, fan]))
    now = [replace(fan, inrush=3.2), replace(fridge, inrush=8.5)]
    assert identify(known, "2015-wk02", now, solution="t", energy_kwh=[1.0, 1.0]).ids == ("A02", "A01")


def heater(watts: float) -> Look:
    return Look("resistive heater", watts, watts / 240 * np.sin(2 * np.pi * np.arange(64) / 64))


def doubts_between(before: dict[str, Look], now: list[Look]) -> set[frozenset[str]]:
    known = catalogue_of("2015-wk01", record(tuple(before), list(before.values())))
    found = identify(known, "2015-wk02", now, solution="t", energy_kwh=[1.0] * len(now))
    return {frozenset((doubt.appliance_id, doubt.other)) for doubt in found.doubts}


def test_a_heater_that_goes_or_comes_beside_one_like_it_is_said() -> None:
    both = {"A01": heater(2800.0), "A02": heater(2950.0)}
    assert frozenset(("A01", "A02")) in doubts_between(both, [heater(2870.0)])
    came = doubts_between({"A01": heater(2400.0)}, [heater(2400.0), heater(2600.0)])
    assert frozenset(("A01", "A02")) in came


def test_one_that_comes_as_another_of_its_kind_goes_is_said_and_a_stranger_is_not() -> None:
    assert doubts_between({"A01": heater(2400.0)}, [heater(1500.0)]) == {frozenset(("A01", "A02"))}
    stranger = Look("electronics", 60.0, np.cos(6 * np.pi * np.arange(64) / 64))
    assert doubts_between({"A01": heater(2400.0)}, [stranger]) == set()


def test_a_base_load_that_was_read_as_a_generator_is_said() -> None:
    wave = np.cos(6 * np.pi * np.arange(64) / 64)
    before, now = Look("generator", -900.0, -4 * wave), Look("always on", 98.0, 0.5 * wave)
    assert doubts_between({"A01": before}, [now]) == {frozenset(("A01", "A02"))}
