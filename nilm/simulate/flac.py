"""FLAC files that are mostly silence, written without encoding the silence.

An hour of a simulated week is 57.6 million samples, of which one in four hundred is not zero. libFLAC takes
1.5 CPU seconds to find that out; a frame of silence is eighteen known bytes. So the frames that hold signal
are encoded by libFLAC (through soundfile), renumbered, and laid between frames of silence made here
(docs/decisions/0010-sparse-flac.md). Any FLAC reader reads the result.
"""

import io
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np
import soundfile
from numpy.typing import NDArray

from lfm.compiled import compiled

Samples = NDArray[np.int32]  # (n, 2) voltage and current, 24-bit integers

BITS = 24
FULL_SCALE = 2 ** (BITS - 1)  # a sample of 1.0
_BLOCK = 4096  # libFLAC's own choice at its default level
_SYNC = b"\xff\xf8"  # fixed block size: frames are numbered, not samples
_RATE_CODES = {8_000: 4, 16_000: 5}
_SHORT_BLOCK, _FULL_BLOCK = 7, 12  # codes: length in the next 16 bits; 4096
_STEREO_24_BIT = 0x1C
_SILENCE = bytes(8)  # two subframes: constant, 24-bit zero


def _crc_table(polynomial: int, width: int) -> NDArray[np.uint16]:
    """The table of a most-significant-bit-first CRC, by which a byte at a time is divided."""
    top, mask = 1 << (width - 1), (1 << width) - 1
    table = []
    for byte in range(256):
        value = byte << (width - 8)
        for _ in range(8):
            value = (value << 1) ^ (polynomial if value & top else 0)
        table.append(value & mask)
    return np.array(table, dtype=np.uint16)


_CRC8 = _crc_table(0x07, 8)
_CRC16 = _crc_table(0x8005, 16)


@compiled
def _crc(data: NDArray[np.uint8], table8: NDArray[np.uint16], table16: NDArray[np.uint16]) -> tuple[int, int]:
    """CRC-8 and CRC-16 of the bytes, as FLAC's headers and frames end with."""
    crc8, crc16 = 0, 0
    for byte in data:
        crc8 = table8[crc8 ^ byte]
        crc16 = ((crc16 << 8) & 0xFFFF) ^ table16[(crc16 >> 8) ^ byte]
    return crc8, crc16


def _checks(data: bytes) -> tuple[int, int]:
    return _crc(np.frombuffer(data, dtype=np.uint8), _CRC8, _CRC16)


def _coded_number(number: int) -> bytes:
    """A frame's number as FLAC writes it: UTF-8 carried on beyond the characters that exist."""
    if number < 0x80:
        return bytes([number])
    n_more = 1
    while number >= 1 << (5 * n_more + 6):
        n_more += 1
    lead = (0xFF << (7 - n_more)) & 0xFF | (number >> (6 * n_more))
    return bytes([lead, *(0x80 | (number >> (6 * i)) & 0x3F for i in range(n_more - 1, -1, -1))])


def _frame(codes: bytes, number: int, length: bytes, body: bytes) -> bytes:
    """One frame: header with its CRC-8, subframes, CRC-16 over all."""
    header = _SYNC + codes + _coded_number(number) + length
    whole = header + bytes([_checks(header)[0]]) + body
    return whole + _checks(whole)[1].to_bytes(2, "big")


@lru_cache(maxsize=20_000)  # the frames of an hour: every hour of a week has the same
def _silent_frame(number: int, rate_hz: int) -> bytes:
    codes = bytes([_FULL_BLOCK << 4 | _RATE_CODES[rate_hz], _STEREO_24_BIT])
    return _frame(codes, number, b"", _SILENCE)


def _silent_frames(first: int, end: int, rate_hz: int) -> bytes:
    return b"".join([_silent_frame(number, rate_hz) for number in range(first, end)])


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
    n_frames = -(-len(samples) // _BLOCK)
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
    extra = {6: 1, _SHORT_BLOCK: 2}.get(data[start + 2] >> 4, 0)
    return start + 4 + len(_coded_number(number)) + extra


def _next_frame(data: bytes, start: int, number: int) -> int:
    """Where frame `number` starts: a sync word that its number and its CRC-8 confirm."""
    coded = _coded_number(number)
    while True:
        start = data.index(_SYNC, start)
        end = _header_end(data, start, number)
        if data[start + 4 : start + 4 + len(coded)] == coded and _checks(data[start:end])[0] == data[end]:
            return start
        start += 1


def write_sparse(path: Path, pieces: Sequence[tuple[int, Samples]], *, n_samples: int, rate_hz: int) -> None:
    """Write a stereo 24-bit FLAC of n_samples that is silent but for the pieces (first sample, samples).

    Pieces lie in order and do not overlap. The file holds a seek table and no MD5 of its samples.
    """
    blocks: dict[int, Samples] = {}
    for first, samples in pieces:
        assert first >= 0
        assert first + len(samples) <= n_samples
        for block in range(first // _BLOCK, (first + len(samples) - 1) // _BLOCK + 1):
            start = block * _BLOCK
            held = blocks.setdefault(block, np.zeros((min(_BLOCK, n_samples - start), 2), dtype=np.int32))
            low, high = max(first, start), min(first + len(samples), start + len(held))
            held[low - start : high - start] = samples[low - first : high - first]
    ends = n_samples // _BLOCK
    remainder = n_samples - ends * _BLOCK
    if remainder and ends not in blocks:
        blocks[ends] = np.zeros((remainder, 2), dtype=np.int32)

    numbers = sorted(blocks)
    bodies = _encoded_bodies(np.concatenate([blocks[b] for b in numbers]), rate_hz) if numbers else []
    frames: list[bytes] = []
    seek_points: list[tuple[int, int, int]] = []
    written, size = 0, 0
    for number, (codes, length, body) in zip(numbers, bodies, strict=True):
        silence = _silent_frames(written, number, rate_hz)
        frame = _frame(codes, number, length, body)
        if silence:  # one point where signal begins
            seek_points.append((number * _BLOCK, size + len(silence), len(blocks[number])))
        frames += [silence, frame]
        size += len(silence) + len(frame)
        written = number + 1
    frames.append(_silent_frames(written, ends, rate_hz))
    path.write_bytes(b"".join([_metadata(n_samples, rate_hz, seek_points), *frames]))


def _metadata(n_samples: int, rate_hz: int, seek_points: Sequence[tuple[int, int, int]]) -> bytes:
    """The start of the file: STREAMINFO (no MD5, frame sizes unknown) and SEEKTABLE."""
    packed = rate_hz << 44 | (2 - 1) << 41 | (BITS - 1) << 36 | n_samples
    info = _BLOCK.to_bytes(2, "big") * 2 + bytes(6) + packed.to_bytes(8, "big") + bytes(16)
    table = b"".join(
        sample.to_bytes(8, "big") + offset.to_bytes(8, "big") + length.to_bytes(2, "big")
        for sample, offset, length in seek_points
    )
    return b"fLaC\x00" + len(info).to_bytes(3, "big") + info + b"\x83" + len(table).to_bytes(3, "big") + table
