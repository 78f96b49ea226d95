"""A killed parent leaves no worker behind, whether the worker was busy or idle."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

POOL = """
import multiprocessing, sys, time
from concurrent.futures import ProcessPoolExecutor
from nilm.workers import begin_worker
if __name__ == "__main__":
    context = multiprocessing.get_context(sys.argv[1])
    with ProcessPoolExecutor(2, context, initializer=begin_worker) as pool:
        list(pool.map(time.sleep, [0.3, 0.3]))
        print(*[process.pid for process in multiprocessing.active_children()], flush=True)
        pool.submit(time.sleep, 600)  # one is busy, one is idle
        time.sleep(600)
"""


def _alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


COPIES = """
import sys
from concurrent.futures import ProcessPoolExecutor
from nilm.workers import copies_of_one
def known(name):
    return name in sys.modules
if __name__ == "__main__":
    with ProcessPoolExecutor(1, copies_of_one(["colorsys"])) as pool:
        print(known("colorsys"), pool.submit(known, "colorsys").result(), pool.submit(known, "wave").result())
"""


def test_workers_are_copies_of_a_process_that_has_imported(tmp_path: Path) -> None:
    script = tmp_path / "copies.py"
    script.write_text(COPIES)
    done = subprocess.run([sys.executable, str(script)], stdout=subprocess.PIPE, text=True, check=True)
    assert done.stdout.split() == ["False", "True", "False"]


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_workers_end_when_their_parent_is_killed(tmp_path: Path, method: str) -> None:
    script = tmp_path / "pool.py"
    script.write_text(POOL)
    with subprocess.Popen([sys.executable, str(script), method], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        workers = [int(pid) for pid in parent.stdout.readline().split()]
        assert len(workers) == 2
        time.sleep(0.2)
        assert all(map(_alive, workers))
        os.kill(parent.pid, signal.SIGKILL)
    deadline = time.monotonic() + 20
    while any(map(_alive, workers)) and time.monotonic() < deadline:
        time.sleep(0.05)
    left = [pid for pid in workers if _alive(pid)]
    for pid in left:
        os.kill(pid, signal.SIGKILL)
    assert left == []
