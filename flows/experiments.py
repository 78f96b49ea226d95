"""The experiments flow: the paper's figures and tables, one task each, into outputs/experiments/."""

import os
from pathlib import Path

from prefect import Task, flow
from prefect.cache_policies import NO_CACHE

from flows.artifacts import progress, show_report
from flows.settings import Settings, load_settings
from flows.tasks import log_to_prefect
from nilm.experiments.outcome import Scale
from nilm.experiments.publish import chosen_experiments, run_experiment, write_index

UK_DALE_HOUSE, UK_DALE_WEEK = "house_1", "2015-wk01"  # the paper's

experiment_task = Task(run_experiment, name="experiment", task_run_name="{name}", cache_policy=NO_CACHE)


@flow(name="experiments", flow_run_name="experiments")
def experiments(
    only: list[str] | None = None,
    quick: bool = False,
    labels: list[Path] | None = None,
    real_data: Path | None = None,
    data_root: Path | None = None,
    outputs_root: Path | None = None,
) -> Path:
    """Run the paper's experiments that are not current and return the path of their index page.

    Args:
        only: Names such as fig3 and table1; all if empty.
        quick: A first look in under three minutes: fewer and smaller sets.
        labels: Label files (0/1 CSV, npz, or LIBSVM multi-label) to add to Table 2.
        real_data: Folder of real cycles, labels and piano; $REAL_DATA or ../shared/data if empty and there.
        data_root: Where an ingested UK-DALE is looked for; the setting if empty.
        outputs_root: Folder of the reports; the setting if empty.
    """
    log_to_prefect()
    settings = load_settings(data_root=data_root, outputs_root=outputs_root)
    folder = settings.outputs_root / "experiments"
    scale = scale_of(settings, quick=quick, labels=labels or [], real_data=real_data)
    names = chosen_experiments(only or [])
    with progress("experiments", len(names)) as show:
        for done, name in enumerate(names):
            show(done, name)
            experiment_task(folder, name, scale)
        show(len(names), "done")
    index = write_index(folder)
    show_report("experiments", index)
    return index


def scale_of(settings: Settings, *, quick: bool, labels: list[Path], real_data: Path | None) -> Scale:
    """How much to run, and on which data that is not ours."""
    folder = real_data or Path(os.environ.get("REAL_DATA", "../shared/data"))
    week = settings.data_root / "waveforms" / UK_DALE_HOUSE / f"{UK_DALE_WEEK}.parquet"
    return Scale(
        quick=quick,
        real_data=str(folder) if folder.is_dir() else None,
        uk_dale=str(week) if week.is_file() else None,
        extra_labels=tuple(str(path) for path in labels),
    )
