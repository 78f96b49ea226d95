"""The command line as a person meets it: help, results, and mistakes that are answered in one line."""

import csv
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from flows.cli import main, parser

COMMANDS = (
    *("simulate", "ingest", "run", "backfill", "piano", "experiments"),
    *("diagnose", "export", "name", "ungroup", "serve", "demo"),
)


def _said(capsys: pytest.CaptureFixture[str]) -> str:
    """The last line on standard error."""
    return capsys.readouterr().err.strip().splitlines()[-1]


def test_help_needs_no_heavy_import() -> None:
    code = "import sys, flows.cli; flows.cli.parser().format_help(); print(sorted(sys.modules))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert not {"numpy", "numba", "prefect", "pydantic", "rich"} & set(eval(loaded))


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        parser().parse_args([command, "--help"])
    assert ended.value.code == 0
    assert f"nilm {command}" in capsys.readouterr().out


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--version"])
    assert ended.value.code == 0
    assert re.fullmatch(r"nilm \d+\.\d+\S*\n", capsys.readouterr().out)


def test_an_unknown_house_lists_the_houses(
    roots: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", "--house", "house_9"]) == 2
    assert _said(capsys).endswith("there are house_sim")


def test_a_wrong_week(roots: tuple[Path, Path], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "--house", "house_sim", "--week", "2015-1"]) == 2
    assert "written like 2015-wk01" in _said(capsys)


def test_no_data(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["run", "--house", "house_1", "--data-root", str(tmp_path / "none")]) == 2
    assert "nilm simulate" in _said(capsys)


def test_a_wrong_estimator_lists_the_right_ones(
    roots: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", "--house", "house_sim", "--estimator", "magic"]) == 2
    assert "latent-lasso" in _said(capsys)


def test_components_that_are_no_number(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["run", "--house", "house_sim", "--components", "some"])
    assert ended.value.code == 2
    assert "a whole number above 0, or auto; got 'some'" in capsys.readouterr().err


def test_a_missing_calibration_names_the_file_and_the_remedy(
    roots: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    (roots[0] / "raw" / "house_sim" / "calibration.cfg").unlink()
    assert main(["ingest", "--house", "house_sim"]) == 1
    assert "calibration.cfg is missing; copy it" in _said(capsys)


def test_a_full_or_forbidden_disk_names_the_file(
    roots: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    (roots[0] / "locks").write_text("a file where a folder should be")
    assert main(["ingest", "--house", "house_sim"]) == 1
    assert str(roots[0] / "locks") in _said(capsys)


def test_simulate_then_ingest(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    roots = ["--data-root", str(tmp_path)]
    assert main(["simulate", "--days", "0.05", "--appliances", "2", "--fault", "missing:1", *roots]) == 0
    assert "next: nilm run --house house_sim --week 2015-wk01" in capsys.readouterr().out
    assert main(["ingest", "--house", "house_sim", *roots]) == 0
    assert "rows for 0.6% of the week in" in capsys.readouterr().out


def test_diagnose_of_a_folder_without_a_week(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diagnose", str(tmp_path)]) == 2
    assert "holds no finished week" in _said(capsys)


def test_a_grouping_is_undone_and_made_again(done_roots: tuple[Path, Path]) -> None:
    names = done_roots[0] / "names" / "house_sim.json"
    assert main(["ungroup", "--house", "house_sim", "A02"]) == 0
    assert json.loads(names.read_text())["not_parts"] == ["A02"]
    assert main(["ungroup", "--house", "house_sim", "A02", "--undo"]) == 0
    assert json.loads(names.read_text())["not_parts"] == []


def test_name_is_kept_and_checked(done_roots: tuple[Path, Path], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["name", "--house", "house_sim", "A01", "Kettle"]) == 0
    assert re.search(r"A01, so far '.+', .+ k?W", capsys.readouterr().out)
    assert '"A01": "Kettle"' in (done_roots[0] / "names" / "house_sim.json").read_text()
    assert main(["name", "--house", "house_sim", "kettle", "A01"]) == 2
    assert "written like A03" in _said(capsys)


def test_naming_what_is_not_there(done_roots: tuple[Path, Path], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["name", "--house", "house_sim", "A77", "Kettle"]) == 2
    assert "house_sim has no A77; there are A01, A02" in _said(capsys)
    assert main(["ungroup", "--house", "house_9", "A01"]) == 2
    assert "house_9 has no finished week" in _said(capsys)
    assert not (done_roots[0] / "names").exists()


def test_a_recording_or_experiment_that_is_not_there(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["piano", str(tmp_path / "none.wav")]) == 2
    assert "none.wav is not a file" in _said(capsys)
    assert main(["experiments", "--only", "fig9"]) == 2
    assert "no experiment fig9; there are" in _said(capsys)


@pytest.mark.parametrize("content", ["{}", "[]", '{"certainty": 3}', '{"certainty": {"verdict": "x"}}'])
def test_diagnose_names_a_malformed_file(
    tmp_path: Path, content: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "corrections.json").write_text(content)
    assert main(["diagnose", str(tmp_path)]) != 0
    said = capsys.readouterr().err
    assert "corrections.json is not what `nilm run` writes" in said
    assert "Traceback" not in said


def test_week_and_weeks_are_one_option_in_every_command_that_has_one() -> None:
    commands = ("simulate", "ingest --house h", "run --house h", "backfill", "export --format csv")
    for command in commands:
        asked = [parser().parse_args([*command.split(), flag, "latest"]) for flag in ("--week", "--weeks")]
        assert asked[0] == asked[1], command
        assert asked[0].weeks == "latest"


def test_a_published_week_is_exported(
    done_roots: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["export", "--format", "csv"]) == 0
    written = done_roots[1] / "export" / "house_sim.csv"
    assert f"written: {written}" in capsys.readouterr().out
    columns = next(csv.reader(written.read_text().splitlines()))
    assert columns[:3] == ["start_utc", "duration_s", "metered_w"]
    assert columns[3].startswith("A01 ")
