from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from lfm import Solution
from nilm.disaggregate.solutions import (
    Factorised,
    Hopped,
    load_factorised,
    load_hopped,
    save_factorised,
    save_hopped,
)
from nilm.errors import InputFileError

Z = np.array([[1, 0], [1, 1], [1, 0]], np.uint8)
FACTORISED = Factorised(
    solution=Solution(Z, np.arange(8.0).reshape(2, 4)),
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
HOPPED = Hopped(
    factorised=FACTORISED,
    solution=Solution(Z, np.ones((2, 4))),
    U=np.eye(2),
    sure=np.array([0.9, 0.4]),
    support=np.array([1.0, 0.5]),
    corrections=(("unchanged", ((0, 1.0),), ((0, 1.0),)), ("inverted", ((0, 1.0), (1, -1.0)), ((1, -1.0),))),
    priors="words",
    objective_before=2.0,
    objective_after=1.0,
    residual_before=0.5,
    residual_after=0.5,
    relative_residual=0.01,
    identifiable=False,
    n_equivalent=10**30,
    n_equivalent_is_exact=True,
    dependencies=((0, 1, "IMPLIED_BY"),),
    bias_features=(0,),
    rank_Z=2,
    rank_W=1,
)


def same(a: object, b: object) -> None:
    assert vars(a).keys() == vars(b).keys()
    for name, value in vars(a).items():
        other = getattr(b, name)
        if isinstance(value, np.ndarray):
            np.testing.assert_array_equal(value, other)
            assert value.dtype == other.dtype
        elif isinstance(value, Solution | Factorised):
            same(value, other)
        else:
            assert value == other


def test_records_come_back_as_they_were_and_give_the_same_bytes(tmp_path: Path) -> None:
    save_factorised(tmp_path / "f.npz", FACTORISED)
    save_hopped(tmp_path / "h.npz", HOPPED)
    same(load_factorised(tmp_path / "f.npz"), FACTORISED)
    same(load_hopped(tmp_path / "h.npz"), HOPPED)
    save_hopped(tmp_path / "again.npz", load_hopped(tmp_path / "h.npz"))
    assert (tmp_path / "again.npz").read_bytes() == (tmp_path / "h.npz").read_bytes()


def test_a_feature_that_varies_keeps_its_amplitude(tmp_path: Path) -> None:
    amplitude = np.array([[0.0], [1.3], [0.7]])
    varying = replace(HOPPED, factorised=replace(FACTORISED, amplitude=amplitude))
    save_hopped(tmp_path / "v.npz", varying)
    same(load_hopped(tmp_path / "v.npz"), varying)
    np.testing.assert_array_equal(varying.sizes, np.column_stack([Z[:, 0], amplitude]))
    np.testing.assert_array_equal(HOPPED.sizes, Z)


def test_a_file_that_is_no_solution_is_refused(tmp_path: Path) -> None:
    (tmp_path / "text.npz").write_text("no")
    with pytest.raises(InputFileError, match=r"text\.npz is not a file of arrays"):
        load_factorised(tmp_path / "text.npz")
    with pytest.raises(InputFileError, match=r"missing\.npz is not a file of arrays"):
        load_hopped(tmp_path / "missing.npz")
    save_factorised(tmp_path / "f.npz", FACTORISED)
    with pytest.raises(InputFileError, match="not a hopped week"):
        load_hopped(tmp_path / "f.npz")
