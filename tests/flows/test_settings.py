"""The settings: who wins, and what a mistake is told."""

from pathlib import Path

import pytest

from flows.settings import Settings, load_settings
from nilm.errors import OptionError


@pytest.fixture(autouse=True)
def _clean(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("SETTINGS", *(field.upper() for field in Settings.model_fields)):
        monkeypatch.delenv(f"NILM_{name}", raising=False)


def test_argument_beats_environment_beats_file_beats_default(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "nilm.toml").write_text('tariff_per_kwh = 0.3\nseed = 3\ncurrency = "€"\n')
    monkeypatch.setenv("NILM_SEED", "4")
    monkeypatch.setenv("NILM_TARIFF_PER_KWH", "0.4")
    settings = load_settings(tariff_per_kwh=0.5, seed=None)
    assert (settings.tariff_per_kwh, settings.seed, settings.currency) == (0.5, 4, "€")
    assert settings.interval_s == 120


def test_the_file_can_lie_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "elsewhere.toml").write_text("components = 7\n")
    monkeypatch.setenv("NILM_SETTINGS", str(tmp_path / "elsewhere.toml"))
    assert load_settings().components == 7


def test_a_named_file_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NILM_SETTINGS", "nowhere.toml")
    with pytest.raises(OptionError, match=r"'nowhere\.toml'.*correct or unset"):
        load_settings()


def test_a_misspelt_line_of_the_file(tmp_path: Path) -> None:
    (tmp_path / "nilm.toml").write_text("tarif = 0.3\n")
    with pytest.raises(OptionError, match=r"'tarif' in nilm\.toml is no setting; there are .*tariff_per_kwh"):
        load_settings()


def test_a_misspelt_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NILM_TARIF", "0.3")
    with pytest.raises(OptionError, match=r"NILM_TARIF is no setting; there are .*NILM_TARIFF_PER_KWH"):
        load_settings()


def test_a_file_that_is_not_toml(tmp_path: Path) -> None:
    (tmp_path / "nilm.toml").write_text("tariff 0.3\n")
    with pytest.raises(OptionError, match=r"nilm\.toml cannot be read"):
        load_settings()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("components", "0"),
        ("components", "many"),
        ("estimator", "magic"),
        ("tariff_per_kwh", "-1"),
        ("seed", "x"),
    ],
)
def test_a_value_out_of_range_is_named_with_its_setting(
    name: str, value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(f"NILM_{name.upper()}", value)
    with pytest.raises(OptionError, match=f"{name} = '{value}'"):
        load_settings()


def test_a_wrong_value_says_where_it_stands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "nilm.toml").write_text("seed = -1\n")
    with pytest.raises(OptionError, match=r"^seed = -1 in nilm\.toml: input should be greater"):
        load_settings()
    monkeypatch.setenv("NILM_SEED", "-2")
    with pytest.raises(OptionError, match=r"^seed = '-2' in NILM_SEED: input should be greater"):
        load_settings()
    with pytest.raises(OptionError, match=r"^components = 65: .* 64, or input should be 'auto'$"):
        load_settings(seed=0, components=65)


def test_a_root_that_cannot_be_written_to(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    settings = load_settings(data_root=tmp_path / "data", outputs_root=tmp_path / "file" / "outputs")
    with pytest.raises(
        OptionError, match=r"outputs_root = '.*/file/outputs' cannot be written to: Not a dir"
    ):
        settings.check_roots()
    load_settings(data_root=tmp_path / "data", outputs_root=tmp_path / "outputs").check_roots()
    assert list((tmp_path / "outputs").iterdir()) == []


@pytest.mark.parametrize("name", ["tariff_per_kwh", "min_on_s", "min_off_s"])
def test_an_infinite_number_is_refused_by_name(name: str, clean_settings: None) -> None:
    with pytest.raises(OptionError, match=rf"{name} = inf: input should be a finite number"):
        load_settings(**{name: float("inf")})


def test_a_file_that_is_nested_too_deep(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "deep.toml").write_text("seed = " + "[" * 5000)
    monkeypatch.setenv("NILM_SETTINGS", str(tmp_path / "deep.toml"))
    with pytest.raises(OptionError, match=r"deep\.toml cannot be read"):
        load_settings()
