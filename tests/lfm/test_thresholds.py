"""The records of thresholds: every number says what it means and where it comes from."""

import ast
import inspect
import itertools

import pytest

from lfm.equivalence import thresholds as equivalence
from lfm.estimators import thresholds as estimators
from lfm.hopper import thresholds as hopper
from lfm.switching import thresholds as switching

RECORDS = [
    (equivalence, equivalence.BUDGETS),
    (estimators, estimators.THRESHOLDS),
    (hopper, hopper.THRESHOLDS),
    (switching, switching.THRESHOLDS),
]


@pytest.mark.parametrize(("module", "thresholds"), RECORDS, ids=lambda value: getattr(value, "__name__", ""))
def test_every_threshold_says_its_meaning_and_origin(module, thresholds):
    record = type(thresholds)
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
