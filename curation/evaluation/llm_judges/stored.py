"""The judgments of judges as they are stored: which judges there are, and what one of them said."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

from curation.core.errors import NotFoundError
from curation.store import Cursor, fetch

NO_JUDGE = "It has none yet: `goldgrade import judgments FILE --judge NAME` brings one in."
_JUDGES = """
SELECT judge, count(DISTINCT (query_id, document_id)) AS judgments,
       count(DISTINCT (query_id, document_id)) FILTER (grade IS NULL) AS cannot_tell,
       count(DISTINCT query_id) AS queries, count(DISTINCT guide_hash) AS guides,
       max(imported_at) AS last_import
FROM current_judge_judgments GROUP BY judge ORDER BY judge
"""
_JUDGMENTS = """
SELECT query_id, document_id, content_hash, revision, grade, guide_hash FROM current_judge_judgments
WHERE judge = ? ORDER BY query_id, document_id, content_hash
"""


class StoredJudge(NamedTuple):
    """A judge and what the project holds of it.

    Attributes
    ----------
    judgments: pairs that it judged, in whatever version; `cannot_tell` of them have no grade.
    queries: how many queries these are about.
    guides: how many guides were in force when they were imported.
    last_import: of its newest judgment.
    """

    judge: str
    judgments: int
    cannot_tell: int
    queries: int
    guides: int
    last_import: datetime


class JudgeJudgment(NamedTuple):
    """What a judge says about one version of a document; `grade` None is cannot-tell."""

    query_id: str
    document_id: str
    content_hash: str
    revision: int
    grade: int | None
    guide_hash: str


def list_judges(cursor: Cursor) -> list[StoredJudge]:
    """All judges by name."""
    return fetch(cursor, StoredJudge, _JUDGES)


def require_judge(cursor: Cursor, name: str) -> StoredJudge:
    """The judge of that name.

    Raises
    ------
    NotFoundError: there is none; names those there are.
    """
    judges = {judge.judge: judge for judge in list_judges(cursor)}
    if name in judges:
        return judges[name]
    have = f"It has {', '.join(judges)}." if judges else NO_JUDGE
    raise NotFoundError(f"The project has no judge {name!r}. {have}")


def judgments_of(cursor: Cursor, name: str) -> list[JudgeJudgment]:
    """The judge's last word on each version of each pair, ordered by the ids."""
    return fetch(cursor, JudgeJudgment, _JUDGMENTS, [name])
