import itertools

import numpy as np
import pytest

from lfm.shapes.coding import (
    Code,
    Lines,
    _bin_of,
    _bin_sizes,
    _bins,
    _learnt_prices,
    _left_over,
    _next_line,
    _refitted,
    choose_lines,
)

R = 5
TAIL = R + 4.0  # degrees of freedom of what is left: ν = 4


def unit(vectors):
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def lines_of(K, seed=0, price=5.0):
    direction = unit(np.random.default_rng(seed).standard_normal((K, R)))
    return Lines(direction, np.full((K, len(_bin_sizes())), price))


def cost_of(change, lines, members, size):
    """The price of a sum of lines for a change, by its definition."""
    left = change - size @ lines.direction[members]
    prices = sum(lines.price[k, _bin_of(x)] for k, x in zip(members, size, strict=True))
    return prices + 0.5 * TAIL * np.log1p(left @ left / TAIL)


def best_sum(change, lines):
    """The cheapest sum of up to three lines, of all there are, each with sizes by least squares."""
    costs = []
    for m in range(4):
        for members in itertools.combinations(range(len(lines.direction)), m):
            size = np.linalg.lstsq(lines.direction[list(members)].T, change)[0] if m else np.zeros(0)
            costs.append(cost_of(change, lines, list(members), size))
    return min(costs)


def coded(members, sizes):
    """The code of one change after another, with these lines and sizes."""
    line, size = -np.ones((len(members), 3), dtype=np.int64), np.zeros((len(members), 3))
    for i, (own, amounts) in enumerate(zip(members, sizes, strict=True)):
        line[i, : len(own)], size[i, : len(own)] = own, amounts
    return Code(np.zeros(len(members)), line, size)


def test_a_size_falls_into_the_bin_that_holds_it_with_either_sign():
    sizes = _bin_sizes()
    assert np.all(np.diff(np.log(sizes)) == pytest.approx(0.04))
    middle = np.arange(len(sizes))
    np.testing.assert_array_equal(_bins(sizes), middle)
    np.testing.assert_array_equal(_bins(-sizes * 1.015), middle)
    np.testing.assert_array_equal([_bin_of(-x) for x in sizes * 0.985], middle)
    assert [_bin_of(x) for x in (0.0, 1e-9, 1e9)] == [0, 0, len(sizes) - 1]
    np.testing.assert_array_equal(_bins(np.array([0.0, 1e9])), [0, len(sizes) - 1])


@pytest.mark.parametrize("m", [0, 1, 2])
@pytest.mark.parametrize("seed", range(10))
def test_the_next_line_is_the_one_that_leaves_least_with_those_chosen(m, seed):
    rng = np.random.default_rng(seed)
    direction = unit(rng.standard_normal((6, R)))
    change = rng.standard_normal(R)
    chosen = rng.permutation(6)[:m]

    def left_by(members):
        basis = direction[members].T
        return change - basis @ np.linalg.lstsq(basis, change)[0] if len(members) else change

    others = [k for k in range(6) if k not in chosen]
    expected = min(others, key=lambda k: np.linalg.norm(left_by([*chosen, k])))
    places = np.array([*chosen, 0, 0, 0])[:3]
    assert _next_line(left_by(chosen), direction, direction @ direction.T, places, m) == expected


def test_a_line_inside_the_span_of_those_chosen_is_no_next_line():
    direction = unit(np.array([[1.0, 0, 0], [0, 1.0, 0], [1.0, 1.0, 0], [1.0, -1.0, 0]]))
    gram = direction @ direction.T
    left = np.array([0.3, 0.4, 2.0])
    assert _next_line(left, direction, gram, np.array([0, 1, 0]), 2) == -1
    assert _next_line(left, direction[[0, 0]], np.ones((2, 2)), np.array([0, 0, 0]), 1) == -1


@pytest.mark.parametrize("seed", range(20))
def test_a_code_costs_what_its_sum_does_and_its_sizes_fit_best(seed):
    rng = np.random.default_rng(seed)
    lines = lines_of(4, seed)
    lines = Lines(lines.direction, rng.uniform(1, 6, lines.price.shape))
    changes = rng.standard_normal((6, R)) * rng.uniform(1, 30, (6, 1))
    code = lines.code(changes)
    for change, cost, line, size in zip(changes, *code, strict=True):
        used = line >= 0
        assert size[~used].tolist() == [0.0] * int((~used).sum())
        assert cost == pytest.approx(cost_of(change, lines, line[used], size[used]))
        fitted = np.linalg.lstsq(lines.direction[line[used]].T, change)[0] if used.any() else np.zeros(0)
        np.testing.assert_allclose(size[used], fitted, rtol=1e-6, atol=1e-6)
        nothing = 0.5 * TAIL * np.log1p(change @ change / TAIL)
        single = [cost_of(change, lines, [k], np.array([change @ lines.direction[k]])) for k in range(4)]
        assert cost <= min(nothing, *single) + 1e-6
        assert cost >= best_sum(change, lines) - 1e-6


@pytest.mark.parametrize("seed", range(20))
def test_sums_of_lines_at_right_angles_get_the_cheapest_code_of_all(seed):
    rng = np.random.default_rng(seed)
    direction = np.linalg.qr(rng.standard_normal((R, R)))[0][:4]
    lines = Lines(direction, np.full((4, len(_bin_sizes())), 6.0))
    sizes = rng.uniform(8, 40, (6, 4)) * rng.choice([-1, 1], (6, 4)) * (rng.random((6, 4)) < 0.5)
    changes = sizes @ direction + rng.standard_normal((6, R))
    code = lines.code(changes)
    for change, cost in zip(changes, code.cost, strict=True):
        assert cost == pytest.approx(best_sum(change, lines))
    few = (sizes != 0).sum(axis=1) <= 3
    for n in np.flatnonzero(few):
        assert set(code.line[n][code.line[n] >= 0]) == set(np.flatnonzero(sizes[n]))


def test_what_is_left_of_a_change_is_what_its_sum_does_not_hold():
    rng = np.random.default_rng(1)
    lines = lines_of(4, 1)
    changes = rng.standard_normal((3, R))
    code = coded([[2], [], [3, 0, 1]], [[5.0], [], [1.0, -2.0, 4.0]])
    left = _left_over(changes, lines.direction, code)
    d = lines.direction
    np.testing.assert_allclose(left, changes - [5 * d[2], 0 * d[0], d[3] - 2 * d[0] + 4 * d[1]])
    exact = 20 * d[[0]] - 30 * d[[1]]
    np.testing.assert_allclose(lines.left_of(exact), 0, atol=1e-6)


def test_a_line_is_refitted_to_the_direction_of_its_changes():
    rng = np.random.default_rng(2)
    true = unit(rng.standard_normal((2, R)))
    start = unit(true + 0.1 * rng.standard_normal((2, R)))
    start = np.vstack([start, start[0]])  # the last line is used by nobody
    members = [[0], [1], [0], [1]]
    changes = np.array([[3.0], [4.0], [-7.0], [9.0]]) * true[[0, 1, 0, 1]]
    sizes = [[change @ start[own[0]]] for change, own in zip(changes, members, strict=True)]
    found = _refitted(changes, start, coded(members, sizes))
    np.testing.assert_allclose(found[:2], true, atol=1e-9)
    np.testing.assert_array_equal(found[2], start[2])


def test_beside_another_line_only_its_own_part_counts_and_a_far_change_counts_less():
    a, b, c = np.eye(R)[:3]
    both = np.array([10 * a + 3 * b])
    found = _refitted(both, np.array([a, b]), coded([[0, 1]], [[10.0, 3.0]]))
    np.testing.assert_allclose(found, [a, b], atol=1e-12)
    # Two changes of one line, one of them off by 50 along c: the mean square left says how little it counts.
    changes = np.array([10 * a, 10 * a + 50 * c])
    found = _refitted(changes, np.array([a]), coded([[0], [0]], [[10.0], [10.0]]))
    weight = 1 / (1 + 50**2 / R)
    expected = 10 * a + weight * (10 * a + 50 * c)
    np.testing.assert_allclose(found[0], expected / np.linalg.norm(expected))


def test_prices_are_low_where_sizes_recur_and_follow_their_frequency():
    n, K = 40, 3
    sizes = _bin_sizes()
    at = _bin_of(20.0)
    code = coded([[1]] * n, [[-sizes[at]]] * n)
    price = _learnt_prices(code, K)
    assert price.shape == (K, len(sizes))
    width = np.maximum(0.04 * sizes, 1.0)
    rare = 0.3 / (len(sizes) / 2)  # share of the uses that any size gets
    smeared = np.array([0.1, 0.2, 0.4, 0.2, 0.1]) * n
    expected = np.log(n + K) + np.log(width[at - 2 : at + 3]) - np.log(smeared + (n + 1) * rare)
    np.testing.assert_allclose(price[1, at - 2 : at + 3], expected)
    np.testing.assert_allclose(price[1, -1], np.log(n + K) + np.log(width[-1]) - np.log((n + 1) * rare))
    np.testing.assert_allclose(price[[0, 2]], np.log(n + K) + np.log([width, width]) - np.log(rare))


def changes_of(true, times, rng, noise=1.0):
    """Changes of either sign along the lines `true`, so many of each, with sizes that recur."""
    size = np.repeat(np.linspace(20, 60, len(true)), times) * rng.choice([-1, 1], sum(times))
    return size[:, None] * np.repeat(true, times, axis=0) + noise * rng.standard_normal((sum(times), R))


@pytest.mark.parametrize("seed", range(5))
def test_lines_that_pay_are_found_again_and_others_dropped(seed):
    rng = np.random.default_rng(seed)
    true = np.linalg.qr(rng.standard_normal((R, R)))[0][:3]
    changes = changes_of(true, [30, 20, 200], rng)
    offered = unit(np.vstack([true + 0.05 * rng.standard_normal((3, R)), rng.standard_normal((3, R))]))
    found = choose_lines(changes, offered)
    line, times = np.unique(found.code(changes).line, return_counts=True)
    used = line[(line >= 0) & (times > 1)]  # what was offered beside them may stay, but explains nothing
    assert len(used) == 3
    np.testing.assert_allclose(np.abs(np.sum(found.direction[used] * true, axis=1)), 1, atol=2e-3)


def test_two_that_switch_at_once_need_no_line_of_their_own():
    rng = np.random.default_rng(7)
    true = unit(rng.standard_normal((2, R)))
    together = 20 * true[0] + 60 * true[1]
    changes = np.vstack([changes_of(true, [60, 60], rng), together + rng.standard_normal((4, R))])
    offered = np.vstack([true, unit(together[None])])
    found = choose_lines(changes, offered)
    assert len(found.direction) == 2
    # Without the second line the same direction pays: nothing else explains those four.
    alone = np.vstack([changes_of(true[:1], [60], rng), together + rng.standard_normal((4, R))])
    assert len(choose_lines(alone, offered[[0, 2]]).direction) == 2


def test_a_line_is_dropped_where_it_saves_less_than_its_direction_costs():
    """A change of size 10 costs 11 nats by itself; a line takes 5 for its size and 9 for its direction.

    One of size 30 costs 21, and its line 5 and 14.
    """
    true, other = np.eye(R)[:2]
    many = changes_of(true[None], [60], np.random.default_rng(3))
    for size, n_rare, n_kept in ((10, 1, 1), (10, 8, 2), (30, 1, 2)):
        changes = np.vstack([many, np.tile(size * other, (n_rare, 1))])
        assert len(choose_lines(changes, np.array([true, other])).direction) == n_kept
