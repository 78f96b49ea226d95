"""A week in a few lines of Markdown: sentences, four numbers and a table, for whoever shows no HTML."""

import re
from collections.abc import Sequence

from nilm.appliances.certainty.doubts import sure_word
from nilm.report.changes import Comparison, compare
from nilm.report.summary import WeekSummary
from nilm.report.text.words import decimals, money_text


def week_line(summary: WeekSummary, earlier: Sequence[WeekSummary]) -> str:
    """The week in one line of plain text: energy, cost, appliances, and the change to the week before."""
    n = len(summary.appliances)
    line = (
        f"{summary.house} {summary.week}: {decimals(summary.metered_kwh, 1)} kWh, "
        f"{_money(summary, summary.metered_kwh)}, {n} appliance{'' if n == 1 else 's'}"
    )
    changed = compare(summary, earlier)
    return line if changed is None else f"{line}, {_change(changed.change_kwh)} against {changed.week}"


def week_brief(summary: WeekSummary, earlier: Sequence[WeekSummary], *, report: str) -> str:
    """The week's Markdown, compared with `earlier` weeks; `report` is its page's address, or its path."""
    used = sum(line.energy_kwh for line in summary.appliances if line.energy_kwh > 0)
    ranked = sorted(summary.appliances, key=lambda line: -line.energy_kwh)
    sentence = f"{summary.house} used {decimals(summary.metered_kwh, 1)} kWh in {summary.week}"
    if ranked and ranked[0].energy_kwh > 0:
        sentence += f", most of it by {_safe(ranked[0].name)} ({ranked[0].energy_kwh:.1f} kWh)"
    numbers = markdown_table(
        ("energy", "cost", "appliances", "recorded"),
        [
            (
                f"{decimals(summary.metered_kwh, 1)} kWh",
                _money(summary, summary.metered_kwh),
                str(len(summary.appliances)),
                f"{summary.coverage:.0%} of the week",
            )
        ],
    )
    appliances = markdown_table(
        ("id", "appliance", "kind", "kWh", "share", "cost", "how sure"),
        [
            (
                line.appliance_id,
                line.name,
                line.kind,
                decimals(line.energy_kwh, 2),
                f"{line.energy_kwh / used:.0%}" if line.energy_kwh > 0 else "",
                _money(summary, line.energy_kwh),
                "" if line.sure is None else sure_word(line.sure),
            )
            for line in ranked
        ],
    )
    where = f"[The report]({report})" if "://" in report else f"The report: `{report}`"
    changed = compare(summary, earlier)
    parts = [f"{sentence}.", *([_changed(changed)] if changed else []), numbers, appliances, where]
    return "\n\n".join(parts) + "\n"


def _changed(comparison: Comparison) -> str:
    """What changed against the week before, as one paragraph."""
    said = [f"{_change(comparison.change_kwh)}"]
    for move in comparison.moves:
        why = "; ".join(words for words in (move.reason, "in doubt" if move.in_doubt else "") if words)
        said.append(f"{_safe(move.name)} {_change(move.change_kwh)}" + (f" ({why})" if why else ""))
    came = comparison.arrivals
    for words, names in (("new", came.new), ("back", came.back), ("not seen any more", came.vanished)):
        if names:
            said.append(f"{words}: {' · '.join(map(_safe, names))}")
    return f"Against {comparison.week}: {'; '.join(said)}."


def _change(kwh: float) -> str:
    shown = f"{kwh:+,.1f}".replace("-", "−")
    return f"{shown if shown.strip('+−0.') else '±0.0'} kWh"


def _money(summary: WeekSummary, kwh: float) -> str:
    return money_text(kwh * summary.tariff_per_kwh, summary.currency)


def markdown_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table in Markdown; cells with pipes or line breaks stay cells."""
    lines = [columns, ["---"] * len(columns), *([_safe(cell) for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _safe(text: str) -> str:
    """`text` on one line, and without what Markdown or HTML would take for its own."""
    return re.sub(r"([\\|<>\[\]`*_])", r"\\\1", " ".join(text.split()))
