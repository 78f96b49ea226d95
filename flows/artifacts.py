"""What the Prefect UI shows of a run: progress, summaries, tags, and the link to the report. Display only.

Inside a flow run these become artifacts; the same progress also moves the bar on the terminal.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import cast
from urllib.parse import quote
from uuid import UUID

from prefect.artifacts import (
    create_link_artifact,
    create_markdown_artifact,
    create_progress_artifact,
    update_progress_artifact,
)
from prefect.client.orchestration import get_client
from prefect.runtime import flow_run

from flows.command_line import terminal
from flows.settings import Settings

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


def show_report(title: str, report: Path, settings: Settings) -> str:
    """The address of a report below `reports_url`, linked from the run's page; its path if that is not set.

    Browsers follow no link from a page of the web to a file, so without `reports_url` there is none.
    """
    if settings.reports_url is None:
        return str(report.resolve())
    below = report.resolve().relative_to(settings.outputs_root.resolve()).as_posix()
    address = f"{settings.reports_url.rstrip('/')}/{quote(below)}"
    create_link_artifact(address, link_text=title, key=_key("report", title))
    return address


def show_markdown(title: str, markdown: str, description: str) -> None:
    """Show text, numbers and tables on the run's page."""
    create_markdown_artifact(markdown, key=_key("summary", title), description=description)


def tag_run(tags: Sequence[str]) -> None:
    """Add tags to the flow run, by which the UI and automations find it."""
    with get_client(sync_client=True) as client:
        client.update_flow_run(UUID(flow_run.id), tags=[*dict.fromkeys((*flow_run.tags, *tags))])


def _key(kind: str, title: str) -> str:
    """An artifact's key: lower-case letters, digits and dashes."""
    return f"{kind}-{re.sub('[^a-z0-9]+', '-', title.lower())}".strip("-")
