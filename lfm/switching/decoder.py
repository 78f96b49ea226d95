"""SwitchingDecoder: binary features of rows in time, from the levels between which the rows switch.

Owns the scikit-learn side and the way from codes of segments to Z and W of rows. The steps before:
`lfm.switching.segments` (noise, subspace, segments, states), `lfm.switching.features` (edges, the choice of
features), `lfm.switching.viterbi` and `lfm.switching.tracking` (who is on when), `lfm.switching.search` and
`lfm.switching.search_varying` (in which order, and how many features).
"""

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from lfm.arrays import BinaryArray, FloatArray
from lfm.checks import check_gaps, check_scale, checked_rows
from lfm.errors import InvalidInputError
from lfm.estimators.base import Callback, LatentFeatureEstimator, Rounds
from lfm.least_squares import least_squares
from lfm.solution import Solution
from lfm.switching.collinear.twins import twin_pairs
from lfm.switching.search import Fit, search_exact
from lfm.switching.search_varying import refit_varying, search_varying
from lfm.switching.segments import Segments, Subspace, distance_limit, find_states, find_subspace, split
from lfm.switching.skipped_rows import with_short_activations
from lfm.switching.thresholds import THRESHOLDS
from lfm.switching.viterbi import decode_segments
from lfm.threads import one_thread


class SwitchingDecoder(LatentFeatureEstimator):
    """X ≈ ZW for rows in time of which few differ from the row before: who is on when, and the features.

    Minimises misfit plus switches, Σ_s n_s ‖m_s − z_s W‖²/2σ² + c · (number of switches), over the codes
    z_s of the segments s (runs of n_s rows with mean m_s) and over W. The noise σ, the segments and the
    number of features come from X. Where that does not reach the noise, each activation of a feature is
    given a size of its own.

    Parameters
    ----------
    n_components : int or 'auto', default 'auto'
        An upper bound on the number of features K, at least 1; 'auto' and larger numbers mean 40. One feature
        is the level that is always on, where there is one. The limit is that of the search: a feature is one
        bit of a number of 64 bits, and 48 kinds of change may become features. Of the 2^K states only those
        near the rows are visited.
    drift : float or 'auto', default 'auto'
        Standard deviation of an activation's size relative to its feature's, from 0 to below 1. 'auto'
        measures it where it is needed, 0 forbids it.
    min_noise : float, default 0.0
        Least σ, in the unit of X. Changes too small to be a feature (a load that follows the voltage) stay
        noise.
    max_iter : int, default 10
        Most rounds of decoding and refitting for each attempt.
    random_state : optional
        Accepted as by every estimator; the fit draws no random numbers.
    callback : callable, optional
        Called as callback(number, objective) after each attempt; numbers count from 1.
    verbose : bool or int, default 0
        Above 0, each attempt is logged on the logger "lfm.estimators".

    Attributes
    ----------
    Z_, W_, solution_, components_, n_iter_, converged_, objective_trace_
        As for every estimator: see `LatentFeatureEstimator`.
    noise_ : float
        σ of one entry of X.
    drift_ : float
        The drift that the fit supposes; 0 where features repeat exactly.
    at_noise_floor_ : bool
        True where chi² of the segment means is what noise, and drift if any, make of it: nothing is left to
        explain.
    misfit_ : float
        Distance of chi² from that, in standard deviations.
    n_outlier_rows_ : int
        Single rows that no combination of features explains. They hold a switch or are spoilt, and take
        over the code of a neighbour.

    Raises
    ------
    InvalidInputError
        By `fit`, where a parameter is out of its range, or the changes between rows do not recur and drift
        is 0.

    Examples
    --------
    A feature of size 5 on top of a level of 1:

    >>> import lfm
    >>> import numpy as np
    >>> on = np.tile(np.repeat([0, 1], 10), 6)
    >>> X = 1 + 5 * on[:, None] * np.ones(4) + 0.01 * np.random.default_rng(0).standard_normal((120, 4))
    >>> decoder = lfm.SwitchingDecoder().fit(X)
    >>> lfm.runs_of_ones(decoder.Z_[:, 1])[:2], decoder.at_noise_floor_
    ([(10, 20), (30, 40)], True)
    """

    noise_: float
    drift_: float
    at_noise_floor_: bool
    misfit_: float
    n_outlier_rows_: int

    def __init__(
        self,
        n_components: int | str = "auto",
        *,
        drift: float | str = "auto",
        min_noise: float = 0.0,
        max_iter: int = 10,
        random_state: Any = None,
        callback: Callback | None = None,
        verbose: bool | int = 0,
    ) -> None:
        self.n_components = n_components
        self.drift = drift
        self.min_noise = min_noise
        self.max_iter = max_iter
        self.random_state = random_state
        self.callback = callback
        self.verbose = verbose

    @one_thread
    def fit(self, X: ArrayLike, y: Any = None, *, gap_before: ArrayLike | None = None) -> Self:  # noqa: ARG002
        """Fit to X (N, D), rows in time; gap_before (N,): True where a row does not follow the one before."""
        rows = checked_rows(self, X)
        check_scale("X", rows)
        most = self._most_features()
        drift = self._drift()
        self._check_count("max_iter", 1)
        self._check_number("min_noise", above=-1e-300)
        gaps = check_gaps(gap_before, len(rows))
        rounds = Rounds(self.callback, verbose=self.verbose)
        subspace = find_subspace(rows, gaps)
        subspace = subspace._replace(noise=max(subspace.noise, self.min_noise))
        segments = split(subspace.scores(rows), gaps)
        fit = self._search(segments, most - 1, drift, rounds)
        if fit is None:
            raise InvalidInputError(
                "the changes between the rows of X do not recur, so features that repeat exactly (drift = 0) "
                "cannot explain them; use drift='auto', or BinaryDecoder if the rows have no order"
            )
        self.noise_ = subspace.noise
        self.drift_ = fit.variation.drift if fit.variation else 0.0
        self.misfit_ = fit.misfit
        self.at_noise_floor_ = fit.certified
        self.n_outlier_rows_ = int(np.count_nonzero(fit.outlier))
        solution = _solution(rows, segments, fit, subspace)
        return self._keep(solution, rounds=rounds, converged=fit.converged, advice="raise max_iter")

    def _search(self, segments: Segments, most: int, drift: float | None, rounds: Rounds) -> Fit | None:
        """The best fit of at most `most` features; None where drift is forbidden and nothing recurs."""
        states = find_states(segments)
        fit = search_exact(segments, states, most=most, max_iter=self.max_iter, report=rounds.add)
        splintered = (
            fit is not None and len(twin_pairs(fit.G, THRESHOLDS.splinter_distance)) >= THRESHOLDS.splinters
        )
        if drift == 0 or (fit is not None and fit.certified and not splintered):
            return fit
        looser = search_varying(segments, most=most, drift=drift, max_iter=self.max_iter, report=rounds.add)
        simpler = looser.certified and fit is not None and len(looser.G) < len(fit.G)
        if fit is None or looser.objective < fit.objective or (splintered and simpler):
            fit = looser
        return fit

    @one_thread
    def transform(self, X: ArrayLike, *, gap_before: ArrayLike | None = None) -> BinaryArray:
        """Z (N, K) of new rows in time X (N, D) for the features W_, with the switching prior of `fit`."""
        check_is_fitted(self)
        rows = checked_rows(self, X, reset=False)
        gaps = check_gaps(gap_before, len(rows))
        basis = np.linalg.svd(self.W_, full_matrices=False)[2].T
        subspace = Subspace(np.ascontiguousarray(basis), self.noise_)
        segments = split(subspace.scores(rows), gaps)
        G = subspace.scores(self.W_)
        path = decode_segments(segments, find_states(segments), G, np.zeros(G.shape[1]))
        return segments.rows(path.Z)

    def _most_features(self) -> int:
        """The upper bound on K."""
        if self.n_components == "auto":
            return THRESHOLDS.max_features
        if isinstance(self.n_components, str):
            raise InvalidInputError(
                f"n_components must be 'auto' or an integer of at least 1, got {self.n_components!r}"
            )
        self._check_count("n_components", 1)
        return min(int(self.n_components), THRESHOLDS.max_features)

    def _drift(self) -> float | None:
        """The drift as a number; None stands for 'auto'."""
        if self.drift == "auto":
            return None
        if not isinstance(self.drift, (int, float, np.number)) or not 0 <= self.drift < 1:
            raise InvalidInputError(f"drift must be 'auto' or a number in [0, 1), got {self.drift!r}")
        return float(self.drift)


def _solution(X: FloatArray, segments: Segments, fit: Fit, subspace: Subspace) -> Solution:
    """Z of all rows, the always-on column in front where one is needed, and W in all of X's directions.

    Features point to the same side as the mean of X, and one that is at right angles to it is off more often
    than on: a feature that does not is exchanged for its absence.
    """
    Z = segments.rows(fit.Z)
    if fit.variation is None:
        Z = segments.rows(with_short_activations(segments, fit.Z, fit.outlier, fit.G, fit.level))
        fitting = ~segments.rows(fit.outlier)
        design = np.column_stack([np.ones(np.count_nonzero(fitting)), Z[fitting]])
        features = least_squares(design, X[fitting]).W
        level, W = features[0], features[1:]
    else:
        means = np.add.reduceat(X, segments.start, axis=0) / segments.length[:, None]
        W, level = refit_varying(means, segments, fit.Z, fit.outlier, fit.G, fit.variation)
    mean = X.mean(axis=0)
    size = np.linalg.norm(W, axis=1) * np.linalg.norm(mean)
    cosine = W @ mean / np.where(size > 0, size, 1.0)
    inverted = np.where(np.abs(cosine) > THRESHOLDS.right_angle, cosine < 0, Z.mean(axis=0) > 0.5)
    level = level + W[inverted].sum(axis=0)
    Z, W = Z ^ inverted.astype(np.uint8), np.where(inverted[:, None], -W, W)
    with_level = np.column_stack([np.ones(len(Z), dtype=np.uint8), Z])
    variance = subspace.noise**2 * np.linalg.pinv(with_level.T.astype(np.float64) @ with_level)[0, 0]
    if len(W) and np.sum(level**2) <= variance * distance_limit(X.shape[1]):
        return Solution(Z, W)
    return Solution(with_level, np.vstack([level, W]))
