from dataclasses import replace

import numpy as np
import pytest

from lfm import Solution
from nilm.appliances.activations import ActivationOptions
from nilm.appliances.analyst import AnalystNotes
from nilm.appliances.build import build_appliances, measure_loads, name_loads, suggested_parts
from nilm.appliances.catalogue import Look, Sighting
from nilm.appliances.certainty.ranges import EnergyRange
from nilm.appliances.naming import Name, SubmeterMatch
from nilm.disaggregate.disaggregation import Disaggregation
from nilm.simulate.house import simulated_house

HOUSE = simulated_house(seed=1, days=7, n_appliances=7, n_points=64)
K = 7
IDS = [f"A{k + 1:02d}" for k in range(K)]
ROW_S = np.full(len(HOUSE.Z), HOUSE.interval_s)
OBSERVED_S = float(ROW_S.sum())


@pytest.fixture(scope="module")
def week(hopped_week) -> Disaggregation:
    return hopped_week(Solution(HOUSE.Z, HOUSE.W), support=np.linspace(0.4, 1.0, K))


def loads_of(week: Disaggregation):
    return measure_loads(week, HOUSE.start_utc, ROW_S, HOUSE.voltage_v, options=ActivationOptions())


def parts_of(week: Disaggregation, ids: list[str], analyst: AnalystNotes | None = None):
    return suggested_parts(week, HOUSE.start_utc, ROW_S, ids, analyst or AnalystNotes())


def test_loads_are_measured_as_the_house_was_made(week: Disaggregation) -> None:
    for k, load in enumerate(loads_of(week)):
        assert load.active_w == pytest.approx(HOUSE.watts[k], abs=1e-3)
        assert load.kind == HOUSE.kinds[k]
        assert load.share_of_time == pytest.approx(HOUSE.Z[:, k].mean(), abs=1e-6)
        assert load.energy_kwh == pytest.approx(HOUSE.Z[:, k].sum() * HOUSE.watts[k] / 30_000, abs=1e-4)


def test_a_generator_that_varies_has_its_own_energies_and_no_parts(week: Disaggregation, hopped_week) -> None:
    sun = np.zeros(len(HOUSE.Z), np.uint8)
    for k in (3, 4, 5, 6):  # washing machine, its heater, television and amplifier run in the sun alone
        sun |= HOUSE.Z[:, k]
    amplitude = sun * (1 + np.sin(np.arange(len(sun)) / 50) / 2)
    amplitude /= amplitude[sun == 1].mean()
    both = Solution(np.column_stack([HOUSE.Z, sun]), np.vstack([HOUSE.W, -HOUSE.W[2]]))
    steady = hopped_week(both)
    varying = replace(steady, amplitude=amplitude[:, None])
    *others, generator = loads_of(varying)
    assert all(load.amplitude is None for load in others)
    assert generator.kind == "generator"
    assert generator.energy_kwh == pytest.approx(loads_of(steady)[-1].energy_kwh, abs=1e-6)
    assert round(sum(a.energy_kwh for a in generator.activations), 6) == generator.energy_kwh
    assert np.std([a.mean_w for a in generator.activations]) > 100
    ids = [*IDS, "A08"]
    hosts = {p.host for p in parts_of(varying, ids).values()}
    assert hosts == {p.host for p in parts_of(week, IDS).values()}
    assert 7 in {p.host for p in parts_of(steady, ids).values()}


def test_the_analyst_comes_before_the_submeter_and_the_submeter_before_the_description(
    week: Disaggregation,
) -> None:
    matches: list[SubmeterMatch | None] = [None] * K
    matches[1] = matches[2] = SubmeterMatch("fridge_freezer", 12, 0.9)
    analyst = AnalystNotes({"A03": "Our kettle"})
    names = name_loads(loads_of(week), IDS, matches, analyst, before={}, observed_s=OBSERVED_S)
    assert names[1] == ("fridge_freezer", "submeter", 0.9)
    assert names[2] == ("Our kettle", "analyst", None)
    assert names[0][1:] == ("description", None)
    assert names[0][0].endswith("W, always on")
    assert len({name for name, _, _ in names}) == K


def test_a_name_of_an_earlier_week_stays_as_long_as_it_is_true(week: Disaggregation) -> None:
    loads = loads_of(week)

    def named(k: int, name: str, *, source: str, scale: float = 1.0, kind: str = "") -> str:
        load = loads[k]
        was = Sighting(IDS[k], name, Look(kind or load.kind, scale * load.active_w, load.current_a), source)
        names = name_loads(
            loads, IDS, [None] * K, AnalystNotes(), before={IDS[k]: was}, observed_s=OBSERVED_S
        )
        return names[k][0] if names[k][1] == "earlier week" else names[k][1]

    assert (
        named(2, "2.9 kW heater, about once a day", source="description") == "2.9 kW heater, about once a day"
    )
    assert named(2, "2.0 kW heater, about once a day", source="description", scale=0.7) == "description"
    assert named(2, "motor", source="description", kind="motor") == "description"
    assert named(2, "kettle", source="submeter", scale=0.7) == "kettle"
    assert named(2, "taken back", source="analyst") == "description"


def test_an_earlier_name_that_another_has_now_is_given_up(week: Disaggregation) -> None:
    loads = loads_of(week)
    matches: list[SubmeterMatch | None] = [None] * K
    matches[1] = SubmeterMatch("washing_machine", 5, 0.9)  # it measures the machine, not its heater alone
    was = Sighting(IDS[2], "washing_machine", Look(loads[2].kind, 1.0, loads[2].current_a), "submeter")
    names = name_loads(loads, IDS, matches, AnalystNotes(), before={IDS[2]: was}, observed_s=OBSERVED_S)
    assert names[1][0] == "washing_machine"
    assert names[2][1] == "description"


def test_appliances_stand_by_energy_with_parts_colours_and_doubts(week: Disaggregation) -> None:
    loads = loads_of(week)
    names = [Name(name, "analyst") for name in HOUSE.names]
    found = build_appliances(
        week,
        loads,
        IDS,
        names,
        parts=parts_of(week, IDS),
        indistinguishable=[("A02", "A03")],
        energy=[EnergyRange(load.energy_kwh, 0.5 * load.energy_kwh, 2 * load.energy_kwh) for load in loads],
    )
    energies = [a.energy_kwh for a in found]
    assert energies == sorted(energies, reverse=True)
    by_name = {a.name: a for a in found}
    assert by_name["amplifier"].part_of == by_name["television"].appliance_id
    assert "always while television was on" in by_name["amplifier"].part_evidence
    assert by_name["fridge"].not_told_apart_from == ("A03",)
    assert all(a.colour == int(a.appliance_id[1:]) - 1 for a in found)
    assert by_name["fridge"].support == pytest.approx(0.5)
    assert by_name["fridge"].energy_high_kwh == 2 * by_name["fridge"].energy_kwh
    assert all(run.sure == 0.9 for a in found for run in a.activations)
    amplifier = HOUSE.names.index("amplifier")
    undone = AnalystNotes(not_parts=frozenset({IDS[amplifier]}))
    assert amplifier in parts_of(week, IDS)
    assert amplifier not in parts_of(week, IDS, undone)


def test_a_gap_is_taken_out_of_every_activation(week: Disaggregation) -> None:
    kept = np.delete(np.arange(len(HOUSE.Z)), np.arange(1000, 1500))
    solution = Solution(HOUSE.Z[kept], HOUSE.W)
    cut = replace(week, hop=replace(week.hop, solution=solution))
    start = HOUSE.start_utc[kept]
    for load in measure_loads(cut, start, ROW_S[kept], HOUSE.voltage_v, options=ActivationOptions()):
        assert sum(a.duration_s for a in load.activations) == 120 * int(load.on.sum())
