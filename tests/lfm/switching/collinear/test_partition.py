import itertools

import numpy as np
import pytest
from scipy import stats
from scipy.special import betaln, gammaln

from lfm.switching.collinear.partition import (
    Activations,
    _cuts,
    best_partition,
    best_partition_and_spread,
    context_of,
    doublings,
    nearest_alike,
    settle,
)
from lfm.switching.thresholds import THRESHOLDS


def some(
    size, *, duration=None, company=None, context=None, usual=None, together=False, drift=0.01
) -> Activations:
    """Activations of these sizes, alike and one after the other unless said otherwise."""
    R = len(size)
    first = np.zeros(R, dtype=np.int64) if together else 10 * np.arange(R)
    zeros = np.zeros(R, dtype=np.int64)
    context = np.zeros((R, 1), dtype=np.int64) if context is None else np.asarray(context, np.int64)
    return Activations(
        size=np.asarray(size, dtype=float),
        variance=np.full(R, drift**2),
        duration=zeros if duration is None else np.asarray(duration),
        company=zeros if company is None else np.asarray(company),
        context=context,
        usual=np.full(context.shape[1], 0.5) if usual is None else np.asarray(usual),
        first=first,
        end=first + 4,
    )


def evidence_in_closed_form(label: np.ndarray, a: Activations) -> float:
    """The same from marginal likelihoods class by class, with no recursion."""
    total = 0.0
    for c in np.unique(label):
        mine = label == c
        n = int(mine.sum())
        cov = np.diag(a.variance[mine]) + a.mean_spread**2
        total += stats.multivariate_normal(np.ones(n), cov).logpdf(a.size[mine])
        total += gammaln(n)  # (n − 1)! of the Chinese restaurant with concentration 1
        for values in (a.duration[mine], a.company[mine]):
            counts = np.bincount(values, minlength=THRESHOLDS.n_bins)
            total += gammaln(THRESHOLDS.n_bins / 2) - gammaln(n + THRESHOLDS.n_bins / 2)
            total += np.sum(gammaln(counts + 0.5) - gammaln(0.5))
        for column, usual in zip(a.context[mine].T, a.usual, strict=True):
            told = column[column >= 0]
            on, off = int(told.sum()), int((1 - told).sum())
            own = betaln(on + 0.5, off + 0.5) - betaln(0.5, 0.5)
            total += max(own, on * np.log(usual) + off * np.log(1 - usual))
    return float(total)


@pytest.mark.parametrize("seed", range(5))
def test_evidence_is_the_marginal_likelihood(seed: int) -> None:
    rng = np.random.default_rng(seed)
    R = 9
    a = some(
        1 + 0.05 * rng.standard_normal(R),
        duration=rng.integers(0, THRESHOLDS.n_bins, R),
        company=rng.integers(0, THRESHOLDS.n_bins, R),
        context=rng.integers(-1, 2, (R, 3)),
        usual=rng.uniform(0.1, 0.9, 3),
    )
    label = rng.integers(0, 3, R)
    assert settle(label, a, sweeps=0)[1] == pytest.approx(evidence_in_closed_form(label, a))


@pytest.mark.parametrize("seed", range(5))
def test_no_partition_of_seven_is_better(seed: int) -> None:
    rng = np.random.default_rng(seed)
    a = some(
        1 + np.repeat([0.0, 0.03], [3, 4]) + 0.01 * rng.standard_normal(7), duration=[0, 0, 0, 3, 3, 3, 3]
    )
    best = max(settle(np.array(label), a, sweeps=0)[1] for label in itertools.product(range(4), repeat=7))
    assert best_partition(np.zeros(7, dtype=np.int64), a)[1] == pytest.approx(best)


def test_sizes_that_only_scatter_are_one_class() -> None:
    size = 1 + 0.01 * np.random.default_rng(0).standard_normal(60)
    assert best_partition(np.zeros(60, dtype=np.int64), some(size))[0].max() == 0


def test_durations_tell_sizes_apart_that_overlap() -> None:
    rng = np.random.default_rng(0)
    truth = np.repeat([0, 1], 30)
    size = 1 + 0.03 * truth + 0.02 * rng.standard_normal(60)
    apart = some(size, duration=np.where(truth, 4, 1), company=np.where(truth, 2, 6), drift=0.02)
    found, _ = best_partition(np.zeros(60, dtype=np.int64), apart)
    assert found.max() == 1
    assert np.array_equal(found, truth) or np.array_equal(found, 1 - truth)


def test_two_at_the_same_time_are_two() -> None:
    found, _ = best_partition(np.array([0, 1]), some([1.0, 1.0], together=True))
    assert found[0] != found[1]


def test_cuts_have_members_on_both_sides_and_hold_the_widest_gap_and_every_mark() -> None:
    a = some(
        [1.0, 1.01, 1.02, 1.5, 1.51, 9.0], duration=[0, 1, 1, 2, 2, 7], context=[[0], [1], [1], [0], [1], [1]]
    )
    members = np.array([True, True, True, True, True, False])
    cuts = {tuple(cut[members].tolist()) for cut in _cuts(members, a)}
    assert (False, False, False, True, True) in cuts  # by the widest gap of sizes
    assert (False, True, True, False, True) in cuts  # by the context
    assert (False, True, True, True, True) in cuts  # by duration above 0
    assert all(0 < sum(cut) < 5 for cut in cuts)


@pytest.mark.parametrize("seed", range(5))
def test_no_move_of_one_activation_betters_a_settled_partition(seed: int) -> None:
    rng = np.random.default_rng(seed)
    R = 12
    a = some(
        1 + 0.04 * rng.integers(0, 3, R) + 0.01 * rng.standard_normal(R), duration=rng.integers(0, 3, R)
    )._replace(first=rng.integers(0, 40, R))
    a = a._replace(end=a.first + 5)
    clash = (a.first[:, None] < a.end) & (a.first < a.end[:, None])
    start = np.arange(R) % 4
    start = np.array(
        [
            start[i] if not any(clash[i, j] and start[j] == start[i] for j in range(i)) else 4 + i
            for i in range(R)
        ]
    )
    found, evidence = settle(start, a)
    assert evidence == pytest.approx(evidence_in_closed_form(found, a))
    for i, c in itertools.product(range(R), range(found.max() + 2)):
        other = found.copy()
        other[i] = c
        if not any(clash[i, j] and other[j] == c for j in range(R) if j != i):
            assert evidence_in_closed_form(other, a) <= evidence + 1e-6
    assert not any(clash[i, j] and found[i] == found[j] for i, j in itertools.combinations(range(R), 2))


def test_two_classes_of_one_size_are_joined_and_two_of_different_sizes_are_not() -> None:
    one = 1 + 0.01 * np.random.default_rng(0).standard_normal(40)
    cut = (one > np.median(one)).astype(np.int64)  # as a decoder does that finds no place for drift
    assert len(np.unique(best_partition(cut, some(one))[0])) == 1
    apart = np.where(cut == 1, one + 0.1, one)
    np.testing.assert_array_equal(best_partition(cut, some(apart))[0], cut)


def test_of_runs_of_one_size_in_one_run_of_another_the_first_tells_that_it_is_on() -> None:
    other = np.array([0, 0, 1, 1, 1, 1, 0, 0, 0, 1], dtype=np.uint8)[:, None]
    first = np.array([2, 4, 5, 7, 9])
    size = np.array([1.0, 1.0, 2.0, 1.0, 1.0])
    assert context_of(other, first, size, first, 0.1)[:, 0].tolist() == [1, -1, 1, 0, 1]
    assert context_of(other, first[::-1], size[::-1], first[::-1], 0.1)[:, 0].tolist() == [1, 0, 1, -1, 1]


def test_what_says_nothing_is_no_evidence() -> None:
    a = some([1.0, 1.01, 1.0, 1.01], context=[[1], [0], [-1], [-1]])
    told = some([1.0, 1.01, 1.0, 1.01], context=[[1], [0], [1], [0]])
    label = np.array([0, 1, 0, 1])
    merged = np.zeros(4, dtype=np.int64)

    def gain(of: Activations) -> float:
        return settle(label, of, sweeps=0)[1] - settle(merged, of, sweeps=0)[1]

    assert gain(told) > gain(a)


def test_the_nearest_alike_is_measured_from_end_to_begin() -> None:
    size, begin, stop = np.array([1.0, 1.0, 2.0, 1.01]), np.array([0, 10, 14, 30]), np.array([4, 12, 20, 31])
    assert nearest_alike(size, begin, stop, 0.05).tolist() == [6, 6, np.inf, 18]


def test_a_bin_is_a_doubling() -> None:
    last = THRESHOLDS.n_bins - 1
    assert doublings(np.array([0.1, 1, 1.9, 2, 7.9, 8, np.inf])).tolist() == [0, 0, 0, 1, 2, 3, last]


def test_sizes_that_drift_more_than_was_said_are_one_class_at_a_wider_spread() -> None:
    size = 1 + 0.03 * np.random.default_rng(2).standard_normal(60)
    a = some(size, drift=0.01)
    label, wide = best_partition_and_spread(np.zeros(60, dtype=np.int64), a)
    assert label.max() == 0
    assert np.sqrt(wide.variance / a.variance).tolist() == pytest.approx([3.0] * 60)
