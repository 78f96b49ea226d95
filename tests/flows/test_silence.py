from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from flows.silence import SilentHouseError, check_silence, last_recorded, silence

LAST = datetime(2015, 1, 4, 23, 0, tzinfo=UTC)


def test_the_last_recording_ends_an_hour_after_the_time_in_its_name(tmp_path: Path) -> None:
    assert last_recorded(tmp_path) is None
    for folder, name in (
        ("2015/wk01", f"vi-{LAST.timestamp() - 7200:.0f}_5.flac"),
        ("2015/wk02", "odd.flac"),
    ):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / name).touch()
    assert last_recorded(tmp_path) == LAST - timedelta(seconds=3600 - 0.5)


def test_silence_is_a_failure_only_after_the_days_of_the_setting() -> None:
    now = LAST + timedelta(days=8)
    check_silence("house_1", LAST, most_days=None, now=now)
    check_silence("house_1", LAST, most_days=8, now=now)
    with pytest.raises(SilentHouseError, match="house_1: no recordings since 2015-01-04 23:00 UTC, longer"):
        check_silence("house_1", LAST, most_days=7, now=now)
    with pytest.raises(SilentHouseError, match="house_1: no recordings, longer"):
        check_silence("house_1", None, most_days=7, now=now)
    assert silence("house_1", None) == "house_1: no recordings"
