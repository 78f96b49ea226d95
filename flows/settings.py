"""The settings: one file `nilm.toml`, or the environment variables NILM_*, in one frozen and checked record.

Order of precedence: an argument of the command or flow, then NILM_* in the environment, then the file, then
the default here. The file is `nilm.toml` in the working directory, or the one that NILM_SETTINGS names. A
name that is no setting is an error, in the file and in the environment: a misspelt tariff would go unnoticed.
"""

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field, ValidationError
from pydantic_settings import (
    BaseSettings,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)

from nilm.choices import ESTIMATORS, PRIORS
from nilm.errors import OptionError
from nilm.paths import WeekPaths

if TYPE_CHECKING:
    from nilm.pipeline import WeekPipeline

FILE_VARIABLE = "NILM_SETTINGS"
DEFAULT_FILE = Path("nilm.toml")

Estimator = Literal[ESTIMATORS]
EstimatorChoice = Literal["as set", Estimator]  # one list, which the run form shows as a choice
Components = Annotated[int, Field(ge=1, le=64)] | Literal["auto"]
Workers = Annotated[int, Field(ge=1)]


class Settings(BaseSettings):
    """Where the data lies and how a week is worked out; every field is a line of nilm.toml."""

    model_config = SettingsConfigDict(env_prefix="NILM_", extra="forbid", frozen=True)

    data_root: Path = Field(Path("data"), description="Folder of raw/, waveforms/ and solutions/.")
    outputs_root: Path = Field(Path("outputs"), description="Folder of what analysts read.")
    tariff_per_kwh: float = Field(
        0.25, ge=0, le=1e9, allow_inf_nan=False, description="Price of a kWh, in `currency`."
    )
    currency: str = Field("£", min_length=1, max_length=8, description="Sign or code shown with prices.")
    timezone: str = Field("Europe/London", description="Of the house's clocks, for people; files are in UTC.")
    components: Components = Field("auto", description="Most appliances to look for, K, or auto.")
    estimator: Estimator = Field("auto", description="What factorises the week.")
    prior: Literal[PRIORS] = Field("house", description="What decides between equivalents.")
    seed: int = Field(0, ge=0, description="Seed of everything random in a run.")
    interval_s: int = Field(
        120, ge=1, le=3600, description="Longest time without a new row, seconds; divides an hour."
    )
    probe_s: float = Field(
        10.0, ge=0, le=600, description="Seconds from look to look for changes; 0 reads the plain grid only."
    )
    edge_s: float = Field(0.1, ge=0.02, le=5, description="To how many seconds a change is timed.")
    n_points: int = Field(320, ge=16, le=4096, description="Points of one voltage cycle, D.")
    n_cycles: int = Field(10, ge=3, le=50, description="Voltage cycles averaged into one row.")
    min_on_s: float = Field(
        0.0, ge=0, le=604_800, allow_inf_nan=False, description="Shorter runs are not listed."
    )
    min_off_s: float = Field(
        0.0, ge=0, le=604_800, allow_inf_nan=False, description="Shorter pauses do not end a run."
    )
    reports_url: str | None = Field(
        None, pattern="^https?://", description="Where a browser finds outputs_root, for links from Prefect."
    )
    fail_after_silent_days: float | None = Field(
        None, gt=0, description="A scheduled run fails if the last recording is older; never if not set."
    )
    workers: Workers | None = Field(None, description="Weeks or hours at a time; all cores if not set.")

    def with_absolute_roots(self) -> "Settings":
        """The same, for a process that may run in another folder."""
        roots = {"data_root": self.data_root.absolute(), "outputs_root": self.outputs_root.absolute()}
        return self.model_copy(update=roots)

    def pipeline(self, paths: WeekPaths) -> "WeekPipeline":
        """The pipeline of a house and week under these settings."""
        from nilm.options import FactoriseOptions, PriorOptions, PublishOptions, Sampling, WeekOptions
        from nilm.pipeline import WeekPipeline

        options = WeekOptions(
            Sampling(
                interval_s=self.interval_s,
                n_points=self.n_points,
                n_cycles=self.n_cycles,
                probe_s=self.probe_s,
                edge_s=self.edge_s,
            ),
            FactoriseOptions(self.components, self.estimator, self.seed),
            PriorOptions(self.prior, self.seed),
            PublishOptions(self.tariff_per_kwh, self.currency, self.min_on_s, self.min_off_s, self.timezone),
        )
        return WeekPipeline(paths, options, self.workers or os.cpu_count() or 1)

    def check_roots(self) -> None:
        """Raise OptionError before any work is done if one of the roots cannot be written to."""
        for name in ("data_root", "outputs_root"):
            root: Path = getattr(self, name)
            try:
                root.mkdir(parents=True, exist_ok=True)
                with tempfile.TemporaryFile(dir=root) as probe:
                    probe.write(b"room")
            except OSError as error:
                raise OptionError(
                    f"{name} = {str(root)!r} cannot be written to: {error.strerror or error}; choose another "
                    f"folder with --{name.replace('_', '-')} or NILM_{name.upper()}, or make it writable"
                ) from error

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - pydantic's signature
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Arguments first, then the environment, then the file; no .env and no secrets folder."""
        file = settings_file()
        sources = (init_settings, env_settings)
        return sources if file is None else (*sources, TomlConfigSettingsSource(settings_cls, file))


def settings_file() -> Path | None:
    """The settings file in use; OptionError if NILM_SETTINGS names one that is not there."""
    named = os.environ.get(FILE_VARIABLE)
    if named is None:
        return DEFAULT_FILE if DEFAULT_FILE.is_file() else None
    if not Path(named).is_file():
        raise OptionError(f"{FILE_VARIABLE} names {named!r}, which is not a file; correct or unset it")
    return Path(named)


def load_settings(**overrides: Any) -> Settings:
    """The settings in force; an override of None counts as not given. OptionError names what is wrong."""
    known = {f"NILM_{name.upper()}" for name in Settings.model_fields} | {FILE_VARIABLE}
    unknown = sorted(v for v in os.environ if v.upper().startswith("NILM_") and v.upper() not in known)
    if unknown:
        raise OptionError(f"{', '.join(unknown)} is no setting; there are {', '.join(sorted(known))}")
    given = {name: value for name, value in overrides.items() if value is not None}
    try:
        return Settings(**given)
    except ValidationError as error:
        raise OptionError(_in_words(error, given)) from error
    except (ValueError, RecursionError) as error:  # the file is not TOML
        raise OptionError(f"{settings_file()} cannot be read: {error}") from error


def _in_words(error: ValidationError, given: Mapping[str, Any]) -> str:
    faults: dict[str, list[str]] = {}
    for fault in error.errors():
        name = str(fault["loc"][0]) if fault["loc"] else "settings"
        if fault["type"] == "extra_forbidden":
            said = (
                f"{name!r} in {settings_file()} is no setting; there are {', '.join(Settings.model_fields)}"
            )
            faults[said] = []
        else:
            said = f"{name} = {fault['input']!r}{_origin(name, given)}: "
            faults.setdefault(said, []).append(fault["msg"].lower())
    return "; ".join(said + ", or ".join(dict.fromkeys(why)) for said, why in faults.items())


def _origin(name: str, given: Mapping[str, Any]) -> str:
    """Where a setting's value came from, if not from the command itself."""
    if name in given:
        return ""
    variables = {variable.upper(): variable for variable in os.environ}
    return f" in {variables.get(f'NILM_{name.upper()}', settings_file())}"
