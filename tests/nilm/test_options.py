import subprocess
import sys
from typing import get_args

import pytest

from flows.settings import Estimator
from lfm.estimators.base import LatentFeatureEstimator
from nilm.choices import ESTIMATORS, estimator_class
from nilm.errors import OptionError
from nilm.options import check_components, check_estimator


def test_names_of_estimators() -> None:
    assert check_estimator("auto") == "auto"
    assert check_estimator("shapes") == "shapes"
    with pytest.raises(OptionError, match=r"latent-lasso.*got 'magic'"):
        check_estimator("magic")


@pytest.mark.parametrize("bad", [0, -1, 2.5, True, "many"])
def test_numbers_of_components_out_of_range_are_refused(bad) -> None:
    with pytest.raises(OptionError, match="components must be auto or a whole number"):
        check_components(bad)


def test_every_name_of_an_estimator_stands_for_one_and_may_be_set() -> None:
    classes = [estimator_class(name) for name in ESTIMATORS if name not in ("auto", "shapes")]
    assert len({*classes}) == len(ESTIMATORS) - 2
    assert all(issubclass(kind, LatentFeatureEstimator) for kind in classes)
    assert get_args(Estimator) == ESTIMATORS


def test_whether_a_week_has_work_to_do_is_told_without_what_does_the_work() -> None:
    heavy = ("prefect", "pandas", "matplotlib", "scipy.linalg", "sklearn", "bokeh", "jinja2")
    modules = "nilm.pipeline, flows.command_line.commands, flows.weeks"
    code = f"import sys, {modules}; print({{*{heavy}}} & {{*sys.modules}})"
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    assert done.stdout.strip() == "set()"
