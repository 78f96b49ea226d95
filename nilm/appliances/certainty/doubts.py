"""How sure an appliance is in one of three words, why it is in doubt, and what would settle it.

Owns the words for a probability and the sentences for the evidence of `nilm.disaggregate.evidence`; which
piece speaks most against an appliance is found by `nilm.disaggregate.confidence`.
"""

from typing import NamedTuple

from lfm.arrays import FloatArray
from nilm.appliances.thresholds import APPLIANCES
from nilm.disaggregate.confidence import strongest_doubt

VERY_SURE, LIKELY, GUESS = "very sure", "likely", "a guess"
_SURE = ((APPLIANCES.very_sure, VERY_SURE), (APPLIANCES.likely, LIKELY), (0.0, GUESS))


class Doubt(NamedTuple):
    """What speaks against an appliance, and what would settle it; both empty where nothing does."""

    words: str
    would_settle: str


_ALONE = "switch it on alone for ten minutes, while little else runs"
_LONGER = "another week of data, in which it runs more often"
_SUBMETER = "a submeter on it for a week"
_LOOK = "count in the house what is of this kind"
_WORDS = {
    "log share of energy": ("it is small beside the rest of the house", _SUBMETER),
    "log watts": ("its power is seen in many parts of other loads", _ALONE),
    "log number of runs": ("how often it ran fits other explanations as well", _LONGER),
    "varies": ("its power varies, so parts of other loads may be in it", _ALONE),
    "support": ("other explanations fit the measurements as well", _ALONE),
    "share of time": ("it runs so much of the time that it is hard to see alone", "an hour with it off"),
    "log residual while on, in units of its own current": (
        "much is left unexplained while it runs",
        _SUBMETER,
    ),
    "log residual while on over while off": ("more is left unexplained while it runs than else", _SUBMETER),
    "log distance to the nearest waveform": ("another appliance has nearly the same waveform", _LOOK),
    "log distance to the nearest other or sum or difference of two": (
        "one or two others together draw nearly the same current",
        _ALONE,
    ),
    "log distance to all mixtures of others": ("a mixture of others explains it nearly as well", _ALONE),
    "share of its time with the nearest on too": ("the appliance most like it mostly runs too", _ALONE),
    "share of its changes in which it moves alone": ("it hardly ever switches alone", _ALONE),
    "log misfit of its changes": ("its switching does not fit well", _ALONE),
    "log drift of its size between runs": ("its size differs from run to run", _SUBMETER),
    "log bias of its size": ("its size does not fit the readings well", _SUBMETER),
    "log trace of its waveform while it is off": ("something like it is seen while it is off", _LOOK),
    "most common changes with another": ("it changes whenever another appliance does", _ALONE),
    "spread of its size": ("its power varies widely", _ALONE),
    "log distance to the voltage's shape": ("its waveform is one that many appliances share", _LOOK),
    "log number of others alike": ("several appliances have its waveform", _LOOK),
    "log seconds of a usual run": (
        "its runs are so short that few readings see them",
        "readings at shorter intervals",
    ),
    "always on": ("it never switches, so nothing shows what belongs to it", "an hour with everything off"),
}


def sure_word(sure: float) -> str:
    """A probability as one of three words."""
    return next(word for least, word in _SURE if sure >= least)


def doubt_of(evidence: FloatArray, sure: float) -> Doubt:
    """The largest doubt about an appliance with this evidence (E,), or none where it is very sure."""
    if sure_word(sure) == VERY_SURE:
        return Doubt("", "")
    return Doubt(*_WORDS[strongest_doubt(evidence)])
