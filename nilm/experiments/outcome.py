"""What one experiment gives back: numbers, a figure, and the words that set it beside the paper."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import pandas as pd
from matplotlib.figure import Figure


@dataclass(frozen=True)
class Outcome:
    """The result of one experiment, before it is written to files."""

    title: str
    paper: str  # what the paper shows, in words and numbers
    ours: str  # what came out here
    differs: tuple[str, ...]  # what differs and why
    tables: Mapping[str, pd.DataFrame]  # the numbers; the first one is the main table
    draw: Callable[[Figure], None] | None = None  # draws the figure; called once per format
    size: tuple[int, int] = (1080, 420)  # of the figure, in CSS pixels
    figure_alt: str = ""
    seeds: str = ""  # which seeds the reported sets were drawn from


@dataclass(frozen=True)
class Scale:
    """How much of an experiment to run: everything, or a first look."""

    quick: bool = False
    real_data: str | None = None  # folder of data that is not ours, where it exists
    uk_dale: str | None = None  # Parquet of house 1, 2015-wk01, where a copy of UK-DALE was ingested
    extra_labels: tuple[str, ...] = field(default_factory=tuple)  # label files a user passes to Table 2

    def pick(self, full: int, quick: int) -> int:
        """`full` or `quick`, as asked."""
        return quick if self.quick else full
