"""Algorithm 2, the Equivalence Hopper: from a solution (Z, W) to the equivalent one with the best prior.

Owns the promises: the best visited solution comes back, never worse than the start in objective and never
beyond the stated tolerance in residual. The walk itself is `lfm.hopper.walk`, input is checked by
`lfm.hopper.options`.
"""

import logging
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import linear_sum_assignment

from lfm.arrays import FloatArray, IntArray
from lfm.checks import check_real
from lfm.equivalence.candidates import Candidates, enumerate_candidates
from lfm.errors import InvalidInputError
from lfm.hopper.corrections import Correction, describe_corrections
from lfm.hopper.objective import Objective, projected_columns
from lfm.hopper.options import HopOptions, check_candidates, check_request, residual_limit
from lfm.hopper.repair import projected, repaired
from lfm.hopper.repeats import repeated_rows
from lfm.hopper.support import exact_support
from lfm.hopper.walk import Walk
from lfm.priors import Prior
from lfm.solution import Solution

logger = logging.getLogger(__name__)

RESIDUAL_TOLERANCE = 0.01  # of the start's residual
_SUPPORT_STEPS = 1000
_KICK = 3  # random exchanges that a restart begins with
_MAX_ROUNDS = 5
_MAX_TRIED = 10  # best states looked at until one keeps its promise


@dataclass(frozen=True, eq=False)
class Hop:
    """What a hop found.

    `solution` is the best visited: (ZU, U⁻¹W), or after a tolerant hop a binary matrix near ZU and W
    refitted to X. `objective_before` and `objective_after` are the sums of the priors, to which a tolerant
    hop adds ‖X − ZW‖²_F (Eq. 3), because there the residual changes. `trace` holds Σ priors + γf after each
    step. `support` (K,) is the share of the weight exp(−βg) in which each returned column appears (β = 1 if
    the hop was greedy). Where `support_is_exact` it is the sum over all equivalent solutions (of the same
    lattice index or a lower one, if unimodular), within 1e-6; else the share of the steps of the chain, which
    for a greedy hop runs for 1000 steps from the returned solution. `complete` says whether the candidates
    were all there are.
    """

    solution: Solution
    U: FloatArray
    objective_before: float
    objective_after: float
    trace: FloatArray
    support: FloatArray
    support_is_exact: bool
    corrections: tuple[Correction, ...]
    complete: bool


def hop(
    solution: Solution,
    *,
    priors: Sequence[Prior],
    candidates: Candidates | None = None,
    unimodular: bool = True,
    gamma: float = 0.01,
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

    Tolerant candidates (`max_nonbinarity` above 0) need X (N, D). After the walk Z is projected to binary
    (entry by entry, or each row to its nearest combination of features, whichever fits better) and W is
    refitted. Where the candidates are complete, bits that X shows to be wrong are repaired first, and
    strict and tolerant walks over all candidates of that `max_nonbinarity` take turns as long as the
    objective falls. With X given, what comes back has a residual of at most (1 + residual_tolerance) times
    the start's, or is the start. `rng` None is a generator with a fixed seed: the same call gives the same
    answer.
    """
    check_request(solution, priors)
    if candidates is None:
        candidates = enumerate_candidates(solution.Z)
    check_candidates(solution, candidates, X)
    if not candidates.complete:
        logger.info("hop: the candidates are not known to be complete (%d of them)", len(candidates))
    X = None if X is None else check_real("X", X)
    options = HopOptions(
        priors=tuple(priors),
        unimodular=unimodular,
        gamma=gamma,
        beta=beta,
        n_steps=n_steps,
        n_restarts=n_restarts,
        rng=np.random.default_rng(0) if rng is None else rng,
        X=X,
        residual_limit=residual_limit(solution, X, residual_tolerance),
        tolerant=X is not None and candidates.max_nonbinarity > 0,
    )
    if options.tolerant and options.X is not None and candidates.complete:
        options = replace(options, repair=True, group=repeated_rows(options.X, solution.K))
    before = options.value(solution)
    if math.isinf(before):
        raise InvalidInputError(
            f"the objective of the start is {before}: W or X is too large; scale both down"
        )
    if options.repair:
        rounds = _tolerant_rounds(solution, candidates.max_nonbinarity, options)
    else:
        rounds = [_round(solution, candidates, options)]
        if options.value(rounds[0].solution) > before + 1e-9 * (1 + abs(before)):
            strict = candidates.strict_part()
            rounds = [_round(solution, strict, replace(options, tolerant=False))]
    U = np.eye(solution.K)
    for one in rounds:
        U = U @ one.U
    found = rounds[-1].solution
    support, support_is_exact = _support(rounds[-1], options)
    exact = np.all(np.abs(solution.Z @ U - found.Z) < 1e-6, axis=0)
    return Hop(
        solution=found,
        U=U,
        objective_before=before,
        objective_after=options.value(found),
        trace=np.concatenate([one.trace for one in rounds]),
        support=support,
        support_is_exact=support_is_exact,
        corrections=describe_corrections(solution.Z, U, exact),
        complete=candidates.complete,
    )


@dataclass(frozen=True)
class _Round:
    """One walk from U = I: what it settled on, with features that are still there in their old place."""

    solution: Solution
    U: FloatArray
    columns: IntArray  # (K,) the candidates that U consists of
    walk: Walk
    trace: FloatArray


def _round(solution: Solution, candidates: Candidates, options: HopOptions) -> _Round:
    """The best solution of one walk that keeps the promise on the residual."""
    objective = Objective(
        solution, candidates, options.priors, gamma=options.gamma, unimodular=options.unimodular
    )
    walk = Walk(objective, unimodular=options.unimodular, rng=options.rng)
    if math.isinf(options.beta):
        steps = walk.descend(options.n_steps)
        for _ in range(options.n_restarts if len(candidates) > solution.K else 0):
            if steps + _KICK >= options.n_steps:
                break
            walk.go_to(walk.visited_best[-1])
            walk.kick(_KICK)
            steps += _KICK + walk.descend(options.n_steps - steps - _KICK)
    else:
        walk.boltzmann(options.beta, options.n_steps)
        walk.go_to(walk.visited_best[-1])
        walk.descend(options.n_steps)
    trace = np.array(walk.trace)
    found = _settle(walk, solution, options)
    U = objective.tableau.U
    order = _familiar_order(U)
    found = Solution(found.Z[:, order], found.W[order])
    return _Round(
        solution=found,
        U=U[:, order],
        columns=objective.tableau.columns[order],
        walk=walk,
        trace=trace,
    )


def _tolerant_rounds(solution: Solution, max_nonbinarity: int, options: HopOptions) -> list[_Round]:
    """Strict and tolerant walks in turn, from the start with its wrong bits repaired, while that helps."""
    current = solution
    if options.X is not None:
        better = repaired(solution.Z, solution.W, options.X, options.group)
        if better is not None and options.value(better) < options.value(solution):
            current = better
    rounds: list[_Round] = []
    for _ in range(_MAX_ROUNDS):
        rounds.append(_round(current, enumerate_candidates(current.Z), replace(options, tolerant=False)))
        current = rounds[-1].solution
        near = enumerate_candidates(current.Z, max_nonbinarity=max_nonbinarity)
        further = _round(current, near, options)
        if options.value(further.solution) >= options.value(current) * (1 - 1e-9):
            break
        rounds.append(further)
        current = further.solution
    return rounds


def _support(one: _Round, options: HopOptions) -> tuple[FloatArray, bool]:
    """(share of the weight exp(−βg) in which each returned column appears (K,), whether it is exact)."""
    beta = 1.0 if math.isinf(options.beta) else options.beta
    shares = exact_support(one.walk.objective, beta)
    if shares is not None:
        place = {int(column): k for k, column in enumerate(one.walk.objective.tableau.columns)}
        return shares[[place[int(column)] for column in one.columns]], True
    if math.isinf(options.beta):
        one.walk.boltzmann(beta, _SUPPORT_STEPS)
    return one.walk.share[one.columns], False


def _settle(walk: Walk, solution: Solution, options: HopOptions) -> Solution:
    """The best visited solution that keeps the promise on the residual; the walk ends there."""
    for columns in walk.visited_best[: -_MAX_TRIED - 1 : -1]:
        walk.go_to(columns)
        tableau = walk.objective.tableau
        Z = projected_columns(solution.Z, tableau.U)
        if not options.tolerant:
            exact = Solution(Z, np.asarray(tableau.inverse @ solution.W))
            if options.X is None or exact.residual(options.X) <= options.residual_limit:
                return exact
            continue
        assert options.X is not None
        W = np.asarray(tableau.inverse @ solution.W)
        found = repaired(Z, W, options.X, options.group) if options.repair else projected(Z, W, options.X)
        if found is not None and found.residual(options.X) <= options.residual_limit:
            return found
    walk.go_to(walk.visited_best[0])  # the start itself, perhaps with its columns in another order
    tableau = walk.objective.tableau
    return Solution(projected_columns(solution.Z, tableau.U), np.asarray(tableau.inverse @ solution.W))


def _familiar_order(U: FloatArray) -> NDArray[np.intp]:
    """The order of U's columns in which features of the start that are still there keep their place."""
    nonzero = np.abs(U) > 0
    likeness = nonzero / nonzero.sum(axis=0)
    order: NDArray[np.intp] = linear_sum_assignment(-likeness)[1]
    return order
