"""A week in a few lines of Markdown: a sentence, four numbers and a table, for whoever shows no HTML."""

import re
from collections.abc import Sequence

from nilm.report.summary import WeekSummary


def week_brief(summary: WeekSummary, *, report: str) -> str:
    """The week's Markdown; `report` is the address of its page, or the path where that has none."""
    used = sum(line.energy_kwh for line in summary.appliances if line.energy_kwh > 0)
    ranked = sorted(summary.appliances, key=lambda line: -line.energy_kwh)
    sentence = f"{summary.house} used {summary.metered_kwh:.1f} kWh in {summary.week}"
    if ranked and ranked[0].energy_kwh > 0:
        sentence += f", most of it by {_safe(ranked[0].name)} ({ranked[0].energy_kwh:.1f} kWh)"
    numbers = markdown_table(
        ("energy", "cost", "appliances", "recorded"),
        [
            (
                f"{summary.metered_kwh:.1f} kWh",
                f"{summary.currency}{summary.metered_kwh * summary.tariff_per_kwh:.2f}",
                str(len(summary.appliances)),
                f"{summary.coverage:.0%} of the week",
            )
        ],
    )
    appliances = markdown_table(
        ("appliance", "kind", "kWh", "share", "cost"),
        [
            (
                line.name,
                line.kind,
                f"{line.energy_kwh:.2f}",
                f"{line.energy_kwh / used:.0%}" if used else "",
                f"{summary.currency}{line.energy_kwh * summary.tariff_per_kwh:.2f}",
            )
            for line in ranked
        ],
    )
    where = f"[The report]({report})" if "://" in report else f"The report: `{report}`"
    return f"{sentence}.\n\n{numbers}\n\n{appliances}\n\n{where}\n"


def markdown_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table in Markdown; cells with pipes or line breaks stay cells."""
    lines = [columns, ["---"] * len(columns), *([_safe(cell) for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _safe(text: str) -> str:
    """`text` on one line, and without what Markdown or HTML would take for its own."""
    return re.sub(r"([\\|<>\[\]`*_])", r"\\\1", " ".join(text.split()))
