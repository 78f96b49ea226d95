"""What every estimator of X ≈ ZW shares: checked input, rounds with a callback, fitted names, `transform`.

Owns the scikit-learn side. The algorithms live in a module each and hand their (Z, W) to `_keep`.
"""

import logging
import warnings
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from lfm.arrays import BinaryArray, FloatArray
from lfm.checks import check_binary, check_scale, checked_rows
from lfm.errors import InvalidInputError
from lfm.estimators.decoding import decode_rows
from lfm.solution import Solution
from lfm.threads import one_thread

logger = logging.getLogger("lfm.estimators")

Callback = Callable[[int, float], None]


class Rounds:
    """The objective after each round of a fit, reported to the user's callback and log as it comes."""

    def __init__(self, callback: Callback | None, *, verbose: bool | int = 0) -> None:
        self.trace: list[float] = []
        self._callback = callback
        self._verbose = verbose

    def add(self, objective: float) -> None:
        """Records one more round and calls `callback(round_number, objective)`; rounds count from 1."""
        self.trace.append(float(objective))
        if self._verbose:
            logger.info("round %d: objective %.6g", len(self.trace), objective)
        if self._callback is not None:
            self._callback(len(self.trace), float(objective))


@dataclass(eq=False, repr=False)
class LatentFeatureEstimator(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Base of the estimators: a subclass's `fit`, under `one_thread`, calls `_rows` and ends in `_keep`.

    As a dataclass it has the `__init__` that scikit-learn asks for, which only stores its parameters.

    Attributes
    ----------
    Z_ : array of uint8, shape (N, K)
        Who is on in each row that was fitted.
    W_, components_ : array of shape (K, D)
        The features.
    solution_ : Solution
        Both together.
    n_iter_ : int
        Rounds that were needed.
    converged_ : bool
        Whether the rounds ended by themselves.
    objective_trace_ : array of shape (n_iter_,)
        The objective after each round.
    n_features_in_ : int
        D.
    """

    n_components: Any = 8
    _: KW_ONLY
    random_state: Any = None
    callback: Callback | None = None
    verbose: bool | int = 0

    def _rows(self, X: ArrayLike) -> FloatArray:
        """X checked for fitting: a finite (N, D) float64 array, N ≥ 2, with N at least n_components."""
        rows = checked_rows(self, X, ensure_min_samples=2)
        check_scale("X", rows)
        self._check_count("n_components", 1)
        K = self.n_components
        if len(rows) < K:
            raise InvalidInputError(
                f"n_components = {K} features cannot be told apart in n_samples = {len(rows)} rows; ask for "
                f"at most {len(rows)}, or bring more rows"
            )
        return rows

    def _check_count(self, name: str, least: int) -> None:
        """InvalidInputError unless the parameter `name` is an integer of at least `least`."""
        value = getattr(self, name)
        if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
            raise InvalidInputError(f"{name} must be an integer of at least {least}, got {value!r}")

    def _check_number(self, name: str, *, above: float = 0.0) -> None:
        """InvalidInputError unless the parameter `name` is a finite number greater than `above`."""
        value = getattr(self, name)
        if not isinstance(value, (int, float, np.number)) or not above < value < np.inf:
            raise InvalidInputError(f"{name} must be a finite number above {above:g}, got {value!r}")

    def _rng(self) -> np.random.Generator:
        """The generator of this fit: a given Generator itself, else one seeded from random_state."""
        if isinstance(self.random_state, np.random.Generator):
            return self.random_state
        if self.random_state is None or isinstance(self.random_state, (int, np.integer)):
            return np.random.default_rng(self.random_state)
        return np.random.default_rng(check_random_state(self.random_state).randint(2**31 - 1))

    def _keep(self, solution: Solution, *, rounds: Rounds, converged: bool, advice: str) -> Self:
        """Self with the fitted attributes; ConvergenceWarning with `advice` where not converged."""
        self.solution_ = solution
        self.Z_, self.W_ = solution.Z, solution.W
        self.objective_trace_ = np.asarray(rounds.trace, dtype=np.float64)
        self.n_iter_ = len(rounds.trace)
        self.converged_ = bool(converged)
        if not converged:
            warnings.warn(
                f"{type(self).__name__} did not converge in {self.n_iter_} rounds (objective "
                f"{rounds.trace[-1]:.6g}); {advice}",
                ConvergenceWarning,
                stacklevel=4,  # the warning names the line that called fit, not ours
            )
        return self

    @one_thread
    def transform(self, X: ArrayLike) -> BinaryArray:
        """Z (N, K) for new rows X (N, D): for each the closest binary combination of the features W_."""
        check_is_fitted(self)
        rows = checked_rows(self, X, reset=False)
        return decode_rows(rows, self.W_)

    def inverse_transform(self, Z: ArrayLike) -> FloatArray:
        """ZW (N, D): what rows with the states Z (N, K) of zeros and ones look like without noise."""
        check_is_fitted(self)
        states = check_binary("Z", Z)
        if states.shape[1] != len(self.W_):
            raise InvalidInputError(
                f"Z has {states.shape[1]} columns; this {type(self).__name__} has {len(self.W_)} features"
            )
        return states.astype(np.float64) @ self.W_

    def score(self, X: ArrayLike, y: object = None) -> float:  # noqa: ARG002 (scikit-learn's signature)
        """1 − ‖X − ẐW‖²/‖X‖² for rows X (N, D), Ẑ = transform(X): the share of their energy that W explains.

        At most 1, the higher the better. X without energy is explained by nothing being on: 1.
        """
        states = self.transform(X)
        rows = checked_rows(self, X, reset=False)
        energy = float(np.sum(rows**2))
        return 1.0 - Solution(states, self.W_).residual(rows) ** 2 / energy if energy > 0 else 1.0

    @property
    def components_(self) -> FloatArray:
        """W_ (K, D), by the name that scikit-learn's decompositions use."""
        return self.W_

    @property
    def _n_features_out(self) -> int:
        """Number of output columns, for scikit-learn's get_feature_names_out."""
        return int(self.W_.shape[0])

    def __sklearn_tags__(self) -> Any:
        """scikit-learn's tags: Z is uint8 whatever the dtype of X."""
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = []
        return tags
