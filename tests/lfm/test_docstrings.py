"""Every public name explains itself, and its example runs."""

import doctest
import inspect

import pytest

import lfm

OBJECTS = {f"lfm.{name}": getattr(lfm, name) for name in lfm.__all__ if name != "__version__"}
NAMES = sorted(name for name, found in OBJECTS.items() if not inspect.ismodule(found))


@pytest.mark.parametrize("name", NAMES)
def test_the_docstring_has_its_sections(name: str) -> None:
    found = OBJECTS[name]
    text = inspect.getdoc(found) or ""
    assert "Examples\n--------" in text
    if inspect.isfunction(found):
        parameters = text.split("Parameters\n----------")[1].split("\n\n")[0]
        assert [p for p in inspect.signature(found).parameters if p not in parameters] == []
        assert "Returns\n-------" in text


@pytest.mark.parametrize("name", NAMES)
def test_the_example_runs_as_printed(name: str) -> None:
    found = OBJECTS[name]
    tests = doctest.DocTestFinder(recurse=False).find(found, name, globs={})
    examples = [test for test in tests if test.examples]
    assert examples
    for test in examples:
        runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
        assert runner.run(test).failed == 0
