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
from lfm.equivalence.tableau import Tableau
from lfm.errors import InvalidInputError
from lfm.hopper.corrections import Correction, describe_corrections
from lfm.hopper.objective import Objective, projected_columns
from lfm.hopper.options import HopOptions, check_candidates, check_request, residual_limit
from lfm.hopper.repair import projected, repaired, repeated_rows
from lfm.hopper.support import exact_support
from lfm.hopper.walk import Walk
from lfm.priors import Prior
from lfm.solution import Solution
from lfm.thresholds import HOPPER

logger = logging.getLogger(__name__)


@dataclass(frozen=True, eq=False)
class Hop:
    """What a hop found. Made by `hop`.

    Attributes
    ----------
    solution : Solution
        The best one visited: (ZU, U⁻¹W), or after a tolerant hop a binary matrix near ZU and W refitted to
        X.
    U : array of shape (K, K)
        The matrix that leads from the start to it.
    objective_before, objective_after : float
        Sums of the priors. A tolerant hop adds ‖X − ZW‖²_F (Eq. 3), because there the residual changes.
    trace : array
        Σ priors + γf after each step.
    support : array of shape (K,)
        For each returned column the share of the weight exp(−βg) in which it appears, between 0 and 1 (β =
        1 if the hop was greedy).
    support_is_exact : bool
        True where support is a sum over all equivalent solutions, of the same lattice index or a lower one
        if unimodular. False where it is the share of the steps of a chain.
    corrections : tuple of Correction
        What was changed, one for each feature.
    complete : bool
        Whether the candidates were all there are.

    Examples
    --------
    >>> import lfm
    >>> found = lfm.hop(lfm.Solution([[1, 1], [1, 0]], [[4.0], [-1.0]]), priors=[lfm.GaussianW(1.0)])
    >>> found.objective_before, found.objective_after
    (17.0, 10.0)
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
    residual_tolerance: float = HOPPER.residual_tolerance,
) -> Hop:
    """The equivalent solution with the lowest Σ priors + γf that the walk visits: never worse than the start.

    Parameters
    ----------
    solution : Solution
        Where to start from; its Z has rank K.
    priors : sequence of Prior
        What makes a solution better. Their prices add up.
    candidates : Candidates, optional
        The columns that U may have. Default: all strict ones.
    unimodular : bool, default True
        Whether exchanges that raise the lattice index of Z are forbidden.
    gamma : float, default 0.01
        γ ≥ 0, the price of one unit of f in tolerant hops.
    beta : float, default math.inf
        β > 0. Infinity takes the best exchange until none is better; a finite β runs a chain that draws
        solutions from exp(−βg).
    n_steps : int, default 1000
        Most exchanges, restarts included, or the length of the chain.
    n_restarts : int, default 10
        Further descents, each from a few random exchanges away from the best (β = ∞ only).
    rng : numpy.random.Generator, optional
        Source of the randomness. Default: a fixed seed, so that the same call gives the same answer.
    X : array of shape (N, D), optional
        The data. Needed by tolerant candidates (`max_nonbinarity` above 0): Z is projected to binary after
        the walk and W is refitted. Where the candidates are complete, bits that X shows to be wrong are
        repaired first, and strict and tolerant walks take turns as long as the objective falls. A start
        without negative features is refitted without them.
    residual_tolerance : float, default 0.01
        With X given, what comes back has a residual of at most (1 + residual_tolerance) times the start's,
        or is the start.

    Returns
    -------
    Hop
        The solution, what was changed, and how sure each feature is.

    Raises
    ------
    RankDeficientError
        Where Z has rank below K and candidates are not given.
    InvalidInputError
        Where an argument is out of its range, candidates belong to another Z, or X is missing.

    Examples
    --------
    Feature 1 consumes negative power: it is inverted.

    >>> import lfm
    >>> inverted = lfm.Solution([[1, 1], [1, 1], [1, 0]], [[4.0], [-1.0]])
    >>> found = lfm.hop(inverted, priors=[lfm.PassiveSign(1.0, [1.0]), lfm.BernoulliZ(0.1)])
    >>> found.solution.W.tolist()
    [[3.0], [1.0]]
    """
    check_request(solution, priors)
    if candidates is None:
        candidates = enumerate_candidates(solution.Z)
    check_candidates(solution, candidates, X)
    X = None if X is None else check_real("X", X)
    tolerant = X is not None and candidates.max_nonbinarity > 0
    repair = tolerant and candidates.complete
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
        tolerant=tolerant,
        repair=repair,
        nonnegative=bool((solution.W >= 0).all()),
        group=repeated_rows(X, solution.K) if repair and X is not None else None,
    )
    before = options.value(solution)
    if math.isinf(before):
        raise InvalidInputError(
            f"the objective of the start is {before}: W or X is too large; scale both down"
        )
    rounds = _rounds(solution, candidates, options)
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
    """One walk from U = I and where it ended. Features of the start that are still there keep their place."""

    solution: Solution
    U: FloatArray
    columns: IntArray  # (K,) the candidates that U consists of
    walk: Walk
    trace: FloatArray


def _rounds(solution: Solution, candidates: Candidates, options: HopOptions) -> list[_Round]:
    """The walks of a hop in order: the last one ends no higher in objective than the start."""
    if not candidates.complete:
        logger.info("hop: the candidates are not known to be complete (%d of them)", len(candidates))
    if options.repair:
        return _tolerant_rounds(solution, candidates.max_nonbinarity, options)
    only = _round(solution, candidates, options)
    before = options.value(solution)
    if options.value(only.solution) > before + HOPPER.least_gain * (1 + abs(before)):
        only = _round(solution, candidates.strict_part(), replace(options, tolerant=False))
    return [only]


def _round(solution: Solution, candidates: Candidates, options: HopOptions) -> _Round:
    """The best solution of one walk that keeps the promise on the residual."""
    objective = Objective(
        solution, candidates, options.priors, gamma=options.gamma, unimodular=options.unimodular
    )
    walk = Walk(objective, unimodular=options.unimodular, rng=options.rng)
    kick = HOPPER.kick_exchanges
    if math.isinf(options.beta):
        steps = walk.descend(options.n_steps)
        for _ in range(options.n_restarts if len(candidates) > solution.K else 0):
            if steps + kick >= options.n_steps:
                break
            walk.go_to(walk.visited_best[-1])
            walk.kick(kick)
            steps += kick + walk.descend(options.n_steps - steps - kick)
    else:
        walk.boltzmann(options.beta, options.n_steps)
        walk.go_to(walk.visited_best[-1])
        walk.descend(options.n_steps)
    trace = np.array(walk.trace)
    # The walk moves to the best state that keeps the promise on the residual, and stays there for `_support`.
    for columns in walk.visited_best[: -HOPPER.max_tried - 1 : -1]:
        walk.go_to(columns)
        found = _within_residual(_solution_at(objective.tableau, solution), options)
        if found is not None:
            break
    else:
        walk.go_to(walk.visited_best[0])  # the start itself, perhaps with its columns in another order
        found = _solution_at(objective.tableau, solution)
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
        better = repaired(solution.Z, solution.W, options.X, options.group, nonnegative=options.nonnegative)
        if better is not None and options.value(better) < options.value(solution):
            current = better
    rounds: list[_Round] = []
    for _ in range(HOPPER.max_rounds):
        rounds.append(_round(current, enumerate_candidates(current.Z), replace(options, tolerant=False)))
        current = rounds[-1].solution
        near = enumerate_candidates(current.Z, max_nonbinarity=max_nonbinarity)
        further = _round(current, near, options)
        if options.value(further.solution) >= options.value(current) * (1 - HOPPER.least_gain):
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
        one.walk.boltzmann(beta, HOPPER.support_steps)
    return one.walk.share[one.columns], False


def _solution_at(tableau: Tableau, solution: Solution) -> Solution:
    """The start `solution` written with the tableau's U; Z is projected to binary where ZU is not."""
    return Solution(projected_columns(solution.Z, tableau.U), np.asarray(tableau.inverse @ solution.W))


def _within_residual(exact: Solution, options: HopOptions) -> Solution | None:
    """The solution, in a tolerant hop the best one near it, if it keeps the promise on the residual."""
    if not options.tolerant:
        kept = options.X is None or exact.residual(options.X) <= options.residual_limit
        return exact if kept else None
    assert options.X is not None
    if options.repair:
        found = repaired(exact.Z, exact.W, options.X, options.group, nonnegative=options.nonnegative)
    else:
        found = projected(exact.Z, exact.W, options.X, nonnegative=options.nonnegative)
    return found if found is not None and found.residual(options.X) <= options.residual_limit else None


def _familiar_order(U: FloatArray) -> NDArray[np.intp]:
    """The order of U's columns in which features of the start that are still there keep their place."""
    nonzero = np.abs(U) > 0
    likeness = nonzero / nonzero.sum(axis=0)
    order: NDArray[np.intp] = linear_sum_assignment(-likeness)[1]
    return order
