"""Worker processes that end with their parent, however it ends: a killed run leaves nobody behind."""

import multiprocessing
import multiprocessing.connection
import os
import signal
import threading


def begin_worker() -> None:
    """Set a worker process up; the initializer of every pool of ours.

    Ctrl-C is left to the parent, which ends its workers itself. A parent that is killed cannot: a worker that
    waits for its next job would wait for ever, so a thread of its own watches the parent.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_end_after, args=[parent.sentinel], daemon=True).start()


def _end_after(sentinel: int) -> None:
    multiprocessing.connection.wait([sentinel])
    os._exit(1)  # what was under way is lost: files are whole or absent, and the next run does it again
