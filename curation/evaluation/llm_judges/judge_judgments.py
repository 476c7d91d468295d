"""The stored judgments of judges, which are never votes.

A judge is a model or a program, not a person. The file that was imported last counts.
"""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

from curation.core.errors import NotFoundError
from curation.store import Cursor, fetch

NO_JUDGE = (
    "No judge has judgments yet: `goldgrade judge ask NAME` asks a language model, and `goldgrade import "
    "judgments FILE --judge NAME` imports a judge's judgments."
)
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
    """A judge with counts of its stored judgments.

    Attributes
    ----------
    judgments: the number of pairs that the judge judged, in any version.
    cannot_tell: the number of these pairs without a grade.
    queries: the number of queries of these pairs.
    guides: the number of guides under which the judgments were imported.
    last_import: the time of the last import.
    """

    judge: str
    judgments: int
    cannot_tell: int
    queries: int
    guides: int
    last_import: datetime


class JudgeJudgment(NamedTuple):
    """A judge's judgment of one version of a document; the grade None is cannot-tell."""

    query_id: str
    document_id: str
    content_hash: str
    revision: int
    grade: int | None
    guide_hash: str


def list_judges(cursor: Cursor) -> list[StoredJudge]:
    """List all judges by name."""
    return fetch(cursor, StoredJudge, _JUDGES)


def require_judge(cursor: Cursor, name: str) -> StoredJudge:
    """Return the judge with this name, or raise an error.

    Raises
    ------
    NotFoundError: the project has no such judge; the error names the project's judges.
    """
    judges = {judge.judge: judge for judge in list_judges(cursor)}
    if name in judges:
        return judges[name]
    judge_names = f"Judges of the project: {', '.join(judges)}." if judges else NO_JUDGE
    raise NotFoundError(f"The project has no judge {name!r}. {judge_names}")


def read_judge_judgments(cursor: Cursor, name: str) -> list[JudgeJudgment]:
    """Read the judge's latest judgment on each version of each pair, ordered by the ids."""
    return fetch(cursor, JudgeJudgment, _JUDGMENTS, [name])
