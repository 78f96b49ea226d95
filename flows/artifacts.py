"""What the Prefect UI shows of a run: progress, tables, and the link to the report. Display only.

Inside a flow run these become artifacts; the same progress also moves the bar on the terminal.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast
from uuid import UUID

from prefect.artifacts import (
    create_link_artifact,
    create_progress_artifact,
    create_table_artifact,
    update_progress_artifact,
)

from flows import terminal

_SMALLEST_MOVE = 5.0  # percent; each update is a request to the server


@contextmanager
def progress(title: str, total: float) -> Iterator[Callable[[float, str], None]]:
    """Yield `show(done, doing)`: how far of `total` the run has come, on the terminal and in the UI."""
    shown = 0.0
    artifact = cast(UUID, create_progress_artifact(0.0, key=_key("progress", title), description=title))

    def show(done: float, doing: str) -> None:
        nonlocal shown
        move(done, doing)
        percent = 100 * min(done / total, 1.0) if total else 100.0
        if percent - shown >= _SMALLEST_MOVE or percent == 100 != shown:
            shown = percent
            update_progress_artifact(artifact, percent, description=f"{title}: {doing}")

    with terminal.bar(title, total) as move:
        yield show


def show_report(title: str, report: Path) -> None:
    """Link the report from the run's page; a browser on the same machine can open it."""
    create_link_artifact(report.resolve().as_uri(), link_text=title, key=_key("report", title))


def show_table(title: str, rows: Sequence[Mapping[str, Any]], description: str) -> None:
    """Show rows of like keys as a table."""
    create_table_artifact([dict(row) for row in rows], key=_key("table", title), description=description)


def _key(kind: str, title: str) -> str:
    """An artifact's key: lower-case letters, digits and dashes."""
    return f"{kind}-{re.sub('[^a-z0-9]+', '-', title.lower())}".strip("-")
