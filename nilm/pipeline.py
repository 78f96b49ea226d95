"""A week's pipeline: its steps in order, from recordings to report, and whether there is work to do.

`nilm ingest`, `nilm run`, the weekly flow and the backfill all go through here; how a step works is its own
module's business. Every step finds out from its manifest whether its outputs are current. One more entry, the
step "the week" in the manifest of the outputs, covers all of them, so that a week without work costs a look
at its inputs and nothing else.

What the entry records are the marks that the steps took before they read their inputs, not marks of the end
of the run: a recording that arrived meanwhile, or a name given meanwhile, is work for the next run.

What does the work is imported where it is called: a week without any is told within a second.
"""

import logging
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

from nilm import versions
from nilm.files import digest, week_lock
from nilm.manifest import Step, record, recorded, why_redo
from nilm.marks import PUBLISH_STEP, report_marks
from nilm.options import WeekOptions
from nilm.paths import WeekPaths
from nilm.recordings.ingest import ingest_week, marks_now, marks_read
from nilm.recordings.quality import WeekQuality
from nilm.report.troubles import failure_of, forget_troubles, note_failure

log = logging.getLogger(__name__)

THE_WEEK = "the week"

Show = Callable[[float, str], None]  # hears how far a step has come, from 0 to 1, and what it does


def silent(_done: float, _doing: str) -> None:
    """A `Show` that nobody looks at."""


@dataclass(frozen=True)
class WeekStep:
    """One step of a week: what it reads, what shapes it, and what does the work."""

    name: str
    words: str  # what it does, for whoever waits
    version: int  # nilm.versions
    options: Mapping[str, Any]
    inputs: Callable[[], Mapping[str, str]]  # marks, as they are now
    read: Callable[[], Mapping[str, str]]  # the same marks, as the step took them before it read
    run: Callable[[Show], object]


@dataclass(frozen=True)
class WeekPipeline:
    """The steps of one house and week. Workers are the hours that are read at a time."""

    paths: WeekPaths
    options: WeekOptions
    workers: int = 1

    def __str__(self) -> str:
        return str(self.paths)

    @property
    def steps(self) -> tuple[WeekStep, ...]:
        """Ingest, factorise, hop and publish; each needs what the one before has made."""
        paths, options = self.paths, self.options
        return (
            WeekStep(
                "ingest",
                "reading recordings",
                versions.INGEST,
                asdict(options.sampling),
                lambda: marks_now(paths),
                lambda: marks_read(paths),
                self.ingest,
            ),
            WeekStep(
                "factorise",
                "finding appliances",
                versions.FACTORISE,
                asdict(options.factorise),
                dict,
                dict,
                self._factorise,
            ),
            WeekStep(
                "hop",
                "choosing between equivalent explanations",
                versions.HOP,
                asdict(options.hop),
                self._factorised,
                self._factorised,
                self._hop,
            ),
            WeekStep(
                "publish",
                "writing the report",
                versions.PUBLISH,
                asdict(options.publish),
                lambda: report_marks(paths),
                lambda: recorded(paths.manifest, PUBLISH_STEP).inputs,
                self._publish,
            ),
        )

    def step(self, name: str) -> WeekStep:
        """The step of that name."""
        return next(step for step in self.steps if step.name == name)

    def why_redo(self) -> str | None:
        """Why the week has work to do, in words; None if its outputs are current."""
        for index in self.paths.indexes:
            if self.paths.manifest.is_file() and not index.is_file():
                return f"missing output {index}"
        if failure_of(self.paths.outputs):
            return "its last run failed"
        return why_redo(self.paths.manifest, self._the_week({s.name: s.inputs() for s in self.steps}))

    def ingest(self, show: Show = silent) -> WeekQuality:
        """What the week's rows hold and what they lack, after they were made current."""
        return ingest_week(
            self.paths,
            sampling=self.options.sampling,
            workers=self.workers,
            progress=lambda done, total: show(done / total, f"{done} of {total} recordings read"),
        )

    def solve(self) -> None:
        """Make everything but the outputs current: the part of a week that depends on no other week."""
        with self.locked():
            for step in self.steps[:-1]:
                step.run(silent)

    def finish(self) -> None:
        """Make the outputs current and write down what the whole week was made from."""
        with self.locked():
            self.steps[-1].run(silent)

    def failed(self, reason: str) -> None:
        """Keep why a run of the week failed, and show it on the index."""
        note_failure(self.paths.outputs, reason.removeprefix(f"{self}: "), now=datetime.now(UTC))
        self._list()

    def locked(self) -> Any:
        """The lock of the week; whoever runs steps one by one holds it."""
        return week_lock(self.paths.data_root, self.paths.house, str(self.paths.week))

    def summary(self) -> dict[str, Any]:
        """The published week in a few numbers."""
        published = recorded(self.paths.manifest, PUBLISH_STEP).result
        return {name: value for name, value in published.items() if name != "provenance"}

    def _factorise(self, show: Show) -> None:
        from nilm.disaggregate.steps import factorise_week

        factorise_week(
            self.paths.waveforms,
            self.paths.factorised,
            self.options.factorise,
            house=self.paths.house,
            week=str(self.paths.week),
            callback=lambda n, _: show(n / (n + 20), f"finding appliances, round {n}"),
        )

    def _hop(self, _show: Show) -> None:
        from nilm.disaggregate.steps import hop_week

        hop_week(
            self.paths.factorised,
            self.paths.hopped,
            self.options.hop,
            waveforms_path=self.paths.waveforms,
        )

    def _publish(self, _show: Show) -> None:
        """Make the outputs and the index current, then record the week; a house's weeks take their turns."""
        from nilm.week.publish import publish_week

        with week_lock(self.paths.data_root, self.paths.house, "publish"):
            publish_week(self.paths, self.options.publish)
            forget_troubles(self.paths.outputs)
        self._list()
        published = recorded(self.paths.manifest, PUBLISH_STEP).outputs
        record(
            self.paths.manifest,
            self._the_week({step.name: step.read() for step in self.steps}),
            [self.paths.outputs / name for name in published],
        )

    def _list(self) -> None:
        """Make the index and the house's page current."""
        from nilm.week.publish import publish_index

        with week_lock(self.paths.data_root, "all", "index"):
            publish_index(self.paths.outputs_root, self.paths.house, self.paths.week.year)

    def _factorised(self) -> dict[str, str]:
        path = self.paths.factorised
        return {path.name: digest(path)} if path.is_file() else {}

    def _the_week(self, marks: Mapping[str, Mapping[str, str]]) -> Step:
        """All that decides the outputs of a week, with the `marks` of each step's inputs."""
        return Step(
            THE_WEEK,
            {f"{step}: {label}": mark for step, found in marks.items() for label, mark in found.items()},
            {
                f"{step.name}: {option}": value
                for step in self.steps
                for option, value in {"version": step.version, **step.options}.items()
            },
        )
