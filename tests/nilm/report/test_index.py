import json
import re
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from nilm.appliances.thresholds import PAGE
from nilm.errors import InputFileError
from nilm.report.index import render_house, render_index, years_of
from nilm.report.summary import read_summary, week_summary
from nilm.report.troubles import (
    FAILED_FILE,
    failure_of,
    forget_troubles,
    note_failure,
    note_silence,
    silence_of,
)


@pytest.fixture
def outputs(tmp_path: Path, week: Any) -> Path:
    """Three weeks of one house: A05 comes in the second and goes in the third; A04 is away in the second."""
    for name, ids in (("2015-wk01", "1234"), ("2015-wk02", "1235"), ("2015-wk03", "1234")):
        summary = week_summary(week(n_appliances=5, days=1, week=name, gap=(300, 330)))
        summary["appliances"] = [a for a in summary["appliances"] if a["appliance_id"][-1] in ids]
        folder = tmp_path / "house_sim" / name
        folder.mkdir(parents=True)
        (folder / "summary.json").write_text(json.dumps(summary), encoding="utf-8")
        (folder / "report.html").write_text("a report", encoding="utf-8")
    return tmp_path


def test_a_summary_is_read_back_as_it_was_written(tmp_path: Path, week: Any) -> None:
    result = week(n_appliances=3, days=1)
    path = tmp_path / "summary.json"
    of_an_older_version = {"verdict": "not identifiable"}
    path.write_text(json.dumps(week_summary(result) | of_an_older_version), encoding="utf-8")
    summary = read_summary(path)
    assert summary.metered_kwh == result.metered_kwh
    assert summary.guessed == 0  # it is not known how sure these are
    largest, *others = summary.appliances
    unsure = replace(
        summary, appliances=(replace(largest, sure=0.3), *(replace(a, sure=0.7) for a in others))
    )
    share = abs(largest.energy_kwh) / sum(abs(a.energy_kwh) for a in summary.appliances)
    assert unsure.guessed == pytest.approx(share)
    assert replace(summary, appliances=()).guessed is None
    assert [a.energy_kwh for a in summary.appliances] == [a.energy_kwh for a in result.appliances]
    assert [a.colour for a in summary.appliances] == [a.colour for a in result.appliances]


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"appliances": [1]}', "\x00"])
def test_what_is_no_summary_is_named(tmp_path: Path, content: str) -> None:
    path = tmp_path / "summary.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(
        InputFileError, match=r"summary\.json is not a week's summary .* publish the week again"
    ):
        read_summary(path)


def test_a_summary_with_words_for_numbers_is_refused(tmp_path: Path, week: Any) -> None:
    summary = week_summary(week(n_appliances=3, days=1)) | {"metered_kwh": "many"}
    path = tmp_path / "summary.json"
    path.write_text(json.dumps(summary), encoding="utf-8")
    with pytest.raises(InputFileError):
        read_summary(path)


def test_the_index_links_every_week_newest_first(outputs: Path) -> None:
    html = render_index(outputs)
    links = [f"house_sim/2015-wk0{n}/report.html" for n in (3, 2, 1)]
    assert [html.index(f'href="{link}"') for link in links] == sorted(
        html.index(f'href="{link}"') for link in links
    )
    assert 'href="house_sim/index.html"' in html
    first = json.loads((outputs / "house_sim/2015-wk01/summary.json").read_text(encoding="utf-8"))
    assert f'<data value="{first["metered_kwh"]!r}">' in html


def test_a_week_that_cannot_be_read_is_listed_with_the_reason(outputs: Path) -> None:
    (outputs / "house_sim/2015-wk02/summary.json").write_text("{", encoding="utf-8")
    for html in (render_index(outputs), render_house(outputs, "house_sim")):
        assert "2015-wk02" in html
        assert "cannot be read; publish the week again" in html
        assert str(outputs) not in html


def test_folders_without_a_report_are_no_weeks(outputs: Path) -> None:
    (outputs / "house_sim" / "notes").mkdir()
    (outputs / "empty_house").mkdir()
    (outputs / "README.md").write_text("x", encoding="utf-8")
    html = render_index(outputs)
    assert "notes" not in html
    assert "empty_house" not in html


def test_music_and_experiments_are_no_houses_but_have_their_links(
    outputs: Path, caplog: pytest.LogCaptureFixture
) -> None:
    for page in ("piano/bach 850/report.html", "experiments/index.html"):
        (outputs / page).parent.mkdir(parents=True)
        (outputs / page).write_text("x", encoding="utf-8")
    html = render_index(outputs)
    assert 'href="piano/bach%20850/report.html"' in html
    assert 'href="experiments/index.html"' in html
    assert html.count("<table") == 2  # the houses, and the weeks of the one there is
    assert caplog.text == ""


def test_an_index_of_nothing_says_so(tmp_path: Path) -> None:
    assert "no report yet" in render_index(tmp_path)
    assert "no report yet" in render_index(tmp_path / "nowhere")
    assert "no report of this house yet" in render_house(tmp_path, "house_9")


def test_names_in_a_path_are_quoted_in_links(outputs: Path) -> None:
    (outputs / "house_sim").rename(outputs / "a b#<c>")
    html = render_index(outputs)
    assert 'href="a%20b%23%3Cc%3E/2015-wk01/report.html"' in html
    assert "<c>" not in html


def test_the_house_page_compares_weeks(browser: Any, outputs: Path) -> None:
    page = browser.new_page(viewport={"width": 390, "height": 900})
    complaints: list[str] = []
    page.on("console", lambda m: complaints.append(m.text))
    page.set_content(render_house(outputs, "house_sim"))
    assert complaints == []
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    changes = page.locator("dl.pairs").inner_text()
    names = {
        a["appliance_id"]: a["name"]
        for week in ("2015-wk01", "2015-wk02")
        for a in json.loads((outputs / f"house_sim/{week}/summary.json").read_text(encoding="utf-8"))[
            "appliances"
        ]
    }
    third, second, first = changes.split("2015-wk0")[1:]
    assert f"Back again: {names['A04']}. Not seen any more: {names['A05']}." in third
    assert f"New: {names['A05']}. Not seen any more: {names['A04']}." in second
    assert "nothing to compare with" in first
    cells = page.locator("[data-appliance=A05] td.n").all_inner_texts()
    assert cells[0] == cells[2] == "–"
    assert cells[1] != "–"
    # The newest week stands first, and on a phone it is seen without a swipe.
    heads = page.locator("#energy-by-week thead th.n")
    assert heads.all_inner_texts() == ["2015-wk03", "2015-wk02", "2015-wk01"]
    box = heads.first.bounding_box()
    assert box["x"] + box["width"] <= 390
    caption = page.locator("#energy-by-week caption").bounding_box()
    assert caption["x"] + caption["width"] <= 390
    page.close()


def test_what_does_not_fit_begins_with_the_newest_week(browser: Any, tmp_path: Path, week: Any) -> None:
    summary = week_summary(week(n_appliances=3, days=1))
    for name in [f"2015-wk{n:02d}" for n in range(1, 8)]:
        folder = tmp_path / "house_sim" / name
        folder.mkdir(parents=True)
        (folder / "summary.json").write_text(json.dumps(summary | {"week": name}), encoding="utf-8")
    page = browser.new_page(viewport={"width": 390, "height": 900})
    page.set_content(render_house(tmp_path, "house_sim"))
    figure = page.get_by_role("region", name="Energy by week, as a figure")
    assert figure.evaluate("box => box.scrollLeft + box.clientWidth - box.scrollWidth") == 0
    last = figure.locator("text", has_text="2015-wk07").bounding_box()
    assert last["x"] + last["width"] <= 390
    page.close()


def test_pages_hold_half_a_year_and_each_year_has_its_own(tmp_path: Path, week: Any) -> None:
    summary = week_summary(week(n_appliances=3, days=1))
    names = [f"2014-wk{n:02d}" for n in range(41, 53)] + [f"2015-wk{n:02d}" for n in range(1, 31)]
    for n, name in enumerate(names):
        folder = tmp_path / "house_sim" / name
        folder.mkdir(parents=True)
        (folder / "summary.json").write_text(json.dumps(summary | {"week": name}), encoding="utf-8")
        (folder / "report.html").write_text("x", encoding="utf-8")
        if n == PAGE.weeks_shown - 1:
            assert years_of(tmp_path, "house_sim") == []
    assert years_of(tmp_path, "house_sim") == [2014, 2015]

    last, year = render_house(tmp_path, "house_sim"), render_house(tmp_path, "house_sim", 2014)
    assert [name for name in names if f'href="{name}/' in last] == names[-PAGE.weeks_shown :]
    assert [name for name in names if f'href="{name}/' in year] == names[:12]
    assert 'href="2014.html"' in last
    assert 'href="index.html"' in year
    assert "nothing to compare with" in year
    index = render_index(tmp_path)
    assert index.count('/report.html">2') == PAGE.weeks_shown + 1  # and the last one once more
    assert re.search(rf"house_sim: .*\b{len(names)}\b", index)


def test_a_week_that_failed_and_a_house_that_is_late_are_on_the_index(outputs: Path) -> None:
    now = datetime(2015, 2, 2, 6, tzinfo=UTC)
    note_failure(outputs / "house_sim" / "2015-wk04", "vi-1.flac: disk is full", now=now)
    note_failure(outputs / "house_sim" / "2015-wk03", "no row", now=now)
    assert note_silence(outputs / "house_sim", datetime(2015, 1, 24, tzinfo=UTC), now=now)
    line, table = render_index(outputs).split('class="section"', 1)
    for said in ("2015-wk04: failed on 2015-02-02 06:00 UTC: vi-1.flac: disk is full", "2015-wk03: failed"):
        assert said in line
    assert "late: no recordings since 2015-01-24 00:00 UTC" in line
    assert "2015-wk04/report.html" not in line + table  # there is none
    assert "2015-wk03 is as it was before its last run" in render_house(outputs, "house_sim")
    for week in ("2015-wk04", "2015-wk03"):
        forget_troubles(outputs / "house_sim" / week)
    assert "failed on" not in render_index(outputs)
    assert "late:" not in render_index(outputs)


def test_a_house_with_recent_recordings_is_not_late(tmp_path: Path) -> None:
    now = datetime(2015, 2, 2, 6, tzinfo=UTC)
    assert not note_silence(tmp_path, datetime(2015, 2, 1, tzinfo=UTC), now=now)
    assert silence_of(tmp_path) == ""


def test_a_note_that_cannot_be_read_still_says_that_a_run_failed(tmp_path: Path) -> None:
    (tmp_path / FAILED_FILE).write_text("[", encoding="utf-8")
    assert failure_of(tmp_path) == "failed; failed.json cannot be read"
