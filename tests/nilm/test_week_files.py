import numpy as np
import pytest

from nilm.week_files import iso_utc, spreadsheet_safe


@pytest.mark.parametrize("name", ["=1+1", "+cmd", "-2", "@SUM(A1)", "\tx", "\rx"])
def test_a_name_that_a_spreadsheet_would_run_is_made_text(name: str) -> None:
    assert spreadsheet_safe(name) == "'" + name


@pytest.mark.parametrize("name", ["kettle", "2.8 kW heater", "", "a=b", "../../x"])
def test_other_names_stay_as_they_are(name: str) -> None:
    assert spreadsheet_safe(name) == name


def test_times_are_iso_in_utc_to_the_second_where_that_is_exact() -> None:
    times = np.array(["2015-01-01T00:02:00", "2015-01-01T00:04:00"], "datetime64[ns]")
    assert iso_utc(times) == ["2015-01-01T00:02:00Z", "2015-01-01T00:04:00Z"]
    assert iso_utc(times + np.timedelta64(1500, "ms"))[0] == "2015-01-01T00:02:01.500Z"
    assert iso_utc(np.zeros(0, "datetime64[ns]")) == []
