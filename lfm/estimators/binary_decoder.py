"""BinaryDecoder: X ≈ ZW for rows without order (images, spectra), by exact decoding in the signal's space.

min over Z ∈ {0,1}^{N×K}, W of ‖X − ZW‖²_F. Owns the starts and the alternation; the exact Z step is
`lfm.estimators.decoding`, and choosing among equivalent solutions is the hopper's business.

1. Truncated SVD: Y = XV, N×K. All that a solution can explain lies there; what lies outside measures σ².
2. Starts. For few features: every binary vector near the column space of Y is Yu with u = Y_P⁻¹b for the K
   pivot rows P and b ∈ {0,1}^K (Slawski et al. 2013), so all 2^K are tried; K independent ones with the
   smallest |det| are kept. Otherwise, and where that fails: FastICA, each source cut in two; then, of the
   columns with which all starts so far have ended, those nearest to the space.
3. Alternation of the exact Z step with least squares for W, until Z no longer changes.
4. Until the noise floor is reached: drop the feature whose removal costs least, seed a new one from the
   residual, alternate again, keep what is better.
5. Of the equivalent solutions one whose Z has the smallest lattice index, as Z of a true model has 1.
"""

import logging
import math
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.extmath import randomized_svd

from lfm.arrays import BinaryArray, FloatArray
from lfm.equivalence.candidates import enumerate_candidates
from lfm.estimators.base import LatentFeatureEstimator, Rounds
from lfm.estimators.binary_columns import (
    columns_near_space,
    independent_sources,
    nearest_columns,
    smallest_determinant,
    split_in_two,
)
from lfm.estimators.decoding import decode
from lfm.least_squares import least_squares
from lfm.solution import Solution
from lfm.threads import one_thread
from lfm.thresholds import ESTIMATORS

logger = logging.getLogger(__name__)


def _noise(squares: FloatArray, outside: float, N: int, D: int) -> tuple[float, float]:
    """The variance σ² of the noise, and how much of its energy lies in the leading singular directions.

    `squares` are the leading squared singular values of X (N, D), `outside` the energy of the others. In the
    spiked model a signal s² shows as (s² + Nσ²)(s² + Dσ²)/s²: the term NDσ⁴/s² is noise that the SVD has
    moved into the leading directions; without it the noise would look too small.
    """
    freedom = (N - len(squares)) * (D - len(squares))
    if freedom == 0:
        return 0.0, 0.0
    # Squares of squares leave float64 where the data itself is far from its ends; a power of two is exact.
    size = math.ldexp(1.0, math.frexp(max(float(squares.max(initial=0.0)), outside))[1])
    squares, outside = squares / size, outside / size
    variance, taken = outside / freedom, 0.0
    for _ in range(5):  # a contraction: the correction is of second order
        excess = squares - (N + D) * variance
        discriminant = np.maximum(excess**2 - 4 * N * D * variance**2, 0.0)
        signal = (excess + np.sqrt(discriminant)) / 2
        above = signal > math.sqrt(N * D) * variance
        taken = float(np.sum(N * D * variance**2 / signal[above]))
        variance = (outside + taken) / freedom
    return variance * size, taken * size


def _whole(Z: BinaryArray) -> BinaryArray:
    """The equivalent of Z whose rows generate all integer vectors, where swaps of columns lead there.

    Sources cut in two may be sums and differences of features that reach only a sublattice (|det U| > 1): the
    residual cannot tell, and a hop that never raises the lattice index need not lower it.
    """
    real = Z.astype(np.float64)
    if np.linalg.matrix_rank(real.T @ real, hermitian=True) < Z.shape[1]:
        return Z  # without full rank there is no lattice index
    candidates = enumerate_candidates(Z)
    if candidates.index == 1:
        return Z
    directions = np.asarray(candidates.U, dtype=np.float64)
    chosen = smallest_determinant(directions, candidates.unit_positions().tolist())
    equivalent: BinaryArray = np.rint(real @ directions[chosen].T).astype(np.uint8)
    return equivalent


@dataclass(eq=False, repr=False, kw_only=True)
class BinaryDecoder(LatentFeatureEstimator):
    """X ≈ ZW for rows without order (images, spectra): min ‖X − ZW‖²_F over binary Z, with an exact Z step.

    Parameters
    ----------
    n_components : int, default 8
        K, the number of features, at least 1 and at most N.
    max_iter : int, default 100
        Most rounds of decoding and refitting from one start.
    n_restarts : int, default 20
        Most times that a feature is dropped and seeded anew while the residual is above the noise floor.
    random_state : int, numpy.random.Generator, RandomState or None, default None
        Seed of everything random in the fit.
    callback : callable, optional
        Called as callback(number, objective) after each start; numbers count from 1.
    verbose : bool or int, default 0
        Above 0, each start is logged on the logger "lfm.estimators".

    Attributes
    ----------
    Z_, W_, solution_, components_, n_iter_, converged_, objective_trace_
        As for every estimator: see `LatentFeatureEstimator`.
    at_noise_floor_ : bool
        Whether the residual inside the signal's space is what the noise outside it predicts. False where D
        ≤ K leaves no outside to compare with.
    noise_ : float
        Standard deviation σ of that noise, in the unit of X.

    Raises
    ------
    InvalidInputError
        By `fit`, where a parameter is out of its range.

    Examples
    --------
    >>> import lfm
    >>> import numpy as np
    >>> data = lfm.synthetic.images(K=4, N=200, n_pdc=0, noise=0.1, rng=np.random.default_rng(0))
    >>> decoder = lfm.BinaryDecoder(n_components=4, random_state=0).fit(data.X)
    >>> lfm.hamming_error(decoder.Z_, data.truth.Z)
    0.0
    """

    max_iter: int = 100
    n_restarts: int = 20

    @one_thread
    def fit(self, X: ArrayLike, y: object = None) -> Self:  # noqa: ARG002 (scikit-learn's signature)
        """Self, fitted to X (N, D) of real numbers."""
        rows = self._rows(X)
        self._check_count("max_iter", 1)
        self._check_count("n_restarts", 0)
        search = _Search(
            rows, self.n_components, self.max_iter, self._rng(), Rounds(self.callback, verbose=self.verbose)
        )
        search.run(self.n_restarts)
        self.at_noise_floor_ = search.at_floor()
        self.noise_ = math.sqrt(search.variance)
        Z = _whole(search.Z)
        return self._keep(
            Solution(Z, least_squares(Z, rows).W),
            rounds=search.rounds,
            converged=search.stable,
            advice=f"raise max_iter = {self.max_iter}, or ask for fewer features",
        )


class _Search:
    """The best Z so far in the space of the leading singular vectors, and the starts that may better it."""

    def __init__(
        self, X: FloatArray, K: int, max_iter: int, rng: np.random.Generator, rounds: Rounds
    ) -> None:
        N, D = X.shape
        self.K, self.max_iter, self.rng, self.rounds = K, max_iter, rng, rounds
        rank = min(K, D, N)
        seed = int(rng.integers(2**31 - 1))
        _, singular, Vt = randomized_svd(X, rank, n_iter=4, random_state=seed)
        outside = max(float(np.sum(X**2) - np.sum(singular**2)), 0.0)
        self.variance, taken = _noise(singular**2, outside, N, D)
        edge = max(self.variance * (math.sqrt(N) + math.sqrt(D)) ** 2, 1e-20 * singular[0] ** 2)
        self.r = max(int(np.count_nonzero(singular**2 > edge)), 1)  # dimensions that rise above the noise
        self.Y: FloatArray = X @ Vt.T
        self.outside = outside
        freedom = (N - K) * self.r
        self.floor = taken + self.variance * (
            freedom + ESTIMATORS.floor_sigmas * math.sqrt(2 * max(freedom, 1))
        )
        self.floor += float(np.sum(singular[self.r :] ** 2))
        self.Z: BinaryArray = np.zeros((N, K), dtype=np.uint8)
        self.inside = float("inf")
        self.tried: list[BinaryArray] = []  # the end of every start: its columns serve the later ones
        self.stable = True

    def at_floor(self) -> bool:
        """Whether the residual is what noise of the variance seen outside the space would leave."""
        return bool(self.inside <= self.floor)

    def run(self, n_restarts: int) -> None:
        """Try the starts, then restarts, until one reaches the noise floor."""
        if not self.Y.any():
            self.inside = 0.0
            self.rounds.add(0.0)
            return
        if self.r <= ESTIMATORS.enumerated_bits:
            self._try(columns_near_space(self.Y[:, : self.r]))
        for contrast in ("logcosh", "cube", "exp") * (2 if self.r > ESTIMATORS.enumerated_bits else 1):
            if self.at_floor() or self.r == 1:
                break
            self._try(independent_sources(self.Y[:, : self.r], contrast, int(self.rng.integers(2**31 - 1))))
            if not self.at_floor():
                self._try(nearest_columns(self.Y[:, : self.r], np.column_stack(self.tried)))
        failures = 0
        for _ in range(n_restarts):
            if self.at_floor():
                break
            before = self.inside
            if failures < self.K:
                self._try(np.delete(self.Z, self._least_missed(failures), axis=1))
            else:
                n_dropped = int(self.rng.integers(1, self.K + 1))
                dropped = self.rng.choice(self.K, size=n_dropped, replace=False)
                self._try(np.delete(self.Z, dropped, axis=1), randomly=True)
            failures = 0 if self.inside < before else failures + 1
        self.Z, self.inside, self.stable = self._alternate(self.Z, ESTIMATORS.max_nodes)
        logger.info("residual %.4g inside the space, noise floor %.4g", self.inside, self.floor)

    def _least_missed(self, place: int) -> int:
        """The feature whose removal costs least (`place` 0), second least (1) and so on."""
        Z = self.Z.astype(np.float64)
        W = least_squares(self.Z, self.Y).W
        precision = np.diag(np.linalg.pinv(Z.T @ Z, hermitian=True))
        cost = np.sum(W**2, axis=1) / np.where(precision > 0, precision, np.inf)
        return int(np.argsort(cost, kind="stable")[place])

    def _try(self, Z: BinaryArray, *, randomly: bool = False) -> None:
        """Alternate from Z (N, ≤ K), filled up with features seeded from the residual; keep it if better."""
        while Z.shape[1] < self.K:
            Z = np.column_stack([Z, self._seed(Z, randomly)])
            Z = self._alternate(Z, ESTIMATORS.quick_nodes)[0]
        Z, inside, _ = self._alternate(Z, ESTIMATORS.quick_nodes)
        self.tried.append(Z)
        if inside < self.inside:
            self.Z, self.inside = Z, inside
        self.rounds.add(self.inside + self.outside)

    def _seed(self, Z: BinaryArray, randomly: bool) -> BinaryArray:
        """A new column: what Z leaves over, cut in two along its main direction, or along one of its rows."""
        left = self.Y - Z @ least_squares(Z, self.Y).W if Z.shape[1] else self.Y
        weights = np.sum(left**2, axis=1)
        if randomly and weights.sum() > 0:
            direction = left[self.rng.choice(len(left), p=weights / weights.sum())]
        else:
            direction = np.linalg.svd(left.T @ left, hermitian=True)[2][0]
        return split_in_two(left @ direction)

    def _alternate(self, Z: BinaryArray, max_nodes: int) -> tuple[BinaryArray, float, bool]:
        """Z, ‖Y − ZW‖² and whether Z no longer changes, after exact Z steps and least squares in turn."""
        for _ in range(self.max_iter):
            W = least_squares(Z, self.Y).W
            decoding = decode(self.Y, W, max_nodes=max_nodes)
            new = decoding.Z
            worse = ~decoding.proved
            worse[worse] = np.sum((self.Y[worse] - new[worse] @ W) ** 2, axis=1) >= np.sum(
                (self.Y[worse] - Z[worse] @ W) ** 2, axis=1
            )
            new[worse] = Z[worse]
            if np.array_equal(new, Z):
                return Z, float(np.sum((self.Y - Z @ W) ** 2)), bool(decoding.proved.all())
            Z = new
        return Z, float(np.sum((self.Y - Z @ least_squares(Z, self.Y).W) ** 2)), False
