"""A house with known truth, written as UK-DALE lies on disk: recordings, meters, calibration, truth."""

from nilm.simulate.faults import Fault, FaultKind
from nilm.simulate.grid import Conditions
from nilm.simulate.week import SimulatedWeek, simulate_week, truth_path

__all__ = ["Conditions", "Fault", "FaultKind", "SimulatedWeek", "simulate_week", "truth_path"]
