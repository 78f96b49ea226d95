"""A week's solution on disk, between the steps: factorised, then hopped.

Owns the two records and their files under `data/solutions/<house>/<week>/`: arrays with a JSON header in one
npz, the same bytes for the same content. What the numbers mean to an analyst is for `nilm.appliances.build`.
"""

import io
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lfm import LfmError, Solution
from nilm.errors import InputFileError
from nilm.files import MADE_ANEW, canonical_json, read_npz, write_bytes

_HEADER = "header"

Terms = tuple[tuple[int, float], ...]  # (feature of the baseline, coefficient)
FeatureCorrection = tuple[str, Terms, Terms]  # lfm.CorrectionKind's value, on_terms, feature_terms


@dataclass(frozen=True, eq=False)
class Factorised:
    """What the estimator found in a week's rows."""

    solution: Solution  # Z (M, K), W (K, D) in amperes; M rows that could be fitted or decoded
    row: NDArray[np.int64]  # (M,) which rows of the week's table these are
    in_fit: NDArray[np.bool_]  # (M,) False for a row that was decoded afterwards
    house: str
    week: str
    interval_s: float
    estimator: str
    seed: int
    at_noise_floor: bool | None  # None where the estimator gives no certificate
    feeds_in: bool  # a generator is in the house: active power is negative at times
    notes: tuple[str, ...] = ()
    # (M, V) of the last V features, which vary: sizes in each row in units of W, 0 where they are off
    amplitude: NDArray[np.float64] | None = None
    left_over: float = 0.0  # share of the energy that the solution does not explain


@dataclass(frozen=True, eq=False)
class Hopped:
    """A factorised week after the hop, with the diagnosis of what was found."""

    factorised: Factorised  # the baseline and its rows
    solution: Solution  # Z (M, K), W (K, D); same rows
    U: NDArray[np.float64]  # (K, K) the hop, Z = Z_baseline U on the rows of the fit
    sure: NDArray[np.float64]  # (K,) probability that each is one real appliance with these times
    support: NDArray[np.float64]  # (K,) share, by weight, of the equivalent solutions with this column
    corrections: tuple[FeatureCorrection, ...]  # (K,)
    priors: str  # which priors decided, in words
    objective_before: float
    objective_after: float
    residual_before: float  # ‖X − ZW‖_F over the rows of the fit
    residual_after: float
    relative_residual: float  # residual_after / ‖X‖_F
    identifiable: bool | None
    n_equivalent: int
    n_equivalent_is_exact: bool
    dependencies: tuple[tuple[int, int, str], ...]  # (i, j, name of lfm.Pdc)
    bias_features: tuple[int, ...]
    rank_Z: int
    rank_W: int
    notes: tuple[str, ...] = ()

    @property
    def n_varying(self) -> int:
        """How many of the last features vary."""
        return 0 if self.factorised.amplitude is None else self.factorised.amplitude.shape[1]

    @property
    def sizes(self) -> NDArray[np.float64]:
        """(M, K) how much of each feature is there: Z, and the amplitudes of the last ones that vary."""
        return sizes(self.solution.Z, self.factorised.amplitude)


def sizes(Z: NDArray[np.uint8], amplitude: NDArray[np.float64] | None) -> NDArray[np.float64]:
    """Z (M, K) as floats, its last V columns the `amplitude` (M, V) unless that is None."""
    size = Z.astype(np.float64)
    if amplitude is not None:
        size[:, Z.shape[1] - amplitude.shape[1] :] = amplitude
    return size


def save_factorised(path: Path, factorised: Factorised) -> None:
    """Write the record, atomically."""
    write_bytes(path, _pack(*_factorised_parts(factorised)))


def load_factorised(path: Path) -> Factorised:
    """The record in a file; InputFileError if it is missing or is none."""
    arrays, header = _unpack(path)
    try:
        return _factorised(arrays, header)
    except (KeyError, TypeError, LfmError) as error:
        raise InputFileError(f"{path} is not a factorised week ({error!r}); factorise it again") from error


def save_hopped(path: Path, hopped: Hopped) -> None:
    """Write the record, atomically."""
    arrays, header = _factorised_parts(hopped.factorised)
    own = {
        name: value
        for name, value in vars(hopped).items()
        if name not in {"factorised", "solution", "U", "support", "sure"}
    }
    arrays |= {
        "hopped_Z": hopped.solution.Z,
        "hopped_W": hopped.solution.W,
        "U": hopped.U,
        "support": hopped.support,
        "sure": hopped.sure,
    }
    write_bytes(path, _pack(arrays, header | {"hop": own}))


def load_hopped(path: Path) -> Hopped:
    """The record in a file; InputFileError if it is missing or is none."""
    arrays, header = _unpack(path)
    try:
        own = header.pop("hop")
        return Hopped(
            factorised=_factorised(arrays, header),
            solution=Solution(arrays["hopped_Z"], arrays["hopped_W"]),
            U=arrays["U"],
            support=arrays["support"],
            sure=arrays["sure"],
            **own
            | {
                "corrections": tuple(
                    (kind, _terms(on), _terms(feature)) for kind, on, feature in own["corrections"]
                ),
                "dependencies": tuple((i, j, pdc) for i, j, pdc in own["dependencies"]),
                "bias_features": tuple(own["bias_features"]),
                "notes": tuple(own["notes"]),
            },
        )
    except (KeyError, TypeError, LfmError) as error:
        raise InputFileError(f"{path} is not a hopped week ({error!r}); hop it again") from error


def _terms(pairs: list[list[float]]) -> Terms:
    return tuple((int(k), float(coefficient)) for k, coefficient in pairs)


def _factorised_parts(factorised: Factorised) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    header = {
        name: value
        for name, value in vars(factorised).items()
        if name not in {"solution", "row", "in_fit", "amplitude"}
    }
    arrays: dict[str, NDArray[Any]] = {
        "Z": factorised.solution.Z,
        "W": factorised.solution.W,
        "row": factorised.row,
        "in_fit": factorised.in_fit,
    }
    if factorised.amplitude is not None:
        arrays["amplitude"] = factorised.amplitude
    return arrays, header


def _factorised(arrays: dict[str, NDArray[Any]], header: dict[str, Any]) -> Factorised:
    return Factorised(
        solution=Solution(arrays["Z"], arrays["W"]),
        row=arrays["row"],
        in_fit=arrays["in_fit"],
        amplitude=arrays.get("amplitude"),
        **header | {"notes": tuple(header["notes"])},
    )


def _pack(arrays: dict[str, NDArray[Any]], header: dict[str, Any]) -> bytes:
    buffer = io.BytesIO()
    # numpy stamps every member with 1980-01-01, so equal content gives equal bytes.
    np.savez_compressed(buffer, **arrays, **{_HEADER: np.array(canonical_json(header))})  # type: ignore[arg-type]
    return buffer.getvalue()


def _unpack(path: Path) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    arrays = read_npz(path, cure=MADE_ANEW)
    try:
        header = json.loads(str(arrays.pop(_HEADER)))
        if not isinstance(header, dict):
            raise ValueError("its header is no object")
        return arrays, header
    except (KeyError, ValueError, RecursionError) as error:
        raise InputFileError(f"{path} cannot be read as a solution ({error!r}); {MADE_ANEW}") from error
