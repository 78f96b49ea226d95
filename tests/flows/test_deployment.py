"""The deployments of prefect.yaml for real: a server, a work pool, a worker, and a week asked for."""

import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

PROJECT = Path(__file__).parents[2]
PREFECT = [sys.executable, "-m", "prefect"]
LONGEST_S = 240


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def _running(command: list[str], environment: dict[str, str], log: Path) -> Iterator[None]:
    with log.open("wb") as sink:
        process = subprocess.Popen(command, env=environment, cwd=PROJECT, stdout=sink, stderr=sink)
        try:
            yield
        finally:
            process.terminate()
            with suppress(subprocess.TimeoutExpired):
                process.wait(20)
            process.kill()
            process.wait()


def _do(arguments: list[str], environment: dict[str, str]) -> str:
    done = subprocess.run(
        [*PREFECT, *arguments],
        env=environment,
        cwd=PROJECT,
        capture_output=True,
        text=True,
        timeout=LONGEST_S,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_from_nothing_to_a_report_by_deployment(roots: tuple[Path, Path], tmp_path: Path) -> None:
    port = _free_port()
    url = f"http://127.0.0.1:{port}/api"
    environment = dict(os.environ) | {
        "PREFECT_HOME": str(tmp_path / "prefect"),
        "PREFECT_API_URL": url,
        "PREFECT_SERVER_UI_API_URL": url,
        "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
        "DO_NOT_TRACK": "1",
        "PREFECT_CLI_PROMPT": "false",
    }
    server = [*PREFECT, "server", "start", "--host", "127.0.0.1", "--port", str(port)]
    worker = [*PREFECT, "worker", "start", "--pool", "nilm"]
    with _running(server, environment, tmp_path / "server.log"):
        deadline = time.monotonic() + LONGEST_S
        while True:
            with suppress(OSError), urllib.request.urlopen(f"{url}/health", timeout=5) as answer:
                if answer.status == 200:
                    break
            assert time.monotonic() < deadline, (tmp_path / "server.log").read_text()
            time.sleep(0.3)
        _do(["work-pool", "create", "nilm", "--type", "process"], environment)
        _do(["--no-prompt", "deploy", "--all"], environment)
        shown = _do(["deployment", "inspect", "weekly/house_1"], environment)
        assert "Europe/London" in shown
        assert "0 6 * * 1" in shown
        with _running(worker, environment, tmp_path / "worker.log"):  # stopped before the server
            week = ["-p", "house=house_sim", "-p", "week=2015-wk01"]
            _do(["deployment", "run", "weekly/house_1", *week, "--watch"], environment)
    assert (roots[1] / "house_sim" / "2015-wk01" / "report.html").is_file()
