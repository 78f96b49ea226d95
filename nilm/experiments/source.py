"""The version of an experiment: a digest of the source it runs.

An experiment measures the code itself, so a change of code is a change of its input. The steps of a week are
another matter: their versions are numbers that a person raises (`nilm.versions`).
"""

import ast
import hashlib
import threading
from functools import lru_cache
from pathlib import Path

from nilm.files import digest

ROOMS = ("lfm", "nilm")
_ROOT = Path(__file__).parents[2]

# Python 3.11's parser is not safe to use from several threads at once, and tasks run in threads.
_parsing = threading.Lock()


def source_digest(module: str) -> str:
    """A digest of the source of `module` and of all that it imports, directly or not, from lfm and nilm.

    Comments count: a digest cannot tell what matters. A package's other files (templates) count with its
    `__init__.py`.
    """
    with _parsing:
        return _source_digest(module)


@lru_cache
def _source_digest(module: str) -> str:
    unread = [module]
    files: dict[str, Path] = {}
    while unread:
        name = unread.pop()
        path = _source(name)
        if path is None or name in files:
            continue
        files[name] = path
        if path.name == "__init__.py" and name not in ROOMS:
            files |= {f"{name}:{p.name}": p for p in path.parent.rglob("*") if _is_template(p)}
        unread += _imports(name, path)
    total = hashlib.sha256()
    for name, path in sorted(files.items()):
        total.update(f"{name} {digest(path)}\n".encode())
    return total.hexdigest()[:16]


def _source(module: str) -> Path | None:
    """The file of a module of ours; None for a name that is no module (a function, another package)."""
    if module.split(".")[0] not in ROOMS:
        return None
    base = _ROOT.joinpath(*module.split("."))
    return next((p for p in (base.with_suffix(".py"), base / "__init__.py") if p.is_file()), None)


def _is_template(path: Path) -> bool:
    return path.is_file() and path.suffix not in {".py", ".pyc", ".nbi", ".nbc"}


def _imports(module: str, path: Path) -> list[str]:
    """The names that a module may import; `from a import b` gives `a` and `a.b`, for b may be a module."""
    names = [module.rpartition(".")[0]]  # importing a.b runs a's __init__ first
    stub = path.with_suffix(".pyi")  # lists what a package loads late, in imports relative to it
    listing = stub if stub.is_file() else path
    for node in ast.walk(ast.parse(listing.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and (node.module or node.level):
            home = ".".join(([module] if node.level else []) + ([node.module] if node.module else []))
            names += [home, *(f"{home}.{alias.name}" for alias in node.names)]
    return names
