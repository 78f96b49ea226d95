"""Experiments to files: for each its figure (SVG, PNG), its numbers (CSV) and a page beside the paper.

Each experiment is one step of the manifest in its folder, so that a run that was cut short goes on where it
stopped. An experiment measures the code itself, so the code is its input: any change of `lfm` or `nilm`
redoes it. The steps of a week are another matter: their versions are numbers that a person raises
(`nilm.versions`).
"""

import hashlib
import io
import logging
import math
from collections.abc import Sequence
from dataclasses import asdict
from functools import cache
from importlib import import_module
from numbers import Integral
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from pandas.api.types import is_bool_dtype, is_numeric_dtype

from nilm.errors import OptionError
from nilm.experiments.outcome import Outcome, Scale
from nilm.files import digest, write_text
from nilm.manifest import Step, recorded, replace_outputs, why_redo
from nilm.report.figures.svg import inline_svg
from nilm.report.rendering import render

log = logging.getLogger(__name__)

EXPERIMENTS = ("theorems", "fig1", "table2", "fig3", "beyond", "table1", "fig4")  # the quick ones first


def chosen_experiments(only: Sequence[str]) -> list[str]:
    """The experiments named in `only` (all of them if it is empty), in the order they are run."""
    unknown = [name for name in only if name not in EXPERIMENTS]
    if unknown:
        raise OptionError(f"no experiment {', '.join(unknown)}; there are {', '.join(EXPERIMENTS)}")
    return [name for name in EXPERIMENTS if not only or name in only]


@cache
def source_digest(root: Path = Path(__file__).parents[2]) -> str:
    """A digest of all files of lfm and nilm, comments and templates too: any of them may matter."""
    paths = sorted(path for room in ("lfm", "nilm") for path in (root / room).rglob("*") if path.is_file())
    marks = [
        f"{path.relative_to(root).as_posix()} {digest(path)}\n"
        for path in paths
        if path.suffix not in {".pyc", ".nbi", ".nbc"}
    ]
    return hashlib.sha256("".join(marks).encode()).hexdigest()[:16]


def run_experiment(folder: Path, name: str, scale: Scale) -> bool:
    """Whether the experiment had to be run; its files are current afterwards."""
    step = Step(
        name,
        inputs={Path(path).name: digest(Path(path)) for path in scale.extra_labels}
        | {"source": source_digest()},
        options={key: value for key, value in asdict(scale).items() if key != "extra_labels"},
    )
    manifest = folder / "manifest.json"
    reason = why_redo(manifest, step)
    if reason is None:
        log.info("%s is current", name)
        return False
    log.info("%s: %s", name, reason)
    outcome: Outcome = import_module(f"nilm.experiments.{name}").run(scale)
    replace_outputs(
        manifest,
        step,
        _files(name, outcome, scale),
        result={"title": outcome.title, "ours": outcome.ours, "quick": scale.quick},
    )
    return True


def _files(name: str, outcome: Outcome, scale: Scale) -> dict[str, bytes]:
    files = {f"{table}.csv": _csv(frame) for table, frame in outcome.tables.items()}
    if outcome.draw is not None:
        files[f"{name}.svg"] = _drawn(outcome, "svg")
        files[f"{name}.png"] = _drawn(outcome, "png")
    files[f"{name}.html"] = _page(name, outcome, scale).encode("utf-8")
    return files


def _csv(frame: pd.DataFrame) -> bytes:
    return frame.to_csv(index=False, float_format="%.6g", lineterminator="\n").encode("utf-8")


def _drawn(outcome: Outcome, form: str) -> bytes:
    assert outcome.draw is not None
    buffer = io.BytesIO()
    with mpl.rc_context({"svg.hashsalt": outcome.title, "svg.fonttype": "none"}):
        figure = Figure(figsize=(outcome.size[0] / 96, outcome.size[1] / 96), dpi=96)
        outcome.draw(figure)
        figure.savefig(buffer, format=form, dpi=144, metadata={"Date": None} if form == "svg" else None)
    return buffer.getvalue()


def _page(name: str, outcome: Outcome, scale: Scale) -> str:
    figure = None
    if outcome.draw is not None:
        figure = inline_svg(
            outcome.draw, name=name, size=outcome.size, title=outcome.title, text=outcome.figure_alt
        )
    tables = {table: _cells(frame) for table, frame in outcome.tables.items() if len(frame) <= 60}
    files = [f"{table}.csv" for table in outcome.tables]
    if outcome.draw is not None:
        files += [f"{name}.svg", f"{name}.png"]
    return render(
        "experiment.html", outcome=outcome, figure=figure, tables=tables, files=files, quick=scale.quick
    )


def _cells(frame: pd.DataFrame) -> tuple[list[tuple[str, bool]], list[list[str]]]:
    """(column's name, whether it holds numbers), and the cells as text; what is not known is a dash."""
    body = [[_cell(value) for value in row] for row in frame.itertuples(index=False)]
    columns = [
        (str(column).replace("_", " "), is_numeric_dtype(kind) and not is_bool_dtype(kind))
        for column, kind in frame.dtypes.items()
    ]
    return columns, body


def _cell(value: object) -> str:
    if value is None or value is pd.NA or value != value:  # NaN is not equal to itself
        return "–"
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    if isinstance(value, Integral):
        return f"{int(value):,}"
    if isinstance(value, float):
        return "∞" if math.isinf(value) else f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"
    return str(value)


def write_index(folder: Path) -> Path:
    """The path of the page that lists the experiments in the folder."""
    entries = []
    for name in EXPERIMENTS:
        if (folder / f"{name}.html").is_file():
            result = recorded(folder / "manifest.json", name).result
            entries.append({"href": f"{name}.html", **result})
    index = folder / "index.html"
    write_text(index, render("experiments.html", entries=entries))
    return index
