"""What decides whether a week's report is current: marks of the files that it is made from. Reads no more."""

from nilm.files import digest
from nilm.paths import WeekPaths
from nilm.recordings.submeters import submeter_marks
from nilm.report.folders import summaries_before

PUBLISH_STEP = "publish"


def report_marks(paths: WeekPaths) -> dict[str, str]:
    """Digests of the report's inputs that there are at this moment, of submeters those of the week's part."""
    found = {
        "hopped": paths.hopped,
        "waveforms": paths.waveforms,
        "quality": paths.quality,
        "names": paths.names,
        "truth": paths.truth,
    }
    marks = {label: digest(path) for label, path in found.items() if path.is_file()}
    marks |= {f"summary of {path.parent.name}": digest(path) for path in summaries_before(paths.outputs)}
    return marks | submeter_marks(paths.house_folder, paths.week)
