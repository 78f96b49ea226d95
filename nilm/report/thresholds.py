"""Every number that decides what a page says or shows first: what it means, its unit, and its origin.

Sizes of figures and colours are with the figures. All were set by hand, by looking at pages of simulated and
real houses; what differs is said beside the number.
"""

from typing import NamedTuple


class PageThresholds(NamedTuple):
    """The thresholds of `nilm.report`, module by module. A share lies between 0 and 1."""

    # What the page opens with (story)
    noise_over: float = 0.02
    """Share of the energy used by which the appliances may exceed it and still be called noise."""
    most_over: float = 0.1
    """Share of the metered energy by which the appliances may exceed it. A little is noise; much is a split
    that does not add up."""
    least_support: float = 0.5
    """Share of the equally good explanations below which an appliance is a guess, in weeks without `sure`."""
    much_left_over: float = 0.02
    """Share of the energy that nothing explains, above which the page says so before its numbers. Sizes that
    differ a little from run to run leave less."""
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
    most_levels: int = 5
    """Levels that are listed; more are a range to a reader."""
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


THRESHOLDS = PageThresholds()
"""The values in use."""
