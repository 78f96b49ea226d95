"""What the attacks of benchmarks/faults.py share: small weeks, commands as processes, folders compared."""

import contextlib
import functools
import os
import random
import secrets
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from nilm.options import WeekOptions
from nilm.paths import WeekPaths
from nilm.pipeline import WeekPipeline
from nilm.recordings.ukdale import Week
from nilm.simulate.faults import Fault
from nilm.simulate.week import simulate_week

HOUSE, WEEKS, HOURS = "house_sim", ("2015-wk01", "2015-wk02"), 2
RUN = ("run", "--house", HOUSE, "--week", WEEKS[0])
BACKFILL = ("backfill", "--house", HOUSE, "--weeks", ":".join(WEEKS), "--workers", "2")
LONGEST_S = 240.0  # of a command on a busy machine; beyond it counts as a hang
ENDS_WITHIN_S = 30.0  # of whatever a killed command has started
_PROCESSED = ("data/waveforms", "data/solutions", "data/catalogue", "outputs")
_MARK = "FAULTS_MARK"

Failures = list[str]
Attack = Callable[[int, range], Failures]


def numbers_of(seed: int, what: str, trial: int) -> random.Random:
    """The random numbers of one trial: the same whichever other trials run, and in whichever order."""
    return random.Random(f"{seed} {what} {trial}")


@contextlib.contextmanager
def scratch() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="nilm-faults-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def simulate(
    raw: Path,
    seed: int,
    *,
    weeks: Sequence[str] = WEEKS[:1],
    hours: float = HOURS,
    faults: Sequence[Fault] = (),
) -> None:
    """Write weeks of a few hours with two appliances."""
    for n, week in enumerate(weeks):
        simulate_week(
            raw, house=HOUSE, week=week, seed=seed + n, days=hours / 24, n_appliances=2, faults=list(faults)
        )


def pipeline_of(root: Path, week: str = WEEKS[0]) -> WeekPipeline:
    return WeekPipeline(WeekPaths(root / "data", HOUSE, Week.parse(week), root / "outputs"), WeekOptions())


def work_out(pipeline: WeekPipeline) -> None:
    pipeline.solve()
    pipeline.finish()


def contents(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


@dataclass
class Place:
    """A folder with data/ and outputs/ of its own, in which commands are started."""

    root: Path
    mark: str = field(default_factory=lambda: secrets.token_hex(8))

    @property
    def data(self) -> Path:
        """Recordings and what is between them and the outputs."""
        return self.root / "data"

    @property
    def outputs(self) -> Path:
        """What analysts read."""
        return self.root / "outputs"

    @property
    def recordings(self) -> list[Path]:
        """Those of all weeks."""
        return sorted((self.data / "raw").rglob("*.flac"))

    def processed(self) -> dict[str, bytes]:
        """Every file that runs have made, by name."""
        return {
            f"{folder}/{name}": content
            for folder in _PROCESSED
            for name, content in contents(self.root / folder).items()
        }

    def start(self, *arguments: str, **environment: str) -> "subprocess.Popen[str]":
        """Start a command of `nilm` as a user does; its last words are in `said`."""
        (self.root / "tmp").mkdir(parents=True, exist_ok=True)
        known = {n: v for n, v in os.environ.items() if not n.startswith(("PREFECT_", "NILM_"))}
        ours = {
            "NILM_DATA_ROOT": str(self.data),
            "NILM_OUTPUTS_ROOT": str(self.outputs),
            "TMPDIR": str(self.root / "tmp"),
            _MARK: self.mark,
        }
        with (self.root / "said.txt").open("a") as said:
            return subprocess.Popen(
                [sys.executable, "-m", "flows.cli", *arguments],
                env=known | ours | environment,
                cwd=self.root,
                stdout=said,
                stderr=said,
                text=True,
            )

    def run(self, *arguments: str, **environment: str) -> int:
        """The exit code of a command; None of them may take longer than LONGEST_S."""
        return self.start(*arguments, **environment).wait(LONGEST_S)

    def said(self) -> str:
        """What the commands have said since they were asked last."""
        path = self.root / "said.txt"
        words = path.read_text(errors="replace") if path.exists() else ""
        path.unlink(missing_ok=True)
        return words

    def alive(self) -> list[int]:
        """The processes that commands of this place have started, and that still live."""
        found = []
        for process in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                dead = (process / "stat").read_text().rpartition(")")[2].split()[0] in "ZX"
                if f"{_MARK}={self.mark}".encode() in (process / "environ").read_bytes() and not dead:
                    found.append(int(process.name))
        return found

    def left_behind(self) -> str:
        """What still lives or lies about a while after a command was killed, in words; empty if nothing."""
        until = time.monotonic() + ENDS_WITHIN_S
        while time.monotonic() < until:
            if not self.alive() and not list((self.root / "tmp").glob("nilm-prefect-*")):
                return ""
            time.sleep(0.1)
        return f"left behind: processes {self.alive()}, {list((self.root / 'tmp').iterdir())}"


def differences(found: dict[str, bytes], wanted: dict[str, bytes]) -> str:
    """The names of files that differ, at most three, in words; empty if none does."""
    names = sorted(n for n in found.keys() | wanted.keys() if found.get(n) != wanted.get(n))
    return f"differs in {', '.join(names[:3])} of {len(names)}" if names else ""


def half_written(place: Place, wanted: dict[str, bytes]) -> str:
    """Files that can be seen and are not whole, in words; an index and a manifest are written in stages."""
    staged = (
        "manifest.json",
        "index.html",
        "failed.json",
    )  # the last says why a run failed
    for name, content in place.processed().items():
        seen = name.startswith("outputs/") and not Path(name).name.startswith(".")
        if seen and not name.endswith(staged) and content != wanted.get(name):
            return f"half-written {name}"
    return ""


@functools.cache
def reference(command: tuple[str, ...]) -> Place:
    """A place in which the command was run and not disturbed; removed when the campaign ends."""
    keep = contextlib.ExitStack()
    _KEPT.append(keep)
    place = Place(keep.enter_context(scratch()))
    simulate(place.data / "raw", 7, weeks=WEEKS if command[0] == "backfill" else WEEKS[:1])
    if place.run(*command):
        raise RuntimeError(f"the undisturbed {command[0]} failed: {place.said()}")
    return place


_KEPT: list[contextlib.ExitStack] = []


def clean_up() -> None:
    for keep in _KEPT:
        keep.close()


@contextlib.contextmanager
def copy_of(original: Place, *, worked_out: bool = False) -> Iterator[Place]:
    """A new place with the recordings of another, times included; and with its results if asked for."""
    with scratch() as folder:
        place = Place(folder)
        if worked_out:
            for name in ("data", "outputs"):
                shutil.copytree(original.root / name, folder / name)
        else:
            shutil.copytree(original.data / "raw", place.data / "raw")
        yield place


# What appears in the course of a run, each later than the one before: moments to do something at.
MOMENTS = (
    "data/waveforms/*/hours/*/*.json",
    "data/waveforms/*/*.parquet",
    "data/waveforms/*/*.manifest.json",
    "data/solutions/*/*/factorised.npz",
    "data/solutions/*/*/hopped.npz",
    "data/solutions/*/*/identity.json",
    "data/catalogue/*.json",
    "outputs/*/*/.*.tmp",
    "outputs/*/*/report.html",
    "outputs/*/*/manifest.json",
    "outputs/index.html",
)


def wait_for_a_moment(process: "subprocess.Popen[str]", place: Place, rng: random.Random) -> str:
    """Wait until a random moment of a run, and say which; empty if the run has ended before."""
    pattern = rng.choice(("", *MOMENTS))
    pause_s = rng.uniform(0.0, 0.25) if pattern else rng.uniform(0.0, 6.0)
    until = time.monotonic() + LONGEST_S
    while pattern and process.poll() is None and not next(place.root.glob(pattern), None):
        if time.monotonic() > until:
            raise TimeoutError(f"the run did not come to {pattern}")
        time.sleep(0.002)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(pause_s)
    return "" if process.poll() is not None else f"{pause_s:.2f} s after {pattern or 'the start'}"
