"""A step's outputs change only together with its version: the reminder to raise the number."""

import importlib.util
import json
from pathlib import Path
from types import ModuleType

import pytest


@pytest.fixture(scope="module")
def frozen() -> ModuleType:
    """The module that keeps the frozen weeks; it is also the command that renews their digests."""
    spec = importlib.util.spec_from_file_location("frozen", Path(__file__).with_name("frozen.py"))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_outputs_changed_only_with_the_version_of_their_step(frozen: ModuleType, tmp_path: Path) -> None:
    recorded = json.loads(frozen.DIGESTS.read_text())
    now = frozen.digests(tmp_path)
    assert frozen.broken_rules(now, recorded) == []
    assert frozen.renewed(now, recorded) == recorded, (
        "a step upstream has a new version: run `make freeze` and commit frozen.json"
    )


def test_a_change_without_a_new_version_is_noticed(frozen: ModuleType) -> None:
    was = {"a: hop": {"version": 1, "from": "x", "made": "y"}}
    changed = {"a: hop": {"version": 1, "from": "x", "made": "z"}}
    assert "raise its number" in frozen.broken_rules(changed, was)[0]
    assert frozen.broken_rules({"a: hop": {"version": 2, "from": "x", "made": "z"}}, was) == []
    assert frozen.broken_rules({"a: hop": {"version": 1, "from": "w", "made": "z"}}, was) == []


def test_digests_of_real_data_stay_where_there_is_none(frozen: ModuleType) -> None:
    recorded = {"habits: hop": {"made": "a"}, "gone: hop": {"made": "b"}, "plain: hop": {"made": "c"}}
    now = {"plain: hop": {"made": "d"}}
    assert frozen.renewed(now, recorded) == {"habits: hop": {"made": "a"}, "plain: hop": {"made": "d"}}
