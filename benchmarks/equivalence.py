"""The equivalence engine, measured: enumeration, speed of a hop, recovery of the truth.

`python benchmarks/equivalence.py [--quick]`. Every table compares in the same run. Real appliance cycles are
read from $REAL_DATA or ../shared/data where present.
"""

import argparse
import math
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from lfm import (
    BernoulliZ,
    Candidates,
    GaussianW,
    PassiveSign,
    Prior,
    Solution,
    SwitchingZ,
    decode_rows,
    diagnose,
    enumerate_candidates,
    hamming_error,
    hop,
    random_equivalent,
    sample_candidates,
    synthetic,
)
from nilm.simulate.house import House, observe, simulated_house

FIRST_SEED = 1000  # smaller seeds were used while developing
FIRST_FLIPPED_SEED = 5000  # the repair of houses was developed on seeds below 100
FLIPPED_SHARES = (0.002, 0.01, 0.03, 0.1)
EXACT = 0.002
NOISE_A = 0.05


class PlainOnes(Prior):
    """The number of ones with no exception for an always-on column: what BernoulliZ is compared with."""

    def __init__(self, weight: float) -> None:
        self.weight = weight

    def columns(self, Z: np.ndarray) -> np.ndarray:
        """Weight · ones of each column."""
        return self.weight * Z.sum(axis=0, dtype=np.float64)


def seconds(call: Callable[[], object]) -> tuple[float, object]:
    """CPU seconds of a call, which other work on the machine does not lengthen, and its result."""
    start = time.process_time()
    result = call()
    return time.process_time() - start, result


def enumeration(quick: bool) -> None:
    print("\n## Candidates: complete enumeration against Algorithm 1 (columns found, CPU seconds)")
    print(
        "K, N, PDCs, F | enumerated, s, nodes, complete | Algorithm 1 with N_s = 1,000 | 10,000 | … | ratio"
    )
    for K, N, n_pdc in ((14, 1000, 9), (20, 1500, 12), (30, 2000, 20), (40, 3000, 20), (50, 5000, 25)):
        Z = synthetic.images(K, N, n_pdc, 0.1, np.random.default_rng(FIRST_SEED)).truth.Z
        for F in (0, N // 100):
            took = min(
                seconds(lambda Z=Z, F=F: enumerate_candidates(Z, max_nonbinarity=F))[0] for _ in range(3)
            )
            found = enumerate_candidates(Z, max_nonbinarity=F)
            known = set(map(tuple, found.numerators))
            cells, spent = [], 0.0
            for n_samples in (1000, 10_000) if quick else (1000, 10_000, 100_000):
                rng = np.random.default_rng(0)
                decay = math.inf if F == 0 else 1 / F
                spent, sampled = seconds(
                    lambda Z=Z, n=n_samples, d=decay, r=rng: sample_candidates(Z, n_samples=n, decay=d, rng=r)
                )
                n_found = len(known & set(map(tuple, sampled.numerators)))
                cells.append(f"{n_found}, {spent:.2f} s")
            print(
                f"{K}, {N}, {n_pdc}, {F} | {len(found)}, {took:.3f} s, {found.nodes}, {found.complete} | "
                f"{' | '.join(cells)} | {spent / took:.0f}×"
            )


def plain_hop(solution: Solution, candidates: Candidates, beta: float, n_steps: int) -> float:
    """Algorithm 2 in plain numpy: every U′ is built and inverted anew; returns the lowest ‖U⁻¹W‖²."""
    rng = np.random.default_rng(0)
    K, columns = solution.K, np.asarray(candidates.U, dtype=np.float64)
    U, best = np.eye(K), math.inf
    root = np.linalg.cholesky(solution.W @ solution.W.T)  # ‖U⁻¹W‖ = ‖U⁻¹ root‖, without the D columns of W
    for _ in range(n_steps):
        everything = np.repeat(U[None], K * len(columns), axis=0)
        for k in range(K):
            everything[k * len(columns) : (k + 1) * len(columns), :, k] = columns
        determinants = np.abs(np.linalg.det(everything))
        allowed = everything[(determinants > 0.5) & (determinants < 1.5)]
        g = np.sum((np.linalg.inv(allowed) @ root) ** 2, axis=(1, 2))
        best = min(best, float(g.min()))
        weights = np.exp(-beta * (g - g.min()))
        U = allowed[rng.choice(len(allowed), p=weights / weights.sum())]
    return best


def _thousand(K: int, N: int, n_candidates: int, seed: int) -> tuple[Solution, Candidates, np.ndarray]:
    """An image problem with exactly n_candidates candidates: strict ones first, tolerant ones fill up."""
    data = synthetic.images(K, N, min(12, K // 2), 0.1, np.random.default_rng(seed))
    F = 0
    found = enumerate_candidates(data.truth.Z)
    while len(found) < n_candidates:
        F += max(1, N // 50)
        found = enumerate_candidates(data.truth.Z, max_nonbinarity=F)
    part = Candidates(found.numerators[:n_candidates], 1, 0 * found.f[:n_candidates], False, found.nodes, 0)
    return data.truth, part, data.X


def chain_seconds(solution: Solution, candidates: Candidates, n_steps: int) -> float:
    """Time of n_steps steps of the chain alone: prices of all exchanges, draw, rank-one updates."""
    from lfm.hopper.objective import Objective
    from lfm.hopper.walk import Walk

    objective = Objective(solution, candidates, [GaussianW(1.0)], gamma=0.0, unimodular=True)
    walk = Walk(objective, unimodular=True, rng=np.random.default_rng(0))
    walk.boltzmann(0.05, 10)
    return seconds(lambda: walk.boltzmann(0.05, n_steps))[0]


def speed(quick: bool) -> None:
    print("\n## A hop of M = 1000 steps over N_s = 1000 candidates, K = 14 (the paper: less than 5 s)")
    solution, candidates, _ = _thousand(14, 1000, 1000, FIRST_SEED)
    chain_seconds(solution, candidates, 10)
    ours = chain_seconds(solution, candidates, 1000)
    n_plain = 1 if quick else 3
    plain = seconds(lambda: plain_hop(solution, candidates, 0.05, n_plain))[0] / n_plain * 1000
    print(
        f"ours {ours:.2f} s; plain numpy that recomputes the inverse {plain:.0f} s ({n_plain} steps scaled)"
    )
    print(f"ratio {plain / ours:.0f}×")
    print("\n## CPU milliseconds per step")
    steps = 50 if quick else 200
    for name, cases in (
        ("N", [(14, N, 1000) for N in (1000, 4000, 16_000)]),
        ("K", [(K, 1000, 1000) for K in (7, 14, 28)]),
        ("N_s", [(14, 1000, n) for n in (250, 500, 1000, 2000)]),
    ):
        cells = []
        for K, N, n in cases:
            sizes = {"N": N, "K": K, "N_s": n}
            problem, some, _ = _thousand(K, N, n, FIRST_SEED)
            cells.append(f"{sizes[name]}: {1000 * chain_seconds(problem, some, steps) / steps:.2f}")
        print(f"against {name}: " + ", ".join(cells))


def images_recovered(quick: bool) -> None:
    print("\n## Images (K = 14, N = 1000, noise 0.1) from random equivalent starts: mean E_Hamm, exact")
    print("PDCs | start | the paper's hopper (any det U) | unimodular hop")
    n_starts = 5 if quick else 30
    for n_pdc in (3, 6, 9, 12):
        errors: dict[str, list[float]] = {"start": [], "paper": [], "ours": []}
        for seed in range(FIRST_SEED, FIRST_SEED + n_starts):
            rng = np.random.default_rng(seed)
            data = synthetic.images(14, 1000, n_pdc, 0.1, rng)
            start = random_equivalent(data.truth, rng)
            candidates = enumerate_candidates(start.Z)
            common = {"priors": [GaussianW(1.0)], "candidates": candidates}
            errors["start"].append(hamming_error(start.Z, data.truth.Z))
            paper = hop(start, unimodular=False, beta=1.0, n_steps=300, rng=rng, **common)
            errors["paper"].append(hamming_error(paper.solution.Z, data.truth.Z))
            errors["ours"].append(hamming_error(hop(start, **common).solution.Z, data.truth.Z))
        cells = [f"{np.mean(e):.4f}, {sum(x == 0 for x in e)} of {len(e)}" for e in errors.values()]
        print(f"{n_pdc} | " + " | ".join(cells))


def houses(seeds: range) -> Iterator[tuple[str, list[House]]]:
    """Simulated weeks, of parametric loads and (where the recordings are) of real appliance cycles."""
    yield "parametric, K = 10", [simulated_house(seed=seed) for seed in seeds]
    data = Path(os.environ.get("REAL_DATA", Path(__file__).parents[2] / "shared" / "data"))
    waveforms = data / "appliances" / "hfhad_cycles.npz"
    if waveforms.exists():
        yield (
            "real cycles, K = 8",
            [simulated_house(seed=s, n_appliances=8, n_points=128, waveforms=waveforms) for s in seeds],
        )
    else:
        print(f"(no real appliance cycles at {waveforms}: set REAL_DATA)")


def house_priors(house: House, weight: float = 0.01, ones: type = BernoulliZ) -> list[Prior]:
    return [SwitchingZ(1.0, house.gap_before), ones(weight), PassiveSign(100.0, house.voltage_v)]


def houses_recovered(name: str, weeks: list[House]) -> None:
    print(f"\n## Houses ({name}), {len(weeks)} weeks from equivalent starts: mean E_Hamm, exact (< {EXACT})")
    starts = [random_equivalent(Solution(h.Z, h.W), np.random.default_rng(n)) for n, h in enumerate(weeks)]

    def line(label: str, priors: Callable[[House], list[Prior]] | None) -> None:
        found = [
            s if priors is None else hop(s, priors=priors(h)).solution
            for s, h in zip(starts, weeks, strict=True)
        ]
        errors = [hamming_error(f.Z, h.Z) for f, h in zip(found, weeks, strict=True)]
        print(
            f"{label} | {np.mean(errors):.4f}, {sum(e < EXACT for e in errors)} of {len(errors)}", flush=True
        )

    line("start", None)
    line("‖W‖² (the paper's prior)", lambda _: [GaussianW(1.0)])
    for weight in (0.003, 0.01, 0.03):
        line(f"house priors, ones {weight}", lambda h, w=weight: house_priors(h, w))
    for weight in (0.01, 0.02, 0.03):
        line(
            f"the same, always-on column priced, ones {weight}",
            lambda h, w=weight: house_priors(h, w, PlainOnes),
        )


def flipped(
    label: str, share: float, starts: list[tuple[Solution, np.ndarray, list[Prior], np.ndarray]]
) -> None:
    """One line: E_Hamm of starts with bits flipped, after a tolerant hop, and after one decoding pass."""
    errors: dict[str, list[float]] = {"start": [], "hop": [], "decoded": []}
    for start, X, priors, Z_true in starts:
        candidates = enumerate_candidates(start.Z, max_nonbinarity=start.N // 100)
        found = hop(start, priors=priors, candidates=candidates, X=X).solution
        errors["start"].append(hamming_error(start.Z, Z_true))
        errors["hop"].append(hamming_error(found.Z, Z_true))
        errors["decoded"].append(hamming_error(decode_rows(X, found.W), Z_true))
    cells = [f"{np.mean(e):.4f}" for e in errors.values()]
    good = sum(e <= share for e in errors["decoded"])
    print(f"{label} | {share:.1%} | {' | '.join(cells)} | {good} of {len(starts)}", flush=True)


def noisy_start(
    truth: Solution, X: np.ndarray, share: float, rng: np.random.Generator, *, refit: bool
) -> Solution:
    start = random_equivalent(truth, rng)
    Z = start.Z ^ (rng.random(start.Z.shape) < share)
    W = np.linalg.lstsq(Z.astype(np.float64), X, rcond=None)[0] if refit else start.W
    return Solution(Z, W)


def flipped_bits(quick: bool) -> None:
    print(
        "\n## Starts with flipped bits, tolerant hop (F = 1% of N), one decoding pass: mean E_Hamm\n"
        "W of the start: that of the equivalent solution (kept), or least squares to the flipped Z (refitted)"
    )
    print("data, W of the start | flipped | start | after the hop | decoded | at or below the flipped share")
    n_starts = 2 if quick else 6
    for share in FLIPPED_SHARES:
        for refit in (False, True):
            starts = []
            for seed in range(FIRST_SEED, FIRST_SEED + n_starts):
                rng = np.random.default_rng(seed)
                data = synthetic.images(14, 1000, (3, 6, 9, 12)[seed % 4], 0.1, rng)
                start = noisy_start(data.truth, data.X, share, rng, refit=refit)
                starts.append((start, data.X, [GaussianW(1.0)], data.truth.Z))
            flipped(f"images, {'refitted' if refit else 'kept'}", share, starts)
    for name, weeks in houses(range(FIRST_FLIPPED_SEED, FIRST_FLIPPED_SEED + (1 if quick else 5))):
        for share in FLIPPED_SHARES:
            for refit in (False, True):
                starts = []
                for n, house in enumerate(weeks):
                    rng = np.random.default_rng(FIRST_FLIPPED_SEED + n)
                    X = observe(house, noise_a=NOISE_A, rng=rng)
                    start = noisy_start(Solution(house.Z, house.W), X, share, rng, refit=refit)
                    starts.append((start, X, house_priors(house), house.Z))
                flipped(f"houses ({name}), {'refitted' if refit else 'kept'}", share, starts)


def certainty(quick: bool) -> None:
    print(
        "\n## Houses: how many equivalent solutions, and how sure the true one is (CPU seconds)\n"
        "K | candidates | number of solutions | s | support exact, smallest | s"
    )
    for K in (6, 7, 8, 10, 12):
        for seed in range(FIRST_SEED, FIRST_SEED + (1 if quick else 3)):
            house = simulated_house(seed=seed, n_appliances=K, n_points=64)
            counting, verdict = seconds(lambda h=house: diagnose(h.Z))
            start = Solution(house.Z, house.W)
            hopping, found = seconds(lambda s=start, h=house: hop(s, priors=house_priors(h)))
            size = f"{verdict.n_equivalent:.3g}"
            if not verdict.n_equivalent_is_exact:
                size += f" to {verdict.n_equivalent_at_most:.3g}"
            print(
                f"{K} | {len(verdict.candidates)} | {size} | {counting:.2f} | {found.support_is_exact}, "
                f"{found.support.min():.4f} | {hopping:.2f}",
                flush=True,
            )


def year() -> None:
    print("\n## A year of a house (K = 12, D = 64): CPU seconds")
    for days in (7.0, 365.0):
        house = simulated_house(seed=FIRST_SEED, days=days, n_appliances=12, n_points=64)
        solution = Solution(house.Z, house.W)
        X = observe(house, noise_a=NOISE_A, rng=np.random.default_rng(0))
        priors = house_priors(house)
        calls: dict[str, Callable[[], object]] = {
            "enumerate_candidates": lambda Z=house.Z: enumerate_candidates(Z),
            "diagnose": lambda Z=house.Z: diagnose(Z),
            "hop": lambda s=solution, p=priors, X=X: hop(s, priors=p, X=X),
        }
        cells = [f"{name} {seconds(call)[0]:.3f}" for name, call in calls.items()]
        print(f"N = {solution.N}: {', '.join(cells)}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer seeds and samples, a few minutes")
    quick = parser.parse_args().quick
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    print(f"# Equivalence engine on {os.cpu_count()} cores, {memory:.0f} GB; seeds from {FIRST_SEED}")
    enumeration(quick)
    speed(quick)
    images_recovered(quick)
    for name, weeks in houses(range(FIRST_SEED, FIRST_SEED + (4 if quick else 20))):
        houses_recovered(name, weeks)
    flipped_bits(quick)
    certainty(quick)
    year()


if __name__ == "__main__":
    main()
