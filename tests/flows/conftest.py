"""One Prefect server for all tests of the flows, and a simulated house of a few hours."""

import os
import shutil
from collections.abc import Iterator
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


@pytest.fixture
def roots(simulated: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """A private copy of the simulated data root, and an outputs root beside it; both are the settings."""
    data, outputs = tmp_path / "data", tmp_path / "outputs"
    shutil.copytree(simulated, data)
    for name in [name for name in os.environ if name.startswith("NILM_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("NILM_DATA_ROOT", str(data))
    monkeypatch.setenv("NILM_OUTPUTS_ROOT", str(outputs))
    monkeypatch.chdir(tmp_path)
    return data, outputs


def contents(folder: Path) -> dict[str, bytes]:
    """The bytes of every file below a folder, by relative path; hidden files too."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
