from pathlib import Path

import mido
import pytest

from nilm.errors import InputFileError
from nilm.music.midi import midi_file, read_midi
from nilm.music.pitches import Note
from nilm.music.tune import tiny_tune


def test_notes_come_back_from_midi_to_the_millisecond(tmp_path: Path) -> None:
    struck_again = [Note(60, 0.0, 0.5), Note(60, 0.5, 1.0)]
    for notes in (tiny_tune(), struck_again, []):
        (tmp_path / "a.mid").write_bytes(midi_file(notes))
        again = read_midi(tmp_path / "a.mid")
        assert [n.pitch for n in again] == [n.pitch for n in notes]
        assert [(n.start_s, n.end_s) for n in again] == [
            (pytest.approx(n.start_s, abs=1e-3), pytest.approx(n.end_s, abs=1e-3)) for n in notes
        ]


def test_midi_is_read_with_its_tempo_and_what_is_none_is_named(tmp_path: Path) -> None:
    track = mido.MidiTrack(
        [
            mido.MetaMessage("set_tempo", tempo=500_000, time=0),
            mido.Message("note_on", note=60, velocity=64, time=0),
            mido.Message("note_on", note=64, velocity=64, time=480),
            mido.Message("note_on", note=60, velocity=0, time=480),
        ]
    )
    mido.MidiFile(tracks=[track], ticks_per_beat=480).save(tmp_path / "a.mid")
    # The last note is never released: it ends with the file.
    assert read_midi(tmp_path / "a.mid") == [Note(60, 0.0, 1.0), Note(64, 0.5, 1.0)]
    (tmp_path / "b.mid").write_bytes(b"nothing")
    with pytest.raises(InputFileError, match=r"b\.mid: not readable as MIDI"):
        read_midi(tmp_path / "b.mid")


def test_the_papers_piece_is_read(real_data: Path) -> None:
    notes = read_midi(real_data / "piano" / "bach_850.mid")
    assert len(notes) == 1503
    assert len({note.pitch for note in notes}) == 44
