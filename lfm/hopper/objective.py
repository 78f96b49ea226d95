"""g(U), kept up to date while columns of U are exchanged: every exchange is priced without scanning rows.

Exchanging column k for candidate i, where a = U⁻¹u_i, replaces row j of W′ = U⁻¹W by W′_j − (a_j/a_k)W′_k
and row k by W′_k/a_k. For the paper's prior all K·n prices follow from Ω = W′W′ᵀ and ΩU⁻¹u, both kept by
rank-one updates (App. B with erratum E5): O(nK + K²) per exchange. Other priors on features are priced on
the few ratios that occur. Owns the arithmetic; where to go is the business of `lfm.hopper.hop`.
"""

from collections.abc import Sequence

import numpy as np

from lfm.arrays import BinaryArray, FloatArray, IntArray
from lfm.compiled import compiled
from lfm.equivalence.candidates import Candidates
from lfm.equivalence.ranks import distinct_rows
from lfm.equivalence.tableau import Tableau
from lfm.priors import GaussianW, Prior, priced
from lfm.solution import Solution
from lfm.thresholds import EQUIVALENCE, HOPPER

_CHUNK = 2_000_000  # numbers held at once


@compiled
def _base_changes(
    minors: IntArray,
    determinant: int,
    largest: int,
    costs: FloatArray,
    columns: IntArray,
    tau: float,
    Omega: FloatArray,
    image: FloatArray,
    out: FloatArray,
) -> None:
    """Fills out (K, n): change of column costs and of τ‖W‖²; infinite where the exchange is not allowed."""
    K, n = minors.shape
    squares = np.zeros(n)
    if tau > 0:
        for j in range(K):
            for i in range(n):
                a = minors[j, i] / determinant
                squares[i] += a * a
    for k in range(K):
        own = costs[columns[k]]
        omega = Omega[k, k]
        for i in range(n):
            m = minors[k, i]
            if m == 0 or abs(m) > largest:
                out[k, i] = np.inf
                continue
            change = costs[i] - own
            if tau > 0:
                a = m / determinant
                change += tau * (
                    (omega * (squares[i] - a * a + 1) - 2 * a * (image[k, i] - omega * a)) / (a * a) - omega
                )
            out[k, i] = change


@compiled
def _update_image(
    Omega: FloatArray, image: FloatArray, minors: IntArray, determinant: int, k: int, i: int
) -> None:
    """Ω ← VΩVᵀ and ΩA ← VΩVᵀVA in place, V = I − v e_kᵀ, from the tableau A before the exchange."""
    K, n = minors.shape
    v = minors[:, i] / minors[k, i]
    v[k] = 1 - determinant / minors[k, i]
    length = v @ v
    along = Omega[:, k].copy()
    across = Omega @ v
    for c in range(n):
        projected = 0.0
        for j in range(K):
            projected += v[j] * minors[j, c]
        projected /= determinant
        a = minors[k, c] / determinant
        for j in range(K):
            image[j, c] += along[j] * (length * a - projected) - across[j] * a
        at_k = image[k, c]
        for j in range(K):
            image[j, c] -= v[j] * at_k
    for a_row in range(K):
        for b_row in range(K):
            Omega[a_row, b_row] += (
                v[a_row] * v[b_row] * along[k] - v[a_row] * along[b_row] - along[a_row] * v[b_row]
            )


@compiled
def _add_feature_changes(
    minors: IntArray,
    ratio_of: IntArray,
    combined: FloatArray,
    scaled: FloatArray,
    out: FloatArray,
) -> None:
    """Adds to out (K, n) the change that a prior on features makes, where an exchange is allowed.

    `combined` (K, K, R): change of row j when r times row k is taken off it; `scaled` (K, 2L + 1): change
    of row k when it is divided by a_k; `ratio_of` (2L + 1, 2Q + 1): which r belongs to the minors (m_k,
    m_j).
    """
    K, n = minors.shape
    L, Q = ratio_of.shape[0] // 2, ratio_of.shape[1] // 2
    for k in range(K):
        for i in range(n):
            if np.isinf(out[k, i]):
                continue
            m = minors[k, i] + L
            change = scaled[k, m]
            for j in range(K):
                other = minors[j, i]
                if j != k and other != 0:
                    change += combined[k, j, ratio_of[m, other + Q]]
            out[k, i] += change


def _ratios(largest_pivot: int, largest: int) -> tuple[FloatArray, IntArray]:
    """The distinct m_j/m_k for 1 ≤ |m_k| ≤ largest_pivot, |m_j| ≤ largest, and the place of each pair."""
    pivots = np.arange(-largest_pivot, largest_pivot + 1, dtype=np.float64)
    pivots[largest_pivot] = np.nan  # m_k = 0 never occurs
    table = np.arange(-largest, largest + 1) / pivots[:, None]
    ratios, where = np.unique(table, return_inverse=True)
    ratios[np.isnan(ratios)] = 0.0
    return ratios, where.reshape(table.shape).astype(np.int64)


class Objective:
    """g at the tableau's U, and its change under every exchange of one column.

    `costs` (n,) are the prices of the candidates as columns of Z, γf included. Columns that are not binary
    (tolerant candidates) are priced after their projection to binary.
    """

    def __init__(
        self,
        solution: Solution,
        candidates: Candidates,
        priors: Sequence[Prior],
        *,
        gamma: float,
        unimodular: bool,
    ) -> None:
        self.tableau = Tableau(candidates)
        self.candidates = candidates
        self.unimodular = unimodular
        self._tau = float(sum(prior.tau for prior in priors if isinstance(prior, GaussianW)))
        self._Omega_start = solution.W @ solution.W.T
        self._on_features = [
            (prior, prior.project(solution.W))
            for prior in priors
            if type(prior).features is not Prior.features and not isinstance(prior, GaussianW)
        ]
        for prior, projected in self._on_features:
            priced(prior, "features", prior.features(projected), solution.K)
        self.costs = gamma * candidates.f + column_costs(solution.Z, candidates, priors)
        self._n_exchanges = 0
        self._changes = np.empty((solution.K, len(candidates)))
        self.refresh()

    def refresh(self) -> None:
        """Compute g, Ω and ΩU⁻¹u anew from the exact tableau."""
        inverse = self.tableau.inverse
        self._Omega = inverse @ self._Omega_start @ inverse.T
        self._image = self._Omega @ (self.tableau.minors / self.tableau.determinant)
        self.value = float(
            self.costs[self.tableau.columns].sum()
            + self._tau * np.trace(self._Omega)
            + sum(prior.features(inverse @ start).sum() for prior, start in self._on_features)
        )

    def values(self, columns: IntArray) -> FloatArray:
        """The g (m,) of states that consist of the candidates `columns` (m, K), each computed directly."""
        m, K = columns.shape
        values = np.empty(m)
        widest = max([K, *(start.shape[1] for _, start in self._on_features)])
        at_once = max(1, _CHUNK // (K * widest))
        for first in range(0, m, at_once):
            part = columns[first : first + at_once]
            inverses = np.linalg.inv(np.asarray(self.candidates.U, dtype=np.float64)[part].transpose(0, 2, 1))
            price = self.costs[part].sum(axis=1)
            price += self._tau * np.einsum(
                "mij,jl,mil->m", inverses, self._Omega_start, inverses, optimize=True
            )
            for prior, start in self._on_features:
                rows = (inverses @ start).reshape(-1, start.shape[1])
                price += prior.features(rows).reshape(len(part), K).sum(axis=1)
            values[first : first + at_once] = price
        return values

    @property
    def features_never_negative(self) -> bool:
        """True where every prior on features says that its prices are at least 0."""
        return all(prior.features_never_negative for prior, _ in self._on_features)

    def changes(self) -> FloatArray:
        """(K, n): how g changes if candidate i replaces column k; infinite where that is not allowed.

        0 where candidate i is column k already. The array is overwritten by the next call.
        """
        tableau = self.tableau
        largest = abs(tableau.determinant) if self.unimodular else EQUIVALENCE.max_determinant
        _base_changes(
            tableau.minors,
            tableau.determinant,
            largest,
            self.costs,
            tableau.columns,
            self._tau,
            self._Omega,
            self._image,
            self._changes,
        )
        if self._on_features:
            Q = int(np.abs(tableau.minors).max())
            L = min(largest, Q)
            ratios, ratio_of = _ratios(L, Q)
            for prior, start in self._on_features:
                combined, scaled = _feature_tables(
                    prior, tableau.inverse @ start, ratios, tableau.determinant, L
                )
                _add_feature_changes(tableau.minors, ratio_of, combined, scaled, self._changes)
        return self._changes

    def exchange(self, k: int, i: int, change: float) -> None:
        """Put candidate i in place of column k; `change` is its entry of `changes()`."""
        tableau = self.tableau
        if self._tau > 0:
            _update_image(self._Omega, self._image, tableau.minors, tableau.determinant, k, i)
        tableau.exchange(k, i)
        self.value += change
        self._n_exchanges += 1
        if self._n_exchanges % HOPPER.exchanges_to_refresh == 0:
            self.refresh()


def _feature_tables(
    prior: Prior, rows: FloatArray, ratios: FloatArray, determinant: int, L: int
) -> tuple[FloatArray, FloatArray]:
    """Prices of rows_j − r·rows_k, and of rows_k / a_k, less those of now: see `_add_feature_changes`."""
    K, d = rows.shape
    now = prior.features(rows)
    combined = np.empty((K, K, len(ratios)))
    at_once = max(1, _CHUNK // (K * len(ratios) * d))
    for first in range(0, K, at_once):
        taken = rows[first : first + at_once, None, None, :] * ratios[None, None, :, None]
        mixed = rows[None, :, None, :] - taken
        prices = prior.features(mixed.reshape(-1, d))
        combined[first : first + at_once] = prices.reshape(mixed.shape[:3])
    combined -= now[None, :, None]
    pivots = np.arange(-L, L + 1) / determinant
    pivots[L] = 1.0  # never used: a zero pivot is not allowed
    divided = rows[:, None, :] / pivots[None, :, None]
    scaled = prior.features(divided.reshape(-1, d)).reshape(K, -1) - now[:, None]
    return combined, scaled


def column_costs(Z: BinaryArray, candidates: Candidates, priors: Sequence[Prior]) -> FloatArray:
    """What the priors on Z charge for each candidate as a column (n,), projected to binary if it is not."""
    costs = np.zeros(len(candidates))
    on_columns = [prior for prior in priors if type(prior).columns is not Prior.columns]
    if not on_columns:
        return costs
    rows, _, of = distinct_rows(Z)
    at_once = max(1, _CHUNK // len(Z))
    for first in range(0, len(candidates), at_once):
        part = slice(first, first + at_once)
        projected = projected_columns(rows, np.asarray(candidates.U[part].T, dtype=np.float64))
        # One column after another in memory, which is the order in which priors read them.
        columns = np.take(projected.T, of, axis=1).T
        for prior in on_columns:
            costs[part] += priced(prior, "columns", prior.columns(columns), columns.shape[1])
    return costs


def projected_columns(Z: BinaryArray, U: FloatArray) -> BinaryArray:
    """ZU projected to the nearest binary matrix, (N, n) for U (K, n)."""
    return np.clip(np.rint(Z.astype(np.float64) @ U), 0, 1).astype(np.uint8)
