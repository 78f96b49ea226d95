"""Power spectra to features, pitches and notes: estimator, hop with the non-negative prior, scores.

Pure: arrays in, a `Transcription` out. Files and the order of steps are `nilm.music.transcribe`.
"""

import logging
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from lfm import (
    CorrectionKind,
    GaussianW,
    Hop,
    NonNegativeW,
    RankDeficientError,
    Solution,
    hop_tolerantly,
)
from lfm.arrays import FloatArray
from nilm.choices import MUSIC_ESTIMATORS, estimator_class
from nilm.errors import OptionError
from nilm.music.pitches import Note, NoteScores, Pitch, nearest_pitches, notes_of, score_notes
from nilm.music.spectra import Spectra, SpectraOptions

log = logging.getLogger(__name__)

Progress = Callable[[str, float], None]  # what is being done, share done


def silent(_what: str, _share: float) -> None:
    """Say nothing."""


@dataclass(frozen=True)
class TranscribeOptions:
    """How a piece is transcribed; components is K (for MEIBP where it starts)."""

    components: int = 40
    estimator: str = "meibp"
    seed: int = 0
    min_pitch_score: float = 0.35  # a feature with a lower score is not taken for a note
    onset_tolerance_s: float = 0.1  # for the scores against a MIDI file
    spectra: SpectraOptions = field(default_factory=SpectraOptions)

    def __post_init__(self) -> None:
        if self.components < 1:
            raise OptionError(f"components must be at least 1, got {self.components}")
        if self.estimator not in MUSIC_ESTIMATORS:
            raise OptionError(
                f"no estimator {self.estimator!r} for music; there are {', '.join(MUSIC_ESTIMATORS)}"
            )
        if not 0 <= self.min_pitch_score <= 1:
            raise OptionError(f"min_pitch_score must lie between 0 and 1, got {self.min_pitch_score}")
        if self.onset_tolerance_s <= 0:
            raise OptionError(f"onset_tolerance_s must be positive, got {self.onset_tolerance_s}")


@dataclass(frozen=True)
class Transcription:
    """A piece as features and notes, with its scores where a MIDI file tells the truth."""

    piece: str
    spectra: Spectra
    baseline: Solution
    solution: Solution
    corrections: tuple[str, ...]  # in words, one per changed feature
    residual_before: float  # ‖X − ZW‖ / ‖X‖
    residual_after: float
    pitches: tuple[Pitch, ...]
    notes: tuple[Note, ...]
    true_notes: tuple[Note, ...] | None
    scores_before: NoteScores | None
    scores: NoteScores | None
    converged: bool
    options: TranscribeOptions


def transcribe_spectra(
    piece: str,
    spectra: Spectra,
    true_notes: list[Note] | None,
    options: TranscribeOptions,
    tell: Progress = silent,
) -> Transcription:
    """Features, pitches and notes of power spectra, before and after the hop."""
    X = spectra.power / np.sqrt(np.mean(spectra.power**2))  # the estimators' defaults expect entries around 1
    tell("factorise", 0.1)
    model = estimator_class(options.estimator)
    estimator = model(n_components=options.components, random_state=options.seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # said on the page instead
        estimator.fit(X)
    baseline: Solution = estimator.solution_
    tell("hop", 0.8)
    hopped = _hop(baseline, X, options.seed)
    solution = hopped.solution if hopped else baseline
    scale = float(np.linalg.norm(X))
    pitches = nearest_pitches(solution.W, spectra.frequency_hz)
    notes = notes_of(solution.Z, pitches, spectra, min_score=options.min_pitch_score)
    tell("report", 0.9)
    return Transcription(
        piece=piece,
        spectra=spectra,
        baseline=baseline,
        solution=solution,
        corrections=_in_words(hopped, baseline),
        residual_before=baseline.residual(X) / scale,
        residual_after=solution.residual(X) / scale,
        pitches=tuple(pitches),
        notes=tuple(notes),
        true_notes=None if true_notes is None else tuple(true_notes),
        scores_before=_scores(baseline, spectra, true_notes, options),
        scores=_scores(solution, spectra, true_notes, options),
        converged=bool(estimator.converged_),
        options=options,
    )


def _hop(baseline: Solution, X: FloatArray, seed: int) -> Hop | None:
    """The hop with small, non-negative features; None where Z has dependent columns and no finite class.

    It tolerates wrong bits: both estimators look at each row of the spectra by itself.
    """
    priors = [GaussianW(1.0), NonNegativeW(10.0)]
    try:
        return hop_tolerantly(baseline, X=X, priors=priors, rng=np.random.default_rng(seed))
    except RankDeficientError as error:
        log.warning("no hop: %s", error)
        return None


def _in_words(hopped: Hop | None, baseline: Solution) -> tuple[str, ...]:
    """What the hop changed: one line per changed feature, and one for states that the spectra set right."""
    if hopped is None:
        return ()
    words = [str(c) for c in hopped.corrections if c.kind is not CorrectionKind.UNCHANGED]
    Z = hopped.solution.Z
    wrong = int(np.count_nonzero(np.rint(baseline.Z @ hopped.U) != Z))
    if wrong:
        words.append(f"{wrong:,} of {Z.size:,} states were set right by the spectra.")
    return tuple(words)


def _scores(
    solution: Solution, spectra: Spectra, true_notes: list[Note] | None, options: TranscribeOptions
) -> NoteScores | None:
    if true_notes is None:
        return None
    pitches = nearest_pitches(solution.W, spectra.frequency_hz)
    found = notes_of(solution.Z, pitches, spectra, min_score=options.min_pitch_score)
    return score_notes(found, true_notes, onset_tolerance_s=options.onset_tolerance_s)
