"""The first solution of a week's rows: the estimator and its repairs, and the rule that chooses.

Owns which repairs follow which. The estimators are `nilm.disaggregate.estimate`'s.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lfm import Solution, find_signal, level_changes, merge_twins, separate_siblings
from lfm.arrays import FloatArray
from nilm.appliances.thresholds import APPLIANCES
from nilm.choices import SHAPES
from nilm.disaggregate.estimate import (
    Callback,
    fit_estimator,
    independent,
    without_traces,
)
from nilm.disaggregate.house_priors import StateEvidence
from nilm.disaggregate.repairs.misfits import with_misfits_decoded
from nilm.disaggregate.repairs.variants import with_variants_joined
from nilm.disaggregate.sun.feed_in import consumes_when_off, without_sunshine
from nilm.disaggregate.sun.generator import Generator
from nilm.disaggregate.varying import vary
from nilm.thresholds import HOUSE, RULE, SUN


class EstimatorChoice(NamedTuple):
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
    how: EstimatorChoice,
    notes: list[str],
    *,
    least_change_a: float = HOUSE.least_change_a,
) -> Solution:
    """The estimator's solution of X (N, D), repaired; smaller changes than `least_change_a` are noise."""
    solution = fit_estimator(
        X, gaps, how.estimator, how.components, how.seed, how.callback, notes, least_change_a=least_change_a
    )
    solution = without_traces(independent(solution, notes), notes)
    solution = merge_twins(solution, X, tolerance=APPLIANCES.same_waveform, slack=HOUSE.twins_slack)
    solution = with_misfits_decoded(independent(solution, notes), X)
    if how.estimator == "switching":
        solution = separate_siblings(solution, X, gap_before=gaps)
        solution = independent(with_variants_joined(solution, X, gaps, notes), notes)
    return solution


class Explained(NamedTuple):
    """A first solution of the rows of a week's fit."""

    estimator: str  # by its own name
    X: FloatArray  # (N, D) the rows at steady voltage, and without what a generator feeds in
    solution: Solution  # what is on or off
    amplitude: FloatArray  # (N, V) of what varies; V is often 0, and always beside a generator
    shapes: FloatArray  # (V, D)
    fed_in: FloatArray | None = None  # (N,) amplitude of the generator

    def product(self) -> FloatArray:
        """(N, D) the part of X that is explained."""
        return np.asarray(self.solution.product() + self.amplitude @ self.shapes)


def on_or_off(estimator: str, X: FloatArray, solution: Solution) -> Explained:
    """The rows X (N, D) explained by what is on or off alone."""
    return Explained(estimator, X, solution, np.zeros((len(X), 0)), np.zeros((0, X.shape[1])))


def explain(
    X: FloatArray,
    gaps: NDArray[np.bool_],
    voltage_v: FloatArray,
    how: EstimatorChoice,
    notes: list[str],
    *,
    duration_s: FloatArray,
    feeds_in: bool,
) -> Explained:
    """The rows X (N, D) explained by the estimator that was asked for, or, for "auto", by this rule.

    The exact decoder of on/off appliances is tried where the week does not wander: few of the changes from
    one level to the next are smaller than an appliance. Its answer is kept where it leaves little of the
    current that changes. Everywhere else appliances are more than on or off, and shapes with amplitudes
    explain the week. The limits are `nilm.thresholds.RULE`.
    """
    if how.estimator != SHAPES and (how.estimator != "auto" or not wanders(X, gaps)):
        name = "switching" if how.estimator == "auto" else how.estimator
        words: list[str] = []
        solution = solve(X, gaps, how._replace(estimator=name), words)
        changing = float(np.linalg.norm(X - X.mean(axis=0)))
        if how.estimator != "auto" or solution.residual(X) <= RULE.much_left * changing:
            notes.extend(words)
            return on_or_off(name, X, solution)
    found = vary(
        X,
        gaps,
        voltage_v,
        duration_s=duration_s,
        components=how.components,
        feeds_in=feeds_in,
        notes=notes,
    )
    return Explained(SHAPES, X, found.solution, found.amplitude, found.shapes)


def wanders(X: FloatArray, gaps: NDArray[np.bool_]) -> bool:
    """Whether the rows X (N, D) hold loads that are more than on or off: many changes of level are small.

    True also where the noise would hide it.
    """
    if find_signal(X, gaps).noise > RULE.most_noise_a:
        return True
    change_a = level_changes(X, gaps, min_noise=HOUSE.least_change_a)
    if len(change_a) == 0:
        return False
    return len(change_a) > RULE.most_changes * len(X) or bool(
        np.mean(change_a < RULE.small_a) > RULE.most_small
    )


def share_left_over(X: FloatArray, explained: FloatArray, voltage_v: FloatArray) -> float:
    """Share of the energy in X (N, D) by which the `explained` current (N, D) misses it, row by row."""
    metered = X @ voltage_v
    total = float(np.abs(metered).sum())
    return float(np.abs(metered - explained @ voltage_v).sum()) / total if total > 0 else 0.0


def solve_beside(
    sun: Generator,
    loads: FloatArray,
    gaps: NDArray[np.bool_],
    how: EstimatorChoice,
    notes: list[str],
) -> Solution:
    """The solution of `loads` (N, D), rows without what the generator feeds in.

    Across the generator's shape the rows are exact; along it they are known to a watt or two in most segments
    and to some tens in a few. So they are looked at in two ways, and the less surprising on and off times are
    kept. Each switch that was seen and is not in them counts as a surprise of its own, and each feature has
    the price of its waveform: ½ log N nats for each direction that the loads have. Where the house would give
    power with everything off, the difference of two heaters was taken for an appliance: then two more ways
    are tried.
    """
    across = sun.without(loads)
    waveform_nats = 0.5 * find_signal(across, gaps).basis.shape[1] * np.log(len(loads))
    found: list[tuple[float, Solution, list[str]]] = []
    for share, least_change_a in SUN.views + SUN.further_views:
        words: list[str] = []
        seen = across + share * (loads - across)
        solution = solve(seen, gaps, how, words, least_change_a=least_change_a)
        solution = without_sunshine(solution, sun)
        surprise = StateEvidence(gaps).value(solution) + SUN.missed_switch_nats * sun.missed(solution.Z)
        surprise += waveform_nats * solution.K
        found = sorted([*found, (surprise, solution, words)], key=lambda f: f[0])
        enough = len(found) >= len(SUN.views)
        if enough and consumes_when_off(found[0][1], loads, sun):
            break
    _, solution, words = found[0]
    notes.extend(words)
    return solution
