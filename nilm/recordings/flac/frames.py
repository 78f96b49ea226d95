"""One frame of a FLAC file from its bytes: its header, and as many of its samples as are asked for.

Owns the format (RFC 9639) as far as two channels need it: libFLAC decodes whole frames of 4,096 samples, and
a look at the house needs the first 700 (docs/decisions/0230-frames-decoded-in-part.md). Where a frame lies in
a file is `nilm.recordings.flac.windows`'.
"""

import numpy as np
from numpy.typing import NDArray

from lfm.arrays import FloatArray, IntArray
from lfm.compiled import compiled

Bytes = NDArray[np.uint8]

PADDING = 256  # bytes that must follow a frame in memory: no damage may lead the decoder out of it
INDEPENDENT, LEFT_SIDE, RIGHT_SIDE, MID_SIDE = 1, 8, 9, 10  # how two channels are coded
_SAMPLE_BITS = np.array([0, 8, 12, -1, 16, 20, 24, 32])  # by code; 0: as in STREAMINFO


def crc_table(polynomial: int, width: int) -> NDArray[np.uint16]:
    """The table of a most-significant-bit-first CRC, by which a byte at a time is divided."""
    top, mask = 1 << (width - 1), (1 << width) - 1
    table = []
    for byte in range(256):
        value = byte << (width - 8)
        for _ in range(8):
            value = (value << 1) ^ (polynomial if value & top else 0)
        table.append(value & mask)
    return np.array(table, dtype=np.uint16)


CRC8 = crc_table(0x07, 8)
_LEADING_ZEROS = np.array([8 - n.bit_length() for n in range(256)])


@compiled
def header(data: Bytes, at: int, block: int, sample_bits: int) -> tuple[int, int, int, int]:
    """(first sample, samples, how the channels are coded, length of the header) of the frame at byte `at`.

    The first is −1 where no frame of two channels of `sample_bits` begins. `block` is the size of the
    stream's frames, by which those of a stream with one size are numbered.
    """
    none = (-1, 0, 0, 0)
    if at + 20 > len(data) or data[at] != 0xFF or data[at + 1] & 0xFE != 0xF8:
        return none
    size_code, rate_code = data[at + 2] >> 4, data[at + 2] & 0xF
    channels, bits_code = data[at + 3] >> 4, data[at + 3] >> 1 & 7
    known = channels == INDEPENDENT or LEFT_SIDE <= channels <= MID_SIDE
    if size_code == 0 or rate_code == 15 or not known or data[at + 3] & 1:
        return none
    if _SAMPLE_BITS[bits_code] != sample_bits and bits_code != 0:
        return none
    lead = np.int64(data[at + 4])
    n_more = 0
    while n_more < 7 and lead << n_more & 0x80:
        n_more += 1
    number, end = lead, at + 5
    if n_more:
        if n_more == 1:
            return none
        number = lead & ((1 << (7 - n_more)) - 1)
        for _ in range(n_more - 1):
            if data[end] & 0xC0 != 0x80:
                return none
            number = number << 6 | np.int64(data[end] & 0x3F)
            end += 1
    if size_code >= 8:
        size = 256 << (size_code - 8)
    elif size_code >= 6:
        size = 1 + np.int64(data[end])
        if size_code == 7:
            size = 1 + (np.int64(data[end]) << 8 | np.int64(data[end + 1]))
        end += size_code - 5
    else:
        size = 192 if size_code == 1 else 576 << (size_code - 2)
    end += 1 if rate_code == 12 else 2 if rate_code > 12 else 0
    crc8 = 0
    for n in range(at, end):
        crc8 = CRC8[crc8 ^ data[n]]
    if crc8 != data[end]:
        return none
    first = number if data[at + 1] & 1 else number * block
    return int(first), int(size), int(channels), end + 1 - at


@compiled
def _bits(data: Bytes, at: int, count: int) -> int:
    """The `count` bits (at most 32) from bit `at` on."""
    value = np.int64(0)
    byte = at >> 3
    for n in range(5):
        value = value << 8 | np.int64(data[byte + n])
    return int(value >> (40 - (at & 7) - count) & ((1 << count) - 1))


@compiled
def _signed(data: Bytes, at: int, count: int) -> int:
    value = _bits(data, at, count)
    return value - (1 << count) if count and value >> (count - 1) else value


@compiled
def _residuals(data: Bytes, at: int, size: int, order: int, wanted: int, until: int, out: IntArray) -> int:
    """The bit after residual `until` of those that start at bit `at`; −1: no FLAC.

    The first `wanted` go to `out`, others are passed over. Bits wait in one integer, which is quicker than to
    fetch them anew.
    """
    method, partitions = _bits(data, at, 2), 1 << _bits(data, at + 2, 4)
    if method > 1 or size % partitions or size // partitions < order:
        return -1
    parameter_bits = 4 + method
    at += 6
    n = order
    for partition in range(partitions):
        end = min((partition + 1) * (size // partitions), until)
        if n >= until:
            break
        if (at >> 3) + 8 > len(data):
            return -1
        shift = _bits(data, at, parameter_bits)
        at += parameter_bits
        if shift == (1 << parameter_bits) - 1:  # not coded: numbers of one width
            width = _bits(data, at, 5)
            at += 5
            if (at + (end - n) * width >> 3) + 8 > len(data):
                return -1
            while n < end:
                if n < wanted:
                    out[n] = _signed(data, at, width)
                at += width
                n += 1
            continue
        low = (1 << shift) - 1
        byte = at >> 3
        ahead = 8 - (at & 7)  # how many bits wait, the last ones of `waiting`
        waiting = np.int64(data[byte])
        byte += 1
        while n < end:
            quotient = 0
            while True:
                if ahead <= 38:  # a unary part of 8 bits and the rest need no more
                    if byte + 3 > len(data):
                        return -1
                    for _ in range(3):
                        waiting = waiting << 8 | np.int64(data[byte])
                        byte += 1
                    ahead += 24
                    continue
                zero = _LEADING_ZEROS[waiting >> (ahead - 8) & 0xFF]
                quotient += zero
                if zero < 8:
                    break
                ahead -= 8
            ahead -= zero + 1 + shift
            if n < wanted:
                value = quotient << shift | (waiting >> ahead & low)
                out[n] = (value >> 1) ^ -(value & 1)
            n += 1
        at = (byte << 3) - ahead
    return at


@compiled
def _predictor(data: Bytes, at: int, written: bool, order: int, weights: IntArray) -> tuple[int, int]:
    """(the bit after the predictor at bit `at`, its shift; −1: no FLAC). `weights` get the first `order`.

    A predictor that is not written in the file is the difference of that order.
    """
    if not written:
        weight = 1
        for n in range(order):
            weight = weight * (order - n) // (n + 1)
            weights[n] = weight if n % 2 == 0 else -weight
        return at, 0
    precision = _bits(data, at, 4) + 1
    shift = _signed(data, at + 4, 5)
    at += 9
    if precision == 16:
        return at, -1
    for n in range(order):
        weights[n] = _signed(data, at, precision)
        at += precision
    return at, shift


@compiled
def _subframe(data: Bytes, at: int, size: int, bits: int, wanted: int, until: int, out: IntArray) -> int:
    """The bit after sample `until` of the subframe that starts at bit `at`; −1: no FLAC.

    Its first `wanted` samples go to `out`.
    """
    if (at >> 3) + PADDING > len(data):
        return -1
    kind = _bits(data, at, 8)
    at += 8
    wasted = 0
    if kind & 1:
        while _bits(data, at, 1) == 0:
            wasted += 1
            at += 1
            if wasted >= bits:
                return -1
        wasted += 1
        at += 1
        bits -= wasted
    kind >>= 1
    if kind == 0:
        out[:wanted] = _signed(data, at, bits) << wasted
        return at + bits
    if kind == 1:
        if (at + wanted * bits >> 3) + 8 > len(data):
            return -1
        for n in range(wanted):
            out[n] = _signed(data, at + n * bits, bits) << wasted
        return at + size * bits
    order = kind - 8 if kind < 16 else kind - 31
    if not (8 <= kind <= 12 or 32 <= kind <= 63) or order > size:
        return -1
    for n in range(order):
        if n < wanted:
            out[n] = _signed(data, at, bits)
        at += bits
    weights = np.zeros(max(order, 1), dtype=np.int64)
    at, shift = _predictor(data, at, kind >= 32, order, weights)
    if shift < 0:
        return -1
    end = _residuals(data, at, size, order, wanted, until, out)
    if end < 0:
        return -1
    for n in range(order, wanted):
        predicted = np.int64(0)
        for k in range(order - 1, -1, -1):  # the newest sample last: the others need not wait for it
            predicted += weights[k] * out[n - 1 - k]
        out[n] += predicted >> shift
    for n in range(wanted):
        out[n] <<= wasted
    return end


@compiled
def frame(
    data: Bytes,
    at: int,
    size: int,
    channels: int,
    bits: int,
    scratch: IntArray,
    skip: int,
    out: FloatArray,
) -> int:
    """The byte after what was read of the subframes that start at byte `at`; −1: no FLAC.

    `out` (n, 2) gets n samples of the frame after the first `skip`, 1.0 being full scale; `scratch` (2, size)
    is written over. The second channel is read no further than needed.
    """
    wanted = skip + len(out)
    first_bits = bits + 1 if channels == RIGHT_SIDE else bits
    middle = _subframe(data, at << 3, size, first_bits, wanted, size, scratch[0])
    if middle < 0:
        return -1
    second_bits = bits + 1 if channels in (LEFT_SIDE, MID_SIDE) else bits
    end = _subframe(data, middle, size, second_bits, wanted, wanted, scratch[1])
    if end < 0:
        return -1
    step = 0.5 ** (bits - 1)
    for n in range(skip, wanted):
        one, two = scratch[0, n], scratch[1, n]
        if channels == LEFT_SIDE:
            two = one - two
        elif channels == RIGHT_SIDE:
            one = one + two
        elif channels == MID_SIDE:
            one = one << 1 | (two & 1)
            one, two = (one + two) >> 1, (one - two) >> 1
        out[n - skip, 0] = one * step
        out[n - skip, 1] = two * step
    return (end + 7) >> 3
