"""The records of thresholds: every number says what it means and where it comes from."""

import ast
import itertools
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
MODULES = sorted(path for room in ("lfm", "nilm") for path in (ROOT / room).rglob("thresholds.py"))
RECORDS = [
    pytest.param(node, id=node.name)
    for path in MODULES
    for node in ast.parse(path.read_text(encoding="utf-8")).body
    if isinstance(node, ast.ClassDef)
]


@pytest.mark.parametrize("record", RECORDS)
def test_every_threshold_says_its_meaning_and_origin(record: ast.ClassDef) -> None:
    fields = [node.target.id for node in record.body if isinstance(node, ast.AnnAssign)]
    words = {
        field.target.id: text.value.value
        for field, text in itertools.pairwise(record.body)
        if isinstance(field, ast.AnnAssign) and isinstance(text, ast.Expr)
    }
    assert fields
    assert list(words) == fields
    if "Origin:" not in (ast.get_docstring(record) or ""):  # of all fields that do not say another
        assert not [name for name, text in words.items() if "Origin:" not in text]


def test_thresholds_lie_in_four_modules_at_the_most() -> None:
    assert 0 < len(MODULES) <= 4
