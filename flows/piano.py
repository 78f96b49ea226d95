"""The piano flow: from a piece of music to the report of its notes."""

from pathlib import Path
from typing import Annotated, Literal

from prefect import Task, flow
from prefect.cache_policies import NO_CACHE
from pydantic import Field

from flows.artifacts import progress, show_report
from flows.settings import load_settings
from flows.tasks import log_to_prefect
from nilm.choices import MUSIC_ESTIMATORS
from nilm.errors import InputFileError
from nilm.music.spectra import SpectraOptions
from nilm.music.transcribe import transcribe
from nilm.music.transcription import TranscribeOptions

transcribe_task = Task(
    transcribe, name="transcribe", task_run_name="transcribe {audio.name}", cache_policy=NO_CACHE
)


@flow(name="piano", flow_run_name="piano {audio}")
def piano(
    audio: Path,
    components: Annotated[int, Field(ge=1, le=200)] = 40,
    estimator: Literal[MUSIC_ESTIMATORS] = "meibp",
    seed: int | None = None,
    window_s: float = SpectraOptions.window_s,
    hop_s: float = SpectraOptions.hop_s,
    max_hz: float = SpectraOptions.max_hz,
    data_root: Path | None = None,
    outputs_root: Path | None = None,
) -> Path:
    """Transcribe a piece and return the path of its report; a MIDI file of the same name scores it.

    Args:
        audio: The recording, in any format that libsndfile reads (wav, flac, ogg, mp3).
        components: Number of features K; for MEIBP the number it starts with.
        estimator: What factorises the power spectra.
        seed: Seed of everything random; the setting if empty.
        window_s: Length of a spectrum's window.
        hop_s: Time from one spectrum to the next, at most window_s.
        max_hz: Highest frequency kept; there are window_s × max_hz bins.
        data_root: Folder of the spectra; the setting if empty.
        outputs_root: Folder of the reports; the setting if empty.
    """
    log_to_prefect()
    settings = load_settings(seed=seed, data_root=data_root, outputs_root=outputs_root)
    if not audio.is_file():
        raise InputFileError(f"{audio} is not a file; give the path of a recording")
    settings.check_roots()
    with progress(audio.name, 1.0) as show:
        report = transcribe_task(
            audio,
            data_root=settings.data_root,
            outputs_root=settings.outputs_root,
            options=TranscribeOptions(
                components=components,
                estimator=estimator,
                seed=settings.seed,
                spectra=SpectraOptions(window_s, hop_s, max_hz),
            ),
            progress=lambda doing, share: show(share, doing),
        )
    show_report(audio.name, report, settings)
    return report
