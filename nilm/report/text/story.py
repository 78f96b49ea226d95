"""The sentences of the report: the week in three, the corrections, the verdict, the missing hours.

Owns what is said; `words` owns how a number or a time looks. Nothing here is said that the result does not
hold.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import tzinfo

import numpy as np
from markupsafe import Markup, escape

from nilm.appliances.certainty.doubts import GUESS, LIKELY
from nilm.appliances.thresholds import PAGE
from nilm.report.text import words
from nilm.report.when import Window
from nilm.results import Appliance, Certainty, Quality, WeekResult
from nilm.timeline import DAY_S, J_PER_KWH

_OTHERS = {
    "identifiable": "no other explanation fits the data",
    "not identifiable": "other explanations fit the data as well but are less plausible (section 6)",
}


def explained_share(result: WeekResult) -> float | None:
    """The share of the energy used that the appliances explain; None where nothing was used."""
    return 1 - result.unexplained_kwh / result.used_kwh if result.used_kwh > 0 else None


def explained_words(result: WeekResult) -> Markup:
    """The share explained, for people: "all" where the appliances add up to the meter, or a little more."""
    share = explained_share(result)
    if counted_too_much(result):
        return words.data(share, "too much")
    return words.data(share, "all") if share is not None and share > 0.9995 else words.percent(share)


def counted_too_much(result: WeekResult) -> bool:
    """Whether the appliances add up to more than the meter counted, beyond noise."""
    share = explained_share(result)
    return share is not None and share > 1 + PAGE.much_left_over


def span(result: WeekResult, window: Window) -> str:
    """The days that have data, in words, by the house's clock."""
    ends = window.seconds(result.start_utc) + result.duration_s - 1
    first = max(int(window.seconds(result.start_utc.min()) // DAY_S), 0)
    last = min(int(ends.max() // DAY_S), window.days - 1)
    if first == last:
        return f"On {window.day(first, '%A %-d %B %Y')}"
    same_year = window.day(first, "%Y") == window.day(last, "%Y")
    begin = window.day(first, "%A %-d %B" if same_year else "%A %-d %B %Y")
    return f"From {begin} to {window.day(last, '%A %-d %B %Y')}"


def three_sentences(result: WeekResult, window: Window) -> tuple[Markup, Markup, Markup]:
    """What was used, by what, and how far that can be trusted."""
    first = Markup("{}, {} {}").format(span(result, window), result.house, _used(result))
    return first, _by_what(result), _how_sure(result)


def _used(result: WeekResult) -> Markup:
    """The energy and its cost; what was fed in more than used is worth money, not a negative cost."""
    amount = words.money(abs(result.metered_kwh * result.tariff_per_kwh), result.currency)
    at = words.money(result.tariff_per_kwh, result.currency)
    counted = words.data(result.metered_kwh, f"{abs(result.metered_kwh):,.1f}\u00a0kWh")
    if result.generated_kwh:
        both = Markup("used {} and generated {}").format(
            words.fixed(result.used_kwh, 1, "kWh"), words.fixed(result.generated_kwh, 1, "kWh")
        )
        if result.metered_kwh < 0:
            return Markup("{}; in all it fed in {}, worth {} at {} per kWh.").format(
                both, counted, amount, at
            )
        return Markup("{}; the meter counted {}, which is {} at {} per kWh.").format(
            both, counted, amount, at
        )
    if result.metered_kwh < 0:
        return Markup("fed in more than it used: {}, worth {} at {} per kWh.").format(counted, amount, at)
    return Markup("used {}, which is {} at {} per kWh.").format(counted, amount, at)


def _by_what(result: WeekResult) -> Markup:
    n = len(result.appliances)
    if not n:
        return Markup("No appliance could be told apart in this week's data, so all of it is unexplained.")
    largest = [
        Markup("<b>{}</b> ({})").format(a.name, words.fixed(a.energy_kwh, 1, "kWh"))
        for a in result.appliances[:3]
    ]
    if explained_share(result) is None:
        explains = Markup("{} found").format("was" if n == 1 else "were")
    elif counted_too_much(result):
        explains = Markup("add{} up to {} more than the meter counted").format(
            "s" if n == 1 else "", words.fixed(-result.unexplained_kwh, 1, "kWh")
        )
    else:
        explains = Markup("explain{} {} of {}").format(
            "s" if n == 1 else "",
            explained_words(result),
            "what was used" if result.generated_kwh else "it",
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
    """Of how many appliances we are sure, what share of their energy these hold, and how the others stand."""
    sure = [a for a in appliances if words.is_sure(a)]
    others = [words.confidence(a) for a in appliances if not words.is_sure(a)]
    counts = [(others.count(word), word) for word in (LIKELY, GUESS)]
    listed = words.listed([f"{n} {'is' if n == 1 else 'are'} {word}" for n, word in counts if n])
    rest = Markup(" ({})").format(listed) if listed else Markup("")
    if not sure:
        none = "very sure of none of them" if appliances else "sure of nothing"
        return Markup("We are {}{}").format(none, rest)
    if len(sure) == len(appliances):
        return Markup("We are very sure of {}").format("it" if len(sure) == 1 else "all of them")
    energy = sum(abs(a.energy_kwh) for a in appliances)
    held = sum(abs(a.energy_kwh) for a in sure) / energy if energy else 0.0
    return Markup("We are very sure of {} of them, which hold{} {} of their energy{}").format(
        words.data(len(sure), str(len(sure))),
        "s" if len(sure) == 1 else "",
        words.percent(held, 0),
        rest,
    )


def cautions(result: WeekResult) -> list[Markup]:
    """What an analyst must know before using any number of the page; empty in a good week."""
    found = []
    # Against the energy that passed the meter either way: a house that feeds in may count to nothing in all.
    passed_kwh = float(np.nansum(np.abs(result.metered_w) * result.duration_s)) / J_PER_KWH
    if -result.unexplained_kwh > PAGE.most_over * passed_kwh:
        found.append(
            Markup(
                "The appliances found add up to {} more than the meter counted. The split between them is "
                "wrong and should not be used."
            ).format(words.fixed(-result.unexplained_kwh, 1, "kWh"))
        )
    certainty = result.certainty
    much = certainty.left_over > PAGE.much_left_over or certainty.relative_residual > PAGE.much_current_left
    if certainty.at_noise_floor is False and much:
        left = Markup(
            "{} of the current is left over, more than the meter's noise: something in the house is not "
            "explained."
        ).format(words.percent(certainty.relative_residual, 0))
        found.append(Markup(" ").join([left, *(escape(sentence) for sentence in certainty.left_over_words)]))
    if much_in_doubt(result):
        found.append(
            Markup("{} of the appliances' energy is a guess; most of all {}.").format(
                words.percent(_doubtful_share(result), 0),
                words.listed([_doubt(a) for a in doubts(result) if words.confidence(a) == GUESS][:3]),
            )
        )
    if result.quality.coverage < PAGE.least_coverage:
        found.append(
            Markup("Only {} of the expected data is there; totals are of that part alone.").format(
                words.percent(result.quality.coverage, 0)
            )
        )
    return found


def doubts(result: WeekResult) -> list[Appliance]:
    """The appliances of which we are not very sure, the largest doubt first: energy that may be wrong."""
    doubtful = [a for a in result.appliances if not words.is_sure(a)]
    return sorted(doubtful, key=lambda a: -_at_stake(a))


def _at_stake(appliance: Appliance) -> float:
    """The energy that is expected to be wrong, in kWh."""
    return abs(appliance.energy_kwh) * (1 - appliance.sure)


def _doubt(appliance: Appliance) -> Markup:
    return Markup("{} ({})").format(appliance.name, words.fixed(appliance.energy_kwh, 1, "kWh"))


def _doubtful_share(result: WeekResult) -> float:
    """The share of the appliances' energy that belongs to appliances more likely wrong than right."""
    energy = sum(abs(a.energy_kwh) for a in result.appliances)
    doubtful = sum(abs(a.energy_kwh) for a in result.appliances if words.confidence(a) == GUESS)
    return doubtful / energy if energy else 0.0


def much_in_doubt(result: WeekResult) -> bool:
    """Whether so much is in doubt that the page must open with it."""
    return _doubtful_share(result) > PAGE.much_doubt


def shared_doubts(result: WeekResult) -> dict[tuple[str, str], int]:
    """How many appliances have the same doubt and what would settle it, most first, where several have.

    What would settle such a doubt is said once for all of them.
    """
    said = Counter((a.doubt, a.would_settle) for a in result.appliances if a.doubt)
    return {both: n for both, n in said.most_common() if n >= PAGE.repeated_doubt}


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


def missing_hours(quality: Quality, zone: tzinfo) -> list[str]:
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
    return [_stretch(s, zone) for s in stretches] + other


def _stretch(hours: Sequence[np.datetime64], zone: tzinfo) -> str:
    end = hours[-1] + np.timedelta64(3600, "s")
    same_day = words.day(hours[0], zone=zone) == words.day(hours[-1], zone=zone)
    to = words.day(end, "%H:%M" if same_day else "%a %-d %b %H:%M", zone)
    n = len(hours)
    return f"{words.day(hours[0], '%a %-d %b %H:%M', zone)}–{to} ({n} hour{'' if n == 1 else 's'})"


def mains_words(result: WeekResult) -> Mapping[str, tuple[float, float, float]]:
    """Least, mean and most of mains frequency and voltage, over the rows that know them."""
    return {
        unit: (float(np.nanmin(v)), float(np.nanmean(v)), float(np.nanmax(v)))
        for unit, v in (("Hz", result.mains_hz), ("V", result.rms_v))
        if np.isfinite(v).any()
    }
