from pathlib import Path

import numpy as np

from nilm.recordings import tables
from nilm.recordings.ukdale import Week
from nilm.recordings.waveforms import Sampling, read_hour
from nilm.simulate.device.recorder import Recorder, windows_read
from nilm.simulate.grid import Conditions
from nilm.simulate.lifelike import lifelike_house
from nilm.simulate.signal import signal_of
from nilm.simulate.week import CALIBRATION, CLOCK_S

START_S = int(Week(2015, 1).start.timestamp())


def test_a_sparse_recording_reads_as_the_continuous_one(tmp_path: Path) -> None:
    """In a house that wanders a reader looks where nobody could have said in advance."""
    house, profile = lifelike_house(seed=7, days=12 / 24 / 60, interval_s=CLOCK_S)
    profile = profile * np.random.default_rng(0).uniform(0.7, 1.3, size=profile.shape)
    signal = signal_of(house, Conditions(), np.random.default_rng(1), profile=profile)
    found = {}
    for continuous in (False, True):
        folder = tmp_path / str(continuous)
        folder.mkdir()
        recorder = Recorder(signal, Conditions(), CALIBRATION, 0, START_S, 0.5, Sampling())
        path = recorder.write_hour(folder, 0, frozenset(), continuous=continuous)
        assert path is not None
        for sampling in (Sampling(), Sampling(probe_s=0)):
            table = read_hour(path, calibration=CALIBRATION, sampling=sampling).table
            found.setdefault(sampling, []).append(table)
    adaptive = found[Sampling()]
    assert np.sum(adaptive[0].inrush > 0) > 5
    for sparse, whole in found.values():
        for name in tables.COLUMNS:
            one, other = getattr(sparse, name), getattr(whole, name)
            if one.dtype.kind == "f":  # a sample may be rounded otherwise: one step of the converter is 2 µA
                np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-5, err_msg=name)
            else:
                np.testing.assert_array_equal(one, other, err_msg=name)


def test_windows_are_in_order_and_do_not_touch() -> None:
    n_samples = 16_000 * 300
    spans = windows_read(
        lambda low, high: np.zeros((high - low, 2), dtype=np.int32),
        n_samples=n_samples,
        start_s=START_S,
        calibration=CALIBRATION,
        sampling=Sampling(),
    )
    begin, end = np.array(spans).T
    assert np.all(end > begin)
    assert np.all(begin[1:] > end[:-1])
    assert begin[0] == 0
    assert end[-1] <= n_samples
    assert np.sum(end - begin) < 0.02 * n_samples
