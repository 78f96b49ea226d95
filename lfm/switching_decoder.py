"""SwitchingDecoder: binary features of rows in time, from the levels between which the rows switch.

Owns the order of the steps, the number of features, the certificate and the scikit-learn side. The steps:
`lfm.segments` (noise, subspace, segments, states), `lfm.generators` (edges, the choice of features),
`lfm.viterbi` (who is on when).
"""

from collections.abc import Iterator
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted, validate_data

from lfm.errors import BinaryMatrix, FloatMatrix, InvalidInputError
from lfm.estimator import Callback, LatentFeatureEstimator, Rounds
from lfm.generators import choose, description_length, edge_types, find_relations, starting_features
from lfm.segments import (
    Segments,
    States,
    Subspace,
    distance_limit,
    find_states,
    find_subspace,
    is_transition,
    split,
)
from lfm.solution import Solution
from lfm.viterbi import SWITCH, Path, decode_segments

MAX_FEATURES = 40  # what 'auto' looks for at the most
CERTIFICATE_SIGMAS = 6.0
RIGHT_ANGLE = 0.05  # a smaller cosine says nothing about the side on which a feature lies
_NEIGHBOURS = (0, 1, 2, -1)  # numbers of features to try, relative to the best choice, until one is certified


class Fit(NamedTuple):
    """Features and codes of one attempt, in units of the noise."""

    G: FloatMatrix  # (J, r)
    level: FloatMatrix  # (r,) with all features off
    path: Path
    objective: float
    misfit: float  # chi² of the segment means over its degrees of freedom, in standard deviations from 1
    converged: bool


class SwitchingDecoder(LatentFeatureEstimator):
    """X ≈ ZW for rows in time of which few differ from the row before: who is on when, and the features.

    Minimises Σ_s n_s ‖m_s − z_s W‖²/2σ² + 4 · (number of switches) over codes z_s of the segments s (runs of
    n_s rows with mean m_s), and W; the noise σ, the segments and the number of features come from X.

    n_components: an upper bound on the number of features K, or 'auto'. One feature is the level that is
    always on, where there is one. max_iter: rounds of decoding and refitting per attempt. random_state is
    accepted as by every estimator; the fit draws no random numbers.

    After `fit`, besides the names all estimators share: noise_ (σ of one entry of X), at_noise_floor_ (True
    where chi² of the segment means is what noise alone makes of it: nothing is left to explain), misfit_ (its
    distance from that, in standard deviations), n_outlier_rows_ (single rows that no combination of features
    explains: they hold a switch or are spoilt, and take over the code of a neighbour).
    """

    noise_: float
    at_noise_floor_: bool
    misfit_: float
    n_outlier_rows_: int

    def __init__(
        self,
        n_components: int | str = "auto",
        *,
        max_iter: int = 10,
        random_state: Any = None,
        callback: Callback | None = None,
    ) -> None:
        self.n_components = n_components
        self.max_iter = max_iter
        self.random_state = random_state
        self.callback = callback

    def fit(self, X: ArrayLike, y: Any = None, *, gap_before: ArrayLike | None = None) -> Self:  # noqa: ARG002
        """Fit to X (N, D), rows in time; gap_before (N,): True where a row does not follow the one before."""
        rows: FloatMatrix = validate_data(self, X, dtype=np.float64)
        most = self._most_features()
        self._check_count("max_iter", 1)
        gaps = _check_gaps(gap_before, len(rows))
        rounds = Rounds(self.callback)
        subspace = find_subspace(rows, gaps)
        segments = split(subspace.scores(rows), gaps)
        fit = self._search(segments, find_states(segments), most - 1, rounds)
        solution = _solution(rows, segments.rows(fit.path.Z), ~segments.rows(fit.path.glitch), subspace)
        self.noise_ = subspace.noise
        self.misfit_ = fit.misfit
        self.at_noise_floor_ = abs(fit.misfit) <= CERTIFICATE_SIGMAS
        self.n_outlier_rows_ = int(np.count_nonzero(fit.path.glitch))
        return self._keep(solution, rounds=rounds, converged=fit.converged, advice="raise max_iter")

    def transform(self, X: ArrayLike, *, gap_before: ArrayLike | None = None) -> BinaryMatrix:
        """Z (N, K) of new rows in time X (N, D) for the features W_, with the switching prior of `fit`."""
        check_is_fitted(self)
        rows: FloatMatrix = validate_data(self, X, dtype=np.float64, reset=False)
        gaps = _check_gaps(gap_before, len(rows))
        basis = np.linalg.svd(self.W_, full_matrices=False)[2].T
        subspace = Subspace(np.ascontiguousarray(basis), self.noise_)
        segments = split(subspace.scores(rows), gaps)
        G = subspace.scores(self.W_)
        path = decode_segments(segments, find_states(segments), G, np.zeros(G.shape[1]))
        return segments.rows(path.Z)

    def _most_features(self) -> int:
        """The upper bound on K."""
        if self.n_components == "auto":
            return MAX_FEATURES
        if isinstance(self.n_components, str):
            raise InvalidInputError(
                f"n_components must be 'auto' or an integer of at least 1, got {self.n_components!r}"
            )
        self._check_count("n_components", 1)
        return min(int(self.n_components), MAX_FEATURES)

    def _search(self, segments: Segments, states: States, most: int, rounds: Rounds) -> Fit:
        """The attempt with the lowest objective: the first that is certified, or the best of all tried."""
        best: Fit | None = None
        for G, level, price in _attempts(segments, states, most):
            fit = _alternate(segments, states, G, level, price=price, max_iter=self.max_iter)
            fit = _prune(segments, states, fit, price=price, max_iter=self.max_iter)
            if best is None or fit.objective < best.objective:
                best = fit
            rounds.add(best.objective)
            if abs(fit.misfit) <= CERTIFICATE_SIGMAS:
                break
        assert best is not None
        return best


def _check_gaps(gap_before: ArrayLike | None, N: int) -> NDArray[np.bool_]:
    """gap_before as (N,) booleans, none where it is None; InvalidInputError if it is not one flag per row."""
    if gap_before is None:
        return np.zeros(N, dtype=np.bool_)
    gaps = np.asarray(gap_before)
    if gaps.shape != (N,) or gaps.dtype != np.bool_:
        raise InvalidInputError(
            f"gap_before must hold one boolean for each of the {N} rows of X, got shape {gaps.shape} of "
            f"{gaps.dtype}"
        )
    return gaps


def _attempts(
    segments: Segments, states: States, most: int
) -> Iterator[tuple[FloatMatrix, FloatMatrix, float]]:
    """Starting features, levels and the price of a feature, the most promising number of features first."""
    steady = ~is_transition(segments)
    follows, visited = segments.follows[steady], states._replace(label=states.label[steady])
    types = edge_types(visited, follows)
    relations = find_relations(types)
    price = description_length(types)
    choice = choose(types, relations, price=price, n_rows=int(segments.length.sum()), most=most)
    toward = segments.length @ segments.mean
    preferred = int(np.argmin(choice.charges))
    for step in _NEIGHBOURS:
        if 0 <= preferred + step < len(choice.sets):
            chosen = choice.sets[preferred + step]
            yield *starting_features(types, relations, chosen, visited, toward, follows), price


def _alternate(
    segments: Segments, states: States, G: FloatMatrix, level: FloatMatrix, *, price: float, max_iter: int
) -> Fit:
    """Decode and refit in turn until the codes stay."""
    path = decode_segments(segments, states, G, level)
    converged = False
    for _ in range(max_iter):
        used = path.Z.any(axis=0) & ~path.Z.all(axis=0)
        design = np.column_stack([path.Z[:, used], np.ones(len(path.Z))])
        root = np.sqrt(np.where(path.glitch, 0, segments.length))[:, None]
        features = np.linalg.lstsq(design * root, segments.mean * root)[0]
        G, level = features[:-1], features[-1]
        before, path = path.Z[:, used], decode_segments(segments, states, G, level)
        if np.array_equal(before, path.Z):
            converged = True
            break
    residual = segments.mean - level - path.Z @ G
    chi2 = segments.length * np.sum(residual**2, axis=1)
    fitting = ~path.glitch
    freedom = max(1, (np.count_nonzero(fitting) - len(G) - 1) * segments.mean.shape[1])
    misfit = float((chi2[fitting].sum() - freedom) / np.sqrt(2 * freedom))
    objective = path.cost + price * len(G)
    return Fit(G, level, path, float(objective), misfit, converged)


def _prune(segments: Segments, states: States, fit: Fit, *, price: float, max_iter: int) -> Fit:
    """The fit without the features that switch rarely and that the others can do without."""
    switches = np.count_nonzero(np.diff(fit.path.Z.astype(np.int8), axis=0), axis=0)
    for k in np.argsort(switches, kind="stable"):
        if SWITCH * switches[k] > price:
            break
        G = np.delete(fit.G, k, axis=0)
        if decode_segments(segments, states, G, fit.level).cost < fit.path.cost + price:
            shorter = _alternate(segments, states, G, fit.level, price=price, max_iter=max_iter)
            if shorter.objective < fit.objective:
                return _prune(segments, states, shorter, price=price, max_iter=max_iter)
    return fit


def _solution(X: FloatMatrix, Z: BinaryMatrix, fitting: NDArray[np.bool_], subspace: Subspace) -> Solution:
    """Z (N, J) with the always-on column in front, where one is needed, and W by least squares on X.

    Only the rows that are `fitting` (N,) decide about W.

    Features point to the same side as the mean of X, and one that is at right angles to it is off more often
    than on: a feature that does not is exchanged for its absence.
    """
    Z = np.column_stack([np.ones(len(Z), dtype=np.uint8), Z])
    W = _least_squares(Z[fitting], X[fitting])
    mean = X.mean(axis=0)
    size = np.linalg.norm(W, axis=1) * np.linalg.norm(mean)
    cosine = W @ mean / np.where(size > 0, size, 1.0)
    inverted = np.where(np.abs(cosine) > RIGHT_ANGLE, cosine < 0, Z.mean(axis=0) > 0.5)
    Z[:, 1:] ^= inverted[1:].astype(np.uint8)
    W = _least_squares(Z[fitting], X[fitting])
    variance = np.linalg.pinv(Z.T.astype(np.float64) @ Z)[0, 0]
    if Z.shape[1] > 1 and np.sum(W[0] ** 2) <= variance * subspace.noise**2 * distance_limit(X.shape[1]):
        Z = Z[:, 1:]
        W = _least_squares(Z[fitting], X[fitting])
    return Solution(Z, W)


def _least_squares(Z: BinaryMatrix, X: FloatMatrix) -> FloatMatrix:
    """The W of least ‖X − ZW‖ (of least norm where Z is rank-deficient), from ZᵀZ and ZᵀX."""
    A = Z.astype(np.float64)
    return np.asarray(np.linalg.lstsq(A.T @ A, A.T @ X)[0], dtype=np.float64)
