"""Features and codes of a sequence of segments, where each activation has a size of its own.

Owns the alternation of tracking and refitting, and the number of features. The edges propose features and the
evidence of the tracked segments decides: edges alone know neither that what went on goes off again nor that
it does so by the same amount, and with many features nearly every edge is also a sum of others.
"""

from typing import NamedTuple

import numpy as np

from lfm.arrays import BinaryArray, BoolArray, FloatArray, IntArray
from lfm.least_squares import least_squares
from lfm.switching.collinear.twins import twin_pairs
from lfm.switching.edges import varying_edge_types
from lfm.switching.features import choose, description_length, starting_features
from lfm.switching.relations import find_relations
from lfm.switching.search import Fit, Report, standardised, varies
from lfm.switching.segments import Segments, find_states, is_transition
from lfm.switching.skipped_rows import codes_of_neighbours
from lfm.switching.thresholds import THRESHOLDS
from lfm.switching.tracking import Variation, track_segments


class _Tracked(NamedTuple):
    """A fit, and where it costs what."""

    fit: Fit
    paid: FloatArray  # (S,) nats of each segment


def search_varying(
    segments: Segments, *, most: int, drift: float | None, max_iter: int, report: Report
) -> Fit:
    """The fit of at most `most` features whose activations vary by `drift` (None: as measured).

    It begins with the features that describe the edges most briefly, takes in every other type of edge that
    gains, exchanges features that switch together for their sums and differences where that gains, and leaves
    out every feature that does not.
    """
    steady = ~is_transition(segments)
    kept = segments.only(steady)
    guess = Variation(drift or THRESHOLDS.first_drift, THRESHOLDS.first_shape)
    types, measured = varying_edge_types(kept, guess)
    wider, least = THRESHOLDS.wider, THRESHOLDS.least_variation
    variation = Variation(drift or max(wider * measured.drift, least), max(wider * measured.shape, least))
    if variation.drift < 0.5 * guess.drift:  # the guess was too wide: it may have merged types
        types, _ = varying_edge_types(kept, variation)
    relations = find_relations(types)
    price = description_length(types)
    choice = choose(types, relations, price=price, n_rows=int(segments.length.sum()), most=most)
    toward = segments.length @ segments.mean
    chosen = choice.sets[int(np.argmin(choice.charges))]
    G, level = starting_features(types, relations, chosen, find_states(kept), toward, kept.follows)
    found = _alternate(segments, G, level, variation, price=price, max_iter=max_iter)
    report(found.fit.objective)
    turn = np.where(types.vector @ toward < 0, -1.0, 1.0)[:, None]
    free = np.array([t >= types.n_candidates or not int(chosen) >> t & 1 for t in range(len(turn))])
    free &= types.times >= 2
    of_segment = np.full(len(steady), -1)
    of_segment[steady] = types.of_segment
    found = _grown(segments, found, types.vector * turn, of_segment, free, variation, price=price, most=most)
    found = _exchanged(segments, found, toward, variation, price=price)
    found = _pruned(segments, found, variation, price=price)
    found = min(
        found,
        _alternate(segments, found.fit.G, found.fit.level, variation, price=price, max_iter=max_iter),
        key=lambda tracked: tracked.fit.objective,
    )
    report(found.fit.objective)
    return found.fit


def _grown(
    segments: Segments,
    found: _Tracked,
    vector: FloatArray,
    of_segment: IntArray,
    free: BoolArray,
    variation: Variation,
    *,
    price: float,
    most: int,
) -> _Tracked:
    """The fit with every type of edge (T, r) as a feature more that is `free` (T,) and gains its price.

    A type is worth trying where its edges, found by `of_segment` (S,), cost more by the price of a feature
    than edges usually do with one switch more. It must gain more than the difference of two features would
    that often switch in one row, an oven that waits for a water heater: a switch less, and the variation of
    one feature less, wherever it switches.
    """
    free = free.copy()
    failures = 0
    while len(found.fit.G) < most and failures < THRESHOLDS.failures:
        usual = np.median(found.paid) + THRESHOLDS.switch_nats
        extra = np.maximum(found.paid - usual, 0.0)
        seen = of_segment >= 0
        gain = np.bincount(of_segment[seen], weights=extra[seen], minlength=len(vector))
        gain[~free] = 0.0
        t = int(np.argmax(gain)) if len(gain) else -1
        if t < 0 or gain[t] <= price:
            break
        free[t] = False
        G = np.vstack([found.fit.G, vector[t]])
        tried = _alternate(segments, G, found.fit.level, variation, price=price, max_iter=0)
        saved = 2 * THRESHOLDS.switch_nats * int(_switches(tried.fit.Z)[-1])
        if tried.fit.objective < found.fit.objective - saved:
            found = tried
        else:
            failures += 1
    return found


def _exchanged(
    segments: Segments, found: _Tracked, toward: FloatArray, variation: Variation, *, price: float
) -> _Tracked:
    """The fit with features that mostly switch together with another one replaced, where the evidence gains.

    By their sum with that one if both go on or off, by their difference if one goes on while the other goes
    off, turned `toward` (r,). A slow cooker can be seen as a towel rail and something more that switch in one
    row, a television as a computer that goes on while something goes off: most edges are explained either
    way, and the evidence of the whole record decides.
    """
    fit = found.fit
    change = np.diff(fit.Z.astype(np.int64), axis=0)[segments.follows[1:]]
    up, down = (change > 0).astype(np.int64), (change < 0).astype(np.int64)
    switches = np.count_nonzero(change, axis=0)
    pairs = []
    for sign, together in ((1.0, up.T @ up + down.T @ down), (-1.0, up.T @ down + down.T @ up)):
        mostly = (2 * together > switches) & ~np.eye(len(switches), dtype=bool)
        pairs += [(together[i, j] / switches[j], i, j, sign) for i, j in np.argwhere(mostly).tolist()]
    for _, i, j, sign in sorted(pairs, reverse=True):
        G, level = fit.G.copy(), fit.level
        G[j] += sign * G[i]
        if G[j] @ toward < 0:
            G[j], level = -G[j], level + fit.G[j]
        tried = _alternate(segments, G, level, variation, price=price, max_iter=0)
        if tried.fit.objective < fit.objective:
            return _exchanged(segments, tried, toward, variation, price=price)
    return found


def _pruned(segments: Segments, found: _Tracked, variation: Variation, *, price: float) -> _Tracked:
    """The fit without the features that the others can do without.

    Each switch of a feature costs one more where it is a sum of others: so those are tried whose switches
    cost less than the feature. Of two within reach of one size the nearest are tried as one in between.
    """
    pairs = twin_pairs(found.fit.G, 2 * THRESHOLDS.reach_sigmas * variation.drift)
    for i, j, _ in [pair for pair in pairs if pair[2] > 0][: THRESHOLDS.failures]:
        used = _switches(found.fit.Z)[[i, j]].astype(np.float64)
        G = found.fit.G.copy()
        G[i] = used @ G[[i, j]] / max(used.sum(), 1.0)
        one = _alternate(
            segments, np.delete(G, j, axis=0), found.fit.level, variation, price=price, max_iter=0
        )
        if one.fit.objective < found.fit.objective:
            return _pruned(segments, one, variation, price=price)
    switches = _switches(found.fit.Z)
    left = list(range(len(switches)))
    failures = 0
    for k in np.argsort(switches, kind="stable").tolist():
        if THRESHOLDS.switch_nats * switches[k] > price or failures == THRESHOLDS.failures:
            break
        fit, at = found.fit, left.index(k)
        mostly_on = 2 * (segments.length @ fit.Z[:, at]) > segments.length.sum()
        level = fit.level + fit.G[at] if mostly_on else fit.level
        fewer = np.delete(fit.G, at, axis=0)
        shorter = _alternate(segments, fewer, level, variation, price=price, max_iter=0)
        if shorter.fit.objective < fit.objective:
            found = shorter
            left.remove(k)
        else:
            failures += 1
    return found


def _switches(Z: BinaryArray) -> IntArray:
    """(J,) how often each column of Z changes."""
    return np.asarray(np.count_nonzero(np.diff(Z.astype(np.int8), axis=0), axis=0), dtype=np.int64)


def _alternate(
    segments: Segments,
    G: FloatArray,
    level: FloatArray,
    variation: Variation,
    *,
    price: float,
    max_iter: int,
) -> _Tracked:
    """Track and refit in turn as long as the evidence gains; without a refit where max_iter is 0."""
    track = track_segments(segments, G, level, variation)
    converged = False
    for _ in range(max_iter):
        used = varies(track.Z)
        new_G, new_level = refit_varying(
            segments.mean, segments, track.Z[:, used], track.glitch, G[used], variation
        )
        again = track_segments(segments, new_G, new_level, variation)
        converged = again.cost + price * len(new_G) >= track.cost + price * len(G) - 1.0
        if converged:
            break
        G, level, track = new_G, new_level, again
    freedom = (len(segments.start) - np.count_nonzero(track.glitch)) * segments.mean.shape[1]
    misfit = standardised(track.chi2, freedom)
    Z = codes_of_neighbours(segments, track.Z, track.glitch)
    fit = Fit(G, level, Z, track.glitch, track.cost + price * len(G), misfit, converged, variation)
    return _Tracked(fit, track.paid)


def refit_varying(
    means: FloatArray,
    segments: Segments,
    Z: BinaryArray,
    outlier: BoolArray,
    G: FloatArray,
    variation: Variation,
) -> tuple[FloatArray, FloatArray]:
    """Features (J, d) and level (d,) by generalised least squares on the edges of the segments' means (S, d).

    An edge has the noise of its two means, and the variation of what switches in it (G, in units of the
    noise): so the drift of a heavy load does not leak into small ones, as plain least squares would have it.
    """
    inside = np.flatnonzero(segments.follows & ~outlier & ~np.roll(outlier, 1))
    change = Z[inside].astype(np.float64) - Z[inside - 1]
    noise = 1.0 / segments.length[inside] + 1.0 / segments.length[inside - 1]
    size = (variation.drift**2 + variation.shape**2) * np.sum(G**2, axis=1)
    edges = means[inside] - means[inside - 1]
    features = least_squares(change, edges, weight=1.0 / (noise + change**2 @ size / G.shape[1])).W
    weight = ~outlier / (1.0 / segments.length + Z @ size)
    level = weight @ (means - Z @ features) / weight.sum()
    return features, level
