"""Answers: people write reference answers on their own, reviewers decide, leads open tasks."""

from __future__ import annotations

from app import ui
from app.acts import Acts
from app.app_page import JUDGE, LEADS, REVIEWERS, AppPage
from app.context import project_store
from app.views.answers import deciding, tasks, writing
from curation.labeling.written_answers.writing import has_answer_tasks
from curation.people.annotators import JUDGING
from curation.store import Annotator

PARTS = {
    "Write answers": (JUDGING, writing.show),
    "Decide": (REVIEWERS, deciding.show),
    "Tasks": (LEADS, tasks.show),
}


def show(annotator: Annotator) -> None:
    ui.lead("What a right answer to a query says: written by several people, each on their own.")
    parts = [name for name, (roles, _) in PARTS.items() if annotator.role in roles]
    part = ui.part("Part", parts, "part") if len(parts) > 1 else "Write answers"
    PARTS[part][1](project_store(), Acts(annotator))


def _is_listed(annotator: Annotator) -> bool:
    if annotator.role in LEADS:
        return True
    with project_store().reading() as cursor:
        return has_answer_tasks(cursor, None if annotator.role in REVIEWERS else annotator.name)


PAGE = AppPage(22, "Answers", "answers", JUDGING, show, group=JUDGE, listed=_is_listed)
