"""One Prefect server for all tests of the flows, and a simulated house of a few hours."""

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

WEEKS = ("2015-wk01", "2015-wk02")
HOURS = 4


@pytest.fixture(scope="session")
def prefect_server() -> Iterator[None]:
    """A private Prefect server; about 14 s, so only for tests that run a flow in this process."""
    from prefect.testing.utilities import prefect_test_harness

    with prefect_test_harness(server_startup_timeout=180):
        yield


@pytest.fixture(scope="session")
def simulated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data root with house_sim: the first four hours of two weeks, three appliances; not to be changed."""
    from nilm.simulate.week import simulate_week

    root = tmp_path_factory.mktemp("simulated")
    for week in WEEKS:
        simulate_week(root / "raw", house="house_sim", week=week, seed=7, days=HOURS / 24, n_appliances=3)
    return root


@pytest.fixture(scope="session")
def worked_out(simulated: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of data and outputs after an undisturbed run of the first week; not to be changed."""
    from flows.settings import load_settings
    from nilm.paths import WeekPaths
    from nilm.recordings.ukdale import Week

    root = tmp_path_factory.mktemp("worked_out")
    shutil.copytree(simulated, root / "data")
    settings = load_settings(data_root=root / "data", outputs_root=root / "outputs")
    place = WeekPaths(settings.data_root, "house_sim", Week.parse(WEEKS[0]), settings.outputs_root)
    settings.pipeline(place).solve()
    settings.pipeline(place).finish()
    return root


@pytest.fixture
def clean_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The defaults, but for roots in a folder of the test's own; no nilm.toml, no other NILM_* variable."""
    for name in [name for name in os.environ if name.startswith("NILM_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("NILM_DATA_ROOT", str(tmp_path / "data"))
    monkeypatch.setenv("NILM_OUTPUTS_ROOT", str(tmp_path / "outputs"))
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def roots(simulated: Path, tmp_path: Path, clean_settings: None) -> tuple[Path, Path]:
    """A private copy of the simulated data root, and an outputs root beside it; both are the settings."""
    shutil.copytree(simulated, tmp_path / "data")
    return tmp_path / "data", tmp_path / "outputs"


@pytest.fixture
def done_roots(worked_out: Path, tmp_path: Path, clean_settings: None) -> tuple[Path, Path]:
    """The same with the first week worked out."""
    shutil.copytree(worked_out, tmp_path, dirs_exist_ok=True)
    return tmp_path / "data", tmp_path / "outputs"


@pytest.fixture(scope="session")
def contents() -> Callable[[Path], dict[str, bytes]]:
    """A function that gives the bytes of every file below a folder, by relative path; hidden files too."""

    def contents_of(folder: Path) -> dict[str, bytes]:
        return {
            path.relative_to(folder).as_posix(): path.read_bytes()
            for path in sorted(folder.rglob("*"))
            if path.is_file()
        }

    return contents_of
