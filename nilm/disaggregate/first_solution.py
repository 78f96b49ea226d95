"""The first solution of a week's rows: the estimator and its repairs, alone or beside a generator.

Owns which repairs follow which, and how the rows beside a generator are looked at. The estimators are
`nilm.disaggregate.estimate`'s, the generator is `nilm.disaggregate.generator`'s and its amplitude
`nilm.disaggregate.feed_in`'s.
"""

import logging
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lfm import Prior, Solution, count_levels, hop, merge_twins, separate_siblings
from nilm.disaggregate.estimate import (
    LEAST_CHANGE_A,
    SHAPES,
    Callback,
    fit_estimator,
    independent,
    with_misfits_decoded,
    without_traces,
)
from nilm.disaggregate.generator import Generator
from nilm.disaggregate.house_priors import StateEvidence, house_priors
from nilm.disaggregate.varying import vary
from nilm.results import FloatArray

log = logging.getLogger(__name__)

# Two waveforms closer than this are one appliance whose activations differ by a percent or two; two sizes fit
# those better than one, which proves nothing, so the residual may rise by the slack.
TWINS, TWINS_SLACK = 0.03, 0.25
SHARES = (0.0, 0.1, 0.3, 1.0)  # of what is left along a generator's shape that the estimator sees
MISSED_SWITCH, ONE_MORE = 10.0, 20.0  # nats: a switch that a solution lacks, a feature that it has


# Share of rows that begin a new level (a run of like rows) beyond which the exact decoder is not tried: its
# search grows with their square. Houses of 20 on/off appliances have up to 0.28, real habits 0.3 to 0.8.
MOST_LEVELS = 0.28
# Share of the changing current (Frobenius norm) that an on/off answer may leave. Activations that drift by 3%
# leave about 0.02, weeks of real habits 0.2 and more.
MUCH_LEFT = 0.1
NEW_LEVELS = 0.2  # share of rows: on/off houses of ten have 0.13, weeks of real habits 0.3 to 0.8


class Way(NamedTuple):
    """How rows are explained."""

    estimator: str
    components: int | str  # an upper bound, or "auto"
    seed: int
    callback: Callback | None


def fewer(components: int | str) -> int | str:
    """The bound on the features that are on or off, where one more varies."""
    return max(components - 1, 1) if isinstance(components, int) else components


def solve(
    X: FloatArray,
    gaps: NDArray[np.bool_],
    priors: list[Prior],
    way: Way,
    notes: list[str],
) -> tuple[Solution, bool | None]:
    """The estimator's solution of X (N, D), repaired, and its certificate."""
    solution, at_noise_floor = fit_estimator(
        X, gaps, way.estimator, way.components, way.seed, way.callback, notes
    )
    solution = without_traces(independent(solution, notes), notes)
    solution = _without_twins(solution, X, priors, notes)
    solution = with_misfits_decoded(solution, X)
    if way.estimator == "switching":
        solution = independent(separate_siblings(solution, X, gap_before=gaps), notes)
    return solution, at_noise_floor


class Explained(NamedTuple):
    """A first solution of a week's rows."""

    estimator: str  # by its own name
    solution: Solution  # what is on or off
    amplitude: FloatArray | None  # (N, V) of what varies, None where nothing does
    shapes: FloatArray  # (V, D)


def explain(
    X: FloatArray,
    gaps: NDArray[np.bool_],
    voltage_v: FloatArray,
    way: Way,
    notes: list[str],
    *,
    duration_s: FloatArray,
    feeds_in: bool,
) -> Explained:
    """The rows X (N, D) explained by the estimator that was asked for, or, for "auto", by this rule.

    The exact decoder of on/off appliances is tried where at most MOST_LEVELS of the rows begin a new level.
    Its answer is kept where it leaves at most MUCH_LEFT of the current that changes, and either its
    certificate holds or at most NEW_LEVELS of the rows begin a new level. Everywhere else appliances are more
    than on or off, and shapes with amplitudes explain the week.
    """
    nothing = np.zeros((0, X.shape[1]))
    n_levels = count_levels(X, gaps, min_noise=LEAST_CHANGE_A) if way.estimator == "auto" else 0
    try_exact = way.estimator != SHAPES and n_levels <= MOST_LEVELS * len(X)
    if try_exact:
        name = "switching" if way.estimator == "auto" else way.estimator
        priors = house_priors(gaps, voltage_v, feeds_in=feeds_in)[0]
        words: list[str] = []
        solution, certified = solve(X, gaps, priors, way._replace(estimator=name), words)
        changing = float(np.linalg.norm(X - X.mean(axis=0)))
        steady = certified or n_levels <= NEW_LEVELS * len(X)
        if way.estimator != "auto" or (steady and solution.residual(X) <= MUCH_LEFT * changing):
            notes.extend(words)
            return Explained(name, solution, None, nothing)
    found = vary(X, gaps, voltage_v, duration_s=duration_s, components=way.components, notes=notes)
    amplitude = found.amplitude if len(found.shapes) else None
    return Explained(SHAPES, found.solution, amplitude, found.shapes)


def share_left_over(X: FloatArray, explained: FloatArray, voltage_v: FloatArray) -> float:
    """Share of the energy in X (N, D) by which the `explained` current (N, D) misses it, row by row."""
    metered = X @ voltage_v
    total = float(np.abs(metered).sum())
    return float(np.abs(metered - explained @ voltage_v).sum()) / total if total > 0 else 0.0


def solve_beside(
    sun: Generator,
    X: FloatArray,
    gaps: NDArray[np.bool_],
    voltage_v: FloatArray,
    way: Way,
    notes: list[str],
) -> tuple[Solution, bool | None]:
    """The solution of X (N, D), which is without what the generator feeds in, and its certificate.

    Across the generator's shape the rows are exact, along it they are as good as its amplitude was known; so
    what is left along it is looked at in several sizes, and the most plausible on and off times are kept.
    Each switch that was seen and is not in them counts as a surprise of its own.
    """
    evidence = StateEvidence(gaps)
    found = []
    for share in SHARES:
        priors = house_priors(gaps, voltage_v, feeds_in=False)[0]
        words: list[str] = []
        seen = X - (1 - share) * np.outer(X @ sun.shape, sun.shape)
        # With nothing left along the shape no watts flow, and their sign says nothing.
        solution, floor = solve(seen, gaps, priors if share else priors[:-1], way, words)
        surprise = evidence.value(solution) + MISSED_SWITCH * sun.missed(solution.Z) + ONE_MORE * solution.K
        log.debug("%g of what lies along the sun: %d features, %.0f nats", share, solution.K, surprise)
        found.append((surprise, solution, floor, words))
    _, solution, at_noise_floor, words = min(found, key=lambda f: f[0])
    notes.extend(words)
    return solution, at_noise_floor


def _without_twins(solution: Solution, X: FloatArray, priors: list[Prior], notes: list[str]) -> Solution:
    """The solution with each appliance in one feature; a hop shows twins that a sum had hidden.

    Where it does, the baseline that scores and corrections compare with is already a hopped one.
    """
    merged = independent(merge_twins(solution, X, tolerance=TWINS, slack=TWINS_SLACK), notes)
    shown = merge_twins(hop(merged, priors=priors).solution, X, tolerance=TWINS, slack=TWINS_SLACK)
    return independent(shown if shown.K < merged.K else merged, notes)
