"""Templates to pages: one environment for every page, with the style sheet, the scripts and the filters.

Owns what all pages share. Which template shows what is for `page`, `index`, `piano`, `served` and the
experiments. No file is read but the package's own templates.
"""

import base64
import hashlib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

import jinja2
from markupsafe import Markup

from nilm.appliances.naming import quoted
from nilm.report.figures import palette
from nilm.report.figures.chart import bokeh_script
from nilm.report.text import words


def render(template: str, **names: Any) -> str:
    """The page that a template makes of these names."""
    return _environment().get_template(template).render(names)


def load_templates() -> None:
    """Compile every template now, for a process whose copies will make pages."""
    environment = _environment()
    for name in environment.list_templates(extensions=["html"]):
        environment.get_template(name)


@cache
def _environment() -> jinja2.Environment:
    """The templates with autoescape on and every name required, and the constants that all pages share."""
    made = jinja2.Environment(
        loader=jinja2.PackageLoader("nilm.report"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    folder = files("nilm.report") / "templates"
    scripts = {name: (folder / f"{name}.js").read_text(encoding="utf-8") for name in ("page", "chart")}
    scripts["bokeh"] = bokeh_script()
    made.globals.update(
        # Our own files, which hold no data of a week.
        scripts={name: Markup(script) for name, script in scripts.items()},  # noqa: S704
        style=Markup((folder / "style.css").read_text(encoding="utf-8")),  # noqa: S704
        digests={name: _digest(script) for name, script in scripts.items()},
        light=palette.css_variables(palette.LIGHT, palette.LIGHT_GROUND),
        dark=palette.css_variables(palette.DARK, palette.DARK_GROUND),
        is_mapping=lambda value: isinstance(value, Mapping),
        is_list=lambda value: isinstance(value, Sequence) and not isinstance(value, str),
    )
    made.filters.update(
        breakable=words.breakable,
        quoted=quoted,
        second=words.second,
        end_second=words.end_second,
        fixed=words.fixed,
        percent=words.percent,
        rounded=words.rounded,
        watts=words.watts,
        money=words.money,
        count_of=words.count,
        duration=words.duration,
        moment=words.moment,
        change=words.change,
        confidence=words.confidence,
        correction=words.correction,
    )
    return made


def _digest(script: str) -> str:
    """A script's mark in the page's Content-Security-Policy: no other script runs."""
    return f"sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}"
