"""Every budget of the exact searches: what it means, its unit, and its origin.

None of them can make an answer wrong. Where one is spent, the answer says that it is not complete or exact.
"""

from typing import NamedTuple


class EquivalenceBudgets(NamedTuple):
    """The budgets of `lfm.equivalence`. What a caller may choose has its default here."""

    # Candidates (candidates, lattice, hermite)
    max_nodes: int = 2_000_000
    """Nodes that the search for candidates may visit. Origin: set by hand, for time."""
    max_index: int = 2**20
    """Lattice index up to which fractions are searched for. Origin: a Z with a higher one is not made by
    features that switch on and off."""
    early_per_level: int = 64
    """Rows of Z that are checked early, for each level of the search. Origin: set by hand; any may be left
    out."""
    vectorised_index: int = 2**31
    """Lattice index below which all rows are tested at once. Origin: their coordinates then fit into int64
    with room to spare."""
    minors: int = 8
    """Minors whose common divisor bounds the lattice index. Origin: more of them rarely lower it."""

    # Counting (counting)
    max_flats: int = 50_000
    """Flats of the candidates that are counted. Origin: set by hand, for time."""
    max_numbers: int = 20_000_000
    """Numbers in the contracted vectors of all flats. Origin: 160 MB."""
    contracted: int = 4
    """Columns that are contracted one after another for a lower bound. Origin: set by hand, for time."""


BUDGETS = EquivalenceBudgets()
"""The values in use."""
