"""Every number of the two decoders of rows in time that decides something: meaning, unit, and origin.

Compiled loops get this record as an argument. A number that they read from a module would stay in numba's
cache on disk after it was changed here.
"""

from typing import NamedTuple


class SwitchingThresholds(NamedTuple):
    """The thresholds of `lfm.switching`, in the order of its steps. Nats are natural units of information."""

    # Noise, subspace and segments (lfm.switching.segments)
    false_alarm: float = 1e-7
    """Probability that a row of pure noise opens a new segment. Origin: a week has about 5,000 rows, so that
    one week in 2,000 has a false segment."""
    max_rank: int = 64
    """Directions of X that are looked at. Origin: set by hand, for time."""
    noise_leeway: float = 1.2
    """Ratio by which the noise of the eigenvalues may exceed the noise between neighbouring rows. Origin: set
    by hand; a level that switches lifts the eigenvalues, but hardly the median change."""
    min_neighbours: int = 20
    """Pairs of neighbouring rows that are needed to measure the noise between them. Origin: set by hand."""
    least_noise: float = 1e-7
    """Share of the data's root mean square below which noise is rounding. Origin: the precision of float32
    recordings."""

    # Types of edges and the choice of features (lfm.switching.edges, lfm.switching.features)
    max_candidates: int = 48
    """Types of edges that may become features. Origin: one bit each in a mask of 64, and time."""
    max_single_types: int = 20
    """Types of edges seen once, up to which they may become features too. Origin: decision 0142, set by hand;
    with more of them, most are rows that hold a switch."""
    reach_sigmas: float = 2.5
    """Standard deviations of drift and shape within which two edges are of one type. Origin: 99% of a
    Gaussian."""
    min_edges_to_measure: int = 4
    """Edges of a type that are needed to measure its variation. Origin: set by hand."""
    max_types: int = 240
    """Types of edges that are explained by features; rarer ones are left to the decoder. Origin: set by hand,
    for time."""
    rows_per_use: float = 20.0
    """Rows for each use of a feature, before it is known how often it is used. Origin: set by hand; it only
    orders the explanations of one edge."""

    # Codes of segments where features repeat exactly (lfm.switching.viterbi)
    switch_nats: float = 4.0
    """Price in nats of one feature that switches. Origin: odds of about 1 in 50 for a switch between two
    rows."""
    spoilt_row_nats: float = 30.0
    """Most that a single row may cost in nats; one that fits no code is spoilt. Origin: set by hand, more
    than seven switches."""
    mixed_row_nats: float = 16.0
    """Price in nats, above its expected misfit, of a single row that lies between its neighbours. Origin:
    decision 0142, set by hand: four switches."""
    codes_per_level: int = 48
    """Codes that are listed for each level. Origin: decision 0050, set by hand, for time."""
    nodes_per_level: int = 2_000
    """Nodes that the search for the closest code of a level may visit. Origin: decision 0050, for time."""

    # Codes of segments where activations vary (lfm.switching.tracking)
    beam: int = 24
    """Hypotheses that are carried along, one for each code. Origin: decision 0050, set by hand, for time."""
    extended_changes: int = 16
    """Changes of one feature, and of two, that are tried with every other two where fewer do not explain a
    segment. Origin: set by hand, for time."""
    extended_hypotheses: int = 2
    """Hypotheses, the best ones, that try that. Origin: set by hand, for time."""
    wander: float = 0.15
    """Change inside an activation from segment to segment, as a share of the drift between activations.
    Origin: set by hand."""
    hopeless_nats: float = 60.0
    """Nats behind the best at which a hypothesis is given up. Origin: set by hand, fifteen switches."""
    gap_switch_nats: float = 1.0
    """Price in nats of a change across a gap in time. Origin: set by hand; much may switch meanwhile."""
    negligible_variance: float = 0.05
    """Share of the other variance below which the drift of a feature is left out of a fit. Origin: set by
    hand, for time."""

    # How many features, and which search (lfm.switching.search, search_varying, decoder)
    max_features: int = 40
    """Features that 'auto' looks for at the most. Origin: set by hand, for time."""
    certificate_sigmas: float = 6.0
    """Standard deviations by which chi² of pure noise may exceed its mean. Origin: never by chance."""
    many_types: int = 60
    """Types of edges from which on features must vary. Origin: a week of twelve appliances has 15 to 40."""
    rows_of_types: float = 0.15
    """Share of the edges that may be a type of their own before features must vary. Origin: set by hand."""
    recurring_share: float = 0.75
    """Share of the edges of a type that recurs, with which features repeat although there are many types.
    Origin: set by hand; where rows hold switches, most edges still recur."""
    worth_trying: float = 3.0
    """Prices of a feature that its switches may cost, and the fit still be tried without it. Origin: set by
    hand, for time."""
    splinters: int = 3
    """Pairs of features close to each other from which on activations vary. Origin: set by hand; features
    that repeat exactly can always explain activations that vary, one for each size."""
    splinter_distance: float = 0.05
    """Relative distance of two features of such a pair. Origin: set by hand, as far as 3% of drift goes."""
    right_angle: float = 0.05
    """Cosine below which a feature has no side. Origin: set by hand, 3° off a right angle."""
    first_drift: float = 0.04
    """Relative drift of activations before it is measured. Origin: set by hand, more than most have."""
    first_shape: float = 0.01
    """The same of their waveforms. Origin: set by hand."""
    wider: float = 4 / 3
    """Ratio of the variation to what is measured inside groups of edges. Origin: groups are cut off at their
    borders."""
    least_variation: float = 0.002
    """Relative variation below which none is looked for. Origin: set by hand."""
    failures: int = 4
    """Attempts of one kind (a feature more, one less, two as one) that may fail before no more are made.
    Origin: set by hand, for time."""

    # Rows that were skipped (lfm.switching.skipped_rows)
    least_share: float = 0.5
    """Share of a feature that a row must hold to belong to its activation. Origin: half of the row's time."""
    most_share: float = 1.1
    """Share of a feature that a row may hold at most. Origin: one, and some noise."""

    # Collinear features (lfm.switching.collinear.siblings)
    collinear_cosine: float = 0.998
    """Cosine from which two waveforms have one shape. Origin: set by hand."""
    near_ratio: float = 1.3
    """Ratio of two sizes up to which their activations may be mixed up. Origin: ten drifts of 3%."""
    least_drift: float = 0.005
    """Relative drift that every activation has. Origin: set by hand."""
    wider_nats: float = 2.0
    """Nats for a squared logarithm: the price of supposing that a family drifts more than others. Origin: a
    log-normal prior with a standard deviation of one half."""
    apart_sigmas: float = 4.0
    """Standard deviations between the mean sizes of two classes. Origin: decision 0141."""
    min_activations: int = 3
    """Activations that a new class needs. Origin: decision 0141."""
    min_class_share: float = 0.05
    """Share of the activations of two classes that the smaller one needs. Origin: set by hand."""
    alike_drifts: float = 3.0
    """Drifts between two sizes up to which they may belong to one appliance. Origin: three standard
    deviations."""
    min_runs: int = 4
    """Activations below which a family is left alone. Origin: set by hand, two classes of two."""
    worse_residual: float = 1.01
    """Ratio by which the residual may grow when a family is shared out anew. Origin: set by hand."""
    wider_families: tuple[float, ...] = (1.0, 1.5, 2.0, 3.0, 5.0, 10.0)
    """How much more a family drifts than other features, tried in turn. Origin: set by hand."""
    foreign_weight: float = 10.0
    """How strongly an edge with another switch in it counts less. Origin: set by hand."""

    # Classes of activations (lfm.switching.collinear.partition)
    n_bins: int = 8
    """Bins of durations and of distances, one for every doubling. Origin: 2⁷ rows of two minutes are four
    hours; what lasts longer is one bin."""
    mean_spread: float = 0.3
    """Standard deviation of the mean size of a class, relative, before anything is seen. Origin: as far as
    `near_ratio` reaches."""
    max_sweeps: int = 20
    """Passes over all activations. Origin: set by hand; passes end when nothing moves."""
    split_nats: float = 0.5
    """Gain in nats from which a class is split. Origin: set by hand, above rounding."""
    max_classes: int = 12
    """Classes in one family. Origin: set by hand, for time."""

    # Twins (lfm.switching.collinear.twins)
    max_broken: float = 0.005
    """Share of rows in which two twins may take a third value. Origin: set by hand; such rows are decoded
    wrongly one way or another."""


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
    small_nats: float = 0.05
    """μ, nats per unit of noise: of two explanations that fit alike, the smaller. Origin: right shapes are
    better with 0.01, slightly wrong ones with more."""
    small_at_first: float = 0.2
    """μ of the first round in which the base is looked for."""
    least_size: float = 0.3
    """Units of noise: a size closer to zero is taken for this one in the reweighting."""
    none_below: float = 1e3
    """Weight of a squared size below zero once the base is known. Origin: there are no such sizes."""
    held: float = 1e-6
    """Weight that keeps a size without any evidence at zero. Origin: far below any evidence."""
    pull: float = 1e-6
    """Weight of the base of the round before, where nothing else decides. Origin: far below any evidence."""
    far_off: float = 20.0
    """Times the usual squared residual at which a row counts half for the base."""
    settle_rounds: int = 3
    """Rounds of the sizes with the first guess of the changes."""
    size_rounds: int = 8
    """Rounds of the sizes with changes weighed anew."""
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

    # On/off parts of a track (parts)
    level_nats: float = 0.02
    """λ, nats of one row away from zero."""
    below: float = 20.0
    """κ, how much dearer less than nothing is: it is left only by mistake."""
    switch_nats: float = 3.0
    """Nats of a switch, beside its time."""
    size_nats: float = 7.0
    """Nats of a part's size. Origin: one among a thousand."""
    least_steps: float = 3.0
    """Resolutions below which a step is no part."""
    most_parts: int = 8
    """Parts of a track."""
    tries: int = 4
    """Sizes tried for each new part. Origin: for time."""
    narrow: float = 0.025
    """Half width of a peak, as a share of its size."""
    narrow_steps: float = 1.5
    """The same in resolutions; the larger holds."""
    wide: float = 1.6
    """Factor on the size, up and down: the changes that a peak is compared with."""
    peak_nats: float = 12.0
    """Nats by which more changes lie in a peak than around it."""
    apart: float = 0.1
    """Logarithm of the ratio of two sizes below which one is tried."""

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


THRESHOLDS = SwitchingThresholds()
"""The values in use, of `lfm.switching`."""
SHAPES = ShapeThresholds()
"""And of `lfm.shapes`."""
