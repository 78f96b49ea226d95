import json
from pathlib import Path

import mido
import pandas as pd
import pytest
import soundfile

from nilm.errors import OptionError
from nilm.music.midi import read_midi
from nilm.music.pitches import Note
from nilm.music.transcribe import transcribe
from nilm.music.transcription import TranscribeOptions
from nilm.music.tune import synthesise, tiny_tune

RATE = 22050
PITCHES = {note.pitch for note in tiny_tune()}


def write_midi(path: Path, notes: list[Note]) -> None:
    """The notes as a MIDI file of 1000 ticks a second."""
    events = sorted([(n.start_s, 1, n.pitch) for n in notes] + [(n.end_s, 0, n.pitch) for n in notes])
    track = mido.MidiTrack([mido.MetaMessage("set_tempo", tempo=500_000, time=0)])
    now = 0
    for time_s, on, pitch in events:
        tick = round(time_s * 1000)
        track.append(mido.Message("note_on", note=pitch, velocity=64 * on, time=tick - now))
        now = tick
    mido.MidiFile(tracks=[track], ticks_per_beat=500).save(path)


@pytest.fixture(scope="module")
def tune(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tune")
    soundfile.write(folder / "tiny tune.flac", synthesise(tiny_tune()), RATE)
    write_midi(folder / "tiny tune.mid", tiny_tune())
    return folder / "tiny tune.flac"


def run(tune: Path, root: Path, **options: object) -> Path:
    return transcribe(
        tune, data_root=root / "data", outputs_root=root / "outputs", options=TranscribeOptions(**options)
    )


def test_the_tune_is_found_note_by_note(tune: Path, tmp_path: Path) -> None:
    report = run(tune, tmp_path, components=9)
    assert report == tmp_path / "outputs" / "piano" / "tiny_tune" / "report.html"
    features = pd.read_csv(report.parent / "features.csv")
    assert set(features["pitch"]) == PITCHES
    assert (features["smallest_power"] >= 0).all()
    scores = json.loads((report.parent / "scores.json").read_text(encoding="utf-8"))
    assert scores["after"]["n_true"] == 32
    # Notes struck again without a pause are one run of rows: recall falls short, precision does not.
    assert scores["after"]["precision"] > 0.9
    assert scores["after"]["f1"] > 0.75
    notes = pd.read_csv(report.parent / "notes.csv")
    assert len(notes) == scores["after"]["n_found"]
    assert (notes["end_s"] > notes["start_s"]).all()
    assert len(read_midi(report.parent / "notes.mid")) == len(notes)
    assert "Piano roll" in report.read_text(encoding="utf-8")


def test_a_second_run_does_nothing_and_a_changed_option_does(tune: Path, tmp_path: Path) -> None:
    report = run(tune, tmp_path, components=3)
    before = report.stat().st_mtime_ns
    spectra = tmp_path / "data" / "spectra" / "tiny_tune.parquet"
    spectra_before = spectra.stat().st_mtime_ns
    run(tune, tmp_path, components=3)
    assert report.stat().st_mtime_ns == before
    run(tune, tmp_path, components=4)
    assert report.stat().st_mtime_ns > before
    assert spectra.stat().st_mtime_ns == spectra_before


def test_without_midi_the_page_says_so(tune: Path, tmp_path: Path) -> None:
    alone = tmp_path / "alone.flac"
    alone.write_bytes(tune.read_bytes())
    report = run(alone, tmp_path, components=3)
    assert "nothing to score against" in report.read_text(encoding="utf-8")
    assert json.loads((report.parent / "scores.json").read_text(encoding="utf-8"))["after"] is None


def test_options_out_of_range_say_so() -> None:
    with pytest.raises(OptionError, match="no estimator 'nmf' for music; there are latent-lasso, meibp"):
        TranscribeOptions(estimator="nmf")
    with pytest.raises(OptionError, match="components must be at least 1, got 0"):
        TranscribeOptions(components=0)
