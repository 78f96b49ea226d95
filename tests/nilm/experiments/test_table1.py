import numpy as np

from nilm.experiments import table1
from nilm.experiments.outcome import Scale


def test_strict_hoppers_keep_the_residual_and_the_page_counts_what_they_lower(monkeypatch):
    rng = np.random.default_rng(0)
    Z = rng.integers(0, 2, (80, 6))
    Z[:, 1] |= Z[:, 0]  # one implies the other: an equivalent solution exists
    X = Z @ rng.standard_normal((6, 30)) * 3 + 0.05 * rng.standard_normal((80, 30))
    monkeypatch.setattr(table1, "currents", lambda _: {"tiny": X})
    monkeypatch.setattr(table1, "piano", lambda _: {})
    outcome = table1.run(Scale(quick=True))
    table = outcome.tables["table1"]
    assert table["hoppers"].value_counts().to_dict() == {"strict": 2, "tolerant": 2}
    strict = table[table["hoppers"] == "strict"]
    assert strict["residual_unchanged_to_4_digits"].all()
    alone = int((strict["equivalent_columns"] == 0).sum())
    assert f"in {alone} rows the estimate has no equivalent column" in outcome.ours
    for label in ("paper", "ours"):
        assert (strict[f"change_{label}_hopper_percent"] <= 1e-9).all()
        lower = int((strict[f"change_{label}_hopper_percent"] < -0.05).sum())
        assert f"lower in {lower} of 2 rows" in outcome.ours


def test_a_first_look_takes_one_day_of_each_kind_and_more_weeks_otherwise():
    day = table1.currents(Scale(quick=True))
    assert {name: X.shape for name, X in day.items()} == {"simulated week 1": (720, 320)}
    np.testing.assert_array_equal(
        day["simulated week 1"], table1.currents(Scale(quick=True))["simulated week 1"]
    )
    assert len(table1.currents(Scale())) == table1.N_WEEKS
