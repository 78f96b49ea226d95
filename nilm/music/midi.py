"""Notes from and to MIDI files."""

import io
from collections.abc import Sequence
from pathlib import Path

import mido

from nilm.errors import InputFileError
from nilm.music.pitches import Note

TICKS_PER_S = 1000  # half a thousand ticks per beat, at the two beats a second that MIDI means by default
VELOCITY = 64  # the spectra say when a note sounds, not how hard it was struck


def read_midi(path: Path) -> list[Note]:
    """The notes of a MIDI file, in order of onset, with its tempo changes; InputFileError for others."""
    try:
        messages = list(mido.MidiFile(path))
    except (OSError, EOFError, ValueError, KeyError) as error:
        raise InputFileError(f"{path}: not readable as MIDI ({error})") from error
    notes: list[Note] = []
    sounding: dict[tuple[int, int], list[float]] = {}
    now = 0.0
    for message in messages:
        now += message.time
        if message.type not in ("note_on", "note_off"):
            continue
        key = (message.channel, message.note)
        if message.type == "note_on" and message.velocity > 0:
            sounding.setdefault(key, []).append(now)
        elif sounding.get(key):
            notes.append(Note(message.note, sounding[key].pop(0), now))
    for (_, pitch), starts in sounding.items():
        notes.extend(Note(pitch, start, now) for start in starts)
    return sorted(notes, key=lambda note: (note.start_s, note.pitch))


def midi_file(notes: Sequence[Note]) -> bytes:
    """A MIDI file of the notes, to the millisecond, on one track."""
    # At the same tick a note ends before it is struck again.
    events = sorted(
        (round(seconds * TICKS_PER_S), struck, note.pitch)
        for note in notes
        for seconds, struck in ((note.start_s, True), (note.end_s, False))
    )
    track = mido.MidiTrack()
    before = 0
    for tick, struck, pitch in events:
        kind = "note_on" if struck else "note_off"
        track.append(mido.Message(kind, note=pitch, velocity=VELOCITY, time=tick - before))
        before = tick
    content = io.BytesIO()
    mido.MidiFile(tracks=[track], ticks_per_beat=TICKS_PER_S // 2).save(file=content)
    return content.getvalue()
