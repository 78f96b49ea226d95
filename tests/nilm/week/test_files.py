import numpy as np
import pyarrow as pa
import pytest

from nilm.week.files import iso_utc, spreadsheet_safe, table_csv


@pytest.mark.parametrize(
    "name", ["=1+1", "+cmd", "-2", "@SUM(A1)", "\tx", "\rx", "＝1+1", "＋1", "－2", "＠SUM(A1)"]
)
def test_a_name_that_a_spreadsheet_would_run_is_made_text(name: str) -> None:
    assert spreadsheet_safe(name) == "'" + name


@pytest.mark.parametrize("name", ["kettle", "2.8 kW heater", "", "a=b", "../../x"])
def test_other_names_stay_as_they_are(name: str) -> None:
    assert spreadsheet_safe(name) == name


def test_times_are_iso_in_utc_to_the_nearest_tenth_of_a_second() -> None:
    times = np.array(
        ["2015-01-01T00:02:00", "2015-01-01T00:03:59.96", "1969-12-31T23:59:59.94"], "datetime64[ns]"
    )
    assert iso_utc(times) == ["2015-01-01T00:02:00.0Z", "2015-01-01T00:04:00.0Z", "1969-12-31T23:59:59.9Z"]
    assert iso_utc(np.zeros(0, "datetime64[ns]")) == []


def test_a_csv_has_no_formula_and_nothing_for_what_is_not_known() -> None:
    table = pa.table({"=name": ["@x", None], "sure": [None, 0.5]})
    assert table_csv(table) == b"'=name,sure\n'@x,\n,0.5\n"
