from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from nilm.appliances.analyst import merge, name_appliance, read_notes, regroup, reject_name, undo, ungroup
from nilm.errors import InputFileError, OptionError
from nilm.files import write_json


def test_a_name_once_given_stays_until_another_is_given(tmp_path: Path) -> None:
    path = tmp_path / "names" / "house_1.json"
    name_appliance(path, house="house_1", appliance_id="A03", name=" Kettle ")
    ungroup(path, house="house_1", appliance_id="A05")
    name_appliance(path, house="house_1", appliance_id="A04", name="Boiler")
    name_appliance(path, house="house_1", appliance_id="A03", name="Big kettle")
    notes = read_notes(path, "house_1")
    assert notes.names == {"A03": "Big kettle", "A04": "Boiler"}
    assert notes.not_parts == {"A05"}
    regroup(path, house="house_1", appliance_id="A05")
    assert read_notes(path, "house_1").not_parts == frozenset()


def test_without_a_file_nothing_is_decided(tmp_path: Path) -> None:
    assert read_notes(tmp_path / "none.json", "house_1").names == {}


@pytest.mark.parametrize("name", ["", "  ", "two\nlines", "x" * 81])
def test_a_name_that_is_no_single_line_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(OptionError, match="a name is one line"):
        name_appliance(tmp_path / "n.json", house="house_1", appliance_id="A03", name=name)
    assert not (tmp_path / "n.json").exists()


@pytest.mark.parametrize("appliance_id", ["kettle", "A3", "../A03", "A03\n"])
def test_an_id_that_is_none_is_refused(tmp_path: Path, appliance_id: str) -> None:
    with pytest.raises(OptionError, match="written like A03"):
        ungroup(tmp_path / "n.json", house="house_1", appliance_id=appliance_id)


def test_another_houses_file_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "names.json"
    name_appliance(path, house="house_2", appliance_id="A03", name="Kettle")
    before = path.read_bytes()
    with pytest.raises(InputFileError, match="names of the house 'house_2', not of 'house_1'"):
        name_appliance(path, house="house_1", appliance_id="A03", name="Oven")
    assert path.read_bytes() == before


def test_a_file_spoilt_by_hand_is_named_with_what_is_wrong(tmp_path: Path) -> None:
    path = tmp_path / "names.json"
    write_json(path, {"house": "house_1", "names": {"kettle": "A03"}})
    with pytest.raises(InputFileError, match=r"names\.json.*written like A03"):
        read_notes(path, "house_1")


def test_every_decision_can_be_undone_one_after_the_other(tmp_path: Path) -> None:
    path = tmp_path / "house_1.json"
    name_appliance(path, house="house_1", appliance_id="A03", name="Fridge")
    reject_name(path, house="house_1", appliance_id="A03", name="Fridge")
    ungroup(path, house="house_1", appliance_id="A05")
    merge(path, house="house_1", appliance_id="A05", into="A03")
    notes = read_notes(path, "house_1")
    assert notes.names == {}
    assert notes.wrong_names == {"A03": ("Fridge",)}
    assert notes.merged == {"A05": "A03"}
    assert notes.not_parts == frozenset()
    undone = [undo(path, house="house_1") for _ in range(2)]
    assert undone == ["A05 belongs to A03", "A05 stands for itself"]
    undo(path, house="house_1")
    assert read_notes(path, "house_1").names == {"A03": "Fridge"}
    undo(path, house="house_1")
    bare = read_notes(path, "house_1")
    assert (bare.names, bare.wrong_names, bare.merged, bare.not_parts) == ({}, {}, {}, frozenset())
    assert len(bare.history) == 8
    with pytest.raises(OptionError, match="nothing stands"):
        undo(path, house="house_1")


def test_a_change_after_an_undo_is_the_next_to_be_undone(tmp_path: Path) -> None:
    path = tmp_path / "house_1.json"
    name_appliance(path, house="house_1", appliance_id="A03", name="Fridge")
    undo(path, house="house_1")
    name_appliance(path, house="house_1", appliance_id="A04", name="Oven")
    assert undo(path, house="house_1") == "A04 is called 'Oven'"


def test_merged_ids_are_one_unless_both_ran(tmp_path: Path) -> None:
    path = tmp_path / "house_1.json"
    merge(path, house="house_1", appliance_id="A07", into="A03")
    merge(path, house="house_1", appliance_id="A09", into="A07")
    notes = read_notes(path, "house_1")
    assert notes.joined(["A01", "A07"]) == ("A01", "A03")
    assert notes.joined(["A03", "A07"]) == ("A03", "A07")
    assert notes.joined(["A09", "A07"]) == ("A03", "A07")
    with pytest.raises(OptionError, match="they are one already"):
        merge(path, house="house_1", appliance_id="A03", into="A09")


def test_a_circle_made_by_hand_is_named(tmp_path: Path) -> None:
    path = tmp_path / "names.json"
    write_json(path, {"house": "house_1", "merged": {"A03": "A04", "A04": "A03"}})
    with pytest.raises(InputFileError, match="A03 belongs to A04 belongs to A03: a circle"):
        read_notes(path, "house_1")


def test_decisions_made_at_the_same_time_are_all_kept(tmp_path: Path) -> None:
    path = tmp_path / "house_1.json"
    with ThreadPoolExecutor(8) as pool:
        for n in range(24):
            pool.submit(name_appliance, path, house="house_1", appliance_id=f"A{n:02d}", name=f"thing {n}")
    assert len(read_notes(path, "house_1").names) == 24


@pytest.mark.parametrize("content", ["{", "[]", '{"house": "house_1", "names": {"kettle": "A03"}}'])
def test_no_advice_costs_the_analysts_words(tmp_path: Path, content: str) -> None:
    path = tmp_path / "names.json"
    path.write_text(content)
    with pytest.raises(InputFileError, match="correct it by hand, or move it away and keep it") as refused:
        name_appliance(path, house="house_1", appliance_id="A03", name="Kettle")
    assert "delete" not in str(refused.value)
    assert path.read_text() == content


def test_names_given_at_the_same_moment_are_all_kept(tmp_path: Path) -> None:
    path = tmp_path / "names" / "house_1.json"
    ids = [f"A{k:02d}" for k in range(1, 41)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda i: name_appliance(path, house="house_1", appliance_id=i, name=f"is {i}"), ids))
    assert read_notes(path, "house_1").names == {i: f"is {i}" for i in ids}
