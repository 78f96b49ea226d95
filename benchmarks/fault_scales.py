"""Hostile values through the public functions of `lfm`: an answer or an error of our own."""

import random
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import lfm
from lfm import LfmError, synthetic

SCALES = (0.0, 1e-300, 1e-160, 1e-100, 1e-10, 1.0, 1e10, 1e100, 1e160, 1e300, np.inf, np.nan, -1.0)
LONGEST_S = 10.0


def hostile_scales(rng: random.Random, trials: int) -> list[str]:
    """What a function answered a hostile value with that is not ours, or took too long for."""
    failures = []
    calls = sorted(_calls())
    for n in range(trials):
        name, scale = calls[n % len(calls)], rng.choice(SCALES)
        numbers = np.random.default_rng(rng.randrange(10**6))
        started = time.monotonic()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                _calls()[name](scale, numbers)
        except (LfmError, ValueError):
            pass  # ours; scikit-learn's own checks of its estimators raise ValueError
        except Exception as error:  # noqa: BLE001 - whatever it is, it is a finding
            failures.append(f"{name} at {scale}: {error!r:.160}")
        if time.monotonic() - started > LONGEST_S:
            failures.append(f"{name} at {scale}: took {time.monotonic() - started:.0f} s")
    return failures


def _calls() -> dict[str, Callable[[float, np.random.Generator], Any]]:
    def problem(scale: float, rng: np.random.Generator) -> tuple[Any, Any, Any]:
        Z = np.vstack([np.eye(2, dtype=np.uint8), rng.integers(0, 2, (10, 2), dtype=np.uint8)])
        W = scale * np.abs(rng.standard_normal((2, 3)))
        return Z, W, Z @ W

    def solution(scale: float, rng: np.random.Generator) -> lfm.Solution:
        Z, W, _ = problem(scale, rng)
        return lfm.Solution(Z, W)

    def fit(estimator: type) -> Callable[[float, np.random.Generator], Any]:
        return lambda scale, rng: estimator(n_components=2).fit(problem(scale, rng)[2])

    return {
        **{
            cls.__name__: fit(cls)
            for cls in (lfm.LatentLasso, lfm.MEIBP, lfm.KFeatures, lfm.BinaryDecoder, lfm.SwitchingDecoder)
        },
        "decode_rows": lambda s, rng: lfm.decode_rows(problem(s, rng)[2], problem(s, rng)[1]),
        "hop": lambda s, rng: lfm.hop(solution(s, rng), priors=[lfm.GaussianW(1.0)], rng=rng, n_steps=10),
        "diagnose": lambda s, rng: lfm.diagnose(problem(1.0, rng)[0], problem(s, rng)[1]),
        "merge_twins": lambda s, rng: lfm.merge_twins(solution(1.0, rng), problem(s, rng)[2], tolerance=0.1),
        "merge_twins tolerance": lambda s, rng: lfm.merge_twins(
            solution(1.0, rng), problem(1.0, rng)[2], tolerance=s
        ),
        "separate_siblings": lambda s, rng: lfm.separate_siblings(
            solution(1.0, rng), problem(s, rng)[2], gap_before=np.zeros(12, bool)
        ),
        "regulariser": lambda s, rng: lfm.regulariser(problem(s, rng)[1]),
        "images": lambda s, rng: synthetic.images(3, 30, 0, s, rng),
        "GaussianW": lambda s, _: lfm.GaussianW(s),
        "LaplaceW": lambda s, _: lfm.LaplaceW(s),
        "BernoulliZ": lambda s, _: lfm.BernoulliZ(s),
    }
