import io
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nilm.errors import InputFileError, OptionError
from nilm.recordings import ukdale
from nilm.recordings.ukdale import Week


def touch(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
    return path


def test_weeks_are_iso_weeks_in_utc() -> None:
    assert Week.parse("2015-wk01").start == datetime(2014, 12, 29, tzinfo=UTC)
    # The data set's own example: wk04 holds Monday 19 January 2015.
    assert Week.of(datetime.fromtimestamp(1421625600, UTC)) == Week(2015, 4)
    assert Week.parse("2015-wk53").next == Week(2016, 1)
    assert Week(2016, 1).previous == Week(2015, 53)
    assert str(Week(2015, 4)) == "2015-wk04"
    assert Week(2015, 4).folder == Path("2015/wk04")


@given(st.datetimes(datetime(1990, 1, 1), datetime(2100, 1, 1)))
def test_every_instant_lies_in_its_own_week(when: datetime) -> None:
    week = Week.of(when)
    assert week.start <= when.replace(tzinfo=UTC) < week.end
    assert Week.parse(str(week)) == week
    assert week.next.start == week.end


@pytest.mark.parametrize(
    "text", ["2015-01", "2015-wk1", "2015-wk00", "2014-wk53", "wk01", "", "../wk01", "٢٠١٥-wk01"]
)
def test_what_is_no_week_is_refused_with_its_value(text: str) -> None:
    with pytest.raises(OptionError) as caught:
        Week.parse(text)
    assert text in str(caught.value)


def test_ranges_include_both_ends_and_cross_years() -> None:
    assert [str(w) for w in ukdale.parse_weeks("2015-wk52:2016-wk02")] == [
        "2015-wk52",
        "2015-wk53",
        "2016-wk01",
        "2016-wk02",
    ]
    assert ukdale.parse_weeks("2015-wk03, 2015-wk01") == [Week(2015, 3), Week(2015, 1)]
    with pytest.raises(OptionError, match="write 2015-wk01:2015-wk08"):
        ukdale.parse_weeks("2015-wk08:2015-wk01")


@pytest.mark.parametrize("house", ["", "../x", "a/b", ".hidden", "a b", "house_1\n"])
def test_a_house_that_is_no_plain_folder_name_is_refused(house: str) -> None:
    with pytest.raises(OptionError, match="house must be"):
        ukdale.check_house(house)
    assert ukdale.check_house("house_1") == "house_1"


def test_the_underscore_is_a_decimal_point() -> None:
    assert ukdale.hour_start_s("vi-1421625600_123456.flac") == 1421625600.123456
    assert ukdale.hour_start_s("vi-1421625600.flac") == 1421625600.0
    for name in ("vi-.flac", "vi-now.flac", "vi-1_2_3.flac", "1421625600.flac", "vi-1421625600_1.wav"):
        assert ukdale.hour_start_s(name) is None


def test_a_week_lists_its_folder_and_the_neighbours_hours_that_reach_into_it(tmp_path: Path) -> None:
    week = Week(2015, 4)
    start = int(week.start.timestamp())
    own = touch(tmp_path / "2015/wk04" / f"vi-{start}_5.flac")
    nameless = touch(tmp_path / "2015/wk04/broken.flac")
    straddling = touch(tmp_path / "2015/wk03" / f"vi-{start - 1800}_0.flac")
    touch(tmp_path / "2015/wk03" / f"vi-{start - 3600}_0.flac")  # ends as the week starts
    london = touch(tmp_path / "2015/wk05" / f"vi-{start + 7 * 86400 - 3600}.flac")  # Sunday 23:00 UTC
    touch(tmp_path / "2015/wk05" / f"vi-{start + 7 * 86400}.flac")
    touch(tmp_path / "2015/wk05" / f"vi-{start + 7 * 86400 - 1}_4.flac")  # 0.6 s of the week are no row
    touch(tmp_path / "2015/wk04/.vi-1.flac.tmp")
    assert set(ukdale.week_hours(tmp_path, week)) == {own, nameless, straddling, london}
    assert ukdale.week_hours(tmp_path, Week(2012, 4)) == []


def test_weeks_present_are_those_with_recordings(tmp_path: Path) -> None:
    touch(tmp_path / f"2015/wk04/vi-{Week(2015, 4).start.timestamp():.0f}.flac")
    touch(tmp_path / "2014/wk52/misnamed.flac")  # a week all the same, so that somebody is told
    touch(tmp_path / "2014/wk53/vi-1.flac")  # 2014 has 52 weeks
    (tmp_path / "2015/wk05").mkdir()
    assert ukdale.weeks_present(tmp_path) == [Week(2014, 52), Week(2015, 4)]
    assert ukdale.weeks_present(tmp_path / "none") == []


@pytest.mark.parametrize("late_s", [0.0, 0.5, 30.0])
def test_the_hour_after_a_summer_time_sunday_does_not_make_a_week(tmp_path: Path, late_s: float) -> None:
    """The recorder's folders follow London's clock: Sunday 23:00 UTC is Monday there."""
    week = Week(2015, 28)
    sunday_23 = week.start.timestamp() - 3600 + late_s
    touch(tmp_path / week.folder / f"vi-{sunday_23:.1f}.flac".replace(".", "_", 1))
    assert ukdale.weeks_present(tmp_path) == []
    touch(tmp_path / week.folder / f"vi-{sunday_23 + 3600:.0f}.flac")
    assert ukdale.weeks_present(tmp_path) == [week]


@pytest.mark.parametrize(
    "name",
    [
        "vi-99999999999999999999.flac",
        f"vi-{'1' * 240}.flac",
        f"vi-1421625600_{'1' * 230}.flac",
        "vi-9999999999.flac",  # after 2262
    ],
)
def test_an_absurd_time_is_no_time(name: str) -> None:
    assert ukdale.hour_start_s(name) is None


def test_weeks_end_where_times_do() -> None:
    for text in ("0001-wk01", "1970-wk01", "2262-wk01", "9999-wk52"):
        with pytest.raises(OptionError, match=rf"weeks run from 1970-wk02 to 2261-wk52.*got {text}"):
            Week.parse(text)
    first, last = Week.parse("1970-wk02"), Week.parse("2261-wk52")
    assert first.neighbours == [Week(1970, 3)]
    assert last.neighbours == [Week(2261, 51)]
    assert ukdale.parse_weeks("2261-wk51:2261-wk52") == [Week(2261, 51), last]
    assert ukdale.week_hours(Path("none"), last) == []


def calibration(folder: Path, text: str) -> Path:
    path = folder / "calibration.cfg"
    path.write_text(text)
    return path


def test_calibration_of_house_1_has_its_published_full_scale(tmp_path: Path) -> None:
    path = calibration(
        tmp_path,
        "[Calibration]\nvolts_per_adc_step = 1.90101491444e-07\namps_per_adc_step = 4.9224284384e-08\n"
        "phase_difference = -16.6\n",
    )
    found = ukdale.read_calibration(path)
    assert found.volts_per_sample == pytest.approx(408.24, abs=0.01)
    assert found.amps_per_sample == pytest.approx(105.71, abs=0.01)


def test_the_scale_of_house_5_is_a_line_of_its_calibration(tmp_path: Path) -> None:
    path = calibration(
        tmp_path, "[Calibration]\nvolts_per_adc_step = 0.01\namps_per_adc_step = 0.001\nadc_scale = 32768\n"
    )
    assert ukdale.read_calibration(path) == ukdale.Calibration(327.68, 32.768)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"no section \[Calibration\]"),
        ("[Calibration]\nvolts_per_adc_step = 1e-7\n", "no amps_per_adc_step"),
        ("[Calibration]\namps_per_adc_step = 1e-7\n", "no volts_per_adc_step"),
        ("[Calibration]\nvolts_per_adc_step = x\namps_per_adc_step = 1\n", "positive number, got 'x'"),
        ("[Calibration]\nvolts_per_adc_step = nan\namps_per_adc_step = 1\n", "positive number, got 'nan'"),
        ("[Calibration]\nvolts_per_adc_step = -1\namps_per_adc_step = 1\n", "positive number, got '-1'"),
        ("volts_per_adc_step = 1e-7\n", "not a configuration file"),
    ],
)
def test_a_bad_calibration_is_refused_with_its_file(tmp_path: Path, text: str, message: str) -> None:
    path = calibration(tmp_path, text)
    with pytest.raises(InputFileError, match=message) as caught:
        ukdale.read_calibration(path)
    assert str(path) in str(caught.value)


def test_a_missing_calibration_says_where_it_belongs(tmp_path: Path) -> None:
    with pytest.raises(InputFileError, match=r"calibration\.cfg is missing; copy it"):
        ukdale.read_calibration(tmp_path / "calibration.cfg")


def test_channels_keep_gaps_sort_times_and_count_bad_lines(tmp_path: Path) -> None:
    path = tmp_path / "channel_2.dat"
    path.write_text("100 5\n106 6\n\nnonsense\n112\n118 nan\n106 7\n700 8\n90 1\n")
    series = ukdale.read_channel(path)
    np.testing.assert_array_equal(series.time_s, [90, 100, 106, 700])
    np.testing.assert_array_equal(series.values[:, 0], [1, 5, 6, 8])
    assert series.bad_lines == 4


def test_a_channel_without_readings_is_empty_and_one_that_is_not_there_is_named(tmp_path: Path) -> None:
    (tmp_path / "empty.dat").write_text("")
    assert ukdale.read_channel(tmp_path / "empty.dat").values.shape == (0, 1)
    with pytest.raises(InputFileError, match="cannot be read"):
        ukdale.read_channel(tmp_path / "none.dat")


def test_hostile_names_stay_text_and_never_become_a_path(tmp_path: Path) -> None:
    path = tmp_path / "labels.dat"
    path.write_text("1 aggregate\n2 <script>alert(1)</script>\n3 ../../x\n\n")
    assert ukdale.read_labels(path) == {1: "aggregate", 2: "<script>alert(1)</script>", 3: "../../x"}
    assert ukdale.channel_file(tmp_path, 3) == tmp_path / "channel_3.dat"


@pytest.mark.parametrize("line", ["x kettle", "7", "1 twice", "-2 fridge"])
def test_a_line_that_is_no_label_is_named(tmp_path: Path, line: str) -> None:
    path = tmp_path / "labels.dat"
    path.write_text(f"1 aggregate\n{line}\n")
    with pytest.raises(InputFileError, match="line 2"):
        ukdale.read_labels(path)


def test_real_files_of_the_recorder_are_read_whole(real_data: Path) -> None:
    folder = real_data / "ukdale" / "house_1_6s_sample"
    labels = ukdale.read_labels(folder / "labels.dat")
    assert labels[10] == "kettle"
    for channel in labels:
        series = ukdale.read_channel(ukdale.channel_file(folder, channel))
        assert len(series.time_s) > 100
        assert np.all(np.diff(series.time_s) > 0)
    scale = ukdale.read_calibration(real_data / "ukdale" / "early_bench_calibration.cfg")
    assert scale.volts_per_sample == pytest.approx(3.10391997316e-07 * 2**31)


@given(
    st.lists(st.one_of(st.integers(0, 50).map(float), st.just(None)), max_size=30),
    st.floats(-1, 52),
    st.floats(-1, 52),
)
def test_a_window_of_a_channel_is_what_a_full_read_holds_of_it(
    tmp_path_factory: pytest.TempPathFactory, times: list[float | None], first_s: float, end_s: float
) -> None:
    path = tmp_path_factory.mktemp("window") / "channel_1.dat"
    readings = sorted(t for t in times if t is not None)
    lines = [f"{t} {10 * t}" for t in readings]
    for place, time in enumerate(times):
        if time is None:
            lines.insert(place, "broken")
    path.write_text("\n".join(lines), encoding="utf-8")
    whole = ukdale.read_channel(path)
    part = ukdale.read_channel(path, between_s=(first_s, end_s))
    inside = (whole.time_s >= first_s) & (whole.time_s < end_s)
    np.testing.assert_array_equal(part.time_s, whole.time_s[inside])
    np.testing.assert_array_equal(part.values, whole.values[inside])


def test_bisection_finds_what_a_walk_finds() -> None:
    lines = [f"{t}.0 {'7' * (t % 5 + 1)}\n" for t in range(0, 60, 3)]
    data = "".join(lines).encode()
    for time_s in range(-2, 64):
        walked = sum(len(line) for line in lines if float(line.split()[0]) < time_s)
        assert ukdale.first_line_from(io.BytesIO(data), time_s) == walked


def test_a_calibration_beyond_any_meter_is_named(tmp_path: Path) -> None:
    path = tmp_path / "calibration.cfg"
    path.write_text("[Calibration]\nvolts_per_adc_step = 1e308\namps_per_adc_step = 1e-8\n")
    with pytest.raises(InputFileError, match=r"calibration\.cfg: volts_per_adc_step × adc_scale .*correct"):
        ukdale.read_calibration(path)


def test_a_channel_of_300_digits_is_named(tmp_path: Path) -> None:
    path = tmp_path / "labels.dat"
    path.write_text(f"1 aggregate\n{'7' * 300} kettle\n")
    with pytest.raises(InputFileError, match=r"labels\.dat, line 2: a channel has at most 6 digits"):
        ukdale.read_labels(path)
