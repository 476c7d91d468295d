"""Queries: which queries are judged, in two parts."""

from __future__ import annotations

from app import ui
from app.app_page import DATA, LEADS, AppPage
from app.page_context import read_context
from app.views.queries import sample, tagging
from curation.store import Annotator

PARTS = {"Sample": sample.show, "All queries": tagging.show}


def show(annotator: Annotator) -> None:
    ui.lead("Which queries are judged: drawn from the log, imported, or written here.")
    context = read_context(annotator)
    PARTS[ui.part("Part", PARTS, "part")](context)


PAGE = AppPage(12, "Queries", "queries", LEADS, show, group=DATA)
