"""The record of a week's solution, from the estimator's answer to the page, and its file.

`Factorised` is what the estimator found; `Disaggregation` is the same record with the hop's part added. Both
lie under `data/solutions/<house>/<week>/`: arrays with a JSON header in one npz, the same bytes for the same
content. What the numbers mean to an analyst is for `nilm.appliances.build`.
"""

import io
import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lfm import Correction, CorrectionKind, Hop, Identifiability, LfmError, Pdc, Solution
from lfm.arrays import BinaryArray, BoolArray, FloatArray, IntArray
from nilm.disaggregate.run_evidence import Runs
from nilm.errors import InputFileError
from nilm.files import MADE_ANEW, canonical_json, read_npz, write_bytes

_HEADER = "header"
# Fields that the header holds as they are; the others are arrays, or are written out below.
_OF_THE_ESTIMATE = (
    "house", "week", "interval_s", "estimator", "seed", "at_noise_floor", "feeds_in", "left_over", "notes",
)  # fmt: skip
_OF_THE_RESULT = ("priors", "residual_before", "residual_after", "relative_residual")
_OF_THE_HOP = ("objective_before", "objective_after", "support_is_exact", "complete")
_OF_THE_DIAGNOSIS = (
    "identifiable", "reason", "n_equivalent_is_exact", "bias_features", "full_rows", "rank_Z", "rank_W",
    "integer_certificate", "lattice_index",
)  # fmt: skip
_COUNTS = ("n_equivalent", "n_equivalent_at_most")  # JSON knows no infinity: null


@dataclass(frozen=True, eq=False, kw_only=True)
class Factorised:
    """What the estimator found in a week's rows, before any hop.

    Attributes
    ----------
    baseline : Solution
        Z (M, K), and W (K, D) in amperes: the estimator's own answer.
    row : array of int, shape (M,)
        The rows of the input that could be fitted or decoded.
    in_fit : array of bool, shape (M,)
        False for a row that was decoded afterwards.
    interval_s : float
        Seconds from one row to the next.
    estimator : str
        The name of the estimator that was used.
    seed : int
        Seed of everything random.
    at_noise_floor : bool or None
        Whether what is left over is noise; None where the estimator cannot tell.
    feeds_in : bool
        Whether a generator is in the house: active power is negative at times.
    notes : tuple of str
        What an analyst should know, in words.
    amplitude : array of shape (M, V), or None
        Sizes of the last V features, which vary, in units of their W: 0 where they are off, 1 on the average
        of the rows where they are on. None where every feature is on or off.
    left_over : float
        Share of the energy that is not explained, between 0 and 1.
    house, week : str
        Empty where arrays were given.
    """

    baseline: Solution
    row: IntArray
    in_fit: BoolArray
    interval_s: float
    estimator: str
    seed: int
    at_noise_floor: bool | None
    feeds_in: bool
    notes: tuple[str, ...] = ()
    amplitude: FloatArray | None = None
    left_over: float = 0.0
    house: str = ""
    week: str = ""

    @property
    def n_varying(self) -> int:
        """How many of the last features vary."""
        return 0 if self.amplitude is None else self.amplitude.shape[1]


@dataclass(frozen=True, eq=False, kw_only=True)
class Disaggregation(Factorised):
    """Who was on when, and what each draws: the estimator's answer, and what the hop made of it.

    Made by `disaggregate`. It has every attribute of `Factorised` (among them `baseline`, `row`, `amplitude`
    and `left_over`), and these:

    Attributes
    ----------
    hop : lfm.Hop
        The hop over the rows `row`. Features that vary stand last in it, unchanged.
    solution : lfm.Solution
        The hopped one: Z (M, K) and W (K, D) in amperes.
    diagnosis : lfm.Identifiability
        Of the features that are on or off. A file keeps what was found, not its proof (candidates, witness,
        column_dependences): `lfm.diagnose` finds that again.
    watts : array of shape (K,)
        Mean of voltage × current of each feature while it is on.
    power_w : array of shape (M, K)
        Watts of every appliance in every row, what is always on among them.
    evidence : array of shape (K, …)
        What `sure` was read from; see `nilm.disaggregate.confidence`.
    sure : array of shape (K,)
        Probability that each feature is one real appliance with these times and this energy.
    runs : Runs
        Every run of every feature in the rows of the fit, and how sure it is.
    left_w : array of shape (M,)
        Watts that nothing explains, at steady voltage; NaN in rows not in the fit.
    priors : str
        What decided between equivalent explanations, in words.
    residual_before, residual_after : float
        ‖X − ZW‖_F over the rows of the fit, in amperes: of the baseline and of the solution.
    relative_residual : float
        residual_after / ‖X‖_F, between 0 and 1.

    Examples
    --------
    >>> import numpy as np
    >>> from nilm.disaggregate import disaggregate
    >>> phase = 2 * np.pi * np.arange(32) / 32
    >>> on = (np.arange(200) % 40 < 10)[:, None]  # a heater of 1150 W beside 230 W that are always on
    >>> current_a = np.sqrt(2) * (1 + 5 * on) * np.sin(phase)
    >>> week = disaggregate(current_a, 230 * np.sqrt(2) * np.sin(phase))
    >>> week.power_w.sum(axis=1).round().tolist() == (230 + 1150.0 * on[:, 0]).tolist()
    True
    """

    hop: Hop
    diagnosis: Identifiability
    watts: FloatArray
    evidence: FloatArray
    sure: FloatArray
    runs: Runs
    left_w: FloatArray
    priors: str
    residual_before: float
    residual_after: float
    relative_residual: float

    @property
    def solution(self) -> Solution:
        """The hopped one, Z (M, K) and W (K, D) in amperes."""
        return self.hop.solution

    @property
    def sizes(self) -> FloatArray:
        """(M, K) how much of each feature is there: Z, and the amplitudes of the last ones that vary."""
        return sizes(self.solution.Z, self.amplitude)

    @property
    def power_w(self) -> FloatArray:
        """(M, K) watts of every appliance in every row, what is always on among them."""
        return self.sizes * self.watts

    def run_sure(self, k: int) -> FloatArray:
        """(M,) how sure the run of feature k is that each row is in; NaN in rows of no run of the fit."""
        sure = np.full(len(self.row), np.nan)
        for run in np.flatnonzero(self.runs.feature == k):
            sure[self.runs.first[run] : self.runs.end[run]] = self.runs.sure[run]
        return sure


def sizes(Z: BinaryArray, amplitude: FloatArray | None) -> FloatArray:
    """Z (M, K) as floats, its last V columns the `amplitude` (M, V) unless that is None."""
    size = Z.astype(np.float64)
    if amplitude is not None:
        size[:, Z.shape[1] - amplitude.shape[1] :] = amplitude
    return size


def save_solution(path: Path, found: Factorised) -> None:
    """Write the record, hopped or not, atomically."""
    arrays: dict[str, NDArray[Any]] = {
        "Z": found.baseline.Z,
        "W": found.baseline.W,
        "row": found.row,
        "in_fit": found.in_fit,
    }
    if found.amplitude is not None:
        arrays["amplitude"] = found.amplitude
    header = _taken(found, _OF_THE_ESTIMATE)
    if isinstance(found, Disaggregation):
        hop_arrays, header["hop"] = _hop_parts(found)
        arrays |= hop_arrays
    buffer = io.BytesIO()
    # numpy stamps every member with 1980-01-01, so equal content gives equal bytes.
    np.savez_compressed(buffer, **arrays, **{_HEADER: np.array(canonical_json(header))})  # type: ignore[arg-type]
    write_bytes(path, buffer.getvalue())


def load_factorised(path: Path) -> Factorised:
    """The estimator's part of the record in a file; InputFileError if it is missing or of another form."""
    arrays, header = _read(path)
    try:
        return Factorised(**_estimate(arrays, header))
    except (KeyError, TypeError, LfmError) as error:
        raise InputFileError(f"{path} is not a factorised week ({error!r}); factorise it again") from error


def load_disaggregation(path: Path) -> Disaggregation:
    """The hopped record in a file; InputFileError if it is missing or of another form."""
    arrays, header = _read(path)
    try:
        own = header["hop"]
        return Disaggregation(
            **_estimate(arrays, header),
            hop=_hop(arrays, own),
            diagnosis=_diagnosis(own),
            watts=arrays["watts"],
            evidence=arrays["evidence"],
            sure=arrays["sure"],
            runs=Runs(**{name: arrays[f"run_{name}"] for name in Runs._fields}),
            left_w=arrays["left_w"],
            **{name: own[name] for name in _OF_THE_RESULT},
        )
    except (KeyError, TypeError, ValueError, LfmError) as error:
        raise InputFileError(f"{path} is not a hopped week ({error!r}); hop it again") from error


def _taken(record: object, names: tuple[str, ...]) -> dict[str, Any]:
    return {name: getattr(record, name) for name in names}


def _estimate(arrays: dict[str, NDArray[Any]], header: dict[str, Any]) -> dict[str, Any]:
    return {
        "baseline": Solution(arrays["Z"], arrays["W"]),
        "row": arrays["row"],
        "in_fit": arrays["in_fit"],
        "amplitude": arrays.get("amplitude"),
        **{name: header[name] for name in _OF_THE_ESTIMATE},
        "notes": tuple(header["notes"]),
    }


def _hop_parts(found: Disaggregation) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    hop, diagnosis = found.hop, found.diagnosis
    arrays: dict[str, NDArray[Any]] = {
        "hopped_Z": hop.solution.Z,
        "hopped_W": hop.solution.W,
        "U": hop.U,
        "support": hop.support,
        "trace": hop.trace,
        "sure": found.sure,
        **{f"run_{name}": value for name, value in found.runs._asdict().items()},
        "left_w": found.left_w,
        "watts": found.watts,
        "evidence": found.evidence,
    }
    header = {
        **_taken(found, _OF_THE_RESULT),
        **_taken(hop, _OF_THE_HOP),
        "corrections": [
            (c.column, c.kind.value, c.on_terms, c.feature_terms, c.exact) for c in hop.corrections
        ],
        **_taken(diagnosis, _OF_THE_DIAGNOSIS),
        **{name: None if math.isinf(count) else count for name, count in _taken(diagnosis, _COUNTS).items()},
        "dependencies": [(i, j, pdc.name) for i, j, pdc in diagnosis.dependencies],
    }
    return arrays, header


def _hop(arrays: dict[str, NDArray[Any]], own: dict[str, Any]) -> Hop:
    return Hop(
        solution=Solution(arrays["hopped_Z"], arrays["hopped_W"]),
        U=arrays["U"],
        support=arrays["support"],
        trace=arrays["trace"],
        corrections=tuple(
            Correction(column, CorrectionKind(kind), _terms(on), _terms(feature), exact)
            for column, kind, on, feature, exact in own["corrections"]
        ),
        **{name: own[name] for name in _OF_THE_HOP},
    )


def _diagnosis(own: dict[str, Any]) -> Identifiability:
    return Identifiability(
        **{name: own[name] for name in _OF_THE_DIAGNOSIS}
        | {name: math.inf if own[name] is None else own[name] for name in _COUNTS}
        | {"bias_features": tuple(own["bias_features"])},
        dependencies=tuple((i, j, Pdc[name]) for i, j, name in own["dependencies"]),
        candidates=None,
        witness=None,
        column_dependences=(),
    )


def _terms(pairs: list[list[float]]) -> tuple[tuple[int, float], ...]:
    return tuple((int(k), float(coefficient)) for k, coefficient in pairs)


def _read(path: Path) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    arrays = read_npz(path, cure=MADE_ANEW)
    try:
        header = json.loads(str(arrays.pop(_HEADER)))
        if not isinstance(header, dict):
            raise ValueError("its header is no object")
        return arrays, header
    except (KeyError, ValueError, RecursionError) as error:
        raise InputFileError(f"{path} cannot be read as a solution ({error!r}); {MADE_ANEW}") from error
