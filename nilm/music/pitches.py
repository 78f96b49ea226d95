"""Features as notes: the pitch nearest to a spectrum, notes from a binary Z, and scores against true notes.

Pitches are MIDI numbers (A4 = 69 = 440 Hz), 21 to 108 on a piano.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from lfm import runs_of_ones
from lfm.arrays import BinaryArray, FloatArray
from nilm.music.spectra import Spectra

PIANO_PITCHES = np.arange(21, 109)
_NAMES = ("C", "C♯", "D", "E♭", "E", "F", "F♯", "G", "A♭", "A", "B♭", "B")
_N_HARMONICS = 8
_HARMONIC_DECAY = 0.8  # amplitude of one harmonic against the one before, roughly a piano's


class Note(NamedTuple):
    """One sounding note."""

    pitch: int
    start_s: float
    end_s: float


class Pitch(NamedTuple):
    """The pitch nearest to a spectrum."""

    pitch: int
    score: float  # cosine of the magnitudes with a harmonic comb, 0 to 1


class NoteScores(NamedTuple):
    """Note-level agreement with a MIDI file: same pitch, onset within the tolerance, each note used once."""

    n_found: int
    n_true: int
    n_matched: int
    onset_tolerance_s: float

    @property
    def precision(self) -> float:
        """Share of the found notes that are true; 0 where nothing was found."""
        return self.n_matched / self.n_found if self.n_found else 0.0

    @property
    def recall(self) -> float:
        """Share of the true notes that were found; 0 where there are none."""
        return self.n_matched / self.n_true if self.n_true else 0.0

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall."""
        total = self.n_found + self.n_true
        return 2 * self.n_matched / total if total else 0.0


def pitch_name(pitch: int) -> str:
    """Scientific name of a MIDI pitch: 60 is C4, 69 is A4."""
    return f"{_NAMES[pitch % 12]}{pitch // 12 - 1}"


def pitch_hz(pitch: NDArray[np.int_] | int) -> FloatArray:
    """Frequency of MIDI pitches in equal temperament."""
    return np.asarray(440.0 * 2.0 ** ((np.asarray(pitch) - 69) / 12))


def nearest_pitches(spectra: FloatArray, frequency_hz: FloatArray) -> list[Pitch]:
    """The pitch of each power spectrum (K, D): the harmonic comb with the largest cosine to its magnitudes.

    A partial's magnitude is the largest within a third of a semitone (or one bin) of its place, so that a
    slightly stretched string still meets its comb. Negative power, which a factorisation without a sign
    constraint can return, counts as silence here.
    """
    magnitudes = np.sqrt(np.maximum(spectra, 0))
    # A Hann window spreads a partial over three bins, with 1.5 times the power of the middle one.
    lengths = np.linalg.norm(magnitudes, axis=1) / np.sqrt(1.5)
    cosines = np.zeros((len(spectra), len(PIANO_PITCHES)))
    bin_hz = frequency_hz[1] - frequency_hz[0]
    for p, f0 in enumerate(pitch_hz(PIANO_PITCHES)):
        harmonics = np.arange(1, _N_HARMONICS + 1)
        harmonics = harmonics[harmonics * f0 <= frequency_hz[-1]]
        weights = _HARMONIC_DECAY ** (harmonics - 1.0)
        for weight, centre in zip(weights / np.linalg.norm(weights), harmonics * f0, strict=True):
            reach = max(bin_hz, centre * (2 ** (1 / 36) - 1))
            near = np.abs(frequency_hz - centre) <= reach
            cosines[:, p] += weight * magnitudes[:, near].max(axis=1)
    cosines /= np.where(lengths > 0, lengths, 1)[:, None]
    best = cosines.argmax(axis=1)
    return [Pitch(int(PIANO_PITCHES[p]), float(min(cosines[k, p], 1.0))) for k, p in enumerate(best)]


def notes_of(
    Z: BinaryArray, pitches: Sequence[Pitch], spectra: Spectra, *, min_score: float, min_rows: int = 2
) -> list[Note]:
    """Notes in order of onset: runs of rows in which any feature of one pitch is on.

    Features whose pitch score is below `min_score` are no notes (attack noise, chords), and runs shorter
    than `min_rows` rows are passed over.
    """
    notes: list[Note] = []
    for pitch in sorted({p.pitch for p in pitches if p.score >= min_score}):
        members = [k for k, p in enumerate(pitches) if p.pitch == pitch and p.score >= min_score]
        for first, stop in runs_of_ones(Z[:, members].max(axis=1)):
            if stop - first >= min_rows:
                start = spectra.centre_s[first]
                notes.append(Note(pitch, float(start), float(start + spectra.hop_s * (stop - first))))
    return sorted(notes, key=lambda note: (note.start_s, note.pitch))


def match_notes(
    found: Sequence[Note], true: Sequence[Note], *, onset_tolerance_s: float
) -> list[tuple[int, int]]:
    """(found, true) positions of equal pitch and near onset, one-to-one and as many as there can be."""
    matched: list[tuple[int, int]] = []
    for pitch in sorted({note.pitch for note in found} & {note.pitch for note in true}):
        a = [i for i, note in enumerate(found) if note.pitch == pitch]
        b = [j for j, note in enumerate(true) if note.pitch == pitch]
        onsets = np.array([found[i].start_s for i in a])[:, None], np.array([true[j].start_s for j in b])
        near = np.abs(onsets[0] - onsets[1]) <= onset_tolerance_s
        matched += [
            (a[row], b[column])
            for row, column in zip(*linear_sum_assignment(near, maximize=True), strict=True)
            if near[row, column]
        ]
    return matched


def score_notes(found: Sequence[Note], true: Sequence[Note], *, onset_tolerance_s: float) -> NoteScores:
    """Precision, recall and F1 of found notes by `match_notes`."""
    matched = match_notes(found, true, onset_tolerance_s=onset_tolerance_s)
    return NoteScores(len(found), len(true), len(matched), onset_tolerance_s)
