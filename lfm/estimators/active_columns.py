"""The active set of LatentLasso: binary columns z_j with weights c_j ≥ 0, and what lowers its objective.

½ tr(Xᵀ(I + M/τ)⁻¹X) + λ Σ_j c_j with M = Σ_j c_j z_j z_jᵀ; the first term is min_V ½‖X − Z_c V‖² + ½τ‖V‖²,
Z_c = Z diag(√c). Owns the steps on c and on the bits of the columns. Which column to add is the business of
`lfm.estimators.steepest_column`, which K to keep at the end that of `lfm.estimators.latent_lasso`.

With G = ZᵀZ and H = ZᵀX the objective and its gradient need only G and HHᵀ, so the steps on c know neither N
nor D.
"""

from typing import NamedTuple

import numpy as np

from lfm.arrays import BinaryArray, FloatArray
from lfm.estimators.bit_flips import flip_bits
from lfm.thresholds import ESTIMATORS


def loss_and_gradient(
    c: FloatArray, gram: FloatArray, outer: FloatArray, tau: float
) -> tuple[float, FloatArray]:
    """½ tr(Xᵀ(I + M/τ)⁻¹X) − ½‖X‖² and its gradient in c, from G = ZᵀZ and outer = ZᵀX(ZᵀX)ᵀ.

    The gradient is −‖z_jᵀ(X − ZW)‖²/(2τ) with W = diag(c)(G diag(c) + τI)⁻¹ZᵀX.
    """
    T = np.linalg.inv(gram * c + tau * np.eye(len(c)))
    half = T @ outer
    return -0.5 * float(c @ np.diag(half)), -0.5 * tau * np.sum(half * T, axis=1)  # diagonal of T·outer·Tᵀ


class ActiveColumns(NamedTuple):
    """The active columns and all that the steps on c need of them."""

    Z: BinaryArray  # (N, J)
    gram: FloatArray  # (J, J): ZᵀZ
    cross: FloatArray  # (J, D): ZᵀX
    c: FloatArray  # (J,)

    @classmethod
    def of(cls, Z: BinaryArray, c: FloatArray, X: FloatArray) -> "ActiveColumns":
        """The distinct columns of Z that have ones, equal ones with the sum of their c: M is the same."""
        distinct, place = np.unique(Z, axis=1, return_inverse=True)
        weights = np.zeros(distinct.shape[1])
        np.add.at(weights, place.ravel(), c)
        used = distinct.any(axis=0)
        distinct = np.ascontiguousarray(distinct[:, used])
        real = distinct.astype(np.float64)
        return cls(distinct, real.T @ real, real.T @ X, weights[used])

    def features(self, tau: float) -> FloatArray:
        """B (J, D) = √c_j V_j: the features as they stand in X ≈ ZB, shrunk."""
        shrunk = np.linalg.solve(self.gram * self.c + tau * np.eye(len(self.c)), self.cross)
        return np.asarray(self.c[:, None] * shrunk, dtype=np.float64)

    def objective(self, tau: float, penalty: float) -> float:
        """The objective without its constant ½‖X‖²."""
        loss, _ = loss_and_gradient(self.c, self.gram, self.cross @ self.cross.T, tau)
        return loss + penalty * float(self.c.sum())

    def grown(self, z: BinaryArray, X: FloatArray) -> "ActiveColumns":
        """The active set with the column z at c = 0, if z is new and has ones."""
        if not z.any() or np.any(np.all(z[:, None] == self.Z, axis=0)):
            return self
        Z = np.column_stack([self.Z, z])
        new = Z.T.astype(np.float64) @ z
        gram = np.block([[self.gram, new[:-1, None]], [new[None, :]]])
        cross = np.vstack([self.cross, z.astype(np.float64) @ X])
        return ActiveColumns(Z, gram, cross, np.append(self.c, 0.0))

    def descended(self, tau: float, penalty: float, n_steps: int) -> "ActiveColumns":
        """The active set after up to n_steps proximal gradient steps on c, without columns of no weight."""
        c = _descend(self, tau, penalty, n_steps) if len(self.c) else self.c
        keep = c > ESTIMATORS.drop_below
        return ActiveColumns(self.Z[:, keep], self.gram[np.ix_(keep, keep)], self.cross[keep], c[keep])

    def slid(self, X: FloatArray, tau: float) -> "ActiveColumns":
        """The active set with bits of its columns flipped where that lowers ½‖X − ZB‖² at the same B.

        The penalty does not see Z, so the objective falls with it.
        """
        B = self.features(tau)
        Z = self.Z.copy()
        return ActiveColumns.of(Z, self.c, X) if flip_bits(Z, X @ B.T, B @ B.T) else self


def _descend(active: ActiveColumns, tau: float, penalty: float, n_steps: int) -> FloatArray:
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
