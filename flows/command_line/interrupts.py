"""Ctrl-C is heeded, even where a library swallows the exception that it raises.

asyncio answers the first Ctrl-C by cancelling a task, and what awaits the task may take that for its own
affair; so may code that runs while an object is deleted. The work would then go on to its end.
"""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_asked = threading.Event()


@contextmanager
def heeded() -> Iterator[None]:
    """Remember every Ctrl-C within the block; KeyboardInterrupt at its end if one was swallowed."""
    before = signal.signal(signal.SIGINT, _remember)
    try:
        yield
        heed()
    finally:
        signal.signal(signal.SIGINT, before)
        _asked.clear()


def heed() -> None:
    """Raise KeyboardInterrupt if Ctrl-C has been pressed; for points that work passes often."""
    if _asked.is_set():
        raise KeyboardInterrupt


def _remember(_signal: int, _frame: FrameType | None) -> None:
    _asked.set()
    raise KeyboardInterrupt
