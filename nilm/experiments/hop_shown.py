"""The hopper at work on a week with known truth: a plain baseline before and after the hop.

The product's own first solution of such a week is mostly right, so that its page shows no correction. Here a
baseline of the paper, K-features, explains two days of the same rows: well, but with appliances that are
upside down or mixed up. The hop goes to an equivalent solution with the same residual. The truth only names
and scores what was found.
"""

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment
from sklearn.exceptions import ConvergenceWarning

import lfm
from nilm.appliances.naming import overlap_score
from nilm.appliances.scores import Truth, read_truth
from nilm.disaggregate.house_priors import house_priors
from nilm.errors import OptionError
from nilm.files import read_json, write_text
from nilm.recordings.tables import read_week
from nilm.report import palette, strips, when
from nilm.report.page import environment
from nilm.report.panels import Panels
from nilm.results import Correction, FloatArray, TimeArray

DAYS = 2  # more rows leave fewer equivalents: a plain estimate has wrong bits in most weeks
EVERY = 4  # points of the cycle: a quarter of them holds the shapes
STARTS = 4  # of K-features; the one that fits best is kept, as its users do
LEAST_GAIN = 0.05  # see Line.gain: a smaller one needs no picture
UPSIDE_DOWN_W = -10.0  # a feature below this has negative watts beyond noise
MOST_PICTURES = 6
MAINS_HZ = 50.0

BoolColumns = NDArray[np.uint8]  # (N, K)


@dataclass(frozen=True)
class Rows:
    """The times of the rows shown."""

    start_utc: TimeArray
    duration_s: FloatArray


@dataclass(frozen=True)
class Line:
    """One true appliance and what stands for it before and after the hop."""

    name: str
    true_w: float
    watts_before: float
    watts_after: float
    f1_before: float
    f1_after: float
    f1_product: float | None  # of the product's own answer, over the whole week

    @property
    def was_upside_down(self) -> bool:
        """Whether the hop turned it: negative watts before, positive after."""
        return self.watts_before < UPSIDE_DOWN_W and self.watts_after > 0

    @property
    def gain(self) -> float:
        """How much nearer to the truth its watts and states are: a share of its watts, and F1."""
        nearer_w = abs(self.watts_before - self.true_w) - abs(self.watts_after - self.true_w)
        return nearer_w / (abs(self.true_w) or 1.0) + self.f1_after - self.f1_before


@dataclass(frozen=True)
class Shown:
    """What the page says, in numbers."""

    lines: tuple[Line, ...]
    residual_before: float  # ‖X − ZW‖ of the baseline
    residual_after: float
    hamming_before: float
    hamming_after: float
    upside_down_before: int  # features with negative watts
    upside_down_after: int


def show_hop(waveforms: Path, truth_path: Path, scores: Path, page: Path) -> Shown:
    """The numbers of `page`, after it is written, for the week in `waveforms` with its simulator's truth.

    `scores` is the week's scores.json; OptionError if the week has fewer than two rows with a known truth.
    """
    week = read_week(waveforms)
    first = np.flatnonzero(week.start_utc < week.start_utc[0] + np.timedelta64(DAYS, "D"))
    known = read_truth(truth_path, week.measured_utc[first], interval_s=week.interval_s).known
    table = week.take(first[known])
    if len(table) < 2:
        raise OptionError(f"{waveforms} and {truth_path} share too few rows to show the hopper at work")
    rows = Rows(table.start_utc, table.duration_s)
    truth = read_truth(truth_path, table.measured_utc, interval_s=week.interval_s)
    X = table.current_a[:, ::EVERY].astype(np.float64)
    voltage_v = table.voltage_v[:, ::EVERY].astype(np.float64).mean(axis=0)
    before = _baseline(X, len(truth.names))
    priors, _ = house_priors(table.gap_before, voltage_v, feeds_in=False)
    after = lfm.hop(before, priors=priors, X=X).solution
    shown, pairs = _compared(before, after, X, voltage_v, truth, rows, _product_scores(scores))
    pictures = _pictures(shown, pairs, (before, after), truth, rows, voltage_v)
    content = environment().get_template("hop_shown.html")
    write_text(page, content.render(shown=shown, pictures=pictures, days=DAYS))
    return shown


def _baseline(X: FloatArray, K: int) -> lfm.Solution:
    """K-features' best of a few starts."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # a plain baseline is what is wanted
        found = [lfm.KFeatures(n_components=K, random_state=s).fit(X).solution_ for s in range(STARTS)]
    return min(found, key=lambda solution: float(np.linalg.norm(solution.residual(X))))


def _product_scores(path: Path) -> Mapping[str, float]:
    """F1 of the product's own answer by the true appliance's name."""
    content = read_json(path) if path.is_file() else {}
    return {str(row["truth_name"]): float(row["f1"]) for row in content.get("appliances", [])}


def _f1(found: BoolColumns, true: BoolColumns) -> FloatArray:
    """(K, T) F1 of each found column against each true one."""
    both = found.T.astype(np.float64) @ true.astype(np.float64)
    sizes = found.sum(axis=0, dtype=np.int64)[:, None] + true.sum(axis=0, dtype=np.int64)[None, :]
    return np.asarray(2 * both / np.maximum(sizes, 1))


def _compared(
    before: lfm.Solution,
    after: lfm.Solution,
    X: FloatArray,
    voltage_v: FloatArray,
    truth: Truth,
    rows: Rows,
    product: Mapping[str, float],
) -> tuple[Shown, list[tuple[int, int, int]]]:
    """The numbers, and (true appliance, feature before, feature after) of each line.

    A feature after the hop stands for the appliance whose power it overlaps most, one-to-one; the feature
    before it is the one with the same on and off times, upright or upside down.
    """
    watts = [solution.W @ voltage_v / len(voltage_v) for solution in (before, after)]
    ran = np.flatnonzero(truth.Z.any(axis=0))
    power_w = after.Z * watts[1]
    overlap = np.array(
        [[overlap_score(p, truth.power_w[:, k], rows.duration_s) for p in power_w.T] for k in ran]
    )
    f1 = [_f1(solution.Z, truth.Z) for solution in (before, after)]
    alike = np.maximum(_f1(before.Z, after.Z), _f1(1 - before.Z, after.Z))
    pairs = [
        (int(ran[k]), int(np.argmax(alike[:, j])), int(j))
        for k, j in zip(*linear_sum_assignment(-overlap), strict=True)
    ]
    lines = tuple(
        Line(
            truth.names[k],
            float(truth.power_w[truth.Z[:, k] > 0, k].mean()),
            float(watts[0][i]),
            float(watts[1][j]),
            float(f1[0][i, k]),
            float(f1[1][j, k]),
            product.get(truth.names[k]),
        )
        for k, i, j in pairs
    )
    shown = Shown(
        lines=lines,
        residual_before=float(np.linalg.norm(before.residual(X))),
        residual_after=float(np.linalg.norm(after.residual(X))),
        hamming_before=float(lfm.hamming_error(before.Z, truth.Z)),
        hamming_after=float(lfm.hamming_error(after.Z, truth.Z)),
        upside_down_before=int(np.sum(watts[0] < UPSIDE_DOWN_W)),
        upside_down_after=int(np.sum(watts[1] < UPSIDE_DOWN_W)),
    )
    return shown, pairs


def _pictures(
    shown: Shown,
    pairs: list[tuple[int, int, int]],
    solutions: tuple[lfm.Solution, lfm.Solution],
    truth: Truth,
    rows: Rows,
    voltage_v: FloatArray,
) -> list[tuple[Line, Markup, list[tuple[str, Markup]]]]:
    """The lines that gained most, each with its current before and after and three strips of its states."""
    panels = Panels(voltage_v, mains_hz=MAINS_HZ)
    window = when.Window(rows.start_utc.min().astype("datetime64[D]").astype("datetime64[s]"), DAYS)
    changed = [n for n, line in enumerate(shown.lines) if line.gain > LEAST_GAIN]
    pictures = []
    for n in sorted(changed, key=lambda n: -shown.lines[n].gain)[:MOST_PICTURES]:
        line, (k, i, j) = shown.lines[n], pairs[n]
        before, after = solutions
        correction = Correction(
            "", "", "", line.watts_before, line.watts_after, before.W[i], after.W[j], before.Z[:, i]
        )
        columns = (("before", before.Z[:, i]), ("after", after.Z[:, j]), ("truth", truth.Z[:, k]))
        drawn = [
            (
                label,
                strips.row(
                    strips.on_stretches(on, rows, window), (), window, colour=n, label=f"{line.name}, {label}"
                ),
            )
            for label, on in columns
        ]
        waveform = panels.before_after(correction, who=line.name, colour=n, name=f"hop-{n}")
        pictures.append((line, palette.style_of(n).swatch, [("waveform", waveform), *drawn]))
    return pictures
