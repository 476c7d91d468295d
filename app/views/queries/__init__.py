"""Queries: the page on which a lead chooses which queries people judge, and which documents."""

from __future__ import annotations

from app import ui
from app.app_page import DATA, LEADS, AppPage
from app.page_context import read_context
from app.views.queries import coverage, pool, sample, tagging
from curation.store import Annotator

PARTS = {"Sample": sample.show, "All queries": tagging.show, "Pool": pool.show, "Coverage": coverage.show}


def show(annotator: Annotator) -> None:
    ui.purpose("Choose which queries people judge, and which documents they judge for each query.")
    context = read_context(annotator)
    PARTS[ui.choose_part("Part", PARTS, "part")](context)


PAGE = AppPage(12, "Queries", "queries", LEADS, show, menu=DATA)
