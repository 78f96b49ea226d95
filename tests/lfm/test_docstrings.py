"""Every public name explains itself, and its example runs."""

import doctest
import enum
import inspect

import pytest

import lfm

OBJECTS = {f"lfm.{name}": getattr(lfm, name) for name in lfm.__all__ if name != "__version__"}
NAMES = sorted(name for name, found in OBJECTS.items() if not inspect.ismodule(found))


def entries(text: str) -> dict[str, str]:
    """What a docstring says of each parameter: its kind, and what is below it."""
    found: dict[str, str] = {}
    names: list[str] = []
    for line in text.split("Parameters\n----------\n")[1].split("\n\n")[0].splitlines():
        if line.startswith(" "):
            found |= {name: found[name] + line for name in names}
        else:
            names = [name.strip() for name in line.split(" : ")[0].split(",")]
            found |= dict.fromkeys(names, line)
    return found


@pytest.mark.parametrize("name", NAMES)
def test_the_docstring_has_its_sections(name: str) -> None:
    found = OBJECTS[name]
    text = inspect.getdoc(found) or ""
    assert "Examples\n--------" in text
    if inspect.isfunction(found):
        said = entries(text)
        assert list(inspect.signature(found).parameters) == list(said)
        for name, parameter in inspect.signature(found).parameters.items():
            if parameter.default is not parameter.empty:
                assert "default" in said[name].lower() or "optional" in said[name], name
        assert "Returns\n-------" in text
        assert "Raises\n------" in text
    elif not issubclass(found, Exception | enum.Enum | lfm.Prior):
        assert "Parameters\n----------" in text or "Attributes\n----------" in text
    assert "decision" not in text  # a reader of the API has no decisions at hand


@pytest.mark.parametrize("name", NAMES)
def test_the_example_runs_as_printed(name: str) -> None:
    found = OBJECTS[name]
    tests = doctest.DocTestFinder(recurse=False).find(found, name, globs={})
    examples = [test for test in tests if test.examples]
    assert examples
    for test in examples:
        runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
        assert runner.run(test).failed == 0
