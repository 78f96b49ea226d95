import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from lfm.estimators.bit_flips import flip_bits


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), K=st.integers(1, 6))
def test_flips_lower_the_error_until_no_single_flip_does(seed, K):
    rng = np.random.default_rng(seed)
    X, W = rng.standard_normal((15, 4)), rng.standard_normal((K, 4))
    Z = rng.integers(0, 2, (15, K)).astype(np.uint8)
    before = np.sum((X - Z @ W) ** 2, axis=1)
    flip_bits(Z, X @ W.T, W @ W.T)
    after = np.sum((X - Z @ W) ** 2, axis=1)
    assert np.all(after <= before + 1e-9)
    for k in range(K):
        flipped = Z.copy()
        flipped[:, k] ^= 1
        assert np.all(np.sum((X - flipped @ W) ** 2, axis=1) >= after - 1e-9)


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), K=st.integers(1, 5))
def test_the_best_flip_of_a_row_comes_first_and_flips_are_counted(seed, K):
    rng = np.random.default_rng(seed)
    X, W = rng.standard_normal((8, 4)), rng.standard_normal((K, 4))
    Z = rng.integers(0, 2, (8, K)).astype(np.uint8)
    expected, n_flips = Z.copy(), 0
    for n in range(8):
        while True:
            flipped = np.tile(expected[n], (K, 1)) ^ np.eye(K, dtype=np.uint8)
            errors = np.sum((X[n] - flipped @ W) ** 2, axis=1)
            if errors.min() >= np.sum((X[n] - expected[n] @ W) ** 2) - 1e-8:
                break
            expected[n] = flipped[np.argmin(errors)]
            n_flips += 1
    assert flip_bits(Z, X @ W.T, W @ W.T) == n_flips
    np.testing.assert_array_equal(Z, expected)
