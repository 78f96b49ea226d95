"""Worker processes that end with their parent, also where it is killed: no process is left behind."""

import multiprocessing
import multiprocessing.connection
import multiprocessing.forkserver
import os
import signal
import threading
from collections.abc import Sequence
from multiprocessing.context import BaseContext


def copies_of_one(modules: Sequence[str]) -> BaseContext:
    """A context whose processes are copies of one that has imported `modules`, which begins with that now.

    So the imports are paid once, and while the caller does something else. That process does nothing but
    import, which makes copies of it safe where copies of the caller, whose threads hold locks, would not be;
    it ends with the caller. Where a system has no such thing, every process imports for itself.
    """
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(list(modules))  # must come before the first process
    multiprocessing.forkserver.ensure_running()
    return context


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
