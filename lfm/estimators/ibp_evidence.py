"""The evidence bound of an Indian Buffet Process with non-negative features, and the steps that raise it.

X = ZA + noise, A ≥ 0 with a half-Gaussian prior of scale σ_A, Gaussian noise of scale σ_X, Z ~ IBP(α). Z is
maximised, A integrated: q(A_kd) is a Gaussian truncated to A ≥ 0. The bound is

E[log likelihood] + log P(Z) + E[log p(A)] + H(q), with
log P(Z) = K₊ log α − K₊ lnΓ(N+1) − αH_N + Σ_k [lnΓ(N−m_k+1) + lnΓ(m_k)] − ln K₊!.

A row of Z maximises a submodular function (Q_jk ≤ 0 because A ≥ 0): best singleton, greedy additions, greedy
removals until stable; the old row stays where the search finds none better, so the bound never decreases. A
feature that no row uses any more is deleted at once, and its price is exactly what the bound says. Where to
begin and when to stop is the business of `lfm.estimators.meibp`.
"""

import copy
import math
from dataclasses import dataclass

import numpy as np
from scipy.special import erfcx, gammaln, log_ndtr

from lfm.arrays import BinaryArray, BoolArray, FloatArray, IntArray
from lfm.compiled import compiled


@dataclass
class Posterior:
    """q(A): truncated Gaussians with location mean (K, D) and scale (K,), and their first two moments."""

    location: FloatArray
    scale: FloatArray
    first: FloatArray
    second: FloatArray

    @classmethod
    def at(cls, location: FloatArray, scale: FloatArray) -> "Posterior":
        """The posterior with these parameters: E[A] = μ + s√(2/π)/erfcx(−μ/(s√2)), E[A²] = μE[A] + s²."""
        s = scale[:, None]
        with np.errstate(over="ignore"):  # erfcx of a far negative number is ∞: no truncation to speak of
            first = location + s * math.sqrt(2 / math.pi) / erfcx(-location / (s * math.sqrt(2)))
        first = np.maximum(first, 0.0)  # rounding, where the mass is squeezed against zero
        return cls(location, scale, first, np.maximum(location * first + s**2, first**2))

    def entropy(self) -> FloatArray:
        """H(q_k) of each feature (K,), summed over its D entries."""
        s = self.scale[:, None]
        spread = self.second - 2 * self.location * self.first + self.location**2
        each = log_ndtr(self.location / s) + 0.5 * np.log(2 * math.pi * s**2) + spread / (2 * s**2)
        return np.asarray(each.sum(axis=1), dtype=np.float64)

    def log_prior(self, sigma_a: float) -> FloatArray:
        """E[log p(A_k)] of each feature (K,) under the half-Gaussian prior."""
        each = -0.5 * math.log(math.pi * sigma_a**2 / 2) - self.second / (2 * sigma_a**2)
        return np.asarray(each.sum(axis=1), dtype=np.float64)


def log_ibp(ones: IntArray, N: int, alpha: float) -> float:
    """The log P(Z) of features used m_k = ones times each in N rows."""
    K = len(ones)
    harmonic = float(np.sum(1.0 / np.arange(1, N + 1)))
    used = gammaln(N - ones + 1) + gammaln(ones)
    prior = K * math.log(alpha) - K * gammaln(N + 1) - alpha * harmonic + np.sum(used) - gammaln(K + 1)
    return float(prior)


class State:
    """Everything a round changes: Z with G = ZᵀZ and ZᵀX, q, σ_X and σ_A."""

    def __init__(self, X: FloatArray, Z: BinaryArray, q: Posterior, scale: float) -> None:
        self.energy = float(np.sum(X**2))
        self.q, self.sigma_x, self.sigma_a = q, scale, scale
        self.use(Z, X)

    def without(self, k: int, X: FloatArray) -> "State":
        """A copy that has feature k no more."""
        keep = np.arange(self.Z.shape[1]) != k
        return self.with_features(np.ascontiguousarray(self.Z[:, keep]), self.q.first[keep], X)

    def with_features(self, Z: BinaryArray, first: FloatArray, X: FloatArray) -> "State":
        """A copy with other Z (N, K) and features (K, D) ≥ 0; the next update sets their scales."""
        new = copy.copy(self)
        new.q = Posterior(first, np.full(len(first), self.sigma_x), first, first**2)
        new.use(Z, X)
        return new

    def use(self, Z: BinaryArray, X: FloatArray) -> None:
        """Take Z, and what is computed from it."""
        self.Z = Z
        real = Z.astype(np.float64)
        self.gram, self.cross = real.T @ real, real.T @ X

    def squared_error(self) -> float:
        """E‖X − ZA‖² under q."""
        first = self.q.first
        variance = (self.q.second - first**2).sum(axis=1)
        fitted = np.sum(first * (self.gram @ first)) - 2 * np.sum(first * self.cross)
        return float(max(self.energy + fitted, 0.0) + np.diag(self.gram) @ variance)

    def bound(self, X: FloatArray, alpha: float) -> float:
        """The evidence bound."""
        N = len(X)
        likelihood = -0.5 * X.size * math.log(2 * math.pi * self.sigma_x**2)
        likelihood -= self.squared_error() / (2 * self.sigma_x**2)
        features = float(np.sum(self.q.log_prior(self.sigma_a) + self.q.entropy()))
        return likelihood + log_ibp(self.Z.sum(axis=0, dtype=np.int64), N, alpha) + features


def update_features(state: State) -> None:
    """Each q(A_k) in turn at its optimum given the others."""
    gram, cross = state.gram, state.cross
    weight = np.diag(gram) + (state.sigma_x / state.sigma_a) ** 2
    scale = state.sigma_x / np.sqrt(weight)
    first, location = state.q.first.copy(), np.empty_like(state.q.first)
    for k in range(len(first)):
        others = gram[k] @ first - gram[k, k] * first[k]
        location[k] = (cross[k] - others) / weight[k]
        first[k] = Posterior.at(location[k : k + 1], scale[k : k + 1]).first[0]
    state.q = Posterior.at(location, scale)


def update_scales(state: State, X: FloatArray, least: float) -> None:
    """σ_X and σ_A at their optimum: the root of the expected mean square of noise and of features."""
    state.sigma_x = max(math.sqrt(state.squared_error() / X.size), least)
    state.sigma_a = max(math.sqrt(float(np.mean(state.q.second))), least)


@compiled
def _value(z: BinaryArray, omega: FloatArray, Q: FloatArray, single: BoolArray, n_features: int) -> float:
    """What a row contributes to the bound at z: Σ ω_k z_k + Σ_{j<k} z_j z_k Q_jk − ln K₊!."""
    total = 0.0
    alive = n_features
    for k in range(len(z)):
        if z[k]:
            total += omega[k]
            for j in range(k):
                if z[j]:
                    total += Q[j, k]
        elif single[k]:
            alive -= 1
    return total - math.lgamma(alive + 1.0)


@compiled
def _update_rows(
    Z: BinaryArray,
    linear: FloatArray,
    Q: FloatArray,
    ones: IntArray,
    birth: FloatArray,
    order: IntArray,
) -> None:
    """Each row of Z in turn at a maximum of its submodular function, in place; ones (K,) is kept up to date.

    linear (N, K) is the likelihood's part of ω, birth (K,) what a feature used by this row alone adds to the
    bound by existing. A feature with no ones is dead and stays off.
    """
    N, K = Z.shape
    omega = np.empty(K)
    gain = np.empty(K)
    single = np.zeros(K, dtype=np.bool_)
    z = np.zeros(K, dtype=np.uint8)
    for n in order:
        n_features = 0
        for k in range(K):
            n_features += ones[k] > 0
            others = ones[k] - Z[n, k]
            single[k] = ones[k] == 1 and others == 0
            if ones[k] == 0:
                omega[k] = -np.inf
            elif single[k]:
                omega[k] = linear[n, k] + birth[k]
            else:
                omega[k] = linear[n, k] + math.log(others / (N - others))
            gain[k] = omega[k]
            if single[k]:
                gain[k] -= math.log(n_features + 1.0)  # of −ln K₊!, to first order; _value is exact
            z[k] = 0
        changed = True
        while changed:
            changed = False
            best = np.argmax(np.where(z == 0, gain, -np.inf))
            while z[best] == 0 and gain[best] > 1e-12:
                z[best] = 1
                changed = True
                for k in range(K):
                    gain[k] += Q[best, k] if k != best else 0.0
                best = np.argmax(np.where(z == 0, gain, -np.inf))
            worst = np.argmin(np.where(z == 1, gain, np.inf))
            while z[worst] == 1 and gain[worst] < -1e-12:
                z[worst] = 0
                changed = True
                for k in range(K):
                    gain[k] -= Q[worst, k] if k != worst else 0.0
                worst = np.argmin(np.where(z == 1, gain, np.inf))
        if _value(z, omega, Q, single, n_features) > _value(Z[n], omega, Q, single, n_features) + 1e-9:
            for k in range(K):
                ones[k] += np.int64(z[k]) - np.int64(Z[n, k])
                Z[n, k] = z[k]


def update_all_rows(state: State, X: FloatArray, alpha: float, rng: np.random.Generator) -> None:
    """Every row of Z once, in random order; then the dead features go."""
    N = len(X)
    precision = 1 / state.sigma_x**2
    q = state.q
    linear = (X @ q.first.T - 0.5 * q.second.sum(axis=1)) * precision
    Q = -(q.first @ q.first.T) * precision
    birth = math.log(alpha) - math.log(N) + q.log_prior(state.sigma_a) + q.entropy()
    ones = state.Z.sum(axis=0, dtype=np.int64)
    _update_rows(state.Z, linear, Q, ones, birth, rng.permutation(N))
    keep = ones > 0
    state.use(np.ascontiguousarray(state.Z[:, keep]), X)
    state.q = Posterior(q.location[keep], q.scale[keep], q.first[keep], q.second[keep])
