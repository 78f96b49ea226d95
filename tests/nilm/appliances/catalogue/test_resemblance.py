"""Log odds that two looks are one appliance, beside numbers computed by hand."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import norm

from nilm.appliances.catalogue.records import Look, Sighting, Wander
from nilm.appliances.catalogue.resemblance import (
    Model,
    past_of,
    same_nats,
    shape_nats,
    size_nats,
    telling_words,
)

PHASE = 2 * np.pi * np.arange(64) / 64
SINE, OTHER = np.sqrt(2) * np.sin(PHASE), np.sqrt(2) * np.sin(3 * PHASE)
MOTOR = Look("motor", 500.0, 2.0 * SINE)
MODEL = Model()


def past(*looks: Look, away=None, called: str = "", wander: Wander | None = None):
    """What is known of an appliance that was seen in these weeks, the last one a week ago."""
    away = away or range(len(looks), 0, -1)
    seen = [(float(n), Sighting("A01", "a name", look)) for n, look in zip(away, looks, strict=True)]
    return past_of(seen, wander or Wander(), n_points=64, called=called, model=MODEL)


def scaled(look: Look, factor: float) -> Look:
    return replace(look, current_a=factor * look.current_a)


def test_the_nearest_week_counts_twice_as_much_as_the_one_before() -> None:
    known = past(scaled(MOTOR, 2.0), MOTOR)
    assert known.log_size == pytest.approx((math.log(4.0) + 2 * math.log(2.0)) / 3)
    assert known.weeks_away == 1
    assert known.kinds == ("motor", "motor")


def test_size_is_judged_by_the_tolerance_noise_and_spread() -> None:
    known = past(MOTOR)
    sd = math.hypot(MODEL.switched.size, MODEL.noise_a / 2.0)
    same = norm.logpdf(math.log(2.0), math.log(2.0), sd)
    other = -math.log(MODEL.size_range)
    expected = np.logaddexp(math.log1p(-MODEL.exception) + same, math.log(MODEL.exception) + other) - other
    assert size_nats(MOTOR, known, MODEL) == pytest.approx(float(expected))
    assert size_nats(scaled(MOTOR, 1.3), known, MODEL) < -3
    unsteady = replace(scaled(MOTOR, 1.3), spread=0.3)
    assert size_nats(unsteady, known, MODEL) > 0


def test_a_tolerance_is_learnt_and_grows_while_the_appliance_is_away() -> None:
    calm = past(MOTOR, wander=Wander(50, 50 * 0.01**2, 50 * 0.01**2))
    restless = past(MOTOR, wander=Wander(50, 50 * 0.2**2, 50 * 0.01**2))
    assert calm.tolerance.size == pytest.approx(math.sqrt((3 * 0.025**2 + 50 * 0.01**2) / 53))
    larger = scaled(MOTOR, 1.2)
    assert size_nats(larger, restless, MODEL) > 0 > size_nats(larger, calm, MODEL)
    slightly = scaled(MOTOR, 1.06)
    long_ago = past(MOTOR, away=[4])
    assert size_nats(slightly, long_ago, MODEL) > size_nats(slightly, past(MOTOR), MODEL)
    assert size_nats(slightly, past(MOTOR, away=[9]), MODEL) == size_nats(slightly, long_ago, MODEL)


def test_a_shape_speaks_for_an_appliance_but_little_among_heaters() -> None:
    sd = math.hypot(MODEL.switched.shape, MODEL.noise_a / 2.0)
    same, anything = 2 * norm.pdf(0, 0, sd), 1 / MODEL.shape_range
    mixed = (1 - MODEL.other_shape) * same + MODEL.other_shape * anything
    other = MODEL.alike * same + (1 - MODEL.alike) * anything
    assert shape_nats(MOTOR, past(MOTOR), MODEL) == pytest.approx(math.log(mixed / other))
    heater = replace(MOTOR, kind="resistive heater")
    assert 0 < shape_nats(heater, past(heater), MODEL) < 0.6
    assert shape_nats(MOTOR, past(heater), MODEL) > 2
    assert shape_nats(replace(MOTOR, current_a=2.0 * OTHER), past(MOTOR), MODEL) < -5


def test_great_kinds_are_never_taken_for_each_other() -> None:
    steady = replace(MOTOR, kind="always on")
    assert same_nats(steady, past(MOTOR), MODEL) == -math.inf
    assert same_nats(replace(MOTOR, kind="generator"), past(MOTOR), MODEL) == -math.inf
    assert same_nats(replace(MOTOR, kind="mixed"), past(MOTOR), MODEL) > 0
    assert same_nats(steady, past(steady), MODEL) > 0


def test_the_longer_an_appliance_was_away_the_less_it_is_expected() -> None:
    odds = [same_nats(MOTOR, past(MOTOR, away=[weeks]), MODEL) for weeks in (0, 1, 4, 25)]
    base = odds[1] - math.log(0.8 / 0.2)
    assert odds[0] - base == pytest.approx(math.log(0.97 / 0.03), abs=0.05)
    assert odds[0] > odds[1] > odds[2] > odds[3]
    at_least = same_nats(MOTOR, past(MOTOR, away=[400]), MODEL)
    assert at_least == pytest.approx(same_nats(MOTOR, past(MOTOR, away=[100]), MODEL))


def test_an_inrush_speaks_only_where_both_weeks_have_one() -> None:
    bare = same_nats(MOTOR, past(MOTOR), MODEL)
    started = replace(MOTOR, inrush=6.0)
    assert same_nats(started, past(MOTOR), MODEL) == bare
    assert same_nats(started, past(started), MODEL) - bare == pytest.approx(math.log(1 / 0.3), abs=0.05)
    assert same_nats(replace(MOTOR, inrush=1.5), past(started), MODEL) < bare - 1


@pytest.mark.parametrize(
    ("submeter", "before", "called", "nats"),
    [
        (None, "kettle", "", 0.0),
        ("kettle", None, "", 0.0),
        ("kettle", "kettle", "", math.log(0.95 / 0.05)),
        ("kettle", None, "our old Kettle 2", math.log(0.95 / 0.05)),
        ("kettle", None, "Grandmother's", 0.0),
        ("kettle", "toaster", "", math.log(0.05 / 0.95)),
        ("kettle", "toaster", "the kettle", math.log(0.95 / 0.05)),
    ],
)
def test_words_of_submeters_and_analysts(
    submeter: str | None, before: str | None, called: str, nats: float
) -> None:
    known = past(replace(MOTOR, submeter=before), called=called)
    said = same_nats(replace(MOTOR, submeter=submeter), known, MODEL)
    assert said - same_nats(MOTOR, past(MOTOR), MODEL) == pytest.approx(nats)


def test_words_that_tell_nothing_are_left_out() -> None:
    assert telling_words("our_old Kettle 2") == {"kettle"}
    assert telling_words("The x of a") == set()
    assert telling_words("Mum's washing-machine") == {"mum", "washing", "machine"}
