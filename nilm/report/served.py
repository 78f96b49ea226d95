"""The pages as `nilm serve` shows them: a week's report with forms, and the decisions about a house.

Owns where the forms stand and what they hold. A report on disk has a line "how to name it" in every card,
between two comments; here a form takes its place. What a form asks for is done by `flows.command_line.serve`.
"""

import re
from collections.abc import Sequence
from enum import StrEnum

from nilm.appliances.analyst import AnalystNotes
from nilm.report.rendering import render
from nilm.report.summary import WeekSummary
from nilm.thresholds import INPUT

_NAMING = re.compile(r"<!--naming (\S+)-->.*?<!--/naming-->", re.DOTALL)
_NOTICE = "<!--notice-->"


class Action(StrEnum):
    """What a form may ask for; the words are those of its buttons' values."""

    NAME = "name"
    WRONG = "wrong name"
    MERGE = "merge"
    SPLIT = "split"
    UNDO = "undo"


def with_forms(html: str, summary: WeekSummary, notes: AnalystNotes, *, token: str) -> str:
    """A week's report with a form in every card and the last decision at its top."""
    lines = {line.appliance_id: line for line in summary.appliances}

    def form(found: re.Match[str]) -> str:
        line = lines.get(found[1])
        if line is None:
            return found[0]
        return render(
            "serve_card.html",
            house=summary.house,
            week=summary.week,
            line=line,
            machine=lines.get(line.part_of or ""),
            others=[other for other in lines.values() if other is not line],
            max_name=INPUT.most_name,
            token=token,
            Action=Action,
        )

    said = render(
        "serve_notice.html",
        house=summary.house,
        week=summary.week,
        last=None if notes.last is None else notes.history[notes.last],
        token=token,
        Action=Action,
    )
    return _NAMING.sub(form, html).replace(_NOTICE, said, 1)


def decisions_page(
    house: str, notes: AnalystNotes, *, token: str, pending: int, failed: Sequence[str]
) -> str:
    """The page of all decisions about a house, newest first, and what became of the reports since."""
    return render(
        "serve_decisions.html",
        house=house,
        history=list(enumerate(notes.history))[::-1],
        last=notes.last,
        undone={change.undoes for change in notes.history},
        token=token,
        pending=pending,
        failed=failed,
        Action=Action,
    )


def refusal_page(words: str) -> str:
    """The page that says why a form or an address was not accepted."""
    return render("serve_refusal.html", words=words)
