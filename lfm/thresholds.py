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
    """Lattice index up to which fractions are searched for, and all rows are tested at once: their
    coordinates then fit into int64. Origin: a Z with a higher one is not made by features that switch on and
    off."""
    early_per_level: int = 64
    """Rows of Z that are checked early, for each level of the search. Origin: set by hand; any may be left
    out."""
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
    """Solutions that are listed for an exact support, and candidates up to which it is tried. Origin:
    decision 0161, for time."""
    margins: tuple[float, ...] = (10.0, 15.0, 20.0, 25.0, 30.0, 40.0)
    """Units of 1/β above the best objective up to which solutions are listed, tried in turn. Origin: decision
    0161."""
    support_steps: int = 1000
    """Steps of the chain where the exact support is out of reach. Origin: decision 0161."""

    # Repair of bits (lfm.hopper.repair)
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
    quick_nodes: int = 2_000
    """The same while features are still searched for. Origin: decision 0050, for time; the best solution of
    BinaryDecoder gets `max_nodes`."""
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

    # BinaryDecoder (binary_decoder), and the certificate of the switching decoder
    enumerated_bits: int = 16
    """Dimensions up to which all codes are listed. Origin: 2¹⁶ codes of a few hundred rows take a fraction of
    a second."""
    floor_sigmas: float = 6.0
    """Standard deviations above its mean up to which a residual is noise. Origin: noise exceeds them once in
    10⁹."""


class ShapeThresholds(NamedTuple):
    """The thresholds of `lfm.shapes`, module by module. Sizes are in units of the noise or the background.

    Origin: set by hand on weeks of real habits (waveform seeds below 100; decision 0210), where no other is
    given.
    """

    # What is noise (noise)
    edge_slack: float = 1.05
    """Times the Marchenko-Pastur edge. Origin: it is exact for many rows and directions only."""
    overlap: float = 1.5
    """N changes count as N over this. Origin: neighbouring changes share a row."""
    averaged_rows: tuple[int, ...] = (1, 16)
    """Rows in one mean, in the looks at the levels. Origin: on noisy weeks of real habits (development seeds)
    16 and 32 did the same, 8 and 64 found less."""
    noise_rounds: int = 100
    """Rounds in which the noise is found. Origin: rounds end when nothing moves."""
    stretches: int = 50
    """Pieces of a record in which a residual is looked at by itself."""
    floor_sigmas: float = 6.0
    """Standard deviations by which noise may exceed its mean. Origin: it does once in 10⁹."""

    # Lines of changes (lines)
    background_probability: float = 1e-4
    """Probability that the background alone makes a change that counts as large."""
    background_share: float = 0.95
    """Share of the background inside the limit within which its covariance is measured."""
    background_wider: float = 1.1
    """What that limit cuts off the covariance."""
    far_probability: float = 1e-5
    """Probability that noise alone takes a change of a line so far off it."""
    in_plane: float = 0.5
    """Probability that noise leaves a change of a plane so close to it. Origin: half of them is enough."""
    equal_sine2: float = 1e-6
    """Squared sine of two lines that are one."""
    same_sine2: float = 1e-3
    """Squared sine of two lines that span no plane."""
    wander_shares: tuple[float, ...] = (0.75, 0.9, 0.97)
    """Shares of the changes, the smallest ones, that are taken for wander in turn."""
    line_rounds: int = 10
    """Rounds of a line and of the background. Origin: rounds end when nothing moves."""
    max_lines: int = 60
    """Lines. Origin: for time."""
    max_changes: int = 3_000
    """Changes that lines are looked for in; of more, an even sample. Origin: for time."""
    hypotheses: int = 1_500
    """Changes that propose a line, the largest. Origin: for time."""

    # Changes as sums of lines (coding)
    at_once: int = 3
    """Sources that switch between two rows."""
    tail: float = 4.0
    """ν, degrees of freedom of what a sum leaves of a change."""
    any_size: float = 0.3
    """Share of a line's changes whose size has not been seen before."""
    starts: int = 5
    """Lines that the search for a sum begins with. Origin: for time."""
    coding_rounds: int = 4
    """Rounds in which lines are refitted and dropped. Origin: rounds end when none is dropped."""
    few: int = 150
    """Changes that use a line, above which it is not tried without. Origin: for time."""

    # The decoder (decoder)
    least_changes: int = 2
    """Changes that a line needs. Origin: a line is seen at least twice."""
    quiet_share: float = 0.01
    """Share of the rows, the quietest, that are a first guess of the base."""
    quiet_rows: int = 5
    """Rows that this is at least."""
    looks: int = 2
    """Looks at what no sum of lines explains. Origin: for time."""

    # Base and sizes (amplitudes)
    low_share: float = 0.02
    """q, share of the time in which a source may be below what counts as its absence."""
    small_nats: float = 0.03
    """μ, nats per unit of noise: of two explanations that fit alike, the smaller. Origin: with 0.01 the base
    of one week of real habits was lost, with 0.05 all bases were too high."""
    small_at_first: float = 0.2
    """μ of the first round in which the base is looked for."""
    least_size: float = 0.3
    """Units of noise: a size closer to zero is taken for this one in the reweighting."""
    wide_change: float = 10.0
    """w of the first round of the sizes, units of noise. Origin: real habits; 3 to 30 are within .003."""
    narrower_rounds: int = 12
    """Rounds in which w falls to 1."""
    held: float = 1e-6
    """Weight that keeps a size without any evidence at zero. Origin: far below any evidence."""
    pull: float = 1e-6
    """Weight of the base of the round before, where nothing else decides. Origin: far below any evidence."""
    far_off: float = 20.0
    """Times the usual squared residual at which a row counts half for the base."""
    settle_rounds: int = 4
    """Rounds of the sizes with the first guess of the changes."""
    size_rounds: int = 12
    """Rounds of the sizes after that."""
    base_settle_rounds: int = 6
    """Rounds of the base with the first guess of the changes."""
    base_rounds: int = 24
    """Rounds of the base with changes weighed anew."""
    base_smaller_rounds: int = 15
    """Rounds in which μ falls to its last value."""
    base_rows: int = 5_000
    """Rows that decide on the base. Origin: for time."""
    being_on_nats: float = 0.25
    """Nats of a size that is not zero, for each direction, half of them. Origin: on a real feeder's first day
    0.1 to 1 gave the same."""
    nearly_off: float = 0.05
    """Share of its usual size below which a load hardly is on."""

    # Shapes from levels that last (levels)
    much_left: float = 0.02
    """Share of the rows above the base that lines of the changes may leave. Origin: weeks of real habits
    leave up to 0.005, a real feeder 0.06 to 1."""
    sampled_rows: int = 150
    """Rows, an even sample, that say how much is left. Origin: for time."""
    of_size: float = 0.05
    """Share of a row's size to which it is known. Origin: of the pairs of this and `of_wander` that were
    tried (0.03 to 0.06, 0.15 and 0.2) the one that told best when the loads of a real feeder's first day were
    on; that day all were within 0.02."""
    of_wander: float = 0.2
    """Share of a row's wander to which it is known. Origin: as `of_size`."""
    levels_apart: float = 3.0
    """Tolerances between two levels. Origin: the usual three."""
    lasting_rows: int = 3
    """Rows of a level; a shorter one is a passage from one to another."""
    most_levels: int = 200
    """Levels, the longest. Origin: for time."""

    # Wander (wander)
    near_rows: int = 21
    """Rows around a row whose median change says how much it wanders."""
    wander_times: float = 5.0
    """Times the noise from which a stretch wanders. Origin: lamps of a real feeder wander by up to 3.8 times
    it, air conditioners by 14 and 35."""
    rows_a_direction: int = 3
    """Rows of such a stretch for each direction. Origin: fewer do not tell a covariance."""
    level_change_nats: float = 3.0
    """p, nats of a change for each direction. Origin: on that feeder 2 keeps some wander, 5 and 3 are
    alike."""
    small_change: float = 0.1
    """s, units of the wander's variance."""
    reach_rows: int = 4
    """Rows on either side that a first guess of a change is the difference of."""
    wander_settle_rounds: int = 3
    """Rounds with the first guess of the changes."""
    wander_rounds: int = 7
    """Rounds with changes weighed anew."""

    # What is left over (leftover)
    leftover_rounds: int = 50
    """Rounds of expectation maximisation."""

    # Fans of shapes (fans)
    out_of_plane_deg: float = 0.6
    """Degrees by which a shape may lie out of a plane. Origin: lines of wandering loads are known to 0.3°."""
    next_deg: float = 7.0
    """Degrees from one shape of a fan to the next; a farther one is in the plane by accident."""
    least_in_fan: int = 4
    """Shapes in a fan. Origin: in a plane of three one may be the sum of two others."""

    # Machines (machines)
    together: float = 0.75
    """Share of what a track changes by, in the same rows and direction as another, to be one machine."""
    by_chance: float = 0.01
    """Probability that changes meet so often if neither knows of the other."""
    least_change: float = 0.1
    """Share of the level that a track exceeds in 2% of the time, below which changes are wander."""

    # Pulses of a track, and parts of it that are on or off (pulses, parts)
    least_steps: float = 10.0
    """Resolutions below which a rise begins no pulse."""
    same_size: float = 0.015
    """Share of its size by which a fall may differ from the rise that it ends, one standard deviation."""
    same_sigmas: float = 4.0
    """Such standard deviations from which they do not belong together."""
    still_share: float = 0.2
    """Share of the changes, the smallest, that are no switches. Origin: set by hand; half was too much for a
    house in which two heaters switch at random from row to row."""
    most_open: int = 64
    """Rises that wait for their fall; of more, the oldest is given up. Origin: for time."""
    least_pulses: int = 2
    """Pulses of a part. Origin: a pulse that is like no other may belong to a load that varies."""
    most_pulses: int = 3_000
    """Pulses of a track that is taken apart. Origin: for memory, which grows with their square."""

    # Tracks of different scale (scales)
    peak_width: float = 0.25
    """Of log size: peaks closer than a few of these are one."""
    valley_depth: float = 2.0
    """Times by which both peaks exceed a valley."""
    flat: float = 0.003
    """Share of the energy in one bin: an emptier valley is not deeper."""
    least_rows: int = 20
    """Rows above the wander that a valley needs."""
    most_times: int = 3
    """How often a track is divided again."""


EQUIVALENCE = EquivalenceBudgets()
"""The values in use, of each room."""
HOPPER = HopperThresholds()
ESTIMATORS = EstimatorThresholds()
SYNTHETIC = SyntheticBudgets()
SHAPES = ShapeThresholds()
