"""Every number of `lfm.switching` that decides something: meaning, unit, and origin.

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

    # How many features, and which search (lfm.switching.search, search_varying, decoder)
    max_features: int = 40
    """Features that 'auto' looks for at the most. Origin: set by hand, for time."""
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
    max_classes: int = 12
    """Classes in one family. Origin: set by hand, for time."""

    # Twins (lfm.switching.collinear.twins)
    max_broken: float = 0.005
    """Share of rows in which two twins may take a third value. Origin: set by hand; such rows are decoded
    wrongly one way or another."""


THRESHOLDS = SwitchingThresholds()
"""The values in use."""
