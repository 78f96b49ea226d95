"""Every number of the hopper that decides something: what it means, its unit, and its origin."""

from typing import NamedTuple


class HopperThresholds(NamedTuple):
    """The thresholds of `lfm.hopper`. What a caller may choose is a parameter of `lfm.hop` instead."""

    # The walk (lfm.hopper.walk, lfm.hopper.hop)
    least_gain: float = 1e-9
    """Share of the objective below which a gain is rounding. Origin: the precision of float64, with room."""
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
    most_decoded: int = 20
    """Features up to which the nearest combination is searched exactly; with more, single bits are flipped.
    Origin: set by hand, for time: rows of 40 piano features would take hours."""
    max_passes: int = 3
    """Rounds of decoding and refitting. Origin: set by hand; each lowers the residual."""


THRESHOLDS = HopperThresholds()
"""The values in use."""
