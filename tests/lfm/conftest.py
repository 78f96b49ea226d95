"""Oracles for the equivalence engine."""

import itertools
from collections.abc import Iterator

import numpy as np
import pytest


def _in_batches(sets: Iterator[tuple[int, ...]], size: int = 10_000) -> Iterator[list[tuple[int, ...]]]:
    while batch := list(itertools.islice(sets, size)):
        yield batch


class BruteForce:
    """Every column, every basis, every optimum, for small K."""

    @staticmethod
    def columns(Z: np.ndarray) -> np.ndarray:
        """Every u ≠ 0 with Zu binary, fractions included: u = ζ⁻¹b over all b, for K independent rows ζ."""
        K = Z.shape[1]
        rows = np.unique(Z, axis=0).astype(float)
        zeta = next(
            rows[list(chosen)]
            for chosen in itertools.combinations(range(len(rows)), K)
            if abs(np.linalg.det(rows[list(chosen)])) > 0.5
        )
        b = np.array(list(itertools.product([0, 1], repeat=K)))[1:].T
        U = np.linalg.solve(zeta, b)
        ZU = Z @ U
        binary = np.all((np.abs(ZU) < 1e-9) | (np.abs(ZU - 1) < 1e-9), axis=0)
        return U[:, binary].T

    @staticmethod
    def bases(columns: np.ndarray) -> Iterator[np.ndarray]:
        """Every regular U (K, K) of K of the columns (n, K), once up to order."""
        K = columns.shape[1]
        for chosen in _in_batches(itertools.combinations(range(len(columns)), K)):
            U = columns[np.array(chosen)].transpose(0, 2, 1)
            yield from U[np.abs(np.linalg.det(U)) > 1e-6]

    @staticmethod
    def as_set(columns: np.ndarray) -> set[tuple[float, ...]]:
        """The rows of `columns` as a set that can be compared."""
        return {tuple(row) for row in np.round(columns.astype(float), 6) + 0.0}

    @staticmethod
    def full_rank_states(seed: int, K_max: int = 5) -> np.ndarray:
        """A random binary Z of rank K ≤ K_max, often with few rows."""
        rng = np.random.default_rng(seed)
        while True:
            K = int(rng.integers(1, K_max + 1))
            N = int(rng.integers(K, 3 * K + 3))
            Z = (rng.random((N, K)) < rng.uniform(0.3, 0.7)).astype(np.uint8)
            if np.linalg.matrix_rank(Z.astype(float)) == K:
                return Z


@pytest.fixture(scope="session")
def brute_force() -> BruteForce:
    return BruteForce()
