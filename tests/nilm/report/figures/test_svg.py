import re
from concurrent.futures import ThreadPoolExecutor
from xml.etree import ElementTree

import matplotlib
import pytest
from matplotlib.figure import Figure

from nilm.report.figures.svg import MUTED, TEXT, hue_for_matplotlib, inline_svg


def drawn(name: str = "one", label: str = "current (A)") -> str:
    def draw(figure: Figure) -> None:
        axes = figure.add_axes((0.2, 0.2, 0.7, 0.7))
        axes.plot([0, 1, 2], [50.01, 50.02, 50.03], color=hue_for_matplotlib(3), label=label)
        axes.plot([0, 1, 2], [50.03, 50.02, 50.01], color=MUTED)
        axes.plot([0, 1, 2], [50.03, 50.02, 50.02], color=TEXT)
        axes.set_ylabel(label)
        axes.legend()

    return str(inline_svg(draw, name=name, size=(340, 230), title=f"title {label}", text="words"))


def test_colours_are_those_of_the_page() -> None:
    svg = drawn()
    assert "var(--c3)" in svg
    assert "var(--muted)" in svg
    assert "currentColor" in svg
    assert not re.search(r"#0000[0-9a-f]{2}", svg)


def test_numbers_for_the_reader_keep_their_decimals() -> None:
    texts = re.findall(r"<text[^>]*>([^<]*)</text>", drawn())
    assert "50.010" in texts
    coordinates = re.findall(r' d="([^"]*)"', drawn())
    assert not re.search(r"\d\.\d\d", "".join(coordinates))


def test_it_is_well_formed_and_says_what_it_shows() -> None:
    root = ElementTree.fromstring(drawn())
    assert root.get("role") == "img"
    assert root.get("viewBox") == "0 0 340 230"
    assert [root[0].tag, root[0].text, root[1].tag, root[1].text] == [
        "title",
        "title current (A)",
        "desc",
        "words",
    ]


def test_two_figures_share_no_id_and_every_reference_has_one() -> None:
    one, two = drawn("one"), drawn("two")
    ids = [set(re.findall(r' id="([^"]+)"', svg)) for svg in (one, two)]
    assert ids[0].isdisjoint(ids[1])
    for svg, known in zip((one, two), ids, strict=True):
        references = re.findall(r'url\(#([^)]+)\)|href="#([^"]+)"', svg)
        assert references
        assert {a or b for a, b in references} <= known


def test_what_draws_nothing_is_left_out_and_groups_that_mean_something_stay() -> None:
    def draw(figure: Figure) -> None:
        axes = figure.add_axes((0.2, 0.2, 0.7, 0.7))
        axes.scatter([0, 1], [0, 1], gid="dots")
        axes.plot([0, 1], [0, 1], linestyle="none", marker="o", color=TEXT)

    svg = str(inline_svg(draw, name="one", size=(340, 230), title="title", text="words"))
    assert "<g>" not in svg
    assert 'style="fill: none"/>' not in svg
    marked = ElementTree.fromstring(svg).findall(".//g[@clip-path]")
    assert [len(group.findall("use")) for group in marked] == [2, 2]


def test_the_same_drawing_gives_the_same_text_and_names_no_font() -> None:
    assert drawn() == drawn()
    assert "font-family" not in drawn()
    assert "<style" not in drawn()


@pytest.mark.parametrize("label", ["<script>alert(1)</script>", "$x_1$", "a\"b'c", "&amp;"])
def test_texts_are_escaped_and_are_no_mathematics(label: str) -> None:
    root = ElementTree.fromstring(drawn(label=label))
    assert [e.text for e in root.iter("text")].count(label) == 2
    assert not list(root.iter("script"))


def test_threads_do_not_mix_their_figures_or_leave_settings_behind() -> None:
    before = dict(matplotlib.rcParams)
    names = [f"figure-{n}" for n in range(8)]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(drawn, names))
    assert together == [drawn(name) for name in names]
    assert dict(matplotlib.rcParams) == before
