"""Latent feature models X ≈ ZW with binary Z: estimators, every equivalent solution, and the hopper."""

from lfm import synthetic
from lfm.binary_decoder import BinaryDecoder
from lfm.decoding import decode_rows
from lfm.dependencies import Pdc, pairwise_dependencies
from lfm.errors import InvalidInputError, LfmError, NotEquivalentError, RankDeficientError
from lfm.metrics import hamming_error, match_columns, regulariser
from lfm.solution import Solution, transform

__all__ = [
    "BinaryDecoder",
    "InvalidInputError",
    "LfmError",
    "NotEquivalentError",
    "Pdc",
    "RankDeficientError",
    "Solution",
    "decode_rows",
    "hamming_error",
    "match_columns",
    "pairwise_dependencies",
    "regulariser",
    "synthetic",
    "transform",
]
