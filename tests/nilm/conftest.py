"""Small recordings in the data set's format, for the tests of the ingest."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile

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
