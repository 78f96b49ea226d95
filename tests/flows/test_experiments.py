"""The experiments flow end to end on one that is quick."""

from pathlib import Path

import pytest

from flows.experiments import experiments
from nilm.errors import OptionError

pytestmark = pytest.mark.usefixtures("prefect_server")


def test_one_experiment_becomes_a_page(clean_settings: None, tmp_path: Path) -> None:
    index = experiments(only=["fig1"], quick=True)
    assert index == tmp_path / "outputs" / "experiments" / "index.html"
    assert 'href="fig1.html"' in index.read_text()
    assert (index.parent / "fig1.svg").is_file()
    with pytest.raises(OptionError, match="no experiment fig9"):
        experiments(only=["fig9"])
