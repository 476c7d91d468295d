"""Label: where annotators spend their day."""

from __future__ import annotations

from app.grading import grading
from app.workplace import sessions
from curation.store.rows import Annotator


def show(annotator: Annotator) -> None:
    grading(annotator.name, sessions().project)
