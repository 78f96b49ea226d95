import numpy as np
import pytest

from nilm.appliances.certainty import doubts
from nilm.appliances.certainty.doubts import doubt_of, sure_word
from nilm.disaggregate.confidence import SHAPES, WAYS, package_maps
from nilm.disaggregate.evidence import AS_SHAPES, EVIDENCE, OF_THE_FEATURE, OF_THE_WEEK


@pytest.mark.parametrize(
    ("sure", "word"),
    [(0.9, "very sure"), (0.899, "likely"), (0.6, "likely"), (0.599, "a guess"), (0.0, "a guess")],
)
def test_a_probability_has_one_of_three_words(sure: float, word: str) -> None:
    assert sure_word(sure) == word


@pytest.mark.parametrize("way", WAYS)
def test_the_evidence_that_speaks_most_against_it_is_named(way: str) -> None:
    table = package_maps()[way].appliance
    usual = np.zeros(len(EVIDENCE))
    usual[AS_SHAPES] = way == SHAPES
    for name, centre in zip(table.evidence, table.centre, strict=True):
        usual[EVIDENCE.index(name)] = centre
    for name, weight in zip(table.evidence, table.weight, strict=True):
        odd = usual.copy()
        odd[EVIDENCE.index(name)] -= 3 * np.sign(weight)
        if name in OF_THE_WEEK:  # no doubt about one appliance
            continue
        words, settle = doubt_of(odd, 0.3)
        assert words == doubts._WORDS[name][0]
        assert settle


def test_where_we_are_very_sure_nothing_is_to_settle() -> None:
    assert doubt_of(np.zeros(len(EVIDENCE)), 0.95) == ("", "")


def test_every_piece_of_evidence_has_its_words() -> None:
    assert doubts._WORDS.keys() == OF_THE_FEATURE.keys()
