"""Audio to rows: the power spectrum of a piece of music, one row per hop, non-negative.

Owns reading audio (WAV, FLAC, OGG through soundfile), the spectrogram and its Parquet. What the features
mean as notes belongs to `nilm.music.pitches`; factorising and hopping to `nilm.music.transcribe`.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import soundfile
from scipy.signal import ShortTimeFFT
from scipy.signal.windows import hann

from lfm.arrays import FloatArray
from nilm.errors import InputFileError, NothingUsableError, OptionError
from nilm.files import atomic_path


@dataclass(frozen=True)
class SpectraOptions:
    """Window and hop in seconds, highest frequency kept; the number of bins is window_s × max_hz."""

    window_s: float = 0.186
    hop_s: float = 0.0464
    max_hz: float = 4000.0

    def __post_init__(self) -> None:
        if not 0.001 <= self.window_s <= 10:
            raise OptionError(f"window_s must lie between 0.001 and 10 seconds, got {self.window_s}")
        if not 0 < self.hop_s <= self.window_s:
            raise OptionError(
                f"hop_s must be positive and at most window_s = {self.window_s}, got {self.hop_s}; "
                "a longer hop would skip samples"
            )
        if self.max_hz <= 0:
            raise OptionError(f"max_hz must be positive, got {self.max_hz}")


@dataclass(frozen=True)
class Spectra:
    """Power spectra (N, D) of audio, one row per hop: mean square amplitude per bin."""

    power: FloatArray
    start_s: FloatArray  # (N,) start of each row's window
    frequency_hz: FloatArray  # (D,)
    window_s: float
    hop_s: float

    @property
    def centre_s(self) -> FloatArray:
        """The middle of each row's window, where its energy is weighed most."""
        return self.start_s + self.window_s / 2


def read_audio(path: Path) -> tuple[FloatArray, int]:
    """Mono samples in [−1, 1] and the sample rate; the channels of a recording are averaged."""
    if not path.is_file():
        raise InputFileError(f"{path}: no such audio file")
    try:
        samples, rate = soundfile.read(path, dtype="float64", always_2d=True)
    except soundfile.LibsndfileError as error:
        raise InputFileError(f"{path}: not readable as audio ({error}); WAV, FLAC and OGG are") from error
    if not np.isfinite(samples).all():
        raise InputFileError(f"{path}: holds samples that are not finite; export it again as 16 or 24 bit")
    return samples.mean(axis=1), int(rate)


def power_spectra(samples: FloatArray, rate: int, options: SpectraOptions) -> Spectra:
    """Power spectra of every full window of `samples`; windows that reach past the ends are not made."""
    window = round(options.window_s * rate)
    hop = max(1, round(options.hop_s * rate))
    if options.max_hz > rate / 2:
        raise OptionError(
            f"max_hz = {options.max_hz:g} is above half the sample rate, {rate / 2:g} Hz; choose a lower one"
        )
    # scale_to='magnitude': a sine of amplitude a has |STFT| = a/2 in its bin, whatever the window.
    transform = ShortTimeFFT(hann(window, sym=False), hop, fs=rate, scale_to="magnitude", phase_shift=None)
    first = -(-transform.m_num_mid // hop)
    offset = first * hop - transform.m_num_mid  # samples before the first window, under one hop
    n_rows = (len(samples) - window - offset) // hop + 1
    if n_rows < 1:
        raise NothingUsableError(
            f"the audio lasts {len(samples) / rate:.3f} s, shorter than one window of {options.window_s} s"
        )
    kept = transform.f <= options.max_hz
    power = transform.spectrogram(samples, p0=first, p1=first + n_rows)[kept].T
    return Spectra(
        power=np.ascontiguousarray(power),
        start_s=(offset + hop * np.arange(len(power))) / rate,
        frequency_hz=transform.f[kept],
        window_s=window / rate,
        hop_s=hop / rate,
    )


def write_spectra(spectra: Spectra, path: Path) -> None:
    """Parquet with start_s and power (fixed_size_list<float32>[D]); bins and window in the metadata."""
    n_bins = spectra.power.shape[1]
    values = pa.array(spectra.power.astype(np.float32).ravel())
    table = pa.table(
        {"start_s": spectra.start_s, "power": pa.FixedSizeListArray.from_arrays(values, n_bins)},
    ).replace_schema_metadata(
        {
            "bin_hz": repr(float(spectra.frequency_hz[1] - spectra.frequency_hz[0])),
            "window_s": repr(spectra.window_s),
            "hop_s": repr(spectra.hop_s),
        }
    )
    with atomic_path(path) as temporary:
        pq.write_table(
            table,
            temporary,
            compression="zstd",
            use_dictionary=False,
            column_encoding={"power.list.element": "BYTE_STREAM_SPLIT"},
        )


def read_spectra(path: Path) -> Spectra:
    """The spectra of a file that `write_spectra` wrote."""
    try:
        table = pq.read_table(path)
        meta = {key.decode(): float(value) for key, value in (table.schema.metadata or {}).items()}
        power = table["power"].combine_chunks()
        n_bins = power.type.list_size
        return Spectra(
            power=np.asarray(power.values, dtype=np.float64).reshape(-1, n_bins),
            start_s=np.asarray(table["start_s"], dtype=np.float64),
            frequency_hz=meta["bin_hz"] * np.arange(n_bins),
            window_s=meta["window_s"],
            hop_s=meta["hop_s"],
        )
    except (OSError, pa.ArrowException, KeyError, ValueError, AttributeError) as error:
        raise InputFileError(
            f"{path}: not a spectra file of this project ({error}); make it again"
        ) from error
