"""What the pages say of the code is so: names that they print exist, and their programs run."""

import ast
import importlib
import re
from pathlib import Path

import pytest

import lfm
from nilm.week.files import ACTIVATION_COLUMNS, APPLIANCE_COLUMNS
from nilm.week.tables import POWER

ROOT = Path(__file__).parents[1]
ARCHITECTURE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
NOTES = (ROOT / "docs" / "paper-notes.md").read_text(encoding="utf-8")
README = (ROOT / "README.md").read_text(encoding="utf-8")
PAGES = [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").rglob("*.md"))]


def quoted(text: str, pattern: str) -> list[str]:
    """Every text in backquotes that matches `pattern` whole, each once, in order."""
    return list(dict.fromkeys(q for q in re.findall(r"`([^`\n]+)`", text) if re.fullmatch(pattern, q)))


def resolve(dotted: str) -> object:
    """The module, class, function or field that `dotted` names; AttributeError if there is none."""
    names = dotted.split(".")
    found: object = importlib.import_module(names[0])
    for n, name in enumerate(names[1:], start=2):
        if hasattr(found, name):
            found = getattr(found, name)
        elif name in getattr(found, "__dataclass_fields__", {}):
            return name
        else:
            try:
                found = importlib.import_module(".".join(names[:n]))
            except ModuleNotFoundError as error:
                raise AttributeError(f"there is no {dotted}") from error
    return found


def map_of_the_paper() -> list[tuple[str, str, str]]:
    """(item of the paper, functions, tests) of each row of the map."""
    section = NOTES.split("## Where each part of the paper lives")[1].split("\n## ")[0]
    rows = [re.split(r"(?<!\\)\|", line)[1:-1] for line in section.splitlines() if line.startswith("|")]
    return [(item.strip(), functions, tests) for item, functions, tests in rows[2:]]


@pytest.mark.parametrize("name", quoted(NOTES, r"(lfm|nilm)(\.\w+)+(\([^)]*\))?"))
def test_every_name_in_the_notes_exists(name: str) -> None:
    assert resolve(name.split("(")[0]) is not None


@pytest.mark.parametrize("name", quoted(ARCHITECTURE, r"(lfm|nilm|flows)(\.\w+)+"))
def test_every_name_in_the_architecture_exists(name: str) -> None:
    assert resolve(name) is not None


@pytest.mark.parametrize("page", [ARCHITECTURE, CONTRIBUTING], ids=["architecture", "contributing"])
def test_every_folder_and_file_that_a_page_names_exists(page: str) -> None:
    named = quoted(page, r"(lfm|nilm|flows|tests|docs|benchmarks)(/[\w.]+)+")
    assert named
    assert not [name for name in named if not (ROOT / name).exists()]


def test_every_folder_of_code_is_in_the_architecture() -> None:
    """By its path, or by its name in the row of the folder that it lies in."""
    rows = [line for line in ARCHITECTURE.splitlines() if line.startswith("| `")]
    folders = {
        path.parent.relative_to(ROOT)
        for room in ("lfm", "nilm", "flows")
        for path in (ROOT / room).rglob("*.py")
    }
    deep = [folder for folder in folders if len(folder.parts) > 1]
    missing = [
        folder.as_posix()
        for folder in deep
        if not any(
            f"`{folder.as_posix()}`" in row
            or (f"`{folder.parent.as_posix()}`" in row and f"`{folder.name}`" in row)
            for row in rows
        )
    ]
    assert not missing


@pytest.mark.parametrize("name", quoted(NOTES, r"\S*test_\w+\.py(::\w+)?"))
def test_every_test_in_the_notes_exists(name: str) -> None:
    file, _, function = name.partition("::")
    path = ROOT / file if file.startswith("tests/") else next((ROOT / "tests" / "lfm").rglob(file))
    tree = ast.parse(path.read_text(encoding="utf-8"))
    tests = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    assert not function or function in tests


def test_every_numbered_item_of_the_paper_has_a_function_and_a_test() -> None:
    rows = map_of_the_paper()
    items = "; ".join(item for item, _, _ in rows)
    numbered = {"Eq.": 10, "Theorem": 6, "Algorithm": 2, "Definition": 1, "Fig.": 4, "Table": 2}
    missing = [
        f"{word} {n}"
        for word, last in numbered.items()
        for n in range(1, last + 1)
        if not re.search(rf"{re.escape(word)} {n}\b", items)
    ]
    assert not missing
    assert not [item for item, functions, tests in rows if "`" not in functions or "test_" not in tests]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_to_files_lead_somewhere(page: Path) -> None:
    targets = re.findall(r"\]\(([^)#\s]+)", page.read_text(encoding="utf-8"))
    lost = [t for t in targets if "://" not in t and not (page.parent / t).exists()]
    assert not lost


def test_the_page_of_outputs_lists_the_columns_as_they_are() -> None:
    page = (ROOT / "docs" / "outputs.md").read_text(encoding="utf-8")

    def columns(heading: str) -> list[str]:
        section = page.split(f"## {heading}\n")[1].split("\n## ")[0]
        first_cells = [line.split("|")[1] for line in section.splitlines() if line.startswith("| `")]
        return [name for cell in first_cells for name in re.findall(r"`(\w+)`", cell)]

    assert columns("power.parquet") == POWER.names
    assert columns("appliances.csv") == list(APPLIANCE_COLUMNS)
    assert columns("activations.csv and activations.parquet") == list(ACTIVATION_COLUMNS)


def test_the_program_in_the_readme_runs_as_printed(capsys: pytest.CaptureFixture[str]) -> None:
    programs = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)
    assert programs
    for program in programs:
        exec(compile(program, "README.md", "exec"), {})
        assert capsys.readouterr().out


@pytest.mark.parametrize(
    "page", sorted((ROOT / "docs" / "tutorials").glob("*.md")), ids=lambda page: page.stem
)
def test_a_tutorial_runs_as_printed(page: Path, capsys: pytest.CaptureFixture[str]) -> None:
    blocks = re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    assert blocks
    exec(compile("\n".join(blocks), page.name, "exec"), {"__name__": page.stem})
    assert capsys.readouterr().out


def test_the_api_page_lists_every_public_name() -> None:
    listed = re.findall(
        r"^::: (\S+)$", (ROOT / "docs" / "api.md").read_text(encoding="utf-8"), flags=re.MULTILINE
    )
    assert sorted(listed) == sorted(f"lfm.{name}" for name in lfm.__all__ if not name.startswith("__"))
