"""Algorithm 2, the Equivalence Hopper: from a solution (Z, W) to the equivalent one with the best prior.

A step looks at every exchange of one column of U for one candidate. β = ∞ takes the best until none is
better (and tries again from a few random exchanges away); β < ∞ draws from exp(−βg), over all columns and
candidates at once. The printed algorithm takes that draw as it is, which leaves exp(−βg)·S(U) invariant,
S(U) being the sum over the neighbourhood; accepting with min(1, S(U)/S(U′)) makes the chain exact
(docs/decisions/0031).

Owns the walk and what comes back. Prices are `lfm.objective`, exact exchange is `lfm.exchange`.
"""

import logging
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import linear_sum_assignment

from lfm.candidates import Candidates, enumerate_candidates
from lfm.compiled import compiled
from lfm.corrections import Correction, describe_corrections
from lfm.errors import FloatMatrix, IntMatrix, InvalidInputError, check_real
from lfm.lattice import nonbinarity
from lfm.objective import Objective, projected_columns
from lfm.priors import Prior
from lfm.solution import Solution

logger = logging.getLogger(__name__)

RESIDUAL_TOLERANCE = 0.01  # of the start's residual
_SUPPORT_STEPS = 200
_KICK = 3  # random exchanges that a restart begins with
_GAIN = 1e-9  # relative to the objective: less than this is rounding


@dataclass(frozen=True, eq=False)
class Hop:
    """What a hop found.

    `solution` is the best visited: (ZU, U⁻¹W), or for candidates with f > 0 the projection of ZU to binary
    and W refitted to X. `trace` holds the objective after each step. `support` (K,) is the share of the
    chain's weight in which each returned column appears: of the chain itself if β < ∞, else of a short
    chain at β = 1 from the returned solution. `complete` says whether the candidates were all there are.
    """

    solution: Solution
    U: FloatMatrix
    objective_before: float
    objective_after: float
    trace: FloatMatrix
    support: FloatMatrix
    corrections: tuple[Correction, ...]
    complete: bool


@compiled
def _draw(changes: FloatMatrix, beta: float, uniform: float) -> tuple[int, int, float]:
    """(k, i) with probability ∝ exp(−β·change), and log Σ exp(−β·change)."""
    K, n = changes.shape
    lowest = np.inf
    for k in range(K):
        for i in range(n):
            lowest = min(lowest, changes[k, i])
    weights = np.zeros(K)
    for k in range(K):
        for i in range(n):
            if changes[k, i] < np.inf:
                weights[k] += np.exp(-beta * (changes[k, i] - lowest))
    left = uniform * weights.sum()
    row = 0
    while row < K - 1 and left > weights[row]:
        left -= weights[row]
        row += 1
    chosen = -1
    for i in range(n):
        if changes[row, i] < np.inf:
            weight = np.exp(-beta * (changes[row, i] - lowest))
            if weight > 0:
                chosen = i
                left -= weight
                if left <= 0:
                    break
    return row, chosen, -beta * lowest + np.log(weights.sum())


class _Walk:
    """An objective on its way, and the best of what it has visited.

    Among states no worse than the start, a smaller lattice index counts before a smaller objective if
    `unimodular`: a larger index means that Z uses only part of the lattice (method 4.2).
    """

    def __init__(self, objective: Objective, *, unimodular: bool, rng: np.random.Generator) -> None:
        self.objective = objective
        self.start = objective.value
        self.trace: list[float] = []
        self.visited_best: list[IntMatrix] = []
        self._unimodular = unimodular
        self._rng = rng
        self._slack = _GAIN * (1 + abs(objective.value))
        self._best: tuple[int, float] | None = None
        self._record()

    def _record(self) -> None:
        objective = self.objective
        index = abs(objective.tableau.determinant) if self._unimodular else 1
        if objective.value > self.start + self._slack:
            return
        best = self._best
        if best is None or index < best[0] or (index == best[0] and objective.value < best[1] - self._slack):
            self._best = (index, objective.value)
            self.visited_best.append(objective.tableau.columns.copy())

    def _take(self, k: int, i: int, change: float) -> None:
        self.objective.exchange(k, i, change)
        self.trace.append(self.objective.value)
        self._record()

    def descend(self, n_steps: int) -> int:
        """Best exchange after best exchange until none is better; returns the steps taken."""
        for step in range(n_steps):
            changes = self.objective.changes()
            k, i = divmod(int(np.argmin(changes)), changes.shape[1])
            if changes[k, i] >= -self._slack:
                down = self._way_down(changes)
                if down is None:
                    return step
                k, i = down
            self._take(k, i, float(changes[k, i]))
        return n_steps

    def _way_down(self, changes: FloatMatrix) -> tuple[int, int] | None:
        """The best exchange that lowers the lattice index, where one exists."""
        tableau = self.objective.tableau
        if not self._unimodular or abs(tableau.determinant) == 1:
            return None
        lower = np.where(np.abs(tableau.minors) < abs(tableau.determinant), changes, np.inf)
        k, i = divmod(int(np.argmin(lower)), lower.shape[1])
        return (k, i) if np.isfinite(lower[k, i]) else None

    def kick(self, n_exchanges: int) -> None:
        """A few exchanges drawn evenly from all that are allowed."""
        for _ in range(n_exchanges):
            changes = self.objective.changes()
            moves = np.flatnonzero(np.isfinite(changes))
            k, i = divmod(int(self._rng.choice(moves)), changes.shape[1])
            self._take(k, i, float(changes[k, i]))

    def go_to(self, columns: IntMatrix) -> None:
        """Exchange until U consists of the candidates `columns` in some order (leaves no trace)."""
        tableau = self.objective.tableau
        wanted = set(columns.tolist())
        while True:
            free = [k for k in range(len(columns)) if int(tableau.columns[k]) not in wanted]
            missing = np.array(sorted(wanted - set(tableau.columns.tolist())), dtype=np.int64)
            if not free:
                break
            # Matroid exchange: some missing candidate fits in place of any column that is not wanted.
            block = np.abs(tableau.minors[free][:, missing])
            a, b = divmod(int(np.argmax(block > 0)), len(missing))
            self.objective.exchange(free[a], int(missing[b]), 0.0)
        self.objective.refresh()

    def boltzmann(self, beta: float, n_steps: int) -> FloatMatrix:
        """The share of `n_steps` steps of the chain at β in which each candidate is a column of U, (n,)."""
        objective = self.objective
        share = np.zeros(objective.tableau.minors.shape[1])
        changes = objective.changes()
        k, i, log_sum = _draw(changes, beta, self._rng.random())
        for _ in range(n_steps):
            old, value = int(objective.tableau.columns[k]), objective.value
            if i != old:
                change = float(changes[k, i])
                objective.exchange(k, i, change)
                k_next, i_next, log_sum_next = _draw(objective.changes(), beta, self._rng.random())
                # S(U)/S(U′): each neighbourhood sum carries the factor exp(−βg) of its own centre.
                log_ratio = log_sum - log_sum_next + beta * change
                if self._rng.random() < math.exp(min(0.0, log_ratio)):
                    k, i, log_sum = k_next, i_next, log_sum_next
                    self._record()
                else:
                    objective.exchange(k, old, -change)
                    objective.value = value
                    k, i, log_sum = _draw(objective.changes(), beta, self._rng.random())
            else:
                k, i, log_sum = _draw(changes, beta, self._rng.random())
            self.trace.append(objective.value)
            share[objective.tableau.columns] += 1
        return share / n_steps


def _check(priors: Sequence[Prior], beta: float, n_steps: int, gamma: float) -> None:
    if not priors:
        raise InvalidInputError(
            "priors is empty: every equivalent solution is then as good; give e.g. [GaussianW(1.0)]"
        )
    for prior in priors:
        if not isinstance(prior, Prior):
            raise InvalidInputError(f"priors must hold Prior objects, got {prior!r}; subclass lfm.Prior")
    if not beta > 0:
        raise InvalidInputError(f"beta must be positive (math.inf is greedy), got {beta}")
    if n_steps < 1:
        raise InvalidInputError(f"n_steps must be at least 1, got {n_steps}")
    if not (math.isfinite(gamma) and gamma >= 0):
        raise InvalidInputError(f"gamma must be a finite number of at least 0, got {gamma}")


def _check_candidates(solution: Solution, candidates: Candidates, X: ArrayLike | None) -> None:
    if candidates.K != solution.K:
        raise InvalidInputError(
            f"candidates have length {candidates.K} and the solution has K = {solution.K} features; "
            "enumerate them from this solution's Z"
        )
    strict = candidates.numerators[candidates.f == 0].T / candidates.denominator
    if nonbinarity(solution.Z, strict).any():
        raise InvalidInputError("candidates do not belong to this solution's Z: their f does not agree")
    if X is None and not candidates.strict:
        raise InvalidInputError(
            "candidates hold vectors with f > 0, after which W must be refitted: give X, or strict candidates"
        )


def hop(
    solution: Solution,
    *,
    priors: Sequence[Prior],
    candidates: Candidates | None = None,
    unimodular: bool = True,
    gamma: float = 1.0,
    beta: float = math.inf,
    n_steps: int = 1000,
    n_restarts: int = 10,
    rng: np.random.Generator | None = None,
    X: ArrayLike | None = None,
    residual_tolerance: float = RESIDUAL_TOLERANCE,
) -> Hop:
    """The equivalent solution with the lowest Σ priors + γf that the walk visits: never worse than the start.

    `candidates` default to all strict ones; `unimodular` forbids exchanges that raise the lattice index of
    Z. `n_steps` bounds the exchanges (restarts included) or is the length of the chain if β < ∞;
    `n_restarts` are the further descents, each from a few random exchanges away from the best (β = ∞ only).
    Candidates with f > 0 need X (N, D): Z is projected to binary, W refitted, and the best visited solution
    whose residual is at most (1 + residual_tolerance) times that of the start, or of rounding size, comes
    back. `rng` None is a generator with a fixed seed: the same call gives the same answer.
    """
    _check(priors, beta, n_steps, gamma)
    if candidates is None:
        candidates = enumerate_candidates(solution.Z)
    _check_candidates(solution, candidates, X)
    if not candidates.complete:
        logger.info("hop: the candidates are not known to be complete (%d of them)", len(candidates))
    rng = np.random.default_rng(0) if rng is None else rng
    objective = Objective(solution, candidates, priors, gamma=gamma, unimodular=unimodular)
    walk = _Walk(objective, unimodular=unimodular, rng=rng)
    before = objective.value
    share: FloatMatrix | None = None
    if math.isinf(beta):
        steps = walk.descend(n_steps)
        for _ in range(n_restarts if len(candidates) > solution.K else 0):
            if steps + _KICK >= n_steps:
                break
            walk.go_to(walk.visited_best[-1])
            walk.kick(_KICK)
            steps += _KICK + walk.descend(n_steps - steps - _KICK)
    else:
        share = walk.boltzmann(beta, n_steps)
        walk.go_to(walk.visited_best[-1])
        walk.descend(n_steps)
    trace = np.array(walk.trace)
    found, after = _settle(walk, solution, candidates, priors, gamma, X, residual_tolerance)
    tableau = objective.tableau
    order = _familiar_order(tableau.U)
    columns = tableau.columns[order]
    U, inverse = tableau.U[:, order], tableau.inverse[order]
    found = Solution(found.Z[:, order], found.W[order])
    if share is None:
        share = walk.boltzmann(1.0, min(n_steps, _SUPPORT_STEPS))
    return Hop(
        solution=found,
        U=U,
        objective_before=before,
        objective_after=after,
        trace=trace,
        support=share[columns],
        corrections=tuple(describe_corrections(solution.Z, U, inverse, candidates.f[columns])),
        complete=candidates.complete,
    )


def _familiar_order(U: FloatMatrix) -> NDArray[np.intp]:
    """The order of U's columns in which features of the start that are still there keep their place."""
    nonzero = np.abs(U) > 0
    likeness = nonzero / nonzero.sum(axis=0)
    order: NDArray[np.intp] = linear_sum_assignment(-likeness)[1]
    return order


def _settle(
    walk: _Walk,
    solution: Solution,
    candidates: Candidates,
    priors: Sequence[Prior],
    gamma: float,
    X: ArrayLike | None,
    residual_tolerance: float,
) -> tuple[Solution, float]:
    """The best visited solution that keeps the promises on objective and residual; the walk ends there."""
    if X is not None:
        X = check_real("X", X)
        # The floor lets a start that fits exactly be left by rounding, and by nothing more.
        limit = (1 + residual_tolerance) * solution.residual(X) + 1e-9 * float(np.linalg.norm(X))
    for columns in reversed(walk.visited_best):
        walk.go_to(columns)
        tableau = walk.objective.tableau
        Z = projected_columns(solution.Z, tableau.U)
        if not candidates.f[tableau.columns].any():
            found = Solution(Z, np.asarray(tableau.inverse @ solution.W))
            if X is not None and found.residual(X) > limit:
                continue
            return found, walk.objective.value
        assert X is not None
        W, _, rank, _ = np.linalg.lstsq(Z.astype(np.float64), X, rcond=None)
        if rank < solution.K:
            continue
        found = Solution(Z, np.asarray(W, dtype=np.float64))
        after = sum(prior.value(found) for prior in priors) + gamma * float(
            candidates.f[tableau.columns].sum()
        )
        if found.residual(X) <= limit and after <= walk.start:
            return found, after
    raise AssertionError("the start itself keeps every promise")
