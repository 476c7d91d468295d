"""Write: the page on which people write queries and reference answers."""

from __future__ import annotations

from app import ui
from app.acts import Acts
from app.app_page import JUDGE, LEADS, AppPage
from app.context import project_store
from app.page_context import read_context
from app.views.write import answer_tasks, answers, deciding, queries, questions
from curation.ingest.importers.queries import has_written_queries
from curation.labeling.written_answers.writing import has_answer_tasks
from curation.people.annotators import JUDGING_ROLES, REVIEWERS
from curation.queries.coverage.writing.writing_queue import has_writing_tasks
from curation.store import Annotator

QUERIES, ANSWERS, DECIDE, TASKS, QUESTIONS = "Queries", "Answers", "Decide", "Tasks", "Questions"
PARTS = {QUERIES: queries.show, ANSWERS: answers.show, DECIDE: deciding.show, TASKS: answer_tasks.show}
PURPOSES = {
    QUERIES: "Write queries that users would ask, for documents that no query finds yet.",
    ANSWERS: "Write correct answers to queries. Several people write answers to a query independently.",
    DECIDE: "Choose the reference answer where the written answers differ.",
    QUESTIONS: "Let a language model propose questions for documents in the corpus.",
    TASKS: "Choose who writes reference answers, and for which queries.",
}


def show(annotator: Annotator) -> None:
    parts = list_parts(annotator) or [QUERIES]
    part = ui.choose_part("Part", parts, "part") if len(parts) > 1 else parts[0]
    ui.purpose(PURPOSES[part])
    if part == QUESTIONS:
        questions.show(read_context(annotator, [questions.JOB]))
    else:
        PARTS[part](project_store(), Acts(annotator))


def list_parts(annotator: Annotator) -> list[str]:
    """Return the parts of the page that have work for this person; leads also get the parts that start
    work."""
    is_lead, decides = annotator.role in LEADS, annotator.role in REVIEWERS
    with project_store().reading() as cursor:
        parts = [QUERIES] if is_lead or has_writing_tasks(cursor, annotator.name) else []
        if has_answer_tasks(cursor, None if decides else annotator.name):
            parts += [ANSWERS, DECIDE] if decides else [ANSWERS]
    return [*parts, TASKS, QUESTIONS] if is_lead else parts


def _is_listed(annotator: Annotator) -> bool:
    """Return whether the page has work for this person; for leads, whether anybody has used the page."""
    if annotator.role not in LEADS:
        return bool(list_parts(annotator))
    with project_store().reading() as cursor:
        has_tasks = has_writing_tasks(cursor) or has_answer_tasks(cursor)
        return has_tasks or has_written_queries(cursor)


PAGE = AppPage(22, "Write", "write", JUDGING_ROLES, show, menu=JUDGE, listed=_is_listed)
