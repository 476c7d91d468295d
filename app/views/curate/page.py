"""Curate: which queries are judged, which documents for each, and who judges them, in four steps."""

from __future__ import annotations

from app import ui
from app.page import BUILD, LEADS, AppPage, read_context
from app.views.curate import opening, pool, queries, sample
from curation.store import Annotator

STEPS = {
    "Sample": sample.show,
    "Queries": queries.show,
    "Pool": pool.show,
    "Round": opening.show,
}


def show(annotator: Annotator) -> None:
    ui.lead("Which queries are judged, which documents for each, and who judges them.")
    context = read_context(annotator)
    STEPS[ui.part("Step", STEPS, "step")](context)


PAGE = AppPage(40, "Curate", "curate", LEADS, show, group=BUILD)
