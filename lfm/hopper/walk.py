"""The steps of Algorithm 2: descent, restarts and the Boltzmann chain, over one column exchange at a time.

A step looks at every exchange of one column of U for one candidate. β = ∞ takes the best until none is
better; β < ∞ draws one from exp(−βg), over all columns and candidates at once. The printed algorithm takes
that draw as it is, which leaves exp(−βg)·S(U) invariant, S(U) being the sum of exp(−βg) over the
neighbourhood of U; accepting with min(1, S(U)/S(U′)) makes the chain exact (docs/decisions/0031). Prices
are `lfm.hopper.objective`, exact exchange is `lfm.equivalence.tableau`.
"""

import math

import numpy as np

from lfm.arrays import FloatArray, IntArray
from lfm.compiled import compiled
from lfm.hopper.objective import Objective
from lfm.thresholds import HOPPER


@compiled
def _draw(changes: FloatArray, beta: float, uniform: float) -> tuple[int, int, float]:
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


class Walk:
    """A walk from one equivalent solution to the next, and the best of those that it has visited.

    Among states no worse than the start, a smaller lattice index counts before a smaller objective if
    `unimodular`: a larger index means that Z uses only part of the lattice.
    """

    def __init__(self, objective: Objective, *, unimodular: bool, rng: np.random.Generator) -> None:
        self.objective = objective
        self.start = objective.value
        self.trace: list[float] = []
        self.visited_best: list[IntArray] = []
        self.share = np.zeros(len(objective.costs))
        self._unimodular = unimodular
        self._rng = rng
        self._slack = HOPPER.least_gain * (1 + abs(objective.value))
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

    def _way_down(self, changes: FloatArray) -> tuple[int, int] | None:
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

    def go_to(self, columns: IntArray) -> None:
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

    def boltzmann(self, beta: float, n_steps: int) -> None:
        """Run the chain at β; `share` (n,) is then the share of its steps in which a candidate is in U."""
        objective = self.objective
        visits = np.zeros(objective.tableau.minors.shape[1])
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
            visits[objective.tableau.columns] += 1
        self.share = visits / n_steps
