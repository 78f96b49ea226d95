"""The embedded server: the user's own comes first; ours ends with its parent, however that ends."""

import base64
import contextlib
import http.server
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from pathlib import Path
from types import SimpleNamespace

import pytest

from flows.command_line.embedded import _full_disk_named, _is_whole

PARENT = """
import sys, tempfile
from flows.command_line.embedded import prefect_api
with prefect_api() as url:
    print(url, tempfile.gettempdir(), flush=True)
    sys.stdin.read()
"""


def _environment(tmp_path: Path) -> dict[str, str]:
    names = ("PREFECT_API_URL", "PREFECT_API_AUTH_STRING", "PREFECT_SERVER_DATABASE_CONNECTION_URL")
    environment = {name: value for name, value in os.environ.items() if name not in names}
    (tmp_path / "temporary").mkdir()
    return environment | {
        "TMPDIR": str(tmp_path / "temporary"),
        "PREFECT_HOME": str(tmp_path / "home"),
    }


class _Refusing(http.server.BaseHTTPRequestHandler):
    """A server of the user's own that wants to know who asks."""

    def do_GET(self) -> None:
        self.send_error(401)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def _run_parent(environment: dict[str, str]) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-c", PARENT], env=environment, input="", capture_output=True, text=True, check=False
    )


def test_the_users_own_server_comes_first(tmp_path: Path) -> None:
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Refusing) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_address[1]}/api"
        parent = _run_parent(_environment(tmp_path) | {"PREFECT_API_URL": url})
        server.shutdown()
    assert parent.stdout.startswith(f"{url} ")
    assert list((tmp_path / "temporary").iterdir()) == []


def test_a_dead_server_of_the_users_own_is_named(tmp_path: Path) -> None:
    parent = _run_parent(_environment(tmp_path) | {"PREFECT_API_URL": "http://127.0.0.1:9/api"})
    assert (
        "no Prefect server answers at PREFECT_API_URL = 'http://127.0.0.1:9/api'; start it" in parent.stderr
    )


def test_an_address_that_is_none_is_named(tmp_path: Path) -> None:
    parent = _run_parent(_environment(tmp_path) | {"PREFECT_API_URL": "http://[::1"})
    assert "PREFECT_API_URL = 'http://[::1' is no address of a Prefect server" in parent.stderr


@pytest.mark.parametrize(
    "error",
    [RuntimeError("500 Internal Server Error"), OSError(28, "full", "prefect.db")],
    ids=["the server", "a copy"],
)
def test_a_full_temporary_folder_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    if isinstance(error, OSError):
        error.filename = str(tmp_path / "prefect.db")
    with pytest.raises(type(error)), _full_disk_named(tmp_path):
        raise error
    monkeypatch.setattr("shutil.disk_usage", lambda _: SimpleNamespace(free=1000))
    with pytest.raises(OSError, match="No space left") as said, _full_disk_named(tmp_path):
        raise error
    assert said.value.filename == str(tmp_path)


def test_a_full_disk_elsewhere_keeps_its_own_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.disk_usage", lambda _: SimpleNamespace(free=1000))
    with pytest.raises(OSError, match="full") as said, _full_disk_named(tmp_path):
        raise OSError(28, "full", "/data/week.parquet")
    assert said.value.filename == "/data/week.parquet"


@pytest.mark.parametrize("keep", [0.5, 0.999, 0.0])
def test_a_damaged_database_in_the_cache_is_removed_by_name(
    tmp_path: Path, keep: float, caplog: pytest.LogCaptureFixture
) -> None:
    template = tmp_path / "prefect.db"
    with contextlib.closing(sqlite3.connect(template)) as database:
        database.executescript(
            "CREATE TABLE alembic_version (version_num); INSERT INTO alembic_version VALUES ('a');"
            "CREATE TABLE more (x); WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n"
            " LIMIT 5000) INSERT INTO more SELECT hex(randomblob(20)) FROM n;"
        )
    assert _is_whole(template)
    whole = template.read_bytes()
    template.write_bytes(whole[: int(keep * len(whole))])
    with caplog.at_level("WARNING", "flows"):
        assert not _is_whole(template)
    assert str(template) in caplog.text
    assert not template.exists()
    assert not _is_whole(template)


@pytest.mark.slow
def test_nobody_else_gets_in(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", PARENT],
        env=_environment(tmp_path),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as parent:
        assert parent.stdout is not None
        url = parent.stdout.readline().split()[0]

        def status(path: str, **headers: str) -> tuple[int, str | None]:
            request = urllib.request.Request(f"{url}{path}", headers=headers)
            try:
                with urllib.request.urlopen(request, timeout=10) as answer:
                    return answer.status, answer.headers["access-control-allow-origin"]
            except urllib.error.HTTPError as error:
                return error.code, error.headers["access-control-allow-origin"]

        assert status("/health", Origin="https://evil.example") == (200, None)
        assert status("/admin/settings", Origin="https://evil.example") == (401, None)
        wrong = base64.b64encode(b"nilm:guessed").decode()
        assert status("/admin/settings", Authorization=f"Basic {wrong}")[0] == 401
        assert status("/health", Host="evil.example")[0] == 400
        secret = Path(f"/proc/{parent.pid}/environ")  # ours is not in the parent's own first environment
        assert b"PREFECT_API_AUTH_STRING" not in secret.read_bytes()
        parent.kill()


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
