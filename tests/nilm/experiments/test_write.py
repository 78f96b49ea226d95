import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from nilm.errors import OptionError
from nilm.experiments import fig1, fig3, theorems
from nilm.experiments.outcome import Scale
from nilm.experiments.write import _cell, chosen_experiments, run_experiment, source_digest, write_index
from nilm.report.figures.svg import inline_svg


def test_the_theorems_hold_as_diagnose_sees_them() -> None:
    outcome = theorems.run(Scale())
    assert outcome.tables["theorems"]["agrees"].all()
    transfers = outcome.tables["theorems_transfers"]
    assert (transfers["ZU_corrected"] == "binary").all()
    printed_otherwise = transfers.loc[transfers["ZU_as_printed"] != "the same matrix", "ZU_as_printed"]
    assert (printed_otherwise == "not binary").all()  # erratum E4


def test_figure_1_brute_force_and_diagnose_count_the_same() -> None:
    table = fig1.run(Scale()).tables["fig1"].set_index("case")
    assert (table["equivalent_up_to_order"] == table["diagnose_n_equivalent"]).all()
    assert table.loc["identifiable", "equivalent_up_to_order"] == 1
    assert table.loc["non-identifiable", "equivalent_up_to_order"] > 1


def test_figure_3_converges_to_the_papers_counts() -> None:
    rows = pd.DataFrame(fig3.trials([100], 4)).groupby("panel")["n_equivalent"].median()
    assert rows["i.i.d."] == 1
    assert rows["bias"] == 112
    assert rows["1 PDC"] == 3


def test_files_of_an_experiment_and_a_second_run_that_does_nothing(tmp_path: Path) -> None:
    assert run_experiment(tmp_path, "theorems", Scale(quick=True))
    index = write_index(tmp_path)
    assert "theorems.html" in index.read_text(encoding="utf-8")
    page = (tmp_path / "theorems.html").read_text(encoding="utf-8")
    assert "What differs, and why" in page
    written = pd.read_csv(tmp_path / "theorems.csv")
    assert len(written) == len(theorems.CASES)
    before = {p.name: p.stat().st_mtime_ns for p in tmp_path.iterdir()}
    assert not run_experiment(tmp_path, "theorems", Scale(quick=True))
    assert {p.name: p.stat().st_mtime_ns for p in tmp_path.iterdir()} == before
    (tmp_path / "theorems.csv").unlink()
    assert run_experiment(tmp_path, "theorems", Scale(quick=True))
    assert (tmp_path / "theorems.csv").is_file()


def test_figures_are_written_as_svg_and_png(tmp_path: Path) -> None:
    run_experiment(tmp_path, "fig1", Scale(quick=True))
    assert (tmp_path / "fig1.png").read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / "fig1.svg").read_text(encoding="utf-8").startswith("<?xml")
    assert 'role="img"' in (tmp_path / "fig1.html").read_text(encoding="utf-8")


def test_an_unknown_experiment_is_answered_with_what_there_is() -> None:
    with pytest.raises(OptionError, match=r"no experiment fig9; there are .*fig3"):
        chosen_experiments(["fig9"])
    assert chosen_experiments(["fig3", "fig1"]) == ["fig1", "fig3"]


def test_box_plots_are_readable_on_a_dark_page() -> None:
    rows = pd.DataFrame(fig3.trials([12, 40], 2))
    svg = inline_svg(
        lambda figure: fig3._draw(figure, rows, [12, 40]), name="f", size=(900, 300), title="t", text="d"
    )
    assert "mathdefault" not in svg  # powers of ten are not printed as raw mathematics
    assert "#000000" not in svg  # black lines would vanish


def test_cells_are_read_by_people() -> None:
    shown = [
        _cell(value) for value in (True, np.bool_(False), 15163, 1.5163e4, 0.12345, math.inf, math.nan, "a")
    ]
    assert shown == ["yes", "no", "15,163", "15,163", "0.1235", "∞", "–", "a"]


def test_any_change_of_the_code_is_another_input(tmp_path: Path) -> None:
    for room in ("lfm", "nilm"):
        (tmp_path / room).mkdir()
        (tmp_path / room / "__init__.py").write_text("")
    first = source_digest(tmp_path)
    (tmp_path / "lfm" / "__init__.nbi").write_text("compiled")
    source_digest.cache_clear()
    assert source_digest(tmp_path) == first
    (tmp_path / "nilm" / "page.html").write_text("a template")
    source_digest.cache_clear()
    assert source_digest(tmp_path) != first
