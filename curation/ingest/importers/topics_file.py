"""A table of topics, which says what query each id of a run file is: columns of id and text.

TREC runs name topics by ids such as 1, and a release has ids of its own. The text tells which of its queries
a topic is, after the same normalisation that imports make. Topics that are none of them are passed over, as
run lines of unknown queries are. A table of two columns needs no header; TREC's topic files are read, too.
"""

from __future__ import annotations

from collections import defaultdict
from contextlib import suppress
from pathlib import Path

from curation.core.errors import InputError
from curation.core.progress import Progress, silent
from curation.ingest.importers.queries import KnownQueries
from curation.ingest.readers.columns import column_for, file_fields
from curation.ingest.readers.fields import QueryFields
from curation.ingest.readers.formats import FileLayout
from curation.ingest.readers.records import Records
from curation.ingest.readers.values import text_of

_COLUMNS = ("id", "text")


def with_topics(known: KnownQueries, path: Path | None, progress: Progress = silent) -> KnownQueries:
    """The queries, known by the ids of a table of topics, too; without a table they stay as they are.

    Raises
    ------
    InputError: the file cannot be read, or has no query that is known; rows without an id or a text, with an
        id that is another query's, or that several queries could be.
    """
    if path is None:
        return known
    records = _records(path, progress)
    used = records.resolve(QueryFields(), but=("information_need", "reference", "filter"))
    if used.id is None:
        records.refuse_columns("no column is known to hold the topics' ids: call it id")
    names: dict[str, str] = {}
    unknown = 0
    with suppress(InputError):  # noted with the file's problems: raised below with what else is found
        for record in records:
            name, text = (text_of(record.fields.get(column or "")) for column in (used.id, used.text))
            try:
                found = _query_id(known, name, text, names)
            except InputError as error:
                records.problems.add(record.line, str(error), "Expected one row of id and text for a topic.")
                continue
            unknown += found is None
            names |= {name: found} if found else {}
    records.problems.check()
    if not names:
        records.refuse_nothing_taken("topic", {"with a text that is none of its queries": unknown})
    other: dict[str, list[str]] = defaultdict(list)
    for name, query_id in names.items():
        other[query_id].append(name)
    return known.also_called(other)


def _records(path: Path, progress: Progress) -> Records:
    """The rows; of a table of two columns the first line is one, too, unless it names that of the text."""
    records = Records(path, None, progress)
    text = next(field for field in file_fields(QueryFields) if field.name == "text")
    plain = records.format in ("csv", "tsv") and len(records.columns) == len(_COLUMNS)
    if plain and column_for(text, records.columns) is None:
        return Records(path, FileLayout(columns=_COLUMNS, header=False), progress)
    return records


def _query_id(known: KnownQueries, name: str, text: str, names: dict[str, str]) -> str | None:
    """The query of a topic; None where its text is none that is known."""
    if not name or not text:
        raise InputError(
            f"no {' and no '.join(what for what, has in (('id', name), ('text', text)) if not has)}"
        )
    query = known.find(text, "text")
    if query is None:
        return None
    own = known.of_id(name)
    if own is not None and own != query:
        raise InputError(f"{name!r} is the id of the query {own.text!r}, not of {text!r}")
    if names.get(name, query.query_id) != query.query_id:
        raise InputError(f"{name!r} was the id of another text before")
    return query.query_id
