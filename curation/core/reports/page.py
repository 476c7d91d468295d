"""The HTML page of a report: its sections, drawn from templates without scripts or network."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from markupsafe import Markup

from curation.core.reports.tables import Table, cell_text, is_figure
from curation.core.text import decimal, percent

if TYPE_CHECKING:
    from jinja2 import Environment


def render(template: str, **values: object) -> Markup:
    """Render a template of this package, with its values escaped."""
    return Markup(_environment().get_template(template).render(values))  # noqa: S704


@dataclass(frozen=True)
class Section:
    """A section of a report. `drawings` are its charts, each line of `sentence` is a paragraph, and `anchor`
    is its HTML id.

    `charted` has the figures of the charts as tables for a terminal, which draws no charts.
    """

    heading: str
    sentence: str
    drawings: tuple[Markup, ...] = ()
    tables: tuple[Table, ...] = ()
    remark: str = ""
    anchor: str = ""
    charted: tuple[Table, ...] = ()


def html_page(
    title: str, findings: Iterable[str], sections: Iterable[Section], remark: str = "", lead: str = ""
) -> str:
    """Make an HTML page with a lead-in, a list of findings, a remark and sections."""
    values = {"title": title, "lead": lead, "findings": findings, "remark": remark}
    return str(render("page.html", **values, sections=list(sections)))


@cache
def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("curation.core.reports"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.tests["figure"] = is_figure
    environment.filters |= {
        "cell": cell_text,
        "count": "{:,}".format,
        "figure": decimal,
        "percent": percent,
        "pixels": "{:.1f}".format,
        "plain": _plain,
        "shorten": _shorten,
    }
    return environment


def _plain(value: float) -> str:
    """Write a number for the scale of a chart, without trailing zeros."""
    return f"{value:g}".replace("-", "\u2212")


def _shorten(name: str, letters: int = 27) -> str:
    """Shorten a long name; the chart's tooltip has the whole name."""
    return name if len(name) <= letters else f"{name[: letters - 1]}…"
