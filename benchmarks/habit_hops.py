"""What the hopper makes of plain estimators on weeks of real habits: Table 1 of the paper, and item by item.

For each estimate: energy rightly assigned, E_Reg and residual before and after hops by the house's priors and
by the paper's, strict and tolerant. E_Reg and residual are of X divided by the root mean square of its
entries, as in `nilm.experiments.table1`; the residual is relative to ‖X‖.
"""

import time
import warnings
from pathlib import Path

import numpy as np
from habit_sets import assigned, observed_weeks
from sklearn.exceptions import ConvergenceWarning

from lfm import BinaryDecoder, GaussianW, KFeatures, LatentLasso, Solution, enumerate_candidates, hop
from lfm.errors import RankDeficientError
from nilm.disaggregate.house_priors import house_priors
from nilm.experiments.hoppers import MAX_NODES, papers_hopper
from nilm.simulate.habits import ObservedHabits

ESTIMATORS = {
    "LatentLasso, K = 5": lambda: LatentLasso(5, random_state=0),
    "LatentLasso, K = 10": lambda: LatentLasso(10, random_state=0),
    "KFeatures, K = 10": lambda: KFeatures(10, random_state=0),
    "BinaryDecoder, K = 10": lambda: BinaryDecoder(10, random_state=0),
}
TOLERANCE = 0.002  # of the rows, as in Table 1
HOPS = ("house", "house, tolerant", "paper", "paper, tolerant", "paper's own hopper")
BEFORE = "before"


def hops(seen: ObservedHabits, solution: Solution, rms_a: float) -> dict[str, Solution]:
    """The solution of X / rms_a before and after each hop; as it was where its Z is rank-deficient."""
    X = seen.current_a / rms_a
    house = Solution(solution.Z, solution.W * rms_a)  # the house's priors are in amps and watts
    priors = house_priors(seen.gap_before, seen.voltage_v, feeds_in=False)[0]
    found = {BEFORE: solution}
    for name in HOPS:
        rng = np.random.default_rng(0)
        try:
            if name == "paper's own hopper":
                found[name] = papers_hopper(solution, X, rng, tolerance=TOLERANCE)
                continue
            most = int(TOLERANCE * solution.N) if "tolerant" in name else 0
            candidates = enumerate_candidates(solution.Z, max_nonbinarity=most, max_nodes=MAX_NODES)
            if name.startswith("house"):
                after = hop(house, priors=priors, candidates=candidates, X=seen.current_a, rng=rng).solution
                found[name] = Solution(after.Z, after.W / rms_a)
            else:
                found[name] = hop(
                    solution, priors=[GaussianW(1.0)], candidates=candidates, X=X, rng=rng
                ).solution
        except RankDeficientError:
            found[name] = solution
    return found


def table(data: Path, seeds: range) -> None:
    """Print a line per estimator and hop: means over the weeks."""
    print("\n| estimate | hop | acc | least change of acc | E_Reg | change | residual | CPU s |")
    print("| --- " * 8 + "|")
    for label, make in ESTIMATORS.items():
        rows: dict[str, list[tuple[float, ...]]] = {name: [] for name in (BEFORE, *HOPS)}
        for _, _, seen in observed_weeks(data, seeds):
            rms_a = float(np.sqrt(np.mean(seen.current_a**2)))
            X = seen.current_a / rms_a
            start = time.process_time()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                solution = make().fit(X).solution_
            fitted = hops(seen, solution, rms_a)
            seconds = time.process_time() - start
            for name, one in fitted.items():
                watts = one.W @ seen.voltage_v * rms_a / X.shape[1]
                acc = assigned(seen, one.Z * watts).acc
                residual = one.residual(X) / float(np.linalg.norm(X))
                rows[name].append((acc, one.regulariser, residual, seconds))
        acc_before, reg_before, _, _ = np.array(rows[BEFORE]).T
        for name, values in rows.items():
            acc, reg, residual, seconds = np.array(values).T
            print(
                f"| {label} | {name} | {acc.mean():.3f} | {np.min(acc - acc_before):+.3f} | {reg.mean():.3f} "
                f"| {100 * np.mean(reg / reg_before - 1):+.1f}% | {residual.mean():.3f} "
                f"| {np.median(seconds):.1f} |",
                flush=True,
            )
