"""A report as one HTML file: no scripts, no network. The terminal and the app show the same sections."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from markupsafe import Markup

from curation.reports.rendering import render


@dataclass(frozen=True)
class Table:
    """A table for people: None is unknown; `words` says that cells hold sentences."""

    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[object, ...], ...]
    words: bool = False


@dataclass(frozen=True)
class Section:
    """A part of a report; `drawings` are charts, and each line of `sentence` is a paragraph."""

    heading: str
    sentence: str
    drawings: tuple[Markup, ...] = ()
    tables: tuple[Table, ...] = ()
    remark: str = ""


def html_page(
    title: str, findings: Iterable[str], sections: Iterable[Section], remark: str = "", lead: str = ""
) -> str:
    """A whole HTML page: a lead-in, the findings as a list, a quiet remark, then section by section."""
    values = {"title": title, "lead": lead, "findings": findings, "remark": remark}
    return str(render("page.html", **values, sections=list(sections)))
