from . import synthetic
from .equivalence.candidates import Candidates, enumerate_candidates, sample_candidates
from .equivalence.counting import BaseCount, count_bases
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
from .hopper.tolerant import hop_tolerantly
from .least_squares import least_squares
from .metrics import hamming_error, match_columns, regulariser
from .priors import BernoulliZ, GaussianW, LaplaceW, NonNegativeW, PassiveSign, Prior, SwitchingZ
from .runs import runs_of_ones
from .shapes.decoder import ShapeDecoder
from .shapes.fans import find_fans
from .shapes.leftover import share_out
from .shapes.machines import join_machines
from .shapes.noise import at_noise_floor, find_signal
from .shapes.parts import split_track
from .shapes.scales import split_scales
from .solution import Solution, transform
from .switching.collinear.siblings import separate_siblings
from .switching.collinear.twins import merge_twins
from .switching.decoder import SwitchingDecoder
from .switching.segments import level_changes
from .version import __version__

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
    "ShapeDecoder",
    "Solution",
    "SwitchingDecoder",
    "SwitchingZ",
    "__version__",
    "at_noise_floor",
    "count_bases",
    "decode_rows",
    "diagnose",
    "enumerate_candidates",
    "find_fans",
    "find_signal",
    "hamming_error",
    "hop",
    "hop_tolerantly",
    "join_machines",
    "lattice_index",
    "least_squares",
    "level_changes",
    "match_columns",
    "merge_twins",
    "nonbinarity",
    "pairwise_dependencies",
    "random_equivalent",
    "regulariser",
    "runs_of_ones",
    "sample_candidates",
    "separate_siblings",
    "share_out",
    "split_scales",
    "split_track",
    "synthetic",
    "transform",
]
