"""The records of thresholds: every number says what it means and where it comes from."""

import ast
import inspect
import itertools

import pytest

from lfm.hopper import thresholds as hopper
from lfm.switching import thresholds as switching


@pytest.mark.parametrize("module", [hopper, switching], ids=lambda module: module.__name__)
def test_every_threshold_says_its_meaning_and_origin(module):
    record = type(module.THRESHOLDS)
    (body,) = [
        node.body
        for node in ast.parse(inspect.getsource(module)).body
        if isinstance(node, ast.ClassDef) and node.name == record.__name__
    ]
    words = {
        field.target.id: text.value.value
        for field, text in itertools.pairwise(body)
        if isinstance(field, ast.AnnAssign) and isinstance(text, ast.Expr)
    }
    assert list(words) == list(record._fields)
    assert not [name for name, text in words.items() if "Origin:" not in text]
