"""The page of a piece of music, drawn from two features whose notes are known."""

from typing import Any

import numpy as np
import pytest

from lfm import Solution
from nilm.music.pitches import Note, Pitch, score_notes
from nilm.music.spectra import Spectra
from nilm.music.transcription import TranscribeOptions, Transcription
from nilm.report.piano import render_piano


@pytest.fixture(scope="module")
def piece() -> Transcription:
    frequency_hz = np.linspace(0, 4000, 80)
    Z = np.zeros((40, 2), np.uint8)
    Z[5:15, 0] = Z[20:30, 1] = 1
    W = np.abs(np.random.default_rng(0).normal(size=(2, 80)))
    notes = (Note(60, 0.5, 1.5), Note(64, 2.0, 3.0), Note(64, 3.2, 3.5))
    true = (Note(60, 0.52, 1.5), Note(64, 2.0, 3.0), Note(67, 3.0, 4.0))
    solution = Solution(Z, W)
    scores = score_notes(notes, true, onset_tolerance_s=0.1)
    return Transcription(
        piece="<b>piece</b>",
        spectra=Spectra(Z @ W, np.arange(40) * 0.1, frequency_hz, 0.2, 0.1),
        baseline=solution,
        solution=solution,
        corrections=(),
        residual_before=0.2,
        residual_after=0.2,
        pitches=(Pitch(60, 0.9), Pitch(64, 0.2)),
        notes=notes,
        true_notes=true,
        scores_before=scores,
        scores=scores,
        converged=True,
        options=TranscribeOptions(components=2),
    )


@pytest.mark.parametrize("width", [1280, 390])
def test_the_page_opens_without_complaint_and_fits(browser: Any, piece: Transcription, width: int) -> None:
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme="dark")
    page = context.new_page()
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.set_content(render_piano(piece), wait_until="load")
    assert complaints == []
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    assert page.locator("h1").text_content() == "<b>piece</b>"
    context.close()


def test_the_roll_tells_right_notes_from_wrong_ones(piece: Transcription) -> None:
    html = render_piano(piece)
    assert "3 notes found, drawn by pitch against time, over the 3 of the MIDI file, 2 of them met" in html
    assert "found, not in it" in html
    assert html == render_piano(piece)
