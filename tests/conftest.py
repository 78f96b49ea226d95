"""Fixtures that every room of the tests may use."""

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def real_data() -> Path:
    """The folder of real data that is not ours: $REAL_DATA, or ../shared/data beside the project."""
    folder = Path(os.environ.get("REAL_DATA", Path(__file__).parents[2] / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip(f"no real data at {folder}: set REAL_DATA to a copy")
    return folder
