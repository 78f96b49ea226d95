"""Conventions of the repository, held by reading its source."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FORBIDDEN = {
    "lfm": {"nilm", "flows", "prefect", "pandas", "pyarrow", "matplotlib", "soundfile"},
    "nilm": {"flows", "prefect", "prefect_dask", "distributed"},
}


def imported(path: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            names.add(node.module.split(".")[0])
    return names


@pytest.mark.parametrize("room", FORBIDDEN)
def test_imports_point_from_flows_to_nilm_to_lfm(room: str) -> None:
    modules = sorted((ROOT / room).rglob("*.py"))
    assert modules
    wrong = {str(m.relative_to(ROOT)): imported(m) & FORBIDDEN[room] for m in modules}
    assert not {m: names for m, names in wrong.items() if names}


def test_no_module_is_longer_than_400_lines() -> None:
    rooms = ("lfm", "nilm", "flows", "tests", "benchmarks")
    long = {
        str(m.relative_to(ROOT)): n
        for room in rooms
        for m in (ROOT / room).rglob("*.py")
        if (n := len(m.read_text(encoding="utf-8").splitlines())) > 400
    }
    assert not long


def test_tests_do_not_hide_the_packages_they_test() -> None:
    assert not list((ROOT / "tests").rglob("__init__.py"))


def test_constraints_are_plain_pins() -> None:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").split()
    assert lines
    assert all(line.count("==") == 1 and "@" not in line and "/" not in line for line in lines)
