"""Reference answers: what a system may answer to a query, kept with the queries and frozen with releases.

A file names a query by id or text, and has one answer or a list of them; several lines of one query add up.
What the file says of a query is all of its references: the same again changes nothing, anything else replaces
them, as a new revision. Personal data is replaced by a placeholder, as in queries.
"""

from __future__ import annotations

import json
from ast import literal_eval
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from curation.core.errors import InputError
from curation.core.progress import Progress, silent
from curation.ingest.importers.answers.query_rows import QueryItemsImport, QueryRows, revised
from curation.ingest.importers.redaction.personal_data import redact
from curation.ingest.importers.row_marks import mark_columns, mark_of
from curation.ingest.readers.columns import FileField, column_for, like
from curation.ingest.readers.fields import GOLD, QUESTIONS, SYSTEM_ANSWERS, ReferenceFields
from curation.ingest.readers.formats import FileLayout
from curation.ingest.readers.records import Record, Records
from curation.ingest.readers.values import text_of
from curation.store import COMMAND_LINE, Cursor, Store, append_rows, record_event, utc_now

_CONTEXTS = ("contexts", "retrieved_contexts", "retrieval_context", "actual_output")
_TEXTS = FileField("", "", ("query_text", *QUESTIONS, "query"), "the queries")
"""A query whose id the project does not know may be known by its text."""
_PREDICTIONS = ("predicted_answer", "predicted_answers", "prediction")
"""What a system was given to answer from; and what it is called where `answer` is the reference."""
_NEWEST = """
    SELECT query_id, max(revision), arg_max(answers, revision) FROM reference_answers GROUP BY query_id
"""


class StoredReferences(NamedTuple):
    """References of a query, and where they come from: a file's name or `PEOPLE`."""

    answers: tuple[str, ...]
    source: str | None


def import_answers(
    store: Store,
    path: Path,
    fields: ReferenceFields | None = None,
    layout: FileLayout | None = None,
    skip_unknown: bool = False,
    progress: Progress = silent,
    author: str = COMMAND_LINE,
) -> QueryItemsImport:
    """Take the reference answers of a file, in one transaction.

    Raises
    ------
    InputError: the file cannot be read, or it names queries that the project does not have; all together.
    """
    records = Records(path, layout, progress)
    fields = fields or ReferenceFields()
    used = _fields(records, fields)
    is_guessed = fields.reference is None and any(name in records.columns for name in SYSTEM_ANSWERS)
    text = records.field("--query-field", column_for(_TEXTS, records.columns) or "")
    marks = mark_columns(records.columns, used.used.values())
    rows = QueryRows(store, records, [used.query, *filter(None, [text])], skip_unknown)
    found: dict[str, list[str]] = {}
    with suppress(InputError):  # noted with the file's problems: raised below with what else is found
        for record in records:
            if record.fields.get("is_correct_answer") is False:  # Haystack's labels
                rows.left_out["marked as not correct"] += 1
                continue
            if mark := mark_of(record.fields, marks):
                rows.left_out[f"marked {mark.said}"] += 1
                continue
            if is_guessed:
                _refuse_no_texts(record, used.reference or "", records)
            if (query := rows.query_of(record)) is not None:
                cell = record.fields.get(used.reference or "")
                found.setdefault(query, []).extend(cleaned_answers(cell, rows.left_out, rows.personal))
    found = {query: list(dict.fromkeys(answers)) for query, answers in found.items() if answers}
    rows.check(found, "answer")
    with store.transaction(appends=True) as cursor:
        changes = store_answers(cursor, found, records.source, author)
    return rows.outcome(found, changes, used)


def _fields(records: Records, asked: ReferenceFields) -> ReferenceFields:
    """The columns; what may be a system's answer is taken for a reference only if somebody says so."""
    used = records.resolve(asked)
    context = contexts_of_a_system(used.reference, records.columns)
    if asked.reference is None and context is not None:
        records.refuse_columns(
            f"next to {context!r}, {used.reference!r} may be what a system answered: name the column of the "
            f"references with --reference-field, --reference-field {used.reference} if it is"
        )
    return used


def _refuse_no_texts(record: Record, column: str, records: Records) -> None:
    """Of several columns of answers that of references has texts, else it may be something else."""
    value = record.fields.get(column)
    items = value if isinstance(value, list) else [value]
    texts = [item.get("text", 0) if isinstance(item, dict) else item for item in items]
    if not all(text is None or isinstance(text, str | list) for text in texts):
        way_out = "Name the column of the references with --reference-field."
        records.problems.add(record.line, f"{column!r} is no text; expected one, or a list of them", way_out)


def contexts_of_a_system(reference: str | None, columns: Sequence[str]) -> str | None:
    """The column because of which one of answers may be a system's; None where it is that of references."""
    if reference not in SYSTEM_ANSWERS:
        return None
    gold = like(GOLD, [*columns, *(column.partition(".")[0] for column in columns)])
    return gold or (like(_CONTEXTS, columns) if like(_PREDICTIONS, columns) is None else None)


def texts_of(value: Any) -> list[str]:
    """The texts of a cell: one, a list of them, as JSON or Python write it, or `{"text": [...]}`."""
    if isinstance(value, Mapping):
        return texts_of(value.get("text"))
    if isinstance(value, list):
        return [text for item in value for text in texts_of(item)]
    text = text_of(value).strip()
    for read in (json.loads, literal_eval) if text.startswith("[") else ():
        with suppress(ValueError, SyntaxError, RecursionError, MemoryError):
            items = read(text)
            if isinstance(items, list) and all(isinstance(item, str) for item in items):
                return [item.strip() for item in items]
    return [text]


def read_answers(cursor: Cursor) -> dict[str, tuple[str, ...]]:
    """Query id → its reference answers."""
    rows = cursor.execute("SELECT query_id, answers FROM current_reference_answers ORDER BY query_id")
    return {query_id: tuple(answers) for query_id, answers in rows.fetchall()}


def cleaned_answers(value: Any, left_out: Counter[str], personal: Counter[str]) -> list[str]:
    """The answers of a cell, without personal data; empty ones are counted."""
    found = []
    for text in texts_of(value):
        redacted = redact(text)
        if not text or redacted.is_empty:
            left_out["empty answer" if not text else "answer of nothing but personal data"] += 1
            continue
        personal.update(redacted.kinds.keys())
        found.append(redacted.text)
    return found


def store_answers(
    cursor: Cursor, found: Mapping[str, Sequence[str]], source: str, author: str = COMMAND_LINE
) -> tuple[int, int]:
    """Append what differs from the current answers."""
    changes = append_answers(cursor, found, source)
    if any(changes):
        record_event(
            cursor,
            "import answers",
            {"source": source, "new": changes[0], "changed": changes[1]},
            author,
        )
    return changes


def append_answers(cursor: Cursor, found: Mapping[str, Sequence[str]], source: str) -> tuple[int, int]:
    """`store_answers` within an action that records its own event. without answers a query has none."""
    newest = cursor.execute(_NEWEST).fetchall()
    written, changes = revised({name: (revision, answers) for name, revision, answers in newest}, found)
    names = ("query_id", "revision", "answers")
    append_rows(cursor, "reference_answers", written, names, source=source, answered_at=utc_now())
    return changes


def reference_revision(cursor: Cursor, query_ids: Sequence[str]) -> dict[str, int]:
    """Query id → revision of its references in force; queries without any are absent."""
    sql = "SELECT query_id, revision FROM current_reference_answers WHERE list_contains(?::TEXT[], query_id)"
    return dict(cursor.execute(sql, [list(query_ids)]).fetchall())


def references_of(cursor: Cursor, query_id: str, revision: int | None = None) -> StoredReferences:
    """The references of a query in force, or as they were at a revision; none where there were none."""
    if revision is None:
        sql = "SELECT answers, source FROM current_reference_answers WHERE query_id = ?"
        row = cursor.execute(sql, [query_id]).fetchone()
    else:
        sql = "SELECT answers, source FROM reference_answers WHERE query_id = ? AND revision = ?"
        row = cursor.execute(sql, [query_id, revision]).fetchone()
    return StoredReferences(tuple(row[0]), row[1]) if row else StoredReferences((), None)
