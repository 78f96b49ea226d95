"""What a hop was asked for, checked: every mistake is named before any work is done."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from lfm.arrays import FloatArray, IntArray
from lfm.checks import check_rng, check_weight, check_whole, is_number
from lfm.equivalence.candidates import Candidates
from lfm.equivalence.lattice import nonbinarity
from lfm.errors import InvalidInputError
from lfm.priors import Prior
from lfm.solution import Solution
from lfm.thresholds import HOPPER


@dataclass(frozen=True)
class HopOptions:
    """What stays the same in every round of a hop."""

    priors: tuple[Prior, ...]
    unimodular: bool
    gamma: float
    beta: float
    n_steps: int
    n_restarts: int
    rng: np.random.Generator
    X: FloatArray | None
    residual_limit: float
    tolerant: bool
    repair: bool  # whether wrong bits are set right too
    nonnegative: bool  # whether features are refitted without negative numbers
    group: IntArray | None  # which rows of X repeat one another, for the repair

    def __post_init__(self) -> None:
        check_weight("gamma", self.gamma)
        if not (is_number(self.beta) and self.beta > 0):
            raise InvalidInputError(f"beta must be positive (math.inf is greedy), got {self.beta!r}")
        object.__setattr__(self, "n_steps", check_whole("n_steps", self.n_steps, least=1))
        object.__setattr__(self, "n_restarts", check_whole("n_restarts", self.n_restarts, least=0))
        check_rng("rng", self.rng)

    def value(self, solution: Solution) -> float:
        """Σ priors, and ‖X − ZW‖² where the hop may change it (Eq. 3)."""
        fit = solution.residual(self.X) ** 2 if self.tolerant and self.X is not None else 0.0
        return fit + sum(prior.value(solution) for prior in self.priors)


def residual_limit(solution: Solution, X: FloatArray | None, tolerance: float) -> float:
    """The largest residual that may come back: (1 + tolerance) times the start's, infinite without X."""
    if not (is_number(tolerance) and -1 <= tolerance < math.inf):
        raise InvalidInputError(
            f"residual_tolerance must be a finite share of at least −1, got {tolerance!r}"
        )
    if X is None:
        return math.inf
    # A start that fits exactly has a residual of zero: the second term leaves room for rounding.
    return (1 + tolerance) * solution.residual(X) + HOPPER.least_gain * float(np.linalg.norm(X))


def check_request(solution: Solution, priors: Sequence[Prior]) -> None:
    """InvalidInputError unless there is a solution to hop from and something to prefer."""
    if not isinstance(solution, Solution):
        raise InvalidInputError(
            f"solution must be a Solution, got {type(solution).__name__}; wrap it as Solution(Z, W)"
        )
    if isinstance(priors, Prior) or not isinstance(priors, Sequence):
        raise InvalidInputError(
            f"priors must be a list of Prior objects, got {priors!r}; write [GaussianW(1.0)]"
        )
    if len(priors) == 0:
        raise InvalidInputError("priors is empty, so every solution is as good; give e.g. [GaussianW(1.0)]")
    for prior in priors:
        if not isinstance(prior, Prior):
            raise InvalidInputError(f"priors must hold Prior objects, got {prior!r}; subclass lfm.Prior")
        if type(prior).value is not Prior.value:
            raise InvalidInputError(
                f"{type(prior).__name__} overrides value, which the hopper never asks for; write it as "
                "columns (one price per column of Z) and features (one per row of W)"
            )


def check_candidates(solution: Solution, candidates: Candidates, X: ArrayLike | None) -> None:
    """InvalidInputError unless the candidates are this solution's, and X is there where they need it."""
    if not isinstance(candidates, Candidates):
        raise InvalidInputError(
            f"candidates must be a Candidates, got {type(candidates).__name__}; use enumerate_candidates(Z)"
        )
    if candidates.K != solution.K:
        raise InvalidInputError(
            f"candidates have length {candidates.K} and the solution has K = {solution.K} features; "
            "enumerate them from this solution's Z"
        )
    try:
        agree = np.array_equal(nonbinarity(solution.Z, candidates.U.T), candidates.f)
    except InvalidInputError:  # Zu is no integer: the candidates are of another Z
        agree = False
    if not agree:
        raise InvalidInputError(
            "candidates do not belong to this solution's Z: their f does not agree; enumerate them from it"
        )
    if X is None and not candidates.strict:
        raise InvalidInputError(
            "candidates hold vectors with f > 0, after which W must be refitted: give X, or strict candidates"
        )
