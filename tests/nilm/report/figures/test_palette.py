import itertools

import numpy as np
import pytest
from numpy.typing import NDArray

from nilm.report.figures import palette

# Machado, Oliveira and Fernandes (2009), severity 1, on linear RGB; none, protan, deutan, tritan.
EYES = {
    "none": np.eye(3),
    "protan": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deutan": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.01182, 0.04294, 0.968881],
    ],
    "tritan": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.3039],
    ],
}
THEMES = {"light": (palette.LIGHT, palette.LIGHT_GROUND), "dark": (palette.DARK, palette.DARK_GROUND)}


def linear(colour: str) -> NDArray[np.float64]:
    rgb = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    return np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)


def oklab(rgb: NDArray[np.float64]) -> NDArray[np.float64]:
    to_cone = [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
    ]
    to_lab = [
        [0.2104542553, 0.7936177850, -0.0040720468],
        [1.9779984951, -2.4285922050, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.8086757660],
    ]
    return np.array(to_lab) @ np.cbrt(np.array(to_cone) @ rgb)


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("eye", EYES)
def test_any_two_colours_are_told_apart_by_every_eye(theme: str, eye: str) -> None:
    seen = [oklab(np.clip(np.array(EYES[eye]) @ linear(c), 0, 1)) for c in THEMES[theme][0]]
    # 0.1 in OKLab is far above the just noticeable difference of about 0.02.
    assert min(np.linalg.norm(a - b) for a, b in itertools.combinations(seen, 2)) > 0.1


@pytest.mark.parametrize("theme", THEMES)
def test_every_colour_stands_out_from_the_page(theme: str) -> None:
    colours, ground = THEMES[theme]

    def luminance(colour: str) -> float:
        return float(linear(colour) @ [0.2126, 0.7152, 0.0722])

    for colour in colours:
        darker, lighter = sorted([luminance(colour), luminance(ground)])
        assert (lighter + 0.05) / (darker + 0.05) >= 3, colour


def test_styles_are_all_different_for_the_first_thirty_two() -> None:
    assert len({palette.style_of(n) for n in range(32)}) == 32
    assert palette.style_of(32) == palette.style_of(0)
    assert palette.style_of(9).hatch
    assert palette.style_of(9).colour == palette.style_of(1).colour == "var(--c1)"
