"""Conventions of the repository, held by reading its source."""

import ast
import re
import sys
import tomllib
from pathlib import Path

import pytest

import lfm

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


PUBLIC_MODULES_OF_LFM = {"lfm", "lfm.arrays", "lfm.checks", "lfm.compiled", "lfm.synthetic", "lfm.threads"}


def reaches_inside_lfm(path: Path) -> list[str]:
    """Imports of `path` that name a module of lfm which is not public, or a name that its module hides."""
    found = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names if alias.name.split(".")[0] == "lfm"]
            found += [name for name in names if name not in PUBLIC_MODULES_OF_LFM]
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "lfm":
            public = set(lfm.__all__) if node.module == "lfm" else None
            found += [
                f"{node.module}.{alias.name}"
                for alias in node.names
                if node.module not in PUBLIC_MODULES_OF_LFM
                or alias.name.startswith("_")
                or (public is not None and alias.name not in public)
            ]
    return found


@pytest.mark.parametrize("room", ["nilm", "flows"])
def test_the_other_rooms_import_only_public_names_of_lfm(room: str) -> None:
    inside = {str(m.relative_to(ROOT)): reaches_inside_lfm(m) for m in sorted((ROOT / room).rglob("*.py"))}
    assert not {m: names for m, names in inside.items() if names}


def test_an_import_that_reaches_inside_lfm_is_noticed(tmp_path: Path) -> None:
    module = tmp_path / "module.py"
    module.write_text("from lfm.hopper.walk import Walk\nfrom lfm import Prior, prior\nimport lfm.hopper\n")
    assert reaches_inside_lfm(module) == ["lfm.hopper.walk.Walk", "lfm.prior", "lfm.hopper"]


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


ROOMS_OF_DEVELOPERS = ("tests", "benchmarks")


@pytest.mark.parametrize(
    "rooms", [("lfm", "nilm", "flows"), ROOMS_OF_DEVELOPERS], ids=["users", "developers"]
)
def test_everything_imported_is_a_declared_dependency(rooms: tuple[str, ...]) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    groups = ["dask", "nilmtk"] + (["dev"] if rooms == ROOMS_OF_DEVELOPERS else [])
    extras = [name for group in groups for name in project["optional-dependencies"][group]]
    declared = {
        re.split(r"[<>=!~\[ ]", name)[0].replace("-", "_") for name in project["dependencies"] + extras
    }
    modules = [m for room in rooms for m in (ROOT / room).rglob("*.py")]
    names = set().union(*map(imported, modules)) - set(sys.stdlib_module_names)
    # Benchmarks import each other, and tests their neighbours, by the bare name of the file.
    ours = {"lfm", "nilm", "flows"} | ({m.stem for m in modules} if rooms == ROOMS_OF_DEVELOPERS else set())
    distributions = {
        "sklearn": "scikit_learn",
        "yaml": "pyyaml",
    }  # the others are called as their modules are
    names = {distributions.get(name, name) for name in names - ours}
    assert names
    assert names <= declared


def test_the_wheel_holds_every_package() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"]
    folders = [
        init.parent for room in ("lfm", "nilm", "flows") for init in (ROOT / room).rglob("__init__.py")
    ]
    assert sorted(settings["packages"]) == sorted(".".join(f.relative_to(ROOT).parts) for f in folders)


MOST_IN_A_FOLDER = 14  # about a dozen, and what a reader can still take in


def test_no_folder_holds_more_modules_than_a_reader_takes_in() -> None:
    folders: dict[str, int] = {}
    for room in ("lfm", "nilm", "flows"):
        for module in (ROOT / room).rglob("*.py"):
            folder = module.parent.relative_to(ROOT).as_posix()
            folders[folder] = folders.get(folder, 0) + 1
    assert not {f: n for f, n in folders.items() if n > MOST_IN_A_FOLDER}


LONGEST_FUNCTION = 60  # lines of code; a docstring explains and is not code, so that it does not count


def code_lines(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Lines of a function from `def` to its end, without its docstring."""
    lines = (function.end_lineno or 0) - function.lineno + 1
    if ast.get_docstring(function) is not None:
        lines -= (function.body[0].end_lineno or 0) - function.body[0].lineno + 1
    return lines


def test_no_function_is_longer_than_a_reader_takes_in() -> None:
    long = {
        f"{module.relative_to(ROOT).as_posix()} {node.name}": code_lines(node)
        for room in ("lfm", "nilm", "flows")
        for module in (ROOT / room).rglob("*.py")
        for node in ast.walk(ast.parse(module.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and code_lines(node) > LONGEST_FUNCTION
    }
    assert not long


def test_a_docstring_is_no_line_of_code() -> None:
    function = ast.parse('def f():\n    """One\n    two.\n    """\n    return 1\n').body[0]
    assert isinstance(function, ast.FunctionDef)
    assert code_lines(function) == 2


def test_every_record_of_thresholds_is_in_the_architecture() -> None:
    words = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    records = [p for room in ("lfm", "nilm") for p in (ROOT / room).rglob("thresholds.py")]
    named = [".".join(p.relative_to(ROOT).with_suffix("").parts) for p in records]
    assert named
    assert not [name for name in named if f"`{name}`" not in words]
