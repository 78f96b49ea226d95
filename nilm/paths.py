"""Where the files of one house and week lie, from recordings to report. Reads and writes nothing."""

from dataclasses import dataclass
from pathlib import Path

from nilm.recordings.ukdale import Week, check_house


@dataclass(frozen=True)
class WeekPaths:
    """The files of one house and week below the data root and the outputs root."""

    data_root: Path
    house: str
    week: Week
    outputs_root: Path = Path("outputs")

    def __post_init__(self) -> None:
        check_house(self.house)

    def __str__(self) -> str:
        return f"{self.house} {self.week}"

    @property
    def house_folder(self) -> Path:
        """The recordings and submeters, read only."""
        return self.data_root / "raw" / self.house

    @property
    def calibration(self) -> Path:
        """The house's calibration.cfg."""
        return self.house_folder / "calibration.cfg"

    @property
    def truth(self) -> Path:
        """Where a simulator would have put the truth of the week."""
        return self.house_folder / "truth" / f"{self.week}.npz"

    @property
    def waveforms(self) -> Path:
        """The week's Parquet file."""
        return self.data_root / "waveforms" / self.house / f"{self.week}.parquet"

    @property
    def quality(self) -> Path:
        """What the Parquet file lacks, as JSON."""
        return self.waveforms.with_suffix(".quality.json")

    @property
    def waveforms_manifest(self) -> Path:
        """The manifest of the week's assembly."""
        return self.waveforms.with_suffix(".manifest.json")

    @property
    def pieces(self) -> Path:
        """The folder of the rows of each recording."""
        return self.waveforms.parent / "hours" / str(self.week)

    def hour_piece(self, recording: Path) -> Path:
        """The file of one recording's rows; its manifest lies beside it, as `.json`."""
        return self.pieces / f"{recording.stem}.arrow"

    @property
    def solutions(self) -> Path:
        """The folder of the week's solution; those of the house's other weeks lie beside it."""
        return self.data_root / "solutions" / self.house / str(self.week)

    @property
    def factorised(self) -> Path:
        """What the estimator found."""
        return self.solutions / "factorised.npz"

    @property
    def hopped(self) -> Path:
        """The same after the hop."""
        return self.solutions / "hopped.npz"

    @property
    def identity(self) -> Path:
        """The ids of the week's appliances."""
        return self.solutions / "identity.json"

    @property
    def names(self) -> Path:
        """What an analyst called the house's appliances."""
        return self.data_root / "names" / f"{self.house}.json"

    @property
    def catalogue(self) -> Path:
        """The house's appliances over all its weeks."""
        return self.data_root / "catalogue" / f"{self.house}.json"

    @property
    def outputs(self) -> Path:
        """The folder that analysts read."""
        return self.outputs_root / self.house / str(self.week)

    @property
    def manifest(self) -> Path:
        """What the outputs were made from; written last."""
        return self.outputs / "manifest.json"

    @property
    def report(self) -> Path:
        """The page that analysts read first."""
        return self.outputs / "report.html"

    @property
    def indexes(self) -> tuple[Path, Path]:
        """The pages that list the week: of all houses, and of its own."""
        return self.outputs_root / "index.html", self.outputs.parent / "index.html"
