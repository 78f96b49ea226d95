"""What makes one explanation of a house more plausible than another: the priors of the hop, and its choice.

Owns the choice of priors and their words, and what happens where two of them disagree. Their arithmetic on Z
and W is `lfm.priors`; the two that only a house needs are here: the sign of power where something feeds in,
and the evidence of on/off times.
"""

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaln

from lfm import (
    BernoulliZ,
    Candidates,
    GaussianW,
    Hop,
    PassiveSign,
    Prior,
    Solution,
    SwitchingZ,
    find_signal,
    hop,
    hop_tolerantly,
)
from lfm.arrays import BinaryArray, FloatArray
from nilm.thresholds import HOUSE

HOUSE_WORDS = "appliances switch rarely, are off more than on, and consume"
FEED_IN_WORDS = (
    "appliances switch rarely, are off more than on, and consume, except what feeds in against the voltage "
    "as a generator does"
)
PAPER_WORDS = "waveforms are as small as possible (the paper's prior)"


@dataclass(frozen=True)
class ConsumesOrFeedsIn(PassiveSign):
    """PassiveSign that lets a generator pass: current straight against the voltage is free."""

    def project(self, W: FloatArray) -> FloatArray:
        """Mean power of each row, then the row itself, (m, 1 + D)."""
        return np.column_stack([super().project(W), W])

    def features(self, W: FloatArray) -> FloatArray:
        """Price max(0, −watts) · weight of each row, 0 where its cosine with the voltage is a generator's."""
        watts, current = W[:, 0], W[:, 1:]
        apparent = np.linalg.norm(current, axis=1) * np.linalg.norm(self.voltage) / len(self.voltage)
        generator = watts <= HOUSE.generator_cosine * apparent
        return self.weight * np.where(generator, 0.0, np.maximum(0.0, -watts))


@dataclass(frozen=True)
class ConsumesInTheSun(PassiveSign):
    """PassiveSign where watts are known to `sunny_w` only: so many negative ones are free.

    Beside a generator the watts of a small appliance that runs by day can come out negative by mistake. What
    lies beyond twice as many costs no more: one wrong feature is not shared out among right ones.
    """

    def features(self, W: FloatArray) -> FloatArray:
        """Weight · (−watts − sunny_w), at least 0 and at most weight · sunny_w, of each row."""
        return np.asarray(self.weight * np.clip(-W[:, 0] - HOUSE.sunny_w, 0.0, HOUSE.sunny_w))


@dataclass(frozen=True)
class StateEvidence(Prior):
    """−log P(Z) with each column a two-state Markov chain whose switching rates are integrated out.

    Each rate has a Beta(½, ½) prior; a transition across a gap does not count. No weights: it is what the
    on/off times alone say, and by it two explanations of the same data are compared.
    """

    gap_before: NDArray[np.bool_] = field(repr=False)  # (N,)

    def columns(self, Z: BinaryArray) -> FloatArray:
        """−log of the marginal probability of each column."""
        follows = ~self.gap_before[1:]
        before, after = Z[:-1][follows].astype(np.int64), Z[1:][follows].astype(np.int64)
        on = before.sum(axis=0)
        off = len(before) - on
        goes_off = (before * (1 - after)).sum(axis=0)
        goes_on = ((1 - before) * after).sum(axis=0)
        half = 0.5
        log_probability = (
            betaln(half + goes_off, half + on - goes_off)
            + betaln(half + goes_on, half + off - goes_on)
            - 2 * betaln(half, half)
        )
        return np.asarray(-log_probability, dtype=np.float64)


def house_priors(
    gap_before: NDArray[np.bool_], voltage_v: FloatArray, *, feeds_in: bool, in_the_sun: bool = False
) -> tuple[list[Prior], str]:
    """The priors of a house, and what they say in words; gap_before (N,), voltage_v (D,).

    `in_the_sun`: a generator that varies was taken out, and left the watts of the others in some doubt.
    """
    return [
        SwitchingZ(HOUSE.switch_nats, gap_before),
        BernoulliZ(HOUSE.row_on_nats),
        _sign(voltage_v, feeds_in=feeds_in, in_the_sun=in_the_sun),
    ], FEED_IN_WORDS if feeds_in else HOUSE_WORDS


def evidence_priors(
    gap_before: NDArray[np.bool_], voltage_v: FloatArray, *, feeds_in: bool, in_the_sun: bool = False
) -> tuple[list[Prior], str]:
    """The evidence of on/off times and the sign of power, and what they say in words."""
    words = "the on and off times are the least surprising, and appliances consume"
    return [StateEvidence(gap_before), _sign(voltage_v, feeds_in=feeds_in, in_the_sun=in_the_sun)], words


def paper_priors() -> tuple[list[Prior], str]:
    """The paper's prior, and what it says in words."""
    return [GaussianW(1.0)], PAPER_WORDS


class Setting(NamedTuple):
    """What the house's priors need to know of a week."""

    gap_before: NDArray[np.bool_]  # (N,)
    voltage_v: FloatArray  # (D,)
    feeds_in: bool
    in_the_sun: bool  # a generator that varies was taken out


def most_plausible(
    start: Solution,
    X: FloatArray,
    prior: str,
    setting: Setting,
    *,
    strict: Candidates | None,
    rng: np.random.Generator,
    notes: list[str],
) -> tuple[Hop, str]:
    """The hop from `start` by the prior "house" or "paper", and in words what decided.

    `strict` are the candidates of a hop to exact equivalents; None tolerates wrong bits in the start. Where
    the house's priors make the on and off times less plausible than the start's, their evidence decides.
    """
    sign = {"feeds_in": setting.feeds_in, "in_the_sun": setting.in_the_sun}

    def hop_by(priors: list[Prior]) -> Hop:
        if strict is None:
            return hop_tolerantly(start, X=X, priors=priors, rng=rng)
        return hop(start, priors=priors, X=X, rng=rng, candidates=strict)

    if prior == "paper":
        priors, words = paper_priors()
        return hop_by(priors), words
    priors, words = house_priors(setting.gap_before, setting.voltage_v, **sign)
    evidence, evidence_words = evidence_priors(setting.gap_before, setting.voltage_v, **sign)

    def surprise(solution: Solution) -> float:  # with the fit, where the hop may change it
        return price(evidence, solution) + (solution.residual(X) ** 2 if strict is None else 0.0)

    found = hop_by(priors)
    # Where a sign is in doubt the evidence knows no difference; rounding must not make one.
    tie = 1e-6 if setting.in_the_sun else 0.0
    if surprise(found.solution) > surprise(start) + tie:
        notes.append("The usual weights would have made the on and off times less plausible.")
        return hop_by(evidence), evidence_words
    return found, words


def price(priors: list[Prior], solution: Solution) -> float:
    """The sum of all parts for a solution; smaller is more plausible."""
    return sum(prior.value(solution) for prior in priors)


def feeds_in(current_a: FloatArray, voltage_v: FloatArray, gap_before: NDArray[np.bool_]) -> bool:
    """Whether power flows out of the house in more than one row in a thousand: a generator.

    current_a and voltage_v (N, D), gap_before (N,). Less than `feed_in_w` counts, or less than the noise
    of the readings makes of nothing where that is more.
    """
    active_w = np.mean(current_a * voltage_v, axis=1)
    noise_w = find_signal(current_a, gap_before).noise * float(
        np.sqrt(np.mean(voltage_v**2) / voltage_v.shape[1])
    )
    least_w = min(HOUSE.feed_in_w, -HOUSE.feed_in_sigmas * noise_w)
    return int(np.count_nonzero(active_w < least_w)) > max(1, int(HOUSE.feed_in_rows * len(active_w)))


def _sign(voltage_v: FloatArray, *, feeds_in: bool, in_the_sun: bool) -> Prior:
    kind = ConsumesOrFeedsIn if feeds_in else ConsumesInTheSun if in_the_sun else PassiveSign
    return kind(HOUSE.negative_watt_nats, voltage_v)
