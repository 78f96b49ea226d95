"""What a change of the code costs a hypothesis, and which changes are tried.

Owns the innermost loop of `lfm.switching.tracking`. Appliances switch one at a time as a rule, and in a house
of many now and then four in one row. Every change of up to two features is tried that can come into the beam;
where none of them explains a segment, the best of one and of two are tried together with every other two. By
twos, because one load that comes while a like one goes leaves little, and either alone would be far off.
"""

import numpy as np

from lfm.arrays import FloatArray, IntArray
from lfm.compiled import compiled
from lfm.switching.tracks.beam import evidence, offer
from lfm.switching.tracks.hypotheses import Beam, Hypotheses, Model, Scratch

Changes = tuple[int, int, int, int]


@compiled
def _explain(
    code: int,
    changes: Changes,
    innovation: tuple[float, float],
    along: FloatArray,
    fresh: float,
    gram: FloatArray,
    u_inner: FloatArray,
    w_inner: FloatArray,
    flip: FloatArray,
    products: FloatArray,
    terms: IntArray,
    variances: FloatArray,
    matrix: FloatArray,
    rank: int,
) -> tuple[int, float, float]:
    """(code, uᵀS⁻¹u, log det S) after up to four features changed (−1: none).

    `innovation` is what `innovate` returned, `along` (J,) the hypothesis's row and `fresh` that of a new
    activation; the arrays are fields of `Model` and `Scratch`. They come one by one because taking a field
    out of a record costs as much here as a third of the arithmetic.
    """
    square, scale = innovation
    changed = 0
    for i in range(4):
        k = changes[i]
        if k >= 0:
            changed |= 1 << k
            square += 2 * u_inner[0, k] + w_inner[0, k, k]
            scale += flip[k]
            for j in range(i):
                square += 2 * w_inner[0, changes[j], k]
    after = code ^ changed
    m = 0
    for k in range(len(gram)):
        if after >> k & 1:
            variance = fresh if changed >> k & 1 else along[k]
            terms[m] = k
            variances[m] = variance
            product = u_inner[1, k]
            for c in changes:
                if c >= 0:
                    product += w_inner[1, k, c]
            products[k] = product
            m += 1
    misfit, determinant = evidence(max(square, 0.0), products, gram, terms, variances, m, scale, rank, matrix)
    return after, misfit, determinant


@compiled
def _least_nats(
    code: int,
    changes: Changes,
    innovation: tuple[float, float],
    spread: float,
    fresh: float,
    gram: FloatArray,
    u_inner: FloatArray,
    w_inner: FloatArray,
    flip: FloatArray,
    rank: int,
) -> float:
    """A lower bound of ½(uᵀS⁻¹u + log det S) after the changes, at a fraction of its price.

    No eigenvalue of S is above `scale` + Σ along_k‖g_k‖², the trace of what the sizes add, nor below `scale`.
    `spread` is that sum for what is on before the changes.
    """
    square, scale = innovation
    for i in range(4):
        k = changes[i]
        if k >= 0:
            square += 2 * u_inner[0, k] + w_inner[0, k, k]
            scale += flip[k]
            if not code >> k & 1:
                spread += fresh * gram[k, k]
            for j in range(i):
                square += 2 * w_inner[0, changes[j], k]
    return float(0.5 * (max(square, 0.0) / (scale + spread) + rank * np.log(scale)))


@compiled
def _offer_each(
    tried: IntArray,
    model: Model,
    hypotheses: Hypotheses,
    h: int,
    beam: Beam,
    n: int,
    innovation: tuple[float, float],
    prices: tuple[float, float],
    hopeless: float,
    keep: bool,
    scratch: Scratch,
) -> tuple[int, float]:
    """The length of the beam after the changes `tried` (T, 4) were offered to it, and the least cost of them.

    A change that cannot come into the beam, or within `hopeless` nats of its best, is not looked at, unless
    `keep` asks for the best of them all, in scratch.
    """
    rank = model.G.shape[1]
    switch, baseline = prices
    code, cost, along = hypotheses.code[h], hypotheses.cost[h], hypotheses.along[h]
    fresh, gram = model.along, model.gram
    u_inner, w_inner, flip = scratch.u_inner, scratch.w_inner, scratch.flip
    costs = beam.cost
    scratch.kept_cost[:] = np.inf
    spread = 0.0
    for k in range(len(gram)):
        if code >> k & 1:
            spread += along[k] * gram[k, k]
    best = np.inf
    for q in range(len(tried)):
        changes = (tried[q, 0], tried[q, 1], tried[q, 2], tried[q, 3])
        paid = cost - 0.5 * baseline
        for k in changes:
            if k >= 0:
                paid += switch
        if n > 0 and not keep:
            least = _least_nats(code, changes, innovation, spread, fresh, gram, u_inner, w_inner, flip, rank)
            worst = costs[n - 1] if n == len(costs) else np.inf
            if paid + least > min(costs[0] + hopeless, worst):
                continue
        after, misfit, determinant = _explain(
            code,
            changes,
            innovation,
            along,
            fresh,
            gram,
            u_inner,
            w_inner,
            flip,
            scratch.products,
            scratch.terms,
            scratch.variances,
            scratch.matrix,
            rank,
        )
        total = paid + 0.5 * (misfit + determinant)
        best = min(best, total)
        n = offer(beam.code, costs, beam.parent, beam.skipped, n, after, total, h, False)
        if keep:
            _keep(scratch.kept, scratch.kept_cost, changes, total)
    return n, best


@compiled
def offer_changes(
    model: Model,
    hypotheses: Hypotheses,
    h: int,
    beam: Beam,
    n: int,
    innovation: tuple[float, float],
    prices: tuple[float, float],
    hopeless: float,
    extend: bool,
    scratch: Scratch,
) -> int:
    """The length of the beam after the successors of hypothesis h were offered to it.

    `innovation` is what `innovate` returned; `prices` are what a switch costs and log det of the noise alone.
    Where `extend` allows it, changes of three and four features are tried as long as those of fewer cost more
    than so many switches and the misfit that noise makes.
    """
    rank, switch = model.G.shape[1], prices[0]
    n, one = _offer_each(
        model.singles, model, hypotheses, h, beam, n, innovation, prices, hopeless, False, scratch
    )
    n, two = _offer_each(
        model.pairs, model, hypotheses, h, beam, n, innovation, prices, hopeless, False, scratch
    )
    best = min(one, two) - hypotheses.cost[h]
    for size in range(3, 5):
        if not extend or best <= size * switch + 0.5 * rank:
            break
        fewer = model.singles[1:] if size == 3 else model.pairs
        n, _ = _offer_each(fewer, model, hypotheses, h, beam, n, innovation, prices, hopeless, True, scratch)
        more = _with_two_more(scratch.kept, scratch.kept_cost, size - 2, model.pairs)
        n, found = _offer_each(
            more, model, hypotheses, h, beam, n, innovation, prices, hopeless, False, scratch
        )
        best = min(best, found - hypotheses.cost[h])
    return n


@compiled
def _with_two_more(kept: IntArray, costs: FloatArray, size: int, pairs: IntArray) -> IntArray:
    """(n, 4) each kept change of `size` features with each pair of others."""
    found = np.full((len(kept) * len(pairs), 4), -1, dtype=np.int64)
    n = 0
    for p in range(len(kept)):
        for q in range(len(pairs)):
            new = costs[p] < np.inf
            for i in range(size):
                new = new and kept[p, i] != pairs[q, 0] and kept[p, i] != pairs[q, 1]
            if new:
                found[n, :size] = kept[p, :size]
                found[n, size : size + 2] = pairs[q, :2]
                n += 1
    return found[:n]


@compiled
def _keep(kept: IntArray, costs: FloatArray, changes: Changes, cost: float) -> None:
    """Puts the changes into the sorted list of the cheapest ones, if they belong there."""
    p = len(costs) - 1
    if cost >= costs[p]:
        return
    while p > 0 and costs[p - 1] > cost:
        costs[p] = costs[p - 1]
        kept[p] = kept[p - 1]
        p -= 1
    costs[p] = cost
    for i in range(4):
        kept[p, i] = changes[i]
