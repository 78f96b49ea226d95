"""Small frozen weeks, and digests of what each step makes of them; `make freeze` writes the digests anew.

Digests are of rounded numbers, so that another processor's last bits do not count. A step's outputs may
change only together with its number in `nilm.versions`; the command writes nothing where they did not.
"""

import hashlib
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from nilm.files import write_json
from nilm.options import WeekOptions
from nilm.paths import WeekPaths
from nilm.pipeline import WeekPipeline, silent
from nilm.recordings.tables import read_week
from nilm.recordings.ukdale import Week
from nilm.simulate.faults import Fault
from nilm.simulate.week import simulate_week

DIGESTS = Path(__file__).with_name("frozen.json")
DAYS = 0.25
WEEKS: dict[str, dict[str, Any]] = {
    "plain": {"seed": 11, "n_appliances": 4},
    "solar": {"seed": 12, "n_appliances": 3, "solar": True, "days": 0.5},
    "faults": {"seed": 13, "n_appliances": 3, "faults": [Fault.parse("clipped:1"), Fault.parse("outage:3")]},
}


def digests(folder: Path) -> dict[str, dict[str, Any]]:
    """For each week and step its version, and the digests of what went in and what came out."""
    found: dict[str, dict[str, Any]] = {}
    for name, options in WEEKS.items():
        root = folder / name
        simulate_week(root / "data" / "raw", house="house_sim", week="2015-wk01", **{"days": DAYS, **options})
        paths = WeekPaths(root / "data", "house_sim", Week(2015, 1), root / "outputs")
        before = _digest([path.name for path in sorted((root / "data" / "raw").rglob("*.flac"))])
        for step in WeekPipeline(paths, WeekOptions()).steps:
            step.run(silent)
            after = _digest(_content(paths, step.name))
            found[f"{name}: {step.name}"] = {"version": step.version, "from": before, "made": after}
            before = after
    return found


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


def _content(paths: WeekPaths, step: str) -> Any:
    if step == "ingest":
        table = read_week(paths.waveforms)
        return [_rounded(table.active_w), _rounded(table.rms_a), table.flags.tolist()]
    if step in ("factorise", "hop"):
        with np.load(paths.factorised if step == "factorise" else paths.hopped) as file:
            return {name: _rounded(file[name]) for name in file.files if file[name].dtype.kind in "biuf"}
    names = ("appliances.csv", "activations.csv")
    return {name: (paths.outputs / name).read_text(encoding="utf-8") for name in names}


def _rounded(array: Any) -> list[float]:
    rounded = np.round(np.asarray(array, dtype=np.float64), 2) + 0.0  # no negative zero
    return [list(rounded.shape), *rounded.ravel().tolist()]


def _digest(content: Any) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:16]


def renew() -> int:
    """Write the digests anew; 1, and nothing written, where a version should have been raised first."""
    with tempfile.TemporaryDirectory() as folder:
        now = digests(Path(folder))
    broken = broken_rules(now, json.loads(DIGESTS.read_text())) if DIGESTS.is_file() else []
    if broken:
        sys.stderr.write("\n".join(broken) + "\n")
        return 1
    write_json(DIGESTS, now)
    return 0


if __name__ == "__main__":
    sys.exit(renew())
