"""LatentLasso (Yen et al., ICML 2017): binary features by a convex atomic norm, for data of either sign.

min over c ≥ 0 of ½ tr(Xᵀ(I + M/τ)⁻¹X) + λ Σ_j c_j with M = Σ_j c_j z_j z_jᵀ over all binary columns z_j; the
first term is min_V ½‖X − Z_c V‖² + ½τ‖V‖², Z_c = Z diag(√c). Owns the active set, the search for a new column
and the steps on c.

Each round finds the column of steepest descent, argmax over {0,1}^N of ‖Aᵀz‖² for the residual A, by the
mixing method for the MAXCUT-like relaxation (rank 10, random hyperplanes), then takes proximal gradient steps
on c. Two exact identities keep a round cheap: with G = ZᵀZ and H = ZᵀX the objective and its gradient need
only G and HHᵀ, so the steps on c know neither N nor D; and AAᵀ is used as A times Aᵀ, never formed. The
search looks at A along the leading singular directions of X, which is where the columns of a latent feature
model lie.
"""

from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import lstsq
from sklearn.utils.extmath import randomized_svd

from lfm.compiled import compiled
from lfm.errors import BinaryMatrix, FloatMatrix, IntMatrix
from lfm.estimator import Callback, LatentFeatureEstimator, Rounds, one_thread
from lfm.solution import Solution

SDP_RANK = 10  # the authors' settings, here and in the two lines below
N_HYPERPLANES = 100
MAX_SWEEPS = 100
_SWEEP_TOLERANCE = 1e-5
_DROP_BELOW = 1e-4
_EXTRA_DIRECTIONS = 10


class _Active(NamedTuple):
    """The active columns and all that the steps on c need of them."""

    Z: BinaryMatrix  # (N, J)
    gram: FloatMatrix  # (J, J): ZᵀZ
    cross: FloatMatrix  # (J, D): ZᵀX
    c: NDArray[np.float64]  # (J,)

    def kept(self, keep: NDArray[np.bool_]) -> "_Active":
        """The active set without the columns where keep is False."""
        return _Active(self.Z[:, keep], self.gram[np.ix_(keep, keep)], self.cross[keep], self.c[keep])

    def grown(self, z: BinaryMatrix, X: FloatMatrix) -> "_Active":
        """The active set with one more column at c = 0."""
        Z = np.column_stack([self.Z, z])
        new = Z.T.astype(np.float64) @ z
        gram = np.block([[self.gram, new[:-1, None]], [new[None, :]]])
        return _Active(Z, gram, np.vstack([self.cross, z.astype(np.float64) @ X]), np.append(self.c, 0.0))


def _shrunk(gram: FloatMatrix, c: NDArray[np.float64], tau: float, right: FloatMatrix) -> FloatMatrix:
    """(G diag(c) + τI)⁻¹ times `right`; regular for every c ≥ 0, also where entries are zero."""
    return np.asarray(np.linalg.solve(gram * c + tau * np.eye(len(c)), right), dtype=np.float64)


def loss_and_gradient(
    c: NDArray[np.float64], gram: FloatMatrix, outer: FloatMatrix, tau: float
) -> tuple[float, NDArray[np.float64]]:
    """½ tr(Xᵀ(I + M/τ)⁻¹X) − ½‖X‖² and its gradient in c, from G = ZᵀZ and outer = ZᵀX(ZᵀX)ᵀ.

    The gradient is −‖z_jᵀ(X − ZW)‖²/(2τ) with W = diag(c)(G diag(c) + τI)⁻¹ZᵀX.
    """
    half = _shrunk(gram, c, tau, outer)  # T·outer with T = (G diag(c) + τI)⁻¹
    both = _shrunk(gram, c, tau, half.T)  # T·outer·Tᵀ, symmetric
    return -0.5 * float(c @ np.diag(half)), -0.5 * tau * np.diag(both)


def _descend(active: _Active, tau: float, penalty: float, n_steps: int) -> NDArray[np.float64]:
    """The c after up to n_steps proximal gradient steps, each as long as keeps the objective falling."""
    outer = active.cross @ active.cross.T
    c = active.c.copy()
    loss, gradient = loss_and_gradient(c, active.gram, outer, tau)
    step = 1e-2 / float(np.max(np.abs(gradient + penalty)) + 1e-300)
    for _ in range(n_steps):
        while True:
            new = np.maximum(c - step * (gradient + penalty), 0.0)
            change = new - c
            new_loss, new_gradient = loss_and_gradient(new, active.gram, outer, tau)
            quadratic = float(change @ change) / (2 * step)
            if new_loss <= loss + float(gradient @ change) + quadratic or quadratic == 0.0:
                break
            step /= 2
        if quadratic == 0.0 or float(np.max(np.abs(change))) <= 1e-7 * float(np.max(new) + 1e-300):
            return new
        # Barzilai and Borwein's length for the next step: the curvature differs by orders of magnitude
        # between columns that are in use and columns near zero.
        bend = float(change @ (new_gradient - gradient))
        step = float(change @ change) / bend if bend > 0 else 2 * step
        c, loss, gradient = new, new_loss, new_gradient
    return c


@compiled
def _sweep(A: FloatMatrix, x: FloatMatrix, sums: FloatMatrix, order: IntMatrix) -> float:
    """One sweep of the mixing method over the rows of A (N, q), in place; how much the objective rose.

    x (N, R) holds the unit vectors of the rows, sums = Aᵀ(x + x0) (q, R), x0 the dummy's. Each x_i
    becomes the unit vector along g_i = Σ_{j≠i} a_i·a_j x_j + (a_i·Σ_j a_j) x0.
    """
    q, rank = sums.shape
    g = np.empty(rank)
    risen = 0.0
    for i in order:
        square = 0.0
        for r in range(rank):
            g[r] = 0.0
        for d in range(q):
            a = A[i, d]
            square += a * a
            for r in range(rank):
                g[r] += a * sums[d, r]
        norm = 0.0
        for r in range(rank):
            g[r] -= square * x[i, r]
            norm += g[r] * g[r]
        norm = np.sqrt(norm)
        if norm == 0.0:
            continue
        for r in range(rank):
            new = g[r] / norm
            risen += g[r] * (new - x[i, r])
            g[r] = new - x[i, r]
            x[i, r] = new
        for d in range(q):
            a = A[i, d]
            for r in range(rank):
                sums[d, r] += a * g[r]
    return 2 * risen


def _steepest_column(A: FloatMatrix, rng: np.random.Generator) -> BinaryMatrix:
    """A z ∈ {0,1}^N of large ‖Aᵀz‖², by the mixing method and random hyperplanes; A is (N, q)."""
    N = len(A)
    x = rng.standard_normal((N, SDP_RANK))
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    x0 = rng.standard_normal(SDP_RANK)
    x0 /= np.linalg.norm(x0)
    # With y = 2z − 1 and a dummy y₀: 4‖Aᵀz‖² = ‖Aᵀ(y + y₀1)‖²; the dummy keeps its vector, for only the
    # angles to it count.
    sums = A.T @ (x + x0)
    for _ in range(MAX_SWEEPS):
        risen = _sweep(A, x, sums, rng.permutation(N))
        if risen <= _SWEEP_TOLERANCE * float(np.sum(sums**2)):
            break
    planes = rng.standard_normal((SDP_RANK, N_HYPERPLANES))
    sides = ((x @ planes >= 0) == (x0 @ planes >= 0)).astype(np.float64)
    best = int(np.argmax(np.sum((A.T @ sides) ** 2, axis=0)))
    z: BinaryMatrix = sides[:, best].astype(np.uint8)
    return z


class LatentLasso(LatentFeatureEstimator):
    """Factorises X ≈ ZW by the Latent Feature Lasso, for data of either sign.

    n_components: K, the columns kept at the end (fewer where fewer are active): those of largest c_k‖V_k‖²,
    with W by least squares. tau: τ > 0. penalty: λ > 0, by default N. max_iter: most rounds, each of which
    adds a column. n_steps: most proximal gradient steps a round. tol: a round that lowers the objective by
    less than this share of it is the last. callback(number, objective) is called after each round.
    """

    def __init__(
        self,
        n_components: int = 8,
        *,
        tau: float = 1.0,
        penalty: float | None = None,
        max_iter: int = 60,
        n_steps: int = 100,
        tol: float = 1e-5,
        random_state: Any = None,
        callback: Callback | None = None,
    ) -> None:
        self.n_components = n_components
        self.tau = tau
        self.penalty = penalty
        self.max_iter = max_iter
        self.n_steps = n_steps
        self.tol = tol
        self.random_state = random_state
        self.callback = callback

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
        penalty = float(N if self.penalty is None else self.penalty)
        rng = self._rng()
        energy = 0.5 * float(np.sum(rows**2))
        q = min(N, D, self.n_components + _EXTRA_DIRECTIONS)
        seed = int(rng.integers(2**31 - 1))
        directions = randomized_svd(rows, q, n_iter=4, random_state=seed)[2].T
        seen = rows @ directions
        active = _Active(np.zeros((N, 0), np.uint8), np.zeros((0, 0)), np.zeros((0, D)), np.zeros(0))
        rounds = Rounds(self.callback)
        objective = energy
        converged = False
        for _ in range(self.max_iter):
            W = active.c[:, None] * _shrunk(active.gram, active.c, self.tau, active.cross)
            z = _steepest_column(seen - active.Z @ (W @ directions), rng)
            if z.any() and not np.any(np.all(z[:, None] == active.Z, axis=0)):
                active = active.grown(z, rows)
            if active.Z.shape[1]:
                active = active._replace(c=_descend(active, self.tau, penalty, self.n_steps))
                active = active.kept(active.c > _DROP_BELOW)
            before = objective
            loss, _ = loss_and_gradient(active.c, active.gram, active.cross @ active.cross.T, self.tau)
            objective = energy + loss + penalty * float(active.c.sum())
            rounds.add(objective)
            if before - objective <= self.tol * before:
                converged = True
                break
        return self._keep(
            self._strongest(active, rows),
            rounds=rounds,
            converged=converged,
            advice=f"raise max_iter = {self.max_iter}",
        )

    def _strongest(self, active: _Active, X: FloatMatrix) -> Solution:
        """The n_components columns of largest c_k‖V_k‖² and their least squares W."""
        B = active.c[:, None] * _shrunk(active.gram, active.c, self.tau, active.cross)  # √c_k V_k
        chosen = np.sort(np.argsort(-np.sum(B**2, axis=1), kind="stable")[: self.n_components])
        Z = active.Z[:, chosen] if len(chosen) else np.zeros((len(X), 1), np.uint8)
        return Solution(Z, np.asarray(lstsq(Z.astype(np.float64), X, lapack_driver="gelsy")[0]))
