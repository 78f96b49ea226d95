"""FLAC files that are mostly silence, written without encoding the silence.

An hour of a simulated week is 57.6 million samples, of which few are not zero. libFLAC takes 1.5 CPU seconds
to find that out; a frame of silence is twenty known bytes. So the stretches that hold signal are encoded by
libFLAC (through soundfile), their frames are given their place in the file, and frames of silence made here
lie between them (docs/decisions/0010-sparse-flac.md). Frames are as long as what they hold: a reader that
looks at 45 ms decodes no more. Any FLAC reader reads the result.
"""

import io
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import soundfile
from numpy.typing import NDArray

from lfm.compiled import compiled
from nilm.recordings.flac.frames import CRC8, crc_table
from nilm.recordings.flac.windows import BLOCK

Samples = NDArray[np.int32]  # (n, 2) voltage and current, 24-bit integers

BITS = 24
FULL_SCALE = 2 ** (BITS - 1)  # a sample of 1.0
_FIXED, _VARIABLE = b"\xff\xf8", b"\xff\xf9"  # sync words: frames are numbered by frame, or by first sample
_RATE_CODES = {8_000: 4, 16_000: 5}
_LENGTH_FOLLOWS = 7  # code of a block size that stands in the next 16 bits
_STEREO_24_BIT = 0x1C
_SILENCE = bytes(8)  # two subframes: constant, 24-bit zero
_MOST, _LEAST = 32_768, 16  # samples in a frame; only the last of a file may have fewer


_CRC16 = crc_table(0x8005, 16)


@compiled
def _crc(data: NDArray[np.uint8], table8: NDArray[np.uint16], table16: NDArray[np.uint16]) -> tuple[int, int]:
    """CRC-8 and CRC-16 of the bytes, as FLAC's headers and frames end with."""
    crc8, crc16 = 0, 0
    for byte in data:
        crc8 = table8[crc8 ^ byte]
        crc16 = ((crc16 << 8) & 0xFFFF) ^ table16[(crc16 >> 8) ^ byte]
    return crc8, crc16


def _checks(data: bytes) -> tuple[int, int]:
    return _crc(np.frombuffer(data, dtype=np.uint8), CRC8, _CRC16)


def _coded_number(number: int) -> bytes:
    """A frame's number as FLAC writes it: UTF-8 carried on beyond the characters that exist."""
    if number < 0x80:
        return bytes([number])
    n_more = 1
    while number >= 1 << (5 * n_more + 6):
        n_more += 1
    lead = (0xFF << (7 - n_more)) & 0xFF | (number >> (6 * n_more))
    return bytes([lead, *(0x80 | (number >> (6 * i)) & 0x3F for i in range(n_more - 1, -1, -1))])


def _frame(codes: bytes, first_sample: int, length: bytes, body: bytes) -> bytes:
    """One frame: header with its CRC-8, subframes, CRC-16 over all."""
    header = _VARIABLE + codes + _coded_number(first_sample) + length
    whole = header + bytes([_checks(header)[0]]) + body
    return whole + _checks(whole)[1].to_bytes(2, "big")


def _silent_frames(first: int, end: int, rate_hz: int) -> bytes:
    """Frames of silence for the samples from `first` up to `end`."""
    codes = bytes([_LENGTH_FOLLOWS << 4 | _RATE_CODES[rate_hz], _STEREO_24_BIT])
    frames = []
    while first < end:
        size = min(end - first, _MOST)
        if 0 < end - first - size < _LEAST:  # leave enough for one more
            size -= _LEAST
        frames.append(_frame(codes, first, (size - 1).to_bytes(2, "big"), _SILENCE))
        first += size
    return b"".join(frames)


def _encoded_bodies(samples: Samples, rate_hz: int) -> list[tuple[bytes, bytes, bytes]]:
    """(codes, length bytes, subframes) of each frame that libFLAC makes of the samples, in order."""
    file = io.BytesIO()
    # soundfile takes 24-bit samples in the upper bits of 32.
    soundfile.write(file, samples << 8, rate_hz, subtype=f"PCM_{BITS}", format="FLAC")
    data = file.getvalue()
    at, last = 4, False
    while not last:  # metadata blocks: last flag and type, 24 bits of length, content
        last = bool(data[at] & 0x80)
        at += 4 + int.from_bytes(data[at + 1 : at + 4], "big")
    n_frames = -(-len(samples) // BLOCK)
    starts = [at]
    for number in range(1, n_frames):
        starts.append(_next_frame(data, starts[-1] + 2, number))
    bodies = []
    for number, (start, end) in enumerate(zip(starts, [*starts[1:], len(data)], strict=True)):
        length_at = start + 4 + len(_coded_number(number))
        body_at = _header_end(data, start, number) + 1
        assert _checks(data[start : end - 2])[1] == int.from_bytes(data[end - 2 : end], "big")
        bodies.append((data[start + 2 : start + 4], data[length_at : body_at - 1], data[body_at : end - 2]))
    return bodies


def _header_end(data: bytes, start: int, number: int) -> int:
    """Where the CRC-8 of this frame's header stands."""
    extra = {6: 1, _LENGTH_FOLLOWS: 2}.get(data[start + 2] >> 4, 0)
    return start + 4 + len(_coded_number(number)) + extra


def _next_frame(data: bytes, start: int, number: int) -> int:
    """Where frame `number` starts: a sync word that its number and its CRC-8 confirm."""
    coded = _coded_number(number)
    while True:
        start = data.index(_FIXED, start)
        end = _header_end(data, start, number)
        if data[start + 4 : start + 4 + len(coded)] == coded and _checks(data[start:end])[0] == data[end]:
            return start
        start += 1


def write_sparse(path: Path, pieces: Sequence[tuple[int, Samples]], *, n_samples: int, rate_hz: int) -> None:
    """Write a stereo 24-bit FLAC of n_samples that is silent but for the pieces (first sample, samples).

    Pieces lie in order and do not overlap. The file holds a seek table and no MD5 of its samples.
    """
    frames: list[bytes] = []
    seek_points: list[tuple[int, int, int]] = []
    written, size = 0, 0
    for first, samples in _separate(pieces, n_samples):
        frames.append(_silent_frames(written, first, rate_hz))
        size += len(frames[-1])
        seek_points.append((first, size, min(len(samples), BLOCK)))
        for number, (codes, length, body) in enumerate(_encoded_bodies(samples, rate_hz)):
            frames.append(_frame(codes, first + number * BLOCK, length, body))
            size += len(frames[-1])
        written = first + len(samples)
    frames.append(_silent_frames(written, n_samples, rate_hz))
    path.write_bytes(b"".join([_metadata(n_samples, rate_hz, seek_points), *frames]))


def _separate(pieces: Sequence[tuple[int, Samples]], n_samples: int) -> Iterator[tuple[int, Samples]]:
    """The pieces, with silence added where they or what lies between would be too short for a frame."""
    end = 0
    joined: list[tuple[int, Samples]] = []
    for first, samples in pieces:
        assert end <= first
        end = first + len(samples)
        assert end <= n_samples
        if joined and first - (joined[-1][0] + len(joined[-1][1])) < 2 * _LEAST:
            begin, before = joined.pop()
            silence = np.zeros((first - begin - len(before), 2), dtype=np.int32)
            joined.append((begin, np.concatenate([before, silence, samples])))
        else:
            joined.append((first, samples))
    for number, (first, samples) in enumerate(joined):
        begin = 0 if first < _LEAST else first
        room = (joined[number + 1][0] if number + 1 < len(joined) else n_samples) - begin
        length = first - begin + len(samples)
        if length % BLOCK < _LEAST:
            length += _LEAST
        if room - length < _LEAST:
            length = min(room, max(length, room))
        padded = np.zeros((min(length, room), 2), dtype=np.int32)
        padded[first - begin : first - begin + len(samples)] = samples
        yield begin, padded


def _metadata(n_samples: int, rate_hz: int, seek_points: Sequence[tuple[int, int, int]]) -> bytes:
    """The start of the file: STREAMINFO (no MD5, frame sizes unknown) and SEEKTABLE."""
    packed = rate_hz << 44 | (2 - 1) << 41 | (BITS - 1) << 36 | n_samples
    blocks = _LEAST.to_bytes(2, "big") + _MOST.to_bytes(2, "big")
    info = blocks + bytes(6) + packed.to_bytes(8, "big") + bytes(16)
    table = b"".join(
        sample.to_bytes(8, "big") + offset.to_bytes(8, "big") + length.to_bytes(2, "big")
        for sample, offset, length in seek_points
    )
    return b"fLaC\x00" + len(info).to_bytes(3, "big") + info + b"\x83" + len(table).to_bytes(3, "big") + table
