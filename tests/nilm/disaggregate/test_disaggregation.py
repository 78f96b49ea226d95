import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from lfm import Correction, CorrectionKind, Hop, Identifiability, Pdc, Solution
from nilm.disaggregate.disaggregation import (
    Disaggregation,
    Factorised,
    load_disaggregation,
    load_factorised,
    save_solution,
)
from nilm.disaggregate.run_evidence import Runs
from nilm.errors import InputFileError

Z = np.array([[1, 0], [1, 1], [1, 0]], np.uint8)
FACTORISED = Factorised(
    baseline=Solution(Z, np.arange(8.0).reshape(2, 4)),
    row=np.array([0, 1, 3]),
    in_fit=np.array([True, True, False]),
    house="house_1",
    week="2015-wk01",
    interval_s=120.0,
    estimator="switching",
    seed=0,
    at_noise_floor=None,
    feeds_in=False,
    notes=("a note",),
)
HOPPED = Disaggregation(
    **vars(FACTORISED),
    hop=Hop(
        solution=Solution(Z, np.ones((2, 4))),
        U=np.eye(2),
        objective_before=2.0,
        objective_after=1.0,
        trace=np.array([2.0, 1.0]),
        support=np.array([1.0, 0.5]),
        support_is_exact=False,
        corrections=(
            Correction(0, CorrectionKind.UNCHANGED, ((0, 1.0),), ((0, 1.0),), exact=True),
            Correction(1, CorrectionKind.INVERTED, ((0, 1.0), (1, -1.0)), ((1, -1.0),), exact=False),
        ),
        complete=True,
    ),
    diagnosis=Identifiability(
        identifiable=False,
        reason="another column",
        witness=None,
        n_equivalent=10**30,
        n_equivalent_is_exact=True,
        n_equivalent_at_most=math.inf,
        candidates=None,
        dependencies=((0, 1, Pdc.IMPLIED_BY),),
        bias_features=(0,),
        full_rows=False,
        rank_Z=2,
        rank_W=1,
        integer_certificate=True,
        lattice_index=1,
        column_dependences=(),
    ),
    watts=np.array([60.0, 2000.0]),
    evidence=np.zeros((2, 3)),
    sure=np.array([0.9, 0.4]),
    runs=Runs(np.array([0, 1]), np.array([0, 1]), np.array([2, 2]), np.ones((2, 3)), np.array([0.8, 0.3])),
    left_w=np.array([1.5, -2.0, np.nan]),
    priors="words",
    residual_before=0.5,
    residual_after=0.5,
    relative_residual=0.01,
)


def same(a: object, b: object) -> None:
    assert vars(a).keys() == vars(b).keys()
    for name, value in vars(a).items():
        other = getattr(b, name)
        if isinstance(value, np.ndarray):
            np.testing.assert_array_equal(value, other)
            assert value.dtype == other.dtype
        elif isinstance(value, Solution | Hop | Identifiability):
            same(value, other)
        elif isinstance(value, Runs):
            for mine, theirs in zip(value, other, strict=True):
                np.testing.assert_array_equal(mine, theirs)
        else:
            assert value == other


def test_records_come_back_as_they_were_and_give_the_same_bytes(tmp_path: Path) -> None:
    save_solution(tmp_path / "f.npz", FACTORISED)
    save_solution(tmp_path / "h.npz", HOPPED)
    same(load_factorised(tmp_path / "f.npz"), FACTORISED)
    same(load_factorised(tmp_path / "h.npz"), FACTORISED)
    same(load_disaggregation(tmp_path / "h.npz"), HOPPED)
    save_solution(tmp_path / "again.npz", load_disaggregation(tmp_path / "h.npz"))
    assert (tmp_path / "again.npz").read_bytes() == (tmp_path / "h.npz").read_bytes()


def test_a_feature_that_varies_keeps_its_amplitude(tmp_path: Path) -> None:
    amplitude = np.array([[0.0], [1.3], [0.7]])
    varying = replace(HOPPED, amplitude=amplitude)
    save_solution(tmp_path / "v.npz", varying)
    same(load_disaggregation(tmp_path / "v.npz"), varying)
    np.testing.assert_array_equal(varying.sizes, np.column_stack([Z[:, 0], amplitude]))
    np.testing.assert_array_equal(varying.power_w, np.column_stack([[60.0] * 3, 2000 * amplitude]))
    np.testing.assert_array_equal(HOPPED.sizes, Z)
    assert (varying.n_varying, HOPPED.n_varying) == (1, 0)


def test_each_row_of_a_run_is_as_sure_as_the_run() -> None:
    np.testing.assert_array_equal(HOPPED.run_sure(0), [0.8, 0.8, np.nan])
    np.testing.assert_array_equal(HOPPED.run_sure(1), [np.nan, 0.3, np.nan])


def test_a_file_that_is_no_solution_is_refused(tmp_path: Path) -> None:
    (tmp_path / "text.npz").write_text("no")
    with pytest.raises(InputFileError, match=r"text\.npz is not a file of arrays"):
        load_factorised(tmp_path / "text.npz")
    with pytest.raises(InputFileError, match=r"missing\.npz cannot be read: No such file"):
        load_disaggregation(tmp_path / "missing.npz")
    save_solution(tmp_path / "f.npz", FACTORISED)
    with pytest.raises(InputFileError, match="not a hopped week"):
        load_disaggregation(tmp_path / "f.npz")
