"""The terms of g(U) = −log P_Z(ZU) − log P_W(U⁻¹W) + γf (Eq. 6 with erratum E3). They add up.

Every term is a sum over columns of Z and over rows of W. So the hopper prices a column once for each
candidate. Of the features only W_j − r·W_k for a few r can appear, and those are priced once in each step.
A prior of your own is a subclass of `Prior` with `columns`,
`features` or both:

    class FewOnes(Prior):
        def columns(self, Z):
            return 0.1 * Z.sum(axis=0)
"""

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from lfm.arrays import BinaryArray, BoolArray, FloatArray
from lfm.checks import check_real, check_weight
from lfm.errors import InvalidInputError
from lfm.solution import Solution


def priced(prior: "Prior", method: str, prices: FloatArray, n: int) -> FloatArray:
    """`prices`, if they are n finite numbers; InvalidInputError names the prior that returned others."""
    name = f"{type(prior).__name__}.{method}"
    if np.shape(prices) != (n,):
        raise InvalidInputError(
            f"{name} returned shape {np.shape(prices)} where one price for each of {n} was asked: ({n},)"
        )
    if not np.all(np.isfinite(prices)):
        raise InvalidInputError(
            f"{name} returned NaN or infinite prices; a large finite price forbids as well"
        )
    return prices


class Prior:
    """A part of the objective that `hop` minimises. Subclass it to write a prior of your own.

    Override `columns` (a price for each column of Z), `features` (a price for each row of W), or both. What
    is not overridden costs nothing. Prices are finite numbers; the lower, the more probable.

    A subclass whose `features` are never negative may set `features_never_negative = True`. The support of
    a hop is then exact more often.

    Examples
    --------
    >>> import lfm
    >>> class FewOnes(lfm.Prior):
    ...     def columns(self, Z):
    ...         return 0.1 * Z.sum(axis=0)
    >>> solution = lfm.Solution([[1, 0], [1, 1]], [[3.0], [1.0]])
    >>> round(FewOnes().value(solution), 6)
    0.3
    """

    features_never_negative: ClassVar[bool] = False

    def columns(self, Z: BinaryArray) -> FloatArray:
        """The price of each column of Z (N, n), shape (n,)."""
        return np.zeros(Z.shape[1])

    def features(self, W: FloatArray) -> FloatArray:
        """The price of each row of `project(W)`, shape (m,)."""
        return np.zeros(W.shape[0])

    def project(self, W: FloatArray) -> FloatArray:
        """What `features` looks at: a linear map of each row of W (m, D), by default the row itself."""
        return W

    def value(self, solution: Solution) -> float:
        """This part of the objective for a whole solution."""
        projected = self.project(solution.W)
        columns = priced(self, "columns", self.columns(solution.Z), solution.K)
        return float(columns.sum() + priced(self, "features", self.features(projected), solution.K).sum())


@dataclass(frozen=True)
class GaussianW(Prior):
    """τ‖W‖²_F: small features are more probable. This is the paper's prior, and the fastest one.

    Parameters
    ----------
    tau : float
        Weight τ, finite and at least 0, in objective per squared unit of W.

    Raises
    ------
    InvalidInputError
        Where tau is negative or not finite.

    Examples
    --------
    >>> import lfm
    >>> lfm.GaussianW(0.5).value(lfm.Solution([[1]], [[3.0, 4.0]]))
    12.5
    """

    features_never_negative = True

    tau: float

    def __post_init__(self) -> None:
        check_weight("tau", self.tau)

    def features(self, W: FloatArray) -> FloatArray:
        """τ‖w‖² of each row."""
        return np.asarray(self.tau * np.einsum("kd,kd->k", W, W))


@dataclass(frozen=True)
class LaplaceW(Prior):
    """τ‖W‖₁: features with few large entries are more probable.

    Parameters
    ----------
    tau : float
        Weight τ, finite and at least 0, in objective per unit of W.

    Raises
    ------
    InvalidInputError
        Where tau is negative or not finite.

    Examples
    --------
    >>> import lfm
    >>> lfm.LaplaceW(0.5).value(lfm.Solution([[1]], [[3.0, -4.0]]))
    3.5
    """

    features_never_negative = True

    tau: float

    def __post_init__(self) -> None:
        check_weight("tau", self.tau)

    def features(self, W: FloatArray) -> FloatArray:
        """τ Σ|w| of each row."""
        return np.asarray(self.tau * np.abs(W).sum(axis=1))


@dataclass(frozen=True)
class NonNegativeW(Prior):
    """weight × the sum of the negative parts of W: spectra and powers are not negative.

    Parameters
    ----------
    weight : float
        Finite and at least 0, in objective per unit of W.

    Raises
    ------
    InvalidInputError
        Where weight is negative or not finite.

    Examples
    --------
    >>> import lfm
    >>> lfm.NonNegativeW(2.0).value(lfm.Solution([[1]], [[3.0, -4.0]]))
    8.0
    """

    features_never_negative = True

    weight: float

    def __post_init__(self) -> None:
        check_weight("weight", self.weight)

    def features(self, W: FloatArray) -> FloatArray:
        """Weight · Σ max(0, −w) of each row."""
        return np.asarray(-self.weight * np.minimum(W, 0).sum(axis=1))


@dataclass(frozen=True)
class PassiveSign(Prior):
    """weight × negative watts, where watts = mean(w · voltage) over the cycle: appliances consume.

    Parameters
    ----------
    weight : float
        Finite and at least 0, in objective per watt.
    voltage : array of shape (D,)
        One cycle of the voltage, in volts, as long as a row of W.

    Raises
    ------
    InvalidInputError
        Where weight is negative, or voltage is empty or of another length than the rows of W.

    Examples
    --------
    >>> import lfm
    >>> lfm.PassiveSign(1.0, [10.0, -10.0]).value(lfm.Solution([[1]], [[-2.0, 2.0]]))
    20.0
    """

    features_never_negative = True

    weight: float
    voltage: FloatArray = field(repr=False)  # (D,)

    def __post_init__(self) -> None:
        check_weight("weight", self.weight)
        voltage = check_real("voltage", self.voltage, ndim=1)
        if len(voltage) == 0:
            raise InvalidInputError("voltage is empty; give one cycle of it, as long as a row of W")
        object.__setattr__(self, "voltage", voltage)

    def project(self, W: FloatArray) -> FloatArray:
        """Mean power of each row, (m, 1)."""
        if W.shape[1] != len(self.voltage):
            raise InvalidInputError(
                f"voltage has {len(self.voltage)} samples and W has {W.shape[1]} columns; they must agree"
            )
        return (W @ self.voltage / len(self.voltage))[:, None]

    def features(self, W: FloatArray) -> FloatArray:
        """Weight · max(0, −watts) of each row."""
        return self.weight * np.maximum(0.0, -W[:, 0])


@dataclass(frozen=True)
class BernoulliZ(Prior):
    """weight × the number of ones: features are off most of the time. A column that is always on is free.

    An always-on column says nothing about when it is on. Priced by its rows, it would outweigh everything
    else.

    Parameters
    ----------
    weight : float
        Finite and at least 0, in objective per row that is on.

    Raises
    ------
    InvalidInputError
        Where weight is negative or not finite.

    Examples
    --------
    >>> import lfm
    >>> lfm.BernoulliZ(0.5).value(lfm.Solution([[1, 0], [1, 1]], [[3.0], [1.0]]))
    0.5
    """

    weight: float

    def __post_init__(self) -> None:
        check_weight("weight", self.weight)

    def columns(self, Z: BinaryArray) -> FloatArray:
        """Weight · ones of each column, 0 where it is always on."""
        ones = np.count_nonzero(Z, axis=0)
        return self.weight * np.where(ones == Z.shape[0], 0.0, ones)


@dataclass(frozen=True)
class SwitchingZ(Prior):
    """weight × the number of switches, Σ_t (z_{t+1} − z_t)²: appliances switch rarely.

    Parameters
    ----------
    weight : float
        Finite and at least 0, in objective per switch.
    gap_before : array of N booleans, optional
        True where row n does not directly follow row n − 1 in time. A change across a gap costs nothing.
        Default: no gaps.

    Raises
    ------
    InvalidInputError
        Where weight is negative, or gap_before is not a vector of one boolean per row of Z.

    Examples
    --------
    >>> import lfm
    >>> lfm.SwitchingZ(2.0).value(lfm.Solution([[0], [1], [1], [0]], [[1.0]]))
    4.0
    """

    weight: float
    gap_before: BoolArray | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        check_weight("weight", self.weight)
        if self.gap_before is not None:
            gap_before = np.asarray(self.gap_before)
            if gap_before.ndim != 1 or gap_before.dtype != np.bool_:
                raise InvalidInputError(
                    f"gap_before must be a vector of booleans, one per row of Z; got {gap_before.dtype} of "
                    f"shape {gap_before.shape}"
                )
            object.__setattr__(self, "gap_before", gap_before)

    def columns(self, Z: BinaryArray) -> FloatArray:
        """Weight · switches of each column."""
        switched = Z[1:] != Z[:-1]
        if self.gap_before is not None:
            if len(self.gap_before) != len(Z):
                raise InvalidInputError(f"gap_before has {len(self.gap_before)} entries; Z has {len(Z)} rows")
            switched = switched[~self.gap_before[1:]]
        return np.asarray(self.weight * np.count_nonzero(switched, axis=0))
