"""A small tune with known notes, for tests and for whoever has no recording at hand."""

from collections.abc import Sequence

import numpy as np

from lfm.arrays import FloatArray
from nilm.music.pitches import Note, pitch_hz

_BEAT_S = 0.4
# Two voices: the upper one repeats a falling fourth, the lower one walks; every pitch comes at least twice.
_UPPER = (72, 71, 69, 67, 72, 71, 69, 67, 74, 72, 71, 69, 74, 72, 71, 67)
_LOWER = (48, 48, 52, 52, 53, 53, 55, 55, 48, 52, 53, 55, 55, 53, 52, 48)


def tiny_tune() -> list[Note]:
    """Thirty-two notes of nine pitches in 6.4 seconds."""
    upper = [Note(p, i * _BEAT_S, (i + 0.9) * _BEAT_S) for i, p in enumerate(_UPPER)]
    lower = [Note(p, i * _BEAT_S, (i + 0.9) * _BEAT_S) for i, p in enumerate(_LOWER)]
    return sorted(upper + lower, key=lambda note: (note.start_s, note.pitch))


def synthesise(notes: Sequence[Note], rate: int = 22050) -> FloatArray:
    """Mono samples in [−1, 1]: each note a sum of decaying harmonics with a short attack and release."""
    end_s = max(note.end_s for note in notes) + 0.3
    samples = np.zeros(round(end_s * rate))
    for note in notes:
        first, stop = round(note.start_s * rate), round(note.end_s * rate)
        t = np.arange(stop - first) / rate
        envelope = np.minimum(1, t / 0.01) * np.minimum(1, t[::-1] / 0.02) * np.exp(-0.8 * t)
        f0 = float(pitch_hz(note.pitch))
        harmonics = [h for h in range(1, 9) if h * f0 < rate / 2]
        tone = sum(0.7 ** (h - 1) * np.sin(2 * np.pi * h * f0 * t) for h in harmonics)
        samples[first:stop] += envelope * tone
    return np.asarray(0.9 * samples / np.abs(samples).max())
