from pathlib import Path

import numpy as np
import pytest

from nilm.recordings.submeters import mean_on_rows, read_submeters, submeter_marks
from nilm.recordings.ukdale import Week

START = np.datetime64("2015-01-01T00:00:00", "ns") + np.arange(4) * np.timedelta64(120, "s")
ROW_S = np.full(4, 120.0)
UNIX = int(np.datetime64("2015-01-01T00:00:00", "s").astype(np.int64))


def test_readings_are_averaged_within_each_row_and_absence_is_not_zero() -> None:
    time_s = UNIX + np.array([-6.0, 0.0, 60.0, 119.9, 120.0, 400.0])
    values = np.array([999.0, 10.0, 20.0, 30.0, 50.0, 70.0])
    mean = mean_on_rows(time_s, values, START, duration_s=ROW_S)
    np.testing.assert_allclose(mean, [20, 50, np.nan, 70])


def house(folder: Path, labels: str, **channels: str) -> Path:
    (folder / "labels.dat").write_text(labels)
    for name, content in channels.items():
        (folder / f"{name}.dat").write_text(content)
    return folder


def test_channels_are_read_by_number_and_the_whole_house_is_passed_over(tmp_path: Path) -> None:
    house(
        tmp_path,
        "1 aggregate\n2 kettle\n3 ../../x\n4 gone\n",
        channel_1=f"{UNIX} 500\n",
        channel_2=f"{UNIX} 2000\nnonsense\n",
        channel_3=f"{UNIX} 7\n",
    )
    found, notes = read_submeters(tmp_path, START, duration_s=ROW_S)
    assert [(s.channel, s.name) for s in found] == [(2, "kettle"), (3, "../../x")]
    assert found[0].watts[0] == 2000
    assert len(notes) == 2
    assert notes[0].startswith("Submeter 2 (kettle): 1 line left out")
    assert "Submeter 4 (gone) was left out" in notes[1]


def test_a_week_is_marked_by_its_own_readings_and_names_alone(tmp_path: Path) -> None:
    week = Week(2015, 1)
    later = week.end.timestamp()
    before = f"{UNIX - 8 * 86400} 1\n{UNIX} 2000\n"
    house(tmp_path, "1 kettle\n2 oven\n3 gone\n", channel_1=before, channel_2=f"{later:.0f} 7\n")
    marks = submeter_marks(tmp_path, week)
    assert set(marks) == {"labels.dat", "channel_1.dat", "channel_3.dat"}
    assert marks["channel_3.dat"] == "absent"
    # Another week's readings and the name of a channel that the week lacks change nothing.
    house(tmp_path, "1 kettle\n2 grill\n3 gone\n", channel_1=f"{before}{later:.0f} 5\n")
    assert submeter_marks(tmp_path, week) == marks
    assert submeter_marks(tmp_path, week.next) != marks
    # Its own readings and the name of its own channel do.
    house(tmp_path, "1 kettle\n2 oven\n3 gone\n", channel_1=f"{before}{UNIX + 6} 5\n")
    assert submeter_marks(tmp_path, week)["channel_1.dat"] != marks["channel_1.dat"]
    house(tmp_path, "1 toaster\n2 oven\n3 gone\n", channel_1=before)
    assert submeter_marks(tmp_path, week)["channel_1.dat"] != marks["channel_1.dat"]
    house(tmp_path, "no label\n")
    assert submeter_marks(tmp_path, week)["labels.dat"].startswith("unreadable: ")
    assert submeter_marks(tmp_path / "nowhere", week) == {}


@pytest.mark.parametrize("labels", [None, "not a label\n"])
def test_no_labels_or_broken_ones_are_said_in_words(tmp_path: Path, labels: str | None) -> None:
    if labels is not None:
        house(tmp_path, labels)
    found, notes = read_submeters(tmp_path, START, duration_s=ROW_S)
    assert found == []
    assert len(notes) == 1
