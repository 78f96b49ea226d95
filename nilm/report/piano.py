"""The page of a piece of music: its notes as a piano roll, and each feature's spectrum with its pitch."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from nilm.music.pitches import Note, match_notes, pitch_name
from nilm.music.transcription import Transcription
from nilm.report.figures.svg import MUTED, hue_for_matplotlib, inline_svg
from nilm.report.rendering import render

_ACROSS = 4


def render_piano(found: Transcription) -> str:
    """The page of `found` as HTML; the same transcription gives the same text."""
    roll = inline_svg(
        lambda figure: _draw_roll(figure, found),
        name="roll",
        size=(1080, 420),
        title="Piano roll",
        text=_roll_words(found),
    )
    n_down = -(-found.solution.K // _ACROSS)
    spectra = inline_svg(
        lambda figure: _draw_spectra(figure, found, n_down),
        name="spectra",
        size=(1080, 40 + 110 * n_down),
        title="Spectrum of each feature",
        text="; ".join(
            f"feature {k}: {pitch_name(p.pitch)}, score {p.score:.2f}" for k, p in enumerate(found.pitches, 1)
        ),
    )
    return render(
        "piano.html",
        found=found,
        roll=roll,
        spectra=spectra,
        features=[
            (k, pitch_name(p.pitch), p.score, float(on), p.score >= found.options.min_pitch_score)
            for k, (p, on) in enumerate(
                zip(found.pitches, found.solution.Z.mean(axis=0), strict=True), start=1
            )
        ],
        n_pitches=len({note.pitch for note in found.notes}),
        options=asdict(found.options),
    )


def _roll_words(found: Transcription) -> str:
    words = f"{len(found.notes)} notes found, drawn by pitch against time"
    if found.scores is None:
        return words
    return f"{words}, over the {found.scores.n_true} of the MIDI file, {found.scores.n_matched} of them met"


def _draw_roll(figure: Figure, found: Transcription) -> None:
    figure.set_layout_engine("constrained")
    axis = figure.subplots()
    if found.true_notes is None:
        _bars(axis, found.notes, height=0.5, color=hue_for_matplotlib(0), label="found")
    else:
        met = match_notes(found.notes, found.true_notes, onset_tolerance_s=found.options.onset_tolerance_s)
        right = {i for i, _ in met}
        wrong = [note for i, note in enumerate(found.notes) if i not in right]
        _bars(axis, found.true_notes, height=0.9, color=MUTED, alpha=0.45, label="MIDI file")
        _bars(
            axis,
            [found.notes[i] for i in sorted(right)],
            height=0.5,
            color=hue_for_matplotlib(0),
            label="found, in the MIDI file",
        )
        _bars(axis, wrong, height=0.5, color=hue_for_matplotlib(1), label="found, not in it")
    pitches = [note.pitch for note in (*found.notes, *(found.true_notes or ()))]
    ticks = [p for p in range(24, 109, 12) if pitches and min(pitches) - 6 <= p <= max(pitches) + 6]
    axis.set_yticks(ticks, [pitch_name(p) for p in ticks])
    axis.set(xlabel="time (s)", ylabel="pitch")
    axis.margins(x=0.01)
    if pitches:
        figure.legend(loc="outside upper right", ncols=3)


def _bars(axis: Axes, notes: Sequence[Note], *, label: str, **style: Any) -> None:
    axis.barh(
        [note.pitch for note in notes],
        [note.end_s - note.start_s for note in notes],
        left=[note.start_s for note in notes],
        linewidth=0,
        label=label,
        **style,
    )


def _draw_spectra(figure: Figure, found: Transcription, n_down: int) -> None:
    figure.set_layout_engine("constrained")
    axes = figure.subplots(n_down, _ACROSS, sharex=True, squeeze=False).ravel()
    frequency = found.spectra.frequency_hz
    for k, (axis, pitch) in enumerate(zip(axes, found.pitches, strict=False)):
        magnitude = np.sign(found.solution.W[k]) * np.sqrt(np.abs(found.solution.W[k]))
        axis.plot(frequency, magnitude, lw=0.8, color=hue_for_matplotlib(0))
        axis.set_title(f"{k + 1}: {pitch_name(pitch.pitch)} ({pitch.score:.2f})", fontsize=10)
        axis.set_yticks([])
    for axis in axes[found.solution.K :]:
        axis.set_axis_off()
    for axis in axes[max(0, found.solution.K - _ACROSS) : found.solution.K]:
        axis.tick_params(labelbottom=True)
        axis.set_xlabel("frequency (Hz)")
