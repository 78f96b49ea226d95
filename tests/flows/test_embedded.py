"""The embedded server: the user's own comes first; ours ends with its parent, however that ends."""

import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest

PARENT = """
import sys, tempfile
from flows.embedded import prefect_api
with prefect_api() as url:
    print(url, tempfile.gettempdir(), flush=True)
    sys.stdin.read()
"""


def _environment(tmp_path: Path) -> dict[str, str]:
    names = ("PREFECT_API_URL", "PREFECT_SERVER_DATABASE_CONNECTION_URL")
    environment = {name: value for name, value in os.environ.items() if name not in names}
    (tmp_path / "temporary").mkdir()
    return environment | {
        "TMPDIR": str(tmp_path / "temporary"),
        "PREFECT_HOME": str(tmp_path / "home"),
    }


def test_the_users_own_server_comes_first(tmp_path: Path) -> None:
    environment = _environment(tmp_path) | {"PREFECT_API_URL": "http://127.0.0.1:9/api"}
    parent = subprocess.run(
        [sys.executable, "-c", PARENT], env=environment, input="", capture_output=True, text=True, check=True
    )
    assert parent.stdout.startswith("http://127.0.0.1:9/api ")
    assert list((tmp_path / "temporary").iterdir()) == []


@pytest.mark.slow
def test_a_killed_parent_leaves_no_server_and_no_files(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", PARENT],
        env=_environment(tmp_path),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as parent:
        assert parent.stdout is not None
        url = parent.stdout.readline().split()[0]
        with urllib.request.urlopen(f"{url}/health", timeout=10) as answer:
            assert answer.status == 200
        parent.send_signal(signal.SIGKILL)
        parent.wait()
    deadline = time.monotonic() + 30
    while list((tmp_path / "temporary").iterdir()) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert list((tmp_path / "temporary").iterdir()) == []
    with pytest.raises((urllib.error.URLError, ConnectionError)):
        urllib.request.urlopen(f"{url}/health", timeout=10)
    assert not (tmp_path / "home" / "prefect.db").exists()
