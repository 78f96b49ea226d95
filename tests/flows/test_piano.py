"""The piano flow end to end on two seconds of tones."""

from pathlib import Path

import numpy as np
import pytest
import soundfile

from flows.piano import piano
from nilm.errors import InputFileError

pytestmark = pytest.mark.usefixtures("prefect_server")


def test_a_piece_becomes_a_report(clean_settings: None, tmp_path: Path) -> None:
    rate = 16_000
    time_s = np.arange(2 * rate) / rate
    tones = [
        np.sin(2 * np.pi * hz * time_s) * (np.floor(time_s * 4) % n == 0) for n, hz in ((2, 440), (3, 660))
    ]
    soundfile.write(tmp_path / "two tones.wav", 0.3 * np.sum(tones, axis=0), rate)
    report = piano(audio=tmp_path / "two tones.wav", components=3, estimator="latent-lasso")
    assert report == tmp_path / "outputs" / "piano" / "two_tones" / "report.html"
    assert "two_tones" in report.read_text()
    with pytest.raises(InputFileError, match=r"none\.wav is not a file"):
        piano(audio=tmp_path / "none.wav")
