"""Every number of the estimators that decides something: what it means, its unit, and its origin.

What a user may choose is a parameter of the estimator instead.
"""

from typing import NamedTuple


class EstimatorThresholds(NamedTuple):
    """The thresholds of `lfm.estimators`, module by module."""

    # Decoding a row exactly (decoding)
    max_nodes: int = 200_000
    """Nodes that the search for one row's code may visit. Origin: set by hand, for time."""
    regularisation: float = 1e-10
    """Added to the squared norms, as a share of the largest. Origin: far above rounding, far below any
    difference between codes."""

    # Columns to choose from (active_columns, binary_columns)
    drop_below: float = 1e-4
    """Weight, between 0 and 1, below which a column is dropped. Origin: set by hand."""
    screened_rows: int = 256
    """Rows on which columns are compared first. Origin: set by hand, for time."""
    residual_directions: int = 3
    """Directions of the residual that offer a column. Origin: set by hand."""
    worth_an_exchange: float = 1e-3
    """Share of ‖X − ZW‖² that an exchange of columns must gain. Origin: set by hand."""
    least_residual: float = 1e-4
    """The residual counts as at least this share of ‖X‖². Origin: below it an exchange is worth less than
    what rounding and `ridge` make."""
    ridge: float = 1e-9
    """Added to ZᵀZ, as a share of its mean diagonal. Origin: dependent columns then divide by little, not by
    zero."""

    # The steepest column (steepest_column): the authors' settings of their semidefinite relaxation
    sdp_rank: int = 10
    """Rank of the relaxation. Origin: the authors."""
    hyperplanes: int = 100
    """Random hyperplanes that round it. Origin: the authors."""
    max_sweeps: int = 100
    """Passes over all rows. Origin: the authors."""
    sweep_tolerance: float = 1e-5
    """Relative rise of the objective at which the passes end. Origin: set by hand."""

    # LatentLasso (latent_lasso)
    path_share: float = 5 / 6
    """Share of the rounds in which the penalty comes down to λ. Origin: decision 0130."""
    first_penalty: float = 1 / 8
    """First penalty, as a share of the largest at which any column is worth its price. Origin: decision
    0130."""

    # MEIBP (meibp)
    least_scale: float = 1e-6
    """Least σ_X, as a share of the data's root mean square. Origin: keeps σ_X above zero without noise."""
    patience: int = 2
    """Moves in a row that raise the bound by less than tol before the search ends. Origin: set by hand."""
    max_moves: int = 50
    """Moves at the most. Origin: set by hand, for time."""
    rounds_before_removal: int = 2
    """Rounds in which a new feature finds its rows before it may be removed. Origin: set by hand."""

    # KFeatures (kfeatures)
    rounds_a_feature: int = 20
    """Rounds after each new feature. Origin: set by hand, for time."""
    seeds_a_feature: int = 3
    """Starts of a new feature before the error is taken for final. Origin: set by hand."""

    # BinaryDecoder (binary_decoder)
    enumerated_bits: int = 16
    """Dimensions up to which all codes are listed. Origin: 2¹⁶ codes of a few hundred rows take a fraction of
    a second."""
    floor_sigmas: float = 6.0
    """Standard deviations above its mean up to which a residual is noise. Origin: noise exceeds them once in
    10⁹."""
    quick_nodes: int = 2_000
    """Nodes for each row while searching. Origin: for time; the best solution gets `max_nodes`."""


THRESHOLDS = EstimatorThresholds()
"""The values in use."""
