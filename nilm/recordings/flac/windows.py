"""Short windows of a long FLAC file: each frame is found in the raw bytes and decoded as far as it is needed.

Owns where the frames of a file lie. An hour of 14,000 frames has no index; frames are nearly of one size, so
the place of a sample is guessed from the frames known around it and found by its sync word, header and CRC.
What a frame holds is `nilm.recordings.flac.frames`'. A file whose frames are not found or do not hold what
they should raises FrameError: libFLAC then reads the file.
"""

import os
from bisect import bisect_right
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import numpy as np

from lfm.arrays import FloatArray, IntArray
from nilm.recordings.flac.frames import PADDING, frame, header

BLOCK = 4096  # samples of a frame as libFLAC writes them: windows that start at multiples of it cost least
_CHANNELS = 2
_TRIES = 120  # guesses for a frame's place, a third of them halvings, of which a gigabyte needs 30
_AHEAD = 0.2  # of a frame before the guessed place: most frames are found at the first try
_HEADER_MOST = 20  # bytes
_STREAMINFO, _SEEKTABLE = 0, 3  # kinds of metadata
_SEEK_POINT = np.dtype([("sample", ">u8"), ("offset", ">u8"), ("size", ">u2")])
_SYNC_WORDS = (b"\xff\xf8", b"\xff\xf9")  # frames are numbered by frame, or by first sample


class FrameError(Exception):
    """A frame is not where it should be, or does not hold what it should."""


@dataclass(frozen=True)
class _Frame:
    """Where a frame lies, and what its header says."""

    first: int  # sample
    at: int  # byte
    size: int  # samples
    channels: int  # how they are coded
    body: int  # bytes from `at` to the subframes


class FlacWindows:
    """Samples of a stereo FLAC file by their number."""

    def __init__(self, path: Path, *, n_samples: int) -> None:
        """The file at `path`, which states two channels of `n_samples`; FrameError if it is no FLAC."""
        self._file = os.open(path, os.O_RDONLY)
        try:
            start, points = self._read_metadata()
        except BaseException:
            os.close(self._file)
            raise
        self._scratch = np.empty((_CHANNELS, self._block), dtype=np.int64)
        end = os.fstat(self._file).st_size
        places = {0: start} | {n: start + at for n, at in points if n < n_samples and start + at < end}
        places[n_samples] = end
        # Frames known so far, in order, and their first samples. Of these only the places are known yet.
        self._frames = [_Frame(first, at, 0, 0, 0) for first, at in sorted(places.items())]
        self._firsts = [known.first for known in self._frames]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._file)

    def _read_metadata(self) -> tuple[int, list[tuple[int, int]]]:
        """The byte at which the first frame starts, and the file's seek points (sample, bytes after that)."""
        if os.pread(self._file, 4, 0) != b"fLaC":
            raise FrameError("no FLAC")
        points: list[tuple[int, int]] = []
        at, last = 4, False
        while not last:  # last flag and type, 24 bits of length, content
            head = os.pread(self._file, 4, at)
            if len(head) < 4:
                raise FrameError("metadata without an end")
            size = int.from_bytes(head[1:], "big")
            kind, last = head[0] & 0x7F, bool(head[0] & 0x80)
            if kind == _STREAMINFO:
                info = os.pread(self._file, size, at + 4)
                self._block = int.from_bytes(info[2:4], "big")
                self._bits = (int.from_bytes(info[10:18], "big") >> 36 & 0x1F) + 1
            elif kind == _SEEKTABLE:
                content = os.pread(self._file, size, at + 4)
                table = np.frombuffer(content, dtype=_SEEK_POINT, count=len(content) // _SEEK_POINT.itemsize)
                points = list(zip(table["sample"].tolist(), table["offset"].tolist(), strict=True))
            at += 4 + size
        self._sync = os.pread(self._file, 2, at)
        if self._sync not in _SYNC_WORDS:
            raise FrameError("no frame after the metadata")
        return at, points

    def read(self, begin: IntArray, size: int) -> FloatArray:
        """Samples (R, size, 2) from each of these sample numbers on, 1.0 being full scale.

        FrameError where a frame is not found, or is damaged. Checksums of samples are not compared: they
        stand at the end of a frame, which is not decoded that far.
        """
        samples = np.empty((len(begin), size, _CHANNELS))
        for index, first in enumerate(begin.tolist()):
            self._fill(first, samples[index])
        return samples

    def _fill(self, begin: int, out: FloatArray) -> None:
        done = 0
        while done < len(out):
            found = self._frame_with(begin + done)
            skip = begin + done - found.first
            count = min(found.size - skip, len(out) - done)
            self._decode(found, skip, out[done : done + count])
            done += count

    def _decode(self, found: _Frame, skip: int, out: FloatArray) -> None:
        """Fill `out` (n, 2) with samples of the frame, but for the first `skip` of it."""
        # No longer than its samples written out, with a bit more for a difference of channels.
        most = found.body + found.size * _CHANNELS * (self._bits + 1) // 8 + 64
        data = os.pread(self._file, most + PADDING, found.at)
        if (length := len(data)) < most + PADDING:  # at the end of the file
            data += bytes(PADDING)
        raw = np.frombuffer(data, dtype=np.uint8)
        end = frame(raw, found.body, found.size, found.channels, self._bits, self._scratch, skip, out)
        if not 0 <= end <= length:
            raise FrameError(f"sample {found.first}: no frame")

    def _frame_with(self, sample: int) -> _Frame:
        """The frame that holds this sample."""
        place = bisect_right(self._firsts, sample)
        below = self._frames[place - 1]
        if sample < below.first + below.size:
            return below
        found = self._search(sample, below, self._frames[min(place, len(self._frames) - 1)])
        if found.first == below.first:  # of which only the place was known
            self._frames[place - 1] = found
        else:
            self._firsts.insert(place, found.first)
            self._frames.insert(place, found)
        return found

    def _search(self, sample: int, below: _Frame, above: _Frame) -> _Frame:
        """The frame that holds this sample, from guesses between the frames around it."""
        limit = above.at  # frames that start here or later come after the sample
        for attempt in range(_TRIES):
            between = max(above.first - below.first, 1)
            frame_bytes = (above.at - below.at) * self._block / between
            guess = below.at + ((sample - below.first) / self._block - _AHEAD) * frame_bytes
            if attempt % 3 == 2 or guess >= limit:  # frames that are not of one size: halve
                guess = (below.at + limit) / 2
            least = below.at + (1 if below.size else 0)
            place = max(int(guess), least)
            found = self._first_frame(place, limit, most=above.first, chunk=int(frame_bytes))
            if found is None or found.first > sample:
                if place == least:
                    break
                limit, above = place, found or above
            elif sample < found.first + found.size:
                return found
            else:
                below = found
        raise FrameError(f"sample {sample}: no frame holds it")

    def _first_frame(self, begin: int, end: int, *, most: int, chunk: int) -> _Frame | None:
        """The first frame that starts in these bytes; None if there is none before sample `most`."""
        while begin < end:
            size = min(max(chunk, 4 * _HEADER_MOST), end - begin)
            data = os.pread(self._file, size + _HEADER_MOST, begin)
            raw = np.frombuffer(data + bytes(_HEADER_MOST), dtype=np.uint8)
            at = data.find(self._sync)
            while 0 <= at < size:
                first, n, channels, length = header(raw, at, self._block, self._bits)
                if 0 <= first < most and n <= self._block:
                    return _Frame(first, begin + at, n, channels, length)
                at = data.find(self._sync, at + 1)
            begin, chunk = begin + size, 2 * size
        return None
