"""Adding queries to a project, from files or by people, so that each query text is judged only once.

Each query id belongs to one text. A query that a person writes with personal data is refused.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Literal, NamedTuple

from curation.core.characters import normalise_query
from curation.core.digests import canonical_json, digest
from curation.core.errors import RefusedError, refuse_problems
from curation.ingest.importers.known_queries import OTHER_IDS, KnownQueries, read_other_ids
from curation.ingest.importers.personal_data import redact
from curation.ingest.readers.lines import clean_text
from curation.ingest.readers.problems import Problems
from curation.store import Cursor, Query, append_rows, fetch, get_setting

ONE_TEXT = "An id can have only one text, and judgments may refer to this id. Give the query another id."
ONE_QUERY = (
    "The same text would be judged twice. Give these queries the ids that they have in the project, or "
    "leave them out."
)


def make_query_id(normalised: str) -> str:
    """Return the id made from a query's text: 'q' and twelve hex digits of the normalized text's hash."""
    return f"q{digest(normalised)[:12]}"


def read_active_queries(cursor: Cursor) -> list[Query]:
    """Return the queries that are to be judged or have been judged, by query id.

    The queries to be judged are the current sample, imported queries, queries that people or models wrote,
    and queries that a round other than pilot and practice has shown. Retired queries and withheld queries of
    models are left out.
    """
    return fetch(
        cursor,
        Query,
        """
        SELECT query_id, text, normalised, source, information_need FROM queries
        WHERE (source IN ('imported', 'written', 'synthetic')
           OR query_id IN (SELECT query_id FROM sample_queries WHERE sample_id = ?)
           OR query_id IN (SELECT query_id FROM presentations JOIN rounds USING (round_id)
                           WHERE kind NOT IN ('pilot', 'practice')))
          AND query_id NOT IN (SELECT query_id FROM retired_queries UNION ALL FROM withheld_queries)
        ORDER BY query_id
        """,
        [get_setting(cursor, "sample")],
    )


class ImportedQuery(NamedTuple):
    """A query in a file, with the other values on its line."""

    query: Query
    metadata: str
    line: int
    personal: frozenset[str] = frozenset()
    is_bare: bool = False
    answers: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()

    @property
    def has_own_id(self) -> bool:
        """Return whether the query's id comes from the file, and was not made from the query's text."""
        return self.query.query_id != make_query_id(self.query.normalised)

    def has_other_id_than(self, known: Query) -> bool:
        """Return whether a file gives one of the project's queries a different id."""
        return self.has_own_id and self.query.query_id != known.query_id


def compare_named_queries(
    named: Iterable[tuple[Query, int]], known: KnownQueries, problems: Problems
) -> tuple[list[Query], dict[str, str]]:
    """Compare the queries in a file of judgments with the project; return the new queries and the known ids.

    Parameters
    ----------
    named: queries, each with the first line that names the query.

    Raises
    ------
    InputError: an id has a different text in the project, a text has a different id, or the file has earlier
        problems.
    """
    named_queries = [ImportedQuery(query, "{}", line) for query, line in named]
    new_rows, _, known_as = compare_queries(named_queries, known, problems)
    return [row.query for row in new_rows], known_as


def add_other_ids(cursor: Cursor, known_as: Mapping[str, str]) -> None:
    """Store alternative ids of known queries; `known_as` maps a file's id to the project's id."""
    known = KnownQueries.read(cursor)
    changed_rows = []
    for other_id, query_id in known_as.items():
        query = known.find_by_id(query_id)
        if query is not None and known.find_by_id(other_id) is None:
            named_query = ImportedQuery(query._replace(query_id=other_id), "{}", 0)
            stored_query = ImportedQuery(query, known.metadata[query_id], 0)
            changed_rows.append(_update_query(stored_query, named_query))
    write_queries(cursor, [], changed_rows)


def compare_queries(
    rows: Iterable[ImportedQuery], known: KnownQueries, problems: Problems
) -> tuple[list[ImportedQuery], list[ImportedQuery], dict[str, str]]:
    """Return the file's new queries, the known queries that the file changes, and the project's id for each
    id in the file."""
    added, changed = list[ImportedQuery](), list[ImportedQuery]()
    known_as: dict[str, str] = {}
    first_rows: dict[str, ImportedQuery] = {}
    for row in rows:
        query = known.find_by_id(row.query.query_id) or _find_by_text(row, known, problems)
        if query is None:
            added.append(row)
            continue
        stored_row = ImportedQuery(query, known.metadata[query.query_id], 0)
        first = first_rows.setdefault(query.query_id, row)
        if query.normalised != row.query.normalised:
            problems.add(row.line, describe_text_conflict(row.query, query, "in the project"), ONE_TEXT)
        elif first is not row:
            problems.add(
                row.line, _describe_twin(row, [query], f" like {problems.unit} {first.line}"), ONE_QUERY
            )
        elif (updated := _update_query(stored_row, row)) != stored_row:
            changed.append(updated)
        if row.has_other_id_than(query):
            known_as[row.query.query_id] = query.query_id
    problems.check()
    return added, changed, known_as


def _find_by_text(row: ImportedQuery, known: KnownQueries, problems: Problems) -> Query | None:
    """Return the only query with a row's text; record a problem if several queries have it."""
    equal = known.find_by_text(row.query.normalised)
    if not equal:
        return None
    if len(equal) > 1 or (row.has_own_id and equal[0].query_id != make_query_id(equal[0].normalised)):
        problems.add(row.line, _describe_twin(row, equal), ONE_QUERY)
        return None
    return equal[0]


def _describe_twin(row: ImportedQuery, known: Iterable[Query], where: str = "") -> str:
    query, ids = row.query, ", ".join(repr(query.query_id) for query in known)
    return (
        f"query {query.query_id!r} has the text {query.text!r}{where}, which the project already has as {ids}"
    )


def describe_text_conflict(query: Query, other: Query, where: str) -> str:
    """Return a sentence about a query id with two different texts."""
    return f"query {query.query_id!r} has the text {query.text!r}, but {other.text!r} {where}"


def _update_query(known: ImportedQuery, row: ImportedQuery) -> ImportedQuery:
    """Return a known query, updated with the values of a file's row, except for missing values."""
    source = "imported" if known.query.source == "traffic" else known.query.source
    need = row.query.information_need or known.query.information_need
    names = read_other_ids(known.metadata)
    if row.has_other_id_than(known.query) and row.query.query_id not in names:
        names.append(row.query.query_id)
    fields = {**json.loads(known.metadata), **json.loads(row.metadata)}
    metadata = canonical_json({**fields, OTHER_IDS: names} if names else fields)
    return ImportedQuery(known.query._replace(source=source, information_need=need), metadata, known.line)


def write_queries(cursor: Cursor, added: list[ImportedQuery], changed: list[ImportedQuery]) -> None:
    """Store new queries, and changes to queries that the project has."""
    rows = [(*row.query, row.metadata) for row in added]
    append_rows(cursor, "queries", rows, (*Query._fields, "metadata"))
    cursor.execute(
        """
        UPDATE queries SET source = new.source, information_need = new.need, metadata = new.metadata
        FROM (SELECT unnest(?::TEXT[]) AS query_id, unnest(?::TEXT[]) AS source,
                     unnest(?::TEXT[]) AS need, unnest(?::TEXT[]) AS metadata) AS new
        WHERE queries.query_id = new.query_id
        """,
        [[getattr(row.query, name) for row in changed] for name in ("query_id", "source", "information_need")]
        + [[row.metadata for row in changed]],
    )


def add_query(
    cursor: Cursor,
    text: str,
    query_id: str | None = None,
    information_need: str | None = None,
    source: Literal["written", "synthetic"] = "written",
) -> Query:
    """Add and return a query that a person or a model wrote; a missing id is made from the text.

    Raises
    ------
    InputError: the text is empty, text or information need have personal data, the id has an e-mail address,
        or a value is not valid UTF-8.
    RefusedError: the project already has the text or the id.
    """
    query_id = (query_id or "").strip() or None
    text, need = text.strip(), (information_need or "").strip()
    normalised = normalise_query(text)
    problems = [] if normalised else ["The query is empty; expected its text."]
    problems += find_personal_data("query", text) + find_personal_data("information need", need)
    if query_id and has_email_address(query_id):
        problems.append(
            "The id contains an e-mail address, which goldgrade does not store. Choose another id."
        )
    problems += [
        f"The {what} is not UTF-8 text."
        for what, value in (("query", text), ("information need", need), ("id", query_id or ""))
        if clean_text(value, Counter()) != value
    ]
    refuse_problems(problems)
    known = KnownQueries.read(cursor)
    query = Query(query_id or make_query_id(normalised), text, normalised, source, need or None)
    _refuse_known(known, query)
    write_queries(cursor, [ImportedQuery(query, "{}", 0)], [])
    return query


def has_written_queries(cursor: Cursor) -> bool:
    """Return whether the project has a query that a person or a language model wrote."""
    sql = "SELECT 1 FROM queries WHERE source IN ('written', 'synthetic') LIMIT 1"
    return bool(cursor.execute(sql).fetchall())


def find_personal_data(what: str, text: str) -> list[str]:
    """Return a list with one sentence about personal data in a person's text; [] without such data."""
    kinds = ", ".join(sorted(redact(text).kinds))
    sentence = f"The {what} contains personal data ({kinds}), which goldgrade does not store. Remove it."
    return [sentence] if kinds else []


def has_email_address(query_id: str) -> bool:
    """Return whether an id contains an e-mail address; ids that look like a card number or a key are
    allowed."""
    return "email" in redact(query_id).kinds


def _refuse_known(known: KnownQueries, query: Query) -> None:
    same_text = known.find_by_text(query.normalised)
    if same_text:
        refusal = f"The project already has this text, as query {same_text[0].query_id!r}."
        if same_text[0].source != "traffic":
            raise RefusedError(refusal)
        raise RefusedError(
            f"{refusal} That query was drawn from traffic. To keep this query in every sample, import it "
            "from a file.",
            command="`goldgrade import queries` imports the query from a file.",
        )
    same_id = known.find_by_id(query.query_id)
    if same_id is not None:
        problem = (
            f"The id {query.query_id!r} already belongs to the query {same_id.text!r}. Choose another id."
        )
        raise RefusedError(problem, command="--id sets the id.")
