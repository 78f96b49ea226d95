from . import synthetic
from .equivalence.candidates import Candidates, enumerate_candidates, sample_candidates
from .equivalence.dependencies import Pdc, pairwise_dependencies
from .equivalence.hermite import lattice_index
from .equivalence.identifiability import Identifiability, diagnose
from .equivalence.lattice import nonbinarity
from .equivalence.tableau import random_equivalent
from .errors import InvalidInputError, LfmError, NotEquivalentError, RankDeficientError
from .estimators.binary_decoder import BinaryDecoder
from .estimators.decoding import decode_rows
from .estimators.kfeatures import KFeatures
from .estimators.latent_lasso import LatentLasso
from .estimators.meibp import MEIBP
from .hopper.corrections import Correction, CorrectionKind
from .hopper.hop import Hop, hop
from .metrics import hamming_error, match_columns, regulariser
from .priors import BernoulliZ, GaussianW, LaplaceW, NonNegativeW, PassiveSign, Prior, SwitchingZ
from .solution import Solution, transform
from .switching.decoder import SwitchingDecoder
from .switching.siblings import separate_siblings
from .switching.twins import merge_twins

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
