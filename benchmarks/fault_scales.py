"""Hostile values through every public function of `lfm`: an answer or an error of our own, within 10 s."""

import contextlib
import inspect
import random
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from fault_bench import Failures, numbers_of

import lfm
from lfm import LfmError, synthetic

LONGEST_S = 10.0  # of CPU, for one call
SCALES = (0.0, 1e-300, 1e-160, 1e-100, 1e-10, 1.0, 1e10, 1e100, 1e160, 1e300, np.inf, np.nan, -1.0)
EXACT_SCALES = (1e-100, 1e100)  # between them an answer must be right, and not only be one
_ESTIMATORS = ("LatentLasso", "MEIBP", "KFeatures", "BinaryDecoder", "SwitchingDecoder", "ShapeDecoder")
# `lfm.shapes` is attacked in a row of its own.
_SHAPES = (
    *(
        "ShapeDecoder",
        "at_noise_floor",
        "find_fans",
        "find_signal",
        "join_machines",
        "share_out",
        "split_scales",
        "split_track",
    ),
)
_RECORDS = (  # what functions give back, and what they raise: nobody calls these
    *("BaseCount", "Candidates", "Correction", "CorrectionKind", "Hop", "Identifiability", "Pdc", "Prior"),
    *("InvalidInputError", "LfmError", "NotEquivalentError", "RankDeficientError"),
)
Spoil = Callable[[Any], Any]
Call = Callable[[Spoil, float, np.random.Generator], object]


def hostile_scales(seed: int, trials: range) -> Failures:
    """What a function answered a hostile value with that is not ours, or took too long for."""
    calls = _calls()
    lacking = _public_names() - {name.split()[0] for name in calls}
    missing = [f"not attacked: {', '.join(sorted(lacking))}"] if lacking else []
    return missing + _attacked({n: c for n, c in calls.items() if n.split()[0] not in _SHAPES}, seed, trials)


def hostile_shapes(seed: int, trials: range) -> Failures:
    """The same of `lfm.shapes`."""
    return _attacked({n: c for n, c in _calls().items() if n.split()[0] in _SHAPES}, seed, trials)


def _attacked(calls: dict[str, Call], seed: int, trials: range) -> Failures:
    failures = []
    names = sorted(calls)
    for name in names:  # compiled code is made or loaded before anything is timed
        with warnings.catch_warnings(), contextlib.suppress(LfmError):
            warnings.simplefilter("ignore")
            calls[name](lambda array: array, 1.0, np.random.default_rng(0))
    for trial in trials:
        rng = numbers_of(seed, "scale", trial)
        name, scale = names[trial % len(names)], rng.choice(SCALES)
        how, spoil = _spoiler(scale, rng)
        started = time.process_time()
        try:
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                calls[name](spoil, scale, np.random.default_rng(rng.randrange(10**6)))
        except LfmError:
            pass
        except Exception as error:  # noqa: BLE001 - whatever it is, it is a finding
            # scikit-learn's own checks of an estimator's X are its users' convention.
            if not (isinstance(error, ValueError | TypeError) and name in _ESTIMATORS):
                failures.append(f"trial {trial}, {name}, {how}: {error!r:.160}")
        if time.process_time() - started > LONGEST_S:
            failures.append(f"trial {trial}, {name}, {how}: took {time.process_time() - started:.0f} s")
    return failures


def _public_names() -> set[str]:
    known = {n for n in lfm.__all__ if callable(getattr(lfm, n)) and n not in _RECORDS}
    return known | {n for n, f in vars(synthetic).items() if inspect.isfunction(f) and n[0] != "_"} - {
        n for n, f in vars(synthetic).items() if inspect.isfunction(f) and f.__module__ != synthetic.__name__
    }


def _spoiler(scale: float, rng: random.Random) -> tuple[str, Spoil]:
    """A way to spoil an array: mostly its scale, at times its shape, type or one of its values."""
    if rng.random() < 0.6:
        return f"scale {scale}", lambda array: np.asarray(array) * scale
    ways: dict[str, Spoil] = {
        "one NaN": lambda a: _with(a, np.nan),
        "one ∞": lambda a: _with(a, np.inf),
        "no rows": lambda a: np.asarray(a)[:0],
        "one row": lambda a: np.asarray(a)[:1],
        "one dimension more": lambda a: np.asarray(a)[None],
        "one dimension less": lambda a: np.asarray(a).ravel(),
        "texts": lambda a: np.asarray(a).astype(str),
        "objects": lambda a: np.asarray(a).astype(object),
        "complex": lambda a: np.asarray(a) * 1j,
        "huge whole numbers": lambda a: np.ones(np.shape(a), object) * 10**400,
        "equal rows": lambda a: np.broadcast_to(np.asarray(a)[:1], np.shape(a)),
        "nothing": lambda _: None,
    }
    name = rng.choice(sorted(ways))
    return name, ways[name]


def _with(array: Any, value: float) -> Any:
    spoilt = np.array(array, dtype=np.float64)
    spoilt.flat[spoilt.size // 2] = value
    return spoilt


def _problem(rng: np.random.Generator) -> tuple[Any, Any, Any]:
    Z = np.vstack([np.eye(2, dtype=np.uint8), rng.integers(0, 2, (10, 2), dtype=np.uint8)])
    W = 1 + np.abs(rng.standard_normal((2, 3)))
    return Z, W, Z @ W


def _calls() -> dict[str, Call]:
    """A call of every public function, and of those with two kinds of data one for each."""
    no_gaps = np.zeros(12, bool)

    def solution(rng: np.random.Generator, spoil: Spoil = lambda array: array) -> lfm.Solution:
        Z, W, _ = _problem(rng)
        return lfm.Solution(Z, spoil(W))

    def decoded(spoil: Spoil, scale: float, rng: np.random.Generator) -> None:
        Z, W, X = _problem(rng)
        found = lfm.decode_rows(spoil(X), spoil(W))
        spoilt = spoil(X)
        scaled = isinstance(spoilt, np.ndarray) and np.array_equal(spoilt, X * scale)
        if scaled and EXACT_SCALES[0] <= scale <= EXACT_SCALES[1] and not np.allclose(found @ W, Z @ W):
            raise ArithmeticError("decoded wrongly")

    def fit(name: str) -> Call:
        def call(spoil: Spoil, _scale: float, rng: np.random.Generator) -> object:
            K: Any = "auto" if name == "ShapeDecoder" else 2
            return getattr(lfm, name)(n_components=K).fit(spoil(_problem(rng)[2]))

        return call

    gaussian = [lfm.GaussianW(1.0)]
    return {
        **{name: fit(name) for name in _ESTIMATORS},
        "ShapeDecoder positive": lambda s, _, r: lfm.ShapeDecoder(positive=s(np.ones(3))).fit(_problem(r)[2]),
        "ShapeDecoder duration": lambda s, _, r: lfm.ShapeDecoder().fit(
            _problem(r)[2], duration=s(np.ones(12))
        ),
        "Solution Z": lambda s, _, r: lfm.Solution(s(_problem(r)[0]), _problem(r)[1]),
        "Solution W": lambda s, _, r: solution(r, s),
        "decode_rows": decoded,
        "hop": lambda s, _, r: lfm.hop(solution(r, s), priors=gaussian, rng=r, n_steps=10),
        "hop X": lambda s, _, r: lfm.hop(
            solution(r), priors=gaussian, rng=r, n_steps=10, X=s(_problem(r)[2])
        ),
        "hop_tolerantly": lambda s, _, r: lfm.hop_tolerantly(
            solution(r, s), X=_problem(r)[2], priors=gaussian, rng=r
        ),
        "hop_tolerantly X": lambda s, _, r: lfm.hop_tolerantly(
            solution(r), X=s(_problem(r)[2]), priors=gaussian, rng=r
        ),
        "hop_tolerantly residual_tolerance": lambda _, x, r: lfm.hop_tolerantly(
            solution(r), X=_problem(r)[2], priors=gaussian, rng=r, residual_tolerance=x
        ),
        "hop gamma": lambda _, x, r: lfm.hop(solution(r), priors=gaussian, rng=r, n_steps=10, gamma=x),
        "hop beta": lambda _, x, r: lfm.hop(solution(r), priors=gaussian, rng=r, n_steps=10, beta=x),
        "diagnose W": lambda s, _, r: lfm.diagnose(_problem(r)[0], s(_problem(r)[1])),
        "diagnose Z": lambda s, _, r: lfm.diagnose(s(_problem(r)[0])),
        "merge_twins": lambda s, _, r: lfm.merge_twins(solution(r), s(_problem(r)[2]), tolerance=0.1),
        "merge_twins tolerance": lambda _, x, r: lfm.merge_twins(solution(r), _problem(r)[2], tolerance=x),
        "separate_siblings": lambda s, _, r: lfm.separate_siblings(
            solution(r), s(_problem(r)[2]), gap_before=no_gaps
        ),
        "regulariser": lambda s, _, r: lfm.regulariser(s(_problem(r)[1])),
        "transform": lambda s, _, r: lfm.transform(solution(r), s(np.eye(2))),
        "random_equivalent": lambda s, _, r: lfm.random_equivalent(solution(r, s), r, n_exchanges=5),
        "enumerate_candidates": lambda s, _, r: lfm.enumerate_candidates(s(_problem(r)[0])),
        "sample_candidates": lambda s, _, r: lfm.sample_candidates(s(_problem(r)[0]), n_samples=5, rng=r),
        "count_bases": lambda s, _, __: lfm.count_bases(s(np.eye(3, dtype=np.int64))),
        "lattice_index": lambda s, _, r: lfm.lattice_index(s(_problem(r)[0])),
        "nonbinarity": lambda s, _, r: lfm.nonbinarity(_problem(r)[0], s(np.eye(2))),
        "pairwise_dependencies": lambda s, _, r: lfm.pairwise_dependencies(s(_problem(r)[0])),
        "hamming_error": lambda s, _, r: lfm.hamming_error(s(_problem(r)[0]), _problem(r)[0]),
        "match_columns": lambda s, _, r: lfm.match_columns(s(_problem(r)[0]), _problem(r)[0]),
        **_of_rows(no_gaps),
        **_of_numbers(),
    }


def _of_rows(no_gaps: Any) -> dict[str, Call]:
    """Functions of rows in time."""
    return {
        "least_squares": lambda s, _, r: lfm.least_squares(_problem(r)[0], s(_problem(r)[2])),
        "level_changes": lambda s, _, r: lfm.level_changes(s(_problem(r)[2]), no_gaps),
        "join_machines": lambda s, _, r: lfm.join_machines(s(_problem(r)[2]), no_gaps, resolution=0.1),
        "share_out": lambda s, _, r: lfm.share_out(s(_problem(r)[2][:, 0]), s(np.abs(_problem(r)[2]))),
        "split_scales": lambda s, _, r: lfm.split_scales(
            s(np.abs(_problem(r)[2][:, 0])), np.ones(len(no_gaps)), resolution=0.1, pause=3.0
        ),
        "find_fans": lambda s, _, r: lfm.find_fans(
            s(_problem(r)[2]), np.abs(_problem(r)[2].T), np.zeros(len(_problem(r)[2].T), bool), resolution=0.1
        ),
        "find_signal": lambda s, _, r: lfm.find_signal(s(_problem(r)[2]), no_gaps),
        "at_noise_floor": lambda s, _, r: lfm.at_noise_floor(s(_problem(r)[2]), 0.1),
        "split_track": lambda s, _, r: lfm.split_track(s(_problem(r)[2][:, 0]), no_gaps, resolution=0.1),
        "split_track resolution": lambda _, x, r: lfm.split_track(
            _problem(r)[2][:, 0], no_gaps, resolution=x
        ),
        "runs_of_ones": lambda s, _, r: lfm.runs_of_ones(s(_problem(r)[0][:, 0]), no_gaps),
        "SwitchingZ": lambda s, x, _: lfm.SwitchingZ(x, s(no_gaps)),
        "PassiveSign": lambda s, x, r: lfm.PassiveSign(x, s(_problem(r)[2][0])),
    }


def _of_numbers() -> dict[str, Call]:
    """Functions of a number, and makers of synthetic sets."""
    return {
        "GaussianW": lambda _, x, __: lfm.GaussianW(x),
        "LaplaceW": lambda _, x, __: lfm.LaplaceW(x),
        "BernoulliZ": lambda _, x, __: lfm.BernoulliZ(x),
        "NonNegativeW": lambda _, x, __: lfm.NonNegativeW(x),
        "images": lambda _, x, r: synthetic.images(3, 30, 0, x, r),
        "images K": lambda _, x, r: synthetic.images(x, 30, 0, 0.1, r),  # type: ignore[arg-type]
        "constrained_states": lambda _, x, r: synthetic.constrained_states(10, 3, [], r, p=x),
        "with_bias": lambda s, _, r: synthetic.with_bias(s(_problem(r)[0])),
        "blocks": lambda _, x, __: synthetic.blocks(4, x),  # type: ignore[arg-type]
        "hierarchy": lambda _, x, __: synthetic.hierarchy(4, x),  # type: ignore[arg-type]
        "random_dependencies": lambda _, x, r: synthetic.random_dependencies(4, x, r),  # type: ignore[arg-type]
    }
