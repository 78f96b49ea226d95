from dataclasses import replace

from nilm.report.summary import ApplianceLine, WeekSummary
from nilm.report.text.brief import markdown_table, week_brief, week_line


def test_a_week_is_a_sentence_four_numbers_and_a_table() -> None:
    lines = (
        ApplianceLine("A02", "fridge", "motor", 1, 5.0, sure=0.97, low_kwh=4.5, high_kwh=5.5),
        ApplianceLine("A01", "kettle | <b>", "resistive heater", 0, 15.0),
    )
    summary = WeekSummary(
        house="house_1",
        week="2015-wk01",
        metered_kwh=20.470218548875531,
        unexplained_kwh=0.470218548875531,
        coverage=0.993,
        tariff_per_kwh=0.25,
        currency="£",
        appliances=lines,
    )
    text = week_brief(summary, [], report="https://reports.test/house_1/2015-wk01/report.html")
    assert text.startswith(
        "house_1 used 20.5 kWh in 2015-wk01, most of it by kettle \\| \\<b\\> (15.0 kWh).\n\n"
        "| energy | cost | appliances | recorded |\n| --- | --- | --- | --- |\n"
        "| 20.5 kWh | £5.12 | 2 | 99% of the week |\n\n"
        "| id | appliance | kind | kWh | share | cost | how sure |\n"
        "| --- | --- | --- | --- | --- | --- | --- |\n"
        "| A01 | kettle \\| \\<b\\> | resistive heater | 15.00 | 75% | £3.75 |  |\n"
        "| A02 | fridge | motor | 5.00 | 25% | £1.25 | very sure |\n"
    )
    assert "[The report](https://reports.test/house_1/2015-wk01/report.html)" in text
    assert "The report: `outputs/report.html`" in week_brief(summary, [], report="outputs/report.html")
    assert week_line(summary, []) == "house_1 2015-wk01: 20.5 kWh, £5.12, 2 appliances"
    sunny = replace(
        summary, metered_kwh=-4.0, currency="EUR", appliances=(replace(lines[0], energy_kwh=-8.0),)
    )
    assert week_line(sunny, []) == "house_1 2015-wk01: −4.0 kWh, −€1.00, 1 appliance"
    assert "| A02 | fridge | motor | −8.00 |  | −€2.00 | very sure |" in week_brief(sunny, [], report="r")

    fridge = replace(lines[0], energy_kwh=4.6, low_kwh=4.2, high_kwh=4.9)
    before = replace(summary, week="2014-wk52", metered_kwh=10.0, appliances=(fridge,))
    text = week_brief(summary, [before], report="outputs/report.html")
    assert "\n\nAgainst 2014-wk52: +10.5 kWh; fridge +0.4 kWh (in doubt); new: kettle " in text
    assert week_line(summary, [before]).endswith("2 appliances, +10.5 kWh against 2014-wk52")
    as_before = replace(before, metered_kwh=summary.metered_kwh + 0.01)
    assert week_line(summary, [as_before]).endswith("2 appliances, ±0.0 kWh against 2014-wk52")


def test_a_cell_cannot_leave_its_table() -> None:
    assert markdown_table(("a",), [("x\n| y",)]) == "| a |\n| --- |\n| x \\| y |"
