from pathlib import Path

import numpy as np
import pytest

from nilm.errors import InputFileError
from nilm.experiments import table2
from nilm.experiments.outcome import Scale


def test_the_papers_counts_come_out_of_the_real_label_matrices(real_data: Path) -> None:
    table = table2.run(Scale(real_data=str(real_data))).tables["table2"].set_index("dataset")
    for name in ("scene-classification", "siam-competition2007", "yeast"):
        assert table.loc[name, "pdc_pairs"] == table.loc[name, "paper_pdc_pairs"]
        assert table.loc[name, "N"] == table.loc[name, "paper_N"]
    assert table.loc["rcv1v2 (topics)", "pdc_pairs"] == 3260


def test_errata_e11_the_papers_average_is_not_that_of_its_table() -> None:
    printed = (0.609, 0.665, 0.946, 0.963, 0.533, 0.061, 0.088)
    assert table2.papers_mean_share() == pytest.approx(sum(printed) / 7, abs=0.001)
    assert abs(table2.papers_mean_share() - 0.573) > 0.02


def test_without_real_data_the_table_says_what_is_missing() -> None:
    outcome = table2.run(Scale())
    assert outcome.tables["table2"]["pdc_pairs"].isna().all()
    assert "yeast" in outcome.ours


def test_csv_and_libsvm_files_of_a_user_give_the_same_matrix(tmp_path: Path) -> None:
    Z = np.array([[1, 0, 1], [0, 0, 0], [0, 1, 0]], dtype=np.uint8)
    (tmp_path / "a.csv").write_text("x,y,z\n1,0,1\n0,0,0\n0,1,0\n", encoding="utf-8")
    (tmp_path / "b.csv").write_text("1,0,1\n0,0,0\n0,1,0\n", encoding="utf-8")
    (tmp_path / "c.svm").write_text("10,2 1:0.5 7:1\n 1:0.25\n5 3:1\n", encoding="utf-8")
    assert (table2.read_labels(tmp_path / "a.csv") == Z).all()
    assert (table2.read_labels(tmp_path / "b.csv") == Z).all()
    assert (table2.read_labels(tmp_path / "c.svm") == Z[:, [0, 1, 2]]).all()
    outcome = table2.run(Scale(extra_labels=(str(tmp_path / "a.csv"),)))
    assert outcome.tables["table2"].iloc[-1]["pdc_pairs"] == 3


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.csv", "1,2\n0,1\n", "only 0 and 1"),
        ("b.csv", "1,0\n0\n", "not a label matrix"),
        ("c.svm", "cat,dog 1:2\n", "line 1 starts with 'cat,dog'"),
        ("d.svm", "1:2 3:4\n", "no line carries a label"),
    ],
)
def test_a_file_that_is_no_label_matrix_is_named(tmp_path: Path, name: str, text: str, message: str) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(InputFileError, match=message) as error:
        table2.read_labels(tmp_path / name)
    assert name in str(error.value)
