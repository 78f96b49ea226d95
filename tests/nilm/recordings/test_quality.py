from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest

from nilm import files
from nilm.errors import InputFileError
from nilm.recordings import quality
from nilm.recordings.quality import Dropped, Flag, HourRecord, WeekQuality
from nilm.recordings.spans import NOT_RECORDED, holes
from nilm.recordings.ukdale import Week
from nilm.timeline import gaps_before, utc

WEEK = Week(2015, 4)
START_S = int(WEEK.start.timestamp())


def week_of(records: list[HourRecord], instants_s: list[int], flags: list[int] | None = None) -> WeekQuality:
    return quality.week_quality(
        records,
        house="house_1",
        week=WEEK,
        interval_s=1200,
        start_utc=np.array(instants_s, dtype="datetime64[s]").astype("datetime64[ns]"),
        duration_s=np.full(len(instants_s), 1200.0),
        flags=np.array(flags or [0] * len(instants_s), dtype=np.uint16),
        seconds_recorded_twice=0.0,
    )


def used(hour: float, *, seconds: float = 3600.0, **kwargs: object) -> HourRecord:
    name = f"vi-{START_S + hour * 3600:.1f}".replace(".", "_") + ".flac"
    return HourRecord(name, quality.iso(START_S + hour * 3600), duration_s=seconds, rows=3, **kwargs)  # type: ignore[arg-type]


def instants(*hours: int) -> list[int]:
    return [START_S + 3600 * hour + 1200 * i for hour in hours for i in range(3)]


def test_a_row_of_a_second_that_is_missing_is_told_wherever_the_clock_stands() -> None:
    at = np.arange(START_S, START_S + 60) + 0.1
    kept = np.delete(at, [7, 21])
    found = holes(kept, kept + 1.0, (at[0], at[-1] + 1.0))
    np.testing.assert_allclose(found, [(at[7], at[8]), (at[21], at[22])], atol=1e-6)
    assert gaps_before(utc(kept), np.ones(len(kept))).nonzero()[0].tolist() == [0, 7, 20]


def test_every_missing_row_has_one_reason_and_the_counts_add_up() -> None:
    dropped = [asdict(Dropped(START_S + 1200.0, 1200.0, quality.NO_VOLTAGE))]
    bad = quality.left_out(Path(f"vi-{START_S + 7200}.flac"), "truncated")
    records = [used(0, dropped=dropped), used(1), bad]
    found = week_of(records, [START_S, START_S + 2400, *instants(1)])
    assert found.rows_expected == 7 * 24 * 3
    assert found.rows_present == 5
    assert found.coverage == 5 / 504
    assert [(g["seconds"] / 1200, g["reason"]) for g in found.gaps] == [
        (1, quality.NO_VOLTAGE),
        (3, f"{bad.source_file} left out: truncated"),
        (504 - 9, NOT_RECORDED),
    ]
    assert sum(g["seconds"] for g in found.gaps) == (1 - found.coverage) * 7 * 86_400
    assert found.gaps[1] == {
        "start_utc": "2015-01-19T02:00:00Z",
        "end_utc": "2015-01-19T03:00:00Z",
        "seconds": 3600.0,
        "reason": f"{bad.source_file} left out: truncated",
    }
    assert found.files_left_out == [{"file": bad.source_file, "reason": "truncated"}]
    assert len(found.hours_missing) == 166
    assert found.hours_missing[0] == "2015-01-19T02:00:00Z"


def test_flags_are_counted_and_put_in_words() -> None:
    both = Flag.CLIPPED_CURRENT | Flag.CLIPPED_VOLTAGE
    found = week_of([used(0)], instants(0), [both, Flag.DC_OFFSET, 0])
    assert found.flags["CLIPPED_CURRENT"] == found.flags["CLIPPED_VOLTAGE"] == found.flags["DC_OFFSET"] == 1
    assert found.rows_clipped == 1
    assert found.rows_unfit == 1
    assert any("1 of 3 rows: a DC offset" in note for note in found.notes)
    assert set(found.flag_meanings) == {flag.name for flag in Flag}


def test_an_implausible_voltage_in_every_row_points_at_the_calibration() -> None:
    found = week_of([used(0)], instants(0), [Flag.ODD_VOLTAGE] * 3)
    assert found.notes[-1].endswith("check adc_scale in calibration.cfg")
    assert not any("adc_scale" in n for n in week_of([used(0)], instants(0), [Flag.ODD_VOLTAGE, 0, 0]).notes)


def test_overlaps_are_named_with_their_seconds_and_touching_files_are_not() -> None:
    records = [used(0), used(1), used(1.5), used(5, seconds=7200), used(6, seconds=600)]
    found = week_of(records, instants(0, 1, 2))
    assert [(o["files"][1], o["seconds"]) for o in found.overlaps] == [
        (records[2].source_file, 1800.0),
        (records[4].source_file, 600.0),
    ]
    assert "2 pairs of files overlap; each instant is used once" in found.notes


def test_a_result_of_the_report_comes_out_and_json_goes_round(tmp_path: Path) -> None:
    records = [used(0), quality.left_out(Path("vi-x.flac"), "no time")]
    found = week_of(records, instants(0), [Flag.CLIPPED_CURRENT, 0, 0])
    result = found.as_result()
    assert (result.rows_expected, result.rows_used, result.rows_flagged) == (504, 2, 1)
    assert result.clipped_rows == 1
    assert result.files_left_out == ({"file": "vi-x.flac", "reason": "no time"},)
    files.write_json(tmp_path / "q.json", asdict(found))
    assert quality.read_quality(tmp_path / "q.json") == found
    assert HourRecord(**found.hours[0]) == records[0]
    files.write_json(tmp_path / "q.json", {"house": "house_1"})
    with pytest.raises(InputFileError, match="not the quality of a week"):
        quality.read_quality(tmp_path / "q.json")


def test_changes_that_could_not_be_timed_are_told() -> None:
    found = week_of([used(0, untimed=40), used(1, untimed=2)], instants(0, 1))
    assert found.changes_untimed == 42
    assert "42 changes are known only to lie between two probes" in found.notes[0]
    assert week_of([used(0)], instants(0)).notes == []


def test_reasons_are_told_by_file_with_at_most_five_names() -> None:
    records = [quality.left_out(Path(f"vi-{i}.flac"), "truncated") for i in range(7)]
    records.append(quality.left_out(Path("x.flac"), "no time"))
    assert quality.reasons_in_words(records) == (
        "vi-0.flac, vi-1.flac, vi-2.flac, vi-3.flac, vi-4.flac and 2 more: truncated; x.flac: no time"
    )
