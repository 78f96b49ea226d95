"""The sentences of the report: the week in three, the corrections, the verdict, the missing hours.

Owns what is said; `words` owns how a number or a time looks. Nothing here is said that the result does not
hold.
"""

from collections.abc import Mapping, Sequence

import numpy as np
from markupsafe import Markup

from nilm.appliances.certainty import SURE_SUPPORT
from nilm.appliances.naming import duration_words
from nilm.report import words
from nilm.results import Activation, Appliance, Certainty, Quality, WeekResult

MOST_OVER = 0.1  # a little more than was metered is noise; much more is a split that does not add up
LEAST_SUPPORT = 0.5
LEAST_COVERAGE = 0.5
ODD_LENGTH = 2.0  # times the typical run: a longer one is worth a look
LEAST_RUNS = 3
_OTHERS = {
    "identifiable": "no other explanation fits the data",
    "not identifiable": "other explanations fit the data as well but are less plausible (section 6)",
}


def explained_share(result: WeekResult) -> float | None:
    """The share of the energy used that the appliances explain; None where nothing was used."""
    return 1 - result.unexplained_kwh / result.used_kwh if result.used_kwh > 0 else None


def span(result: WeekResult) -> str:
    """The days that have data, in words."""
    first, last = result.start_utc.min(), result.start_utc.max()
    if first.astype("datetime64[D]") == last.astype("datetime64[D]"):
        return f"On {words.day(first)}"
    same_year = words.day(first, "%Y") == words.day(last, "%Y")
    return f"From {words.day(first, '%A %-d %B' if same_year else '%A %-d %B %Y')} to {words.day(last)}"


def three_sentences(result: WeekResult) -> tuple[Markup, Markup, Markup]:
    """What was used, by what, and how far that can be trusted."""
    cost = result.metered_kwh * result.tariff_per_kwh
    generated = (
        Markup("{} and generated {}; the meter counted ").format(
            words.fixed(result.used_kwh, 1, "kWh"), words.fixed(result.generated_kwh, 1, "kWh")
        )
        if result.generated_kwh
        else ""
    )
    nothing_told = result.metered_kwh < 0 and not generated
    first = Markup("{}, {} {} {}{}, which is {} at {} per kWh.").format(
        span(result),
        result.house,
        "fed in more than it used, in all" if nothing_told else "used",
        generated,
        words.fixed(result.metered_kwh, 1, "kWh"),
        words.money(cost, result.currency),
        words.money(result.tariff_per_kwh, result.currency),
    )
    return first, _by_what(result), _how_sure(result)


def _by_what(result: WeekResult) -> Markup:
    n = len(result.appliances)
    if not n:
        return Markup("No appliance could be told apart in this week's data, so all of it is unexplained.")
    largest = [
        Markup("<b>{}</b> ({})").format(a.name, words.fixed(a.energy_kwh, 1, "kWh"))
        for a in result.appliances[:3]
    ]
    share = explained_share(result)
    explains = (
        Markup("explain{} {} of {}").format(
            "s" if n == 1 else "", words.percent(share), "what was used" if result.generated_kwh else "it"
        )
        if share is not None
        else Markup("{} found").format("was" if n == 1 else "were")
    )
    ranking = "the largest are " if n > 1 else "it is "
    return Markup("{} {}; {}{}.").format(
        words.count(n, "appliance"), explains, ranking, words.listed(largest)
    )


def _how_sure(result: WeekResult) -> Markup:
    others = _OTHERS.get(
        result.certainty.verdict, "whether another explanation fits as well could not be settled"
    )
    n = len(result.corrections)
    corrected = (
        Markup(", {} corrected").format(words.count(n, "appliance was", "appliances were"))
        if n
        else Markup("")
    )
    return Markup("{}: {}{}, and the data cover {} of the time.").format(
        _sure_of(result.appliances), others, corrected, words.percent(result.quality.coverage)
    )


def _sure_of(appliances: Sequence[Appliance]) -> Markup:
    """Of how many appliances we are sure, and what share of their energy these hold."""
    sure = [a for a in appliances if a.support >= SURE_SUPPORT and not a.not_told_apart_from]
    if not sure:
        return Markup("We are {}").format("very sure of none of them" if appliances else "sure of nothing")
    if len(sure) == len(appliances):
        return Markup("We are very sure of {}").format("it" if len(sure) == 1 else "all of them")
    energy = sum(abs(a.energy_kwh) for a in appliances)
    held = sum(abs(a.energy_kwh) for a in sure) / energy if energy else 0.0
    return Markup("We are very sure of {} of them, which hold{} {} of their energy").format(
        words.data(len(sure), str(len(sure))),
        "s" if len(sure) == 1 else "",
        words.percent(held, 0),
    )


def cautions(result: WeekResult) -> list[Markup]:
    """What an analyst must know before using any number of the page; empty in a good week."""
    found = []
    # Against the energy that passed the meter either way: a house that feeds in may count to nothing in all.
    passed_kwh = float(np.nansum(np.abs(result.metered_w))) * result.interval_s / 3.6e6
    if -result.unexplained_kwh > MOST_OVER * passed_kwh:
        found.append(
            Markup(
                "The appliances found add up to {} more than the meter counted. The split between them is "
                "wrong and should not be used."
            ).format(words.fixed(-result.unexplained_kwh, 1, "kWh"))
        )
    if result.certainty.at_noise_floor is False:
        found.append(
            Markup(
                "{} of the current is left over, more than the meter's noise: something in the house is not "
                "explained by appliances that are on or off."
            ).format(words.percent(result.certainty.relative_residual, 0))
        )
    doubtful = sum(abs(a.energy_kwh) for a in result.appliances if a.support < LEAST_SUPPORT)
    energy = sum(abs(a.energy_kwh) for a in result.appliances)
    if energy and doubtful > energy / 2:
        found.append(
            Markup("{} of the appliances' energy is with appliances of which we are unsure.").format(
                words.percent(doubtful / energy, 0)
            )
        )
    if result.quality.coverage < LEAST_COVERAGE:
        found.append(
            Markup("Only {} of the expected data is there; totals are of that part alone.").format(
                words.percent(result.quality.coverage, 0)
            )
        )
    return found


def run_lengths(activations: Sequence[Activation]) -> str:
    """How long its runs are, and when the longest was if it stands out: a fault, or a mistake of ours."""
    if not activations:
        return "no run was long enough to count"
    lengths = [run.duration_s for run in activations]
    typical, longest = float(np.median(lengths)), int(np.argmax(lengths))
    said = f"typically {duration_words(typical)}"
    if lengths[longest] <= ODD_LENGTH * typical or len(lengths) < LEAST_RUNS:
        return said
    start = words.day(activations[longest].start_utc, "%a %-d %b %H:%M")
    return f"{said}; the longest {duration_words(lengths[longest])}, from {start}"


def residual(certainty: Certainty) -> str:
    """What the corrections did to the fit: nothing, or how much."""
    before, after = certainty.residual_before, certainty.residual_after
    change = abs(after - before) / before if before else abs(after)
    if change < 1e-6:
        return (
            "The corrections change what is called an appliance, not how well the whole is explained: "
            f"the part of the current that is left over is the same before and after ({after:.4g} A)."
        )
    direction = "smaller" if after < before else "larger"
    return (
        f"The part of the current that is left over is {words.percent_text(change)} {direction} than before "
        f"the corrections ({before:.4g} A before, {after:.4g} A after)."
    )


def equivalents(certainty: Certainty) -> Markup:
    """How many explanations fit equally well, this one included; "at least" where the search had to stop."""
    n = certainty.n_equivalent
    number = words.data(n, f"{n:,}" if n < 10**9 else "billions")
    return number if certainty.n_equivalent_is_exact or n >= 10**9 else Markup("at least {}").format(number)


def missing_hours(quality: Quality) -> list[str]:
    """The missing hours, joined where one follows the other: "Tue 6 Jan 03:00–07:00 (4 hours)"."""
    hours, other = [], []
    for text in quality.hours_missing:
        try:
            hours.append(np.datetime64(text.removesuffix("Z").removesuffix("+00:00"), "s"))
        except ValueError:
            other.append(text)
    hours.sort()
    stretches: list[list[np.datetime64]] = []
    for hour in hours:
        if stretches and hour - stretches[-1][-1] <= np.timedelta64(3600, "s"):
            stretches[-1].append(hour)
        else:
            stretches.append([hour])
    return [_stretch(s) for s in stretches] + other


def _stretch(hours: Sequence[np.datetime64]) -> str:
    end = hours[-1] + np.timedelta64(3600, "s")
    same_day = hours[0].astype("datetime64[D]") == hours[-1].astype("datetime64[D]")
    to = words.day(end, "%H:%M" if same_day else "%a %-d %b %H:%M")
    n = len(hours)
    return f"{words.day(hours[0], '%a %-d %b %H:%M')}–{to} ({n} hour{'' if n == 1 else 's'})"


def mains_words(result: WeekResult) -> Mapping[str, tuple[float, float, float]]:
    """Least, mean and most of mains frequency and voltage, over the rows that know them."""
    return {
        unit: (float(np.nanmin(v)), float(np.nanmean(v)), float(np.nanmax(v)))
        for unit, v in (("Hz", result.mains_hz), ("V", result.rms_v))
        if np.isfinite(v).any()
    }
