"""The short campaign of benchmarks/faults.py, with a fixed seed."""

import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.mark.slow
def test_the_short_campaign_holds() -> None:
    campaign = subprocess.run(
        [sys.executable, str(BENCHMARKS / "faults.py"), "--quick", "--seed", "20261118"],
        capture_output=True,
        text=True,
        check=False,
        timeout=1800,
    )
    assert campaign.returncode == 0, campaign.stdout + campaign.stderr
