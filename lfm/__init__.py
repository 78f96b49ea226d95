"""Latent feature models X ≈ ZW with binary Z: estimators, every equivalent solution, and the hopper."""

from lfm import synthetic
from lfm.equivalence.candidates import Candidates, enumerate_candidates, sample_candidates
from lfm.equivalence.counting import BaseCount, count_bases
from lfm.equivalence.dependencies import Pdc, pairwise_dependencies
from lfm.equivalence.hermite import lattice_index
from lfm.equivalence.identifiability import Identifiability, diagnose
from lfm.equivalence.lattice import nonbinarity
from lfm.equivalence.tableau import random_equivalent
from lfm.errors import InvalidInputError, LfmError, NotEquivalentError, RankDeficientError
from lfm.estimators.binary_decoder import BinaryDecoder
from lfm.estimators.decoding import decode_rows
from lfm.estimators.kfeatures import KFeatures
from lfm.estimators.latent_lasso import LatentLasso
from lfm.estimators.meibp import MEIBP
from lfm.hopper.corrections import Correction, CorrectionKind
from lfm.hopper.hop import Hop, hop
from lfm.least_squares import least_squares
from lfm.metrics import hamming_error, match_columns, regulariser
from lfm.priors import BernoulliZ, GaussianW, LaplaceW, NonNegativeW, PassiveSign, Prior, SwitchingZ
from lfm.runs import runs_of_ones
from lfm.solution import Solution, transform
from lfm.switching.decoder import SwitchingDecoder
from lfm.switching.siblings import separate_siblings
from lfm.switching.twins import merge_twins
from lfm.version import __version__

__all__ = [
    "MEIBP",
    "BaseCount",
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
    "__version__",
    "count_bases",
    "decode_rows",
    "diagnose",
    "enumerate_candidates",
    "hamming_error",
    "hop",
    "lattice_index",
    "least_squares",
    "match_columns",
    "merge_twins",
    "nonbinarity",
    "pairwise_dependencies",
    "random_equivalent",
    "regulariser",
    "runs_of_ones",
    "sample_candidates",
    "separate_siblings",
    "synthetic",
    "transform",
]
