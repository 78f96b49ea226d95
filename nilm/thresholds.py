"""Every number on the way from a recording to a solution that decides something: meaning, unit, origin.

One record for each room. What is said about appliances afterwards is decided by `nilm.appliances.thresholds`.
What a user may choose is an option instead (`nilm.options`, `nilm.recordings.waveforms.Sampling`). What half
and double of a number do is printed by `benchmarks/thresholds.py`. A share lies between 0 and 1.
"""

from typing import NamedTuple


class RowThresholds(NamedTuple):
    """When a row is dropped or flagged, and what a gap is. The mains have 50 Hz and 230 or 240 V."""

    # Dropped (nilm.recordings.waveforms, nilm.recordings.adaptive.switch_times)
    least_v: float = 50.0
    """Volts RMS of the fundamental below which there is no mains. Origin: set by hand."""
    lock_hz: float = 5.0
    """Distance from 50 Hz above which the frequency cannot be the mains'; it is searched for up to twice as
    far, so that a wrong one is seen. Origin: set by hand."""
    fewest_cycles: int = 3
    """Whole cycles that a row needs; one at a file's edge is left to the next file. Origin: set by hand."""

    # Flagged (nilm.recordings.waveforms)
    low_v: float = 150.0
    """Volts RMS below which the voltage is odd. Origin: set by hand."""
    high_v: float = 300.0
    """Volts RMS above which it is. Origin: set by hand."""
    odd_hz: float = 0.5
    """Distance from 50 Hz above which the frequency is odd. Origin: set by hand."""
    offset_v: float = 0.01
    """DC offset of the voltage, as a share of its RMS, that is flagged. Origin: set by hand."""
    offset_a: float = 0.005
    """DC offset of the current, as a share of the converter's full scale, that is flagged. Origin: set by
    hand."""
    distorted: float = 0.15
    """What harmonics 1, 3, 5 and 7 leave of the voltage, as a share of the fundamental, above which it is no
    steady mains cycle. Origin: set by hand."""

    # Times (nilm.timeline, nilm.recordings.overlaps, nilm.recordings.tables, nilm.recordings.ukdale)
    gap_s: float = 0.99
    """Seconds between two rows up to which nothing is missing between them. Origin: one recording ends and
    the next begins within a second; just below it, because a row is at least a second long and one that is
    missing must be told."""
    shortest_s: float = 1e-3
    """Seconds that must be left of a row after a cut, and by which two rows may overlap. Origin: set by hand;
    times are kept to the microsecond."""
    least_in_week_s: float = 60.0
    """Seconds by which a recording must reach into a week to make it one with recordings. Origin: set by
    hand; a recorder's clock may be early."""


class SwitchThresholds(NamedTuple):
    """What counts as a switch while a recording is read (nilm.recordings.adaptive).

    A difference counts from the root of the squares of `least_a`, `noise` and `share`, as RMS of the current.
    """

    # A difference between two looks (switch_times)
    least_a: float = 0.035
    """Amperes RMS. Origin: 8 W of a heater; less is no appliance that anybody looks for."""
    noise: float = 4.0
    """Times the noise of the two looks. Origin: set by hand."""
    share: float = 0.001
    """Share of the current. Origin: what the mains' slow wander makes of it in ten seconds."""
    white_noise: float = 2.0
    """Used instead of `noise` once the usual wander has been taken off a change. Origin: the noise that is
    left is white, of 128 points, and its RMS never doubles."""
    piece_edges: float = 2.56
    """Lengths `edge_s` of a piece that is read whole. Origin: at 0.1 s a FLAC frame, which is decoded
    anyway."""
    tail_cycles: int = 2
    """Cycles that are read after the look that ends a piece. Origin: an inrush that begins in the piece is
    then seen at its largest."""

    # What is usual around a change (wander): decision 0221, by trial on simulated days
    around: int = 18
    """Looks before and after a change that it is compared with. Origin: three minutes each way."""
    lags: tuple[int, ...] = (2, 3, 5)
    """Looks from one to the other end of a change; the lag with the smallest wander counts. Origin: decision
    0221."""
    usual_share: float = 0.3
    """Share of the changes that are smaller than what is usual. Origin: a load that switches on and off
    changes between at most half of such looks, one that wanders between nearly all."""
    deviation: float = 0.385
    """Standard deviations within which this share of normal changes lies. Origin: the normal distribution."""
    times: float = 5.5
    """Standard deviations that are usual. Origin: decision 0221: with 5 there are a fifth more rows, and 17
    instead of 19 of 6,758 switches are missed."""
    fewest: int = 8
    """Changes that are needed to learn what is usual. Origin: set by hand."""

    # Rows between switches (stretches)
    settle_s: float = 1.0
    """Seconds after a switch in which further changes belong to it. Origin: an inrush is over by then."""
    edge_of_file_s: float = 0.1
    """Seconds from the ends of a recording within which a switch makes no row. Origin: set by hand; too short
    for a row of its own."""


class HouseThresholds(NamedTuple):
    """The thresholds of `nilm.disaggregate`, module by module."""

    # What is needed, and what is said (house)
    fewest_rows: int = 2
    """Rows that a solution needs. Origin: one row shows no change."""
    much_unseen_w: float = 800.0
    """Watts of a heater that may hide in the sun, above which the page says so. Origin: kettle, oven and
    immersion heater draw more."""

    # From an estimator's answer to a first solution (estimate, first_solution)
    least_change_a: float = 0.02
    """Amperes in each point of a cycle that are noise to a decoder. Origin: loads follow the voltage by a few
    parts in a thousand, many times the meter's noise after averaging; a watt or two would look like
    appliances."""
    twins_slack: float = 0.25
    """Share by which the residual may rise when two features of the same waveform are joined. Origin: set by
    hand; two sizes fit better than one, which proves nothing."""
    misfit: float = 0.2
    """Share of a row's size above which its residual is gross. Origin: set by hand."""
    max_flips: int = 2
    """Features that such a row may switch against a neighbour. Origin: set by hand, for time."""
    much_better: float = 0.25
    """Share of the residual below which another state must come, and by which states count as equally good.
    Origin: set by hand."""
    as_good: float = 0.03
    """Share of the residual within which fewer switches decide. Origin: what drift leaves of it."""
    least_scatter: float = 0.002
    """How far runs lie across their feature's waveform, as a share of its size, where all runs are alike.
    Origin: on development weeks whose runs are alike it is 0.0003 at most; where each run is another
    recording, 0.004 and more."""
    variant_distance: float = 0.35
    """Distance of two waveforms, relative to the smaller, up to which they may be variants of one appliance.
    Origin: half of the recordings of one small appliance differ by a quarter or more; set on development
    seeds 100 to 106."""

    # The hop (hopping)
    nodes_beside_varying: int = 3_000
    """Nodes of the search for equivalent columns where loads vary. Origin: set by hand, for time."""
    reactive: float = 0.1
    """Power factor below which a current draws no real power. Origin: set by hand, give or take its phase."""

    # Currents at a steady voltage (voltage_response): decision 0140
    max_directions: int = 24
    """Directions of X in which the response is measured. Origin: set by hand, for time."""
    least_swing: float = 1e-5
    """Standard deviation of the relative voltage from row to row, below which nothing is measured. Origin:
    set by hand; far below what a meter resolves."""
    strongest: float = 2.0
    """|Δx| over |Δℓ·x| above which a change is a switch. Origin: heaters have 1, power supplies −1."""
    min_pairs: int = 50
    """Pairs of rows for each direction. Origin: set by hand."""
    response_rounds: int = 3
    """Fits, each without what lies far off in the one before. Origin: set by hand."""
    outlying: float = 3.0
    """Typical residuals of a fit beyond which a pair is left out of the next one, and an unfit row shows no
    state that was seen. Origin: the usual three."""

    # Rows unfit for a fit (unfit_rows)
    clipped_share: float = 0.97
    """Share of a row's peak from which a sample is not compared. Origin: set by hand; it may stand at full
    scale."""

    # Priors of a house (house_priors): decision 0060
    switch_nats: float = 1.0
    """Price of one switch. Origin: decision 0060."""
    row_on_nats: float = 0.01
    """Price of one row in which an appliance is on. Origin: decision 0030: at two or three times this, houses
    are ruined."""
    negative_watt_nats: float = 100.0
    """Price of one watt that an appliance gives. Origin: decision 0060, more than any number of switches."""
    sunny_w: float = 50.0
    """Negative watts that are free beside a generator that varies. Origin: decision 0150: what runs by day is
    known to 10 to 50 W."""
    feed_in_w: float = -20.0
    """Watts below which a row cannot be a sum of loads. Origin: metering noise is a watt or two."""
    feed_in_sigmas: float = 4.0
    """Standard deviations of the noise, where that is louder. Origin: noise alone lies so far below zero in 3
    rows of 100,000."""
    feed_in_rows: float = 1e-3
    """Share of such rows above which the house feeds in. Origin: decision 0060."""
    generator_cosine: float = -0.95
    """Cosine with the voltage up to which a current is a generator's. Origin: an inverter feeds in a sine
    against the voltage."""

    # Evidence (evidence): with other numbers `benchmarks/calibration.py --fit` must be run again
    moved: float = 0.05
    """Share of its usual size below which a change of a load that varies is wander. Origin: set by hand."""
    alone: float = 0.2
    """Share of a change that all others together may change by in the same row, and it is alone. Origin: set
    by hand."""
    alike: float = 0.999
    """Cosine beyond which two waveforms are of one kind. Origin: set by hand."""


class RuleThresholds(NamedTuple):
    """What decides whether the exact decoder or shapes explain a week (first_solution).

    Origin: set on seeds below 200, but for `most_noise_a`: it came after a look at noisy weeks of seed 900.
    """

    small_a: float = 0.1
    """Amperes RMS, about 20 W, below which a change of level is wander, not a switch."""
    most_small: float = 0.25
    """Share of the changes of level that may be small. On/off houses of 10 and 20 appliances have at most
    0.03, slow change of 5% has 0.32, weeks of real habits have 0.57 and more."""
    most_noise_a: float = 0.03
    """Amperes in each entry of a row. In more noise small changes do not show, and a week that wanders looks
    like one that does not. A meter leaves some 0.002 A in ten averaged cycles."""
    most_changes: float = 0.5
    """Changes of level for each row. Houses of 20 on/off appliances have up to 0.28; the search grows with
    the square."""
    much_left: float = 0.1
    """Share of the changing current (Frobenius norm) that an on/off answer may leave. Activations that drift
    by 3% leave about 0.02, weeks of real habits 0.2 and more."""


class VaryingThresholds(NamedTuple):
    """What decides how shapes become appliances (varying).

    Origin: set on weeks of real habits with waveform seeds 1 to 3.
    """

    resistive_cosine: float = 0.9999
    """Cosine with the voltage: within 0.8° a current cannot be told from a heater's, in a house of many
    loads."""
    resolution_w: float = 5.0
    """Watts below which steps and levels are wander. Real heaters wander by up to 5 W from row to row."""
    pause_s: float = 1800.0
    """Seconds: the pauses of a washing machine, a dishwasher or a dryer inside one run are shorter."""
    shortest_s: float = 60.0
    """Seconds: shorter runs and pauses are alike when appliances of one waveform are told apart."""
    least_share: float = 0.002
    """Share of the energy above the base. A smaller feature is left to the unexplained energy."""
    least_apart: float = 0.005
    """Share of the energy above the base. A smaller piece of a track is not taken apart from it."""
    two_level_error: float = 0.03
    """Share of its energy by which an on/off appliance may differ from one steady level."""
    on_share: float = 0.05
    """Share of its usual power above which a load that varies counts as on. On development weeks a share of
    0.03 gave times an F1 of .71 and left 1.4% of the energy unexplained, 0.1 gave .75 and left 2.5%."""


class SunThresholds(NamedTuple):
    """A generator that varies with the sun (nilm.disaggregate.sun): decision 0150."""

    # Its shape and its days (generator)
    meter_w: float = 5.0
    """Watts from row to row that are more than noise. Origin: set by hand; metering noise is a watt or
    two."""
    least_step: float = 0.004
    """Change from row to row, as a share of the power along the shape, that is more than what the voltage
    does to loads. Origin: set by hand."""
    largest_step_w: float = 50.0
    """Watts that a change counts at most when the shape is measured. Origin: one cloud must not outvote the
    rest of the week."""
    in_phase: float = 0.03
    """Share of a change that may lie across the voltage before the shape is known. Origin: set by hand."""
    quiet: float = 4.0
    """Typical changes across the shape above which something else switched. Origin: set by hand."""
    least_quiet_a: float = 0.006
    """Amperes RMS across the shape that are never a switch. Origin: set by hand, the meter's noise."""
    window_s: float = 2520.0
    """Seconds in which steps are counted. Origin: set by hand, 21 rows of two minutes."""
    in_window: float = 4 / 21
    """Share of such a window's rows that have a step, to make daylight. Origin: set by hand."""
    bridged_s: float = 5400.0
    """Seconds without a step that a day may have. Origin: set by hand."""
    least_s: float = 7200.0
    """Seconds of daylight in one piece. Origin: no appliance takes as long to settle."""
    night_share: float = 0.05
    """Share of all rows that must lie outside of daylight. Origin: set by hand; without a night nobody knows
    what zero is."""
    lowest_percentile: float = 5
    """Percentile of the power that stands for its least. Origin: a reading or two may be wrong."""

    # How far it feeds in (feed_in)
    drift: float = 0.01
    """Share of an appliance's size by which its activations differ; up to three of it across the shape, two
    switches are of one appliance. Origin: set by hand."""
    rounds: int = 15
    """Rounds of the robust fit. Origin: set by hand."""
    tail: float = 2.0
    """Spreads at which what is off loses half of its weight (Cauchy). Origin: set by hand."""
    beside: int = 2
    """Rows before and after a switch whose steps say what the sun's own step was. Origin: set by hand."""

    # The solution beside it (first_solution)
    views: tuple[tuple[float, float], ...] = ((0.15, 0.06), (0.5, 0.06))
    """Pairs of the share of what lies along its shape that counts, and the amperes that are noise then.
    Origin: decision 0150, on seeds below 200."""
    further_views: tuple[tuple[float, float], ...] = ((0.1, 0.04), (1.0, 0.15))
    """Such pairs that are tried where by the others the house gives power with everything off. Origin:
    decision 0150, on seeds below 200."""
    missed_switch_nats: float = 10.0
    """Price of a switch that was seen and is missing in a solution. Origin: decision 0150."""


class InputThresholds(NamedTuple):
    """The largest values of a calibration and of options that are believed; others are refused in words."""

    most_full_scale: float = 1e6
    """Volts or amperes at full scale. Origin: no meter of a house measures more."""
    most_digits: int = 6
    """Digits of a submeter's channel. Origin: UK-DALE has two; a longer one is a mistake."""
    most_name: int = 80
    """Characters of an appliance's name. Origin: what fits on a line of the page."""
    most_currency: int = 8
    """Characters of a currency. Origin: what fits beside a number on the page."""
    most_tariff: float = 1e9
    """Tariff for a kWh, in any currency. Origin: beyond it sums mean nothing."""
    most_simulated: int = 100
    """Appliances of a simulated house. Origin: set by hand, for time."""


class WorldThresholds(NamedTuple):
    """What decides about the truth of a simulated week (nilm.simulate); no answer depends on it."""

    off_w: float = 2.0
    """Watts above its floor below which a load with real habits is off. Origin: set by hand."""
    least_power_factor: float = 0.45
    """Power factor that a made waveform needs. Origin: set by hand; appliances of a house have more."""
    has_heater_w: float = 1800.0
    """Watts of a washing machine's or dishwasher's peak from which it has a heater. Origin: set by hand."""
    heats_w: float = 1200.0
    """Watts above which that heater is on. Origin: set by hand."""
    motor_w: float = 200.0
    """Watts that its motor draws meanwhile. Origin: set by hand."""
    sleeps_below: float = 0.03
    """Share of its peak below which an inverter sleeps. Origin: set by hand."""
    inrush_ends: float = 8.0
    """Time constants after which an inrush is over. Origin: e⁻⁸ of it is left, less than noise."""
    lost_share: float = 0.005
    """Share of a submeter's readings that the radio never delivers. Origin: set by hand."""
    outage_s: tuple[int, int] = (1170, 1770)
    """Seconds of the hour between which an outage lasts. Origin: set by hand, ten minutes."""


class ShownThresholds(NamedTuple):
    """What the experiments count and show (nilm.experiments)."""

    recovered: float = 0.002
    """E_Hamm below which a house counts as recovered. Origin: set by hand."""
    least_gain: float = 0.05
    """Gain of a feature (`hop_shown.Line.gain`) up to which it needs no picture. Origin: set by hand."""
    upside_down_w: float = -10.0
    """Watts below which a feature is negative beyond noise. Origin: metering noise is a watt or two."""


ROWS = RowThresholds()
"""The values in use, of each room."""
SWITCHES = SwitchThresholds()
HOUSE = HouseThresholds()
RULE = RuleThresholds()
VARYING = VaryingThresholds()
SUN = SunThresholds()
INPUT = InputThresholds()
WORLD = WorldThresholds()
SHOWN = ShownThresholds()
