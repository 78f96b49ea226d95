from nilm.report.summary import ApplianceLine, WeekSummary
from nilm.report.text.brief import markdown_table, week_brief


def test_a_week_is_a_sentence_four_numbers_and_a_table() -> None:
    lines = (
        ApplianceLine("A02", "fridge", "motor", 1, 5.0),
        ApplianceLine("A01", "kettle | <b>", "resistive heater", 0, 15.0),
    )
    summary = WeekSummary(
        house="house_1",
        week="2015-wk01",
        first_utc="2014-12-29T00:00:00Z",
        last_utc="2015-01-04T23:58:00Z",
        metered_kwh=20.470218548875531,
        unexplained_kwh=0.470218548875531,
        coverage=0.993,
        verdict="identifiable",
        tariff_per_kwh=0.25,
        currency="£",
        appliances=lines,
    )
    text = week_brief(summary, report="https://reports.test/house_1/2015-wk01/report.html")
    assert text.startswith(
        "house_1 used 20.5 kWh in 2015-wk01, most of it by kettle \\| \\<b\\> (15.0 kWh).\n\n"
        "| energy | cost | appliances | recorded |\n| --- | --- | --- | --- |\n"
        "| 20.5 kWh | £5.12 | 2 | 99% of the week |\n\n"
        "| appliance | kind | kWh | share | cost |\n| --- | --- | --- | --- | --- |\n"
        "| kettle \\| \\<b\\> | resistive heater | 15.00 | 75% | £3.75 |\n"
        "| fridge | motor | 5.00 | 25% | £1.25 |\n"
    )
    assert "[The report](https://reports.test/house_1/2015-wk01/report.html)" in text
    assert "The report: `outputs/report.html`" in week_brief(summary, report="outputs/report.html")


def test_a_cell_cannot_leave_its_table() -> None:
    assert markdown_table(("a",), [("x\n| y",)]) == "| a |\n| --- |\n| x \\| y |"
