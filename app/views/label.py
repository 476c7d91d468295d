"""Label: where annotators spend their day."""

from __future__ import annotations

from app.grading import grading
from app.page import JUDGE, AppPage
from app.signin.current_user import sessions
from curation.people.annotators import JUDGING
from curation.store import Annotator


def show(annotator: Annotator) -> None:
    grading(annotator.name, sessions().project)


PAGE = AppPage(10, "Label", "label", JUDGING, show, shows_title=False, group=JUDGE)
