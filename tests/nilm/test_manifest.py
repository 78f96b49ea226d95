"""What a step's outputs were made from decides whether it runs again; a damaged manifest decides nothing."""

import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from nilm import files
from nilm import manifest as manifests
from nilm.errors import InputFileError


def visible(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir() if not path.name.startswith(".")}


def test_a_step_is_current_only_while_all_it_depends_on_is_as_recorded(tmp_path: Path) -> None:
    manifest, output = tmp_path / "manifest.json", tmp_path / "piece.bin"

    def step(
        inputs: dict[str, str] | None = None, options: dict[str, object] | None = None, version: int = 1
    ) -> manifests.Step:
        return manifests.Step(
            "hop", inputs or {"x": "sha256:1"}, options or {"seed": 0, "priors": (1, 2)}, version
        )

    assert manifests.why_redo(manifest, step()) == "hop has not been done"
    files.write_bytes(output, b"1")
    manifests.record(manifest, step(), [output], result={"rows": 3})
    manifests.record(manifest, manifests.Step("other"), [])
    assert manifests.why_redo(manifest, step()) is None
    assert manifests.recorded(manifest, "hop").result == {"rows": 3}
    assert manifests.why_redo(manifest, step({"x": "sha256:2"})) == "changed input x"
    assert manifests.why_redo(manifest, step({"y": "sha256:1"})) == "new input y; input x is gone"
    assert (
        manifests.why_redo(manifest, step(options={"seed": 1, "priors": [1, 2]}))
        == "changed option seed (0 to 1)"
    )
    assert manifests.why_redo(manifest, step(version=2)) == "changed version of hop (1 to 2)"
    output.write_bytes(b"2")
    assert manifests.why_redo(manifest, step()) == "output piece.bin is not what was written"
    output.unlink()
    assert manifests.why_redo(manifest, step()) == "missing output piece.bin"


@pytest.mark.parametrize("content", ["", "[]", '{"steps": {"hop": {}}}', '{"steps": []}', '{"steps"'])
def test_a_manifest_that_is_none_makes_the_step_run_and_says_so(
    tmp_path: Path, content: str, caplog: pytest.LogCaptureFixture
) -> None:
    manifest = tmp_path / "manifest.json"
    manifest.write_text(content)
    assert manifests.why_redo(manifest, manifests.Step("hop")) == "hop has not been done"
    assert "not a manifest of this version" in caplog.text
    with pytest.raises(InputFileError, match="does not record the step hop"):
        manifests.recorded(manifest, "hop")


def test_publishing_replaces_the_set_and_removes_what_is_no_longer_made(tmp_path: Path) -> None:
    manifest, step = tmp_path / "week" / "manifest.json", manifests.Step("publish", {"x": "1"})
    manifests.replace_outputs(manifest, step, {"a.csv": b"1", "scores.json": b"2"})
    assert visible(manifest.parent) == {"a.csv", "scores.json", "manifest.json"}
    manifests.replace_outputs(manifest, step, {"a.csv": b"3"})
    assert {path.name for path in manifest.parent.iterdir()} == {"a.csv", "manifest.json"}
    assert manifests.why_redo(manifest, step) is None


def test_publishing_that_fails_shows_none_of_the_new_files(tmp_path: Path) -> None:
    manifest, step = tmp_path / "manifest.json", manifests.Step("publish")
    manifests.replace_outputs(manifest, step, {"a.csv": b"old", "b.csv": b"old"})
    broken: dict[str, bytes] = {"a.csv": b"new", "b.csv": "no bytes"}  # type: ignore[dict-item]
    with pytest.raises(TypeError):
        manifests.replace_outputs(manifest, step, broken)
    assert (tmp_path / "a.csv").read_bytes() == b"old"
    assert manifests.why_redo(manifest, step) is None


PUBLISH_FOREVER = """
import sys
from pathlib import Path
from typing import Any
from nilm import manifest as manifests
manifest = Path(sys.argv[1])
size = 300_000
print("start", flush=True)
for i in range(10_000):
    files = {f"{name}.bin": bytes([i % 256]) * size for name in "abc"}
    manifests.replace_outputs(manifest, manifests.Step("publish", {"x": str(i)}), files)
"""


def test_a_publisher_killed_at_any_point_shows_no_partial_file_and_is_found_out(tmp_path: Path) -> None:
    for attempt in range(6):
        folder = tmp_path / str(attempt)
        manifest = folder / "manifest.json"
        child = subprocess.Popen(
            [sys.executable, "-c", PUBLISH_FOREVER, str(manifest)], stdout=subprocess.PIPE, text=True
        )
        assert child.stdout is not None
        with child.stdout:
            child.stdout.readline()
            time.sleep(0.02 + 0.013 * attempt)
            child.kill()
            child.wait()
        for path in folder.glob("[abc].bin"):
            content = path.read_bytes()
            assert len(content) == 300_000
            assert len(set(content)) == 1
        # The next run finds the week either wholly current or knows that it must be redone.
        entries = files.read_json(manifest)["steps"] if manifest.exists() else {}
        if entries:
            done = manifests.Step("publish", entries["publish"]["inputs"])
            same = len({path.read_bytes() for path in folder.glob("[abc].bin")}) == 1
            assert same or manifests.why_redo(manifest, done) is not None
        files.remove_stale(folder)
        manifests.replace_outputs(
            manifest, manifests.Step("publish"), {f"{name}.bin": b"x" for name in "abc"}
        )
        assert {path.name for path in folder.iterdir()} == {"a.bin", "b.bin", "c.bin", "manifest.json"}


DAMAGE: list[Any] = [
    {"inputs": [1]},
    {"inputs": {"x": 1}},
    {"options": "none"},
    {"version": "1"},
    {"version": None},
    {"outputs": ["a.csv"]},
    {"outputs": {"a.csv": 3}},
    {"outputs": {"../../../x": "sha256:1"}},
    {"outputs": {"/etc/hostname": "sha256:1"}},
    {"outputs": {"a" * 300: "sha256:1"}},
    {"more": 1},
]


@pytest.mark.parametrize("damage", DAMAGE, ids=lambda damage: str(damage)[:40])
def test_values_of_another_type_make_the_step_run(tmp_path: Path, damage: Any) -> None:
    path = tmp_path / "manifest.json"
    manifests.record(path, manifests.Step("hop"), [])
    content = files.read_json(path)
    content["steps"]["hop"] |= damage
    files.write_json(path, content)
    assert manifests.why_redo(path, manifests.Step("hop")) == "hop has not been done"
    manifests.record(path, manifests.Step("hop"), [])
    assert manifests.why_redo(path, manifests.Step("hop")) is None


def test_a_manifest_that_is_nested_too_deep_makes_the_step_run(tmp_path: Path) -> None:
    path = tmp_path / "manifest.json"
    path.write_text('{"steps":' * 50_000)
    assert manifests.why_redo(path, manifests.Step("hop")) == "hop has not been done"


@pytest.mark.parametrize("name", ["../../precious.txt", "{absolute}", "link/precious.txt"])
def test_a_manifest_deletes_nothing_outside_its_folder(tmp_path: Path, name: str) -> None:
    precious = tmp_path / "precious.txt"
    precious.write_text("years of work")
    manifest = tmp_path / "outputs" / "week" / "manifest.json"
    manifests.replace_outputs(manifest, manifests.Step("publish"), {"a.csv": b"1"})
    (manifest.parent / "link").symlink_to(tmp_path)
    content = files.read_json(manifest)
    content["steps"]["publish"]["outputs"][name.format(absolute=precious)] = files.digest(precious)
    files.write_json(manifest, content)
    manifests.replace_outputs(manifest, manifests.Step("publish"), {"a.csv": b"2"})
    assert precious.read_text() == "years of work"
    assert set(manifests.recorded(manifest, "publish").outputs) == {"a.csv"}
