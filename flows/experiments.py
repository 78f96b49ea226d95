"""The experiments flow: the paper's figures and tables, computed again; one task for each."""

import logging
import os
from pathlib import Path

from prefect import Task, flow
from prefect.cache_policies import NO_CACHE

from flows.artifacts import progress, show_report
from flows.settings import Settings, load_settings
from flows.tasks import log_to_prefect
from nilm.errors import OptionError
from nilm.experiments.outcome import Scale
from nilm.experiments.write import chosen_experiments, run_experiment, write_index
from nilm.paths import WeekPaths
from nilm.recordings.ukdale import Week, week_hours

log = logging.getLogger("flows.experiments")  # a Prefect worker loads this file under another name

experiment_task = Task(run_experiment, name="experiment", task_run_name="{name}", cache_policy=NO_CACHE)


@flow(name="experiments", flow_run_name="experiments")
def experiments(
    only: list[str] | None = None,
    quick: bool = False,
    real_data: Path | None = None,
    labels: list[Path] | None = None,
    data_root: Path | None = None,
    outputs_root: Path | None = None,
) -> Path:
    """Run the paper's experiments that are not current and return the path of the page that lists them.

    Args:
        only: Names such as table1 and fig3; all of them if empty.
        quick: A first look with fewer trials, marked as such on the pages.
        real_data: Folder with recorded appliances, pianos and labels; $REAL_DATA or ../shared/data if empty.
        labels: More label files for Table 2.
        data_root: Where the paper's week of UK-DALE is looked for; the setting if empty.
        outputs_root: Folder of the pages; the setting if empty.
    """
    log_to_prefect()
    settings = load_settings(data_root=data_root, outputs_root=outputs_root)
    if real_data is not None and not real_data.is_dir():
        raise OptionError(f"real_data = {str(real_data)!r} is not a folder; correct it or leave it out")
    for file in labels or ():
        if not file.is_file():
            raise OptionError(f"labels = {str(file)!r} is not a file; correct it or leave it out")
    settings.check_roots()
    folder_of_others = real_data or Path(os.environ.get("REAL_DATA", "../shared/data"))
    uk_dale = _uk_dale(settings)
    scale = Scale(
        quick=quick,
        real_data=str(folder_of_others) if folder_of_others.is_dir() else None,
        uk_dale=str(uk_dale) if uk_dale else None,
        extra_labels=tuple(map(str, labels or ())),
    )
    folder = settings.outputs_root / "experiments"
    chosen = chosen_experiments(only or ())
    with progress("experiments", len(chosen)) as show:
        for done, name in enumerate(chosen):
            show(done, name)
            experiment_task(folder, name, scale)
        show(len(chosen), "done")
    index = write_index(folder)
    show_report("experiments", index, settings)
    return index


def _uk_dale(settings: Settings) -> Path | None:
    """The rows of the paper's week, ingested if need be; None where no copy of UK-DALE lies in data/raw."""
    paths = WeekPaths(settings.data_root, "house_1", Week(2015, 1))
    if not week_hours(paths.house_folder, paths.week):
        return None
    pipeline = settings.pipeline(paths)
    with pipeline.locked():
        pipeline.ingest()
    return paths.waveforms
