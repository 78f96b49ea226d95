"""A Prefect server for one command, with nothing to set up: started when no PREFECT_API_URL is set.

Prefect's own ephemeral server migrates an empty database for about 15 s, writes its shutdown to the terminal,
and outlives a killed parent. This one copies a database that was migrated once, logs to a file, belongs to
one command alone (two runs never wait for one SQLite file), and ends itself when its parent is gone for
whatever reason: it watches a pipe whose other end only the parent holds. See
docs/decisions/0080-embedded-server.md.

Nobody else gets in: it listens on loopback alone, every request needs a secret that is made for this one run
and handed on in the environment, no origin may read its answers from a browser, and a request for another
host than loopback (a page that had its name resolved to 127.0.0.1) is refused.
"""

import contextlib
import errno
import http.client
import logging
import os
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from flows.failures import ServerError
from nilm.errors import NilmError

if TYPE_CHECKING:
    from starlette.types import ASGIApp

log = logging.getLogger(__name__)

STARTUP_TIMEOUT_S = 180.0
LEAST_FREE_BYTES = 2**20  # with less room than this a database cannot grow
LOOPBACK = "127.0.0.1"
_SERVER_ENVIRONMENT = {
    "PREFECT_UI_ENABLED": "0",
    "PREFECT__SERVER_EPHEMERAL": "1",  # only the services that a short-lived server needs
    "PREFECT__SERVER_FINAL": "1",
    # Its database goes when the command ends: a history of it is work that the weeks wait for.
    "PREFECT_SERVER_SERVICES_TASK_RUN_RECORDER_ENABLED": "false",
    "PREFECT_SERVER_SERVICES_EVENT_PERSISTER_ENABLED": "false",
    "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
    "PREFECT_SERVER_CORS_ALLOWED_ORIGINS": "",
    "DO_NOT_TRACK": "1",
}


@contextlib.contextmanager
def prefect_api(meanwhile: Iterable[None] = ()) -> Iterator[str]:
    """Yield the address of the Prefect API to use: the user's own if set, else that of a server of ours.

    Ours takes seconds to start: `meanwhile` is work to do until then, whose pieces are taken one by one until
    the server answers or they are done. What is left of it is for whoever asked.

    The user's own is PREFECT_API_URL, from the environment or the active Prefect profile. Ours is announced
    to this process and its children (process pools, Dask clients) through the same variable. It keeps no
    history, and lives until this process ends, so that the last events still arrive.
    """
    try:
        from prefect.context import refresh_global_settings_context
        from prefect.settings import PREFECT_API_URL, PREFECT_FLOWS_HEARTBEAT_FREQUENCY, temporary_settings

        configured = PREFECT_API_URL.value()
    except ValueError as error:  # Prefect checks the address itself, in words for programmers
        raise ServerError(
            f"PREFECT_API_URL = {os.environ.get('PREFECT_API_URL')!r} is no address of a Prefect server; "
            "correct it, or unset it (also in the Prefect profile) and a server of our own is started"
        ) from error
    if configured:
        if not _answers(configured):
            raise ServerError(
                f"no Prefect server answers at PREFECT_API_URL = {configured!r}; start it, correct the "
                "address, or unset it (also in the Prefect profile) and a server of our own is started"
            )
        yield configured
        return
    secret = f"nilm:{secrets.token_urlsafe(32)}"
    folder = Path(tempfile.mkdtemp(prefix="nilm-prefect-"))
    with _full_disk_named(folder):
        url = _start(folder, secret, meanwhile)
    # Prefect's helper threads see only the global settings: a temporary_settings block would leave them
    # without an address, and each would start an ephemeral server.
    ours = {
        "PREFECT_API_URL": url,
        "PREFECT_API_AUTH_STRING": secret,
        "PREFECT_LOGGING_TO_API_ENABLED": "false",  # nobody reads its pages; the terminal has the lines
    }
    os.environ.update(ours)
    refresh_global_settings_context()
    # A heartbeat tells a server that outlives the run. To end its thread takes up to a second.
    no_heartbeat = temporary_settings({PREFECT_FLOWS_HEARTBEAT_FREQUENCY: None})
    try:
        with _full_disk_named(folder), no_heartbeat:
            yield url
    finally:
        for name in ours:
            del os.environ[name]
        refresh_global_settings_context()


@contextlib.contextmanager
def _full_disk_named(folder: Path) -> Iterator[None]:
    """Give a failure of the block the name of the server's folder where that has no room left.

    The server itself can only say that something failed (code 500).
    """
    try:
        yield
    except Exception as error:
        wrote_elsewhere = isinstance(error, NilmError) or (
            isinstance(error, OSError) and error.filename and not str(error.filename).startswith(str(folder))
        )
        if wrote_elsewhere or not folder.is_dir() or shutil.disk_usage(folder).free > LEAST_FREE_BYTES:
            raise
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(folder)) from error


def _start(folder: Path, secret: str, meanwhile: Iterable[None]) -> str:
    """Return the API address of a new server that answers to the secret; it ends with this process."""
    template = _template()
    database = folder / "prefect.db"
    if _is_whole(template):
        try:
            shutil.copyfile(template, database)
        except OSError as error:
            error.filename, error.filename2 = str(database), None  # a copy blames what it copies from
            raise
    port = _free_port()
    url = f"http://{LOOPBACK}:{port}/api"
    output = folder / "server.log"
    with output.open("wb") as sink:
        server = subprocess.Popen(  # noqa: S603 - our own module, no outside input
            [sys.executable, "-m", "flows.command_line.embedded", str(port), str(folder)],
            stdin=subprocess.PIPE,
            stdout=sink,
            stderr=sink,
            env={
                **os.environ,
                **_SERVER_ENVIRONMENT,
                "PREFECT_SERVER_DATABASE_CONNECTION_URL": f"sqlite+aiosqlite:///{database}",
                "PREFECT_SERVER_API_AUTH_STRING": secret,
            },
            start_new_session=True,  # Ctrl-C stops the run; the server goes with it, not before it
        )
    for _ in meanwhile:
        if _answers(url):
            break
    _wait_until_healthy(url, server, output)
    if not template.exists():
        _keep_as_template(database, template)
    return url


def _wait_until_healthy(url: str, server: "subprocess.Popen[bytes]", output: Path) -> None:
    deadline = time.monotonic() + STARTUP_TIMEOUT_S
    while time.monotonic() < deadline:
        if server.poll() is not None:
            raise ServerError(
                f"the embedded Prefect server ended with code {server.returncode}:\n"
                f"{output.read_text()[-2000:]}\nstart one with `prefect server start` and set PREFECT_API_URL"
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
    """Whether somebody is there; a refusal is an answer: a user's own server may ask who we are."""
    try:
        with urllib.request.urlopen(f"{url}/health", timeout=5):  # noqa: S310 - Prefect's address
            return True
    except urllib.error.HTTPError:
        return True
    except (OSError, ValueError, http.client.HTTPException):  # not listening yet, or no address at all
        return False


def _template() -> Path:
    """Return where the migrated, empty database of this Prefect version is kept (it may not exist yet)."""
    import prefect

    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return cache / "nilm" / f"prefect-{prefect.__version__}.db"


def _is_whole(template: Path) -> bool:
    """Whether a kept database is there and can be used; a damaged one is removed, and made again."""
    import sqlite3

    if not template.exists():
        return False
    try:
        with contextlib.closing(sqlite3.connect(f"{template.as_uri()}?mode=ro", uri=True)) as database:
            (verdict,) = database.execute("PRAGMA quick_check").fetchone()
            (migrations,) = database.execute("SELECT count(*) FROM alembic_version").fetchone()
        if verdict == "ok" and migrations == 1:
            return True
        reason = str(verdict)
    except sqlite3.Error as error:
        reason = str(error)
    log.warning("%s is damaged (%s); it is made anew", template, reason)
    template.unlink(missing_ok=True)
    return False


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
        probe.bind((LOOPBACK, 0))
        return int(probe.getsockname()[1])


def _serve(port: int, folder: Path) -> None:
    """Serve until standard input closes, that is until the parent is gone, then leave nothing behind."""
    import uvicorn

    def end_with_parent() -> None:
        sys.stdin.buffer.read()
        shutil.rmtree(folder, ignore_errors=True)
        os._exit(0)  # a private database needs no orderly shutdown, which takes seconds and logs errors

    threading.Thread(target=end_with_parent, daemon=True).start()
    uvicorn.run(_app, factory=True, host=LOOPBACK, port=port, log_level="error")


def _app() -> "ASGIApp":
    """Prefect's own application, behind a door that checks whom a request is for."""
    from prefect.server.api.server import create_app
    from starlette.middleware.trustedhost import TrustedHostMiddleware

    return TrustedHostMiddleware(create_app(), allowed_hosts=[LOOPBACK, "localhost"])


if __name__ == "__main__":
    _serve(int(sys.argv[1]), Path(sys.argv[2]))
