"""Adjudicate: the page on which a reviewer decides pairs on which annotators disagree."""

from __future__ import annotations

from app.app_page import JUDGE, AppPage
from app.context import project_store
from app.deciding import show_deciding
from app.next_stage import show_missing_stage
from app.signin.cookies import cookie_codec
from curation.labeling.consensus.queue import count_open_pairs
from curation.labeling.rounds.rounds import list_rounds
from curation.operations.jobs.figures import figures_of
from curation.people.annotators import REVIEWERS
from curation.store import Annotator


def show(annotator: Annotator) -> None:
    store = project_store()
    with store.reading() as cursor:
        rounds = list_rounds(cursor)
    if not rounds:
        show_missing_stage(store, annotator, "round")
    show_deciding(annotator.name, cookie_codec().project)


def count_pairs(annotator: Annotator) -> int:
    """Count the pairs waiting for the reviewer."""
    return figures_of(project_store()).now(count_open_pairs, annotator.name)


PAGE = AppPage(
    *(21, "Adjudicate", "adjudicate", REVIEWERS, show),
    shows_title=False,
    menu=JUDGE,
    first_for=("reviewer",),
    count=count_pairs,
)
