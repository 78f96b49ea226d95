"""The report in an analyst's hands: chart, folds, machines, what changed, paper and telephone."""

import re
from dataclasses import replace
from typing import Any

import pytest

from nilm.report.page import render_report
from nilm.report.summary import summary_of
from nilm.results import WeekResult


def test_the_chart_zooms_with_the_timeline_and_names_hide_and_isolate(opened_page: Any, html: str) -> None:
    with opened_page(html) as opened:
        page = opened.page
        page.wait_for_selector("#power .chart .bk-Canvas, #power .chart [class*=bk]")
        assert page.locator("#power .still").is_hidden()
        span = "() => (r => (r.end - r.start) / 60e3)(Bokeh.documents[0].roots()[0].x_range)"
        assert page.evaluate(span) == 10_080
        page.get_by_role("button", name="Tue 30 Dec").click()
        assert page.evaluate(span) == 1_440
        row = page.locator(".timeline svg.row").first
        page.evaluate("() => (r => { r.end = r.start + 60 * 60e3 })(Bokeh.documents[0].roots()[0].x_range)")
        assert row.get_attribute("viewBox") == "1440 0 60 10"
        page.get_by_role("button", name="Whole week").click()
        assert page.evaluate(span) == 10_080

        page.get_by_role("button", name="Show only fridge").click()
        page.wait_for_function("() => Bokeh.documents[0].roots()[0].y_range.end < 500")  # it fills the height
        page.get_by_role("button", name="Show only kettle").click()
        assert page.locator("#power .legend li:not(.off)").all_inner_texts() == ["kettle"]
        page.get_by_role("button", name="Show only kettle").click()
        assert page.locator("#power .legend li.off").count() == 0
        page.get_by_role("button", name="Show or hide kettle").click()
        assert page.locator("#power .legend li.off").all_inner_texts() == ["kettle"]
        assert opened.complaints == []


def test_dragging_over_the_chart_zooms_and_a_pointer_tells_the_watts(opened_page: Any, html: str) -> None:
    with opened_page(html) as opened:
        page = opened.page
        chart = page.locator("#power .chart")
        chart.scroll_into_view_if_needed()
        page.wait_for_function("() => Bokeh.documents[0]?.is_idle")
        box = chart.bounding_box()
        middle = box["y"] + box["height"] / 2
        tip = page.locator("#tip")
        for step in range(100):  # the chart hears the pointer only some frames after it is drawn
            page.mouse.move(box["x"] + 0.4 * box["width"] + step % 2, middle)
            page.wait_for_timeout(100)
            if tip.is_visible():
                break
        assert re.search(r"metered [\d,]+ W", page.locator("#tip").inner_text())
        assert "standby: " in page.locator("#tip").inner_text()
        page.mouse.down()
        page.mouse.move(box["x"] + 0.6 * box["width"], middle, steps=5)
        page.mouse.up()
        page.wait_for_function(
            "() => Number(document.querySelector('svg.row').getAttribute('viewBox').split(' ')[2]) < 4000"
        )
        page.get_by_role("button", name="Show only fridge").click()
        page.wait_for_function("() => Bokeh.documents[0].roots()[0].y_range.end < 500")  # it fills the height
        page.mouse.dblclick(box["x"] + 0.5 * box["width"], middle)
        page.wait_for_function(
            "() => document.querySelector('svg.row').getAttribute('viewBox') === '0 0 10080 10'"
        )
        assert opened.complaints == []


def test_the_tooltip_of_a_run_has_day_watts_energy_and_cost(opened_page: Any, html: str) -> None:
    with opened_page(html) as opened:
        row = opened.page.locator("#timeline li", has_text="standby").locator("svg")
        row.hover(position={"x": row.bounding_box()["width"] - 2, "y": 4})
        said = opened.page.locator("#tip").inner_text()
        assert re.search(r"to Mon 5 Jan 00:00", said)
        assert re.search(r"\d+ W, [\d.]+ kWh, [\d.]+ GBP|\d+ W, [\d.]+ kWh, £[\d.]+", said)


def test_without_scripts_the_figure_stands_in_for_the_chart(opened_page: Any, html: str) -> None:
    with opened_page(html, java_script_enabled=False) as opened:
        assert opened.page.locator("#power .still svg").is_visible()
        assert opened.page.locator("#power .chart").is_hidden()


def test_paper_shows_the_figure_and_the_folded_sections(opened_page: Any, html: str) -> None:
    with opened_page(html) as opened:
        page = opened.page
        page.emulate_media(media="print")
        assert page.locator("#power .still svg").is_visible()
        assert page.locator("#power .chart").is_hidden()
        assert page.locator("#equivalents").is_visible()
        page.emulate_media(media="screen")
        assert page.locator("#equivalents").is_hidden()


def test_a_machine_is_one_entry_that_opens(opened_page: Any, result: WeekResult, html: str) -> None:
    part = next(a for a in result.appliances if a.part_of)
    machine = next(a for a in result.appliances if a.appliance_id == part.part_of)
    with opened_page(html) as opened:
        page = opened.page
        assert opened.values("#energy-table [data-field=machine_kwh]") == [
            pytest.approx(machine.energy_kwh + part.energy_kwh)
        ]
        inside = page.locator(f"#energy-table [data-appliance={part.appliance_id}]")
        assert inside.is_hidden()
        page.locator("#energy-table summary", has_text="with 1 part").click()
        assert inside.is_visible()
        assert page.locator(f"#card-{machine.appliance_id} #card-{part.appliance_id}").count() == 1


def test_small_and_doubtful_features_are_one_line(opened_page: Any, result: WeekResult) -> None:
    small = tuple(
        replace(a, energy_kwh=0.01, part_of=None) if n >= 6 else replace(a, part_of=None)
        for n, a in enumerate(result.appliances)
    )
    with opened_page(render_report(replace(result, appliances=small))) as opened:
        line = opened.page.locator("#minor")
        assert "4 small or doubtful ones" in line.inner_text()
        assert line.locator("li").first.is_hidden()
        assert opened.page.locator("article.card:visible").count() == 6
        opened.page.evaluate(f"location.hash = 'card-{small[-1].appliance_id}'")
        opened.page.wait_for_selector(f"#card-{small[-1].appliance_id} > details[open]")
    named = (*small[:-1], replace(small[-1], name_source="analyst"))
    assert 'value="3">3 small or doubtful ones' in render_report(replace(result, appliances=named))


def test_every_card_has_its_id_and_says_how_to_name_it(result: WeekResult, html: str) -> None:
    for a in result.appliances:
        assert f'nilm name --house house_sim {a.appliance_id} "…"' in html


def test_the_first_screen_says_what_changed_and_why(opened_page: Any, week: Any, result: WeekResult) -> None:
    before = summary_of(replace(result, week="2014-wk52"))
    first = result.appliances[0]
    fewer = tuple(
        replace(
            line,
            energy_kwh=line.energy_kwh / 2,
            low_kwh=line.low_kwh / 2,
            high_kwh=line.high_kwh / 2,
            runs=max(1, line.runs // 2),
            on_s=line.on_s / 2,
        )
        if line.appliance_id == first.appliance_id
        else line
        for line in before.appliances[:-1]
    )
    before = replace(before, appliances=fewer, metered_kwh=before.metered_kwh - first.energy_kwh / 2)
    with opened_page(render_report(result, [before])) as opened:
        said = opened.page.locator("#changed").inner_text().replace("\u00a0", " ")
        assert said.startswith("Against last week (2014-wk52): +")
        assert "more" in said
        rise = opened.page.locator(f".moves [data-appliance={first.appliance_id}]").inner_text()
        assert f"{len(first.activations)} runs instead of" in rise
        assert "Back again" in opened.page.locator(".moves").inner_text()
        assert "in doubt" not in opened.page.locator(".moves").inner_text()
    wide = replace(first, energy_low_kwh=0.0, energy_high_kwh=2 * first.energy_kwh, sure=0.3)
    unsure = replace(result, appliances=(wide, *result.appliances[1:]))
    ranged = tuple(replace(line, low_kwh=0.0, high_kwh=line.energy_kwh) for line in before.appliances)
    for width in (1280, 390):
        page = render_report(unsure, [replace(before, appliances=ranged)])
        with opened_page(page, width=width) as opened:
            moves = opened.page.locator(".moves")
            assert "(in doubt)" in moves.inner_text()
            assert moves.bounding_box()["y"] < opened.page.viewport_size["height"]
    assert "What changed" not in render_report(result, [])


def test_nothing_negative_is_a_cost_on_the_first_screen(opened_page: Any, result: WeekResult) -> None:
    over = replace(result, unexplained_kwh=-0.001 * result.metered_kwh)
    with opened_page(render_report(over)) as opened:
        assert "all" in opened.page.locator("#explained").inner_text()
        assert "−£" not in opened.page.locator("main").inner_text()
        assert "a little more than the meter counted" in opened.page.locator("#unexplained").inner_text()


def test_a_phone_is_not_scrolled_forever(opened_page: Any, html: str) -> None:
    with opened_page(html, width=390) as opened:
        assert opened.page.evaluate("document.documentElement.scrollHeight") < 9_500
        for item in opened.page.locator(".legend li").all():
            box = item.bounding_box()
            assert box["x"] + box["width"] <= 390


def test_a_phone_shows_every_cost_and_no_hint_for_a_mouse(opened_page: Any, week: Any) -> None:
    page = render_report(week(n_appliances=14, ranges=True))
    with opened_page(page, width=390, is_mobile=True, has_touch=True) as opened:
        costs = opened.page.locator("#energy-table tbody tr > td:nth-child(4)").all()
        assert len(costs) > 5
        for cost in costs:
            box = cost.bounding_box()
            assert box["x"] + box["width"] <= 390
        caption = opened.page.locator("figcaption", has_text="The line is the meter")
        assert "Drag" not in caption.inner_text()
        assert "Click on a name" in caption.inner_text()
        (marker,) = opened.page.locator("#minor summary").evaluate_all("all => all.map(s => s.clientHeight)")
        assert marker < 60, "the fold's words stand beside its triangle"


def test_the_chart_stands_on_zero_unless_something_feeds_in(opened_page: Any, result: WeekResult) -> None:
    start = "() => Bokeh.documents[0].roots()[0].y_range.start"
    with opened_page(render_report(result)) as opened:
        opened.page.wait_for_function("() => Bokeh.documents[0]?.is_idle")
        assert opened.page.evaluate(start) == 0
        opened.page.get_by_role("button", name="Tue 30 Dec").click()
        opened.page.get_by_role("button", name="Show only fridge").click()
        opened.page.wait_for_function("() => Bokeh.documents[0].roots()[0].y_range.end < 500")
        assert opened.page.evaluate(start) == 0
    first, *others = result.appliances
    sun = replace(first, active_w=-first.active_w, kind="generator", energy_kwh=-first.energy_kwh)
    with opened_page(render_report(replace(result, appliances=(sun, *others)))) as opened:
        opened.page.wait_for_function("() => Bokeh.documents[0]?.roots()[0]?.y_range.start < -100")
