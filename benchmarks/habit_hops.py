"""What the hopper makes of plain estimators on weeks of real habits: Table 1 of the paper, and week by week.

For each estimate: energy rightly assigned, E_Reg and residual before and after hops by the house's priors and
by the paper's, strict and tolerant (`lfm.hop_tolerantly`, as the product does it). E_Reg and residual are of
X divided by the root mean square of its entries, as in `nilm.experiments.table1`; the residual is relative to
‖X‖. "not rounded" is a tolerant hop by the paper's prior whose ZU is left as it comes out, with numbers that
are neither 0 nor 1: its product is the start's, and so is its residual.
"""

import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
from habit_sets import WEEKS, assigned, observed_weeks
from sklearn.exceptions import ConvergenceWarning

from lfm import (
    BinaryDecoder,
    GaussianW,
    KFeatures,
    LatentLasso,
    RankDeficientError,
    Solution,
    enumerate_candidates,
    hop,
    hop_tolerantly,
    regulariser,
)
from lfm.hopper.objective import Objective
from lfm.hopper.walk import Walk
from nilm.disaggregate.house_priors import house_priors
from nilm.experiments.hoppers import MAX_NODES, N_STEPS, papers_hopper
from nilm.simulate.habits import ObservedHabits

ESTIMATORS = {
    "LatentLasso, K = 5": lambda: LatentLasso(5, random_state=0),
    "LatentLasso, K = 10": lambda: LatentLasso(10, random_state=0),
    "KFeatures, K = 10": lambda: KFeatures(10, random_state=0),
    "BinaryDecoder, K = 10": lambda: BinaryDecoder(10, random_state=0),
}
TOLERANCE = 0.01  # of the rows, for the hops of the paper: chosen by us, for the paper does not state its own
BEFORE = "before"
BY_WEEK = (BEFORE, "house", "house, tolerant")

Factors = tuple[np.ndarray, np.ndarray]  # Z (N, K), not always binary, and W (K, D)


class Line(NamedTuple):
    """One week's figures."""

    acc: float
    regulariser: float
    residual: float
    cpu_s: float


def hops(seen: ObservedHabits, solution: Solution, rms_a: float) -> dict[str, Callable[[], Factors]]:
    """The ways to hop from the solution of X / rms_a, by name; each is run when it is called."""
    X = seen.current_a / rms_a
    # The house's priors are in amperes and watts.
    amperes = {
        "priors": house_priors(seen.gap_before, seen.voltage_v, feeds_in=False)[0],
        "X": seen.current_a,
    }
    house = Solution(solution.Z, solution.W * rms_a)
    paper = {"priors": [GaussianW(1.0)], "X": X}

    def in_amperes(after: Solution) -> Factors:
        return after.Z, after.W / rms_a

    def plain(after: Solution) -> Factors:
        return after.Z, after.W

    return {
        BEFORE: lambda: plain(solution),
        "house": lambda: in_amperes(hop(house, **amperes).solution),
        "house, tolerant": lambda: in_amperes(hop_tolerantly(house, **amperes).solution),
        "paper": lambda: plain(hop(solution, **paper).solution),
        "paper, tolerant": lambda: plain(hop_tolerantly(solution, **paper).solution),
        "paper's own hopper": lambda: plain(
            papers_hopper(solution, X, np.random.default_rng(0), tolerance=TOLERANCE)
        ),
        "paper, tolerant, not rounded": lambda: not_rounded(solution),
    }


def not_rounded(solution: Solution) -> Factors:
    """(ZU, U⁻¹W) at the end of a tolerant descent by the paper's prior: an integer ZU, not always binary."""
    most = int(TOLERANCE * solution.N)
    near = enumerate_candidates(solution.Z, max_nonbinarity=most, max_nodes=MAX_NODES)
    objective = Objective(solution, near, [GaussianW(1.0)], gamma=0.01, unimodular=True)
    Walk(objective, unimodular=True, rng=np.random.default_rng(0)).descend(N_STEPS)
    return solution.Z @ objective.tableau.U, objective.tableau.inverse @ solution.W


def table(data: Path, seeds: range) -> None:
    """Print a line per estimator and hop: means over the weeks, then energy rightly assigned week by week."""
    print("\n| estimate | hop | acc | least change of acc | E_Reg | change | residual | CPU s, median |")
    print("| --- " * 8 + "|")
    by_week = []
    for label, make in ESTIMATORS.items():
        lines: dict[str, list[Line]] = {}
        for _, _, seen in observed_weeks(data, seeds):
            for name, one in measured(seen, make).items():
                lines.setdefault(name, []).append(one)
        acc_before, reg_before, _, _ = np.array(lines[BEFORE]).T
        for name, values in lines.items():
            acc, reg, residual, seconds = np.array(values).T
            print(
                f"| {label} | {name} | {acc.mean():.3f} | {np.min(acc - acc_before):+.3f} | {reg.mean():.4f} "
                f"| {100 * np.mean(reg / reg_before - 1):+.1f}% | {residual.mean():.4f} "
                f"| {np.median(seconds):.1f} |",
                flush=True,
            )
        for name in BY_WEEK:
            accs = " | ".join(f"{one.acc:.3f}" for one in lines[name])
            by_week.append(f"| {label} | {name} | {accs} |")
    print("\n| acc | hop | " + " | ".join(WEEKS) + " |")
    print("| --- " * (2 + len(WEEKS)) + "|")
    print("\n".join(by_week), flush=True)


def measured(seen: ObservedHabits, make: Callable[[], LatentLasso]) -> dict[str, Line]:
    """One week's figures before (with the time of the fit) and after each hop (with its own time)."""
    rms_a = float(np.sqrt(np.mean(seen.current_a**2)))
    X = seen.current_a / rms_a
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        solution = make().fit(X).solution_
    lines = {}
    for name, run in hops(seen, solution, rms_a).items():
        try:
            Z, W = run()
        except RankDeficientError:  # no finite class of equivalents
            Z, W = solution.Z, solution.W
        seconds = time.process_time() - start
        watts = W @ seen.voltage_v * rms_a / X.shape[1]
        lines[name] = Line(
            assigned(seen, Z * watts).acc,
            regulariser(W),
            float(np.linalg.norm(X - Z @ W) / np.linalg.norm(X)),
            seconds,
        )
        start = time.process_time()
    return lines
