from pathlib import Path

import pytest

from nilm.recordings.ukdale import Week
from nilm.simulate.device.meters import _lay

WEEK = Week(2015, 2)
START_S, END_S = int(WEEK.start.timestamp()), int(WEEK.end.timestamp())


@pytest.mark.parametrize(
    "old",
    [
        [],
        [START_S],
        [START_S - 6, START_S, END_S - 6, END_S],
        [START_S - 12, START_S - 6],
        [END_S, END_S + 6, END_S + 12],
        list(range(START_S - 600, END_S + 600, 997)),
    ],
)
def test_a_week_replaces_its_own_readings_and_no_others(tmp_path: Path, old: list[int]) -> None:
    path = tmp_path / "channel_2.dat"
    if old:
        path.write_text("".join(f"{t} {i}\n" for i, t in enumerate(old)))
    _lay(path, [f"{START_S} 99", f"{START_S + 6} 98"], WEEK)
    kept = [(t, i) for i, t in enumerate(old) if not START_S <= t < END_S]
    expected = sorted([*kept, (START_S, 99), (START_S + 6, 98)])
    assert path.read_text() == "".join(f"{t} {w}\n" for t, w in expected)
