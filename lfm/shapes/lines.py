"""Lines through the origin on which changes lie: one line for each source, whatever the size of its change.

Changes are measured in units of the background: the noise and what wanders all the time, as one covariance.
In these units a change of one source lies within noise of its line. Each large change proposes its own line;
the one that explains most of the changes still free is refined on them and kept, until none explains two.
"""

import numpy as np
from scipy.stats import chi2

from lfm.arrays import BoolArray, FloatArray, IntArray

MAX_LINES = 60
MAX_CHANGES = 3000  # that lines are looked for in; of more, an even sample
_HYPOTHESES = 1500
_FAR = 1e-5  # probability that noise alone takes a change of a line so far off it
_QUIET = 1e-4  # probability that the background alone makes a change so large
_WITHIN = 0.95  # share of the background inside the limit that its covariance is measured in
_WIDER = 1.1  # what that limit cuts off the covariance
_ROUNDS = 10


def background(changes: FloatArray) -> FloatArray:
    """(r, r) covariance of the changes (n, r) in which nothing switches."""
    n, r = changes.shape
    least = min(n, 3 * r)
    limit = chi2.ppf(_WITHIN, r)
    tiny = 1e-9 * np.eye(r) * max(float(np.mean(changes**2)), np.finfo(np.float64).tiny)
    quiet = changes[np.argsort(np.sum(changes**2, axis=1), kind="stable")[: max(n // 3, least)]]
    covariance = quiet.T @ quiet / len(quiet) + tiny
    for _ in range(_ROUNDS):
        distance = np.einsum("ij,ij->i", changes @ np.linalg.inv(covariance), changes)
        quiet = changes[distance < limit]
        if len(quiet) < least:
            quiet = changes[np.argsort(distance, kind="stable")[:least]]
        before, covariance = covariance, _WIDER * quiet.T @ quiet / len(quiet) + tiny
        if np.allclose(before, covariance, rtol=1e-3):
            break
    return covariance


def is_large(changes: FloatArray) -> BoolArray:
    """(n,) which changes (n, r), in units of the background, are more than background."""
    return np.asarray(np.sum(changes**2, axis=1) > chi2.isf(_QUIET, changes.shape[1]))


def find_lines(changes: FloatArray) -> FloatArray:
    """(K, r) unit vectors: the lines of the large `changes` (n, r), in units of the background."""
    if len(changes) > MAX_CHANGES:
        changes = changes[np.linspace(0, len(changes) - 1, MAX_CHANGES).astype(np.int64)]
    r = changes.shape[1]
    size2 = np.sum(changes**2, axis=1)
    limit = chi2.isf(_FAR, max(r - 1, 1))
    free = np.ones(len(changes), dtype=np.bool_)
    lines: list[FloatArray] = []
    while len(lines) < MAX_LINES and np.count_nonzero(free) >= 2:
        line, members = _best_line(changes, size2, np.flatnonzero(free), limit)
        if len(members) < 2:
            break
        lines.append(line)
        free[members] = False
    return np.array(lines).reshape(len(lines), r)


def _best_line(
    changes: FloatArray, size2: FloatArray, free: IntArray, limit: float
) -> tuple[FloatArray, IntArray]:
    """The line that explains most among the `free` changes, and those that lie on it."""
    hypothesis = free[np.argsort(-size2[free], kind="stable")][:_HYPOTHESES]
    directions = changes[hypothesis] / np.sqrt(size2[hypothesis])[:, None]
    along2 = (changes[free] @ directions.T) ** 2
    # The proposing change is itself noisy: its error grows with the size of what it is compared to.
    on_line = size2[free][:, None] - along2 < limit * (1 + along2 / size2[hypothesis])
    worth = np.where(on_line, np.log1p(along2), 0.0).sum(axis=0)
    best = int(np.argmax(worth))
    line, members = directions[best], free[on_line[:, best]]
    for _ in range(_ROUNDS):
        values, vectors = np.linalg.eigh(changes[members].T @ changes[members])
        line = vectors[:, -1]
        along2 = (changes[free] @ line) ** 2
        now = free[size2[free] - along2 < limit * (1 + along2 / max(values[-1], 1.0))]
        if len(now) < 2 or np.array_equal(now, members):
            break
        members = now
    return line, members
