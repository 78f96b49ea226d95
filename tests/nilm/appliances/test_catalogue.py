from pathlib import Path

import numpy as np
import pytest

from nilm.appliances.catalogue import (
    Catalogue,
    Sighting,
    WeekRecord,
    changes,
    identify,
    read_catalogue,
    write_catalogue,
)
from nilm.appliances.measures import resample_cycle
from nilm.errors import InputFileError
from nilm.simulate.house import simulated_house

HOUSE = simulated_house(seed=1, n_appliances=8, n_points=64)
WAVES = HOUSE.W


def ids_of(catalogue: Catalogue, week: str, waves: np.ndarray, *, solution: str = "s", order=None):
    order = list(range(len(waves))) if order is None else order
    return identify(
        catalogue,
        week,
        solution=solution,
        current_a=waves[order],
        kinds=[HOUSE.kinds[k] for k in order],
        energy_kwh=[float(len(waves) - k) for k in order],
    )


def record(ids: tuple[str, ...], waves: np.ndarray, *, solution: str = "s", watts=None) -> WeekRecord:
    watts = HOUSE.watts if watts is None else watts
    return WeekRecord(
        solution,
        tuple(
            Sighting(i, f"name of {i}", kind, float(w), wave)
            for i, kind, w, wave in zip(ids, HOUSE.kinds, watts, waves, strict=True)
        ),
    )


FIRST = ids_of(Catalogue("house_1"), "2015-wk01", WAVES)
KNOWN = Catalogue("house_1", {"2015-wk01": record(FIRST, WAVES)})


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
    sunny = WeekRecord("s", (Sighting("A01", "panels", "generator", -1200.0, panels),))
    known = Catalogue("house_1", {"2015-wk01": sunny})
    for wave, kind, expected in (
        (0.4 * panels, "generator", "A01"),
        (-WAVES[1], "generator", "A02"),
        (0.4 * panels, "motor", "A02"),
    ):
        found = identify(
            known, "2015-wk02", solution="t", current_a=wave[None], kinds=[kind], energy_kwh=[-9.0]
        )
        assert found == (expected,)


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
    known = Catalogue("house_1", {"2015-wk01": WeekRecord("s", (KNOWN.weeks["2015-wk01"].sightings[k],))})

    def id_at(scale: float) -> str:
        (found,) = identify(
            known,
            "2015-wk02",
            solution="t",
            current_a=scale * WAVES[[k]],
            kinds=["resistive heater"],
            energy_kwh=[1.0],
        )
        return found

    taken = FIRST[k]
    assert id_at(1.03) == id_at(0.97) == taken
    assert id_at(1.1) == id_at(0.9) == f"A{int(taken[1:]) + 1:02d}"


def test_two_heaters_of_nearly_one_size_keep_their_own_ids() -> None:
    k = HEATERS[0]
    twins = WAVES[k] * np.array([[1.0], [1.04]])
    pair = {"kinds": ["resistive heater"] * 2, "energy_kwh": [2.0, 1.0]}
    first = identify(Catalogue("house_1"), "2015-wk01", solution="s", current_a=twins, **pair)
    known = Catalogue(
        "house_1",
        {
            "2015-wk01": WeekRecord(
                "s",
                tuple(Sighting(i, i, "resistive heater", 1.0, w) for i, w in zip(first, twins, strict=True)),
            )
        },
    )
    drifted = twins[::-1] * np.array([[1.01], [1.01]])
    assert identify(known, "2015-wk02", solution="t", current_a=drifted, **pair) == first[::-1]


def test_a_week_made_again_gets_the_ids_it_had_and_a_new_solution_is_matched_to_them() -> None:
    odd = tuple(f"A{k:02d}" for k in range(11, 19))
    catalogue = KNOWN.with_week("2015-wk02", record(odd, WAVES, solution="mine"))
    assert ids_of(catalogue, "2015-wk02", WAVES, solution="mine") == odd
    assert ids_of(catalogue, "2015-wk02", WAVES, solution="another", order=[2, 0, 1]) == (
        odd[2],
        odd[0],
        odd[1],
    )


def test_new_gone_and_changed_are_told_against_the_weeks_before() -> None:
    assert changes(Catalogue("house_1"), "2015-wk01", KNOWN.weeks["2015-wk01"].sightings).new == ()
    watts = HOUSE.watts.copy()
    watts[2] *= 0.8
    now = record((*FIRST[:7], "A09"), WAVES, watts=watts).sightings
    found = changes(KNOWN, "2015-wk02", now)
    assert found.new == ("A09",)
    assert found.gone == ("name of A08",)
    assert len(found.changed) == 1
    assert found.changed[0].startswith("A03 name of A03: 2.")
    # A week before the first known one is compared with nothing, whatever came later.
    assert changes(KNOWN, "2014-wk50", now) == changes(Catalogue("house_1"), "2015-wk01", now)


def test_the_file_round_trips_and_equal_catalogues_give_equal_bytes(tmp_path: Path) -> None:
    a, b = tmp_path / "a.json", tmp_path / "b.json"
    write_catalogue(a, KNOWN)
    read = read_catalogue(a, "house_1")
    write_catalogue(b, read)
    assert a.read_bytes() == b.read_bytes()
    assert ids_of(read, "2015-wk02", WAVES) == FIRST


def test_a_lost_catalogue_is_gathered_from_the_weeks(tmp_path: Path) -> None:
    for week in ("2015-wk01", "2015-wk02"):
        write_catalogue(
            tmp_path / "solutions" / week / "identity.json",
            Catalogue("house_1", {week: KNOWN.weeks["2015-wk01"]}),
        )
    gathered = read_catalogue(tmp_path / "none.json", "house_1", solutions_folder=tmp_path / "solutions")
    assert set(gathered.weeks) == {"2015-wk01", "2015-wk02"}


def test_another_houses_catalogue_is_refused(tmp_path: Path) -> None:
    write_catalogue(tmp_path / "c.json", KNOWN)
    with pytest.raises(InputFileError, match="house 'house_1', not of 'house_2'"):
        read_catalogue(tmp_path / "c.json", "house_2")


@pytest.mark.parametrize("content", ["{", '{"house": "house_1"}', '{"house": "house_1", "weeks": {"x": 1}}'])
def test_a_spoilt_catalogue_is_an_error_that_names_it(tmp_path: Path, content: str) -> None:
    (tmp_path / "c.json").write_text(content)
    with pytest.raises(InputFileError, match=r"c\.json"):
        read_catalogue(tmp_path / "c.json", "house_1")
