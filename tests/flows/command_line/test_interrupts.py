"""Ctrl-C is heeded even where somebody swallows it, and forgotten afterwards."""

import contextlib
import signal

import pytest

from flows.command_line import interrupts, terminal


def _swallowed() -> None:
    with contextlib.suppress(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)


def test_a_swallowed_interrupt_ends_the_work_at_its_next_sign_of_progress() -> None:
    done = []

    def work() -> None:
        with interrupts.heeded(), terminal.bar("week", 3.0) as show:
            for hour in range(3):
                show(hour, "reading")
                done.append(hour)
                _swallowed()

    with pytest.raises(KeyboardInterrupt):
        work()
    assert done == [0]


def test_a_swallowed_interrupt_is_raised_at_the_end_at_the_latest() -> None:
    with pytest.raises(KeyboardInterrupt), interrupts.heeded():
        _swallowed()


def test_what_was_before_is_restored_and_nothing_remembered() -> None:
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt), interrupts.heeded():
        signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is before
    interrupts.heed()
