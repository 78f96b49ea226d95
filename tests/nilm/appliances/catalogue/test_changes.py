import numpy as np

from nilm.appliances.catalogue import (
    Catalogue,
    Doubt,
    Habits,
    Look,
    Sighting,
    WeekRecord,
    changes,
    in_words,
)
from nilm.appliances.catalogue.habits import N_BINS

WAVE = np.sin(np.arange(32) / 16 * np.pi)


def sighting(
    appliance_id: str,
    watts: float = 100.0,
    *,
    name: str = "",
    source: str = "description",
    submeter: str | None = None,
    formerly: str = "",
) -> Sighting:
    look = Look("motor", watts, watts * WAVE, submeter=submeter)
    return Sighting(appliance_id, name or f"name of {appliance_id}", look, source, formerly)


def known(*sightings: Sighting) -> Catalogue:
    return Catalogue("house_1").with_week("2015-wk01", WeekRecord("s", sightings))


def test_new_gone_and_changed_are_told_against_the_weeks_before() -> None:
    catalogue = known(*(sighting(f"A0{k}") for k in range(1, 9)))
    now = [sighting(f"A0{k}", 80.0 if k == 3 else 100.0) for k in (1, 2, 3, 4, 5, 6, 7, 9)]
    found = changes(catalogue, "2015-wk02", now)
    assert found.new == ("A09",)
    assert found.gone == ("name of A08",)
    assert found.changed == ("A03 name of A03: 80 W, was 100 W",)
    assert found.contradictions == found.renamed == ()
    # A week before the first known one is compared with nothing, whatever came later.
    assert changes(catalogue, "2014-wk50", now) == changes(Catalogue("house_1"), "2015-wk01", now)
    assert changes(Catalogue("house_1"), "2015-wk01", now).new == ()


def test_every_doubt_is_said_with_both_names() -> None:
    catalogue = known(sighting("A01", name="kettle"), sighting("A02", name="oven"))
    doubts = (Doubt("A01", "A02"), Doubt("A03", "new"), Doubt("A01", "other waveform"))
    now = [sighting("A01", name="kettle"), sighting("A03", name="iron")]
    found = changes(catalogue, "2015-wk02", now, doubts=doubts).contradictions
    assert len(found) == 3
    assert "A01 kettle may be A02 oven" in found[0]
    assert found[1].startswith("A03 iron may be another appliance")
    assert "waveform is not what it was" in found[2]


def test_a_submeter_that_disagrees_with_the_match_is_said() -> None:
    catalogue = known(sighting("A01", name="kettle", submeter="kettle"), sighting("A02"))
    (found,) = changes(catalogue, "2015-wk02", [sighting("A01", submeter="oven")]).contradictions
    assert "was kettle and is oven this week" in found
    called = sighting("A02", name="Tumble dryer", source="analyst", submeter="oven")
    (found,) = changes(catalogue, "2015-wk02", [called]).contradictions
    assert found == "A02: the analyst calls it Tumble dryer, but the submeter that fits it is oven."
    agreed = sighting("A02", name="Our oven", source="analyst", submeter="oven_2")
    assert changes(catalogue, "2015-wk02", [agreed]).contradictions == ()


def test_a_name_that_somebody_gave_says_what_was_shown_before() -> None:
    catalogue = known(sighting("A01", name="motor"), sighting("A02", name="2.8 kW heater"))
    now = [
        sighting("A01", name="Fridge", source="analyst", formerly="90 W motor"),
        sighting("A02", name="kettle", source="submeter"),
    ]
    assert changes(catalogue, "2015-wk02", now).renamed == (
        "A01 Fridge: formerly shown as “90 W motor”",
        "A02 kettle: formerly shown as “2.8 kW heater”",
    )
    described = [sighting("A02", name="2.9 kW heater")]
    assert changes(catalogue, "2015-wk02", described).renamed == ()


def test_an_appliance_is_said_on_one_line() -> None:
    habits = Habits(3.5, 90, 7.0, 0.1, (90, *[0] * (N_BINS - 1)))
    fridge = Sighting("A03", "fridge", Look("motor", 91.2, WAVE, habits=habits))
    assert in_words(fridge) == "A03, so far 'fridge', motor, 91 W, 180 runs a week"
    assert in_words(sighting("A04")) == "A04, so far 'name of A04', motor, 100 W"
