"""Which weeks a word means, and what is said of one that is not there."""

from pathlib import Path

import pytest

from flows.weeks import houses, places, places_of_houses
from nilm.errors import OptionError
from nilm.paths import WeekPaths
from nilm.recordings.ukdale import Week


@pytest.fixture
def data_root(tmp_path: Path) -> Path:
    for house, folders in {
        "house_1": ("2014/wk52", "2015/wk02", "2015/wk01"),
        "house_2": ("2015/wk01",),
    }.items():
        for folder in folders:
            (tmp_path / "raw" / house / folder).mkdir(parents=True)
            monday = Week.parse(folder.replace("/", "-")).start.timestamp()
            (tmp_path / "raw" / house / folder / f"vi-{monday:.0f}_000000.flac").touch()
    (tmp_path / "raw" / "empty").mkdir()
    return tmp_path


def _chosen(data_root: Path, house: str, weeks: str, current: tuple[str, ...] = ()) -> list[str]:
    def is_current(place: WeekPaths) -> bool:
        return str(place.week) in current

    outputs = data_root / "outputs"
    return [
        str(place.week)
        for place in places(house, weeks, data_root=data_root, outputs_root=outputs, is_current=is_current)
    ]


def test_words(data_root: Path) -> None:
    assert _chosen(data_root, "house_1", "2015-wk01") == ["2015-wk01"]
    assert _chosen(data_root, "house_1", "latest") == ["2015-wk02"]
    assert _chosen(data_root, "house_1", "2015-wk01:2015-wk02") == ["2015-wk01", "2015-wk02"]
    assert _chosen(data_root, "house_1", "new", ("2015-wk01",)) == ["2014-wk52", "2015-wk02"]
    assert _chosen(data_root, "house_2", "new", ("2015-wk01",)) == []


def test_an_unknown_house_lists_those_with_recordings(data_root: Path) -> None:
    with pytest.raises(OptionError, match=r"'house_3'.*there are house_1, house_2$"):
        _chosen(data_root, "house_3", "latest")


def test_a_house_that_leads_elsewhere(data_root: Path) -> None:
    with pytest.raises(OptionError, match="letters, digits"):
        _chosen(data_root, "../house_1", "latest")


def test_a_week_without_recordings_lists_those_with(data_root: Path) -> None:
    with pytest.raises(
        OptionError, match=r"house_1 has no recordings of 2015-wk09.*2014-wk52, 2015-wk01, 2015-wk02"
    ):
        _chosen(data_root, "house_1", "2015-wk09")


@pytest.mark.parametrize("weeks", ["2015-w1", "2015-wk54", "last", "", "2015-wk02:2015-wk01"])
def test_a_week_in_no_known_form(data_root: Path, weeks: str) -> None:
    with pytest.raises(OptionError, match="latest and new"):
        _chosen(data_root, "house_1", weeks)


def test_no_data_at_all_says_how_to_get_some(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="nilm simulate"):
        houses(tmp_path)


def test_a_range_means_the_weeks_that_there_are(data_root: Path, caplog: pytest.LogCaptureFixture) -> None:
    assert _chosen(data_root, "house_1", "2014-wk51:2015-wk01") == ["2014-wk52", "2015-wk01"]
    assert "house_1 has no recordings of 2014-wk51" in caplog.text
    with pytest.raises(OptionError, match="no recordings of 2015-wk03, 2015-wk04"):
        _chosen(data_root, "house_1", "2015-wk03:2015-wk04")


def _of_houses(data_root: Path, asked: list[str] | None, weeks: str) -> list[str]:
    found = places_of_houses(
        asked, weeks, data_root=data_root, outputs_root=data_root, is_current=lambda place: False
    )
    return [str(place) for place in found]


def test_of_all_houses_those_without_the_week_are_left_out(
    data_root: Path, caplog: pytest.LogCaptureFixture
) -> None:
    assert _of_houses(data_root, None, "2015-wk02") == ["house_1 2015-wk02"]
    assert "left out: house_2 has no recordings of 2015-wk02" in caplog.text
    assert _of_houses(data_root, ["house_2", "house_2"], "new") == ["house_2 2015-wk01"]
    with pytest.raises(OptionError, match="house_2 has no recordings of 2015-wk02"):
        _of_houses(data_root, ["house_1", "house_2"], "2015-wk02")
    with pytest.raises(OptionError, match="house_1 has no recordings of 2015-wk09"):
        _of_houses(data_root, None, "2015-wk09")
