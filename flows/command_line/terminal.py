"""What a person sees on the terminal: log lines that say what was found, and one bar of progress.

Log records of `lfm`, `nilm` and `flows` are shown as plain sentences above the bar; Prefect's own go to its
server and reach the terminal only with --verbose. Nothing here computes or decides.
"""

import logging
import os
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from contextvars import copy_context

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from flows.command_line.interrupts import heed

log = logging.getLogger(__name__)

SAY_EVERY_S = 15.0  # where nobody watches a bar, a log line says that the work goes on
ROOMS = ("lfm", "nilm", "flows")
console = Console(stderr=True, soft_wrap=True)


class _Lines(logging.Handler):
    """Write each record as one sentence; warnings and errors say that they are."""

    def emit(self, record: logging.LogRecord) -> None:
        prefix = "" if record.levelno < logging.WARNING else f"{record.levelname.lower()}: "
        console.print(f"{prefix}{self.format(record)}", markup=False, highlight=False)


def speak(*, verbose: bool) -> None:
    """Show our log lines on standard error from now on; call before `prefect` is imported."""
    lines = _Lines(logging.DEBUG if verbose else logging.INFO)
    for room in ROOMS:
        logger = logging.getLogger(room)
        logger.setLevel(logging.DEBUG if verbose else logging.INFO)
        logger.addHandler(lines)
        logger.propagate = False
    logging.captureWarnings(True)
    warnings.formatwarning = lambda message, *_args, **_kwargs: str(message)
    logging.getLogger("py.warnings").addHandler(lines)
    if not verbose:
        # Prefect logs a failure with its traceback and then raises it; the last line of ours says it once.
        os.environ.setdefault("PREFECT_LOGGING_HANDLERS_CONSOLE_LEVEL", "CRITICAL")
        # A log line that a server cannot take (its disk is full) is no news after that last line.
        logging.raiseExceptions = False


@contextmanager
def bar(title: str, total: float) -> Iterator[Callable[[float, str], None]]:
    """Yield `show(done, doing)`, which moves a bar on the terminal; without one it logs now and then.

    Both need a thread, which starts with the first call of `show`: the ingest copies this process for its
    workers before that, and only a process without threads can be copied safely.
    """
    columns = (TextColumn("{task.fields[title]}"), BarColumn(), TextColumn("{task.description}"))
    progress = Progress(*columns, TimeElapsedColumn(), console=console, transient=True)
    row = progress.add_task("", total=total, title=title)
    reached = {"done": 0.0, "doing": "at work"}
    begun = False

    def say() -> None:
        log.info("%s: %s, %.0f%%", title, reached["doing"], 100 * reached["done"] / (total or 1.0))

    with ExitStack() as shown:

        def show(done: float, doing: str) -> None:
            nonlocal begun
            heed()
            if not begun:
                begun = True
                shown.enter_context(progress if console.is_terminal else _every(SAY_EVERY_S, say))
            reached.update(done=done, doing=doing)
            progress.update(row, completed=done, description=doing)

        yield show


@contextmanager
def _every(seconds: float, say: Callable[[], None]) -> Iterator[None]:
    """Call `say` every so many seconds while the block runs, in a thread and within the block's own run."""
    over = threading.Event()
    context = copy_context()  # tells Prefect which run the log lines belong to

    def tick() -> None:
        while not over.wait(seconds):
            context.run(say)

    thread = threading.Thread(target=tick, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
