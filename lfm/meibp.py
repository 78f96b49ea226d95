"""MEIBP (Reed & Ghahramani, ICML 2013): maximisation-expectation inference in the Indian Buffet Process.

X = ZA + noise, A ≥ 0 with a half-Gaussian prior of scale σ_A, Gaussian noise of scale σ_X, Z ~ IBP(α): for
non-negative data only. Z is maximised, A integrated: q(A_kd) is a Gaussian truncated to A ≥ 0. Owns the
evidence bound and the two steps that raise it:

E[log likelihood] + log P(Z) + E[log p(A)] + H(q), with
log P(Z) = K₊ log α − K₊ lnΓ(N+1) − αH_N + Σ_k [lnΓ(N−m_k+1) + lnΓ(m_k)] − ln K₊!.

A row of Z maximises a submodular function (Q_jk ≤ 0 because A ≥ 0): best singleton, greedy additions, greedy
removals until stable; the old row stays where the search finds none better, so the bound never decreases. A
feature that no row uses any more is deleted at once, and its price is exactly what the bound says.
"""

import math
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import erfcx, gammaln, log_ndtr

from lfm.compiled import compiled
from lfm.errors import BinaryMatrix, FloatMatrix, IntMatrix, InvalidInputError
from lfm.estimator import Callback, LatentFeatureEstimator, Rounds, one_thread
from lfm.solution import Solution

_LEAST_SCALE = 1e-6  # of the data's root mean square: keeps σ_X > 0 on data without noise


@dataclass
class Posterior:
    """q(A): truncated Gaussians with location mean (K, D) and scale (K,), and their first two moments."""

    location: FloatMatrix
    scale: NDArray[np.float64]
    first: FloatMatrix
    second: FloatMatrix

    @classmethod
    def at(cls, location: FloatMatrix, scale: NDArray[np.float64]) -> "Posterior":
        """The posterior with these parameters: E[A] = μ + s√(2/π)/erfcx(−μ/(s√2)), E[A²] = μE[A] + s²."""
        s = scale[:, None]
        with np.errstate(over="ignore"):  # erfcx of a far negative number is ∞: no truncation to speak of
            first = location + s * math.sqrt(2 / math.pi) / erfcx(-location / (s * math.sqrt(2)))
        first = np.maximum(first, 0.0)  # rounding, where the mass is squeezed against zero
        return cls(location, scale, first, np.maximum(location * first + s**2, first**2))

    def entropy(self) -> NDArray[np.float64]:
        """H(q_k) of each feature (K,), summed over its D entries."""
        s = self.scale[:, None]
        spread = self.second - 2 * self.location * self.first + self.location**2
        each = log_ndtr(self.location / s) + 0.5 * np.log(2 * math.pi * s**2) + spread / (2 * s**2)
        return np.asarray(each.sum(axis=1), dtype=np.float64)

    def log_prior(self, sigma_a: float) -> NDArray[np.float64]:
        """E[log p(A_k)] of each feature (K,) under the half-Gaussian prior."""
        each = -0.5 * math.log(math.pi * sigma_a**2 / 2) - self.second / (2 * sigma_a**2)
        return np.asarray(each.sum(axis=1), dtype=np.float64)


def log_ibp(ones: IntMatrix, N: int, alpha: float) -> float:
    """The log P(Z) of features used m_k = ones times each in N rows."""
    K = len(ones)
    harmonic = float(np.sum(1.0 / np.arange(1, N + 1)))
    used = gammaln(N - ones + 1) + gammaln(ones)
    prior = K * math.log(alpha) - K * gammaln(N + 1) - alpha * harmonic + np.sum(used) - gammaln(K + 1)
    return float(prior)


class _State:
    """Everything a round changes: Z with G = ZᵀZ and ZᵀX, q, σ_X and σ_A."""

    def __init__(self, X: FloatMatrix, Z: BinaryMatrix, q: Posterior, scale: float) -> None:
        self.energy = float(np.sum(X**2))
        self.q, self.sigma_x, self.sigma_a = q, scale, scale
        self.use(Z, X)

    def use(self, Z: BinaryMatrix, X: FloatMatrix) -> None:
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

    def bound(self, X: FloatMatrix, alpha: float) -> float:
        """The evidence bound."""
        N = len(X)
        likelihood = -0.5 * X.size * math.log(2 * math.pi * self.sigma_x**2)
        likelihood -= self.squared_error() / (2 * self.sigma_x**2)
        features = float(np.sum(self.q.log_prior(self.sigma_a) + self.q.entropy()))
        return likelihood + log_ibp(self.Z.sum(axis=0, dtype=np.int64), N, alpha) + features


def _update_features(state: _State) -> None:
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


def _update_scales(state: _State, X: FloatMatrix, least: float) -> None:
    """σ_X and σ_A at their optimum: the root of the expected mean square of noise and of features."""
    state.sigma_x = max(math.sqrt(state.squared_error() / X.size), least)
    state.sigma_a = max(math.sqrt(float(np.mean(state.q.second))), least)


@compiled
def _value(
    z: BinaryMatrix, omega: FloatMatrix, Q: FloatMatrix, single: NDArray[np.bool_], n_features: int
) -> float:
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
    Z: BinaryMatrix,
    linear: FloatMatrix,
    Q: FloatMatrix,
    ones: IntMatrix,
    birth: FloatMatrix,
    order: IntMatrix,
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


class MEIBP(LatentFeatureEstimator):
    """Factorises non-negative X ≈ ZW, W ≥ 0, by maximisation-expectation in the Indian Buffet Process.

    n_components: K_init, the features at the start; those that no row uses are deleted, so Z_ can have
    fewer columns. α = (1 + K_init)/(1 + H_N). n_init: random starts, of which the highest bound is kept. tol:
    a round that raises the bound by less than this share of it is a start's last. callback(number, bound) is
    called after each round; the numbers begin anew with each start. W_ is E[A].

    Raises InvalidInputError where X has negative entries.
    """

    def __init__(
        self,
        n_components: int = 8,
        *,
        n_init: int = 6,
        max_iter: int = 500,
        tol: float = 1e-3,
        random_state: Any = None,
        callback: Callback | None = None,
    ) -> None:
        self.n_components = n_components
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.callback = callback

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
        rng = self._rng()
        best, rounds, converged = max(
            (self._ascend(rows, rng) for _ in range(self.n_init)), key=lambda run: run[1].trace[-1]
        )
        solution = (
            Solution(best.Z, best.q.first)
            if best.Z.shape[1]
            else Solution(np.zeros((len(rows), 1), np.uint8), np.zeros((1, rows.shape[1])))
        )
        advice = f"raise max_iter = {self.max_iter}"
        return self._keep(solution, rounds=rounds, converged=converged, advice=advice)

    def _ascend(self, X: FloatMatrix, rng: np.random.Generator) -> tuple[_State, Rounds, bool]:
        """The end of one random start, its bounds, and whether it converged."""
        N, K = len(X), self.n_components
        alpha = (1 + K) / (1 + float(np.sum(1.0 / np.arange(1, N + 1))))
        state = _start(X, K, rng)
        least = _LEAST_SCALE * math.sqrt(float(np.mean(X**2))) or 1.0
        rounds = Rounds(self.callback)
        while len(rounds.trace) < self.max_iter:
            _update_features(state)
            _update_scales(state, X, least)
            _round_of_rows(state, X, alpha, rng)
            rounds.add(state.bound(X, alpha))
            if state.Z.shape[1] == 0:
                return state, rounds, True
            if len(rounds.trace) > 1:
                before, now = rounds.trace[-2:]
                if now - before <= self.tol * abs(before):
                    return state, rounds, True
        return state, rounds, False

    def __sklearn_tags__(self) -> Any:
        """scikit-learn's tags: only X ≥ 0 is accepted."""
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        return tags


def _start(X: FloatMatrix, K: int, rng: np.random.Generator) -> _State:
    """Z at random, features at the mean of X shared out among them."""
    Z = (rng.random((len(X), K)) < 0.5).astype(np.uint8)
    Z[rng.integers(len(X), size=K), np.arange(K)] = 1  # no feature begins dead
    scale = math.sqrt(float(np.mean(X**2))) or 1.0
    first = rng.random((K, X.shape[1])) * X.mean(axis=0) * (4 / K)
    return _State(X, Z, Posterior(first, np.full(K, scale), first, first**2), scale)


def _round_of_rows(state: _State, X: FloatMatrix, alpha: float, rng: np.random.Generator) -> None:
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
