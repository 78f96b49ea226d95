"""Two runs at once, and runs killed at any point: the outputs are those of an undisturbed run."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("prefect_server")]

RUN = [sys.executable, "-m", "flows.cli", "run", "--house", "house_sim", "--week", "2015-wk01"]
LONGEST_S = 300
Contents = Callable[[Path], dict[str, bytes]]


@pytest.fixture
def environment(roots: tuple[Path, Path]) -> dict[str, str]:
    """What a `nilm run` of these roots needs, with the session's Prefect server."""
    from prefect.settings import PREFECT_API_URL

    return dict(os.environ) | {"PREFECT_API_URL": str(PREFECT_API_URL.value())}


def _whole_files(outputs: Path, reference: dict[str, bytes]) -> None:
    """Assert that every file that can be seen under outputs/ is whole."""
    for path in list(outputs.rglob("*")):
        name = path.relative_to(outputs).as_posix()
        # The manifest is written twice: after publishing, and when the whole week is recorded.
        if path.is_file() and not path.name.startswith(".") and path.name != "manifest.json":
            assert path.read_bytes() == reference[name], name


def _until(process: "subprocess.Popen[bytes]", watch: Callable[[], object]) -> Iterator[None]:
    """Yield again and again while the process lives and `watch()` is not true."""
    deadline = time.monotonic() + LONGEST_S
    while process.poll() is None and not watch():
        assert time.monotonic() < deadline, "the run takes too long"
        yield
        time.sleep(0.002)


def test_two_runs_of_the_same_week_at_the_same_moment(
    roots: tuple[Path, Path], environment: dict[str, str], worked_out: Path, contents: Contents
) -> None:
    reference = contents(worked_out / "outputs")
    runs = [subprocess.Popen(RUN, env=environment) for _ in range(2)]
    for run in runs:
        for _ in _until(run, lambda: False):
            _whole_files(roots[1], reference)
        assert run.wait() == 0
    assert contents(roots[1]) == reference


def test_killed_at_every_step_and_started_again(
    roots: tuple[Path, Path], environment: dict[str, str], worked_out: Path, contents: Contents
) -> None:
    data, outputs = roots
    reference = contents(worked_out / "outputs")
    signs = [  # of how far the run has come, each later than the one before
        (data / "waveforms", "hours/*/.*.tmp"),
        (data / "waveforms", "hours/*/*.json"),
        (data / "waveforms", "house_sim/.*.tmp"),
        (data / "waveforms", "house_sim/*.manifest.json"),
        (data / "solutions", "**/factorised.npz"),
        (data / "solutions", "**/hopped.npz"),
        (outputs, "**/.*.tmp"),
        (outputs, "**/report.html"),
        (outputs, "index.html"),
    ]
    killed = 0
    for folder, pattern in signs:
        with subprocess.Popen(RUN, env=environment) as run:
            for _ in _until(run, lambda f=folder, p=pattern: next(f.rglob(p), None)):  # type: ignore[misc]
                _whole_files(outputs, reference)
            if run.poll() is None:
                run.send_signal(signal.SIGKILL)
                killed += 1
        _whole_files(outputs, reference)
    assert killed >= len(signs) // 2  # a run may be past a sign before it is seen
    assert subprocess.run(RUN, env=environment, check=False).returncode == 0
    assert contents(outputs) == reference
    assert list(data.rglob(".*.tmp")) == []


def test_interrupted_from_the_keyboard(roots: tuple[Path, Path], environment: dict[str, str]) -> None:
    with subprocess.Popen(RUN, env=environment, stderr=subprocess.PIPE) as run:
        for _ in _until(run, lambda: next(roots[0].rglob("hours/*/*.json"), None)):
            pass
        run.send_signal(signal.SIGINT)
        _, said = run.communicate(timeout=LONGEST_S)
    assert run.returncode == 130
    assert said.decode().strip().splitlines()[-1].startswith("nilm: interrupted")
    assert b"Traceback" not in said
