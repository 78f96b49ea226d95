"""Latent feature data with known truth: the paper's images, Z with structures that break identifiability.

Rows of Z are independent and uniform over all rows that satisfy the constraints, so a constraint never
distorts the features it does not name.
"""

import itertools
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from lfm.arrays import BinaryArray, FloatArray
from lfm.checks import check_binary, check_rng, check_weight, check_whole
from lfm.equivalence.dependencies import Pdc
from lfm.errors import InvalidInputError, RankDeficientError
from lfm.solution import Solution
from lfm.thresholds import SYNTHETIC

Dependency = tuple[int, int, Pdc]

IMAGE_SIDE = 30
PATCH_SIDE = 7


class Synthetic(NamedTuple):
    """Data with its truth."""

    X: FloatArray  # (N, D): ZW + noise
    truth: Solution
    dependencies: tuple[Dependency, ...]  # the constraints that Z was drawn under
    n_rejected: int  # draws thrown away because rank(Z) < K


def _satisfies(Z: BinaryArray, dependencies: Sequence[Dependency]) -> np.ndarray:
    """Which rows of Z satisfy every dependency."""
    good = np.ones(len(Z), dtype=bool)
    for i, j, pdc in dependencies:
        on_i, on_j = Z[:, i] == 1, Z[:, j] == 1
        if pdc is Pdc.DISJOINT:
            good &= ~(on_i & on_j)
        elif pdc is Pdc.IMPLIES:
            good &= ~on_i | on_j
        else:
            good &= on_i | ~on_j
    return good


def constrained_states(
    N: int, K: int, dependencies: Sequence[Dependency], rng: np.random.Generator, *, p: float = 0.5
) -> BinaryArray:
    """Z (N, K): independent rows, each feature on with probability p, given that every dependency holds.

    Raises RankDeficientError where the draw has rank below K (contradicting constraints, too few rows).
    """
    K = check_whole("K", K, least=1)
    N = check_whole("N", N, least=1)
    check_rng("rng", rng)
    if N < K:
        raise InvalidInputError(f"N = {N} rows cannot have rank K = {K}; ask for at least K rows")
    if not 0 < p < 1:
        raise InvalidInputError(f"p must lie strictly between 0 and 1, got {p}")
    for i, j, _ in dependencies:
        if not (0 <= i < K and 0 <= j < K and i != j):
            raise InvalidInputError(
                f"dependencies name the pair ({i}, {j}); two different features from 0 to {K - 1} are needed"
            )
    rows: list[BinaryArray] = []
    n_found = 0
    for attempt in range(SYNTHETIC.max_draws):
        if attempt == SYNTHETIC.first_draws and n_found * SYNTHETIC.max_draws < N * SYNTHETIC.first_draws:
            break
        draw = (rng.random((max(4 * N, 1024), K)) < p).astype(np.uint8)
        kept = draw[_satisfies(draw, dependencies)]
        rows.append(kept)
        n_found += len(kept)
        if n_found >= N:
            break
    if n_found < N:
        raise InvalidInputError(
            f"only {n_found} of {N} rows could be drawn: hardly any row satisfies these {len(dependencies)} "
            "dependencies; ask for fewer of them"
        )
    Z = np.concatenate(rows)[:N]
    rank = int(np.linalg.matrix_rank(Z.astype(np.float64)))
    if rank < K:
        raise RankDeficientError(
            f"the draw of Z has rank {rank} < K = {K} under {len(dependencies)} dependencies"
        )
    return Z


def with_bias(Z: BinaryArray) -> BinaryArray:
    """Z with one more column, the last, that is always on."""
    Z = check_binary("Z", Z)
    return np.column_stack([Z, np.ones(len(Z), dtype=np.uint8)])


def blocks(K: int, n_blocks: int) -> list[Dependency]:
    """Dependencies that split K features into n_blocks runs, in each of which at most one is on."""
    K, n_blocks = check_whole("K", K, least=1), check_whole("n_blocks", n_blocks, least=1)
    if n_blocks > K:
        raise InvalidInputError(f"K = {K} features cannot be split into n_blocks = {n_blocks}; ask for fewer")
    return [
        (int(i), int(j), Pdc.DISJOINT)
        for block in np.array_split(np.arange(K), n_blocks)
        for i, j in itertools.combinations(block, 2)
    ]


def hierarchy(K: int, branching: int = 2) -> list[Dependency]:
    """Dependencies of a tree: a feature is on only while its parent (k − 1) // branching is on."""
    K, branching = check_whole("K", K, least=1), check_whole("branching", branching, least=1)
    return [((k - 1) // branching, k, Pdc.IMPLIED_BY) for k in range(1, K)]


def random_dependencies(K: int, n_pdc: int, rng: np.random.Generator) -> tuple[Dependency, ...]:
    """`n_pdc` distinct pairs i < j, each with a condition drawn at random."""
    K = check_whole("K", K, least=1)
    if SYNTHETIC.most_features < K:
        raise InvalidInputError(f"K must be at most {SYNTHETIC.most_features}, got {K}")
    pairs = list(itertools.combinations(range(K), 2))
    n_pdc = check_whole("n_pdc", n_pdc, least=0)
    if n_pdc > len(pairs):
        raise InvalidInputError(
            f"n_pdc must lie between 0 and the {len(pairs)} pairs of K = {K}, got {n_pdc}"
        )
    kinds = list(Pdc)
    chosen = rng.choice(len(pairs), size=n_pdc, replace=False)
    return tuple((*pairs[c], kinds[rng.integers(len(kinds))]) for c in chosen)


def images(
    K: int, N: int, n_pdc: int, noise: float, rng: np.random.Generator, nonnegative: bool = False
) -> Synthetic:
    """The paper's synthetic set: K features of 30×30 with a random 7×7 patch of N(0, 1), n_pdc random PDCs.

    X = ZW + noise · N(0, 1). `nonnegative` takes absolute values of W (for MEIBP) and of the noisy X.
    Draws of Z with rank below K are redrawn with new dependencies and counted in `n_rejected`.
    """
    K, N = check_whole("K", K, least=1), check_whole("N", N, least=1)
    n_pdc = check_whole("n_pdc", n_pdc, least=0)
    check_weight("noise", noise)
    check_rng("rng", rng)
    Z, dependencies, n_rejected = _draw_states(N, K, n_pdc, rng)
    patches = np.zeros((K, IMAGE_SIDE, IMAGE_SIDE))
    for k in range(K):
        top, left = rng.integers(0, IMAGE_SIDE - PATCH_SIDE + 1, size=2)
        patches[k, top : top + PATCH_SIDE, left : left + PATCH_SIDE] = rng.standard_normal(
            (PATCH_SIDE, PATCH_SIDE)
        )
    W = np.abs(patches.reshape(K, -1)) if nonnegative else patches.reshape(K, -1)
    X = Z.astype(np.float64) @ W + noise * rng.standard_normal((N, IMAGE_SIDE**2))
    return Synthetic(np.abs(X) if nonnegative else X, Solution(Z, W), dependencies, n_rejected)


def _draw_states(
    N: int, K: int, n_pdc: int, rng: np.random.Generator
) -> tuple[BinaryArray, tuple[Dependency, ...], int]:
    """Z of rank K with its n_pdc random dependencies, and how many draws were rejected on the way."""
    for n_rejected in range(SYNTHETIC.max_draws):
        dependencies = random_dependencies(K, n_pdc, rng)
        try:
            return constrained_states(N, K, dependencies, rng), dependencies, n_rejected
        except RankDeficientError:
            continue
    raise RankDeficientError(
        f"no Z of rank K = {K} with n_pdc = {n_pdc} in {SYNTHETIC.max_draws} draws; "
        "ask for fewer PDCs or more rows"
    )
