"""Published weeks that lack something: submeters of their own time, or a whole hour of sound rows."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nilm.recordings.tables import read_week, write_week


@pytest.mark.usefixtures("plain_page")
def test_submeters_of_another_period_name_nothing(tmp_path: Path, ingested_week: Callable[..., Any]) -> None:
    week = ingested_week(tmp_path, n_appliances=4, truth=False)
    for path in week.raw.glob("channel_*.dat"):
        lines = [line.split() for line in path.read_text().splitlines()]
        path.write_text("".join(f"{int(t) - 10**7} {w}\n" for t, w in lines))
    week.solve()
    week.publish()
    notes = json.loads((week.outputs / "quality.json").read_text())["notes"]
    assert any("No submeter covers this period" in note for note in notes)


def test_a_clipped_hour_that_lost_all_its_rows_is_named(
    tmp_path: Path, ingested_week: Callable[..., Any], plain_page: None
) -> None:
    week = ingested_week(tmp_path, n_appliances=4, clipped=range(60, 90), missing=range(120, 150))
    table = read_week(week.waveforms)
    clipped = np.flatnonzero(~table.fit_for_use)
    write_week(week.waveforms, replace(table, current_a=_spoilt(table.current_a, clipped)))
    week.solve()
    week.publish()
    quality = json.loads((week.outputs / "quality.json").read_text())
    lost = [span for span in quality["missing"] if "converter's full scale" in span["reason"]]
    assert [span["minutes"] for span in lost] == [60]
    assert lost[0]["start_utc"] in quality["hours_missing"]


def _spoilt(current_a: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """The currents with nonsense in some rows, which no combination of appliances explains."""
    spoilt = current_a.copy()
    spoilt[rows] = 40 * np.sign(np.random.default_rng(0).standard_normal((len(rows), current_a.shape[1])))
    return spoilt
