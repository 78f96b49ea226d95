"""What is said of a failure: the file or value, why, and what to do."""

import errno
import os
from pathlib import Path
from unittest.mock import Mock

import pytest

from flows.failures import WeeksFailedError, in_words, is_interrupt, is_wrong_option, noted
from nilm.errors import NilmError, NothingUsableError, OptionError
from nilm.paths import WeekPaths
from nilm.recordings.ukdale import Week


@pytest.mark.parametrize(
    ("number", "remedy"),
    [
        (errno.ENOSPC, "make room and run the same again"),
        (errno.EDQUOT, "make room"),
        (errno.EROFS, "set data_root or outputs_root to another folder"),
        (errno.EACCES, "change its permissions"),
        (errno.ENOENT, "correct the path"),
        (errno.ENOTDIR, "move it away"),
        (errno.EIO, "see to the disk or the network"),
    ],
)
def test_the_file_system_names_the_file_and_the_remedy(number: int, remedy: str) -> None:
    said = in_words(OSError(number, os.strerror(number), "outputs/index.html"))
    assert said.startswith(f"outputs/index.html: {os.strerror(number)}; ")
    assert remedy in said


def test_a_full_disk_without_a_name_says_where_to_look() -> None:
    said = in_words(OSError(errno.ENOSPC, "No space left on device"))
    assert said.startswith("a file below data_root, outputs_root or the temporary folder: No space left")


def test_our_own_errors_speak_for_themselves() -> None:
    assert in_words(NothingUsableError("not one usable row")) == "not one usable row"
    assert is_wrong_option(OptionError("no house"))
    assert not is_wrong_option(NothingUsableError("not one usable row"))


def test_parameters_that_prefect_refuses_are_one_line() -> None:
    from prefect.exceptions import ParameterTypeError

    from flows.piano import piano

    with pytest.raises(ParameterTypeError) as refused:
        piano.validate_parameters({"audio": Path("a.wav"), "components": 0, "seed": "x"})
    said = in_words(refused.value)
    assert said.startswith("components: Input should be greater than or equal to 1; seed: ")
    assert is_wrong_option(refused.value)


def test_what_nobody_foresaw_says_how_to_see_more() -> None:
    assert in_words(ZeroDivisionError("x")) == "unexpected ZeroDivisionError: x; --verbose shows where"
    assert "fewer --workers" in in_words(MemoryError())


def test_a_prefect_server_that_asks_for_a_password_is_told_in_words() -> None:
    import httpx
    from prefect.exceptions import PrefectHTTPStatusError

    request = httpx.Request("GET", "http://127.0.0.1:4200/api/admin/version")
    with pytest.raises(httpx.HTTPStatusError) as refused:
        httpx.Response(401, json={"exception_message": "Unauthorized"}, request=request).raise_for_status()
    assert "set PREFECT_API_AUTH_STRING" in in_words(PrefectHTTPStatusError.from_httpx_error(refused.value))


def test_failed_weeks_are_counted_and_the_first_is_named() -> None:
    place = WeekPaths(Path("data"), "house_1", Week(2015, 3), Path("outputs"))
    assert (
        str(WeeksFailedError({place: "no row"}, 4)) == "1 of 4 weeks failed; first house_1 2015-wk03: no row"
    )


def test_a_run_that_somebody_ended_is_no_failure_of_the_week() -> None:
    wrapped = SystemError("returned a result with an exception set")
    assert not is_interrupt(wrapped)
    wrapped.__cause__ = KeyboardInterrupt()
    assert is_interrupt(wrapped)
    pipeline = Mock()
    for error, kept in ((wrapped, 0), (OptionError("no such"), 0), (NilmError("no row"), 1)):
        with pytest.raises(type(error)), noted(pipeline):
            raise error
        assert pipeline.failed.call_count == kept
    pipeline.failed.assert_called_once_with("no row")
