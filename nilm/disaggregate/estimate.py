"""From rows of current to a first solution: the estimators by name, and what makes their answer ready to hop.

Owns the call of an estimator, and two repairs of its answer: features that the data cannot separate are
joined, and features too small to be an appliance are left out.
"""

import warnings
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from lfm import LfmError, Solution, diagnose
from lfm.arrays import FloatArray
from nilm.appliances.thresholds import APPLIANCES
from nilm.choices import estimator_class
from nilm.errors import NothingUsableError, OptionError

Callback = Callable[[int, float], None]


def fit_estimator(
    X: FloatArray,
    gaps: NDArray[np.bool_],
    name: str,
    components: int | str,
    seed: int,
    callback: Callback | None,
    notes: list[str],
    *,
    least_change_a: float,
) -> Solution:
    """The estimator's solution; `notes` grows by what an analyst should know.

    `least_change_a` amperes in each point of a cycle are noise to the switching decoder.
    """
    K = components
    if name != "switching":
        if K == "auto":
            K = fit_estimator(X, gaps, "switching", "auto", seed, None, [], least_change_a=least_change_a).K
            notes.append(f"The number of appliances, {K}, was found by the switching decoder.")
        K = min(int(K), len(X))
    model = estimator_class(name)(n_components=K, random_state=seed, callback=callback)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # it becomes a note below
        try:
            if name == "switching":
                model.set_params(min_noise=least_change_a).fit(X, gap_before=gaps)
            else:
                model.fit(X)
        except LfmError as error:
            raise OptionError(f"the estimator {name} cannot explain this data: {error}") from error
    if not model.converged_:
        notes.append(f"The estimator stopped before it had converged, after {model.n_iter_} rounds.")
    found: Solution = model.solution_
    return found


def independent(solution: Solution, notes: list[str]) -> Solution:
    """The same product with independent columns of Z: a column that others add up to is folded into them."""
    if not solution.Z.any():
        raise NothingUsableError("no appliance is ever on in this data: every row is explained by nothing")
    if np.linalg.matrix_rank(solution.Z.astype(np.float64)) == solution.K:
        return solution
    dependences = diagnose(solution.Z).column_dependences
    W = solution.W.copy()
    for dependence in dependences:
        for k, coefficient in dependence.terms:
            W[k] += float(coefficient) * solution.W[dependence.column]
    kept = np.setdiff1d(np.arange(solution.K), [d.column for d in dependences])
    notes.append(
        "Features that were never on, or always on together with others, were joined to those, because this "
        f"data cannot separate them: {len(dependences)} of {solution.K}."
    )
    return Solution(solution.Z[:, kept], W[kept])


def without_traces(solution: Solution, notes: list[str]) -> Solution:
    """The solution without features too small to be an appliance; the largest always stays.

    Less than `least_shape_a` RMS is what an estimator makes of noise or of a load that changes slowly.
    """
    rms_a = np.sqrt(np.mean(solution.W**2, axis=1))
    kept = np.flatnonzero((rms_a >= APPLIANCES.least_shape_a) | (rms_a == rms_a.max()))
    if len(kept) == solution.K:
        return solution
    notes.append(
        f"Features of less than {APPLIANCES.least_shape_a * 1000:g} mA (about 1 W) were left out as traces: "
        f"{solution.K - len(kept)}. What they held is in the unexplained energy."
    )
    return Solution(solution.Z[:, kept], solution.W[kept])
