"""Which features of a week cannot be told apart from its data, and why.

Owns the rules; the words of the page are `nilm.appliances.certainty.words`'. What belongs together is known
as a sum, and how that sum is divided is a guess.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from lfm import Pdc
from lfm.arrays import FloatArray
from nilm.appliances.inrush import Start, start_apart
from nilm.appliances.thresholds import APPLIANCES
from nilm.disaggregate.disaggregation import Disaggregation
from nilm.disaggregate.evidence import EVIDENCE

SAME, MIXED, TOGETHER, DRIFT, VARY = "same current", "mixed up", "always together", "drift", "vary alike"
_DRIFT_COLUMN = EVIDENCE.index("log drift of its size between runs")


class Bond(NamedTuple):
    """Two features, i < j, that cannot be told apart."""

    i: int
    j: int
    why: str


class Inseparable(NamedTuple):
    """Features that cannot be told apart."""

    members: tuple[int, ...]
    bonds: tuple[Bond, ...]


def indistinguishable(
    found: Disaggregation, starts: Sequence[Start | None] = (), *, duration_s: FloatArray | None = None
) -> list[Inseparable]:
    """Groups of features that this week's data does not separate, with what binds them.

    `starts` tells how each feature starts, where the recordings timed it. `duration_s` (M,) is the time that
    each row stands for; None where all stand for the same.
    """
    alike = [
        bond
        for bond in _alike(found, duration_s)
        if not (bond.why in (SAME, DRIFT) and starts and start_apart(starts[bond.i], starts[bond.j]))
    ]
    mixed_up = _mixed_up(found, telling_pairs(found, duration_s))
    bonds = sorted({(b.i, b.j): b for b in [*mixed_up, *alike]}.values())
    K = found.solution.K
    group = list(range(K))  # a label per feature; joining relabels, K is small
    for i, j, _ in bonds:
        low, high = sorted((group[i], group[j]))
        group = [low if label == high else label for label in group]
    members = [tuple(k for k in range(K) if group[k] == label) for label in sorted(set(group))]
    return [Inseparable(m, tuple(b for b in bonds if b.i in m)) for m in members if len(m) > 1]


def telling_pairs(found: Disaggregation, duration_s: FloatArray | None = None) -> list[tuple[int, int, Pdc]]:
    """The dependencies that say something: none with a feature that is (nearly) always on.

    Everything else runs only while such a feature runs.
    """
    share = np.average(found.solution.Z, axis=0, weights=duration_s)
    steady = set(np.flatnonzero(share >= APPLIANCES.always_on_share).tolist())
    return [(i, j, pdc) for i, j, pdc in found.diagnosis.dependencies if not {i, j} & steady]


def _alike(found: Disaggregation, duration_s: FloatArray | None) -> list[Bond]:
    """Pairs whose waveforms, or whose times, are the same."""
    W, on = found.solution.W, found.solution.Z == 1
    length = np.maximum(np.linalg.norm(W, axis=1), np.finfo(np.float64).tiny)
    cosine = W @ W.T / np.outer(length, length)
    drift = 10.0 ** found.evidence[:, _DRIFT_COLUMN]
    lasts_s = np.ones(len(on)) if duration_s is None else duration_s
    share = np.average(on, axis=0, weights=lasts_s)
    first_varying = found.solution.K - found.n_varying
    bonds = []
    for i in range(len(W)):
        for j in range(i + 1, len(W)):
            if max(share[i], share[j]) >= APPLIANCES.always_on_share:
                continue
            apart = float(np.linalg.norm(W[i] - W[j])) / max(length[i], length[j])
            spread = float(np.hypot(drift[i] * length[i], drift[j] * length[j])) / max(length[i], length[j])
            both, either = lasts_s @ (on[:, i] & on[:, j]), lasts_s @ (on[:, i] | on[:, j])
            if i >= first_varying:
                if cosine[i, j] > APPLIANCES.same_shape:
                    bonds.append(Bond(i, j, VARY))
            elif apart <= APPLIANCES.same_waveform:
                bonds.append(Bond(i, j, SAME))
            elif (
                j < first_varying
                and both == 0
                and cosine[i, j] > APPLIANCES.same_shape
                and apart <= min(APPLIANCES.drifts * spread, APPLIANCES.most_drift)
            ):
                bonds.append(Bond(i, j, DRIFT))
            elif both >= (1 - APPLIANCES.most_outside) * either > 0:
                bonds.append(Bond(i, j, TOGETHER))
    return bonds


def _mixed_up(found: Disaggregation, telling: Sequence[tuple[int, int, Pdc]]) -> list[Bond]:
    """Each feature in doubt with the one that it is most likely mixed up with.

    Where a dependency binds i and j, their exclusive or is also a column that explains the data: z_j − z_i if
    i runs only while j does, z_i + z_j if they never run together. The fewer its switches, the likelier. What
    is very sure by all its evidence is in no doubt, though other divisions fit as well.
    """
    Z = found.solution.Z
    pairs = [(i, j) for i, j, _ in telling]
    bonds = []
    in_doubt = (found.hop.support < APPLIANCES.sure_support) & (found.sure < APPLIANCES.very_sure)
    for k in np.flatnonzero(in_doubt).tolist():
        partners = [i + j - k for i, j in pairs if k in (i, j)]
        if partners:
            other = min(partners, key=lambda p: int(np.count_nonzero(np.diff(Z[:, k] ^ Z[:, p]))))
            bonds.append(Bond(min(k, other), max(k, other), MIXED))
    return bonds
