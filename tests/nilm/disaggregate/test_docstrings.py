"""What `nilm.disaggregate` offers explains itself, and its examples run."""

import doctest
import inspect

import pytest

import nilm.disaggregate
from nilm.disaggregate import Disaggregation, disaggregate


@pytest.mark.parametrize("name", nilm.disaggregate.__all__)
def test_the_example_runs_as_printed(name: str) -> None:
    found = getattr(nilm.disaggregate, name)
    tests = doctest.DocTestFinder(recurse=False).find(found, name, globs={"disaggregate": disaggregate})
    examples = [test for test in tests if test.examples]
    assert examples
    for test in examples:
        assert doctest.DocTestRunner().run(test).failed == 0


def test_every_parameter_is_explained() -> None:
    text = inspect.getdoc(disaggregate) or ""
    said = text.split("Parameters\n----------")[1].split("Returns\n-------")[0]
    named = {
        name.strip()
        for line in said.splitlines()
        if " : " in line
        for name in line.split(" : ")[0].split(",")
    }
    assert set(inspect.signature(disaggregate).parameters) == named
    assert "Raises\n------" in text


def test_every_field_is_explained() -> None:
    said = "".join(inspect.getdoc(kind) or "" for kind in Disaggregation.__mro__[:2])
    named = {
        n.strip() for line in said.splitlines() if " : " in line for n in line.split(" : ")[0].split(",")
    }
    assert set(Disaggregation.__dataclass_fields__) <= named
