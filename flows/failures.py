"""What went wrong, in words: which file or value, why, and what to do. For the last line and for summaries.

Errors of `nilm` and `lfm` say all of that themselves. The file system's do not: what to do depends on the
kind of failure, and some come without the file's name.
"""

import errno
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from lfm import LfmError
from nilm.errors import NilmError, OptionError
from nilm.paths import WeekPaths

if TYPE_CHECKING:
    from nilm.pipeline import WeekPipeline

_FULL = (errno.ENOSPC, errno.EDQUOT)
_FORBIDDEN = (errno.EACCES, errno.EPERM, errno.EROFS)
_IN_THE_WAY = (errno.ENOTDIR, errno.EEXIST, errno.EISDIR)


class ServerError(Exception):
    """The embedded Prefect server did not start; the message names its log."""


class WeeksFailedError(NilmError):
    """Some weeks failed, by name and reason; the others are done."""

    def __init__(self, failures: Mapping[WeekPaths, str], n_asked: int) -> None:
        first, reason = next(iter(failures.items()))
        super().__init__(f"{len(failures)} of {n_asked} weeks failed; first {first}: {reason}")


@contextmanager
def noted(pipeline: "WeekPipeline") -> Iterator[None]:
    """Show on the index why the block failed, unless the command was wrong; the error goes on."""
    try:
        yield
    except Exception as error:
        if not is_wrong_option(error) and not is_interrupt(error):
            note(pipeline, in_words(error))
        raise


def note(pipeline: "WeekPipeline", reason: str) -> None:
    """Show on the index why a week failed; a disk that is full, the reason itself, hides no other error."""
    with suppress(OSError, NilmError):
        pipeline.failed(reason)


def in_words(error: BaseException) -> str:
    """One line that says what went wrong and what to do."""
    if isinstance(error, NilmError | LfmError | ServerError):
        return str(error)
    if isinstance(error, OSError):
        return _file_system(error)
    if isinstance(error, MemoryError):
        return "memory ran out; close other programs, or run with fewer --workers"
    if is_wrong_option(error):  # "Flow run received invalid parameters:\n - components: Input should …"
        return "; ".join(line.strip(" -") for line in str(error).splitlines()[1:])
    if type(error).__name__ == "PrefectHTTPStatusError" and "401 Unauthorized" in str(error):
        return (
            "the Prefect server at PREFECT_API_URL asks who you are; set PREFECT_API_AUTH_STRING to the "
            "user:password that the server was started with"
        )
    return f"unexpected {type(error).__name__}: {error}; --verbose shows where"


def is_wrong_option(error: BaseException) -> bool:
    """Whether the command or the flow's parameters were wrong, and not the work."""
    return isinstance(error, OptionError) or type(error).__name__ == "ParameterTypeError"  # Prefect's


def is_interrupt(error: BaseException) -> bool:
    """Whether somebody ended the run: compiled code wraps a signal's exception in one that hides it."""
    return isinstance(error, SystemError) and not isinstance(error.__cause__, Exception | None)


def _file_system(error: OSError) -> str:
    where = error.filename or "a file below data_root, outputs_root or the temporary folder"
    why = error.strerror or str(error)
    if error.errno in _FULL:
        return f"{where}: {why}; make room and run the same again, what is done stays done"
    if error.errno in _FORBIDDEN:
        return f"{where}: {why}; change its permissions, or set data_root or outputs_root to another folder"
    if error.errno == errno.ENOENT:
        return f"{where}: {why}; correct the path"
    if error.errno in _IN_THE_WAY:
        return f"{where}: {why}; a file is where a folder must be or the other way round, move it away"
    return f"{where}: {why}; see to the disk or the network, then run the same again"
