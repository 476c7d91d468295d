"""Decisions from a file: the grades that a reviewer gave to pairs, as the file has them.

What a decision may be, and which pairs it is for, are `adjudication.adjudication`'s rules.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from curation.files.formats import FileLayout
from curation.files.records import Records
from curation.files.values import text_of
from curation.progress import Progress, silent


class DecisionLine(NamedTuple):
    """A decision as its line has it: `query` is an id or a text, `grade` any text."""

    line: int
    query: str
    document_id: str
    grade: str
    reason: str
    query_field: str | None = None


def read_decision_lines(
    path: Path,
    query_field: str,
    document_field: str,
    grade_field: str,
    reason: str = "",
    reason_field: str | None = None,
    layout: FileLayout | None = None,
    progress: Progress = silent,
) -> list[DecisionLine]:
    """The decisions in a file, each with the reason in its own field, or else the one for all.

    Raises
    ------
    InputError: the file cannot be read or lacks a field; all problems at once.
    """
    records = Records(path, layout, progress)
    records.field("--query-field", query_field)
    records.field("--document-field", document_field)
    records.field("--grade-field", grade_field)
    records.field("--reason-field", reason_field)
    fields = (query_field, document_field, grade_field, reason_field or "")
    proposals = []
    for record in records:
        query, document_id, grade, own = (text_of(record.fields.get(field)).strip() for field in fields)
        proposals.append(
            DecisionLine(record.line, query, document_id, grade, own or reason.strip(), query_field)
        )
    return proposals
