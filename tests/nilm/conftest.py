"""Small recordings in the data set's format, for the tests of the ingest, and small weeks after it."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile

from lfm import Correction, CorrectionKind, Hop, Identifiability, Solution, runs_of_ones
from nilm.disaggregate.disaggregation import Disaggregation
from nilm.disaggregate.evidence import EVIDENCE
from nilm.disaggregate.run_evidence import Runs
from nilm.disaggregate.steps import factorise_week, hop_week
from nilm.files import write_json
from nilm.options import FactoriseOptions, PriorOptions, PublishOptions
from nilm.paths import WeekPaths
from nilm.recordings.quality import Flag, week_quality
from nilm.recordings.tables import WeekTable, write_week
from nilm.recordings.ukdale import Week
from nilm.simulate.house import House, observe, simulated_house
from nilm.simulate.solar import with_solar
from nilm.week.publish import publish_week

VOLTS_PER_SAMPLE = 1.90101491444e-07 * 2**31  # house 1
AMPS_PER_SAMPLE = 4.9224284384e-08 * 2**31


def mains_signal(
    n_samples: int,
    *,
    hz: float = 50.0,
    phase: float = 0.3,
    rms_v: float = 240.0,
    rms_a: float = 10.0,
    lag: float = 0.0,
    rate_hz: int = 16_000,
    noise: float = 0.0,
) -> np.ndarray:
    """(n, 2) samples of a voltage with harmonics and of a current that lags its fundamental by `lag` rad."""
    angle = 2 * np.pi * hz * np.arange(n_samples) / rate_hz + phase
    volts = np.sqrt(2) * rms_v * (np.sin(angle) + 0.03 * np.sin(3 * angle + 0.5) + 0.02 * np.sin(5 * angle))
    amps = np.sqrt(2) * rms_a * np.sin(angle - lag)
    samples = np.stack([volts / VOLTS_PER_SAMPLE, amps / AMPS_PER_SAMPLE], axis=1)
    rng = np.random.default_rng(0)
    return samples + noise * rng.standard_normal(samples.shape) if noise else samples


@pytest.fixture(scope="session")
def signal() -> Callable[..., np.ndarray]:
    return mains_signal


@pytest.fixture(scope="session")
def write_recording() -> Callable[..., Path]:
    """Write seconds of mains to folder/vi-<start>.flac; `samples` replaces them, `rate_hz` mislabels them."""

    def write(
        folder: Path,
        start: str,
        *,
        seconds: float = 31.0,
        samples: np.ndarray | None = None,
        rate_hz: int = 16_000,
        **mains: Any,
    ) -> Path:
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"vi-{start}.flac"
        content = mains_signal(round(seconds * 16_000), **mains) if samples is None else samples
        soundfile.write(path, content, rate_hz, subtype="PCM_24")
        return path

    return write


@dataclass(frozen=True)
class WeekOnDisk:
    """A small house after the ingest, and where the later steps' files belong."""

    house: House
    root: Path
    name: str
    week: str

    @property
    def waveforms(self) -> Path:
        return self.root / "data" / "waveforms" / self.name / f"{self.week}.parquet"

    @property
    def raw(self) -> Path:
        return self.root / "data" / "raw" / self.name

    @property
    def solutions(self) -> Path:
        return self.root / "data" / "solutions" / self.name / self.week

    @property
    def names(self) -> Path:
        return self.root / "data" / "names" / f"{self.name}.json"

    @property
    def catalogue(self) -> Path:
        return self.root / "data" / "catalogue" / f"{self.name}.json"

    @property
    def outputs(self) -> Path:
        return self.root / "outputs" / self.name / self.week

    def solve(self) -> None:
        """Factorise and hop."""
        factorised, hopped = self.solutions / "factorised.npz", self.solutions / "hopped.npz"
        factorise_week(self.waveforms, factorised, FactoriseOptions(), house=self.name, week=self.week)
        hop_week(factorised, hopped, PriorOptions(), waveforms_path=self.waveforms)

    def publish(self, options: PublishOptions | None = None) -> Path:
        """The report, made."""
        paths = WeekPaths(self.root / "data", self.name, Week.parse(self.week), self.root / "outputs")
        return publish_week(paths, options or PublishOptions())


def runs_of(Z: np.ndarray, sure: float = 0.9) -> Runs:
    """Every run in Z (N, K), all as sure."""
    found = [(k, first, end) for k in range(Z.shape[1]) for first, end in runs_of_ones(Z[:, k])]
    feature, first, end = np.array(found, dtype=np.int64).reshape(-1, 3).T
    return Runs(feature, first, end, np.zeros((len(found), 1)), np.full(len(found), sure))


@pytest.fixture(scope="session")
def hopped_week() -> Callable[..., Disaggregation]:
    """A hopped week with nothing corrected, whose baseline is the solution unless another is given.

    `changes` set fields of the record, of its hop or of its diagnosis.
    """

    def make(solution: Solution, baseline: Solution | None = None, **changes: Any) -> Disaggregation:
        K = solution.K
        own = [((k, 1.0),) for k in range(K)]
        hop = Hop(
            solution=solution,
            U=np.eye(K),
            objective_before=1.0,
            objective_after=1.0,
            trace=np.ones(1),
            support=np.ones(K),
            support_is_exact=True,
            corrections=tuple(
                Correction(k, CorrectionKind.UNCHANGED, terms, terms, exact=True)
                for k, terms in enumerate(own)
            ),
            complete=True,
        )
        diagnosis = Identifiability(
            identifiable=False,
            reason="made for a test",
            witness=None,
            n_equivalent=3,
            n_equivalent_is_exact=True,
            n_equivalent_at_most=3,
            candidates=None,
            dependencies=(),
            bias_features=(0,),
            full_rows=False,
            rank_Z=K,
            rank_W=K,
            integer_certificate=True,
            lattice_index=1,
            column_dependences=(),
        )

        def changed(record: Any) -> Any:
            return replace(record, **{n: changes.pop(n) for n in vars(record).keys() & changes.keys()})

        return Disaggregation(
            **{
                "baseline": baseline or solution,
                "row": np.arange(solution.N),
                "in_fit": np.ones(solution.N, bool),
                "house": "house_1",
                "week": "2015-wk01",
                "interval_s": 120.0,
                "estimator": "switching",
                "seed": 0,
                "at_noise_floor": True,
                "feeds_in": False,
                "notes": ("from the fit",),
                "hop": changed(hop),
                "diagnosis": changed(diagnosis),
                "watts": np.ones(K),
                "evidence": np.full((K, len(EVIDENCE)), -3.0),
                "sure": np.full(K, 0.9),
                "runs": runs_of(solution.Z),
                "left_w": np.zeros(solution.N),
                "priors": "appliances consume",
                "residual_before": 1.0,
                "residual_after": 1.0,
                "relative_residual": 0.01,
            }
            | changes
        )

    return make


@pytest.fixture(scope="session")
def ingested_week() -> Callable[..., WeekOnDisk]:
    """Write a simulated house as the ingest leaves it: waveforms, quality, submeters on request, truth."""

    def write(
        root: Path,
        *,
        seed: int = 0,
        name: str = "house_t",
        week: str = "2015-wk01",
        days: float = 2.0,
        n_appliances: int = 5,
        noise_a: float = 0.02,
        missing: Sequence[int] = (),
        clipped: Sequence[int] = (),
        submeters: bool = True,
        truth: bool = True,
        solar: bool = False,
    ) -> WeekOnDisk:
        start = np.datetime64(Week.parse(week).start.replace(tzinfo=None), "s")
        house = simulated_house(seed=seed, days=days, n_appliances=n_appliances, n_points=64, start_utc=start)
        current = observe(house, noise_a=noise_a, rng=np.random.default_rng(seed))
        amplitudes = house.Z.astype(np.float64)
        if solar:
            house, profile = with_solar(house, np.random.default_rng(seed))
            amplitudes = house.Z * profile
            current += np.outer(amplitudes[:, -1], house.W[-1])
        flags = np.zeros(len(current), np.uint16)
        flags[list(clipped)] = Flag.CLIPPED_CURRENT
        current[list(clipped)] = np.clip(current[list(clipped)], -4.0, 4.0)
        kept = np.delete(np.arange(len(current)), list(missing))
        here = WeekOnDisk(house, root, name, week)
        voltage = np.broadcast_to(house.voltage_v, current.shape)
        rms_v, rms_a = np.sqrt(np.mean(voltage**2, axis=1)), np.sqrt(np.mean(current**2, axis=1))
        table = WeekTable(
            start_utc=house.start_utc,
            current_a=current.astype(np.float32),
            voltage_v=voltage.astype(np.float32),
            measured_utc=house.start_utc,
            duration_s=np.full(len(current), 120.0),
            mains_hz=np.full(len(current), 50.0),
            rms_v=rms_v,
            rms_a=rms_a,
            active_w=np.mean(current * voltage, axis=1),
            reactive_var=np.zeros(len(current)),
            apparent_va=rms_v * rms_a,
            inrush=np.zeros(len(current)),
            inrush_s=np.zeros(len(current)),
            n_cycles=np.full(len(current), 10, np.int16),
            source_file=np.full(len(current), "vi-1.flac"),
            flags=flags,
            interval_s=120,
        ).take(kept)
        write_week(here.waveforms, table)
        quality = week_quality(
            [],
            house=name,
            week=Week.parse(week),
            interval_s=120,
            start_utc=table.start_utc,
            duration_s=table.duration_s,
            flags=table.flags,
            seconds_recorded_twice=0.0,
        )
        write_json(here.waveforms.with_name(f"{week}.quality.json"), asdict(quality))
        here.raw.mkdir(parents=True, exist_ok=True)
        if submeters:
            _write_submeters(here.raw, house)
        if truth:
            (here.raw / "truth").mkdir(exist_ok=True)
            np.savez(
                here.raw / "truth" / f"{week}.npz",
                names=np.array(house.names),
                machines=np.array(house.machines),
                Z=house.Z,
                watts=house.watts,
                amplitudes=amplitudes,
                switch_utc=house.start_utc,
            )
        return here

    return write


def _write_submeters(folder: Path, house: House) -> None:
    """labels.dat and one channel per switched appliance, 60 s apart; channel 1 is the whole house."""
    times = house.start_utc.astype("datetime64[s]").astype(np.int64)
    power = house.Z * house.watts
    channels = {1: ("aggregate", power.sum(axis=1))}
    for k, name in enumerate(house.names[1:], start=1):
        channels[k + 1] = (name.replace(" ", "_"), power[:, k])
    (folder / "labels.dat").write_text("".join(f"{c} {name}\n" for c, (name, _) in channels.items()))
    for channel, (_, watts) in channels.items():
        rows = [f"{t + s} {w:.0f}\n" for t, w in zip(times, watts, strict=True) for s in (0, 60)]
        (folder / f"channel_{channel}.dat").write_text("".join(rows))


@pytest.fixture
def plain_page(monkeypatch: pytest.MonkeyPatch) -> None:
    """Spare the drawing where a test does not look at the page."""
    monkeypatch.setattr(
        "nilm.week.publish.render_report", lambda result, weeks: f"<html>{result.week}</html>"
    )
