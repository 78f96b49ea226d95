"""What benchmarks/estimators.py measures with: sets by seed, the peers from scikit-learn, and CPU seconds."""

import math
import time
import warnings
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from sklearn.decomposition import NMF, FastICA, MiniBatchDictionaryLearning
from sklearn.exceptions import ConvergenceWarning

import lfm
from lfm.estimators.active_columns import ActiveColumns
from lfm.estimators.base import LatentFeatureEstimator
from lfm.estimators.binary_columns import split_in_two
from lfm.estimators.ibp_evidence import Posterior, State, update_all_rows, update_features, update_scales
from lfm.synthetic import Synthetic

FIRST_SEED = 6000  # developing used seeds below 100, and 5000-5004 were looked at once
N_ROWS = 1000
NOISE = 0.1

Method = Callable[[np.ndarray, int], tuple[lfm.Solution, float]]  # X, K → fit, its objective


class Outcome(NamedTuple):
    """One method on one set."""

    before: float  # E_Hamm of the fit
    after: float  # E_Hamm after the unimodular hop
    fit_s: float  # CPU seconds
    hop_s: float
    objective: float  # the method's own, last round; NaN for peers


def images(K: int, n_pdc: int, number: int, *, nonnegative: bool = False) -> Synthetic:
    rng = np.random.default_rng(FIRST_SEED + number)
    return lfm.synthetic.images(K, N_ROWS, n_pdc, NOISE, rng, nonnegative=nonnegative)


def _thresholded(X: np.ndarray, codes: np.ndarray) -> lfm.Solution:
    """Each column of codes cut in two, W by least squares."""
    Z = np.column_stack([split_in_two(column) for column in codes.T])
    return lfm.Solution(Z, np.linalg.lstsq(Z.astype(float), X, rcond=None)[0])


def fast_ica(X: np.ndarray, K: int) -> lfm.Solution:
    ica = FastICA(K, whiten="unit-variance", random_state=0, max_iter=500).fit(X)
    return _thresholded(X, X @ ica.components_.T)  # uncentred: a feature that is off is then at zero


def nmf(X: np.ndarray, K: int) -> lfm.Solution:
    model = NMF(K, beta_loss="kullback-leibler", solver="mu", max_iter=500, random_state=0)
    return _thresholded(X, model.fit_transform(X))


def dictionary(X: np.ndarray, K: int) -> lfm.Solution:
    model = MiniBatchDictionaryLearning(K, alpha=1.0, max_iter=5, random_state=0)
    return _thresholded(X, model.fit_transform(X))


def estimator(make: Callable[[int], LatentFeatureEstimator]) -> Method:
    """The method that fits make(K)."""

    def fit(X: np.ndarray, K: int) -> tuple[lfm.Solution, float]:
        model = make(K).fit(X)
        return model.solution_, float(model.objective_trace_[-1])

    return fit


def peer(fit: Callable[[np.ndarray, int], lfm.Solution]) -> Method:
    """The method of a peer, which has no objective to compare."""
    return lambda X, K: (fit(X, K), math.nan)


def measure(method: Method, data: Synthetic, *, tolerant: bool) -> Outcome:
    """E_Hamm before and after the hop, with the CPU seconds of both.

    A tolerant hop, for fits with wrong bits, also tries columns that are binary in all but 1% of the rows.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # a fit's last round counts as it is
        start = time.process_time()
        solution, objective = method(data.X, data.truth.K)
        fitted = time.process_time()
    try:
        candidates = lfm.enumerate_candidates(solution.Z, max_nonbinarity=N_ROWS // 100 if tolerant else 0)
        hopped = lfm.hop(solution, priors=[lfm.GaussianW(1.0)], candidates=candidates, X=data.X).solution
    except lfm.RankDeficientError:
        hopped = solution  # a peer with two equal columns: there is nothing to hop from
    end = time.process_time()
    return Outcome(
        lfm.hamming_error(solution.Z, data.truth.Z),
        lfm.hamming_error(hopped.Z, data.truth.Z),
        fitted - start,
        end - fitted,
        objective,
    )


def latent_lasso_of_truth(data: Synthetic) -> float:
    """The minimum of LatentLasso's objective (τ = 1, λ = N) over the true columns and their equivalents."""
    N = len(data.X)
    columns = (data.truth.Z @ lfm.enumerate_candidates(data.truth.Z).U.T).astype(np.uint8)
    active = ActiveColumns.of(columns, np.ones(columns.shape[1]), data.X).descended(1.0, N, 3000)
    return 0.5 * float(np.sum(data.X**2)) + active.objective(1.0, N)


def meibp_of_truth(data: Synthetic) -> float:
    """The evidence bound that MEIBP's updates reach from the truth."""
    K, N = data.truth.K, len(data.X)
    alpha = (1 + K) / (1 + float(np.sum(1 / np.arange(1, N + 1))))
    state = State(data.X, data.truth.Z.copy(), Posterior.at(data.truth.W, np.full(K, NOISE)), NOISE)
    for number in range(20):
        update_features(state)
        update_scales(state, data.X, 1e-9)
        if number >= 10:  # rows move only once the features and their scales stand
            update_all_rows(state, data.X, alpha, np.random.default_rng(0))
    return state.bound(data.X, alpha)
