"""Every number of lfm that decides something: what it means, its unit, and its origin.

One record for each room. What a caller may choose is a parameter of the public function instead, and has its
default here. The switching decoder, the largest room, has `lfm.switching.thresholds`. Compiled loops get
numbers as arguments: one that they read from a module would stay in numba's cache on disk after it was
changed here. What half and double of a number do is printed by `benchmarks/thresholds.py`.
"""

from typing import NamedTuple


class EquivalenceBudgets(NamedTuple):
    """The budgets of `lfm.equivalence`.

    None of them can make an answer wrong. Where one is spent, the answer says that it is not complete or
    exact.
    """

    # Candidates (candidates, lattice, hermite)
    max_nodes: int = 2_000_000
    """Nodes that the search for candidates may visit. Origin: set by hand, for time."""
    max_index: int = 2**20
    """Lattice index up to which fractions are searched for. Origin: a Z with a higher one is not made by
    features that switch on and off."""
    early_per_level: int = 64
    """Rows of Z that are checked early, for each level of the search. Origin: set by hand; any may be left
    out."""
    vectorised_index: int = 2**31
    """Lattice index below which all rows are tested at once. Origin: their coordinates then fit into int64
    with room to spare."""
    max_numerator: int = 2**31
    """Size of an entry of a candidate, times the denominator. Origin: larger ones are not candidates of any
    Z, and below it the arithmetic is exact."""
    max_determinant: int = 2**24
    """Size of a determinant of U, times the lattice index. Origin: products of two minors then stay inside
    int64."""
    minors: int = 8
    """Minors whose common divisor bounds the lattice index. Origin: more of them rarely lower it."""

    # Counting (counting)
    max_flats: int = 50_000
    """Flats of the candidates that are counted. Origin: set by hand, for time."""
    max_numbers: int = 20_000_000
    """Numbers in the contracted vectors of all flats. Origin: 160 MB."""
    contracted: int = 4
    """Columns that are contracted one after another for a lower bound. Origin: set by hand, for time."""


class HopperThresholds(NamedTuple):
    """The thresholds of `lfm.hopper`."""

    # The walk (lfm.hopper.walk, lfm.hopper.hop)
    least_gain: float = 1e-9
    """Share of the objective below which a gain is rounding. Origin: the precision of float64, with room."""
    residual_tolerance: float = 0.01
    """Share by which a hop may raise the start's residual. Origin: set by hand."""
    kick_exchanges: int = 3
    """Random exchanges that a restart begins with. Origin: set by hand."""
    max_rounds: int = 5
    """Rounds of strict and tolerant walks. Origin: set by hand; rounds end when nothing gains."""
    max_tried: int = 10
    """Best states that are looked at until one keeps the promise on the residual. Origin: set by hand."""
    exchanges_to_refresh: int = 64
    """Exchanges after which Ω is computed anew. Origin: set by hand; rounding stays below `least_gain`."""

    # How much is tolerated (lfm.hopper.tolerant)
    tolerances: tuple[float, ...] = (0.001, 0.002, 0.005, 0.01, 0.02)
    """Shares of the rows by which a column may miss being binary, tried in turn. Origin: weeks of real habits
    (waveform seeds below 100), where each of them was the best one for some estimate."""
    tolerant_nodes: int = 100_000
    """Nodes of the search within which a tolerance must have all its candidates. Origin: set by hand, for
    time."""

    # Support (lfm.hopper.support)
    missing_weight: float = 1e-6
    """Share of the weight that may be missing from an exact support. Origin: decision 0161."""
    max_bases: int = 20_000
    """Solutions that are listed for an exact support. Origin: decision 0161, for time."""
    max_candidates: int = 20_000
    """Candidates up to which an exact support is tried. Origin: set by hand, for time."""
    margins: tuple[float, ...] = (10.0, 15.0, 20.0, 25.0, 30.0, 40.0)
    """Units of 1/β above the best objective up to which solutions are listed, tried in turn. Origin: decision
    0161."""
    support_steps: int = 1000
    """Steps of the chain where the exact support is out of reach. Origin: decision 0161."""

    # Repair of bits (lfm.hopper.repair, lfm.hopper.repeats)
    told_apart: float = 1e-9
    """Probability that two rows with the same states are told apart. Origin: decision 0160."""
    max_groups: int = 4096
    """Groups of rows that repeat one another. Origin: set by hand, for time."""
    max_reweightings: int = 50
    """Rounds of the robust refit. Origin: set by hand; rounds end when nothing gains."""
    reweighting_gain: float = 1e-4
    """Share by which a round of the robust refit must lower the cost, or it is the last one. Origin: set
    by hand."""
    most_decoded: int = 20
    """Features up to which the nearest combination is searched exactly; with more, single bits are flipped.
    Origin: set by hand, for time: rows of 40 piano features would take hours."""
    max_passes: int = 3
    """Rounds of decoding and refitting. Origin: set by hand; each lowers the residual."""


class SyntheticBudgets(NamedTuple):
    """The budgets of `lfm.synthetic`: what is asked for beyond them is refused with an error."""

    most_features: int = 2_000
    """Features of a draw. Origin: set by hand; their pairs are listed one by one."""
    max_draws: int = 1_000
    """Draws of Z until one has rank K, and of rows until enough keep the dependencies. Origin: set by
    hand, for time."""
    first_draws: int = 20
    """Draws after which the rate of finds tells whether `max_draws` will be enough. Origin: set by hand."""


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


EQUIVALENCE = EquivalenceBudgets()
"""The values in use, of each room."""
HOPPER = HopperThresholds()
ESTIMATORS = EstimatorThresholds()
SYNTHETIC = SyntheticBudgets()
