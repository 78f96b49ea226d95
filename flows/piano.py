"""The piano flow: from a recording to a report of its notes."""

from pathlib import Path
from typing import Annotated, Literal

from prefect import Task, flow
from prefect.cache_policies import NO_CACHE
from pydantic import Field

from flows.artifacts import progress, show_report
from flows.settings import load_settings
from flows.tasks import log_to_prefect
from nilm.transcribe import transcribe
from nilm.transcription import TranscribeOptions

transcribe_task = Task(transcribe, name="transcribe", task_run_name="{audio.name}", cache_policy=NO_CACHE)


@flow(name="piano", flow_run_name="{audio}")
def piano(
    audio: Path,
    components: Annotated[int, Field(ge=1, le=200)] = 40,
    estimator: Literal["meibp", "latent-lasso"] = "meibp",
    seed: int | None = None,
    data_root: Path | None = None,
    outputs_root: Path | None = None,
) -> Path:
    """Find the notes of a recording and return the path of its report.

    A MIDI file beside the recording (same name, .mid) serves to score what was found.

    Args:
        audio: The recording: WAV, FLAC or OGG.
        components: Number of features K (for meibp, where it starts).
        estimator: meibp (non-negative features) or latent-lasso.
        seed: Seed of everything random; the setting if empty.
        data_root: Where the spectra are kept; the setting if empty.
        outputs_root: Folder of the reports; the setting if empty.
    """
    log_to_prefect()
    settings = load_settings(seed=seed, data_root=data_root, outputs_root=outputs_root)
    with progress(audio.name, 1.0) as show:
        report: Path = transcribe_task(
            audio,
            data_root=settings.data_root,
            outputs_root=settings.outputs_root,
            options=TranscribeOptions(components=components, estimator=estimator, seed=settings.seed),
            progress=lambda doing, share: show(share, doing),
        )
    show_report(audio.stem, report)
    return report
