"""Mutated files through every reader: an answer or an error of our own, within ten seconds."""

import io
import random
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from nilm import files, manifest
from nilm.appliances.analyst import read_notes
from nilm.appliances.catalogue import read_catalogue
from nilm.appliances.scores import read_truth
from nilm.disaggregate.disaggregation import load_disaggregation, load_factorised
from nilm.errors import NilmError
from nilm.recordings.quality import read_quality
from nilm.recordings.submeters import read_submeters
from nilm.recordings.tables import read_week
from nilm.recordings.ukdale import Calibration, read_calibration, read_channel, read_labels
from nilm.recordings.waveforms import Sampling, read_hour
from nilm.report.summary import read_summary
from nilm.simulate.week import simulate_week

LONGEST_S = 10.0
Reader = Callable[[Path], object]


def mutated_inputs(rng: random.Random, trials: int) -> list[str]:
    """What a reader answered a mutated file with that is not ours, or took too long for."""
    failures = []
    with tempfile.TemporaryDirectory() as folder:
        cases = _cases(Path(folder))
        names = sorted(cases)
        for n in range(trials):
            name = names[n % len(names)]
            sound, reader = cases[name]
            target = Path(folder) / "mutated" / name
            target.parent.mkdir(exist_ok=True)
            content = _mutated(sound, rng)
            target.write_bytes(content)
            started = time.monotonic()
            try:
                reader(target)
            except (NilmError, OSError):
                pass
            except Exception as error:  # noqa: BLE001 - whatever it is, it is a finding
                failures.append(f"{name}: {error!r:.160} for {content[:40]!r}")
            if time.monotonic() - started > LONGEST_S:
                failures.append(f"{name}: took {time.monotonic() - started:.0f} s")
    return failures


def _cases(folder: Path) -> dict[str, tuple[bytes, Reader]]:
    """For each kind of file a sound one and what reads it."""
    from nilm.paths import WeekPaths
    from nilm.pipeline import WeekOptions, WeekPipeline
    from nilm.recordings.ukdale import Week, week_hours

    simulate_week(
        folder / "data" / "raw", house="house_1", week="2015-wk01", seed=3, days=2 / 24, n_appliances=2
    )
    paths = WeekPaths(folder / "data", "house_1", Week(2015, 1), folder / "outputs")
    pipeline = WeekPipeline(paths, WeekOptions())
    pipeline.solve()
    pipeline.finish()
    recording = week_hours(paths.house_folder, paths.week)[0]
    channel = next(iter(sorted(paths.house_folder.glob("channel_*.dat"))))
    start_utc = read_week(paths.waveforms).start_utc
    names = b'{"house": "house_1", "names": {"A01": "Kettle"}, "not_parts": ["A02"]}'
    calibration = Calibration(408.0, 106.0)
    readers: dict[str, tuple[bytes, Reader]] = {
        recording.name: (
            recording.read_bytes(),
            lambda p: read_hour(p, calibration=calibration, sampling=Sampling()),
        ),
        "calibration.cfg": (paths.calibration.read_bytes(), read_calibration),
        "labels.dat": ((paths.house_folder / "labels.dat").read_bytes(), _labels),
        channel.name: (channel.read_bytes(), read_channel),
        "names.json": (names, lambda p: read_notes(p, "house_1")),
        "catalogue.json": (paths.catalogue.read_bytes(), lambda p: read_catalogue(p, "house_1")),
        "manifest.json": (
            paths.manifest.read_bytes(),
            lambda p: manifest.why_redo(p, manifest.Step("publish")),
        ),
        "summary.json": ((paths.outputs / "summary.json").read_bytes(), read_summary),
        "week.quality.json": (paths.quality.read_bytes(), read_quality),
        "week.parquet": (paths.waveforms.read_bytes(), read_week),
        "truth.npz": (paths.truth.read_bytes(), lambda p: read_truth(p, start_utc, interval_s=120.0)),
        "factorised.npz": (paths.factorised.read_bytes(), load_factorised),
        "hopped.npz": (paths.hopped.read_bytes(), load_disaggregation),
        "any.json": (files.canonical_json({"a": [1, {"b": None}]}).encode(), files.read_json),
        "any.npz": (_npz(), lambda p: files.read_npz(p, cure="make it anew")),
    }
    return readers


def _labels(path: Path) -> object:
    read_labels(path)
    return read_submeters(
        path.parent, np.array(["2015-01-01"], "datetime64[ns]"), duration_s=np.array([120.0])
    )


def _npz() -> bytes:
    buffer = io.BytesIO()
    np.savez_compressed(buffer, a=np.arange(10.0))
    return buffer.getvalue()


def _mutated(content: bytes, rng: random.Random) -> bytes:
    """The content with one to four changes of the kinds that disks, copies and people make."""
    data = bytearray(content)
    for _ in range(rng.randint(1, 4)):
        kind = rng.randrange(6)
        at = rng.randrange(len(data) + 1)
        if kind == 0 and data:
            data[at % len(data)] ^= 1 << rng.randrange(8)
        elif kind == 1:
            del data[at:]
        elif kind == 2:
            data[at:at] = rng.randbytes(rng.randint(1, 40))
        elif kind == 3:
            del data[at : at + rng.randint(1, 200)]
        elif kind == 4:
            data[at:at] = rng.choice(
                [b"NaN", b"-1", b"1e999", b"null", b"[" * 2000, b"\x00", b"9" * 400, b"\xff"]
            )
        else:
            data[at : at + 8] = bytes(8)
    return bytes(data)
