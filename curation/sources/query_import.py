"""Importing queries from a file, and adding one that somebody wrote.

Personal data in a query is replaced by a placeholder before anything is stored, as it is in traffic
(`sources.redaction.personal_data`). An id that holds an e-mail address is not taken: the query gets the one
of its text. Numbers in ids are ids.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NamedTuple

from curation.errors import InputError, RefusedError, refuse_problems
from curation.files.fields import QueryFields
from curation.files.formats import FileLayout
from curation.files.lines import clean
from curation.files.nested.paths import rest_of
from curation.files.problems import Problems
from curation.files.records import Record, Records, beir_file
from curation.files.values import metadata_json, text_of
from curation.filters.query_filter import WAY_OUT, checked_filter, in_words
from curation.filters.stored import FIELD, WORDS, Withdraw, document_fields, keep_items, lacking
from curation.progress import Progress, silent
from curation.sources.answers.reference_answers import cleaned_answers, store_answers
from curation.sources.queries import OTHER_IDS, KnownQueries, other_ids, query_id_of
from curation.sources.query_tags import (
    NAME_EXPECTED,
    TagStatement,
    add_own_tags,
    is_tag_name,
    tag_names,
    write_persons_tags,
)
from curation.sources.redaction.personal_data import redact
from curation.sources.row_marks import mark_columns, mark_of
from curation.store import COMMAND_LINE, Cursor, Query, Store, append_rows, record_event
from curation.text import canonical_json, normalise_query

ONE_TEXT = "An id belongs to one text, and judgments may hang on it: give the query another id."
ONE_QUERY = "The same text would be judged twice: give these queries the project's ids, or leave them out."


@dataclass(frozen=True)
class QueryImport:
    """What an import of queries did.

    Attributes
    ----------
    added: queries that the project did not hold.
    changed: queries with a new information need or other fields, or known from traffic until now.
    unchanged: queries that the project holds just so.
    known_as: the file's id → the project's, of queries whose text the project knew under an id of its own;
        files that name them by either id are understood.
    personal: kind of personal data → queries in which it was found; a placeholder replaces it.
    replaced: unprintable characters that became U+FFFD, by kind.
    answers: queries that got reference answers, or others than before.
    withdrawn: items of rounds that nobody sees any more, as they are outside the query's filter now.
    tags: tag → queries of the file that have it by the fields named as tags.
    tags_added: queries' tags that were not set before. declared: tags that the project did not know.
    """

    queries: int
    added: int
    changed: int
    unchanged: int
    known_as: dict[str, str]
    fields: QueryFields
    left_out: dict[str, int]
    personal: dict[str, int]
    replaced: dict[str, int]
    answers: int = 0
    withdrawn: int = 0
    tags: dict[str, int] = field(default_factory=dict)
    tags_added: int = 0
    declared: list[str] = field(default_factory=list)


class _ImportedQuery(NamedTuple):
    query: Query
    metadata: str
    line: int
    personal: frozenset[str] = frozenset()
    is_bare: bool = False
    answers: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()

    @property
    def has_own_id(self) -> bool:
        """Whether the id is the source's, not made from the text."""
        return self.query.query_id != query_id_of(self.query.normalised)

    def has_other_id_than(self, known: Query) -> bool:
        """Whether the source calls a known query by an id of its own."""
        return self.has_own_id and self.query.query_id != known.query_id


class _Comparison(NamedTuple):
    """Rows that are new, what is held with what other rows add to it, and the file's ids of the latter."""

    added: list[_ImportedQuery]
    changed: list[_ImportedQuery]
    known_as: dict[str, str]


class NamedQuery(NamedTuple):
    """A query as a file names it, with the line that names it first."""

    query: Query
    line: int


BARE = "nothing but personal data"


def import_queries(
    store: Store,
    path: Path,
    fields: QueryFields | None = None,
    layout: FileLayout | None = None,
    progress: Progress = silent,
    author: str = COMMAND_LINE,
    withdraw: Withdraw = keep_items,
) -> QueryImport:
    """Take the queries of a BEIR folder, JSON lines, CSV, TSV or Parquet into the project.

    Raises
    ------
    InputError: the file cannot be read, a field is missing, an id has another text elsewhere in the file or
        in the project, or a text has the id of another source in the project.
    """
    records = Records(beir_file(path, "queries.jsonl"), layout, progress, judged=False)
    used = records.resolve(fields or QueryFields())
    left_out: Counter[str] = Counter()
    there = document_fields(store) if used.filter else set()
    rows = _read(records, used, left_out, there)
    if not rows:
        records.refuse_nothing_taken("query", left_out)
    with store.transaction(appends=True) as cursor:
        added, changed, known_as = _compare(rows, KnownQueries.read(cursor), records.problems)
        _write(cursor, added, changed)
        answered = sum(store_answers(cursor, _answers(cursor, rows, known_as), records.source, author))
        said = _tag_statements(cursor, rows, known_as)
        tags = Counter(statement.tag for statement in said)
        declared = add_own_tags(cursor, tags, author)
        tags_added = len(write_persons_tags(cursor, said, author).added)
        counts = {"added": len(added), "changed": len(changed)}
        counts["unchanged"] = len(rows) - sum(counts.values())
        personal = dict(sorted(Counter(kind for row in rows for kind in row.personal).items()))
        if added or changed:
            detail = {"source": records.source, **counts, "known under another id": len(known_as)}
            detail |= {"personal data": personal} if personal else {}
            record_event(cursor, "import queries", detail, author)
        withdrawn = withdraw(cursor, author)
    return QueryImport(
        len(rows),
        **counts,
        known_as=known_as,
        fields=used,
        left_out=dict(left_out),
        personal=personal,
        replaced=records.replaced,
        answers=answered,
        withdrawn=withdrawn,
        tags=dict(sorted(tags.items())),
        tags_added=tags_added,
        declared=declared,
    )


def add_query(
    cursor: Cursor,
    text: str,
    query_id: str | None = None,
    information_need: str | None = None,
    source: Literal["written", "synthetic"] = "written",
) -> Query:
    """Add a query that a person wrote, or a model, and return it; without an id it gets the one of its text.

    Raises
    ------
    InputError: the text is empty, text or information need hold personal data, the id holds an e-mail
        address, or something is not text.
    RefusedError: the project holds the text, or the id, already.
    """
    query_id = (query_id or "").strip() or None
    text, need = text.strip(), (information_need or "").strip()
    normalised = normalise_query(text)
    problems = [] if normalised else ["The query is empty; expected its text."]
    problems += personal_problems("query", text) + personal_problems("information need", need)
    if query_id and holds_address(query_id):
        problems.append("The id holds an e-mail address, which goldset does not store. Give another.")
    problems += [
        f"The {what} holds bytes that are no characters; expected text in UTF-8."
        for what, given in (("query", text), ("information need", need), ("id", query_id or ""))
        if clean(given, Counter()) != given
    ]
    refuse_problems(problems)
    known = KnownQueries.read(cursor)
    query = Query(query_id or query_id_of(normalised), text, normalised, source, need or None)
    _refuse_known(known, query)
    _write(cursor, [_ImportedQuery(query, "{}", 0)], [])
    return query


def compare_named(
    named: Iterable[NamedQuery], known: KnownQueries, problems: Problems
) -> tuple[list[Query], dict[str, str]]:
    """The queries of a file of another kind that the project lacks; and its ids of others → the project's.

    Raises
    ------
    InputError: an id has another text in the project, or a text has another source's id; or there were
        problems before.
    """
    result = _compare([_ImportedQuery(query, "{}", line) for query, line in named], known, problems)
    return [row.query for row in result.added], result.known_as


def add_other_ids(cursor: Cursor, known_as: Mapping[str, str]) -> None:
    """Store a file's ids of queries that the project knew by their text: the file's id → the project's."""
    known = KnownQueries.read(cursor)
    changed = []
    for other, query_id in known_as.items():
        query = known.of_id(query_id)
        if query is not None and known.of_id(other) is None:
            row = _ImportedQuery(query._replace(query_id=other), "{}", 0)
            held = _ImportedQuery(query, known.metadata[query_id], 0)
            changed.append(_updated(held, row))
    _write(cursor, [], changed)


def personal_problems(what: str, text: str) -> list[str]:
    """The sentence on personal data in a text that somebody wrote; none without any."""
    kinds = ", ".join(sorted(redact(text).kinds))
    if not kinds:
        return []
    return [f"The {what} holds personal data ({kinds}), which goldset does not store. Write it without."]


def holds_address(query_id: str) -> bool:
    """Whether an id holds somebody's address; digits and signs as in a card's or a key are what ids are."""
    return "email" in redact(query_id).kinds


def _refuse_known(known: KnownQueries, query: Query) -> None:
    same = known.of_text(query.normalised)
    if same:
        refusal = f"The project holds this text already, as query {same[0].query_id!r}."
        if same[0].source != "traffic":
            raise RefusedError(refusal)
        raise RefusedError(
            f"{refusal} It came from traffic. Imported from a file, it stays whatever sample is in force.",
            command="`goldset import queries` does so.",
        )
    held = known.of_id(query.query_id)
    if held is not None:
        raise RefusedError(
            f"The id {query.query_id!r} belongs to the query {held.text!r}. Give another.",
            command="--id gives one.",
        )


def _read(
    records: Records, fields: QueryFields, left_out: Counter[str], there: Collection[str]
) -> list[_ImportedQuery]:
    """The queries of the file, each once; `there` are the fields that a filter may name, if it has any."""
    rows: dict[str, _ImportedQuery] = {}
    marks = mark_columns(records.columns, fields.used.values())
    for record in records:
        if mark := mark_of(record.fields, marks):
            left_out[f"marked {mark.said}"] += 1
            continue
        row = _row(record, fields, left_out, _filter(record, fields.filter, there, records.problems))
        row = row._replace(tags=_tags(record, fields.tag, records.problems))
        if not row.query.normalised:
            left_out["empty query"] += 1
        elif row.is_bare:
            left_out[BARE] += 1
        elif not row.query.query_id:
            left_out["no id"] += 1
        elif (first := rows.setdefault(row.query.query_id, row)) is not row:
            if first.query.normalised != row.query.normalised:
                records.problems.add(
                    record.line, clash(row.query, first.query, f"on {records.unit} {first.line}"), ONE_TEXT
                )
            rows[first.query.query_id] = first._replace(tags=tuple(dict.fromkeys([*first.tags, *row.tags])))
            left_out["the same query again"] += 1
    return list(rows.values())


def _row(
    record: Record, fields: QueryFields, left_out: Counter[str], wanted: dict[str, Any]
) -> _ImportedQuery:
    values = record.fields
    text = redact(text_of(values.get(fields.text or "")).strip())
    normalised = normalise_query(text.text)
    query_id = query_id_of(normalised) if fields.id is None else text_of(values.get(fields.id)).strip()
    kinds = set(text.kinds)
    if holds_address(query_id):
        query_id = query_id_of(normalised)
        kinds.add("email")
    need = _clean(text_of(values.get(fields.information_need or "")).strip(), kinds)
    found: Counter[str] = Counter()
    column = fields.reference
    answers = () if column is None else cleaned_answers(values.get(column), left_out, found)
    kinds |= set(found)
    used = {fields.id, fields.text, fields.information_need, column, fields.filter}
    rest = _clean(rest_of(values, used, fields.inside) | wanted, kinds)
    query = Query(query_id, text.text, normalised, "imported", need or None)
    about = (metadata_json(rest), record.line, frozenset(kinds), text.is_empty)
    return _ImportedQuery(query, *about, tuple(dict.fromkeys(answers)))


def _filter(record: Record, column: str | None, there: Collection[str], problems: Problems) -> dict[str, Any]:
    """The fields of a query's metadata that a cell with a filter makes; an empty cell says nothing."""
    value = record.fields.get(column or "")
    if value is None or value == "":
        return {}
    try:
        wanted = checked_filter(value)
        refuse_problems([missing] if (missing := lacking(wanted, there)) else [])
    except InputError as error:
        for problem in error.problems:
            problems.add(record.line, problem, WAY_OUT)
        return {}
    return {FIELD: wanted, WORDS: in_words(wanted)}


def _tags(record: Record, columns: Iterable[str], problems: Problems) -> tuple[str, ...]:
    """The tags that the values of these fields name, each once."""
    values = (_clean(record.fields.get(column), set()) for column in columns)
    names = dict.fromkeys(name for value in values for name in tag_names(value))
    for name in names:
        if not is_tag_name(name):
            problems.add(record.line, f"a tag cannot be called {name!r}", NAME_EXPECTED)
    return tuple(names)


def _answers(
    cursor: Cursor, rows: Iterable[_ImportedQuery], known_as: Mapping[str, str]
) -> dict[str, tuple[str, ...]]:
    """The project's query id → reference answers, of rows that have any."""
    return {query_id: row.answers for query_id, row in _known_rows(cursor, rows, known_as) if row.answers}


def _tag_statements(
    cursor: Cursor, rows: Iterable[_ImportedQuery], known_as: Mapping[str, str]
) -> list[TagStatement]:
    """That the project's queries have the tags of their rows, each once."""
    with_items = _known_rows(cursor, rows, known_as)
    return list(
        dict.fromkeys(TagStatement(query_id, tag, True) for query_id, row in with_items for tag in row.tags)
    )


def _known_rows(
    cursor: Cursor, rows: Iterable[_ImportedQuery], known_as: Mapping[str, str]
) -> Iterator[tuple[str, _ImportedQuery]]:
    """The project's query id of each row that has answers or tags, with the row."""
    with_items = [row for row in rows if row.answers or row.tags]
    if not with_items:
        return
    known = KnownQueries.read(cursor)
    for row in with_items:
        query_id = known_as.get(row.query.query_id, row.query.query_id)
        query = known.of_id(query_id) or known.of_text(row.query.normalised)[0]
        yield query.query_id, row


def _clean(value: Any, kinds: set[str]) -> Any:
    """The value with no personal data in any of its texts; the kinds found are added to `kinds`."""
    if isinstance(value, str) or (isinstance(value, int) and not isinstance(value, bool)):
        found = redact(str(value))
        kinds.update(found.kinds)
        return found.text if found.kinds else value
    if isinstance(value, Mapping):
        if any(redact(str(name)).kinds for name in value):
            return _clean(canonical_json(value), kinds)  # as a text: placeholders as names might be one
        return {name: _clean(item, kinds) for name, item in value.items()}
    return [_clean(item, kinds) for item in value] if isinstance(value, list | tuple) else value


def _compare(rows: Iterable[_ImportedQuery], known: KnownQueries, problems: Problems) -> _Comparison:
    """What the project holds of the file, and what it lacks."""
    result = _Comparison([], [], {})
    taken: dict[str, _ImportedQuery] = {}
    for row in rows:
        query = known.of_id(row.query.query_id) or _of_text(row, known, problems)
        if query is None:
            result.added.append(row)
            continue
        held = _ImportedQuery(query, known.metadata[query.query_id], 0)
        first = taken.setdefault(query.query_id, row)
        if query.normalised != row.query.normalised:
            problems.add(row.line, clash(row.query, query, "in the project"), ONE_TEXT)
        elif first is not row:
            problems.add(row.line, _twin(row, [query], f" like {problems.unit} {first.line}"), ONE_QUERY)
        elif (updated := _updated(held, row)) != held:
            result.changed.append(updated)
        if row.has_other_id_than(query):
            result.known_as[row.query.query_id] = query.query_id
    problems.check()
    return result


def _of_text(row: _ImportedQuery, known: KnownQueries, problems: Problems) -> Query | None:
    """The project's query of a text whose id it does not know, if it is one and has no source's id."""
    found = known.of_text(row.query.normalised)
    if not found:
        return None
    if len(found) > 1 or (row.has_own_id and found[0].query_id != query_id_of(found[0].normalised)):
        problems.add(row.line, _twin(row, found), ONE_QUERY)
        return None
    return found[0]


def _twin(row: _ImportedQuery, known: Iterable[Query], where: str = "") -> str:
    query, ids = row.query, ", ".join(repr(query.query_id) for query in known)
    return f"query {query.query_id!r} has the text {query.text!r}{where}, known as {ids} in the project"


def clash(query: Query, other: Query, where: str) -> str:
    """The sentence for two texts under one id."""
    return f"query {query.query_id!r} has the text {query.text!r}, but {other.text!r} {where}"


def _updated(known: _ImportedQuery, row: _ImportedQuery) -> _ImportedQuery:
    """What is held, with what the file says of it; a file that leaves something unsaid takes nothing away."""
    source = "imported" if known.query.source == "traffic" else known.query.source
    need = row.query.information_need or known.query.information_need
    names = other_ids(known.metadata)
    if row.has_other_id_than(known.query) and row.query.query_id not in names:
        names.append(row.query.query_id)
    fields = {**json.loads(known.metadata), **json.loads(row.metadata)}
    metadata = canonical_json({**fields, OTHER_IDS: names} if names else fields)
    return _ImportedQuery(known.query._replace(source=source, information_need=need), metadata, known.line)


def _write(cursor: Cursor, added: list[_ImportedQuery], changed: list[_ImportedQuery]) -> None:
    rows = [(*row.query, row.metadata) for row in added]
    append_rows(cursor, "queries", rows, (*Query._fields, "metadata"))
    cursor.execute(
        """
        UPDATE queries SET source = new.source, information_need = new.need, metadata = new.metadata
        FROM (SELECT unnest(?::TEXT[]) AS query_id, unnest(?::TEXT[]) AS source,
                     unnest(?::TEXT[]) AS need, unnest(?::TEXT[]) AS metadata) AS new
        WHERE queries.query_id = new.query_id
        """,
        [
            [row.query.query_id for row in changed],
            [row.query.source for row in changed],
            [row.query.information_need for row in changed],
            [row.metadata for row in changed],
        ],
    )
