import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from nilm import store
from nilm.errors import InputFileError


def visible(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir() if not path.name.startswith(".")}


def test_a_failed_write_leaves_the_old_file_and_no_temporary_one(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    store.write_text(path, "old")
    with pytest.raises(TypeError), store.atomic_path(path) as temporary:
        temporary.write_text("half" + 1)  # type: ignore[operator]
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_written_file_is_not_visible_before_it_is_whole(tmp_path: Path) -> None:
    with store.atomic_path(tmp_path / "deep" / "a.txt") as temporary:
        temporary.write_text("half")
        assert visible(tmp_path / "deep") == set()
    assert visible(tmp_path / "deep") == {"a.txt"}


def test_json_is_the_same_for_equal_values_and_refuses_nan() -> None:
    assert store.canonical_json({"b": 1, "a": [1.5]}) == store.canonical_json({"a": [1.5], "b": 1})
    with pytest.raises(ValueError, match="not JSON compliant"):
        store.canonical_json(float("nan"))


def test_reading_json_names_the_file_that_is_missing_or_broken(tmp_path: Path) -> None:
    with pytest.raises(InputFileError, match=r"missing\.json cannot be read: No such file"):
        store.read_json(tmp_path / "missing.json")
    (tmp_path / "half.json").write_text('{"a": ')
    with pytest.raises(InputFileError, match=r"half\.json is not JSON"):
        store.read_json(tmp_path / "half.json")


def run_python(code: str, *arguments: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code), *arguments], stdout=subprocess.PIPE, text=True
    )


def test_temporary_files_of_a_killed_run_are_removed_and_those_of_a_living_one_kept(tmp_path: Path) -> None:
    child = run_python(
        """
        import sys, time
        from pathlib import Path
        from nilm import store
        with store.atomic_path(Path(sys.argv[1]) / "killed.bin") as temporary:
            temporary.write_bytes(b"half")
            print("writing", flush=True)
            time.sleep(60)
        """,
        str(tmp_path),
    )
    assert child.stdout is not None
    with child.stdout:
        child.stdout.readline()
        assert store.remove_stale(tmp_path) == 0  # the writer lives
        child.send_signal(signal.SIGKILL)
        child.wait()
    assert visible(tmp_path) == set()
    with store.atomic_path(tmp_path / "ours.bin") as temporary:
        temporary.write_bytes(b"whole")
        assert store.remove_stale(tmp_path) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["ours.bin"]


def test_removing_stale_files_of_a_folder_that_does_not_exist_is_no_work(tmp_path: Path) -> None:
    assert store.remove_stale(tmp_path / "none") == 0


def test_a_fingerprint_sees_size_time_and_both_ends(tmp_path: Path) -> None:
    path = tmp_path / "big.bin"
    content = bytearray(os.urandom(3 * store.EDGE_BYTES))
    path.write_bytes(content)
    marks = {store.fingerprint(path)}
    assert store.fingerprint(path) in marks
    stat = path.stat()
    for position in (0, len(content) - 1):  # equal size, time set back
        content[position] ^= 1
        path.write_bytes(content)
        os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
        marks.add(store.fingerprint(path))
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns + 1))
    marks.add(store.fingerprint(path))
    path.write_bytes(content + b"x")
    marks.add(store.fingerprint(path))
    assert len(marks) == 5


def test_the_code_version_follows_imports_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def version(*modules: str) -> str:
        store._code_version.cache_clear()
        return store.code_version(*modules)

    for room in store.ROOMS:
        (tmp_path / room).mkdir()
        (tmp_path / room / "__init__.py").write_text("")
    (tmp_path / "lfm" / "deep.py").write_text("x = 1")
    (tmp_path / "lfm" / "other.py").write_text("x = 1")
    (tmp_path / "nilm" / "middle.py").write_text("from lfm import deep\nimport numpy")
    (tmp_path / "nilm" / "top.py").write_text("from nilm.middle import f")
    monkeypatch.setattr(store, "_ROOT", tmp_path)
    first, whole = version("nilm.top"), version()
    assert version("nilm.top") == first
    (tmp_path / "lfm" / "other.py").write_text("x = 2")
    assert version("nilm.top") == first
    assert version() != whole
    (tmp_path / "lfm" / "deep.py").write_text("x = 2")
    assert version("nilm.top") != first
    monkeypatch.undo()
    store._code_version.cache_clear()


def test_a_step_is_current_only_while_all_it_depends_on_is_as_recorded(tmp_path: Path) -> None:
    manifest, output = tmp_path / "manifest.json", tmp_path / "piece.bin"

    def step(
        inputs: dict[str, str] | None = None, options: dict[str, object] | None = None, code: str = "c1"
    ) -> store.Step:
        return store.Step("hop", inputs or {"x": "sha256:1"}, options or {"seed": 0, "priors": (1, 2)}, code)

    assert store.why_redo(manifest, step()) == "hop has not been done"
    store.write_bytes(output, b"1")
    store.record(manifest, step(), [output], result={"rows": 3})
    store.record(manifest, store.Step("other"), [])
    assert store.why_redo(manifest, step()) is None
    assert store.recorded_result(manifest, "hop") == {"rows": 3}
    assert store.why_redo(manifest, step({"x": "sha256:2"})) == "changed input x"
    assert store.why_redo(manifest, step({"y": "sha256:1"})) == "new input y; input x is gone"
    assert (
        store.why_redo(manifest, step(options={"seed": 1, "priors": [1, 2]}))
        == "changed option seed (0 to 1)"
    )
    assert store.why_redo(manifest, step(code="c2")) == "changed code version (c1 to c2)"
    output.write_bytes(b"2")
    assert store.why_redo(manifest, step()) == "output piece.bin is not what was written"
    output.unlink()
    assert store.why_redo(manifest, step()) == "missing output piece.bin"


@pytest.mark.parametrize("content", ["", "[]", '{"steps": {"hop": {}}}', '{"steps": []}', '{"steps"'])
def test_a_manifest_that_is_none_makes_the_step_run_and_says_so(
    tmp_path: Path, content: str, caplog: pytest.LogCaptureFixture
) -> None:
    manifest = tmp_path / "manifest.json"
    manifest.write_text(content)
    assert store.why_redo(manifest, store.Step("hop")) == "hop has not been done"
    assert "not a manifest of this version" in caplog.text
    with pytest.raises(InputFileError, match="does not record the step hop"):
        store.recorded_result(manifest, "hop")


def test_publishing_replaces_the_set_and_removes_what_is_no_longer_made(tmp_path: Path) -> None:
    manifest, step = tmp_path / "week" / "manifest.json", store.Step("publish", {"x": "1"})
    store.publish(manifest, step, {"a.csv": b"1", "scores.json": b"2"})
    assert visible(manifest.parent) == {"a.csv", "scores.json", "manifest.json"}
    store.publish(manifest, step, {"a.csv": b"3"})
    assert {path.name for path in manifest.parent.iterdir()} == {"a.csv", "manifest.json"}
    assert store.why_redo(manifest, step) is None


def test_publishing_that_fails_shows_none_of_the_new_files(tmp_path: Path) -> None:
    manifest, step = tmp_path / "manifest.json", store.Step("publish")
    store.publish(manifest, step, {"a.csv": b"old", "b.csv": b"old"})
    broken: dict[str, bytes] = {"a.csv": b"new", "b.csv": "no bytes"}  # type: ignore[dict-item]
    with pytest.raises(TypeError):
        store.publish(manifest, step, broken)
    assert (tmp_path / "a.csv").read_bytes() == b"old"
    assert store.why_redo(manifest, step) is None


PUBLISH_FOREVER = """
import sys
from pathlib import Path
from nilm import store
manifest = Path(sys.argv[1])
size = 300_000
print("start", flush=True)
for i in range(10_000):
    files = {f"{name}.bin": bytes([i % 256]) * size for name in "abc"}
    store.publish(manifest, store.Step("publish", {"x": str(i)}), files)
"""


def test_a_publisher_killed_at_any_point_shows_no_partial_file_and_is_found_out(tmp_path: Path) -> None:
    for attempt in range(6):
        folder = tmp_path / str(attempt)
        manifest = folder / "manifest.json"
        child = run_python(PUBLISH_FOREVER, str(manifest))
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
        entries = store.read_json(manifest)["steps"] if manifest.exists() else {}
        if entries:
            done = store.Step("publish", entries["publish"]["inputs"])
            same = len({path.read_bytes() for path in folder.glob("[abc].bin")}) == 1
            assert same or store.why_redo(manifest, done) is not None
        store.remove_stale(folder)
        store.publish(manifest, store.Step("publish"), {f"{name}.bin": b"x" for name in "abc"})
        assert {path.name for path in folder.iterdir()} == {"a.bin", "b.bin", "c.bin", "manifest.json"}


def test_two_runs_of_one_week_wait_for_each_other(tmp_path: Path) -> None:
    code = """
    import sys, time
    from pathlib import Path
    from nilm import store
    with store.week_lock(Path(sys.argv[1]), "house_1", sys.argv[2]):
        print("in", time.monotonic(), flush=True)
        time.sleep(0.4)
        print("out", time.monotonic(), flush=True)
    """
    children = [run_python(code, str(tmp_path), "wk01") for _ in range(2)]
    spans = []
    for child in children:
        words = child.communicate(timeout=30)[0].split()
        spans.append((float(words[1]), float(words[3])))
    first, second = sorted(spans)
    assert first[1] <= second[0]


def test_different_weeks_and_houses_do_not_wait_for_each_other(tmp_path: Path) -> None:
    with (
        store.week_lock(tmp_path, "house_1", "2015-wk01"),
        store.week_lock(tmp_path, "house_1", "2015-wk02"),
        store.week_lock(tmp_path, "house_2", "2015-wk01"),
    ):
        assert len(list((tmp_path / "locks").iterdir())) == 3


def test_a_killed_run_releases_its_lock(tmp_path: Path) -> None:
    code = """
    import sys, time
    from pathlib import Path
    from nilm import store
    with store.week_lock(Path(sys.argv[1]), "house_1", "wk01"):
        print("in", flush=True)
        time.sleep(60)
    """
    child = run_python(code, str(tmp_path))
    assert child.stdout is not None
    with child.stdout:
        child.stdout.readline()
        child.kill()
        child.wait()
    with store.week_lock(tmp_path, "house_1", "wk01"):
        pass
