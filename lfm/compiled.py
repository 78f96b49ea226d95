"""The one place that says how our inner loops are compiled."""

from collections.abc import Callable
from typing import ParamSpec, TypeVar, cast

import numba

P = ParamSpec("P")
R = TypeVar("R")


def compiled(function: Callable[P, R]) -> Callable[P, R]:
    """`function` compiled by numba on first call, cached on disk, without the interpreter lock."""
    return cast("Callable[P, R]", numba.njit(cache=True, nogil=True)(function))
