from pathlib import Path

import pytest

from nilm.experiments.hop_shown import show_hop


def test_the_hop_turns_what_is_upside_down_and_the_page_says_so(tmp_path: Path) -> None:
    page = tmp_path / "hopper.html"
    (shown,) = show_hop(page, seeds=[103])
    before, equivalent, tolerant, product = shown.answers
    assert before.upside_down > 0
    assert equivalent.upside_down == tolerant.upside_down == product.upside_down == 0
    assert equivalent.residual_a == pytest.approx(before.residual_a)
    assert tolerant.residual_a <= before.residual_a
    assert tolerant.hamming < before.hamming / 5
    text = page.read_text(encoding="utf-8")
    assert "It was upside down" in text
    assert f"<strong>{before.upside_down}" in text or f"{before.upside_down} features have" in text
    show_hop(tmp_path / "again.html", seeds=[103])
    assert (tmp_path / "again.html").read_text(encoding="utf-8") == text
