"""A query's nuggets: the facts that a good answer states.

A file has a row for each nugget, or a list of objects for each query, as in TREC's RAG track (R. Pradeep et
al. 2024, Initial nugget evaluation results for the TREC 2024 RAG track with the AutoNuggetizer framework). A
nugget is vital or okay. An answer without a vital nugget is not good; an okay nugget is optional.
Placeholders replace personal data in a nugget from a file. A nugget that a person writes with personal data
is refused.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from curation.core.characters import show_controls
from curation.core.digests import digest
from curation.core.errors import InputError, NotFoundError, refuse_problems
from curation.core.progress import Progress, silent
from curation.core.text import join_names, pluralize
from curation.ingest.importers.personal_data import redact
from curation.ingest.importers.query_items import QueryItemsImport, QueryRows, find_revisions
from curation.ingest.importers.reference_answers import PEOPLE
from curation.ingest.readers.fields import NuggetFields
from curation.ingest.readers.formats import FileLayout
from curation.ingest.readers.record_source import Record
from curation.ingest.readers.records import Records
from curation.ingest.readers.values import to_text
from curation.people.annotators import require_author
from curation.store import COMMAND_LINE, Cursor, Store, append_rows, record_event, utc_now

VITAL, OKAY = "vital", "okay"
WRITERS = ("reviewer", "lead")
MAX_NUGGET_LENGTH = 500
"""Greatest number of characters in a nugget, which states one fact."""
OBJECT = 'Write each nugget as {"text": "…", "importance": "vital"}.'


class Nugget(NamedTuple):
    """A fact that a good answer states."""

    text: str
    vital: bool

    def make_id(self, query_id: str) -> str:
        """Return the nugget's id, a hash of its query and text."""
        return f"n{digest('nugget', query_id, self.text)[:16]}"


def import_nuggets(
    store: Store,
    path: Path,
    fields: NuggetFields | None = None,
    layout: FileLayout | None = None,
    skip_unknown: bool = False,
    progress: Progress = silent,
    author: str = COMMAND_LINE,
) -> QueryItemsImport:
    """Import the nuggets in a file, in one transaction.

    Raises
    ------
    InputError: the file cannot be read, names unknown queries, or has a nugget that is neither vital nor
    okay; the error lists all problems.
    """
    records = Records(path, layout, progress)
    used = records.resolve(fields or NuggetFields())
    rows = QueryRows(store, records, [used.query], skip_unknown)
    nuggets_of: dict[str, dict[str, bool]] = {}
    with suppress(InputError):  # recorded in the file's problems and raised with the other problems
        for record in records:
            if (query := rows.find_query_id(record)) is not None:
                for nugget in _read_nuggets_of(record, used, records, rows):
                    importance_of = nuggets_of.setdefault(query, {})
                    if importance_of.get(nugget.text, nugget.vital) is not nugget.vital:
                        twice = f"{nugget.text[:60]!r} is marked both vital and okay"
                        records.problems.add(record.line, twice, "Keep one of these two nuggets.")
                    rows.left_out["repeated nugget"] += nugget.text in importance_of
                    importance_of[nugget.text] = nugget.vital
    rows.check(nuggets_of, "nugget")
    revisions = {query: [Nugget(*item) for item in nuggets.items()] for query, nuggets in nuggets_of.items()}
    with store.transaction(appends=True) as cursor:
        changes = _append_nuggets(cursor, revisions, records.source, author)
        if any(changes):
            event = {"source": records.source, "new": changes[0], "changed": changes[1]}
            record_event(cursor, "import nuggets", event, author)
    return rows.outcome(revisions, changes, used)


def write_nuggets(
    store: Store, query_id: str, nuggets: Sequence[Nugget], author: str, call_id: str | None = None
) -> bool:
    """Replace a query's nuggets with nuggets that a person wrote; return whether anything changed.

    Parameters
    ----------
    call_id: id of the language model's call whose proposals the author saw.

    Raises
    ------
    InputError: a nugget is empty, too long, repeated, or has personal data.
    NotFoundError: the project does not have the query.
    RefusedError: the author is neither reviewer nor lead.
    """
    new_nuggets = [nugget._replace(text=" ".join(nugget.text.split())) for nugget in nuggets]
    refuse_problems([problem for nugget in new_nuggets for problem in find_nugget_problems(nugget.text)])
    counts = Counter(nugget.text for nugget in new_nuggets)
    refuse_problems(
        [f"the nugget {text!r} is repeated; keep one" for text, count in counts.items() if count > 1]
    )
    with store.transaction() as cursor:
        require_author(cursor, author, *WRITERS)
        if not cursor.execute("SELECT 1 FROM queries WHERE query_id = ?", [query_id]).fetchone():
            raise NotFoundError(f"The project has no query {query_id!r}.")
        changes = _append_nuggets(cursor, {query_id: new_nuggets}, PEOPLE, author, call_id)
        if any(changes):
            detail = {"query": query_id, "nuggets": len(new_nuggets)} | ({"call": call_id} if call_id else {})
            record_event(cursor, "write nuggets", detail, author)
    return any(changes)


def parse_nugget_lines(vital: str, okay: str) -> list[Nugget]:
    """Return nuggets from one text of vital nuggets and one of okay nuggets, with one nugget per line."""
    kinds = ((vital, True), (okay, False))
    return [Nugget(line, is_vital) for text, is_vital in kinds for line in text.splitlines() if line.strip()]


def split_nugget_texts(nuggets: Sequence[Nugget]) -> tuple[list[str], list[str]]:
    """Return the texts of the vital nuggets and of the okay nuggets."""
    vital_texts = [nugget.text for nugget in nuggets if nugget.vital]
    return vital_texts, [nugget.text for nugget in nuggets if not nugget.vital]


def read_nuggets(cursor: Cursor, query_id: str | None = None) -> dict[str, tuple[Nugget, ...]]:
    """Return nuggets by query id, for one query or for all queries."""
    sql = "SELECT query_id, texts, vital FROM current_nuggets WHERE query_id = $query OR $query IS NULL"
    rows = cursor.execute(f"{sql} ORDER BY query_id", {"query": query_id}).fetchall()
    return {name: tuple(map(Nugget, texts, vital)) for name, texts, vital in rows}


def group_nugget_rows(rows: Sequence[Mapping[str, Any]]) -> dict[str, tuple[Nugget, ...]]:
    """Return nuggets by query id, from the rows of a release's nugget table."""
    nuggets: dict[str, tuple[Nugget, ...]] = {}
    for row in rows:
        nuggets[row["query_id"]] = (*nuggets.get(row["query_id"], ()), Nugget(row["text"], row["vital"]))
    return nuggets


def _append_nuggets(
    cursor: Cursor,
    nuggets_of: Mapping[str, Sequence[Nugget]],
    source: str,
    author: str,
    call_id: str | None = None,
) -> tuple[int, int]:
    """Store nuggets that differ from the current nuggets, or that come from a new call of a language model.

    A query keeps the id of the language model's call when its nuggets are replaced.
    """
    newest = cursor.execute("SELECT query_id, revision, texts, vital, call_id FROM newest_nuggets").fetchall()
    stored_nuggets: dict[str, tuple[int, list[Nugget] | None]] = (
        dict.fromkeys(nuggets_of, (-1, None)) if call_id else {}
    )
    stored_nuggets |= {
        name: (revision, [*map(Nugget, texts, vital)] if call_id in (None, call) else None)
        for name, revision, texts, vital, call in newest
    }
    revisions, changes = find_revisions(stored_nuggets, nuggets_of)
    calls = {name: call for name, *_, call in newest}
    rows = []
    for name, revision, nuggets in revisions:
        texts, vital = [nugget.text for nugget in nuggets], [nugget.vital for nugget in nuggets]
        rows.append((name, revision, call_id or calls.get(name), texts, vital))
    names = ("query_id", "revision", "call_id", "texts", "vital")
    append_rows(cursor, "nuggets", rows, names, source=source, author=author, written_at=utc_now())
    return changes


def _read_nuggets_of(record: Record, used: NuggetFields, records: Records, rows: QueryRows) -> list[Nugget]:
    """Return the nuggets in a file's record, whose cell has one nugget or a list of objects or texts."""
    value = record.fields.get(used.nugget or "")
    nuggets = []
    if value == []:
        rows.left_out["empty list of nuggets"] += 1
    for item in value if isinstance(value, list) else [value]:
        values: Mapping[str, Any] = record.fields
        column, way_out = used.importance, "Name the column with the importance with --map importance=COLUMN."
        if isinstance(item, Mapping):
            values, column, way_out = item, "importance", OBJECT
            if "text" not in item:
                names = join_names([*map(repr, item)]) or "nothing"
                records.problems.add(record.line, f"a nugget has {names}; expected the nugget's text", OBJECT)
                continue
        text = " ".join(to_text(item["text"] if values is item else item).split())
        importance = to_text(values.get(column or ""))
        redacted = redact(text)
        if not text or redacted.is_empty:
            rows.left_out["empty nugget" if not text else "nugget that is only personal data"] += 1
        elif importance.strip().lower() not in (VITAL, OKAY):
            expected = f"the importance of {text[:60]!r} is {importance!r}; expected {VITAL} or {OKAY}"
            records.problems.add(record.line, expected, way_out)
        elif len(redacted.text) > MAX_NUGGET_LENGTH:
            [problem] = find_nugget_problems(redacted.text)
            records.problems.add(record.line, problem, "Write one fact in each nugget.")
        else:
            rows.personal.update(redacted.kinds.keys())
            nuggets.append(Nugget(redacted.text, importance.strip().lower() == VITAL))
    return nuggets


def find_nugget_problems(text: str) -> list[str]:
    """List the problems in a nugget's text, in one sentence each."""
    if not text:
        return ["a nugget is empty; write a fact, or remove the line"]
    if len(text) > MAX_NUGGET_LENGTH:
        length = pluralize(len(text), "character")
        return [f"a nugget has {length}; expected at most {MAX_NUGGET_LENGTH}: {text[:60]!r}…"]
    if text != show_controls(text):
        return [f"{show_controls(text)!r} has a control character; write the nugget without this character"]
    return [f"{text!r} has personal data; write the nugget without it"] if redact(text).kinds else []
