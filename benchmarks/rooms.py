"""The shape of the code in numbers: folders, imports, long functions, files with thresholds, lines, tests.

    python benchmarks/rooms.py [COMMIT ...]

One column for each commit, and one for the files as they are now. Everything is read from the source; nothing
is imported. The longest chain is the longest way from module to module along imports (imports inside
functions and for type checkers count too). A test is a function, whatever the number of its parameters.
A number in capitals may be a threshold, a size or a unit; where a file compares with it, it decides
something, unless it is listed as a unit, a format or a size below. A record of thresholds says what each of
its numbers decides.
"""

import argparse
import ast
import io
import subprocess
import tarfile
import tempfile
from collections import Counter
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
ROOMS = ("lfm", "nilm", "flows")
# Numbers that a file compares with, and that are no thresholds: nothing is to choose, or no answer changes.
GIVEN = {
    "flows.artifacts": ("_SMALLEST_MOVE", "percent between two updates of a progress bar"),
    "flows.command_line.embedded": ("LEAST_FREE_BYTES", "room that a database needs"),
    "flows.command_line.serve": ("MAX_FORM_BYTES MOST_PORT", "size of a request, numbers of ports"),
    "flows.job_order": ("MOST_LOSSES", "how often a job whose process died is tried again"),
    "nilm.appliances.catalogue.records": ("SUMMARY_POINTS", "points of a stored waveform"),
    "lfm.checks": ("LARGEST SMALLEST", "whose powers leave float64"),
    "nilm.experiments.fig1": ("N_FEATURES", "the K of Figure 1"),
    "nilm.experiments.fig3": ("K", "the K of Figure 3"),
    "nilm.recordings.flac.frames": ("PADDING INDEPENDENT LEFT_SIDE MID_SIDE RIGHT_SIDE", "the FLAC format"),
    "nilm.recordings.flac.windows": ("_SEEKTABLE _STREAMINFO", "the FLAC format"),
    "nilm.recordings.ukdale": (
        "HOUR_S _LAST_S FIRST_WEEK LAST_WEEK",
        "a unit, times of a name",
    ),
    "nilm.recordings.waveforms": ("RATE_HZ CHANNELS FULL_SCALE", "the format of a recording"),
    "nilm.report.when": ("DAY_S", "a unit"),
    "nilm.simulate.device.flac": ("_LEAST", "the FLAC format"),
}
LONG = 60  # lines of a function; its docstring explains it and does not count


def sources(root: Path, *folders: str) -> dict[str, ast.Module]:
    """The modules below the folders by their dotted name."""
    found = {}
    for folder in folders:
        for path in sorted((root / folder).rglob("*.py")):
            parts = path.relative_to(root).with_suffix("").parts
            name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
            found[name] = ast.parse(path.read_text(encoding="utf-8"))
    return found


def imports(modules: dict[str, ast.Module]) -> dict[str, set[str]]:
    """For each module those of ours that it names; a name of a package stands for the package."""
    graph: dict[str, set[str]] = {}
    for name, tree in modules.items():
        named: set[str] = set()
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                named |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                named |= {f"{node.module}.{alias.name}" for alias in node.names} | {node.module}
        graph[name] = {n for n in named if n in modules and n != name}
        # `from a import b` where b is a module names both; the package itself is then only on the way.
        graph[name] -= {n for n in graph[name] if any(m.startswith(f"{n}.") for m in graph[name])}
    return graph


def longest_chain(graph: dict[str, set[str]]) -> list[str]:
    """The longest chain of imports; a module that leads back to itself is followed once."""
    way: set[str] = set()

    @cache
    def chain(name: str) -> tuple[str, ...]:
        way.add(name)
        after = [chain(n) for n in sorted(graph[name]) if n not in way]
        way.discard(name)
        return (name, *max(after, key=len, default=()))

    return list(max((chain(name) for name in graph), key=len))


def is_number(node: ast.expr | None) -> bool:
    """Whether an expression is made of numbers alone."""
    allowed = (ast.Constant, ast.UnaryOp, ast.BinOp, ast.operator, ast.unaryop, ast.Tuple, ast.Load)
    parts = list(ast.walk(node)) if node is not None else []
    constants = [p.value for p in parts if isinstance(p, ast.Constant)]
    numbers = all(isinstance(c, int | float) and not isinstance(c, bool) for c in constants)
    return bool(constants) and numbers and all(isinstance(p, allowed) for p in parts)


def records(tree: ast.Module) -> int:
    """How many records of thresholds a module holds."""
    names = [node.name for node in tree.body if isinstance(node, ast.ClassDef)]
    return sum(name.endswith(("Thresholds", "Budgets")) for name in names)


def numbers(tree: ast.Module) -> set[str]:
    """The names in capitals that are numbers."""
    found = set()
    for node in tree.body:
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        if is_number(getattr(node, "value", None)):
            names = [n for t in targets if t is not None for n in ast.walk(t) if isinstance(n, ast.Name)]
            found |= {n.id for n in names if n.id.isupper()}
    return found


def decides(tree: ast.Module) -> set[str]:
    """The numbers in capitals of a module that it compares something with, outside of any record."""
    compared = {
        inner.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Compare)
        for inner in ast.walk(node)
        if isinstance(inner, ast.Name)
    }
    return numbers(tree) & compared


def thresholds(modules: dict[str, ast.Module]) -> dict[str, set[str]]:
    """For each module with thresholds: those outside of records; none where it holds records alone."""
    found = {}
    for name, tree in modules.items():
        own = decides(tree) - set(GIVEN.get(name, ("",))[0].split())
        if own or records(tree):
            found[name] = own
    return found


def code_lines(function: ast.FunctionDef) -> int:
    """Lines of a function without its docstring."""
    lines = (function.end_lineno or 0) - function.lineno + 1
    if ast.get_docstring(function) is not None:
        lines -= (function.body[0].end_lineno or 0) - function.body[0].lineno + 1
    return lines


def measures(root: Path) -> dict[str, str]:
    """The rows of the table for one state of the code."""
    modules = sources(root, *ROOMS)
    tests = sources(root, "tests")
    graph = imports(modules)
    folders = Counter(
        str(path.parent.relative_to(root)) for room in ROOMS for path in (root / room).rglob("*.py")
    )
    importers = Counter(n for named in graph.values() for n in named)
    functions = [
        node
        for tree in modules.values()
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef) and code_lines(node) > LONG
    ]
    lines = {
        room: sum(len(path.read_text("utf-8").splitlines()) for path in (root / room).rglob("*.py"))
        for room in (*ROOMS, "tests", "benchmarks")
    }
    n_tests = sum(
        isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
        for tree in tests.values()
        for node in ast.walk(tree)
    )
    largest = folders.most_common(5)
    return {
        "modules": str(sum(folders.values())),
        "folders": str(len(folders)),
        "largest folders": ", ".join(f"{folder} {n}" for folder, n in largest),
        "longest chain of imports": str(len(longest_chain(graph))),
        "modules with one importer": str(sum(n == 1 for n in importers.values())),
        f"functions over {LONG} lines": str(len(functions)),
        "files with a number in capitals": str(sum(bool(numbers(tree)) for tree in modules.values())),
        "files that compare with one of their own": str(
            sum(bool(decides(tree)) for tree in modules.values())
        ),
        "files with thresholds": str(len(thresholds(modules))),
        "records of thresholds": str(sum(records(tree) for tree in modules.values())),
        "lines of code": f"{sum(lines[room] for room in ROOMS):,}",
        "lines of tests, of benchmarks": f"{lines['tests']:,}, {lines['benchmarks']:,}",
        "test functions": f"{n_tests:,}",
    }


def at_commit(commit: str) -> dict[str, str]:
    """The measures of a commit."""
    archive = subprocess.run(
        ["git", "-C", str(ROOT), "archive", commit], check=True, capture_output=True
    ).stdout
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
            tar.extractall(folder, filter="data")
        return measures(Path(folder))


def main(commits: list[str]) -> None:
    columns = {commit: at_commit(commit) for commit in commits} | {"now": measures(ROOT)}
    print(f"| | {' | '.join(columns)} |")
    print("| --- |" + " --- |" * len(columns))
    for row in columns["now"]:
        print(f"| {row} | {' | '.join(column[row] for column in columns.values())} |")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("commits", nargs="*", metavar="COMMIT")
    main(parser.parse_args().commits)
