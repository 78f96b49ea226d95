"""Every number that decides what is said about appliances and on the page: meaning, unit, and origin.

How far an appliance may change from week to week is a model with chances of its own
(`nilm.appliances.catalogue.resemblance.Model` and `habits.HabitModel`). What half and double of a number do
is printed by `benchmarks/thresholds.py`.
"""

from typing import NamedTuple


class ApplianceThresholds(NamedTuple):
    """The thresholds of `nilm.appliances`, module by module. A share lies between 0 and 1."""

    # What kind of load a waveform is (measures)
    always_on_share: float = 0.99
    """Share of the time from which a load counts as always on. Origin: set by hand; a reading or two may miss
    even the always-on level."""
    feeds_in_factor: float = 0.05
    """Power factor, with the sign turned, from which a load is a generator. Origin: set by hand."""
    least_shape_a: float = 0.005
    """Amperes RMS below which a waveform has no shape to name, and is what an estimator makes of noise.
    Origin: set by hand, about 1 W."""
    resistive_factor: float = 0.97
    """Power factor from which a load may be a heater. Origin: set by hand."""
    in_phase_degrees: float = 2.0
    """Degrees between current and voltage up to which they are in phase. Origin: heaters lie within 0.2;
    power supplies lead and motors lag by more."""
    dimmed_fit: float = 0.98
    """Cosine between a current and the best phase-cut copy of the voltage from which it is dimmed. Origin:
    set by hand."""
    dimmed_thd: float = 0.15
    """Distortion (THD) below which nothing is dimmed. Origin: a dimmer that cuts a tenth of the half cycle
    distorts more."""
    largest_light_w: float = 500.0
    """Watts above which what is phase-cut is no light. Origin: set by hand; it is a motor with a speed
    control."""
    electronic_thd: float = 0.35
    """Distortion (THD) from which a load is electronics. Origin: set by hand."""

    # How an appliance starts (inrush)
    fewest_starts: int = 2
    """Starts that must have been seen alone. Origin: one may have been another appliance's."""
    inrush_noticed: float = 1.5
    """Times the steady current below which a start is called soft. Origin: set by hand; heaters have 1.0."""
    motor_inrush: float = 2.0
    """Times the steady current from which a start may be a motor's. Origin: a rotor at rest draws 4 to 12."""
    motor_inrush_s: float = 0.08
    """Seconds that a motor takes at least to turn. Origin: set by hand; the capacitors of a power supply are
    full after a cycle or two."""

    # Names (naming)
    least_submeter_score: float = 0.5
    """Overlap with a submeter (`naming.overlap_score`) from which an appliance gets its name. Origin: set by
    hand; below it most of the two energies is not the same."""
    least_shared_s: float = 3600.0
    """Seconds of readings that a submeter needs to be compared. Origin: set by hand; on less than an hour a
    match would be luck."""
    smallest_heater_w: float = 100.0
    """Watts below which a resistive load is not called a heater. Origin: a lamp draws the same shape."""

    # Machines with parts (parts)
    most_chance: float = 0.05
    """Expected number of pairs, over the whole house, that look like a machine and its part by luck. Origin:
    the usual 5%."""
    most_outside: float = 0.02
    """Share of a part's time in which its machine may be off, and of the time of two appliances that always
    run together in which one of them may be. Origin: set by hand; a reading or two is decoded wrongly in most
    weeks."""

    # What is in doubt (certainty)
    sure_support: float = 0.95
    """Share of the equally good explanations above which a feature is not in doubt. Origin: the usual 95%."""
    same_waveform: float = 0.03
    """Distance of two waveforms, relative to one of them, up to which they may be one appliance. Origin: its
    activations differ by a percent or two."""
    same_shape: float = 0.9995
    """Cosine of two waveforms above which they differ in size alone. Origin: set by hand; two motors of one
    kind have about 0.99."""
    drifts: float = 3.0
    """Standard deviations of two sizes, from run to run, by which they may differ and be one appliance.
    Origin: the usual three."""
    most_drift: float = 0.1
    """Difference of two sizes, relative to the larger, beyond which they are of two appliances, whatever the
    drift; and of the watts of two weeks, beyond which no reading makes them one. Origin: set by hand."""

    # Words for a probability (doubts)
    very_sure: float = 0.9
    """Probability of being right from which we are very sure. Origin: at most 1 in 15 of these may be wrong,
    as `benchmarks/calibration.py` counts."""
    likely: float = 0.6
    """Probability of being right from which an appliance is likely; below, it is a guess. Origin: set by
    hand."""

    # What is left over, in words (left_over)
    mostly: float = 0.5
    """Share of what is left over that counts as most of it. Origin: the meaning of the word."""
    one_sided: float = 0.7
    """Mean of what is left over, relative to its mean size, beyond which it has one sign. Origin: set by
    hand."""
    lift: float = 1.5
    """An appliance goes together with what is left over where the share of it that falls into the
    appliance's runs is this many times their share of the time. Origin: set by hand."""
    moments: float = 0.02
    """What is left over is said to come in moments where at most this share of the readings holds most of
    it. Origin: set by hand; about as many readings hold a switch."""
    smoothed_readings: int = 5
    """Readings in the running median that leaves out switches. Origin: a switch falls into one or two."""
    not_there: float = 0.2
    """What is left over counts as absent below this share of its usual maximum. Origin: set by hand."""
    mostly_off: float = 0.6
    """What is left over comes and goes where it is absent for at least this share of the time. Origin: set
    by hand."""

    # Dependencies in words (certainty.words)
    most_sentences: int = 12
    """Dependencies that a page lists, the most telling first. Origin: set by hand."""

    # The catalogue of a house (catalogue)
    recent_weeks: int = 8
    """Weeks that are kept in full. Origin: two months; a holiday passes, and the tolerance of an appliance is
    learnt."""
    habit_weeks: int = 4
    """Weeks whose habits are compared. Origin: habits follow the season."""
    most_appliances: int = 256
    """Appliances that a catalogue keeps. Origin: set by hand."""
    largest_change: float = 0.3
    """Change of a waveform from week to week, relative, that counts at most. Origin: set by hand; a larger
    one would teach an appliance to resemble everything."""
    doubt_nats: float = 5.5
    """Nats by which the second best assignment must be worse, or the id is in doubt. Origin: odds of 250 to
    1: of 5,800 appliance-weeks of one day (3% drift, development seeds) 8 changed ids stay unspoken, of whole
    weeks none."""
    unlike_nats: float = -2.0
    """Nats of one kind of evidence below which it is said to speak against an id. Origin: odds of 7 to 1."""
    far_apart: float = 0.5
    """`most_drift` where one appliance was first seen in the week in which the other was gone. Origin: set by
    hand."""
    changed_share: float = 0.05
    """Relative change of watts that is worth a word. Origin: set by hand."""

    # Scores (scores, energy_assigned)
    on_w: float = 10.0
    """Watts from which a submetered appliance is on. Origin: NILMTK's on_power_threshold."""
    floor_quantile: float = 0.02
    """Share of the time in which a channel may draw less than its floor. Origin: set by hand; some half hour
    a day."""
    large_share: float = 0.01
    """Share of the energy from which a channel or feature is counted as large. Origin: set by hand."""


class PageThresholds(NamedTuple):
    """What a page says or shows first (`nilm.report`), module by module.

    Origin: set by hand, by looking at pages of simulated and real houses, where no other is given. Sizes of
    figures and colours are with the figures.
    """

    # What the page opens with (story)
    most_over: float = 0.1
    """Share of the metered energy by which the appliances may exceed it. A little is noise; much is a split
    that does not add up."""
    much_left_over: float = 0.02
    """Share of the energy that nothing explains, or by which the appliances exceed it, above which it is more
    than noise and the page says so. Sizes that differ a little from run to run leave less."""
    much_current_left: float = 0.1
    """Share of the current (RMS) that nothing explains, likewise: it may draw no power."""
    much_doubt: float = 0.5
    """Share of the appliances' energy that is guessed, above which the page opens with that."""
    least_coverage: float = 0.5
    """Share of the week that must have been recorded, or the page opens with that."""

    # What changed (changes)
    usual_weeks: int = 4
    """Weeks whose mean is the usual. Origin: a month."""
    least_move: float = 0.01
    """Share of the week's energy below which a rise or fall is not worth a line."""
    most_moves: int = 4
    """Rises and falls on the first screen. Origin: what fits on it."""
    least_coverage_change: float = 0.02
    """Change of the recorded share of the week that is said. Origin: some three hours."""
    telling_ratio: float = 1.1
    """Ratio of runs, lengths or watts below which a change explains nothing."""

    # An appliance's portrait (portrait)
    steady: float = 0.15
    """Range of power, relative to the usual power, up to which an appliance has one level."""
    least_level: float = 0.05
    """Share of the time that it is on above which a level counts; another is passed through."""
    part_share: float = 0.6
    """Share of its energy within six hours from which an appliance runs "mostly" then."""
    often_a_day: float = 1.5
    """Runs a day from which the card says how often it runs."""
    odd_length: float = 2.0
    """Length of a run, relative to the typical one, above which it is worth a look."""
    least_runs: int = 3
    """Runs below which no length is typical."""

    # Cards (page)
    repeated_doubt: int = 3
    """Appliances that share a doubt from which on it is said once for all of them, not on each card."""
    most_open: int = 15
    """Cards up to which all stand open."""
    small_share: float = 0.005
    """Share of the energy used below which a card is folded away with others like it."""
    doubtful: float = 0.5
    """Probability of being right below which a card is folded away, if its energy is small as well."""
    doubtful_share: float = 0.03
    """Share of the energy used below which that is so; large doubts are shown."""
    same_shape: float = 0.995
    """Power factor above which the curves of current and voltage lie on each other."""
    most_activations: int = 6_000
    """Rows in the tables of activations of all cards together. Origin: a page of 100 appliances then has
    less than 5 MB."""

    # Hours of the day in words (when)
    every_hour: float = 0.6
    """Share of the busiest hour's use that every hour must have, and it runs at all hours."""
    most_of_use: float = 0.8
    """Share of the running time that the hours named as "mostly" hold."""
    most_stretches: int = 3
    """Stretches of hours that are named; more are a spread over the day."""
    most_hours: int = 12
    """Hours that are named. Origin: more than half of the day is no "mostly"."""

    # Lists (index, troubles)
    weeks_shown: int = 26
    """Weeks on the page of a house. Origin: half a year fits on a screen, and shows what the season does."""
    most_said: int = 400
    """Characters of a failure's reason on the index."""


APPLIANCES = ApplianceThresholds()
"""The values in use, of each room."""
PAGE = PageThresholds()
