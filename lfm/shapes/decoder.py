"""ShapeDecoder: the scikit-learn side of rows as a base plus shapes whose sizes vary."""

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from lfm.arrays import BoolArray, FloatArray
from lfm.checks import check_durations, check_gaps, check_real, checked_rows
from lfm.errors import InvalidInputError
from lfm.shapes.amplitudes import Above, find_base, solve_amplitudes
from lfm.shapes.coding import Lines, choose_lines, unlearnt
from lfm.shapes.levels import find_lines_in_levels, levels_of, share_left
from lfm.shapes.lines import background, find_lines, find_lines_in_wander, is_large, sampled
from lfm.shapes.noise import at_noise_floor, find_signal
from lfm.threads import one_thread
from lfm.thresholds import SHAPES


class ShapeDecoder(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """X_t ≈ base + Σ_k a_k(t) s_k for rows in time: sources with a shape each, whose sizes vary.

    A source that is on or off is the case a_k ∈ {0, size}. Shapes come from the changes between rows: most
    hold one source, so they lie on one line for each source. The fit draws no random numbers.

    Parameters
    ----------
    n_components : int from 1 up, or 'auto'
        The most shapes to keep; the largest by size stay. Default 'auto': as many as pay for themselves.
    min_noise : float, default 0
        The noise is taken as at least this, in the unit of X: for rows in which the sources follow something
        else, such as the voltage, by more than the meter's noise.
    positive : array of shape (D,), default None
        A direction in which the base and all shapes are positive, such as the voltage of loads that consume.
        None: shapes are on the side of the mean of X, and the base is free.

    Attributes
    ----------
    components_ : array of shape (K, D)
        The shapes s_k, each of length 1 and on the side of `positive`, or of the mean of X.
    amplitudes_ : array of shape (N, K)
        a_k(t) ≥ 0 of the rows that were fitted, in the unit of X.
    base_ : array of shape (D,)
        What is always there.
    noise_ : float
        Standard deviation of one entry of X, from the changes between rows alone.
    left_over_ : float
        ‖X − base − A S‖² / ‖X − base‖², 0 where nothing is above the base.
    at_noise_floor_ : bool
        Whether what is left over is no more than noise in every stretch of the record and every direction.
    from_levels_ : bool
        Whether the shapes come from levels that last, because those of the changes left much of the rows.
        Then they are known to a few percent, and what is left over may be the wander of the sources.
    n_features_in_ : int
        D.

    Raises
    ------
    InvalidInputError
        For an n_components that is no whole number from 1 up; for a gap_before, duration or positive that do
        not fit X.

    Examples
    --------
    >>> import numpy as np
    >>> from lfm import ShapeDecoder
    >>> rng = np.random.default_rng(0)
    >>> shape = np.sin(np.arange(16))
    >>> size = np.repeat(rng.uniform(0, 50, 40) * (np.arange(40) % 2), 25)
    >>> X = np.outer(size, shape) + 0.01 * rng.standard_normal((1000, 16))
    >>> model = ShapeDecoder().fit(X)
    >>> model.components_.shape
    (1, 16)
    >>> bool(abs(model.amplitudes_[:, 0] / np.linalg.norm(shape) - size).mean() < 1)
    True
    """

    components_: FloatArray
    amplitudes_: FloatArray
    base_: FloatArray
    noise_: float
    left_over_: float
    at_noise_floor_: bool
    from_levels_: bool

    def __init__(
        self, n_components: int | str = "auto", *, min_noise: float = 0.0, positive: ArrayLike | None = None
    ) -> None:
        self.n_components = n_components
        self.min_noise = min_noise
        self.positive = positive

    @one_thread
    def fit(
        self,
        X: ArrayLike,
        y: Any = None,  # noqa: ARG002
        *,
        gap_before: ArrayLike | None = None,
        duration: ArrayLike | None = None,
    ) -> Self:
        """Fit to X (N, D), rows in time.

        `gap_before` (N,) is True where a row does not follow the one before, `duration` (N,) the time that
        each row stands for, in any unit; None: all stand for the same.
        """
        rows = checked_rows(self, X, ensure_min_samples=2)
        most = self._most()
        gaps = check_gaps(gap_before, len(rows))
        time = check_durations(duration, len(rows))
        signal = find_signal(rows, gaps, min_noise=self.min_noise)
        self.noise_ = signal.noise
        self._basis = signal.basis
        # Data without noise has no unit of its own: rounding of the largest entry stands in.
        rounding = max(1e-9 * float(np.abs(rows).max(initial=0.0)), np.finfo(np.float64).tiny)
        self._unit = max(signal.noise, self.min_noise, rounding)
        Y = rows @ self._basis / self._unit
        outside = rows.mean(axis=0) - self._basis @ (self._basis.T @ rows.mean(axis=0))
        above = self._above(outside)
        side = Y.mean(axis=0) if above is None else above.direction
        self._find_lines(Y, gaps, most, side)
        self._base, self.from_levels_ = Y.mean(axis=0), False
        if len(self._shapes):
            n_quiet = max(SHAPES.quiet_rows, int(SHAPES.quiet_share * len(Y)))
            quiet = np.argsort(Y @ Y.mean(axis=0), kind="stable")[:n_quiet]
            self._base = Y[quiet].mean(axis=0)
            self._look_at_levels(Y, most, side)
            if not self.from_levels_:
                changes = self._changes(Y, gaps)
                self._base = find_base(Y, self._shapes, gaps, changes, self._base, duration=time, above=above)
        self.base_ = outside + self._basis @ self._base * self._unit
        self.components_ = self._shapes @ self._basis.T
        self.amplitudes_ = self._sizes(Y, gaps, time) * self._unit
        self._measure(rows)
        return self

    @one_thread
    def transform(
        self, X: ArrayLike, *, gap_before: ArrayLike | None = None, duration: ArrayLike | None = None
    ) -> FloatArray:
        """The sizes (N, K) of the known shapes in new rows in time X (N, D), in the unit of X; see `fit`."""
        check_is_fitted(self)
        rows = checked_rows(self, X, reset=False)
        gaps = check_gaps(gap_before, len(rows))
        time = check_durations(duration, len(rows))
        return self._sizes(rows @ self._basis / self._unit, gaps, time) * self._unit

    def inverse_transform(self, amplitudes: ArrayLike) -> FloatArray:
        """Base + A S (N, D): what rows with the sizes `amplitudes` (N, K) look like without noise."""
        check_is_fitted(self)
        return np.asarray(self.base_ + np.asarray(amplitudes, dtype=np.float64) @ self.components_)

    def score(self, X: ArrayLike, y: object = None) -> float:  # noqa: ARG002 (scikit-learn's signature)
        """1 − ‖X − base − A S‖²/‖X − base‖² of rows X (N, D): at most 1, the higher the better."""
        rows = checked_rows(self, X, reset=False)
        left = float(np.sum((rows - self.inverse_transform(self.transform(rows))) ** 2))
        energy = float(np.sum((rows - self.base_) ** 2))
        return 1.0 - left / energy if energy > 0 else 1.0

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)

    def _most(self) -> int | None:
        if self.n_components == "auto":
            return None
        whole = isinstance(self.n_components, (int, np.integer)) and not isinstance(self.n_components, bool)
        if not whole or int(self.n_components) < 1:
            raise InvalidInputError(
                f"n_components must be 'auto' or a whole number from 1 up, got {self.n_components!r}"
            )
        return int(self.n_components)

    def _above(self, outside: FloatArray) -> Above | None:
        """Where the base is positive, in the basis; `outside` (D,) is the base's part outside of it."""
        if self.positive is None:
            return None
        positive = check_real("positive", self.positive, ndim=1)
        if len(positive) != len(outside) or not positive.any():
            raise InvalidInputError(
                f"positive must hold {len(outside)} numbers, one for each column of X, not all of them 0; "
                f"got {len(positive)}"
            )
        return Above(positive @ self._basis, -float(positive @ outside) / self._unit)

    def _find_lines(self, Y: FloatArray, gaps: BoolArray, most: int | None, side: FloatArray) -> None:
        """Keeps the whitening, the lines and their shapes in the basis, the largest `most` of them.

        Shapes point to the side of `side` (r,).
        """
        r = Y.shape[1]
        changes = np.diff(Y, axis=0)[~gaps[1:]]
        self._whiten = np.eye(r)
        self._lines = Lines(np.zeros((0, r)), np.zeros((0, 1)))
        self._shapes = np.zeros((0, r))
        self._length = np.ones(0)
        if r == 0 or len(changes) < SHAPES.least_changes:
            return
        self._whiten = np.linalg.cholesky(np.linalg.inv(background(changes)))
        whitened = changes @ self._whiten
        large = sampled(whitened[is_large(whitened)])
        directions = find_lines(large)
        if len(directions) == 0:
            return
        self._lines = choose_lines(large, directions)
        for _ in range(SHAPES.looks):
            unexplained = large[is_large(self._lines.left_of(large))]
            more = find_lines_in_wander(unexplained, whitened, self._lines.direction)
            if len(more) == 0:
                break
            self._lines = choose_lines(large, np.vstack([self._lines.direction, more]))
        if most is not None and len(self._lines.price) > most:
            code = self._lines.code(large)
            use = [np.sum(np.abs(code.size[code.line == k])) for k in range(len(self._lines.price))]
            self._lines = self._lines.take(np.sort(np.argsort(-np.array(use), kind="stable")[:most]))
        self._set_shapes(side)

    def _set_shapes(self, side: FloatArray) -> None:
        """The shapes of the lines, on the side of `side` (r,)."""
        unwhitened = self._lines.direction @ np.linalg.inv(self._whiten)
        sign = np.where(unwhitened @ side < 0, -1.0, 1.0)
        self._length = sign * np.linalg.norm(unwhitened, axis=1)  # noise units of one unit along the line
        self._shapes = unwhitened / self._length[:, None]

    def _look_at_levels(self, Y: FloatArray, most: int | None, side: FloatArray) -> None:
        """Keeps the lines of the levels above the base, where those of the changes leave much of the rows."""
        if share_left(Y, self._base, self._shapes) <= SHAPES.much_left:
            return
        levels, tolerance = levels_of(Y, self._base)
        found = find_lines_in_levels(levels, self._base, tolerance, self._shapes, side)[:most]
        if len(found):
            whitened = found @ self._whiten
            self._lines = unlearnt(whitened / np.linalg.norm(whitened, axis=1, keepdims=True))
            self._set_shapes(side)
            self.from_levels_ = True

    def _changes(self, Y: FloatArray, gaps: BoolArray) -> FloatArray:
        """(N, K) the change of each size before each row, as far as large changes are sums of few lines."""
        change = np.zeros((len(Y), len(self._shapes)))
        rows = np.flatnonzero(~gaps[1:]) + 1
        whitened = (Y[rows] - Y[rows - 1]) @ self._whiten
        large = is_large(whitened)
        code = self._lines.code(whitened[large])
        at = rows[large]
        for q in range(SHAPES.at_once):
            used = code.line[:, q] >= 0
            np.add.at(
                change,
                (at[used], code.line[used, q]),
                code.size[used, q] * self._length[code.line[used, q]],
            )
        return change

    def _sizes(self, Y: FloatArray, gaps: BoolArray, time: FloatArray) -> FloatArray:
        """(N, K) sizes above the base, in units of the noise."""
        if len(self._shapes) == 0:
            return np.zeros((len(Y), 0))
        tolerance: FloatArray | None = None
        if self.from_levels_:
            Y, tolerance = levels_of(Y, self._base)
        changes = self._changes(Y, gaps)
        sizes = solve_amplitudes(
            Y, self._shapes, gaps, changes, self._base, duration=time, tolerance=tolerance
        )
        return np.maximum(sizes, 0.0)

    def _measure(self, rows: FloatArray) -> None:
        residual = rows - self.inverse_transform(self.amplitudes_)
        above = float(np.sum((rows - self.base_) ** 2))
        self.left_over_ = float(np.sum(residual**2)) / above if above > 0 else 0.0
        self.at_noise_floor_ = at_noise_floor(residual, self.noise_)
