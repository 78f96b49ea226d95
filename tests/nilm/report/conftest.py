"""A week's result as `nilm.week.publish` would make it, from a simulated house; and a real browser."""

import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from nilm.appliances.activations import ActivationOptions, energy_kwh, find_activations
from nilm.report.page import render_report
from nilm.results import (
    Appliance,
    ApplianceScore,
    CatalogueChanges,
    Certainty,
    NotToldApart,
    Quality,
    Scores,
    ShownCorrection,
    WeekResult,
)
from nilm.simulate.house import simulated_house

MakeWeek = Callable[..., WeekResult]


def make_week(
    *,
    n_appliances: int = 10,
    seed: int = 3,
    days: float = 7.0,
    week: str = "2015-wk01",
    start_utc: str = "2014-12-29",
    gap: tuple[int, int] = (1500, 1650),
    names: dict[int, str] | None = None,
    ranges: bool = False,
    **changes: Any,
) -> WeekResult:
    """A week of the simulated house with a gap, two corrections and scores; `changes` replace fields.

    With `ranges` each appliance and run says how sure it is, as a page of the pipeline does.
    """
    house = simulated_house(
        seed=seed, days=days, n_appliances=n_appliances, start_utc=np.datetime64(start_utc)
    )
    rng = np.random.default_rng(seed)
    keep = np.ones(len(house.Z), dtype=bool)
    keep[slice(*gap)] = False
    Z, start = house.Z[keep], house.start_utc[keep]
    appliances = []
    for k, (name, kind) in enumerate(zip(house.names, house.kinds, strict=True)):
        rms_a = float(np.sqrt(np.mean(house.W[k] ** 2)))
        spectrum = np.abs(np.fft.rfft(house.W[k]))
        kwh = energy_kwh(Z[:, k] * float(house.watts[k]), house.interval_s)
        appliances.append(
            Appliance(
                appliance_id=f"A{k + 1:02d}",
                name=(names or {}).get(k, name),
                name_source="submeter" if k % 3 == 0 else "description",
                name_score=0.93 if k % 3 == 0 else None,
                kind=kind,
                current_a=house.W[k],
                active_w=float(house.watts[k]),
                rms_a=rms_a,
                power_factor=float(house.watts[k] / (rms_a * np.sqrt(np.mean(house.voltage_v**2)))),
                thd=float(np.sqrt(np.sum(spectrum[2:] ** 2)) / spectrum[1]),
                on=Z[:, k],
                activations=find_activations(
                    Z[:, k],
                    start,
                    power_w=Z[:, k] * float(house.watts[k]),
                    duration_s=np.full(len(Z), house.interval_s),
                    options=ActivationOptions(),
                ),
                share_of_time=float(Z[:, k].mean()),
                energy_kwh=kwh,
                support=float(np.clip(1.02 - 0.09 * k, 0.3, 1.0)),
                correction={1: "inverted", 2: "merged"}.get(k, "unchanged"),
                colour=k,
                sure=float(np.clip(1.02 - 0.05 * k, 0.55, 1.0)),
                energy_low_kwh=0.9 * kwh,
                energy_high_kwh=1.1 * kwh,
                part_of="A03" if k == 3 else None,
                part_evidence="on only while it is, in 412 of 412 readings" if k == 3 else "",
                not_told_apart_from=("A03",) if k == 3 else (),
            )
        )
    explained = Z @ house.watts
    metered = explained + rng.normal(12, 6, size=len(Z))
    metered_kwh = round(float(metered.sum() * house.interval_s / 3.6e6), 6)
    corrections = [
        ShownCorrection(
            appliance_id=appliances[k].appliance_id,
            kind=appliances[k].correction,
            words=words,
            watts_before=-appliances[k].active_w if k == 1 else appliances[k].active_w + 160,
            watts_after=appliances[k].active_w,
            current_before_a=-appliances[k].current_a if k == 1 else appliances[k].current_a + house.W[0],
            current_after_a=appliances[k].current_a,
            on_before=1 - Z[:, k] if k == 1 else Z[:, k] & Z[:, 0],
        )
        for k, words in (
            (1, "It was counted where it is off, with negative watts; it is counted where it is on."),
            (2, "It carried the always-on load as well; the two are apart now."),
        )
        if k < n_appliances
    ]
    scores = tuple(
        ApplianceScore(a.appliance_id, house.names[k], 0.97 - 0.02 * k, 1.5 + k, 20.5 + k, 0.1, 0.05 * k)
        for k, a in enumerate(appliances)
    )
    n = len(start)
    result = WeekResult(
        house="house_sim",
        week=week,
        interval_s=house.interval_s,
        start_utc=start,
        duration_s=np.full(n, float(house.interval_s)),
        metered_w=metered,
        explained_w=explained.astype(np.float64),
        voltage_v=house.voltage_v,
        mains_hz=50 + 0.03 * np.sin(np.arange(n) / 90) + rng.normal(0, 0.01, n),
        rms_v=241 + 2 * np.sin(np.arange(n) / 230) + rng.normal(0, 0.3, n),
        appliances=tuple(sorted(appliances, key=lambda a: -a.energy_kwh)),
        metered_kwh=metered_kwh,
        unexplained_kwh=metered_kwh - sum(a.energy_kwh for a in appliances),
        tariff_per_kwh=0.28,
        currency="GBP",
        corrections=tuple(corrections),
        certainty=Certainty(
            verdict="not identifiable",
            words="Most of the week has one explanation only; two appliances can be exchanged.",
            n_equivalent=3,
            n_equivalent_is_exact=True,
            dependencies=("the amplifier runs only while the television does",),
            indistinguishable=(("A03", "A04"),) if n_appliances > 3 else (),
            not_told_apart=(NotToldApart(("A03", "A04"), "they always ran together", 9.0, 8.0, 9.5),)
            if n_appliances > 3
            else (),
            would_settle=("one hour with the television on and the amplifier off",),
            residual_before=12.3456,
            residual_after=12.3456,
            relative_residual=0.0123,
            at_noise_floor=True,
        ),
        quality=Quality(
            rows_expected=len(house.Z),
            rows_used=n - 4,
            rows_flagged=4,
            coverage=n / len(house.Z),
            hours_missing=tuple(f"2014-12-31T{h:02d}:00:00Z" for h in range(2, 7)),
            files_left_out=(
                {"file": "vi-1420070400_000000.flac", "reason": "truncated: 1,201 s of 3,600 s"},
            ),
            clipped_rows=2,
        ),
        scores=Scores("simulator", 0.081, 0.0042, 0.031, scores[:-1], scores),
        catalogue=CatalogueChanges(
            new=("A02",) if n_appliances > 1 else (),
            gone=("tumble dryer",),
            changed=("A03 kettle: 2.8 kW, was 3.0 kW",),
        ),
        provenance={
            "options": {"components": "auto", "estimator": "switching-decoder", "tariff_per_kwh": 0.28},
            "seed": 0,
            "versions": {"nilm-hopper": "0.1.0", "numpy": np.__version__},
            "inputs": [{"file": "house_sim/2015-wk01.parquet", "sha256": "9f" * 32}],
        },
    )
    return replace(_with_ranges(result) if ranges else result, **changes)


def _with_ranges(result: WeekResult) -> WeekResult:
    """The week with how sure each appliance and run is, and what would settle it."""
    return replace(
        result,
        appliances=tuple(
            replace(
                a,
                sure=round(0.98 - 0.9 * k / len(result.appliances), 2),
                energy_low_kwh=0.8 * a.energy_kwh,
                energy_high_kwh=1.25 * a.energy_kwh,
                doubt=f"another explanation of the week has it {k + 2} W apart from what is always on",
                would_settle=f"one day on which {a.name} runs and nothing else of {a.active_w:.0f} W does",
                activations=tuple(
                    replace(run, sure=0.5 + 0.5 * (n % 2)) for n, run in enumerate(a.activations)
                ),
            )
            for k, a in enumerate(result.appliances)
        ),
    )


@pytest.fixture(scope="session")
def week() -> MakeWeek:
    return make_week


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Debian's chromium; tests that need it are skipped where it is not installed."""
    executable = shutil.which("chromium")
    if executable is None:
        pytest.skip("no chromium on this machine: install Debian's package `chromium`")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        started = playwright.chromium.launch(
            executable_path=executable,
            args=[
                "--no-sandbox",
                "--headless=new",
                "--disable-gpu",
                "--disable-dev-shm-usage",
                "--disable-background-networking",
            ],
        )
        yield started
        started.close()


class Opened:
    """A page in a fresh context, and whatever it complained about or asked the network for."""

    def __init__(self, browser: Any, html: str, *, width: int = 1280, **options: Any) -> None:
        self.context = browser.new_context(viewport={"width": width, "height": 900}, **options)
        self.page = self.context.new_page()
        self.complaints: list[str] = []
        self.page.on("console", lambda m: self.complaints.append(m.text))
        self.page.on("pageerror", lambda e: self.complaints.append(str(e)))
        self.page.on("dialog", lambda d: (self.complaints.append("dialog"), d.dismiss()))
        self.page.on("request", lambda r: self.complaints.append(r.url))
        self.page.set_content(html, wait_until="load")

    def __enter__(self) -> "Opened":
        return self

    def __exit__(self, *error: object) -> None:
        self.context.close()

    @property
    def overflow(self) -> int:
        """Pixels that the page is wider than the window; a table that scrolls in its box is no overflow."""
        return int(self.page.evaluate("document.documentElement.scrollWidth - innerWidth"))

    def values(self, selector: str) -> list[float]:
        found = self.page.locator(f"{selector} data")
        return [float(value) for value in found.evaluate_all("all => all.map(d => d.value)")]


@pytest.fixture
def opened_page(browser: Any) -> Callable[..., Opened]:
    """A function that opens HTML in a fresh browser context, to be used in a `with` statement."""

    def open_page(html: str, **options: Any) -> Opened:
        return Opened(browser, html, **options)

    return open_page


@pytest.fixture(scope="session")
def result() -> WeekResult:
    return make_week()


@pytest.fixture(scope="session")
def html(result: WeekResult) -> str:
    return render_report(result)
