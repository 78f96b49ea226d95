"""A piece of music to a report of its notes, step by step: audio → spectra → transcription → files.

Owns the files: data/spectra/<piece>.parquet, and in outputs/piano/<piece>/ the report, features.csv,
notes.csv, notes.mid, scores.json and the manifest. Audio is `nilm.music.spectra`, the factorisation
`nilm.music.transcription`, the page `nilm.report.piano`.
"""

import logging
import re
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pandas as pd

from nilm import versions
from nilm.files import canonical_json, digest
from nilm.manifest import Step, record, replace_outputs, why_redo
from nilm.music.midi import midi_file, read_midi
from nilm.music.pitches import NoteScores, pitch_name
from nilm.music.spectra import SpectraOptions, power_spectra, read_audio, read_spectra, write_spectra
from nilm.music.transcription import Progress, TranscribeOptions, Transcription, silent, transcribe_spectra
from nilm.report.piano import render_piano

log = logging.getLogger(__name__)


def transcribe(
    audio: Path,
    *,
    data_root: Path,
    outputs_root: Path,
    options: TranscribeOptions,
    progress: Progress = silent,
) -> Path:
    """The report of a piece, current: what is already there for the same audio, options and code is kept."""
    piece = re.sub(r"[^A-Za-z0-9_-]+", "_", audio.stem) or "piece"
    progress("spectra", 0.0)
    spectra_path = _current_spectra(audio, piece, data_root / "spectra", options.spectra)
    midi = next((p for p in (audio.with_suffix(".mid"), audio.with_suffix(".midi")) if p.is_file()), None)
    folder = outputs_root / "piano" / piece
    step = Step(
        "piano",
        inputs={path.name: digest(path) for path in (audio, midi) if path is not None},
        options=asdict(options),
        version=versions.PIANO,
    )
    reason = why_redo(folder / "manifest.json", step)
    if reason is None:
        log.info("%s: the report is current", piece)
    else:
        log.info("%s: %s", piece, reason)
        true_notes = read_midi(midi) if midi else None
        found = transcribe_spectra(piece, read_spectra(spectra_path), true_notes, options, progress)
        replace_outputs(folder / "manifest.json", step, _files(found))
    progress("done", 1.0)
    return folder / "report.html"


def _current_spectra(audio: Path, piece: str, folder: Path, options: SpectraOptions) -> Path:
    samples, rate = read_audio(audio)
    path = folder / f"{piece}.parquet"
    manifest = folder / f"{piece}.manifest.json"
    step = Step(
        "spectra",
        inputs={audio.name: digest(audio)},
        options=asdict(options),
        version=versions.SPECTRA,
    )
    if why_redo(manifest, step) is not None:
        write_spectra(power_spectra(samples, rate, options), path)
        record(manifest, step, [path])
    return path


def _files(found: Transcription) -> dict[str, bytes]:
    features = pd.DataFrame(
        {
            "feature": np.arange(1, found.solution.K + 1),
            "pitch": [p.pitch for p in found.pitches],
            "name": [pitch_name(p.pitch) for p in found.pitches],
            "pitch_score": [p.score for p in found.pitches],
            "share_of_time": found.solution.Z.mean(axis=0),
            "smallest_power": found.solution.W.min(axis=1),
        }
    )
    notes = pd.DataFrame(found.notes, columns=["pitch", "start_s", "end_s"])
    notes.insert(1, "name", [pitch_name(note.pitch) for note in found.notes])
    return {
        "features.csv": features.to_csv(index=False, float_format="%.6g", lineterminator="\n").encode(),
        "notes.csv": notes.to_csv(index=False, float_format="%.4f", lineterminator="\n").encode(),
        "notes.mid": midi_file(found.notes),
        "scores.json": canonical_json(
            {"before": _score_json(found.scores_before), "after": _score_json(found.scores)}
        ).encode(),
        "report.html": render_piano(found).encode(),
    }


def _score_json(scores: NoteScores | None) -> dict[str, float] | None:
    if scores is None:
        return None
    return {
        **scores._asdict(),
        "precision": scores.precision,
        "recall": scores.recall,
        "f1": scores.f1,
    }
