"""Label: where annotators spend their day."""

from __future__ import annotations

from app.app_page import JUDGE, LEADS, AppPage
from app.context import project_store
from app.grading import grading
from app.next_step import missing_step
from app.signin.current_user import sessions
from curation.labeling.rounds.upcoming import read_items, read_open_rounds
from curation.people.annotators import JUDGING
from curation.store import Annotator


def show(annotator: Annotator) -> None:
    if annotator.role in LEADS:
        _what_comes_first(annotator)
    grading(annotator.name, sessions().project)


PAGE = AppPage(20, "Label", "label", JUDGING, show, shows_title=False, group=JUDGE)


def _what_comes_first(annotator: Annotator) -> None:
    """A lead with nothing to grade is led to what the project lacks."""
    store = project_store()
    with store.reading() as cursor:
        items = read_items(cursor, annotator.name, read_open_rounds(cursor))
    if all(item.answered is not None for item in items):
        missing_step(store, annotator, "round")
