"""The report's page as a reader meets it: in a real browser, at two widths, light and dark."""

import csv
import io
import itertools
import re
from collections import Counter
from dataclasses import replace
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pytest

from nilm.report.page import render_report
from nilm.results import CatalogueChanges, NotToldApart, WeekResult
from nilm.week.files import week_files

ATTACK = "<script>document.title='attacked';alert(1)</script>\"'$x_1$"
MEGABYTE = 1_000_000


@pytest.mark.parametrize(
    ("width", "scheme"), [(1280, "light"), (1280, "dark"), (390, "light"), (390, "dark"), (768, "light")]
)
def test_opens_without_complaint_overflow_or_network(
    opened_page: Any, html: str, width: int, scheme: str
) -> None:
    with opened_page(html, width=width, color_scheme=scheme) as opened:
        assert opened.overflow <= 0
        assert opened.complaints == []
        clipped = opened.page.evaluate(
            # Text that sticks out of the window although its box does not scroll.
            """[...document.querySelectorAll('main h2, main h3, main h4, main p, main dd, .numbers dd')]
               .filter(e => e.checkVisibility() && e.getBoundingClientRect().right > innerWidth + 1)
               .map(e => e.textContent)"""
        )
        assert clipped == []


def test_sections_come_in_the_agreed_order(opened_page: Any, html: str) -> None:
    with opened_page(html) as opened:
        assert opened.page.locator("main h2").all_inner_texts() == [
            "1 The week",
            "2 Where the energy went",
            "3 When",
            "4 Each appliance",
            "5 What was corrected",
            "6 How sure we are",
            "7 Data quality",
            "8 How it was made",
        ]


def test_the_numbers_are_those_of_the_result(opened_page: Any, html: str, result: WeekResult) -> None:
    with opened_page(html) as opened:
        values = opened.values
        assert values("#metered") == [result.metered_kwh]
        assert values("#explained") == [1 - result.unexplained_kwh / result.metered_kwh]
        assert values("#appliance-count") == [len(result.appliances)]
        assert values("#coverage") == [result.quality.coverage]
        assert values("#unexplained .n")[0] == result.unexplained_kwh
        assert values("#total .n")[0] == result.metered_kwh
        energies = values("#energy-table [data-field=energy_kwh]")
        assert sum(energies) + result.unexplained_kwh == pytest.approx(result.metered_kwh, abs=1e-9)
        for a in result.appliances:
            of_a = f"[data-appliance={a.appliance_id}]"
            assert values(f"#energy-table {of_a} [data-field=energy_kwh]") == [a.energy_kwh]
            for field in ("active_w", "rms_a", "power_factor", "thd", "share_of_time", "support"):
                assert values(f".facts{of_a} [data-field={field}]") == [getattr(a, field)], field
            assert values(f".facts{of_a} [data-field=activations]") == [len(a.activations)]
            expected = [v for r in a.activations for v in (r.duration_s, r.mean_w, r.energy_kwh)]
            assert values(f".runs{of_a}") == expected
        for row in result.scores.appliances:
            for field in ("f1", "mae_w", "rmse_w", "nde", "energy_error_kwh"):
                shown = values(f"#scores [data-appliance={row.appliance_id}] [data-field={field}]")
                assert shown == [getattr(row, field)]
        assert values("#corrections") == [
            w for c in result.corrections for w in (c.watts_before, c.watts_after)
        ]


def test_the_numbers_are_those_of_the_files(opened_page: Any, html: str, result: WeekResult) -> None:
    files = {name: content.decode() for name, content in week_files(result).items() if name.endswith(".csv")}
    with opened_page(html) as opened:
        compared = 0
        for line in csv.DictReader(io.StringIO(files["appliances.csv"])):
            if line["appliance_id"] == "unexplained":
                assert opened.values("#unexplained .n")[0] == float(line["energy_kwh"])
                continue
            of_it = f"[data-appliance={line['appliance_id']}]"
            for field in (
                "active_w",
                "rms_a",
                "power_factor",
                "thd",
                "share_of_time",
                "activations",
                "support",
            ):
                assert opened.values(f".facts{of_it} [data-field={field}]") == [float(line[field])], field
                compared += 1
            assert opened.values(f"#energy-table {of_it} [data-field=energy_kwh]") == [
                float(line["energy_kwh"])
            ]
        assert compared == 7 * len(result.appliances)
        runs: dict[str, list[float]] = {}
        for line in csv.DictReader(io.StringIO(files["activations.csv"])):
            numbers = [float(line[field]) for field in ("duration_s", "mean_w", "energy_kwh")]
            runs.setdefault(line["appliance_id"], []).extend(numbers)
        for appliance_id, numbers in runs.items():
            assert opened.values(f".runs[data-appliance={appliance_id}]") == numbers


def test_readers_with_a_keyboard_or_a_screen_reader_find_their_way(opened_page: Any, html: str) -> None:
    with opened_page(html) as opened:
        page = opened.page
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.className") == "skip"
        assert page.evaluate("document.activeElement.getBoundingClientRect().left") >= 0
        for landmark in ("header", "nav[aria-label]", "main", "footer"):
            assert page.locator(landmark).count() == 1
        levels = page.locator("h1, h2, h3, h4").evaluate_all("all => all.map(h => Number(h.tagName[1]))")
        assert levels[0] == 1
        assert all(after <= before + 1 for before, after in itertools.pairwise(levels))
        assert page.locator("thead th:not([scope])").count() == 0
        silent = page.locator("svg:not([aria-hidden])").evaluate_all(
            """all => all.filter(s => s.getAttribute('role') !== 'img' ||
               !(s.getAttribute('aria-label') || s.querySelector('title')?.textContent))
               .map(s => s.outerHTML.slice(0, 80))"""
        )
        assert silent == []
        dead = page.locator("a[href^='#']").evaluate_all(
            "all => all.filter(a => !document.getElementById(a.hash.slice(1))).map(a => a.hash)"
        )
        assert dead == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_has_enough_contrast(opened_page: Any, html: str, scheme: str) -> None:
    with opened_page(html, color_scheme=scheme) as opened:
        lowest = opened.page.evaluate(
            """() => {
              const rgb = c => c.match(/[\\d.]+/g).slice(0, 3).map(Number);
              const light = c => rgb(c).map(v => v / 255)
                .map(v => v <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4)
                .reduce((sum, v, i) => sum + v * [.2126, .7152, .0722][i], 0);
              const ground = e => {
                for (; e; e = e.parentElement) {
                  const c = getComputedStyle(e).backgroundColor;
                  if (!c.endsWith(', 0)')) return c;
                }
              };
              let lowest = [99, ''];
              const texts = 'p, a, th, td, dd, dt, summary, button, caption, svg text';
              for (const e of document.querySelectorAll(texts)) {
                if (!e.textContent.trim() || !e.checkVisibility()) continue;
                const style = getComputedStyle(e);
                const [a, b] = [light(e.tagName === 'text' ? style.fill : style.color), light(ground(e))];
                const contrast = (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
                if (contrast < lowest[0]) lowest = [contrast, e.outerHTML.slice(0, 120)];
              }
              return lowest;
            }"""
        )
        assert lowest[0] >= 4.5, lowest[1]


def test_a_day_can_be_looked_at_closely(opened_page: Any, html: str) -> None:
    with opened_page(html) as opened:
        page = opened.page
        row = page.locator(".timeline svg.row").first
        assert row.get_attribute("viewBox") == "0 0 10080 10"
        page.get_by_role("button", name="Tue 30 Dec").click()
        assert row.get_attribute("viewBox") == "1440 0 1440 10"
        assert page.locator(".zoom button[aria-pressed=true]").all_inner_texts() == ["Tue 30 Dec"]
        assert page.locator(".axis li").first.inner_text() == "00:00"
        page.get_by_role("button", name="Whole week").click()
        assert row.get_attribute("viewBox") == "0 0 10080 10"
        page.locator(".timeline li", has_text="standby").locator("svg").hover()
        assert page.locator("#tip").inner_text().startswith("standby: on ")
        page.get_by_role("button", name="Wed 31 Dec").click()
        row.hover(position={"x": row.bounding_box()["width"] * 5.5 / 24, "y": 4})
        assert "no data at Wed 31 Dec 05:" in page.locator("#tip").inner_text()
        assert opened.complaints == []


def test_nothing_is_missing_without_scripts(opened_page: Any, html: str) -> None:
    with opened_page(html, java_script_enabled=False) as opened:
        assert opened.page.locator(".zoom").is_hidden()
        assert opened.page.locator(".timeline svg.row").count() == 10
        assert opened.page.locator("svg.heat").count() == 10


def test_prints_light_on_paper_even_from_a_dark_screen(opened_page: Any, html: str) -> None:
    with opened_page(html, color_scheme="dark") as opened:
        opened.page.emulate_media(media="print", color_scheme="dark")
        ground = opened.page.evaluate("getComputedStyle(document.documentElement).backgroundColor")
        assert ground == "rgb(255, 255, 255)"
        assert opened.page.pdf(format="A4").startswith(b"%PDF")


def test_hostile_names_do_no_harm(opened_page: Any, week: Any) -> None:
    names = {
        0: ATTACK,
        1: "../../x",
        2: "</title></svg></style><img src=x onerror=alert(1)>",
        3: "_",
        4: "x" * 300,
    }
    hostile = week(
        n_appliances=6,
        names=names,
        house=ATTACK,
        week="<b>2015",
        currency="<i>",
        catalogue=CatalogueChanges(new=(ATTACK,), gone=(ATTACK,), changed=(ATTACK,)),
        provenance={ATTACK: [ATTACK, {"x": ATTACK}]},
    )
    with opened_page(render_report(hostile), width=390) as opened:
        assert opened.complaints == []
        assert "attacked" in opened.page.title()  # as words of the title, and only so
        assert opened.page.title().startswith("<script>")
        assert opened.overflow <= 0
        assert opened.page.locator("script").count() == 4  # ours, Bokeh's, the chart's, and its numbers
        assert opened.page.locator("img").count() == 0
        assert ATTACK in opened.page.locator("#energy-table").inner_text()


class Ids(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.seen: Counter[str] = Counter()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.update(value for name, value in attrs if name == "id" and value)


def test_no_id_stands_twice(html: str) -> None:
    ids = Ids()
    ids.feed(html)
    assert [name for name, n in ids.seen.items() if n > 1] == []
    assert len(ids.seen) > 50


def test_the_same_result_gives_the_same_bytes(week: Any, html: str) -> None:
    assert render_report(week()) == html


@pytest.mark.slow
def test_a_hundred_appliances_stay_readable_and_small(opened_page: Any, week: Any) -> None:
    html = render_report(week(n_appliances=100, ranges=True))
    assert len(html.encode()) < 5 * MEGABYTE
    with opened_page(html, width=390) as opened:
        assert opened.complaints == []
        assert opened.overflow <= 0
        # One of the hundred is a part: it is shown inside its machine.
        assert opened.page.locator("article.card > details:not([open])").count() == 99
        # Small features share one line, so the table is shorter than the house.
        assert 20 < opened.page.locator("#energy-table tbody tr").count() < 100


def test_a_correction_that_left_on_and_off_alone_shows_no_strips(result: WeekResult) -> None:
    correction = result.corrections[0]
    on = next(a.on for a in result.appliances if a.appliance_id == correction.appliance_id)
    same = replace(result, corrections=(replace(correction, on_before=on),))
    assert "When it is on did not change" in render_report(same)
    turned = replace(result, corrections=(correction,))
    assert "When it is on did not change" not in render_report(turned)


def test_a_link_to_a_folded_appliance_opens_it(opened_page: Any, week: Any) -> None:
    with opened_page(render_report(week(n_appliances=20))) as opened:
        card = opened.page.locator("#card-A02 > details")
        assert card.get_attribute("open") is None
        opened.page.evaluate("location.hash = 'card-A02'")
        opened.page.wait_for_selector("#card-A02 > details[open]")


def test_one_appliance_makes_a_page(opened_page: Any, week: Any) -> None:
    with opened_page(render_report(week(n_appliances=1))) as opened:
        assert opened.complaints == []
        assert "1 appliance explains" in opened.page.locator(".lede").first.inner_text()


def test_no_appliance_at_all_is_said_in_words(opened_page: Any, result: WeekResult) -> None:
    empty = replace(
        result, appliances=(), corrections=(), scores=None, unexplained_kwh=result.metered_kwh, provenance={}
    )
    with opened_page(render_report(empty)) as opened:
        assert opened.complaints == []
        text = opened.page.locator("main").text_content()
        assert "No appliance could be told apart" in text
        assert "neither a submeter nor a simulated truth" in text
        assert "the first solution was kept" in text


def test_two_usable_hours_are_shown_as_what_they_are(week: Any) -> None:
    html = render_report(week(n_appliances=3, days=1, gap=(60, 720)))
    assert "On Monday 29 December 2014" in html
    assert re.search(r'id="coverage"><data value="0\.08', html)


def test_runs_are_listed_to_the_second(result: WeekResult) -> None:
    first, *others = result.appliances
    start = first.activations[0].start_utc.astype("datetime64[D]") + np.timedelta64(
        19 * 3600 + 8 * 60 + 7, "s"
    )
    run = replace(
        first.activations[0], start_utc=start, end_utc=start + np.timedelta64(37, "s"), duration_s=37.0
    )
    html = render_report(replace(result, appliances=(replace(first, activations=(run,)), *others)))
    assert "19:08:07</time>" in html
    assert "19:08:44</time>" in html
    assert "37 s</data>" in html


def test_a_card_tells_how_the_appliance_starts(result: WeekResult) -> None:
    first, *others = result.appliances
    motor = replace(first, inrush=5.2, inrush_s=0.3)
    html = render_report(replace(result, appliances=(motor, *others)))
    assert html.count("starts with 5.2 times its current for 0.3\u00a0s") == 1
    assert "starts softly" not in html


def test_numbers_that_do_not_exist_are_dashes(result: WeekResult) -> None:
    odd = replace(
        result,
        metered_kwh=-1.5,
        mains_hz=np.full_like(result.mains_hz, np.nan),
        rms_v=np.full_like(result.rms_v, np.nan),
        appliances=(replace(result.appliances[0], thd=float("nan"), active_w=-900.0, activations=()),),
    )
    html = render_report(odd)
    words = re.sub(r"<(svg|script).*?</\1>", "", html, flags=re.DOTALL).lower()
    assert "nan" not in words
    assert "fed in more than it used" in html
    assert "No run was long enough" in html


def test_doubts_sums_ranges_and_what_is_left_over_are_said(result: WeekResult) -> None:
    first, second, *others = result.appliances
    doubtful = replace(
        first,
        sure=0.3,
        energy_low_kwh=1.0,
        energy_high_kwh=9.0,
        doubt="it hardly ever switches alone",
        would_settle="switch it on alone",
        part_of=None,
        not_told_apart_from=(second.appliance_id,),
    )
    ids = (first.appliance_id, second.appliance_id)
    certainty = replace(
        result.certainty,
        at_noise_floor=False,
        left_over_words=("4.0% of the energy is left over.", "It is left over all week."),
        indistinguishable=(ids,),
        not_told_apart=(NotToldApart(ids, "they always ran together", 12.0, 11.0, 13.5),),
    )
    page = render_report(replace(result, appliances=(doubtful, second, *others), certainty=certainty))
    text = re.sub(r"\s+", " ", re.sub(r"<[^>]+>", "", page)).replace("\u00a0", " ")
    assert "a guess, not told apart" in text
    assert f"A guess (30 %); it cannot be told apart from {second.name}" in text
    assert text.count("it hardly ever switches alone; what would settle it: switch it on alone") == 2
    assert "1.00 to 9.00" in text
    assert "£0.28 to £2.52" in text  # at £0.28 per kWh
    assert "they always ran together. Together 12.0 kWh (11.0 to 13.5 kWh)." in text
    assert (
        "Is what is left over only noise?no 4.0% of the energy is left over. It is left over all week."
        in text
    )


def test_where_nothing_was_corrected_there_is_no_score_before_it(result: WeekResult) -> None:
    scores = replace(result.scores, assigned=0.8, assigned_one=0.7, assigned_before=0.6)
    scored = replace(result, scores=scores)
    assert render_report(scored).count("before the corrections <data") == 2
    assert "before the corrections <data" not in render_report(replace(scored, corrections=()))


def test_a_run_that_is_a_guess_is_marked(result: WeekResult) -> None:
    assert "whether it ran then is a guess" not in render_report(result)
    first, *others = (a for a in result.appliances if a.activations)
    runs = (replace(first.activations[0], sure=0.2), *(replace(r, sure=0.9) for r in first.activations[1:]))
    page = render_report(replace(result, appliances=(replace(first, activations=runs), *others)))
    assert page.count("whether it ran then is a guess") == 1
    assert page.count("</data> ?") == 1
