import json
import logging
from pathlib import Path

import numpy as np
import pytest

from nilm.appliances.catalogue import (
    Catalogue,
    Doubt,
    Habits,
    Look,
    Sighting,
    WeekRecord,
    read_catalogue,
    write_catalogue,
)
from nilm.appliances.catalogue.habits import N_BINS
from nilm.appliances.thresholds import APPLIANCES
from nilm.errors import InputFileError
from nilm.recordings.ukdale import Week

LOOK = Look(
    "motor",
    90.0,
    np.sin(np.arange(32) / 16 * np.pi),
    habits=Habits(7.0, 3, 5.0, 0.1, (3, *[0] * (N_BINS - 1))),
    spread=0.2,
    inrush=12.0,
    submeter="fridge",
)
RECORD = WeekRecord("s", (Sighting("A07", "fridge", LOOK, "submeter", "motor"),), (Doubt("A07", "A02"),))


def catalogue_of(n_weeks: int) -> Catalogue:
    found, week = Catalogue("house_1"), Week.parse("2015-wk01")
    for _ in range(n_weeks):
        found, week = found.with_week(str(week), RECORD), week.next
    return found


def keep_own_records(folder: Path, catalogue: Catalogue) -> None:
    for week, record in catalogue.weeks.items():
        write_catalogue(folder / week / "identity.json", Catalogue("house_1", {week: record}))


def test_the_file_round_trips_and_equal_catalogues_give_equal_bytes(tmp_path: Path) -> None:
    a, b = tmp_path / "a.json", tmp_path / "b.json"
    write_catalogue(a, catalogue_of(APPLIANCES.recent_weeks + 3))
    read = read_catalogue(a, "house_1")
    write_catalogue(b, read)
    assert a.read_bytes() == b.read_bytes()
    assert read.last_number == 7
    (found,) = read.weeks["2015-wk05"].sightings
    np.testing.assert_allclose(found.look.current_a, LOOK.current_a, atol=1e-4)
    assert (found.look.habits, found.look.inrush, found.look.submeter) == (LOOK.habits, 12.0, "fridge")
    assert (found.name_source, found.formerly) == ("submeter", "motor")
    assert read.weeks["2015-wk05"].doubts == (Doubt("A07", "A02"),)
    assert read.summaries["A07"].last_week == "2015-wk03"


def one_appliance(**changes: object) -> str:
    look = {"appliance_id": "A01", "name": "x", "kind": "motor", "active_w": 1.0, "current_a": [1, 2, 3, 4]}
    week = {"solution": "s", "appliances": [look | changes]}
    return json.dumps({"house": "house_1", "weeks": {"2015-wk01": week}})


def test_a_catalogue_of_an_earlier_version_is_read(tmp_path: Path) -> None:
    (tmp_path / "c.json").write_text(one_appliance())
    read = read_catalogue(tmp_path / "c.json", "house_1")
    assert read.before("2015-wk02")["A01"].look.habits is None
    assert read.last_number == 1


def test_a_lost_catalogue_is_gathered_from_the_weeks(tmp_path: Path) -> None:
    kept = catalogue_of(APPLIANCES.recent_weeks + 3)
    keep_own_records(tmp_path / "solutions", kept)
    write_catalogue(tmp_path / "kept.json", kept)
    gathered = read_catalogue(tmp_path / "none.json", "house_1", solutions_folder=tmp_path / "solutions")
    write_catalogue(tmp_path / "gathered.json", gathered)
    assert (tmp_path / "gathered.json").read_bytes() == (tmp_path / "kept.json").read_bytes()


def test_an_old_week_is_made_again_beside_the_weeks_it_had_around_it(tmp_path: Path) -> None:
    kept = catalogue_of(4 * APPLIANCES.recent_weeks)
    keep_own_records(tmp_path / "solutions", kept)
    write_catalogue(tmp_path / "c.json", kept)
    around = read_catalogue(
        tmp_path / "c.json", "house_1", solutions_folder=tmp_path / "solutions", week="2015-wk03"
    )
    assert {"2015-wk02", "2015-wk03", "2015-wk04"} <= set(around.weeks)
    assert around.before("2015-wk03").keys() == {"A07"}
    assert len(around.weeks) < 4 * APPLIANCES.recent_weeks


def test_another_houses_catalogue_is_refused(tmp_path: Path) -> None:
    write_catalogue(tmp_path / "c.json", catalogue_of(1))
    with pytest.raises(InputFileError, match="house 'house_1', not of 'house_2'"):
        read_catalogue(tmp_path / "c.json", "house_2")


def test_another_houses_record_in_a_week_costs_that_week_alone(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    keep_own_records(tmp_path / "solutions", catalogue_of(2))
    (tmp_path / "solutions" / "2015-wk02" / "identity.json").write_text('{"house": "house_2", "weeks": {}}')
    read = read_catalogue(None, "house_1", solutions_folder=tmp_path / "solutions", week="2015-wk02")
    assert set(read.weeks) == {"2015-wk01"}
    assert "identity.json is the catalogue of the house 'house_2'" in caplog.text


@pytest.mark.parametrize(
    "content",
    [
        "{",
        '{"house": "house_1"}',
        '{"house": "house_1", "weeks": {"x": 1}}',
        one_appliance(active_w=float("nan")),
        one_appliance(current_a=[]),
        one_appliance(habits={"hours": [1]}),
        "[" * 100_000,
    ],
    ids=["cut", "no weeks", "no week", "NaN", "no waveform", "habits", "nested"],
)
def test_what_is_damaged_is_made_again_with_a_warning_that_names_it(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, content: str
) -> None:
    keep_own_records(tmp_path / "solutions", catalogue_of(2))
    (tmp_path / "c.json").write_text(content)
    (tmp_path / "solutions" / "2015-wk02" / "identity.json").write_text(content)
    with caplog.at_level(logging.WARNING):
        read = read_catalogue(tmp_path / "c.json", "house_1", solutions_folder=tmp_path / "solutions")
    assert set(read.weeks) == {"2015-wk01"}
    assert {"c.json", "identity.json"} <= {Path(str(r.args[0])).name for r in caplog.records if r.args}
