"""Table 1: residual and E_Reg on currents and piano, before and after the hoppers.

The paper does not state how it normalises X, so its residuals and regularisers cannot be compared as numbers;
the change in percent can. Here X is divided by the root mean square of its entries, and the residual is
printed raw and relative to ‖X‖.
"""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from lfm import MEIBP, LatentLasso, RankDeficientError, Solution, enumerate_candidates
from lfm.arrays import FloatArray
from nilm.experiments.hoppers import OURS, PAPERS, fitted, with_both
from nilm.experiments.outcome import Outcome, Scale
from nilm.music.spectra import SpectraOptions, power_spectra, read_audio
from nilm.music.tune import synthesise, tiny_tune
from nilm.recordings.tables import read_week
from nilm.simulate.house import observe, simulated_house

SEED = 5000
NOISE_A = 0.02
N_WEEKS = 3  # of either kind: whether an estimate has strict equivalents differs from week to week
MODES = {"strict": 0.0, "tolerant": 0.002}  # share of the rows that a candidate may break

# dataset, algorithm, K → the paper's residual, E_Reg before and after
PAPER = {
    ("currents", "LatentLasso", 5): (0.422, 0.692, 0.677),
    ("currents", "LatentLasso", 10): (0.247, 1.574, 1.480),
    ("piano", "LatentLasso", 20): (0.830, 0.699, 0.698),
    ("piano", "LatentLasso", 40): (0.698, 0.492, 0.491),
    ("piano", "MEIBP", 49): (0.700, 0.635, 0.625),
}


def currents(scale: Scale) -> dict[str, FloatArray]:
    """The weeks of current (N, D) at hand: simulated, summed from real cycles, and UK-DALE itself.

    A first look takes one day of one week of each kind.
    """
    days = 1.0 if scale.quick else 7.0
    cycles = Path(scale.real_data) / "appliances" / "hfhad_cycles.npz" if scale.real_data else None
    kinds: dict[str, Path | None] = {"simulated week": None}
    if cycles and cycles.is_file():
        kinds["week summed from real cycles"] = cycles
    weeks = {}
    for kind, waveforms in kinds.items():
        for seed in range(SEED, SEED + scale.pick(N_WEEKS, 1)):
            house = simulated_house(seed=seed, days=days, waveforms=waveforms)
            name = f"{kind} {seed - SEED + 1}"
            weeks[name] = observe(house, noise_a=NOISE_A, rng=np.random.default_rng(seed))
    if scale.uk_dale and Path(scale.uk_dale).is_file():
        weeks["UK-DALE house 1, 2015, week 1"] = read_week(Path(scale.uk_dale)).current_a.astype(np.float64)
    return weeks


def piano(scale: Scale) -> dict[str, FloatArray]:
    """The power spectra at hand: the paper's piece, rendered from MIDI, or else a synthesised tune."""
    piece = Path(scale.real_data) / "piano" / "bach_850.flac" if scale.real_data else None
    if piece and piece.is_file():
        samples, rate = read_audio(piece)
        name = "BWV 850, rendered"
        if scale.quick:
            samples, name = samples[: 20 * rate], "BWV 850, rendered, first 20 s"
        return {name: power_spectra(samples, rate, SpectraOptions()).power}
    return {"synthesised tune": power_spectra(synthesise(tiny_tune()), 22050, SpectraOptions()).power}


def rows(scale: Scale) -> Iterator[dict[str, object]]:
    """One row per data set, algorithm and K."""
    sets = [("currents", name, X) for name, X in currents(scale).items()]
    sets += [("piano", name, X) for name, X in piano(scale).items()]
    for family, name, X_raw in sets:
        X = X_raw / np.sqrt(np.mean(X_raw**2))
        for kind, algorithm, K in PAPER:
            if kind != family:
                continue
            estimator = MEIBP if algorithm == "MEIBP" else LatentLasso
            solution = fitted(estimator(n_components=K, random_state=SEED), X)
            scale_X = float(np.linalg.norm(X))
            paper_residual, paper_before, paper_after = PAPER[kind, algorithm, K]
            equivalent = _equivalent_columns(solution)
            for mode, tolerance in MODES.items():
                hopped = with_both(solution, X, np.random.default_rng(SEED), tolerance=tolerance)
                row: dict[str, object] = {
                    "dataset": name,
                    "algorithm": algorithm,
                    "K": solution.K,
                    "equivalent_columns": equivalent,
                    "hoppers": mode,
                    "residual": solution.residual(X),
                    "relative_residual": solution.residual(X) / scale_X,
                    "regulariser": solution.regulariser,
                }
                for label, hopper in (("paper", PAPERS), ("ours", OURS)):
                    after = hopped[hopper]
                    row[f"residual_{label}_hopper"] = after.residual(X)
                    row[f"regulariser_{label}_hopper"] = after.regulariser
                    change = after.regulariser / solution.regulariser - 1
                    row[f"change_{label}_hopper_percent"] = 100 * change
                row["paper_K"] = K
                row["paper_residual"] = paper_residual
                row["paper_change_percent"] = 100 * (paper_after / paper_before - 1)
                yield row


def _equivalent_columns(solution: Solution) -> int:
    """How many binary columns beyond those of Z its columns combine to: with none there is no strict hop."""
    try:
        return len(enumerate_candidates(solution.Z)) - solution.K
    except RankDeficientError:
        return 0  # compared as it is, see `with_both`


def run(scale: Scale) -> Outcome:
    """The table over every data set that is at hand."""
    table = pd.DataFrame(rows(scale))
    same = table[["residual_paper_hopper", "residual_ours_hopper"]].map(_four_digits)
    unchanged = same.eq(table["residual"].map(_four_digits), axis=0).all(axis=1)
    table["residual_unchanged_to_4_digits"] = unchanged
    first = [
        "dataset",
        "algorithm",
        "K",
        "equivalent_columns",
        "hoppers",
        "relative_residual",
        "paper_residual",
    ]
    changes = ["paper_change_percent", "change_paper_hopper_percent", "change_ours_hopper_percent"]
    table = table[[*first, *changes, *(c for c in table.columns if c not in {*first, *changes})]]
    strict, tolerant = (table[table["hoppers"] == mode] for mode in MODES)
    return Outcome(
        title="Table 1: regulariser before and after the hopper",
        paper="E_Reg falls by 0.2% to 6.0%; residuals do not change in 4 digits.",
        ours=(
            "Strict hoppers leave the residual unchanged to 4 digits in "
            f"{int(strict['residual_unchanged_to_4_digits'].sum())} of {len(strict)} rows; E_Reg changes by "
            f"{_range(strict, 'paper')} (the paper's, lower in {_lower(strict, 'paper')}) and "
            f"{_range(strict, 'ours')} (ours, lower in {_lower(strict, 'ours')}); in "
            f"{int((strict['equivalent_columns'] == 0).sum())} rows the estimate has no equivalent column to "
            "hop to. Tolerant ones, "
            f"which may also repair bits of Z, bring the residual down to {_residuals(tolerant, 'paper')} "
            f"(the paper's) and {_residuals(tolerant, 'ours')} (ours) of what it was."
        ),
        differs=(
            "UK-DALE cannot be had here: the currents are a simulated week and a week that we summed from "
            "real single-appliance cycles; with a copy of house 1, 2015, week 1 in data/raw it is "
            "a row of the table.",
            "The piano piece is the paper's, rendered from MIDI; the paper used a recording.",
            "The paper's normalisation of X is not stated; compare the changes in percent.",
            "Where wrong bits of an estimate leave no strict equivalent but itself, or none has a smaller "
            "E_Reg, the strict change is 0%; this differs from week to week, so there are several weeks of a "
            "kind. The paper uses a tolerance that it does not state.",
            "The paper's table may have been made without rounding: where ZU keeps entries other than 0 and "
            "1, the residual is the start's by definition, while E_Reg falls (docs/measurements.md, weeks of "
            "real habits).",
            "Our tolerant hop weighs the residual against E_Reg (Eq. 3) and keeps the sum from rising: where "
            "it explains the data much better, E_Reg may rise.",
            "Our hopper keeps |det U| = 1, so its E_Reg can stay above that of the paper's hopper.",
        ),
        tables={"table1": table},
        seeds=str(SEED),
    )


def _range(table: pd.DataFrame, label: str) -> str:
    change = table[f"change_{label}_hopper_percent"]
    return f"{change.min():.1f}% to {change.max():.1f}%"


def _lower(table: pd.DataFrame, label: str) -> str:
    lower = table[f"change_{label}_hopper_percent"] < -0.05  # percent: what Table 1 prints as −0.1% or more
    return f"{int(lower.sum())} of {len(table)} rows"


def _residuals(table: pd.DataFrame, label: str) -> str:
    share = table[f"residual_{label}_hopper"] / table["residual"]
    return f"{share.min():.2f} to {share.max():.2f}"


def _four_digits(value: float) -> str:
    return f"{value:.4g}"
