"""The small files of a simulated house: labels.dat, channel_N.dat, mains.dat and calibration.cfg.

They lie beside the years and hold every week simulated so far, so a week is laid into them: readings of its
time are replaced, all others stay.
"""

import io
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import BinaryIO

import numpy as np

from nilm.errors import OptionError
from nilm.files import atomic_path, write_text
from nilm.recordings.ukdale import Week, channel_file, first_line_from, read_labels
from nilm.simulate.appliances.household import ALWAYS_ON
from nilm.simulate.house import House
from nilm.simulate.signal import Signal
from nilm.thresholds import WORLD
from nilm.timeline import DAY_S

# UK-DALE's house 1: full scale is 408 V and 106 A.
VOLTS_PER_ADC_STEP = 1.90101491444e-07
AMPS_PER_ADC_STEP = 4.9224284384e-08
CHANNEL_S = 6
MAINS_S = 1
_PIECE = 2**20  # bytes copied at a time

CALIBRATION_CFG = f"""[Calibration]
volts_per_adc_step = {VOLTS_PER_ADC_STEP!r}
amps_per_adc_step = {AMPS_PER_ADC_STEP!r}
phase_difference = 0
"""


def channels(house: House) -> dict[int, str]:
    """Channel numbers and names as in labels.dat: 1 is the aggregate, then each thing that is plugged in.

    Parts of one machine share its channel; what is always on is spread over the house and has none.
    """
    metered = [m for m, kind in zip(house.machines, house.kinds, strict=True) if kind != ALWAYS_ON]
    names = ["aggregate", *dict.fromkeys(metered)]
    return {number: name.replace(" ", "_") for number, name in enumerate(names, start=1)}


def check_labels(folder: Path, house: House) -> None:
    """Nothing, if the house's channels agree with the folder's labels.dat; OptionError if not."""
    path = folder / "labels.dat"
    if not path.is_file():
        return
    ours = channels(house)
    for channel, name in read_labels(path).items():
        if ours.get(channel, name) != name:
            raise OptionError(
                f"{path} says that channel {channel} is {name!r}, but this week would make it "
                f"{ours[channel]!r}: one folder is one house. Use the seed and waveforms of its other "
                f"weeks, or another house name"
            )


def write_meters(folder: Path, signal: Signal, week: Week, rng: np.random.Generator) -> None:
    """Lay a week's readings into the house's files; submeters read every 6 s, mains.dat every second."""
    house = signal.house
    write_text(folder / "calibration.cfg", CALIBRATION_CFG)
    labels = channels(house)
    path = folder / "labels.dat"
    known = read_labels(path) if path.is_file() else {}
    write_text(path, "".join(f"{n} {name}\n" for n, name in sorted({**known, **labels}.items())))

    start = int(week.start.timestamp())
    length_s = len(house.Z) * house.interval_s
    second = np.arange(0, length_s, CHANNEL_S)
    watts = signal.watts(second)
    for channel, name in labels.items():
        parts = [k for k, m in enumerate(house.machines) if m.replace(" ", "_") == name]
        power = np.rint(watts[:, parts].sum(axis=1) if channel > 1 else watts.sum(axis=1)).astype(np.int64)
        heard = rng.random(len(second)) >= WORLD.lost_share
        lines = [
            f"{start + s} {w}" for s, w in zip(second[heard].astype(np.int64), power[heard], strict=True)
        ]
        _lay(channel_file(folder, channel), lines, week)
    _lay(folder / "mains.dat", _mains_lines(signal, length_s, start), week)


def _mains_lines(signal: Signal, length_s: float, start: int) -> Iterator[str]:
    """Time, active W, apparent VA, volts RMS of each second, made a day at a time."""
    for day_s in np.arange(0, length_s, DAY_S):
        second = np.arange(day_s, min(day_s + DAY_S, length_s), MAINS_S)
        active = signal.watts(second).sum(axis=1)
        volts = signal.rms_v(second)
        apparent = volts * signal.rms_a(second)
        for s, w, va, v in zip(second, active, apparent, volts, strict=True):
            yield f"{start + s:.1f} {w:.2f} {va:.2f} {v:.2f}"


def _lay(path: Path, lines: Iterable[str], week: Week) -> None:
    """Write the lines into the file in place of those it had for this week; the others are copied unread."""
    with ExitStack() as stack:
        old: BinaryIO = io.BytesIO()
        if path.is_file():
            old = stack.enter_context(path.open("rb"))
        new = stack.enter_context(atomic_path(path))
        end = first_line_from(old, week.end.timestamp())
        with new.open("wb") as out:
            _copy(old, out, 0, first_line_from(old, week.start.timestamp()))
            out.writelines(f"{line}\n".encode() for line in lines)
            _copy(old, out, end, old.seek(0, io.SEEK_END))


def _copy(source: BinaryIO, target: BinaryIO, start: int, end: int) -> None:
    """Copy the bytes from `start` to `end`, a piece at a time."""
    source.seek(start)
    for at in range(start, end, _PIECE):
        target.write(source.read(min(_PIECE, end - at)))
