"""Small frozen weeks and a piano piece, and digests of what each step makes of them.

`make freeze` writes the digests anew. They are of rounded numbers, so that another processor's last bits do
not count. A step's outputs may change only together with its number in `nilm.versions`; the command writes
nothing where they did not. Weeks are of two sorts: `RECORDED` go from FLAC to the page, `OBSERVED` are rows
of current given to `nilm.disaggregate.disaggregate`. Weeks of real data are left out where there is none.
"""

import hashlib
import json
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import soundfile

from nilm import versions
from nilm.disaggregate import disaggregate
from nilm.files import write_json
from nilm.music.spectra import read_spectra
from nilm.music.transcribe import transcribe
from nilm.music.transcription import TranscribeOptions
from nilm.music.tune import synthesise, tiny_tune
from nilm.paths import WeekPaths
from nilm.pipeline import WeekOptions, WeekPipeline, silent
from nilm.recordings.tables import read_week
from nilm.recordings.ukdale import Week
from nilm.simulate.faults import Fault
from nilm.simulate.habits import observe_habits, read_habits
from nilm.simulate.house import drop_rows, observe, simulated_house
from nilm.simulate.lifelike import lifelike_house
from nilm.simulate.solar import with_solar
from nilm.simulate.week import simulate_week

DIGESTS = Path(__file__).with_name("frozen.json")
DAYS = 0.25
RECORDED: dict[str, dict[str, Any]] = {
    "plain": {"seed": 11, "n_appliances": 4},
    "solar": {"seed": 12, "n_appliances": 3, "solar": True, "days": 0.5},
    "faults": {"seed": 13, "n_appliances": 3, "faults": [Fault.parse("clipped:1"), Fault.parse("outage:3")]},
    "lifelike": {"seed": 14, "days": 0.15},
}
DATA = Path(os.environ.get("REAL_DATA", Path(__file__).parents[3] / "shared" / "data"))
CYCLES = DATA / "appliances" / "hfhad_cycles.npz"
HABITS = DATA / "habits" / "studio_flat.npz"
N_POINTS = 64
NOISE_A = 0.02
_ARRAYS = ("Z", "W", "row", "in_fit", "amplitude", "hopped_Z", "hopped_W", "U", "support", "sure")


class Observed(NamedTuple):
    """What `disaggregate` is given."""

    current_a: np.ndarray  # (N, D)
    voltage_v: np.ndarray  # (D,)
    options: dict[str, Any]


def _clean(seed: int, n_appliances: int, missing: float = 0.0, **observed: Any) -> Observed:
    """A day of a house whose loads are on or off."""
    real = CYCLES if observed.pop("real", False) else None
    house = simulated_house(
        seed=seed, days=1, n_appliances=n_appliances, n_points=N_POINTS, waveforms=real, interval_s=120
    )
    rng = np.random.default_rng(seed)
    if missing:
        house = drop_rows(house, share=missing, rng=rng)
    current = observe(house, noise_a=NOISE_A, rng=rng, **observed)
    return Observed(current, house.voltage_v, {"start_utc": house.start_utc})


def _with(week: Observed, **options: Any) -> Observed:
    return week._replace(options={**week.options, **options})


def _unfit(seed: int, n_appliances: int) -> Observed:
    """A day in which one row in nine is not to be fitted, and some hold no number."""
    week = _clean(seed, n_appliances)
    current = week.current_a.copy()
    current[[100, 101, 400]] = np.nan
    return _with(week._replace(current_a=current), fit_for_use=np.arange(len(current)) % 9 != 4)


def _sunny(seed: int, n_appliances: int) -> Observed:
    rng = np.random.default_rng(seed)
    bare = simulated_house(seed=seed, days=2, n_appliances=n_appliances, n_points=N_POINTS, interval_s=120)
    house, profile = with_solar(bare, rng)
    current = observe(bare, noise_a=NOISE_A / 10, rng=rng) + np.outer(profile[:, -1], house.W[-1])
    return Observed(current, house.voltage_v, {"start_utc": house.start_utc})


def _lifelike(seed: int) -> Observed:
    house, profile = lifelike_house(seed=seed, days=1, n_points=N_POINTS, interval_s=240)
    noise = NOISE_A * np.random.default_rng(seed).standard_normal((len(house.Z), N_POINTS))
    current = (house.Z * profile) @ house.W + noise
    return Observed(current, house.voltage_v, {"start_utc": house.start_utc, "interval_s": 240})


def _lived_in(seed: int) -> Observed:
    seen = observe_habits(read_habits(HABITS, days=1), CYCLES, seed=seed, n_points=N_POINTS)
    return Observed(seen.current_a, seen.voltage_v, {"start_utc": seen.start_utc})


OBSERVED: dict[str, Callable[[], Observed]] = {
    "three appliances": lambda: _clean(21, 3),
    "six appliances": lambda: _clean(22, 6),
    "ten appliances": lambda: _clean(23, 10),
    "the paper's prior": lambda: _with(_clean(24, 5), prior="paper"),
    "an upper bound": lambda: _with(_clean(25, 6), components=8),
    "drift 1%": lambda: _clean(26, 6, drift=0.01),
    "drift 3%": lambda: _clean(27, 6, drift=0.03),
    "slow change": lambda: _clean(28, 5, slow_change=0.05),
    "switches within rows": lambda: _clean(29, 6, switch_rows=0.3),
    "missing rows": lambda: _clean(30, 6, missing=0.05),
    "unfit rows": lambda: _unfit(31, 6),
    "sun": lambda: _sunny(32, 4),
    "sun on another house": lambda: _sunny(33, 6),
    "lifelike rows": lambda: _lifelike(34),
}
OF_REAL_DATA: dict[str, Callable[[], Observed]] = {
    "real cycles": lambda: _clean(35, 8, real=True),
    "habits": lambda: _lived_in(36),
}


def digests(folder: Path) -> dict[str, dict[str, Any]]:
    """For each week and step its version, and the digests of what went in and what came out."""
    found: dict[str, dict[str, Any]] = {}
    for name, options in RECORDED.items():
        found |= _of_recording(folder / name, name, options)
    for name, make in (OBSERVED | (OF_REAL_DATA if HABITS.is_file() and CYCLES.is_file() else {})).items():
        found |= _of_rows(name, make())
    return found | _of_piano(folder)


def _of_recording(root: Path, name: str, options: dict[str, Any]) -> dict[str, dict[str, Any]]:
    made = simulate_week(
        root / "data" / "raw", house="house_sim", week="2015-wk01", **{"days": DAYS, **options}
    )
    paths = WeekPaths(root / "data", "house_sim", Week(2015, 1), root / "outputs")
    before = _digest([[path.name, _rounded(soundfile.read(path, frames=4000)[0])] for path in made.hours])
    found = {}
    for step in WeekPipeline(paths, WeekOptions()).steps:
        step.run(silent)
        after = _digest(_content(paths, step.name))
        found[f"{name}: {step.name}"] = {"version": step.version, "from": before, "made": after}
        before = after
    return found


def _of_rows(name: str, week: Observed) -> dict[str, dict[str, Any]]:
    week_found = disaggregate(week.current_a, week.voltage_v, **week.options)
    before = _digest(_rounded(week.current_a))
    solution, baseline = week_found.solution, week_found.baseline
    after = _digest([_rounded(a) for a in (baseline.Z, baseline.W, week_found.row, week_found.in_fit)])
    hop = (solution.Z, solution.W, week_found.hop.U, week_found.hop.support, week_found.sure)
    energy = week_found.power_w.sum(axis=0)
    return {
        f"{name}: factorise": {"version": versions.FACTORISE, "from": before, "made": after},
        f"{name}: hop": {
            "version": versions.HOP,
            "from": after,
            "made": _digest([*map(_rounded, hop), _rounded(energy / max(energy.max(), 1))]),
        },
    }


def _of_piano(folder: Path) -> dict[str, dict[str, Any]]:
    audio = folder / "tune.flac"
    soundfile.write(audio, synthesise(tiny_tune()), 22050)
    options = TranscribeOptions(components=9)
    report = transcribe(audio, data_root=folder / "data", outputs_root=folder / "outputs", options=options)
    spectra = read_spectra(folder / "data" / "spectra" / "tune.parquet")
    made = _digest(_rounded(spectra.power))
    notes = _digest((report.parent / "notes.csv").read_text(encoding="utf-8"))
    before = _digest(_rounded(soundfile.read(audio)[0]))
    return {
        "tune: spectra": {"version": versions.SPECTRA, "from": before, "made": made},
        "tune: piano": {"version": versions.PIANO, "from": made, "made": notes},
    }


def broken_rules(now: dict[str, Any], recorded: dict[str, Any]) -> list[str]:
    """What changed although neither its input nor its version did, each with the cure."""
    return [
        f"{step}: other outputs from the same input; raise its number in nilm/versions.py if that is meant, "
        "then run `make freeze`"
        for step, entry in now.items()
        if (was := recorded.get(step)) is not None
        and (was["version"], was["from"]) == (entry["version"], entry["from"])
        and was["made"] != entry["made"]
    ]


def renewed(now: dict[str, Any], recorded: dict[str, Any]) -> dict[str, Any]:
    """The digests to record: today's, and those of real data as they were where there is none today."""
    kept = {step: entry for step, entry in recorded.items() if step.split(":")[0] in OF_REAL_DATA}
    return {**kept, **now}


def _content(paths: WeekPaths, step: str) -> Any:
    if step == "ingest":
        table = read_week(paths.waveforms)
        return [_rounded(table.active_w), _rounded(table.rms_a), table.flags.tolist()]
    if step in ("factorise", "hop"):
        with np.load(paths.factorised if step == "factorise" else paths.hopped) as file:
            return {name: _rounded(file[name]) for name in _ARRAYS if name in file.files}
    names = ("appliances.csv", "activations.csv")
    return {name: (paths.outputs / name).read_text(encoding="utf-8") for name in names}


def _rounded(array: Any) -> list[float]:
    rounded = np.round(np.asarray(array, dtype=np.float64), 2) + 0.0  # no negative zero
    return [list(rounded.shape), *rounded.ravel().tolist()]


def _digest(content: Any) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:16]


def renew() -> int:
    """Write the digests anew; 1, and nothing written, where a version should have been raised first."""
    recorded = json.loads(DIGESTS.read_text()) if DIGESTS.is_file() else {}
    with tempfile.TemporaryDirectory() as folder:
        now = digests(Path(folder))
    broken = broken_rules(now, recorded)
    if broken:
        sys.stderr.write("\n".join(broken) + "\n")
        return 1
    write_json(DIGESTS, renewed(now, recorded))
    return 0


if __name__ == "__main__":
    sys.exit(renew())
