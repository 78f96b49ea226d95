"""The array types that every signature of `lfm` and `nilm` is written in. Shapes stand in the docstrings."""

import numpy as np
from numpy.typing import NDArray

BinaryArray = NDArray[np.uint8]
"""Zeros and ones, such as Z (N, K)."""

BoolArray = NDArray[np.bool_]
"""True and False, such as gap_before (N,)."""

FloatArray = NDArray[np.float64]
"""Real numbers, such as W (K, D)."""

IntArray = NDArray[np.int64]
"""Whole numbers, such as the entries of U, or row numbers."""
