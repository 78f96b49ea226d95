"""How many small mistakes the tests notice: operators and comparisons changed at random, one at a time.

python benchmarks/mutants.py [--seed 0] [--n 40] [--under lfm] [--cpu-seconds 120]

A mutant is a copy of the project in which one operator or comparison of one module is another. The test file
of that module (lfm/hopper/walk.py → tests/lfm/hopper/test_walk.py) runs on it; a mutant that no test notices
is printed. Mutants inside type annotations and in `assert` are not made: they cannot change an answer.
"""

import argparse
import ast
import importlib
import os
import random
import resource
import shutil
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[1]
COPIED = (
    "lfm",
    "nilm",
    "flows",
    "tests",
    "docs",
    "benchmarks",
    "pyproject.toml",
    "README.md",
    "CHANGELOG.md",
)
LIBRARIES = (
    "numpy",
    "numba",
    "pandas",
    "pyarrow.parquet",
    "scipy.optimize",
    "scipy.stats",
    "sklearn.decomposition",
)
SWAPS = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv,
    ast.Lt: ast.GtE,
    ast.LtE: ast.Gt,
    ast.Gt: ast.LtE,
    ast.GtE: ast.Lt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.And: ast.Or,
    ast.Or: ast.And,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.USub: ast.UAdd,
}


class Mutant(NamedTuple):
    """One changed operator."""

    module: Path  # relative to the project
    line: int
    number: int  # of the operator, in the order in which ast.walk meets them
    name: str


def places(tree: ast.Module) -> list[tuple[ast.AST, str, int]]:
    """(node, field, line) of every operator that may be changed."""
    skipped = set()
    for node in ast.walk(tree):
        hidden = [getattr(node, "annotation", None), getattr(node, "returns", None)]
        if isinstance(node, ast.Assert):
            hidden.append(node)
        skipped |= {id(inner) for one in hidden if one is not None for inner in ast.walk(one)}
    found = []
    for node in ast.walk(tree):
        field = "ops" if isinstance(node, ast.Compare) else "op"
        operator = getattr(node, field, None)
        operator = operator[0] if isinstance(operator, list) else operator
        if type(operator) in SWAPS and id(node) not in skipped:
            found.append((node, field, node.lineno))
    return found


def sample(under: str, n: int, seed: int) -> list[Mutant]:
    """N mutants of the module `under`, or of those below it that have a test file of their own."""
    everything = []
    top = [ROOT / under] if under.endswith(".py") else (ROOT / under).rglob("*.py")
    for path in sorted(top):
        module = path.relative_to(ROOT)
        if own_tests(module).exists():
            for number, (node, field, line) in enumerate(places(ast.parse(path.read_text("utf-8")))):
                operator = getattr(node, field)
                operator = operator[0] if isinstance(operator, list) else operator
                name = f"{type(operator).__name__} → {SWAPS[type(operator)].__name__}"
                everything.append(Mutant(module, line, number, name))
    return random.Random(seed).sample(everything, min(n, len(everything)))


def own_tests(module: Path) -> Path:
    """The test file that mirrors a module."""
    return ROOT / "tests" / module.parent / f"test_{module.name}"


def mutated(source: str, number: int) -> str:
    """The source with operator `number` changed."""
    tree = ast.parse(source)
    node, field, _ = places(tree)[number]
    operator = getattr(node, field)
    if isinstance(operator, list):
        operator[0] = SWAPS[type(operator[0])]()
    else:
        setattr(node, field, SWAPS[type(operator)]())
    return ast.unparse(tree)


def fails(module: Path, folder: Path, cpu_s: int) -> bool:
    """Whether the module's own tests fail, or never end, on the copy in `folder`.

    They run in a fork of this process, which has loaded all libraries but none of the project's modules.
    """
    tests = str(own_tests(module).relative_to(ROOT))
    child = os.fork()
    if child == 0:
        code = 3
        try:
            code = _run(tests, folder, cpu_s)
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) != 0


def _run(tests: str, folder: Path, cpu_s: int) -> int:
    """The exit code of pytest on a test file of the copy, with nothing printed and CPU time to spend."""
    resource.setrlimit(resource.RLIMIT_CPU, (cpu_s, cpu_s))
    os.chdir(folder)
    sys.path[:] = [str(folder), *(p for p in sys.path if p and Path(p).resolve() != ROOT)]
    os.environ["PYTHONPATH"] = str(folder)
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 1)
    os.dup2(nothing, 2)
    return int(pytest.main(["-q", "-x", "-m", "not slow", "-p", "no:cacheprovider", tests]))


def noticed(mutant: Mutant, folder: Path, cpu_s: int) -> bool:
    """Whether the module's own tests fail, or never end, on the mutant."""
    path = folder / mutant.module
    original = path.read_text("utf-8")
    stamp = path.stat()
    try:
        path.write_text(mutated(original, mutant.number), "utf-8")
        forget_compiled_callers(mutant.module, folder)
        return fails(mutant.module, folder, cpu_s)
    finally:
        path.write_text(original, "utf-8")
        os.utime(path, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))  # what was compiled before stays valid
        forget_compiled_callers(mutant.module, folder)


def forget_compiled_callers(module: Path, folder: Path) -> None:
    """Deletes the machine code of every module that imports a module with compiled functions.

    numba keeps machine code on disk for each file. It holds what the file's functions call in other files,
    and numba does not look whether those have changed: callers would run the code before the mutant, or after
    it still the mutant.
    """
    if "@compiled" not in (folder / module).read_text("utf-8"):
        return
    room = {path: path.read_text("utf-8") for path in (folder / module.parts[0]).rglob("*.py")}
    stale, waiting = set(), [folder / module]
    while waiting:
        name = ".".join(waiting.pop().relative_to(folder).with_suffix("").parts)
        importers = {path for path, text in room.items() if f"from {name} import" in text}
        waiting += importers - stale
        stale |= importers
    for path in stale:
        for code in (path.parent / "__pycache__").glob(f"{path.stem}.*.nb[ci]"):
            code.unlink()


def main() -> None:
    """Print the mutants that no test noticed, and the share that was."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--n", type=int, default=40)
    parser.add_argument("--under", default="lfm", help="a folder or a module, such as nilm/week/build.py")
    parser.add_argument("--cpu-seconds", type=int, default=120, help="after which a run counts as noticed")
    options = parser.parse_args()
    for library in LIBRARIES:
        importlib.import_module(library)
    survivors = []
    mutants = sample(options.under, options.n, options.seed)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for part in COPIED:
            source = ROOT / part
            copy = shutil.copytree if source.is_dir() else shutil.copy2
            copy(source, folder / part)
        for module in sorted({mutant.module for mutant in mutants}):
            if fails(module, folder, 10 * options.cpu_seconds):
                sys.exit(f"the tests of {module} fail without any mutant; repair them first")
        print(f"{len(mutants)} mutants; those that no test notices:", flush=True)
        for number, mutant in enumerate(mutants, start=1):
            if not noticed(mutant, folder, options.cpu_seconds):
                survivors.append(mutant)
                place = f"{mutant.module}:{mutant.line} {mutant.name}"
                print(f"not noticed: {place} ({len(survivors)} of {number})", flush=True)
    share = 1 - len(survivors) / max(len(mutants), 1)
    print(f"seed {options.seed}: {len(mutants) - len(survivors)} of {len(mutants)} noticed ({share:.0%})")


if __name__ == "__main__":
    main()
