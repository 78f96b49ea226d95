from pathlib import Path

import pytest

from nilm.appliances.analyst import name_appliance, read_notes, regroup, ungroup
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
