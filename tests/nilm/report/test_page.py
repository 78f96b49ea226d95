"""The report's page as a reader meets it: in a real browser, at two widths, light and dark."""

from typing import Any

import pytest

from nilm.report import render_report
from nilm.results import WeekResult

ATTACK = "<script>document.title='attacked';alert(1)</script>"


@pytest.fixture(scope="session")
def html(week: Any) -> str:
    return render_report(week())


def opened(browser: Any, html: str, *, width: int = 1280, scheme: str = "light") -> tuple[Any, list[str]]:
    """The page in a fresh context, and whatever it complained about or asked the network for."""
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
    page = context.new_page()
    complaints: list[str] = []
    page.on("console", lambda m: complaints.append(m.text))
    page.on("pageerror", lambda e: complaints.append(str(e)))
    page.on("dialog", lambda d: (complaints.append("dialog"), d.dismiss()))
    page.on("request", lambda r: complaints.append(r.url) if not r.url.startswith("data:") else None)
    page.set_content(html, wait_until="load")
    return page, complaints


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_opens_without_complaint_overflow_or_network(
    browser: Any, html: str, width: int, scheme: str
) -> None:
    page, complaints = opened(browser, html, width=width, scheme=scheme)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert complaints == []
    page.context.close()


def test_sections_come_in_the_agreed_order(browser: Any, html: str) -> None:
    page, _ = opened(browser, html)
    assert page.locator("main h2").all_inner_texts() == [
        "1 The week",
        "2 Where the energy went",
        "3 When",
        "4 Each appliance",
        "5 What was corrected",
        "6 How sure we are",
        "7 Data quality",
        "8 How it was made",
    ]
    page.context.close()


def values(page: Any, selector: str) -> list[float]:
    return [float(v) for v in page.locator(f"{selector} data").evaluate_all("a => a.map(d => d.value)")]


def test_the_numbers_are_those_of_the_result(browser: Any, html: str, week: Any) -> None:
    result: WeekResult = week()
    page, _ = opened(browser, html)
    assert values(page, "#metered") == [result.metered_kwh]
    assert values(page, "#explained") == [1 - result.unexplained_kwh / result.metered_kwh]
    assert values(page, "#appliance-count") == [len(result.appliances)]
    assert values(page, "#coverage") == [result.quality.coverage]
    assert values(page, "#unexplained .n")[0] == result.unexplained_kwh
    for a in result.appliances:
        of_a = f"[data-appliance={a.appliance_id}]"
        assert values(page, f"#energy-table {of_a} [data-field=energy_kwh]") == [a.energy_kwh]
        for field in ("active_w", "rms_a", "power_factor", "thd", "share_of_time", "energy_kwh", "support"):
            assert values(page, f".facts{of_a} [data-field={field}]") == [getattr(a, field)], field
        assert values(page, f".facts{of_a} [data-field=activations]") == [len(a.activations)]
        shown = values(page, f".runs{of_a}")
        expected = [v for r in a.activations for v in (r.duration_s, r.mean_w, r.energy_kwh)]
        assert shown == expected
    page.context.close()
