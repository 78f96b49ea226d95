"""Whether (Z, W) is the only solution with its product: ranks, counts, and a verdict with proof (Sec. 3)."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from lfm.arrays import FloatArray
from lfm.checks import check_binary, check_real
from lfm.equivalence.candidates import Candidates, candidates_of
from lfm.equivalence.counting import BaseCount, count_bases
from lfm.equivalence.dependencies import Pdc, pairwise_dependencies
from lfm.equivalence.hermite import row_lattice
from lfm.equivalence.ranks import Dependence, column_dependences, distinct_rows
from lfm.errors import InvalidInputError
from lfm.thresholds import EQUIVALENCE


@dataclass(frozen=True, eq=False)
class Identifiability:
    """What is known about the uniqueness of a solution. Made by `diagnose`.

    Attributes
    ----------
    identifiable : bool or None
        True is proved: no other column exists. False is proved: `witness` gives another solution. None is
        unknown.
    reason : str
        Why, in words.
    witness : array of shape (K, K) or None
        A U that leads to another solution.
    n_equivalent : float
        |H(Z)/S_K|, the number of equivalent solutions up to the order of features. Exact where
        `n_equivalent_is_exact`, else a proven lower bound. Infinite where rank(Z) < K.
    n_equivalent_is_exact : bool
        Whether n_equivalent is the number itself.
    n_equivalent_at_most : float
        A proven upper bound.
    candidates : Candidates or None
        The columns that U may have; None where rank(Z) < K.
    dependencies : tuple of (int, int, Pdc)
        Pairs of features that are tied together.
    bias_features : tuple of int
        Features that are always on.
    full_rows : bool
        Whether all 2^K rows occur (Theorem 3).
    rank_Z, rank_W : int
        The ranks; rank_W is None where W was not given.
    integer_certificate : bool
        The rows of Z generate all integer vectors, so that every U ∈ H(Z) is integer. This contains both
        integer conditions of the paper.
    lattice_index : int or None
        See `lattice_index`; None where rank(Z) < K.
    column_dependences : tuple
        Each column of Z that is a combination of others.

    Examples
    --------
    >>> import lfm
    >>> lfm.diagnose([[1, 0], [0, 1], [1, 1], [0, 0]]).identifiable
    True
    """

    identifiable: bool | None
    reason: str
    witness: FloatArray | None
    n_equivalent: float
    n_equivalent_is_exact: bool
    n_equivalent_at_most: float
    candidates: Candidates | None
    dependencies: tuple[tuple[int, int, Pdc], ...]
    bias_features: tuple[int, ...]
    full_rows: bool
    rank_Z: int
    rank_W: int | None
    integer_certificate: bool
    lattice_index: int | None
    column_dependences: tuple[Dependence, ...]


def _kernel_witness(dependence: Dependence, K: int) -> FloatArray:
    """U of the proof of Theorem 2: regular, not a permutation, and ZU is binary (one column of it zero)."""
    U = np.eye(K)
    if dependence.terms:
        U[:, dependence.column] = 0.0
        for k, coefficient in dependence.terms:
            U[k, dependence.column] = -float(coefficient)
        U[dependence.column, dependence.column] = 1.0
    else:
        U[dependence.column, dependence.column] = 2.0
    return U


def _candidate_witness(candidates: Candidates) -> FloatArray | None:
    """U = I with one column replaced by a candidate that is not a unit vector, if there is one."""
    others = np.setdiff1d(np.arange(len(candidates)), candidates.unit_positions())
    if len(others) == 0:
        return None
    u = np.asarray(candidates.U[others[0]], dtype=np.float64)
    U = np.eye(candidates.K)
    # An entry of magnitude one keeps the lattice index where possible.
    U[:, int(np.argmin(np.where(u == 0, np.inf, np.abs(np.abs(u) - 1))))] = u
    return U


def diagnose(
    Z: ArrayLike, W: ArrayLike | None = None, *, max_nodes: int = EQUIVALENCE.max_nodes
) -> Identifiability:
    """The verdict whether a solution is the only one with its product, and all that the verdict rests on.

    Parameters
    ----------
    Z : array of shape (N, K)
        Zeros and ones. Dependent columns are reported, not refused.
    W : array of shape (K, D), optional
        The features. Without them, the verdict holds provided that rank(W) = K.
    max_nodes : int, optional
        Most nodes of the search for candidates. Where they are spent, the verdict may be None.

    Returns
    -------
    Identifiability
        The verdict with its reason, its witness and its counts.

    Raises
    ------
    InvalidInputError
        Where Z is not binary, or W does not have K rows.

    Examples
    --------
    >>> import lfm
    >>> verdict = lfm.diagnose([[1, 0], [1, 1]])
    >>> verdict.identifiable, verdict.n_equivalent
    (False, 3)
    >>> verdict.reason
    '3 equivalent solutions, up to the order of features'
    """
    # Nothing below depends on how often a row occurs.
    patterns = distinct_rows(check_binary("Z", Z))
    rows = patterns.rows
    K = rows.shape[1]
    rank_W = None if W is None else _rank(W, K)
    dependences = tuple(column_dependences(rows))
    lattice = None if dependences else row_lattice(rows)
    candidates = None if lattice is None else candidates_of(patterns, lattice, 0, max_nodes)
    complete = candidates is not None and candidates.complete
    count = None if candidates is None else count_bases(candidates.numerators, candidates.denominator)
    verdict, reason = _verdict(dependences, candidates, count, rank_W, K)
    return Identifiability(
        identifiable=verdict,
        reason=reason,
        witness=_kernel_witness(dependences[0], K) if candidates is None else _candidate_witness(candidates),
        n_equivalent=count.n if count else math.inf,
        n_equivalent_is_exact=count.exact and complete if count else True,
        n_equivalent_at_most=count.at_most if count and complete else math.inf,
        candidates=candidates,
        dependencies=tuple(pairwise_dependencies(rows)),
        bias_features=tuple(int(k) for k in np.flatnonzero(rows.all(axis=0))),
        full_rows=K < 63 and len(rows) == 2**K,
        rank_Z=K - len(dependences),
        rank_W=rank_W,
        integer_certificate=lattice is not None and lattice.index == 1,
        lattice_index=None if lattice is None else lattice.index,
        column_dependences=dependences,
    )


def _rank(W: ArrayLike, K: int) -> int:
    W = check_real("W", W)
    if W.shape[0] != K:
        raise InvalidInputError(f"W has {W.shape[0]} rows and Z has {K} columns; both must be K")
    return int(np.linalg.matrix_rank(W))


def _verdict(
    dependences: tuple[Dependence, ...],
    candidates: Candidates | None,
    count: BaseCount | None,
    rank_W: int | None,
    K: int,
) -> tuple[bool | None, str]:
    """(identifiable, why): Theorem 2, and what still holds of it where rank(W) < K."""
    short_W = rank_W is not None and rank_W < K
    if candidates is None or count is None:
        named = "; ".join(map(str, dependences))
        if short_W:
            # U⁻¹W may equal W then (e.g. a zero column whose feature is zero), so that nothing is proved.
            return None, f"rank(Z) < K ({named}) and rank(W) = {rank_W} < K: Theorem 2 does not apply"
        return False, f"rank(Z) = {K - len(dependences)} < K: {named}; infinitely many U keep ZU binary"
    if count.n > 1:
        size = f"{count.n}" if count.exact and candidates.complete else f"at least {count.n}"
        if candidates.complete and not count.exact:
            size += f" and at most {count.at_most}"
        rank_note = f"; rank(W) = {rank_W} < K may allow more" if short_W else ""
        return False, f"{size} equivalent solutions, up to the order of features{rank_note}"
    if not candidates.complete:
        return (
            None,
            f"no other column in {candidates.nodes} nodes, but the search was cut short; raise max_nodes",
        )
    if short_W:
        return None, (
            f"Z allows no other column, but rank(W) = {rank_W} < K = {K}: features are dependent, so "
            "another Z that is no ZU may give the same product (Theorem 2 assumes rank(W) = K)"
        )
    assumed = "" if rank_W is not None else ", provided that rank(W) = K"
    return True, f"every column u with Zu binary is a unit vector (complete search){assumed}"
