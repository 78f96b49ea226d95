from pathlib import Path

import numpy as np
import pytest
import soundfile

from nilm.simulate.device.flac import _coded_number, write_sparse


def noise(rng: np.random.Generator, n: int) -> np.ndarray:
    return rng.integers(-(2**23), 2**23, size=(n, 2)).astype(np.int32)


def read(path: Path) -> np.ndarray:
    return soundfile.read(path, dtype="int32", always_2d=True)[0] >> 8


@pytest.mark.parametrize(
    ("n_samples", "pieces"),
    [
        (4096 * 3, [(0, 100)]),
        (4096 * 3, [(4000, 5000)]),
        (4096 * 200 + 77, [(4096, 4096), (4096 * 150 + 5, 4800)]),
        (4096 * 5 + 77, [(4096 * 5 - 10, 87)]),  # into the short last frame
        (4096 * 5 + 200, [(4096, 10), (4106, 10), (9000, 1)]),  # neighbours in one frame
        (50, [(3, 7)]),
        (4096 * 2100, []),  # frame numbers of one, two and three bytes
    ],
)
def test_a_sparse_file_reads_back_to_the_bit(tmp_path: Path, n_samples: int, pieces) -> None:
    rng = np.random.default_rng(0)
    expected = np.zeros((n_samples, 2), dtype=np.int32)
    filled = [(first, noise(rng, n)) for first, n in pieces]
    for first, samples in filled:
        expected[first : first + len(samples)] = samples
    path = tmp_path / "a.flac"
    write_sparse(path, filled, n_samples=n_samples, rate_hz=16_000)
    np.testing.assert_array_equal(read(path), expected)
    with soundfile.SoundFile(path) as file:
        assert (file.frames, file.samplerate, file.channels, file.subtype) == (n_samples, 16_000, 2, "PCM_24")
        for first, samples in filled[::-1]:
            file.seek(first)
            np.testing.assert_array_equal(file.read(len(samples), dtype="int32") >> 8, samples)


def test_extremes_of_24_bits_survive(tmp_path: Path) -> None:
    samples = np.array([[-(2**23), 2**23 - 1], [2**23 - 1, -(2**23)], [0, -1]], dtype=np.int32)
    write_sparse(tmp_path / "a.flac", [(5000, samples)], n_samples=9000, rate_hz=8_000)
    np.testing.assert_array_equal(read(tmp_path / "a.flac")[5000:5003], samples)


def test_frame_numbers_are_coded_as_utf8() -> None:
    for number in (0, 127, 128, 2047, 2048, 14_062, 65_535, 65_536, 0x10FFFF):
        assert _coded_number(number) == chr(number).encode()


def test_an_hour_of_silence_takes_hardly_any_room(tmp_path: Path) -> None:
    write_sparse(tmp_path / "a.flac", [], n_samples=57_600_000, rate_hz=16_000)
    assert (tmp_path / "a.flac").stat().st_size < 300_000
    assert soundfile.info(tmp_path / "a.flac").frames == 57_600_000
