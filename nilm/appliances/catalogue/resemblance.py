"""How well an appliance of this week goes together with one that earlier weeks knew, in nats.

Owns every tolerance of "the same appliance in another week". What is compared are logarithms of
likelihoods: of this week's look if it is the known appliance, less that if it is some other one. Evidence of
several kinds adds up: shape and size of the waveform, habits, inrush, the submeter's and the analyst's words,
and how long ago the appliance was seen. Each kind of evidence against has a floor (an appliance may change in
one respect), so that no single reading decides alone.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from scipy.stats import norm

from lfm.arrays import FloatArray
from nilm.appliances.catalogue.habits import HabitModel, Habits, habit_nats, log_ratio, pooled
from nilm.appliances.catalogue.records import Look, Sighting, Wander, shape_distance, unit_shape
from nilm.appliances.measures import ALWAYS_ON, GENERATOR, HEATER, resample_cycle
from nilm.appliances.thresholds import APPLIANCES

_SMALLEST_A = 1e-6
# Words of submeters and analysts that say nothing of which appliance it is.
_PLAIN_WORDS = {"the", "our", "my", "old", "new", "big", "small", "and", "of", "in"}


@dataclass(frozen=True)
class Tolerance:
    """How far one appliance moves from week to week, as a standard deviation."""

    size: float  # of the logarithm of its RMS current
    shape: float  # of the distance of its shape


@dataclass(frozen=True)
class Model:
    """The chances behind the comparison; a share is a probability, the rest has its unit in the comment.

    Chosen on simulated houses with seeds below 200; `benchmarks/identity.py` reports on others.
    """

    switched: Tolerance = Tolerance(size=0.025, shape=0.05)  # before anything is learnt of an appliance
    generator: Tolerance = Tolerance(size=0.7, shape=0.05)  # the sun makes its size, the inverter its shape
    always_on: Tolerance = Tolerance(size=0.4, shape=0.4)  # it changes with every new charger
    prior_changes: float = 3.0  # week-to-week steps that the tolerance above counts for
    noise_a: float = 0.01  # RMS amperes by which a waveform is known
    weight_per_week: float = 0.5  # of a sighting against one a week nearer
    size_range: float = 6.0  # nats: ln of the largest appliance over the smallest
    shape_range: float = 1.4  # shape distance between two appliances: 0 to this
    alike: float = 0.05  # share of other appliances that have the same shape
    alike_heaters: float = 0.6  # all heaters draw the voltage's shape
    exception: float = 0.03  # share of weeks in which an appliance's size (or inrush) is unlike itself
    other_shape: float = 0.001  # and its shape: that hardly ever changes
    inrush_sd: float = 0.3  # of its logarithm
    inrush_spread: float = 1.0
    named: float = 0.95  # a submeter fits the same appliance again
    named_otherwise: float = 0.05  # a submeter of that name fits another one
    seen_again: float = 0.8  # an appliance of last week runs this week, too
    seen_same_week: float = 0.97  # the same week solved anew
    away: float = 0.5  # exponent: how seen_again falls with the weeks since it was seen
    least_seen: float = 0.1
    habits: HabitModel = field(default_factory=HabitModel)


@dataclass(frozen=True, eq=False)
class Past:
    """What the weeks before know of one appliance, made ready to compare with."""

    appliance_id: str
    kinds: tuple[str, ...]  # of the weeks, the nearest first
    weeks_away: float
    log_size: float
    shape: FloatArray  # (D,) RMS of one
    tolerance: Tolerance
    spread: float
    habits: Habits | None
    inrush: float | None
    submeters: frozenset[str]
    words: frozenset[str]  # of the analyst's name


def past_of(
    sightings: Sequence[tuple[float, Sighting]], wander: Wander, *, n_points: int, called: str, model: Model
) -> Past:
    """What (weeks away, sighting) in the order of time say of one appliance, with waveforms of `n_points`.

    `wander` is what was learnt of it in weeks that are no longer kept; `called` the analyst's name, or "".
    """
    for (_, before), (_, now) in pairwise(sightings):
        wander = wander.after(before.look, now.look)
    nearest_first = sorted(sightings, key=lambda pair: pair[0])
    looks = [s.look for _, s in nearest_first]
    away = nearest_first[0][0]
    weights = np.array([model.weight_per_week ** (weeks - away) for weeks, _ in nearest_first])
    weights /= weights.sum()
    log_sizes = np.array([math.log(max(look.size, _SMALLEST_A)) for look in looks])
    shapes = np.stack([unit_shape(_at(look.current_a, n_points)) for look in looks])
    last = looks[0]
    inrushes = [look.inrush for look in looks if look.inrush is not None]
    return Past(
        appliance_id=nearest_first[0][1].appliance_id,
        kinds=tuple(look.kind for look in looks),
        weeks_away=away,
        log_size=float(weights @ log_sizes),
        shape=weights @ shapes,
        tolerance=_learnt(_unlearnt(last.kind, model), wander, model),
        spread=max(look.spread for look in looks),
        habits=pooled([look.habits for look in looks[: APPLIANCES.habit_weeks] if look.habits is not None]),
        inrush=inrushes[0] if inrushes else None,
        submeters=frozenset(look.submeter for look in looks if look.submeter is not None),
        words=telling_words(called),
    )


def same_nats(look: Look, past: Past, model: Model) -> float:
    """The log odds that `look` is the appliance of `past` and no new one; −inf across the great kinds."""
    if _great_kind(look.kind) != _great_kind(past.kinds[0]):
        return -math.inf
    nats = size_nats(look, past, model) + shape_nats(look, past, model)
    nats += habit_nats(look.habits, past.habits, model.habits) + _inrush_nats(look, past, model)
    return nats + _word_nats(look, past, model) + _presence_nats(past, model)


def size_nats(look: Look, past: Past, model: Model) -> float:
    """What the size of the waveform says for one appliance."""
    sd = math.hypot(_sd(past.tolerance.size, look, past, model), look.spread, past.spread)
    same = norm.logpdf(math.log(max(look.size, _SMALLEST_A)), past.log_size, sd)
    return log_ratio(same, -math.log(model.size_range), exception=model.exception)


def shape_nats(look: Look, past: Past, model: Model) -> float:
    """What the shape of the waveform says for one appliance; little where both are heaters."""
    sd = _sd(past.tolerance.shape, look, past, model)
    same = math.log(2) + norm.logpdf(shape_distance(look.current_a, past.shape), 0.0, sd)
    anything = -math.log(model.shape_range)
    heaters = look.kind == HEATER and HEATER in past.kinds
    alike = model.alike_heaters if heaters else model.alike
    other = float(np.logaddexp(math.log(alike) + same, math.log1p(-alike) + anything))
    mixed = np.logaddexp(math.log1p(-model.other_shape) + same, math.log(model.other_shape) + anything)
    return float(mixed) - other


def telling_words(text: str) -> frozenset[str]:
    """The words of a name that tell which appliance it is: "our_old Kettle 2" has one, "kettle"."""
    words = re.findall(r"[^\W\d_]+", text.casefold())
    return frozenset(w for w in words if len(w) > 1 and w not in _PLAIN_WORDS)


def _great_kind(kind: str) -> str:
    """What is always on and what feeds in are never taken for what people switch, nor for each other."""
    return kind if kind in (ALWAYS_ON, GENERATOR) else "switched"


def _unlearnt(kind: str, model: Model) -> Tolerance:
    return {ALWAYS_ON: model.always_on, GENERATOR: model.generator}.get(kind, model.switched)


def _learnt(prior: Tolerance, wander: Wander, model: Model) -> Tolerance:
    """The tolerance after the steps that were seen, as a mean of squares with the prior's weight."""
    n = model.prior_changes + wander.changes
    return Tolerance(
        size=math.sqrt((model.prior_changes * prior.size**2 + wander.size_squares) / n),
        shape=math.sqrt((model.prior_changes * prior.shape**2 + wander.shape_squares) / n),
    )


def _sd(tolerance: float, look: Look, past: Past, model: Model) -> float:
    """The tolerance after the weeks that it was away, with what noise adds to a small waveform."""
    aged = tolerance * math.sqrt(min(max(past.weeks_away, 1.0), 4.0))
    return math.hypot(aged, model.noise_a / max(look.size, _SMALLEST_A))


def _inrush_nats(look: Look, past: Past, model: Model) -> float:
    if not look.inrush or not past.inrush:
        return 0.0
    difference = math.log(look.inrush / past.inrush)
    same, other = norm.logpdf(difference, 0, model.inrush_sd), norm.logpdf(difference, 0, model.inrush_spread)
    return log_ratio(same, other, exception=model.exception)


def _word_nats(look: Look, past: Past, model: Model) -> float:
    """What the submeter's name says: it was there before, or an analyst used its words, or it was another."""
    if look.submeter is None or not (past.submeters or past.words):
        return 0.0
    if look.submeter in past.submeters or telling_words(look.submeter) & past.words:
        return math.log(model.named / model.named_otherwise)
    if not past.submeters:
        return 0.0  # an analyst may have words of their own for what the submeter calls otherwise
    return math.log((1 - model.named) / (1 - model.named_otherwise))


def _presence_nats(past: Past, model: Model) -> float:
    """The log odds that it is seen this week, given how many weeks ago it was."""
    seen = model.seen_same_week
    if past.weeks_away >= 1:
        seen = max(model.least_seen, model.seen_again / past.weeks_away**model.away)
    return math.log(seen / (1 - seen))


def _at(wave: FloatArray, n_points: int) -> FloatArray:
    return wave if len(wave) == n_points else resample_cycle(wave, n_points)
