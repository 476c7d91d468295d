"""A report as one HTML file: no scripts, no network. The terminal and the app show the same sections.

The templates of pages and charts are here, and how they write numbers. Jinja escapes every value
that is not `Markup`; only charts, which escaped their own values, are `Markup`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from markupsafe import Markup

from curation.text import TINY_P, decimal, percent

if TYPE_CHECKING:
    from jinja2 import Environment


def render(template: str, **values: object) -> Markup:
    """A template of this room with its values filled in, escaped."""
    return Markup(_environment().get_template(template).render(values))  # noqa: S704


@cache
def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("curation.reports"),
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


def cell_text(value: object) -> str:
    """What a table shows of a value: None is unknown, and fractions have three places."""
    if value is None:
        return "–"
    if isinstance(value, float):
        return decimal(value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:,}" if isinstance(value, int) else str(value)


def is_figure(value: object) -> bool:
    """Whether a cell is right-aligned: a number, what is unknown, and a p too small for three decimals."""
    return value is None or isinstance(value, int | float) or value == TINY_P


def _plain(value: float) -> str:
    """A number of a scale, without zeros that say nothing."""
    return f"{value:g}".replace("-", "\u2212")


def _shorten(name: str, letters: int = 27) -> str:
    """The beginning of a long name; the chart's tooltip has all of it."""
    return name if len(name) <= letters else f"{name[: letters - 1]}…"


@dataclass(frozen=True)
class Table:
    """A table for people: None is unknown; `words` says that cells hold sentences."""

    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[object, ...], ...]
    words: bool = False


@dataclass(frozen=True)
class Section:
    """A part of a report; `drawings` are charts, each line of `sentence` is a paragraph, `anchor` an id.

    `charted`: the figures of the charts, for a terminal, which has none.
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
    """A whole HTML page: a lead-in, the findings as a list, a quiet remark, then section by section."""
    values = {"title": title, "lead": lead, "findings": findings, "remark": remark}
    return str(render("page.html", **values, sections=list(sections)))
