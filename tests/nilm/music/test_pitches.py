import numpy as np
import pytest

from nilm.music.pitches import (
    PIANO_PITCHES,
    Note,
    Pitch,
    match_notes,
    nearest_pitches,
    notes_of,
    pitch_hz,
    pitch_name,
    score_notes,
)
from nilm.music.spectra import Spectra, SpectraOptions, power_spectra
from nilm.music.tune import synthesise, tiny_tune


def test_pitches_have_their_names_and_frequencies() -> None:
    assert [pitch_name(p) for p in (21, 60, 69, 108)] == ["A0", "C4", "A4", "C8"]
    assert pitch_hz(69) == 440
    assert pitch_hz(60) == pytest.approx(261.6256, abs=1e-4)


@pytest.mark.parametrize("pitch", [36, 43, 48, 55, 60, 64, 72, 79, 84])
def test_a_synthesised_note_has_its_own_pitch_and_not_its_octave(pitch: int) -> None:
    samples = synthesise([Note(pitch, 0.0, 1.0)])
    spectra = power_spectra(samples, 22050, SpectraOptions())
    found = nearest_pitches(spectra.power[3:4], spectra.frequency_hz)[0]
    assert found.pitch == pitch
    assert found.score > 0.7


def test_noise_scores_low() -> None:
    frequency_hz = np.arange(744) * 5.376
    power = np.random.default_rng(0).random((1, 744))
    assert nearest_pitches(power, frequency_hz)[0].score < 0.5
    assert nearest_pitches(np.zeros((1, 744)), frequency_hz)[0].score == 0


def spectra_of_rows(n: int) -> Spectra:
    return Spectra(np.zeros((n, 2)), 0.1 * np.arange(n), np.array([0.0, 1.0]), window_s=0.2, hop_s=0.1)


def test_notes_are_the_runs_of_all_features_of_a_pitch() -> None:
    Z = np.array([[1, 0, 0], [1, 0, 1], [0, 1, 1], [0, 0, 1], [0, 1, 0], [0, 1, 0]], dtype=np.uint8)
    pitches = [Pitch(60, 0.9), Pitch(60, 0.8), Pitch(40, 0.1)]
    notes = notes_of(Z, pitches, spectra_of_rows(6), min_score=0.5)
    assert [(n.pitch, round(n.start_s, 6), round(n.end_s, 6)) for n in notes] == [
        (60, 0.1, 0.4),
        (60, 0.5, 0.7),
    ]


def test_short_runs_and_weak_pitches_are_no_notes() -> None:
    Z = np.array([[1, 1], [0, 1], [0, 0]], dtype=np.uint8)
    assert notes_of(Z, [Pitch(60, 0.9), Pitch(62, 0.2)], spectra_of_rows(3), min_score=0.5) == []


def test_scores_match_each_note_once() -> None:
    true = [Note(60, 0.0, 1.0), Note(60, 1.0, 2.0), Note(64, 1.0, 2.0)]
    found = [Note(60, 0.04, 1.0), Note(60, 0.05, 1.0), Note(65, 1.0, 2.0), Note(60, 1.2, 2.0)]
    assert match_notes(found, true, onset_tolerance_s=0.1) in ([(0, 0)], [(1, 0)])
    scores = score_notes(found, true, onset_tolerance_s=0.1)
    assert (scores.n_matched, scores.n_found, scores.n_true) == (1, 4, 3)
    assert scores.precision == pytest.approx(1 / 4)
    assert scores.recall == pytest.approx(1 / 3)
    assert scores.f1 == pytest.approx(2 / 7)
    assert score_notes([], [], onset_tolerance_s=0.1).f1 == 0


def test_the_tune_is_what_it_says() -> None:
    notes = tiny_tune()
    assert len(notes) == 32
    assert len({n.pitch for n in notes}) == 9
    assert {n.pitch for n in notes} <= set(PIANO_PITCHES.tolist())
    samples = synthesise(notes)
    assert np.abs(samples).max() == pytest.approx(0.9)
