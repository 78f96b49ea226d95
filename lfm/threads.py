"""The one place that says how many threads our linear algebra has."""

import functools
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from threadpoolctl import threadpool_limits

P = ParamSpec("P")
R = TypeVar("R")


def one_thread(function: Callable[P, R]) -> Callable[P, R]:
    """`function` with linear algebra on one thread: the same bits on any machine's number of cores.

    Two threads add up in another order than one. They also wait for each other by spinning: on cores that
    others use too, the eigenvectors of a 320 × 320 matrix took ten times the processor time of one thread.
    """

    @functools.wraps(function)
    def wrapper(*args: P.args, **kwargs: P.kwargs) -> R:
        with threadpool_limits(limits=1, user_api="blas"):
            return function(*args, **kwargs)

    return wrapper
