import logging
import subprocess
import sys
import threading

import pytest

from flows.command_line import terminal


def test_where_there_is_no_terminal_log_lines_say_that_the_work_goes_on(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = threading.Event()
    logger = logging.getLogger("flows.command_line.terminal")
    monkeypatch.setattr(logger, "handle", lambda record: (caplog.handler.handle(record), said.set()))
    monkeypatch.setattr(terminal, "SAY_EVERY_S", 0.01)
    monkeypatch.setattr(logger, "level", logging.INFO)
    with terminal.bar("house_1 2015-wk01", 4.0) as show:
        show(1.0, "finding appliances")
        said.clear()
        assert said.wait(30)
    assert "house_1 2015-wk01: finding appliances, 25%" in caplog.messages


def test_a_long_step_is_spoken_of_at_least_every_fifteen_seconds() -> None:
    assert terminal.SAY_EVERY_S <= 15


def test_a_log_line_that_a_server_cannot_take_is_not_the_last_word() -> None:
    code = (
        "import asyncio; from types import SimpleNamespace; from flows.command_line import terminal; "
        "terminal.speak(verbose=False); from prefect.logging.handlers import APILogWorker; "
        "asyncio.run(APILogWorker._handle_batch(SimpleNamespace(), []))"  # it has no client: sending fails
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ended.stderr == ""
