"""LatentLasso (Yen et al., ICML 2017): binary features by a convex atomic norm, for data of either sign.

min over c ≥ 0 of ½ tr(Xᵀ(I + M/τ)⁻¹X) + λ Σ_j c_j with M = Σ_j c_j z_j z_jᵀ over all binary columns z_j; the
first term is min_V ½‖X − Z_c V‖² + ½τ‖V‖², Z_c = Z diag(√c). Owns the order of the rounds; the active set and
its steps are `lfm.estimators.active_columns`, the search for a new column is
`lfm.estimators.steepest_column`.

Each round adds the column of steepest descent, takes proximal gradient steps on c, flips bits of the active
columns where that lowers the objective, and takes steps on c again. The penalty comes down to λ in the course
of the rounds: at λ from the first round on, the early columns are mixtures of features, and the rounds are
spent on correcting them. Both change the way to the minimum, not the objective (decision 0130). The search
looks at the residual along the leading singular directions of X, which is where the columns of a latent
feature model lie.
"""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.extmath import randomized_svd

from lfm.arrays import BinaryArray, FloatArray
from lfm.estimators.active_columns import ActiveColumns
from lfm.estimators.base import LatentFeatureEstimator, Rounds
from lfm.estimators.binary_columns import exchanged
from lfm.estimators.bit_flips import flip_bits
from lfm.estimators.steepest_column import steepest_column
from lfm.least_squares import least_squares
from lfm.solution import Solution
from lfm.threads import one_thread
from lfm.thresholds import ESTIMATORS


@dataclass(eq=False, repr=False, kw_only=True)
class LatentLasso(LatentFeatureEstimator):
    """X ≈ ZW by a convex atomic norm over binary columns, for data of either sign (Yen et al. 2017).

    Minimises ½ tr(Xᵀ(I + M/τ)⁻¹X) + λ Σ_j c_j with M = Σ_j c_j z_j z_jᵀ, c ≥ 0, over all binary columns
    z_j. The n_components columns that explain most are kept at the end, and W is refitted by least squares.

    Parameters
    ----------
    n_components : int, default 8
        K, the number of features that are kept, at least 1 and at most N.
    tau : float, default 1.0
        τ > 0, the ridge on W.
    penalty : float, optional
        λ > 0, the price of a column. Default: N.
    max_iter : int, default 80
        Most rounds, each of which adds a column. The penalty comes down to λ during the first of them.
    n_steps : int, default 100
        Most proximal gradient steps at a time.
    tol : float, default 1e-5
        Share of the objective, above 0. A round at λ that lowers the objective by less is the last.
    random_state : int, numpy.random.Generator, RandomState or None, default None
        Seed of everything random in the fit.
    callback : callable, optional
        Called as callback(number, objective) after each round; numbers count from 1.
    verbose : bool or int, default 0
        Above 0, each round is logged on the logger "lfm.estimators".

    Attributes
    ----------
    Z_, W_, solution_, components_, n_iter_, converged_, objective_trace_
        As for every estimator: see `LatentFeatureEstimator`.

    Raises
    ------
    InvalidInputError
        By `fit`, where a parameter is out of its range.

    Examples
    --------
    >>> import lfm
    >>> import numpy as np
    >>> data = lfm.synthetic.images(K=3, N=100, n_pdc=0, noise=0.1, rng=np.random.default_rng(0))
    >>> lasso = lfm.LatentLasso(n_components=3, random_state=0).fit(data.X)
    >>> lfm.hamming_error(lasso.Z_, data.truth.Z)
    0.0
    """

    tau: float = 1.0
    penalty: float | None = None
    max_iter: int = 80
    n_steps: int = 100
    tol: float = 1e-5

    @one_thread
    def fit(self, X: ArrayLike, y: object = None) -> Self:  # noqa: ARG002 (scikit-learn's signature)
        """Self, fitted to X (N, D) of real numbers."""
        rows = self._rows(X)
        N, D = rows.shape
        self._check_count("max_iter", 1)
        self._check_count("n_steps", 1)
        self._check_number("tau")
        self._check_number("tol")
        if self.penalty is not None:
            self._check_number("penalty")
        final = float(N if self.penalty is None else self.penalty)
        rng = self._rng()
        energy = float(np.sum(rows**2))
        seed = int(rng.integers(2**31 - 1))
        q = min(N, D, self.n_components)
        directions = randomized_svd(rows, q, n_iter=4, random_state=seed)[2].T
        seen = rows @ directions
        active = ActiveColumns.of(np.zeros((N, 0), np.uint8), np.zeros(0), rows)
        rounds = Rounds(self.callback, verbose=self.verbose)
        n_path = int(ESTIMATORS.path_share * self.max_iter)
        fall = 1.0
        converged = False
        for number in range(self.max_iter):
            z = steepest_column(seen - active.Z @ (active.features(self.tau) @ directions), rng)
            if number == 0:
                worth = float(np.sum((z @ rows) ** 2)) / (2 * self.tau)
                fall = max(ESTIMATORS.first_penalty * worth / final, 1.0)
            penalty = final * fall ** max(1 - number / max(n_path, 1), 0.0)
            active = active.grown(z, rows).descended(self.tau, penalty, self.n_steps)
            active = active.slid(rows, self.tau).descended(self.tau, penalty, self.n_steps)
            rounds.add(0.5 * energy + active.objective(self.tau, penalty))
            if number > n_path and rounds.trace[-2] - rounds.trace[-1] <= self.tol * rounds.trace[-2]:
                converged = True
                break
        order = np.argsort(-np.sum(active.features(self.tau) ** 2, axis=1), kind="stable")
        kept, others = np.sort(order[: self.n_components]), order[self.n_components :]
        Z = exchanged(active.Z[:, kept], active.Z[:, others], rows)
        solution = _settled(Z if Z.shape[1] else np.zeros((N, 1), np.uint8), rows)
        advice = f"raise max_iter = {self.max_iter}"
        return self._keep(solution, rounds=rounds, converged=converged, advice=advice)


def _settled(Z: BinaryArray, X: FloatArray) -> Solution:
    """Z with W of least squares, after bits of Z were flipped and W refitted in turn while the residual fell.

    The columns were fitted together with others, which have been dropped since.
    """
    Z = Z.copy()
    while True:
        W = least_squares(Z, X).W
        if not flip_bits(Z, X @ W.T, W @ W.T):
            return Solution(Z, W)
