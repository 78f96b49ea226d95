"""The experiments flow end to end on one that is quick."""

from pathlib import Path

import pytest

from flows.experiments import _uk_dale, experiments
from flows.settings import load_settings
from nilm.errors import OptionError
from nilm.simulate.week import simulate_week

pytestmark = pytest.mark.usefixtures("prefect_server")


def test_one_experiment_becomes_a_page(clean_settings: None, tmp_path: Path) -> None:
    index = experiments(only=["fig1"], quick=True)
    assert index == tmp_path / "outputs" / "experiments" / "index.html"
    assert 'href="fig1.html"' in index.read_text()
    assert (index.parent / "fig1.svg").is_file()
    with pytest.raises(OptionError, match="no experiment fig9"):
        experiments(only=["fig9"])


def test_a_copy_of_uk_dale_is_ingested_for_table_1(clean_settings: None, tmp_path: Path) -> None:
    simulate_week(tmp_path / "data" / "raw", house="house_1", week="2015-wk01", days=0.125, n_appliances=2)
    assert _uk_dale(load_settings()) == tmp_path / "data" / "waveforms" / "house_1" / "2015-wk01.parquet"
    assert (tmp_path / "data" / "waveforms" / "house_1" / "2015-wk01.parquet").is_file()


def test_without_uk_dale_nothing_is_looked_for(clean_settings: None) -> None:
    assert _uk_dale(load_settings()) is None
