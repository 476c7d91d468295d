"""Queries' reference answers, from files and people.

Each reference answer is a correct answer to its query. A file has one answer or a list of answers for a
query, and names the query by id or text (`query_items`). A column that may have a system's answers is read as
reference answers only if a person chooses the column. Placeholders replace personal data.
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
from curation.ingest.importers.personal_data import redact
from curation.ingest.importers.query_items import QueryItemsImport, QueryRows, find_revisions
from curation.ingest.importers.row_marks import find_mark, find_mark_columns
from curation.ingest.readers.column_search import find_column, match_column
from curation.ingest.readers.fields import GOLD, QUESTIONS, SYSTEM_ANSWERS, FileField, ReferenceFields
from curation.ingest.readers.formats import FileLayout
from curation.ingest.readers.record_source import Record
from curation.ingest.readers.records import Records
from curation.ingest.readers.values import to_text
from curation.store import COMMAND_LINE, Cursor, Store, append_rows, record_event, utc_now

PEOPLE = "people"
"""Source of reference answers and nuggets that people wrote in the app."""
_CONTEXTS = ("contexts", "retrieved_contexts", "retrieval_context", "actual_output")
"""Columns of retrieved contexts, which show that a file may have a system's answers."""
_TEXTS = FileField("", ("query_text", *QUESTIONS, "query"), "the queries")
"""Field with a query's text, by which a query with an unknown id is found."""
_PREDICTIONS = ("predicted_answer", "predicted_answers", "prediction")
"""Names of columns with a system's answers in files whose column `answer` is the reference."""
_NEWEST = """
    SELECT query_id, max(revision), arg_max(answers, revision) FROM reference_answers GROUP BY query_id
"""
_REFERENCES = """
    SELECT answers, source FROM reference_answers WHERE query_id = $query AND revision = coalesce(
        $revision, (SELECT revision FROM current_reference_answers WHERE query_id = $query))
"""


class StoredReferences(NamedTuple):
    """A query's reference answers, with their source: a file's name or `PEOPLE`."""

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
    """Import reference answers from a file, in one transaction.

    Raises
    ------
    InputError: the file cannot be read, or names unknown queries; the error lists all problems.
    """
    records = Records(path, layout, progress)
    fields = fields or ReferenceFields()
    used = _choose_columns(records, fields)
    is_guessed = fields.reference is None and any(name in records.columns for name in SYSTEM_ANSWERS)
    text = records.choose_column("--map query", find_column(_TEXTS, records.columns) or "")
    marks = find_mark_columns(records.columns, used.used.values())
    rows = QueryRows(store, records, [used.query, *filter(None, [text])], skip_unknown)
    answers_of: dict[str, list[str]] = {}
    with suppress(InputError):  # recorded in the file's problems and raised with the other problems
        for record in records:
            if record.fields.get("is_correct_answer") is False:  # Haystack's labels
                rows.left_out["marked as not correct"] += 1
                continue
            if mark := find_mark(record.fields, marks):
                rows.left_out[f"marked {mark[1]}"] += 1
                continue
            if is_guessed:
                _refuse_no_texts(record, used.reference or "", records)
            if (query := rows.find_query_id(record)) is not None:
                cell = record.fields.get(used.reference or "")
                answers_of.setdefault(query, []).extend(redact_answers(cell, rows.left_out, rows.personal))
    answers_of = {query: list(dict.fromkeys(answers)) for query, answers in answers_of.items() if answers}
    rows.check(answers_of, "answer")
    with store.transaction(appends=True) as cursor:
        changes = store_answers(cursor, answers_of, records.source, author)
    return rows.outcome(answers_of, changes, used)


def _choose_columns(records: Records, requested: ReferenceFields) -> ReferenceFields:
    """Choose the columns of a reference file; reject a column that nobody chose and that may contain a
    system's answers."""
    used = records.resolve(requested)
    context = find_context_column(used.reference, records.columns)
    if requested.reference is None and context is not None:
        records.refuse_columns(
            f"the file also has the column {context!r}, so {used.reference!r} may hold a system's answers: "
            "name the column of the reference answers with --map reference=COLUMN, or confirm with --map "
            f"reference={used.reference}"
        )
    return used


def _refuse_no_texts(record: Record, column: str, records: Records) -> None:
    """Reject a reference column that nobody chose if one of its cells does not hold texts."""
    value = record.fields.get(column)
    items = value if isinstance(value, list) else [value]
    texts = [item.get("text", 0) if isinstance(item, dict) else item for item in items]
    if not all(text is None or isinstance(text, str | list) for text in texts):
        way_out = "Name the column of the reference answers with --map reference=COLUMN."
        problem = f"{column!r} is not text; expected a text or a list of texts"
        records.problems.add(record.line, problem, way_out)


def find_context_column(reference: str | None, columns: Sequence[str]) -> str | None:
    """Return a column, such as contexts, that suggests that `reference` contains a system's answers; None if
    no column does."""
    if reference not in SYSTEM_ANSWERS:
        return None
    gold = match_column(GOLD, [*columns, *(column.partition(".")[0] for column in columns)])
    return gold or (match_column(_CONTEXTS, columns) if match_column(_PREDICTIONS, columns) is None else None)


def parse_answer_texts(value: Any) -> list[str]:
    """Return the texts in a cell: one text, a list in JSON or Python, or `{"text": [...]}`."""
    if isinstance(value, Mapping):
        return parse_answer_texts(value.get("text"))
    if isinstance(value, list):
        return [text for item in value for text in parse_answer_texts(item)]
    text = to_text(value).strip()
    for read in (json.loads, literal_eval) if text.startswith("[") else ():
        with suppress(ValueError, SyntaxError, RecursionError, MemoryError):
            items = read(text)
            if isinstance(items, list) and all(isinstance(item, str) for item in items):
                return [item.strip() for item in items]
    return [text]


def read_answers(cursor: Cursor) -> dict[str, tuple[str, ...]]:
    """Return reference answers by query id."""
    rows = cursor.execute("SELECT query_id, answers FROM current_reference_answers ORDER BY query_id")
    return {query_id: tuple(answers) for query_id, answers in rows.fetchall()}


def redact_answers(value: Any, left_out: Counter[str], personal: Counter[str]) -> list[str]:
    """Return the answers in a cell without personal data; count empty answers in `left_out`."""
    answers = []
    for text in parse_answer_texts(value):
        redacted = redact(text)
        if not text or redacted.is_empty:
            left_out["empty answer" if not text else "answer that is only personal data"] += 1
            continue
        personal.update(redacted.kinds.keys())
        answers.append(redacted.text)
    return answers


def store_answers(
    cursor: Cursor, answers_of: Mapping[str, Sequence[str]], source: str, author: str = COMMAND_LINE
) -> tuple[int, int]:
    """Store reference answers that differ from the current answers, and record the import."""
    changes = append_answers(cursor, answers_of, source)
    if any(changes):
        detail = {"source": source, "new": changes[0], "changed": changes[1]}
        record_event(cursor, "import answers", detail, author)
    return changes


def append_answers(cursor: Cursor, answers_of: Mapping[str, Sequence[str]], source: str) -> tuple[int, int]:
    """Store reference answers, where [] removes a query's answers; the caller records the event."""
    rows = cursor.execute(_NEWEST).fetchall()
    newest = {name: (revision, answers) for name, revision, answers in rows}
    written, changes = find_revisions(newest, answers_of)
    names = ("query_id", "revision", "answers")
    append_rows(cursor, "reference_answers", written, names, source=source, answered_at=utc_now())
    return changes


def read_reference_revisions(cursor: Cursor, query_ids: Sequence[str]) -> dict[str, int]:
    """Return the revision of the current reference answers by query id, for queries that have any."""
    sql = "SELECT query_id, revision FROM current_reference_answers WHERE list_contains(?::TEXT[], query_id)"
    return dict(cursor.execute(sql, [list(query_ids)]).fetchall())


def read_references(cursor: Cursor, query_id: str, revision: int | None = None) -> StoredReferences:
    """Return a query's reference answers, now or at a revision; () if there are none."""
    rows = cursor.execute(_REFERENCES, {"query": query_id, "revision": revision}).fetchall()
    return StoredReferences(tuple(rows[0][0]), rows[0][1]) if rows else StoredReferences((), None)
