"""What waits for a lead besides the stages: questions about the guide, flags, and unused invitations."""

from __future__ import annotations

from collections.abc import Iterator

from curation.core.text import join_names, pluralize
from curation.guides.questions import list_questions
from curation.operations.workflow.judging import QUESTIONS
from curation.operations.workflow.stage import Action, Stage
from curation.people.accounts import list_accounts
from curation.people.seal_access import read_closed_access
from curation.store import Cursor

_OPEN_FLAGS = """
SELECT r.name, query_id
FROM current_judgments j JOIN round_states r USING (round_id)
WHERE j.flagged AND NOT r.closed AND r.kind <> 'practice'
  AND (j.query_id, j.document_id) NOT IN (SELECT (query_id, document_id) FROM current_adjudications)
ORDER BY j.written DESC
"""


def read_waiting(cursor: Cursor) -> list[Stage]:
    """Read what is waiting for a lead, as stages with their actions; empty if nothing does."""
    texts = [*_read_questions(cursor), *_read_flags(cursor), *_read_invitations(cursor)]
    return [Stage(name, "needs attention", line, action) for name, line, action in texts]


def _read_questions(cursor: Cursor) -> Iterator[tuple[str, str, Action]]:
    if count := sum(question.answer is None for question in list_questions(cursor)):
        line = f"{pluralize(count, 'question waits', 'questions wait')} for an answer about the guide."
        page = {"part": "Guide", "show": "Questions"}
        yield "questions", line, Action("Answer", "settings", "goldgrade guide answer ID", page)


def _read_flags(cursor: Cursor) -> Iterator[tuple[str, str, Action]]:
    """Read the flagged answers of open rounds; a reviewer's decision on the pair settles a flag."""
    access = read_closed_access(cursor)
    rows = cursor.execute(_OPEN_FLAGS).fetchall()
    if rounds := [name for name, query_id in rows if access.can_show(query_id)]:
        names = join_names(list(dict.fromkeys(rounds)))
        line = f"{pluralize(len(rounds), 'answer is', 'answers are')} flagged in {names}."
        page, command = {"part": QUESTIONS, "round": rounds[0]}, f"goldgrade round status {rounds[0]}"
        yield "flags", line, Action("See the flags", "rounds", command, page)


def _read_invitations(cursor: Cursor) -> Iterator[tuple[str, str, Action]]:
    accounts = [row for row in list_accounts(cursor) if row.active and not (row.imported or row.can_sign_in)]
    if accounts:
        line = f"{join_names([row.name for row in accounts])} has not used the invitation yet."
        expired = [row.name for row in accounts if row.link_until is None]
        if expired:
            line += f" The link of {join_names(expired)} no longer works."
        page = {"person": (expired or [accounts[0].name])[0]}
        yield "invitations", line, Action("See the link", "team", "goldgrade people set NAME --link", page)
