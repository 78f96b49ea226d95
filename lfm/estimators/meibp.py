"""MEIBP (Reed & Ghahramani, ICML 2013): maximisation-expectation inference in the Indian Buffet Process.

X = ZA + noise with A ≥ 0 and Z ~ IBP(α): for non-negative data only. The evidence bound and the steps that
raise it are `lfm.estimators.ibp_evidence`; this module owns the starts, the moves between local maxima, the
estimator.

From a random start rows and features are updated in turn until the bound no longer rises. That is a local
maximum, mostly with two features that share one column of Z, or with parts of one feature added to others.
So moves follow (decision 0131), each followed by updates and kept only if the bound has risen: columns
exchanged for unions, common parts and differences of pairs where those fit better together; or a new feature
seeded from what is left of X, and the feature whose removal costs least taken out again.
"""

import math
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.extmath import randomized_svd

from lfm.arrays import FloatArray
from lfm.errors import InvalidInputError
from lfm.estimators.base import LatentFeatureEstimator, Rounds
from lfm.estimators.binary_columns import combined_columns, exchanged, split_in_two
from lfm.estimators.ibp_evidence import Posterior, State, update_all_rows, update_features, update_scales
from lfm.least_squares import least_squares
from lfm.solution import Solution
from lfm.threads import one_thread
from lfm.thresholds import ESTIMATORS


@dataclass(eq=False, repr=False, kw_only=True)
class MEIBP(LatentFeatureEstimator):
    """Non-negative X ≈ ZW by maximisation-expectation in an Indian Buffet Process (Reed & Ghahramani 2013).

    Parameters
    ----------
    n_components : int, default 8
        K_init, the features at the start, at least 1 and at most N. Features that no row uses are deleted,
        so that Z_ can have fewer columns. α = (1 + K_init)/(1 + H_N).
    n_init : int, default 3
        Random starts, of which the one with the highest bound is kept.
    max_iter : int, default 500
        Most rounds in a row.
    tol : float, default 1e-3
        Share of the bound, above 0. A round that raises the bound by less ends the updates, and two such
        moves in a row end the start.
    random_state : int, numpy.random.Generator, RandomState or None, default None
        Seed of everything random in the fit.
    callback : callable, optional
        Called as callback(number, objective) after each round; numbers count from 1.
    verbose : bool or int, default 0
        Above 0, each round is logged on the logger "lfm.estimators".

    Attributes
    ----------
    Z_, W_, solution_, components_, n_iter_, converged_, objective_trace_
        As for every estimator: see `LatentFeatureEstimator`. W_ is E[A].

    Raises
    ------
    InvalidInputError
        By `fit`, where X has negative entries or a parameter is out of its range.

    Examples
    --------
    >>> import lfm
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> data = lfm.synthetic.images(K=3, N=100, n_pdc=0, noise=0.1, rng=rng, nonnegative=True)
    >>> bool((lfm.MEIBP(n_components=3, random_state=0).fit(data.X).W_ >= 0).all())
    True
    """

    n_init: int = 3
    max_iter: int = 500
    tol: float = 1e-3

    @one_thread
    def fit(self, X: ArrayLike, y: object = None) -> Self:  # noqa: ARG002 (scikit-learn's signature)
        """Self, fitted to X (N, D) of numbers ≥ 0."""
        rows = self._rows(X)
        self._check_count("n_init", 1)
        self._check_count("max_iter", 1)
        self._check_number("tol")
        if np.min(rows) < 0:
            raise InvalidInputError(
                f"Negative values in data passed to MEIBP: {np.count_nonzero(rows < 0)} entries of X, the "
                f"least {np.min(rows):g}. Its features are non-negative; use LatentLasso or BinaryDecoder "
                "for signed data"
            )
        search = _Search(rows, self.n_components, self.max_iter, self.tol, self._rng())
        best, rounds, converged = max(
            (search.run(Rounds(self.callback, verbose=self.verbose)) for _ in range(self.n_init)),
            key=lambda run: run[1].trace[-1],
        )
        solution = (
            Solution(best.Z, best.q.first)
            if best.Z.shape[1]
            else Solution(np.zeros((len(rows), 1), np.uint8), np.zeros((1, rows.shape[1])))
        )
        advice = f"raise max_iter = {self.max_iter}"
        return self._keep(solution, rounds=rounds, converged=converged, advice=advice)

    def __sklearn_tags__(self) -> Any:
        """scikit-learn's tags: only X ≥ 0 is accepted."""
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        return tags


def _start(X: FloatArray, K: int, rng: np.random.Generator) -> State:
    """Z at random, features at the mean of X shared out among them."""
    Z = (rng.random((len(X), K)) < 0.5).astype(np.uint8)
    Z[rng.integers(len(X), size=K), np.arange(K)] = 1  # every feature is on in some row
    scale = math.sqrt(float(np.mean(X**2))) or 1.0
    first = rng.random((K, X.shape[1])) * X.mean(axis=0) * (4 / K)
    return State(X, Z, Posterior(first, np.full(K, scale), first, first**2), scale)


class _Search:
    """The climb of the bound from random starts, for one X."""

    def __init__(self, X: FloatArray, K: int, max_iter: int, tol: float, rng: np.random.Generator) -> None:
        self.X, self.K, self.max_iter, self.tol, self.rng = X, K, max_iter, tol, rng
        N = len(X)
        self.alpha = (1 + K) / (1 + float(np.sum(1.0 / np.arange(1, N + 1))))
        self.least = ESTIMATORS.least_scale * math.sqrt(float(np.mean(X**2))) or 1.0
        seed = int(rng.integers(2**31 - 1))
        self.Y: FloatArray = X @ randomized_svd(X, min(K, *X.shape), n_iter=4, random_state=seed)[2].T

    def run(self, rounds: Rounds) -> tuple[State, Rounds, bool]:
        """The end of one random start, its bounds, and whether it converged."""
        state = _start(self.X, self.K, self.rng)
        converged = self._climb(state, rounds)
        failures = 0
        for _ in range(ESTIMATORS.max_moves):
            if failures == ESTIMATORS.patience or not converged or state.Z.shape[1] == 0:
                break
            new = (None if failures else self._with_exchanges(state)) or self._with_new_feature(state)
            attempt = Rounds(None)
            reached = self._climb(new, attempt)
            before, after = rounds.trace[-1], attempt.trace[-1]
            failures = 0 if after - before > self.tol * abs(before) else failures + 1
            if after > before and new.Z.shape[1]:
                state, converged = new, reached
                rounds.add(after)
        return state, rounds, converged

    def _climb(self, state: State, rounds: Rounds) -> bool:
        """Rounds of updates, in place, until the bound no longer rises; False where max_iter came first."""
        for number in range(self.max_iter):
            self._update(state)
            rounds.add(state.bound(self.X, self.alpha))
            if state.Z.shape[1] == 0:
                return True
            if number and rounds.trace[-1] - rounds.trace[-2] <= self.tol * abs(rounds.trace[-2]):
                return True
        return False

    def _update(self, state: State) -> None:
        """Features, scales and rows, each at their optimum given the others."""
        update_features(state)
        update_scales(state, self.X, self.least)
        update_all_rows(state, self.X, self.alpha, self.rng)

    def _with_exchanges(self, state: State) -> State | None:
        """The state with columns exchanged for combinations that fit better, or None if none do."""
        Z = exchanged(state.Z, combined_columns(state.Z, self.Y), self.Y)
        if Z is state.Z:
            return None
        first = np.maximum(least_squares(Z, self.X).W, 0.0)
        return state.with_features(Z, first, self.X)

    def _with_new_feature(self, state: State) -> State:
        """The state with a feature seeded from what is left of X; the one whose removal costs least is gone.

        The seed is the direction of a row, drawn in proportion to its squared residual.
        """
        left = self.X - state.Z @ state.q.first
        weights = np.sum(left**2, axis=1)
        if not weights.any():
            return state.with_features(state.Z.copy(), state.q.first, self.X)
        direction = left[self.rng.choice(len(left), p=weights / weights.sum())]
        on = split_in_two(left @ direction)
        on[np.argmax(left @ direction)] = 1
        feature = np.maximum(left[on == 1].mean(axis=0), 0.0)
        new = state.with_features(np.column_stack([state.Z, on]), np.vstack([state.q.first, feature]), self.X)
        for _ in range(ESTIMATORS.rounds_before_removal):
            self._update(new)
            if new.Z.shape[1] <= self.K:
                return new
        ridge = 1e-9 * float(np.trace(new.gram)) * np.eye(len(new.gram))  # two equal columns: either may go
        missed = np.sum(new.q.first**2, axis=1) / np.diag(np.linalg.inv(new.gram + ridge))
        return new.without(int(np.argmin(missed)), self.X)
