"""Latent feature models X ≈ ZW with binary Z: estimators, every equivalent solution, and the hopper."""

from lfm import synthetic
from lfm.binary_decoder import BinaryDecoder
from lfm.candidates import Candidates, enumerate_candidates, sample_candidates
from lfm.corrections import Correction, CorrectionKind
from lfm.decoding import decode_rows
from lfm.dependencies import Pdc, pairwise_dependencies
from lfm.errors import InvalidInputError, LfmError, NotEquivalentError, RankDeficientError
from lfm.exchange import random_equivalent
from lfm.hermite import lattice_index
from lfm.hopper import Hop, hop
from lfm.identifiability import Identifiability, diagnose
from lfm.kfeatures import KFeatures
from lfm.latent_lasso import LatentLasso
from lfm.lattice import nonbinarity
from lfm.meibp import MEIBP
from lfm.metrics import hamming_error, match_columns, regulariser
from lfm.priors import BernoulliZ, GaussianW, LaplaceW, NonNegativeW, PassiveSign, Prior, SwitchingZ
from lfm.siblings import separate_siblings
from lfm.solution import Solution, transform
from lfm.switching_decoder import SwitchingDecoder
from lfm.twins import merge_twins

__all__ = [
    "MEIBP",
    "BernoulliZ",
    "BinaryDecoder",
    "Candidates",
    "Correction",
    "CorrectionKind",
    "GaussianW",
    "Hop",
    "Identifiability",
    "InvalidInputError",
    "KFeatures",
    "LaplaceW",
    "LatentLasso",
    "LfmError",
    "NonNegativeW",
    "NotEquivalentError",
    "PassiveSign",
    "Pdc",
    "Prior",
    "RankDeficientError",
    "Solution",
    "SwitchingDecoder",
    "SwitchingZ",
    "decode_rows",
    "diagnose",
    "enumerate_candidates",
    "hamming_error",
    "hop",
    "lattice_index",
    "match_columns",
    "merge_twins",
    "nonbinarity",
    "pairwise_dependencies",
    "random_equivalent",
    "regulariser",
    "sample_candidates",
    "separate_siblings",
    "synthetic",
    "transform",
]
