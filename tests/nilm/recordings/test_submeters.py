from pathlib import Path

import numpy as np
import pytest

from nilm.recordings.submeters import mean_on_rows, read_submeters, submeter_files

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
    assert len(notes) == 1
    assert "Submeter 4 (gone) was left out" in notes[0]
    assert [p.name for p in submeter_files(tmp_path)] == [
        "labels.dat",
        "channel_1.dat",
        "channel_2.dat",
        "channel_3.dat",
    ]


@pytest.mark.parametrize("labels", [None, "not a label\n"])
def test_no_labels_or_broken_ones_are_said_in_words(tmp_path: Path, labels: str | None) -> None:
    if labels is not None:
        house(tmp_path, labels)
    found, notes = read_submeters(tmp_path, START, duration_s=ROW_S)
    assert found == []
    assert len(notes) == 1
