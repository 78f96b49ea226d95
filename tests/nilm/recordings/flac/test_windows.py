"""Windows of FLAC files against libFLAC: the same bits, whatever the encoder did."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import soundfile

from nilm.recordings.flac.frames import CRC8, PADDING, frame
from nilm.recordings.flac.windows import BLOCK, FlacWindows, FrameError
from nilm.recordings.ukdale import Calibration
from nilm.recordings.waveforms import Sampling, read_hour
from nilm.simulate.device.flac import write_sparse

RATE_HZ = 16_000
N = 10 * BLOCK + 1234  # the last frame is shorter


def hum(rng: np.random.Generator) -> np.ndarray:
    turn = 2 * np.pi * 50 * np.arange(N) / RATE_HZ
    return 0.6 * np.column_stack([np.sin(turn), np.sin(turn + 0.4)]) + 1e-3 * rng.standard_normal((N, 2))


def noise(rng: np.random.Generator) -> np.ndarray:
    return rng.uniform(-1, 1, (N, 2))  # nothing to predict: samples are written out


def silence(rng: np.random.Generator) -> np.ndarray:
    samples = np.zeros((N, 2))
    samples[5000:5200] = 0.3 * rng.standard_normal((200, 2))
    return np.clip(samples, -1, 1)


def alike(rng: np.random.Generator) -> np.ndarray:
    """Channels that differ little: they are coded as middle and side, or as one and the difference."""
    one = hum(rng)[:, 0]
    return np.column_stack([one, one + 1e-5 * rng.standard_normal(N)])


def coarse(rng: np.random.Generator) -> np.ndarray:
    """Samples whose last bits are all zero."""
    return np.rint(hum(rng) * 2**9) / 2**9


def loud(rng: np.random.Generator) -> np.ndarray:
    return np.clip(3 * hum(rng), -1, 1 - 2**-23)


@pytest.mark.parametrize("level", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("bits", [16, 24])
@pytest.mark.parametrize("content", [hum, noise, silence, alike, coarse, loud])
def test_windows_have_the_bits_that_libflac_gives(
    tmp_path: Path, content: Callable[..., np.ndarray], bits: int, level: float
) -> None:
    rng = np.random.default_rng(bits)
    path = tmp_path / "a.flac"
    soundfile.write(path, content(rng), RATE_HZ, subtype=f"PCM_{bits}", compression_level=level)
    whole = soundfile.read(path)[0]
    begin = np.concatenate([[0, BLOCK, N - 900], rng.integers(0, N - 900, 20)])
    with FlacWindows(path, n_samples=N) as windows:
        for size in (100, 900):
            found = windows.read(begin, size)
            for n, first in enumerate(begin.tolist()):
                np.testing.assert_array_equal(found[n], whole[first : first + size])
        np.testing.assert_array_equal(windows.read(np.array([0]), N)[0], whole)


def test_frames_of_any_length_and_a_seek_table_are_read(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    path = tmp_path / "sparse.flac"
    n_samples = 20 * RATE_HZ
    pieces = [
        (first, rng.integers(-(2**22), 2**22, (size, 2)).astype(np.int32))
        for first, size in ((0, 700), (50_000, 9_000), (160_000, 730), (319_000, 1_000))
    ]
    write_sparse(path, pieces, n_samples=n_samples, rate_hz=RATE_HZ)
    whole = soundfile.read(path)[0]
    with FlacWindows(path, n_samples=n_samples) as windows:
        for first in (0, 49_990, 55_000, 120_000, 160_000, 160_729, 319_500):
            np.testing.assert_array_equal(windows.read(np.array([first]), 500)[0], whole[first : first + 500])


def test_numbers_that_the_encoder_did_not_code_are_read() -> None:
    """An escaped partition, which libFLAC never writes, made by hand: five bits a number, no predictor."""
    values = np.array([3, -5, 15, -16, 0, 7, -1, 2])

    def subframe() -> str:
        coded = "".join(f"{int(v) & 31:05b}" for v in values)
        return "00010000" + "00" + "0000" + "1111" + "00101" + coded  # fixed predictor of order 0

    bits = subframe() * 2
    bits += "0" * (-len(bits) % 8)
    data = np.frombuffer(int(bits, 2).to_bytes(len(bits) // 8, "big") + bytes(PADDING), dtype=np.uint8)
    out, scratch = np.empty((8, 2)), np.empty((2, 8), dtype=np.int64)
    assert frame(data, 0, 8, 1, 16, scratch, 0, out) == len(bits) // 8
    np.testing.assert_array_equal(out * 2**15, np.column_stack([values, values]))
    assert CRC8[1] == 7  # the polynomial x⁸ + x² + x + 1


def test_damage_never_leads_out_of_the_file(tmp_path: Path) -> None:
    """Any bytes at all: a window is an error or samples, never a crash."""
    rng = np.random.default_rng(1)
    path = tmp_path / "a.flac"
    soundfile.write(path, hum(rng), RATE_HZ, subtype="PCM_24")
    sound = path.read_bytes()
    failed = 0
    for _ in range(300):
        damaged = bytearray(sound[: rng.integers(100, len(sound))])
        for place in rng.integers(42, len(damaged), rng.integers(1, 200)):
            damaged[place] = rng.integers(256)
        path.write_bytes(damaged)
        try:
            with FlacWindows(path, n_samples=N) as windows:
                assert windows.read(rng.integers(0, N - 900, 5), 900).shape == (5, 900, 2)
        except FrameError:
            failed += 1
    assert failed > 100


def test_a_file_whose_frames_are_not_found_is_read_by_libflac(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def nothing(self: FlacWindows, begin: np.ndarray, size: int) -> np.ndarray:
        raise FrameError("no frame")

    path = tmp_path / "vi-1421625600.flac"
    rng = np.random.default_rng(0)
    samples = np.tile(hum(rng), (8, 1))
    samples[len(samples) // 2 :, 1] *= 0.5
    soundfile.write(path, samples, RATE_HZ, subtype="PCM_24")
    calibration = Calibration(400.0, 100.0)
    ours = read_hour(path, calibration=calibration, sampling=Sampling())
    monkeypatch.setattr(FlacWindows, "read", nothing)
    theirs = read_hour(path, calibration=calibration, sampling=Sampling())
    assert len(ours.table) == 2
    np.testing.assert_array_equal(ours.table.start_utc, theirs.table.start_utc)
    np.testing.assert_array_equal(ours.table.current_a, theirs.table.current_a)
