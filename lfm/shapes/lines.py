"""Lines through the origin on which changes lie: one line for each source, whatever the size of its change.

Changes are measured in units of the background: the noise and what wanders all the time, as one covariance.
In these units a change of one source lies within noise of its line. Each large change proposes its own
line; the one that explains most of the changes still free is refined on them and kept, until none explains
two. A change that is the sum of two lines needs no line of its own: a load whose waveform changes with its
level moves in a plane, and would have a line for each of its levels.

While loads wander, a change of one source holds some of their wander too, and lies near its line, not on it.
So what no sum of lines explains is looked at again, in units of wider and wider backgrounds.
"""

import numpy as np
from scipy.stats import chi2

from lfm.arrays import BoolArray, FloatArray, IntArray
from lfm.thresholds import SHAPES

# Changes that lines are looked for in; of more, an even sample. A week of 120 s rows has up to 2,200 of them.


def background(changes: FloatArray) -> FloatArray:
    """(r, r) covariance of the changes (n, r) in which nothing switches, in units of the noise of a row.

    It is at least that of the noise of two rows, in every direction.
    """
    n, r = changes.shape
    least = min(n, 3 * r)
    limit = chi2.ppf(SHAPES.background_share, r)
    quiet = changes[np.argsort(np.sum(changes**2, axis=1), kind="stable")[: max(n // 3, least)]]
    covariance = _at_least_noise(quiet.T @ quiet / len(quiet))
    for _ in range(SHAPES.line_rounds):
        distance = np.einsum("ij,ij->i", changes @ np.linalg.inv(covariance), changes)
        quiet = changes[distance < limit]
        if len(quiet) < least:
            quiet = changes[np.argsort(distance, kind="stable")[:least]]
        before = covariance
        covariance = _at_least_noise(SHAPES.background_wider * quiet.T @ quiet / len(quiet))
        if np.allclose(before, covariance, rtol=1e-3):
            break
    return covariance


def _at_least_noise(covariance: FloatArray) -> FloatArray:
    """The covariance (r, r) with no eigenvalue below 2, the variance of the difference of two noisy rows."""
    values, vectors = np.linalg.eigh(covariance)
    return np.asarray((vectors * np.maximum(values, 2.0)) @ vectors.T)


def sampled(changes: FloatArray) -> FloatArray:
    """An even sample of at most `max_changes` of the changes (n, r): the cost of a long record stays linear.

    More changes would also pay for more lines: of a load that wanders a little, a long record shows more.
    """
    if len(changes) <= SHAPES.max_changes:
        return changes
    return changes[np.linspace(0, len(changes) - 1, SHAPES.max_changes).astype(np.int64)]


def is_large(changes: FloatArray) -> BoolArray:
    """(n,) which changes (n, r), in units of the background, are more than background."""
    return np.asarray(np.sum(changes**2, axis=1) > chi2.isf(SHAPES.background_probability, changes.shape[1]))


def find_lines(changes: FloatArray) -> FloatArray:
    """(K, r) unit vectors: the lines of the large `changes` (n, r), in units of the background."""
    r = changes.shape[1]
    size2 = np.sum(changes**2, axis=1)
    limit = chi2.isf(SHAPES.far_probability, max(r - 1, 1))
    within = chi2.ppf(SHAPES.in_plane, max(r - 2, 1))
    free = np.ones(len(changes), dtype=np.bool_)
    lines: list[FloatArray] = []
    while len(lines) < SHAPES.max_lines and np.count_nonzero(free) >= 2:
        line, members = _best_line(changes, size2, np.flatnonzero(free), limit)
        if len(members) < 2:
            break
        free[members] = False
        for other in lines:
            rows = np.flatnonzero(free)
            free[rows[_in_plane(changes[rows], size2[rows], line, other, within)]] = False
        lines.append(line)
    return np.array(lines).reshape(len(lines), r)


def find_lines_in_wander(unexplained: FloatArray, changes: FloatArray, known: FloatArray) -> FloatArray:
    """(K, r) unit vectors: new lines near which `unexplained` changes (n, r) lie, among all `changes` (m, r).

    All are in units of the background. The smaller ones of all changes, which wander, set the tolerance.
    Lines that are `known` (L, r) are not new.
    """
    size2 = np.sum(changes**2, axis=1)
    found = [np.zeros((0, changes.shape[1]))]
    for share in SHAPES.wander_shares:
        quiet = changes[size2 <= np.quantile(size2, share)]
        values, vectors = np.linalg.eigh(quiet.T @ quiet / len(quiet))
        shrink = vectors / np.sqrt(np.maximum(values, 1.0))  # the background itself has variance 1
        whitened = unexplained @ shrink
        lines = find_lines(whitened[is_large(whitened)]) @ np.linalg.inv(shrink)
        found.append(lines / np.linalg.norm(lines, axis=1, keepdims=True))
    lines = np.vstack(found)
    is_new = np.max((lines @ known.T) ** 2, axis=1, initial=0.0) < 1 - SHAPES.equal_sine2
    return np.asarray(lines[is_new])


def _in_plane(
    changes: FloatArray, size2: FloatArray, one: FloatArray, other: FloatArray, limit: float
) -> BoolArray:
    """(n,) which changes (n, r) are sums of two lines, neither of which is longer than the change itself.

    Where one line takes back what the other gives, two lines explain anything.
    """
    cosine = float(one @ other)
    outside = 1 - cosine**2
    if outside < SHAPES.same_sine2:
        return np.zeros(len(changes), dtype=np.bool_)
    along, across = changes @ one, changes @ other
    first, second = (along - cosine * across) / outside, (across - cosine * along) / outside
    left2 = size2 - first * along - second * across
    longest2 = np.maximum(first**2, second**2)
    return np.asarray((left2 < limit) & (longest2 <= size2))


def _best_line(
    changes: FloatArray, size2: FloatArray, free: IntArray, limit: float
) -> tuple[FloatArray, IntArray]:
    """The line that explains most among the `free` changes, and those that lie on it."""
    hypothesis = free[np.argsort(-size2[free], kind="stable")][: SHAPES.hypotheses]
    directions = changes[hypothesis] / np.sqrt(size2[hypothesis])[:, None]
    along2 = (changes[free] @ directions.T) ** 2
    # The proposing change is itself noisy: its error grows with the size of what it is compared to.
    on_line = size2[free][:, None] - along2 < limit * (1 + along2 / size2[hypothesis])
    worth = np.where(on_line, np.log1p(along2), 0.0).sum(axis=0)
    best = int(np.argmax(worth))
    line, members = directions[best], free[on_line[:, best]]
    for _ in range(SHAPES.line_rounds):
        values, vectors = np.linalg.eigh(changes[members].T @ changes[members])
        line = vectors[:, -1]
        along2 = (changes[free] @ line) ** 2
        now = free[size2[free] - along2 < limit * (1 + along2 / max(values[-1], 1.0))]
        if len(now) < 2 or np.array_equal(now, members):
            break
        members = now
    return line, members
