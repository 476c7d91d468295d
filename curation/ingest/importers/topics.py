"""Topics of a run: a table of ids and texts, by which the import matches a run's query ids with the project's
queries.

TREC runs name topics by ids such as 1, and a release has different query ids. The normalized text of a topic
finds the query. Topics with an unknown text are left out. A table of two columns may lack a header. TREC's
topic files are also read.
"""

from __future__ import annotations

from collections import defaultdict
from contextlib import suppress
from pathlib import Path

from curation.core.errors import InputError
from curation.core.progress import Progress, silent
from curation.ingest.importers.known_queries import KnownQueries
from curation.ingest.readers.column_search import find_column
from curation.ingest.readers.fields import QueryFields, file_fields
from curation.ingest.readers.formats import FileLayout
from curation.ingest.readers.records import Records
from curation.ingest.readers.values import field_to_text

_COLUMNS = ("id", "text")


def add_topic_ids(known: KnownQueries, path: Path | None, progress: Progress = silent) -> KnownQueries:
    """Return the known queries, with a table's topic ids as alternative ids.

    Raises
    ------
    InputError: the file cannot be read or has no known query; or a row has no id or text, has the id of a
    different query, or has a text that several queries have.
    """
    if path is None:
        return known
    records = open_topics(path, progress)
    used = records.resolve(QueryFields(), except_fields=("information_need", "reference", "filter"))
    if used.id is None:
        records.refuse_columns("no column was recognized as the topics' ids: rename the column to id")
    query_id_of: dict[str, str] = {}
    unknown_count = 0
    with suppress(InputError):  # recorded in the file's problems and raised with the other problems
        for record in records:
            name, text = field_to_text(record.fields, used.id), field_to_text(record.fields, used.text)
            try:
                query_id = _find_query_id(known, name, text, query_id_of)
            except InputError as error:
                records.problems.add(record.line, str(error), "Expected a row of id and text for each topic.")
                continue
            unknown_count += query_id is None
            query_id_of |= {name: query_id} if query_id else {}
    records.problems.check()
    if not query_id_of:
        records.refuse_empty("topic", {"topic with a text that no query has": unknown_count})
    other_ids: dict[str, list[str]] = defaultdict(list)
    for name, query_id in query_id_of.items():
        other_ids[query_id].append(name)
    return known.with_other_ids(other_ids)


def open_topics(path: Path, progress: Progress = silent) -> Records:
    """Return the rows of a table of topics; a two-column table may lack a header."""
    records = Records(path, None, progress)
    text = next(field for field in file_fields(QueryFields) if field.name == "text")
    is_plain = records.format in ("csv", "tsv") and len(records.columns) == len(_COLUMNS)
    if is_plain and find_column(text, records.columns) is None:
        return Records(path, FileLayout(columns=_COLUMNS, header=False), progress)
    return records


def _find_query_id(known: KnownQueries, name: str, text: str, query_id_of: dict[str, str]) -> str | None:
    """Return a topic's query id; None if its text is unknown."""
    if not name or not text:
        missing = [what for what, value in (("id", name), ("text", text)) if not value]
        raise InputError(f"no {' and no '.join(missing)}")
    query = known.find(text, "text")
    if query is None:
        return None
    query_with_id = known.find_by_id(name)
    if query_with_id is not None and query_with_id != query:
        raise InputError(f"{name!r} is the id of the query {query_with_id.text!r}, not of {text!r}")
    if query_id_of.get(name, query.query_id) != query.query_id:
        raise InputError(f"{name!r} is already the id of a different text")
    return query.query_id
