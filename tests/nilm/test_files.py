import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from nilm import files
from nilm.errors import InputFileError


def visible(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir() if not path.name.startswith(".")}


def test_a_failed_write_leaves_the_old_file_and_no_temporary_one(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    files.write_text(path, "old")
    with pytest.raises(TypeError), files.atomic_path(path) as temporary:
        temporary.write_text("half" + 1)  # type: ignore[operator]
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_written_file_is_not_visible_before_it_is_whole(tmp_path: Path) -> None:
    with files.atomic_path(tmp_path / "deep" / "a.txt") as temporary:
        temporary.write_text("half")
        assert visible(tmp_path / "deep") == set()
    assert visible(tmp_path / "deep") == {"a.txt"}


def test_json_is_the_same_for_equal_values_and_refuses_nan() -> None:
    assert files.canonical_json({"b": 1, "a": [1.5]}) == files.canonical_json({"a": [1.5], "b": 1})
    with pytest.raises(ValueError, match="not JSON compliant"):
        files.canonical_json(float("nan"))


def test_reading_json_names_the_file_that_is_missing_or_broken(tmp_path: Path) -> None:
    with pytest.raises(InputFileError, match=r"missing\.json cannot be read: No such file"):
        files.read_json(tmp_path / "missing.json")
    (tmp_path / "half.json").write_text('{"a": ')
    with pytest.raises(InputFileError, match=r"half\.json is not JSON"):
        files.read_json(tmp_path / "half.json")


def run_python(code: str, *arguments: str, stdin: int | None = None) -> "subprocess.Popen[str]":
    command = [sys.executable, "-c", textwrap.dedent(code), *arguments]
    return subprocess.Popen(command, stdin=stdin, stdout=subprocess.PIPE, text=True)


def test_temporary_files_of_a_killed_run_are_removed_and_those_of_a_living_one_kept(tmp_path: Path) -> None:
    child = run_python(
        """
        import sys, time
        from pathlib import Path
        from nilm import files
        with files.atomic_path(Path(sys.argv[1]) / "killed.bin") as temporary:
            temporary.write_bytes(b"half")
            print("writing", flush=True)
            time.sleep(60)
        """,
        str(tmp_path),
    )
    assert child.stdout is not None
    with child.stdout:
        child.stdout.readline()
        assert files.remove_stale(tmp_path) == 0  # the writer lives
        child.send_signal(signal.SIGKILL)
        child.wait()
    assert visible(tmp_path) == set()
    with files.atomic_path(tmp_path / "ours.bin") as temporary:
        temporary.write_bytes(b"whole")
        assert files.remove_stale(tmp_path) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["ours.bin"]


def test_removing_stale_files_of_a_folder_that_does_not_exist_is_no_work(tmp_path: Path) -> None:
    assert files.remove_stale(tmp_path / "none") == 0


def test_a_fingerprint_sees_size_time_and_both_ends(tmp_path: Path) -> None:
    path = tmp_path / "big.bin"
    content = bytearray(os.urandom(3 * files.EDGE_BYTES))
    path.write_bytes(content)
    marks = {files.fingerprint(path)}
    assert files.fingerprint(path) in marks
    stat = path.stat()
    for position in (0, len(content) - 1):  # equal size, time set back
        content[position] ^= 1
        path.write_bytes(content)
        os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
        marks.add(files.fingerprint(path))
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns + 1))
    marks.add(files.fingerprint(path))
    path.write_bytes(content + b"x")
    marks.add(files.fingerprint(path))
    assert len(marks) == 5


def test_two_runs_of_one_week_wait_for_each_other(tmp_path: Path) -> None:
    code = """
    import sys, time
    from pathlib import Path
    from nilm import files
    with files.week_lock(Path(sys.argv[1]), "house_1", sys.argv[2]):
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
        files.week_lock(tmp_path, "house_1", "2015-wk01"),
        files.week_lock(tmp_path, "house_1", "2015-wk02"),
        files.week_lock(tmp_path, "house_2", "2015-wk01"),
    ):
        assert len(list((tmp_path / "locks").iterdir())) == 3


def test_a_killed_run_releases_its_lock(tmp_path: Path) -> None:
    code = """
    import sys, time
    from pathlib import Path
    from nilm import files
    with files.week_lock(Path(sys.argv[1]), "house_1", "wk01"):
        print("in", flush=True)
        time.sleep(60)
    """
    child = run_python(code, str(tmp_path))
    assert child.stdout is not None
    with child.stdout:
        child.stdout.readline()
        child.kill()
        child.wait()
    with files.week_lock(tmp_path, "house_1", "wk01"):
        pass


def test_a_lock_neither_follows_a_link_nor_empties_a_file(tmp_path: Path) -> None:
    precious = tmp_path / "precious.txt"
    precious.write_text("years of work")
    (tmp_path / "locks").mkdir()
    (tmp_path / "locks" / "house_1.wk01.lock").symlink_to(precious)
    with (
        pytest.raises(InputFileError, match=r"wk01\.lock is a lock and must be a plain file; delete it"),
        files.week_lock(tmp_path, "house_1", "wk01"),
    ):
        pass
    assert precious.read_text() == "years of work"
    (tmp_path / "locks" / "house_1.wk02.lock").write_text("a note")
    with files.week_lock(tmp_path, "house_1", "wk02"):
        pass
    assert (tmp_path / "locks" / "house_1.wk02.lock").read_text() == "a note"


@pytest.mark.parametrize("kind", ["folder", "pipe"])
def test_a_lock_that_is_no_file_is_named(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "locks" / "house_1.wk01.lock"
    path.parent.mkdir()
    path.mkdir() if kind == "folder" else os.mkfifo(path)
    with pytest.raises(InputFileError, match="must be a plain file"), files.lock_file(path):
        pass


def test_a_lock_that_was_deleted_while_it_was_waited_for_is_taken_anew(tmp_path: Path) -> None:
    path = tmp_path / "a.lock"
    code = """
    import sys
    from pathlib import Path
    from nilm import files
    with files.lock_file(Path(sys.argv[1])):
        print("in", flush=True)
        sys.stdin.readline()
    """
    with files.lock_file(path):
        first = run_python(code, str(path), stdin=subprocess.PIPE)
        time.sleep(0.5)  # it waits for the file that is now deleted
        path.unlink()
    assert first.stdout is not None
    assert first.stdin is not None
    assert first.stdout.readline() == "in\n"
    assert path.exists()  # what it holds now is the file that others see
    first.communicate("\n", timeout=30)


def test_of_changes_at_once_none_is_lost(tmp_path: Path) -> None:
    path = tmp_path / "names.json"
    files.write_json(path, [])
    code = """
    import sys, time
    from pathlib import Path
    from nilm import files
    path = Path(sys.argv[1])
    with files.change_lock(path):
        before = files.read_json(path)
        time.sleep(0.05)
        files.write_json(path, [*before, sys.argv[2]])
    """
    children = [run_python(code, str(path), str(n)) for n in range(6)]
    for child in children:
        child.communicate(timeout=60)
    assert sorted(files.read_json(path)) == list("012345")


@pytest.mark.parametrize(
    "name", ["../x", "a/../../x", "/etc/hostname", "..", ".", "", "link/x", "\0", "\ud800", "a" * 300]
)
def test_a_name_that_leads_out_of_its_folder_is_refused(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "link").symlink_to(tmp_path)
    with pytest.raises(InputFileError, match="is not the name of a file within"):
        files.inside(folder, name)


@pytest.mark.parametrize("name", ["a.csv", "deep/a.csv", "..a"])
def test_a_name_within_its_folder_is_a_path(tmp_path: Path, name: str) -> None:
    assert files.inside(tmp_path, name) == tmp_path / name


def test_stale_files_that_are_none_of_ours_are_left_alone(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / ".pipe.tmp")
    precious = tmp_path / "precious"
    precious.write_text("x")
    (tmp_path / ".link.tmp").symlink_to(precious)
    assert files.remove_stale(tmp_path) == 0
    assert precious.read_text() == "x"


def test_json_that_is_nested_too_deep_is_an_error_with_the_files_name(tmp_path: Path) -> None:
    path = tmp_path / "deep.json"
    path.write_text("[" * 100_000)
    with pytest.raises(InputFileError, match=r"deep\.json is not JSON"):
        files.read_json(path)


def test_advice_never_costs_a_person_their_words(tmp_path: Path) -> None:
    path = tmp_path / "names.json"
    path.write_text("{")
    with pytest.raises(InputFileError, match="correct it, or put a copy from before in its place"):
        files.read_json(path)
    with pytest.raises(InputFileError, match="delete it, the next run writes it anew"):
        files.read_json(path, cure=files.MADE_ANEW)


def test_a_full_disk_names_the_file_that_was_to_be_written(tmp_path: Path) -> None:
    with (
        pytest.raises(OSError, match="No space left") as full,
        files.atomic_path(tmp_path / "report.html") as temporary,
        temporary.open("wb"),
    ):
        raise OSError(28, "No space left on device")
    assert full.value.filename == str(tmp_path / "report.html")
    with (
        pytest.raises(OSError, match="No space left") as full,
        files.atomic_path(tmp_path / "report.html") as temporary,
    ):
        raise OSError(28, "No space left on device", str(temporary))
    assert full.value.filename == str(tmp_path / "report.html")
