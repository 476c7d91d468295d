"""Adjudicate: the reviewer settles the pairs on which annotators disagree, without seeing who they are."""

from __future__ import annotations

from app.deciding import deciding
from app.page import JUDGE, REVIEWERS, AppPage
from app.signin.current_user import sessions
from curation.store import Annotator


def show(annotator: Annotator) -> None:
    deciding(annotator.name, sessions().project)


PAGE = AppPage(30, "Adjudicate", "adjudicate", REVIEWERS, show, shows_title=False, group=JUDGE)
