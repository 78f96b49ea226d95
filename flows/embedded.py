"""A Prefect server for one command, with nothing to set up: started when no PREFECT_API_URL is set.

Prefect's own ephemeral server migrates an empty database for about 15 s, writes its shutdown to the terminal,
and outlives a killed parent. This one copies a database that was migrated once, logs to a file, belongs to
one command alone (two runs never wait for one SQLite file), and ends itself when its parent is gone for
whatever reason: it watches a pipe whose other end only the parent holds. See
docs/decisions/0080-embedded-server.md.
"""

import contextlib
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

from flows.failures import ServerError

STARTUP_TIMEOUT_S = 180.0
_SERVER_ENVIRONMENT = {
    "PREFECT_UI_ENABLED": "0",
    "PREFECT__SERVER_EPHEMERAL": "1",  # only the services that a short-lived server needs
    "PREFECT__SERVER_FINAL": "1",
    "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
    "DO_NOT_TRACK": "1",
}


@contextlib.contextmanager
def prefect_api() -> Iterator[str]:
    """Yield the address of the Prefect API to use: the user's own if set, else that of a server of ours.

    The user's own is PREFECT_API_URL, from the environment or the active Prefect profile. Ours is announced
    to this process and its children (process pools, Dask clients) through the same variable, and lives until
    this process ends, so that the last log lines still arrive.
    """
    from prefect.context import refresh_global_settings_context
    from prefect.settings import PREFECT_API_URL

    configured = PREFECT_API_URL.value()
    if configured:
        yield configured
        return
    url = _start()
    # Prefect's helper threads see only the global settings: a temporary_settings block would leave them
    # without an address, and each would start an ephemeral server.
    os.environ["PREFECT_API_URL"] = url
    refresh_global_settings_context()
    try:
        yield url
    finally:
        del os.environ["PREFECT_API_URL"]
        refresh_global_settings_context()


def _start() -> str:
    """Return the API address of a new server that answers; it ends with this process."""
    folder = Path(tempfile.mkdtemp(prefix="nilm-prefect-"))
    template = _template()
    database = folder / "prefect.db"
    if template.exists():
        shutil.copyfile(template, database)
    port = _free_port()
    url = f"http://127.0.0.1:{port}/api"
    log = folder / "server.log"
    with log.open("wb") as sink:
        server = subprocess.Popen(  # noqa: S603 - our own module, no outside input
            [sys.executable, "-m", "flows.embedded", str(port), str(folder)],
            stdin=subprocess.PIPE,
            stdout=sink,
            stderr=sink,
            env={
                **os.environ,
                **_SERVER_ENVIRONMENT,
                "PREFECT_SERVER_DATABASE_CONNECTION_URL": f"sqlite+aiosqlite:///{database}",
            },
            start_new_session=True,  # Ctrl-C stops the run; the server goes with it, not before it
        )
    _wait_until_healthy(url, server, log)
    if not template.exists():
        _keep_as_template(database, template)
    return url


def _wait_until_healthy(url: str, server: "subprocess.Popen[bytes]", log: Path) -> None:
    deadline = time.monotonic() + STARTUP_TIMEOUT_S
    while time.monotonic() < deadline:
        if server.poll() is not None:
            raise ServerError(
                f"the embedded Prefect server ended with code {server.returncode}:\n"
                f"{log.read_text()[-2000:]}\nstart one with `prefect server start` and set PREFECT_API_URL"
            )
        if _answers(url):
            return
        time.sleep(0.1)
    server.kill()
    raise ServerError(
        f"the embedded Prefect server did not answer within {STARTUP_TIMEOUT_S:.0f} s; "
        "start one with `prefect server start` and set PREFECT_API_URL"
    )


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(f"{url}/health", timeout=5) as answer:  # noqa: S310 - loopback
            return bool(answer.status == 200)
    except OSError:  # not listening yet
        return False


def _template() -> Path:
    """Return where the migrated, empty database of this Prefect version is kept (it may not exist yet)."""
    import prefect

    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return cache / "nilm" / f"prefect-{prefect.__version__}.db"


def _keep_as_template(database: Path, template: Path) -> None:
    """Save a consistent copy of a just-migrated database; a cache that cannot be written costs only time."""
    import sqlite3

    with contextlib.suppress(OSError, sqlite3.Error):
        template.parent.mkdir(parents=True, exist_ok=True)
        partial = template.with_suffix(f".{os.getpid()}.partial")
        with (
            contextlib.closing(sqlite3.connect(database)) as source,
            contextlib.closing(sqlite3.connect(partial)) as copy,
        ):
            source.backup(copy)
        partial.replace(template)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _serve(port: int, folder: Path) -> None:
    """Serve until standard input closes, that is until the parent is gone, then leave nothing behind."""
    import uvicorn

    def end_with_parent() -> None:
        sys.stdin.buffer.read()
        shutil.rmtree(folder, ignore_errors=True)
        os._exit(0)  # a private database needs no orderly shutdown, which takes seconds and logs errors

    threading.Thread(target=end_with_parent, daemon=True).start()
    uvicorn.run(
        "prefect.server.api.server:create_app", factory=True, host="127.0.0.1", port=port, log_level="error"
    )


if __name__ == "__main__":
    _serve(int(sys.argv[1]), Path(sys.argv[2]))
