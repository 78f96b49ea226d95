"""`nilm serve`: names, merges and undo in a real browser, and what is refused."""

import re
import shutil
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import uvicorn

from flows.cli import main
from flows.command_line.serve import address, listen, serving
from flows.settings import load_settings
from nilm.appliances.analyst import read_notes
from nilm.errors import OptionError

REPORT = "house_sim/2015-wk01/report.html"


@pytest.fixture
def served(done_roots: tuple[Path, Path]) -> Iterator[str]:
    """The address of a server over a finished week."""
    listening = listen("127.0.0.1", 0)
    at = address(listening)
    config = uvicorn.Config(serving(load_settings(), at), log_level="warning", lifespan="off")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    while not server.started:
        time.sleep(0.01)
    yield f"http://{at}"
    server.should_exit = True
    thread.join()
    listening.close()


@pytest.fixture
def page(served: str) -> Iterator[Any]:
    executable = shutil.which("chromium")
    if executable is None:
        pytest.skip("no chromium on this machine: install Debian's package `chromium`")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=executable, args=["--no-sandbox", "--headless=new", "--disable-dev-shm-usage"]
        )
        opened = browser.new_page()
        opened.set_default_timeout(60_000)
        opened.goto(f"{served}/{REPORT}")
        yield opened
        browser.close()


def token_of(served: str) -> str:
    return re.search(r'name="token" value="([^"]+)"', httpx.get(f"{served}/{REPORT}").text)[1]


def form(served: str, **fields: str) -> dict[str, str]:
    """The fields that our own page would post."""
    return {"token": token_of(served), "house": "house_sim", "week": "2015-wk01", **fields}


def card(page: Any, appliance_id: str) -> Any:
    """The form of an appliance, with every fold around it open."""
    page.evaluate("document.querySelectorAll('details').forEach(fold => { fold.open = true; })")
    return page.locator(f"form.naming:has(input[name=appliance_id][value={appliance_id}])")


def test_an_analyst_names_refuses_merges_splits_and_undoes(page: Any, done_roots: tuple[Path, Path]) -> None:
    names = done_roots[0] / "names" / "house_sim.json"
    card(page, "A01").get_by_label("Name of A01").fill('Grandma\'s "toaster" <b>')
    card(page, "A01").get_by_role("button", name="Name it").click()
    page.wait_for_selector("text=Last decision: A01 is called")
    assert 'Grandma\'s "toaster" <b>' in page.locator("#energy-table").inner_text()
    assert read_notes(names, "house_sim").names == {"A01": 'Grandma\'s "toaster" <b>'}

    card(page, "A01").get_by_role("button", name="is wrong").click()
    page.wait_for_selector("text=Last decision: A01 is not")
    assert "Grandma" not in page.locator("#energy-table").inner_text()

    card(page, "A02").get_by_label("The same machine as").select_option("A01")
    card(page, "A02").get_by_role("button", name="Merge").click()
    page.wait_for_selector("text=Last decision: A02 belongs to A01")
    assert page.locator("#card-A01 #card-A02").count() == 1

    card(page, "A02").get_by_role("button", name="Split from").click()
    page.wait_for_selector("text=Last decision: A02 stands for itself")
    assert page.locator("#card-A01 #card-A02").count() == 0

    for words in ("A02 belongs to A01", "A01 is not", "A01 is called"):
        page.get_by_role("button", name="Undo").click()
        page.wait_for_selector(f"text=Last decision: {words}")
    assert "Grandma" in page.locator("#energy-table").inner_text()
    page.get_by_role("link", name="All decisions").click()
    page.wait_for_selector("tbody tr:nth-child(7)")
    assert page.locator("tbody tr").count() == 7
    page.get_by_role("button", name="Undo the last one").click()
    page.wait_for_selector("tbody tr:nth-child(8)")
    assert read_notes(names, "house_sim").names == {}


def test_only_our_own_pages_can_post(served: str, done_roots: tuple[Path, Path]) -> None:
    good = form(served, action="name", appliance_id="A01", value="kettle")
    ours = {"Origin": served}

    def status(fields: dict[str, str], headers: dict[str, str]) -> int:
        return httpx.post(f"{served}/decide", data=fields, headers=headers).status_code

    assert status(good, {}) == 403
    assert status(good, {"Origin": "http://evil.example"}) == 403
    assert status(good, {"Origin": "null"}) == 403
    assert status(good | {"token": "x" * 43}, ours) == 403
    assert status(good | {"token": "é"}, ours) == 403
    assert status({k: v for k, v in good.items() if k != "token"}, ours) == 403
    assert status(good, ours | {"Host": "evil.example"}) == 421
    assert httpx.get(f"{served}/{REPORT}", headers={"Host": "evil.example:80"}).status_code == 421
    assert status(good | {"value": "x" * 20_000}, ours) == 403
    assert not (done_roots[0] / "names").exists()
    assert status(good, ours) == 303


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"action": "name", "appliance_id": "A01", "value": " "}, "a name is one line"),
        ({"action": "name", "appliance_id": "../x", "value": "y"}, "written like A03"),
        ({"action": "merge", "appliance_id": "A01", "into": "A01"}, "they are one already"),
        ({"action": "burn", "appliance_id": "A01"}, "there is no action"),
        ({"action": "undo"}, "nothing stands"),
        ({"action": "name", "appliance_id": "A01", "value": "y", "house": "../.."}, "house"),
    ],
)
def test_a_form_that_asks_for_nothing_possible_is_answered_in_words(
    served: str, fields: dict[str, str], words: str
) -> None:
    answer = httpx.post(f"{served}/decide", data=form(served) | fields, headers={"Origin": served})
    assert answer.status_code == 400
    assert words in answer.text


@pytest.mark.parametrize(
    "path", ["../data/raw/house_sim/labels.dat", "%2e%2e/data/names", ".hidden", "house_sim/2015-wk01/none"]
)
def test_only_files_of_outputs_are_shown(served: str, done_roots: tuple[Path, Path], path: str) -> None:
    (done_roots[1] / ".hidden").write_text("half-written")
    assert httpx.get(f"{served}/{path}").status_code == 404


def test_pages_cannot_be_framed_or_kept(served: str) -> None:
    headers = httpx.get(f"{served}/").headers
    assert headers["x-frame-options"] == "DENY"
    assert headers["cache-control"] == "no-store"


@pytest.mark.parametrize(("host", "words"), [("0.0.0.0", "every address"), ("example.org", "must be an add")])
def test_it_listens_only_where_it_was_told(host: str, words: str) -> None:
    with pytest.raises(OptionError, match=words):
        listen(host, 0)


def test_a_port_in_use_is_named(clean_settings: None, capsys: pytest.CaptureFixture[str]) -> None:
    with listen("127.0.0.1", 0) as taken:
        port = str(taken.getsockname()[1])
        assert main(["serve", "--port", port]) == 2
    assert f"cannot listen on 127.0.0.1 port {port}" in capsys.readouterr().err


def test_a_port_that_does_not_exist_is_refused(
    clean_settings: None, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["serve", "--port", "99999"]) == 2
    assert "--port must be 0 to 65535, got 99999" in capsys.readouterr().err


def test_an_address_of_another_machine_asks_for_another_host() -> None:
    with pytest.raises(OptionError, match="choose another with --host"):
        listen("192.0.2.1", 0)  # set aside for documentation: no machine has it
