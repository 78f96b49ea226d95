"""What may be asked of a week: the options of its steps, checked. Light to import, and reads nothing.

Whether a week has work to do is told from its options and its inputs alone, before anything that works is
imported; so the options live apart from the steps that they shape.
"""

from dataclasses import dataclass, field
from functools import cache
from zoneinfo import available_timezones

from nilm.appliances.activations import ActivationOptions
from nilm.choices import ESTIMATORS, PRIORS
from nilm.errors import OptionError
from nilm.recordings.waveforms import Sampling
from nilm.thresholds import INPUT

_timezones = cache(available_timezones)  # looks through hundreds of files


def check_estimator(estimator: str) -> str:
    """The name of the estimator; OptionError if there is none of that name."""
    if estimator not in ESTIMATORS:
        raise OptionError(f"estimator must be one of {', '.join(ESTIMATORS)}; got {estimator!r}")
    return estimator


def check_components(components: int | str) -> None:
    """OptionError unless `components` is "auto" or a whole number from 1 up."""
    whole = isinstance(components, int) and not isinstance(components, bool) and components >= 1
    if components != "auto" and not whole:
        raise OptionError(f"components must be auto or a whole number from 1 up; got {components!r}")


def check_prior(prior: str) -> str:
    """The name of the prior; OptionError if there is none of that name."""
    if prior not in PRIORS:
        raise OptionError(f"prior must be one of {', '.join(PRIORS)}; got {prior!r}")
    return prior


def _check_seed(seed: int) -> None:
    if not 0 <= seed < 2**32:
        raise OptionError(f"seed must be a whole number from 0 up, got {seed}")


@dataclass(frozen=True)
class FactoriseOptions:
    """How a week is factorised."""

    components: int | str = "auto"  # an upper bound, or "auto"
    estimator: str = "auto"
    seed: int = 0

    def __post_init__(self) -> None:
        check_components(self.components)
        check_estimator(self.estimator)
        _check_seed(self.seed)


@dataclass(frozen=True)
class PriorOptions:
    """How equivalent explanations are chosen between."""

    prior: str = "house"
    seed: int = 0

    def __post_init__(self) -> None:
        check_prior(self.prior)
        _check_seed(self.seed)


@dataclass(frozen=True)
class PublishOptions:
    """How a week is shown."""

    tariff_per_kwh: float = 0.25
    currency: str = "£"
    min_on_s: float = 0.0
    min_off_s: float = 0.0
    timezone: str = "Europe/London"  # of the house's clocks, for people; files are in UTC

    def __post_init__(self) -> None:
        if self.timezone not in _timezones():
            raise OptionError(f"timezone must be a name such as Europe/London, got {self.timezone!r}")
        if not 0 <= self.tariff_per_kwh <= INPUT.most_tariff:
            raise OptionError(
                f"tariff_per_kwh must be from 0 to {INPUT.most_tariff:g}, got {self.tariff_per_kwh}"
            )
        if not 0 < len(self.currency) <= INPUT.most_currency or not self.currency.isprintable():
            raise OptionError(
                f"currency must be 1 to {INPUT.most_currency} characters such as £ or EUR, "
                f"got {self.currency!r}"
            )
        self.activations()

    def activations(self) -> ActivationOptions:
        """The part of the options that shapes activations; OptionError if a duration is out of range."""
        return ActivationOptions(self.min_on_s, self.min_off_s)


@dataclass(frozen=True)
class WeekOptions:
    """All that shapes a week's results besides its data."""

    sampling: Sampling = field(default_factory=Sampling)
    factorise: FactoriseOptions = field(default_factory=FactoriseOptions)
    hop: PriorOptions = field(default_factory=PriorOptions)
    publish: PublishOptions = field(default_factory=PublishOptions)
