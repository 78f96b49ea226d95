"""Exact ranks of binary matrices, and which columns depend on which, by elimination modulo primes.

Rank modulo a prime never exceeds the true rank, so K independent rows modulo p prove rank K; a rank below K
is proved by the relation between columns, which is checked in integers.
"""

import functools
import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lfm.arrays import BinaryArray, IntArray
from lfm.checks import check_binary
from lfm.compiled import compiled
from lfm.errors import InvalidInputError, RankDeficientError


@functools.cache
def primes(n: int) -> tuple[int, ...]:
    """The n largest primes below 2³¹, whose products still fit into int64."""
    found: list[int] = []
    p = 2**31 - 1
    while len(found) < n:
        if all(p % d for d in range(3, math.isqrt(p) + 1, 2)):
            found.append(p)
        p -= 2
    return tuple(found)


class Patterns(NamedTuple):
    """The different rows of a Z (N, K): Z = rows[of]."""

    rows: BinaryArray  # (R, K), those with few ones first
    counts: IntArray  # (R,), how often each occurs
    of: NDArray[np.intp]  # (N,), which of them each row of Z is


def distinct_rows(Z: BinaryArray) -> Patterns:
    """The different rows of Z, once each. Runs of equal rows, as in a record over time, cost one pass."""
    packed = np.packbits(Z, axis=1)
    begins = np.ones(len(Z), dtype=np.bool_)
    np.any(packed[1:] != packed[:-1], axis=1, out=begins[1:])
    starts = np.flatnonzero(begins)
    lengths = np.diff(starts, append=len(Z))
    keys = packed[starts].view(np.dtype((np.void, packed.shape[1]))).ravel()
    _, first, found = np.unique(keys, return_index=True, return_inverse=True)
    rows = Z[starts[first]]
    order = np.argsort(rows.sum(axis=1, dtype=np.int64), kind="stable")
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    of = place[found]
    counts = np.zeros(len(rows), dtype=np.int64)
    np.add.at(counts, of, lengths)
    return Patterns(np.ascontiguousarray(rows[order]), counts, np.repeat(of, lengths))


@compiled
def inverse_modulo(a: int, p: int) -> int:
    """a⁻¹ modulo the prime p (Fermat)."""
    result, exponent = 1, p - 2
    while exponent > 0:
        if exponent & 1:
            result = result * a % p
        a = a * a % p
        exponent >>= 1
    return result


@compiled
def independent_rows(rows: IntArray, p: int) -> IntArray:
    """Indices of the first rows that are independent modulo p: at most the true rank of them."""
    n, K = rows.shape
    echelon = np.zeros((K, K), dtype=np.int64)
    pivots = np.zeros(K, dtype=np.int64)
    chosen = np.zeros(K, dtype=np.int64)
    rank = 0
    for r in range(n):
        row = rows[r].copy()
        for i in range(rank):
            q = row[pivots[i]]
            if q != 0:
                for j in range(K):
                    row[j] = (row[j] - q * echelon[i, j]) % p
        lead = -1
        for j in range(K):
            if row[j] != 0:
                lead = j
                break
        if lead < 0:
            continue
        scale = inverse_modulo(row[lead], p)
        for j in range(K):
            echelon[rank, j] = row[j] * scale % p
        pivots[rank] = lead
        chosen[rank] = r
        rank += 1
        if rank == K:
            break
    return chosen[:rank]


def _solve_exactly(matrix: NDArray[Any], right: NDArray[Any]) -> list[Fraction]:
    """X with matrix · x = right, for a regular square matrix of integers."""
    n = len(matrix)
    table = [[Fraction(int(v)) for v in (*matrix[i], right[i])] for i in range(n)]
    for c in range(n):
        pivot = next(r for r in range(c, n) if table[r][c] != 0)
        table[c], table[pivot] = table[pivot], table[c]
        table[c] = [v / table[c][c] for v in table[c]]
        for r in range(n):
            if r != c and table[r][c] != 0:
                factor = table[r][c]
                table[r] = [a - factor * b for a, b in zip(table[r], table[c], strict=True)]
    return [row[n] for row in table]


@dataclass(frozen=True)
class Dependence:
    """Column `column` of Z equals Σ coefficient · column over `terms`; no terms means that it is zero."""

    column: int
    terms: tuple[tuple[int, Fraction], ...]

    def __str__(self) -> str:
        if not self.terms:
            return f"column {self.column} is zero (its feature is never on)"
        if len(self.terms) == 1 and self.terms[0][1] == 1:
            return f"columns {self.terms[0][0]} and {self.column} are equal (features always on together)"
        right = " ".join(
            f"{'−' if c < 0 else '+'} {'' if abs(c) == 1 else f'{abs(c)}·'}column {k}" for k, c in self.terms
        )
        return f"column {self.column} = {right.removeprefix('+ ')}"


def column_dependences(Z: ArrayLike) -> list[Dependence]:
    """Each column of Z that is a combination of other columns, with that combination; empty if rank K."""
    rows = check_binary("Z", Z).astype(np.int64)
    K = rows.shape[1]
    for p in primes(2):
        chosen = independent_rows(rows, p)
        if len(chosen) == K:
            return []
        independent = independent_rows(np.ascontiguousarray(rows[chosen].T), p)  # the first such columns
        block = rows[np.ix_(chosen, independent)]
        found = []
        for j in sorted(set(range(K)) - set(independent.tolist())):
            x = _solve_exactly(block, rows[chosen, j])
            scale = math.lcm(*(c.denominator for c in x))
            numerators = np.array([int(c * scale) for c in x], dtype=np.int64)
            if np.any(rows[:, independent] @ numerators != scale * rows[:, j]):
                break  # the rank over the integers is higher than modulo p
            found.append(
                Dependence(j, tuple((int(k), c) for k, c in zip(independent, x, strict=True) if c != 0))
            )
        else:
            return found
    raise InvalidInputError("Z has minors divisible by two large primes; its rank could not be determined")


def check_independent(Z: BinaryArray, *, N: int | None = None) -> None:
    """RankDeficientError, naming the columns to blame, unless Z has rank K.

    Z (R, K) may be the distinct rows alone of a matrix of N rows.
    """
    K = Z.shape[1]
    N = len(Z) if N is None else N
    if N < K:
        raise RankDeficientError(
            f"Z has N = {N} rows and K = {K} columns, so rank(Z) < K; give more rows or fewer features"
        )
    found = column_dependences(Z)
    if found:
        raise RankDeficientError(
            f"rank(Z) = {K - len(found)} < K = {K}: {'; '.join(map(str, found))}. "
            "Remove or merge those columns first"
        )
