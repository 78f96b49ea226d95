"""Recorded appliance cycles from an npz file, as the appliances of a simulated house.

The file holds `current_a`, `voltage_v` (n, samples): one mains cycle each, from a rising voltage zero
crossing, and `appliance` (n,) names. Owns that format and its alignment; a sum of such cycles is ours,
not a recording.
"""

from dataclasses import replace
from pathlib import Path

import numpy as np

from lfm.arrays import FloatArray
from nilm.appliances.measures import resample_cycle
from nilm.errors import InputFileError, OptionError
from nilm.files import read_npz
from nilm.simulate import loads
from nilm.simulate.appliances.household import RECORDED, STANDBY, Draw, Model
from nilm.simulate.schedules import meals

_FIELDS = ("appliance", "current_a", "voltage_v")
_OTHER = ("mixed", meals((9.0, 14.0, 19.0), probability=0.5, lasts_s=(1800, 7200)))


def recorded_models(
    path: Path, n_appliances: int, n_points: int, rng: np.random.Generator
) -> tuple[list[Model], FloatArray, FloatArray]:
    """Models, voltage (D,) and recordings (K, R, D) of a house of recorded appliances, drawn by `rng`.

    Column 0 is a parametric standby load; the others are n_appliances − 1 of the file's appliances.
    """
    names, current, voltage = recorded_cycles(path, n_points)
    distinct = np.unique(names)
    if n_appliances > len(distinct) + 1:
        raise OptionError(
            f"{path} holds {len(distinct)} appliances, so a house has at most {len(distinct) + 1} columns "
            f"with the always-on one; got {n_appliances} appliances"
        )
    chosen = rng.permutation(distinct)[: n_appliances - 1].tolist()
    n_recordings = min(int(np.count_nonzero(names == name)) for name in distinct)
    groups = [rng.permutation(np.flatnonzero(names == name))[:n_recordings] for name in chosen]
    standby = STANDBY.draw(voltage, STANDBY.watts, rng)
    recordings = np.stack([np.tile(standby, (n_recordings, 1)), *(current[g] for g in groups)])
    models = [replace(STANDBY, draw=_as_recorded(standby))]
    for name, cycles in zip(chosen, recordings[1:], strict=True):
        models.append(_model(name, cycles[0], loads.active_w(voltage, cycles[0]), present=chosen))
    # A cooker hood runs only while something cooks, so it must be drawn after the cooker.
    order = sorted(range(len(models)), key=lambda k: models[k].only_with is not None)
    return [models[k] for k in order], voltage, recordings[order]


def recorded_cycles(path: Path, n_points: int) -> tuple[np.ndarray, FloatArray, FloatArray]:
    """Names (n,), currents (n, D) and the one voltage (D,) of the file's recordings.

    The voltage is the mean recorded one at nominal size. Currents keep the amps of the file, lose their DC
    (no current transformer passes it) and are moved to start where the voltage's fundamental rises through
    zero.
    """
    names, current_a, voltage_v = _read(path)
    late = _late(voltage_v)
    voltage = resample_cycle(voltage_v, n_points, shift=late).mean(axis=0)
    if not loads.rms(voltage) > 0:
        raise InputFileError(f"{path}: the mean of voltage_v does not alternate; give one mains cycle a row")
    voltage *= loads.NOMINAL_V / loads.rms(voltage)
    return names, resample_cycle(current_a, n_points, shift=late), voltage


def _late(voltage_v: FloatArray) -> FloatArray:
    """(n, 1) by how many cycles each recording starts after its voltage's fundamental rises through zero."""
    fundamental = np.fft.rfft(voltage_v, axis=1)[:, 1:2]
    return np.asarray((np.angle(fundamental) + np.pi / 2) / (2 * np.pi), dtype=np.float64)


def _as_recorded(cycle: FloatArray) -> Draw:
    def draw(voltage_v: FloatArray, watts: float, rng: np.random.Generator) -> FloatArray:  # noqa: ARG001
        return cycle

    return draw


def _model(name: str, cycle: FloatArray, watts: float, *, present: list[str]) -> Model:
    kind, habit = RECORDED.get(name, _OTHER)
    model = Model(name, kind, watts, _as_recorded(cycle), habit)
    if name == "RangeHood" and "InductionCooker" in present:
        model = replace(model, only_with="InductionCooker", shares=((0.15, 0.85),))
    return model


def _read(path: Path) -> tuple[np.ndarray, FloatArray, FloatArray]:
    """(names, current_a, voltage_v) of the file, checked, without DC."""
    file = read_npz(path, cure=f"give an npz with {', '.join(_FIELDS)}", fields=_FIELDS)
    names, current, voltage = (file[f] for f in _FIELDS)
    if (
        current.ndim != 2
        or current.shape != voltage.shape
        or names.shape != current.shape[:1]
        or not current.size
    ):
        raise InputFileError(
            f"{path}: current_a {current.shape} and voltage_v {voltage.shape} must be (n, samples) alike, "
            f"and appliance {names.shape} must be (n,)"
        )
    current, voltage = (_finite(path, *pair) for pair in (("current_a", current), ("voltage_v", voltage)))
    return (
        names,
        current - current.mean(axis=1, keepdims=True),
        voltage - voltage.mean(axis=1, keepdims=True),
    )


def _finite(path: Path, name: str, values: np.ndarray) -> FloatArray:
    """The values as float64; InputFileError where one is no finite number."""
    try:
        numbers = values.astype(np.float64)
    except ValueError:
        numbers = np.full(1, np.nan)
    if not (np.isfinite(numbers).all() and np.isfinite(loads.rms(numbers.ravel())) and numbers.any()):
        raise InputFileError(f"{path}: {name} must be finite numbers, not all 0")
    return numbers
