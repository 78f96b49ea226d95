"""Every reader of a file, each with a sound file to start from: what `fault_inputs` mutates."""

import argparse
import io
import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import soundfile
from fault_bench import HOUSE, pipeline_of, simulate, work_out

from flows.command_line import commands
from flows.settings import load_settings
from nilm import files, manifest
from nilm.appliances.analyst import read_notes
from nilm.appliances.catalogue import read_catalogue
from nilm.appliances.scores import read_truth
from nilm.disaggregate.disaggregation import load_disaggregation, load_factorised
from nilm.experiments.table2 import read_labels as read_label_matrix
from nilm.export.house_power import read_house
from nilm.music.midi import midi_file, read_midi
from nilm.music.spectra import SpectraOptions, power_spectra, read_audio, read_spectra, write_spectra
from nilm.music.tune import synthesise, tiny_tune
from nilm.paths import WeekPaths
from nilm.recordings.quality import read_quality
from nilm.recordings.submeters import read_submeters
from nilm.recordings.tables import read_piece, read_week
from nilm.recordings.ukdale import (
    Calibration,
    read_calibration,
    read_channel,
    read_labels,
    week_hours,
)
from nilm.recordings.waveforms import Sampling, read_hour
from nilm.report.summary import read_summary
from nilm.simulate.appliances.recorded import recorded_cycles
from nilm.simulate.habits import read_habits

Reader = Callable[[Path], object]
Cases = dict[str, tuple[bytes, Reader]]  # where the file lies → a sound one, and what reads it


def readers(folder: Path) -> Cases:
    """For each kind of file a sound one and what reads it."""
    simulate(folder / "data" / "raw", 3)
    pipeline = pipeline_of(folder)
    work_out(pipeline)
    paths = pipeline.paths
    return _recordings(paths) | _our_own(paths) | _of_people(paths) | _others(folder)


def _recordings(paths: WeekPaths) -> Cases:
    recording = week_hours(paths.house_folder, paths.week)[0]
    channel = min(paths.house_folder.glob("channel_*.dat"))
    calibration = Calibration(408.0, 106.0)
    return {
        recording.name: (
            recording.read_bytes(),
            lambda p: read_hour(p, calibration=calibration, sampling=Sampling()),
        ),
        "calibration.cfg": (paths.calibration.read_bytes(), read_calibration),
        "labels/labels.dat": ((paths.house_folder / "labels.dat").read_bytes(), _labels),
        channel.name: (channel.read_bytes()[:20_000], read_channel),
    }


def _our_own(paths: WeekPaths) -> Cases:
    start_utc = read_week(paths.waveforms).start_utc
    outputs = paths.outputs
    return {
        "catalogue.json": (paths.catalogue.read_bytes(), lambda p: read_catalogue(p, HOUSE)),
        "solutions/2015-wk01/identity.json": (
            paths.identity.read_bytes(),
            lambda p: read_catalogue(None, HOUSE, solutions_folder=p.parents[1], week="2015-wk01"),
        ),
        "manifest.json": (
            paths.manifest.read_bytes(),
            lambda p: manifest.why_redo(p, manifest.Step("publish")),
        ),
        "summary.json": ((outputs / "summary.json").read_bytes(), read_summary),
        "diagnosed/corrections.json": (
            (outputs / "corrections.json").read_bytes(),
            lambda p: list(commands.diagnose(argparse.Namespace(folder=p.parent))),
        ),
        f"{HOUSE}/2015-wk01/power.parquet": (
            (outputs / "power.parquet").read_bytes(),
            lambda p: read_house(p.parents[2], HOUSE),
        ),
        "week.quality.json": (paths.quality.read_bytes(), read_quality),
        "week.parquet": (paths.waveforms.read_bytes(), read_week),
        "hour.arrow": (min(paths.pieces.glob("*.arrow")).read_bytes(), read_piece),
        "truth.npz": (paths.truth.read_bytes(), lambda p: read_truth(p, start_utc, interval_s=120.0)),
        "factorised.npz": (paths.factorised.read_bytes(), load_factorised),
        "hopped.npz": (paths.hopped.read_bytes(), load_disaggregation),
    }


def _of_people(_paths: WeekPaths) -> Cases:
    notes = {
        "house": HOUSE,
        "names": {"A01": "Kettle"},
        "not_parts": ["A02"],
        "merged": {"A03": "A01"},
        "wrong_names": {"A04": ["fridge"]},
        "history": [{"at_utc": "2015-01-01T00:00:00Z", "words": "w", "edits": [], "undoes": None}],
    }
    settings = (
        b'tariff_per_kwh = 0.3\ncurrency = "EUR"\ntimezone = "Europe/Berlin"\nseed = 3\nn_cycles = 10\n'
    )
    return {
        "names.json": (files.canonical_json(notes).encode(), lambda p: read_notes(p, HOUSE)),
        "nilm.toml": (settings, _settings),
    }


def _others(folder: Path) -> Cases:
    """Music, habits, recorded cycles and label matrices."""
    rng = np.random.default_rng(0)
    tune = synthesise(tiny_tune()[:3], rate=8000)[:8000]
    write_spectra(power_spectra(tune, 8000, SpectraOptions(max_hz=3000.0)), folder / "spectra.parquet")
    audio = io.BytesIO()
    soundfile.write(audio, tune, 8000, format="WAV")
    times = np.arange(50.0) * 6 + 1.4e9
    habits = _npz(
        times=times,
        watts=rng.random((50, 2)),
        channels=np.array(["a", "b"]),
        step_s=6.0,
        valid=np.ones(50, bool),
    )
    cycles = _npz(
        appliance=np.array(["Kettle", "Lamp"]),
        current_a=rng.standard_normal((2, 64)),
        voltage_v=325 * np.sin(np.arange(128).reshape(2, 64) * 2 * np.pi / 64),
    )
    return {
        "spectra.parquet": ((folder / "spectra.parquet").read_bytes(), read_spectra),
        "tune.wav": (audio.getvalue(), read_audio),
        "tune.mid": (midi_file(tiny_tune()), read_midi),
        "habits.npz": (habits, read_habits),
        "cycles.npz": (cycles, lambda p: recorded_cycles(p, 32)),
        "labels.npz": (_npz(Z=rng.integers(0, 2, (20, 3)).astype(np.uint8)), read_label_matrix),
        "labels.csv": (b"a,b,c\n1,0,1\n0,0,1\n", read_label_matrix),
        "labels.svm": (b"1,2 1:0.5 2:1\n3 1:1\n 2:2\n", read_label_matrix),
    }


def _labels(path: Path) -> object:
    read_labels(path)
    return read_submeters(
        path.parent, np.array(["2015-01-01"], "datetime64[ns]"), duration_s=np.array([120.0])
    )


def _settings(path: Path) -> object:
    os.environ["NILM_SETTINGS"] = str(path)
    return load_settings()


def _npz(**arrays: object) -> bytes:
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **arrays)  # type: ignore[arg-type]
    return buffer.getvalue()
