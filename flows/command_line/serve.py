"""`nilm serve`: the pages of outputs/ in a browser on this machine, where an analyst names appliances.

Owns the addresses, who may ask, and that reports follow a decision. What a page looks like is
`nilm.report.served`'s business, what a decision means is `nilm.appliances.analyst`'s.

Three checks keep other sites' pages out, which a browser on this machine may have open: the Host must be our
own address (a foreign name that was pointed at 127.0.0.1 is not), the Origin of a form must be our own page,
and the form must hold a token that only our own pages know.
"""

import errno
import logging
import secrets
import socket
import threading
from collections.abc import Awaitable, Callable
from ipaddress import ip_address
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, quote

from fastapi import FastAPI, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import FileResponse, HTMLResponse, RedirectResponse, Response

from flows.failures import in_words
from flows.settings import Settings
from nilm.appliances import analyst
from nilm.errors import NilmError, OptionError
from nilm.paths import WeekPaths
from nilm.recordings.ukdale import Week, check_house
from nilm.report.folders import SUMMARY_FILE
from nilm.report.served import Action, decisions_page, refusal_page, with_forms
from nilm.report.summary import read_summary

log = logging.getLogger(__name__)

MAX_FORM_BYTES = 10_000
MOST_PORT = 65_535
_HEADERS = {
    "X-Frame-Options": "DENY",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",  # with "no-referrer" a browser would send our forms with Origin: null
    "Cache-Control": "no-store",
}


class Followers:
    """Makes the other reports of a house again after a decision, one house after the other."""

    def __init__(self, settings: Settings) -> None:
        """Nothing runs until `follow`."""
        self._settings = settings
        self._work = threading.Lock()
        self.pending: dict[str, int] = {}
        self.failed: dict[str, list[str]] = {}

    def follow(self, house: str) -> None:
        """Start to make every report of the house current, in the background."""
        threading.Thread(target=self._make_all, args=(house,), daemon=True).start()

    def _make_all(self, house: str) -> None:
        with self._work:
            weeks = published_weeks(house, self._settings)
            self.pending[house], self.failed[house] = len(weeks), []
            for place in weeks:
                try:
                    make_current(place, self._settings)
                except Exception as error:  # noqa: BLE001 - one bad week must not hold up the others
                    self.failed[house].append(f"{place}: {in_words(error)}")
                    log.error("%s: the report was not made again: %s", place, in_words(error))
                self.pending[house] -= 1


def published_weeks(house: str, settings: Settings) -> list[WeekPaths]:
    """The weeks of a house that have a report, oldest first."""
    reports = sorted((settings.outputs_root / house).glob("*/report.html"))
    weeks = [Week.parse(report.parent.name) for report in reports]
    return [WeekPaths(settings.data_root, house, week, settings.outputs_root) for week in weeks]


def make_current(place: WeekPaths, settings: Settings) -> None:
    """Make one published week's report again if its inputs have changed."""
    pipeline = settings.pipeline(place)
    if pipeline.why_redo() is not None:
        pipeline.finish()


def loopback(host: str) -> bool:
    """Whether only this machine can reach an address."""
    return host == "localhost" or ip_address(host).is_loopback


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens there; OptionError for an address that is none of ours, or a port in use."""
    try:
        asked = ip_address("127.0.0.1" if host == "localhost" else host)
    except ValueError:
        raise OptionError(f"--host must be an address such as 127.0.0.1, got {host!r}") from None
    if asked.is_unspecified:
        raise OptionError(f"--host {host} means every address; give the one that people shall use")
    if not 0 <= port <= MOST_PORT:
        raise OptionError(f"--port must be 0 to {MOST_PORT}, got {port}")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family)
    except OSError as error:
        other = "--host" if error.errno == errno.EADDRNOTAVAIL else "--port"
        raise OptionError(
            f"cannot listen on {host} port {port}: {error.strerror}; choose another with {other}"
        ) from error


def address(listening: socket.socket) -> str:
    """The host and port of a socket, as a browser writes them."""
    host, port = listening.getsockname()[:2]
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def serving(settings: Settings, at: str) -> FastAPI:
    """The application that answers under the host and port `at`, and under localhost if that is loopback."""
    port = at.rpartition(":")[2]
    hosts = {at} | ({f"localhost:{port}"} if loopback(at.rpartition(":")[0].strip("[]")) else set())
    token = secrets.token_urlsafe(32)
    followers = Followers(settings)
    app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None)

    @app.middleware("http")
    async def guard(request: Request, answer: Callable[[Request], Awaitable[Response]]) -> Response:
        """Refuse what does not come from our own pages."""
        host = request.headers.get("host", "")
        if host not in hosts:
            response: Response = _refused(f"This is {at}, not {host!r}.", 421)
        elif request.method == "POST" and request.headers.get("origin") != f"http://{host}":
            response = _refused("The form came from another page.", 403)
        else:
            response = await answer(request)
        response.headers.update(_HEADERS)
        return response

    @app.get("/decisions/{house}")
    def decisions(house: str) -> Response:
        """Every decision about a house."""
        try:
            notes = analyst.read_notes(_names(settings, house), house)
        except NilmError as error:
            return _refused(str(error), 400)
        waiting, failed = followers.pending.get(house, 0), followers.failed.get(house, [])
        return HTMLResponse(decisions_page(house, notes, token=token, pending=waiting, failed=failed))

    @app.post("/decide")
    async def decide(request: Request) -> Response:
        """Carry out what a form asks for; the week it stands in is current when its page is shown again."""
        form = await _form(request)
        if not secrets.compare_digest(form.get("token", "").encode(), token.encode()):
            return _refused("The page is older than this server; load it again.", 403)
        try:
            return await run_in_threadpool(_decided, form, settings, followers)
        except NilmError as error:
            return _refused(str(error), 400)

    @app.get("/{path:path}")
    def page(path: str) -> Response:
        """A file of outputs/; a week's report with its forms."""
        root = settings.outputs_root.resolve()
        file = (root / path).resolve()
        file = file / "index.html" if file.is_dir() else file
        if not _shown(file, root):
            return _refused(f"There is no page {path!r} in outputs/.", 404)
        if file.name != "report.html" or not (file.parent / SUMMARY_FILE).is_file():
            return FileResponse(file)
        try:
            summary = read_summary(file.parent / SUMMARY_FILE)
            notes = analyst.read_notes(_names(settings, summary.house), summary.house)
        except NilmError as error:
            return _refused(str(error), 500)
        return HTMLResponse(with_forms(file.read_text(encoding="utf-8"), summary, notes, token=token))

    return app


def _shown(file: Path, root: Path) -> bool:
    """Whether a resolved path is a file of outputs/ that people may read; hidden ones are half-written."""
    if not file.is_relative_to(root) or not file.is_file():
        return False
    return not any(part.startswith(".") for part in file.relative_to(root).parts)


def _names(settings: Settings, house: str) -> Path:
    return settings.data_root / "names" / f"{check_house(house)}.json"


async def _form(request: Request) -> dict[str, str]:
    """The fields of a posted form; none of one that is too long to be ours."""
    body = b""
    async for piece in request.stream():
        body += piece
        if len(body) > MAX_FORM_BYTES:
            return {}
    fields = parse_qs(body.decode("utf-8", errors="replace"), keep_blank_values=True)
    return {name: values[-1] for name, values in fields.items()}


def _decided(form: dict[str, str], settings: Settings, followers: Followers) -> Response:
    """The answer to a form that came from our own page, after its decision is kept."""
    house = check_house(form.get("house", ""))
    _decide(form, _names(settings, house), house)
    week = form.get("week", "")
    if week:
        make_current(WeekPaths(settings.data_root, house, Week.parse(week), settings.outputs_root), settings)
    followers.follow(house)
    if not week:
        return RedirectResponse(f"/decisions/{quote(house)}", 303)
    card = f"#card-{quote(form['appliance_id'])}" if "appliance_id" in form else ""
    return RedirectResponse(f"/{quote(house)}/{quote(week)}/report.html{card}", 303)


def _decide(form: dict[str, str], path: Path, house: str) -> None:
    """Keep the decision that a form asks for; OptionError if it asks for none that there is."""
    who: dict[str, Any] = {"house": house, "appliance_id": form.get("appliance_id", "")}
    match form.get("action"):
        case Action.NAME:
            analyst.name_appliance(path, name=form.get("value", ""), **who)
        case Action.WRONG:
            analyst.reject_name(path, name=form.get("name", ""), **who)
        case Action.MERGE:
            analyst.merge(path, into=form.get("into", ""), **who)
        case Action.SPLIT:
            analyst.ungroup(path, **who)
        case Action.UNDO:
            analyst.undo(path, house=house)
        case other:
            raise OptionError(f"there is no action {other!r}")


def _refused(words: str, status: int) -> HTMLResponse:
    return HTMLResponse(refusal_page(words), status)
