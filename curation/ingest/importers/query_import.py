"""Import of queries from a file, with their filters, tags and reference answers.

Placeholders replace personal data in a query before the query is stored (`ingest.importers.personal_data`).
If an id has an e-mail address, the query gets an id made from its text. Other personal data in ids, such as
numbers, is kept.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from curation.core.characters import normalise_query
from curation.core.digests import canonical_json
from curation.core.errors import InputError, refuse_problems
from curation.core.progress import Progress, silent
from curation.core.text import join_names, pluralize
from curation.ingest.filters import (
    FIELD,
    WAY_OUT,
    WORDS,
    Withdraw,
    describe_filter,
    describe_missing_fields,
    keep_items,
    parse_filter,
    read_document_fields,
)
from curation.ingest.importers.known_queries import KnownQueries
from curation.ingest.importers.personal_data import redact
from curation.ingest.importers.queries import (
    ONE_TEXT,
    ImportedQuery,
    compare_queries,
    describe_text_conflict,
    has_email_address,
    make_query_id,
    write_queries,
)
from curation.ingest.importers.query_tags import (
    NAME_EXPECTED,
    TagStatement,
    add_own_tags,
    is_tag_name,
    parse_tag_names,
    write_persons_tags,
)
from curation.ingest.importers.reference_answers import redact_answers, store_answers
from curation.ingest.importers.row_marks import find_mark, find_mark_columns
from curation.ingest.outcome import (
    MAX_NAMES,
    ImportOutcome,
    describe_fields,
    describe_personal_data,
    describe_replaced,
    describe_withdrawals,
)
from curation.ingest.readers.fields import QueryFields
from curation.ingest.readers.formats import FileLayout, find_beir_file
from curation.ingest.readers.json_paths import select_unused
from curation.ingest.readers.problems import Problems
from curation.ingest.readers.record_source import Record
from curation.ingest.readers.records import Records
from curation.ingest.readers.values import field_to_text, to_metadata_json
from curation.store import COMMAND_LINE, Cursor, Query, Store, record_event

BARE = "only personal data"


@dataclass(frozen=True)
class QueryImport:
    """The result of importing queries.

    Attributes
    ----------
    added: queries that are new to the project.
    changed: queries with a new information need or new values of other fields, and queries known only from
    traffic before.
    unchanged: queries that the project has with the same values.
    known_as: the project's id for each id in the file, for queries whose text the project knew; files may use
    both ids.
    personal: number of queries with placeholders, for each kind of personal data.
    replaced: number of unprintable characters that were replaced by U+FFFD, by kind.
    answers: number of queries with new or changed reference answers.
    withdrawn: number of items withdrawn from rounds, because their document is now outside their query's
    filter.
    tags: number of queries in the file, for each tag.
    tags_added: number of tags that this import added to queries. declared: names of tags that are new to the
    project.
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

    @property
    def outcome(self) -> ImportOutcome:
        """Return the outcome of the import of queries as counts and sentences."""
        counts = {"added": self.added, "changed": self.changed, "unchanged": self.unchanged}
        changes = bool(self.added or self.changed or self.answers or self.tags_added)
        sentence = (
            "Nothing changed: the project already has the same "
            f"{pluralize(self.queries, 'query', 'queries')}."
        )
        if changes:
            counts_text = ", ".join(f"{count:,} {what}" for what, count in counts.items())
            sentence = f"{pluralize(self.queries, 'query', 'queries')}: {counts_text}."
        remarks = [describe_fields(self.fields, "the other columns are kept as metadata")]
        if self.known_as:
            pairs = join_names([f"{theirs} is {ours}" for theirs, ours in self.known_as.items()], MAX_NAMES)
            known = pluralize(len(self.known_as), "query has", "queries have")
            remark = f"{known} a text that the project already has, and the project's id: {pairs}."
            remarks.append(f"{remark} Judgments may name these queries by either id.")
        if self.answers:
            remarks.append(f"{pluralize(self.answers, 'query', 'queries')} got new reference answers.")
        if self.tags:
            counts_text = join_names([f"{tag} {count:,}" for tag, count in self.tags.items()], MAX_NAMES)
            declared = join_names(self.declared, MAX_NAMES)
            remark = f"Tags of the queries: {counts_text}. {self.tags_added:,} of these tags are new."
            remarks.append(f"{remark} The project's own tags now include {declared}." if declared else remark)
        remarks += describe_personal_data(self.personal, "queries", "replaced")
        remarks += [*describe_replaced(self.replaced), *describe_withdrawals(self.withdrawn)]
        figures = {"queries": self.queries} | counts
        return ImportOutcome(changes, sentence, "queries", figures, self.left_out, remarks)


def import_queries(
    store: Store,
    path: Path,
    fields: QueryFields | None = None,
    layout: FileLayout | None = None,
    progress: Progress = silent,
    author: str = COMMAND_LINE,
    withdraw: Withdraw = keep_items,
) -> QueryImport:
    """Import queries from a BEIR folder, JSON lines, CSV, TSV or Parquet.

    Raises
    ------
    InputError: the file cannot be read, a field is missing, an id has two texts in the file or a different
        text in the project, or a text has a different id in the project.
    """
    records = Records(find_beir_file(path, "queries.jsonl"), layout, progress, judged=False)
    used = records.resolve(fields or QueryFields())
    left_out: Counter[str] = Counter()
    known_fields = read_document_fields(store) if used.filter else set()
    rows = _read_queries(records, used, left_out, known_fields)
    if not rows:
        records.refuse_empty("query", left_out)
    with store.transaction(appends=True) as cursor:
        added, changed, known_as = compare_queries(rows, KnownQueries.read(cursor), records.problems)
        write_queries(cursor, added, changed)
        answered = sum(store_answers(cursor, _list_answers(cursor, rows, known_as), records.source, author))
        statements = _list_tags(cursor, rows, known_as)
        tags = Counter(statement.tag for statement in statements)
        declared = add_own_tags(cursor, tags, author)
        tags_added = len(write_persons_tags(cursor, statements, author).added)
        counts = {"added": len(added), "changed": len(changed)}
        counts["unchanged"] = len(rows) - sum(counts.values())
        personal = dict(sorted(Counter(kind for row in rows for kind in row.personal).items()))
        if added or changed:
            detail = {
                "source": records.source,
                **counts,
                "queries that the project has under a different id": len(known_as),
            }
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


def _read_queries(
    records: Records, fields: QueryFields, left_out: Counter[str], known_fields: Collection[str]
) -> list[ImportedQuery]:
    """Return the distinct queries in the file, whose filters may use the document fields `known_fields`."""
    rows: dict[str, ImportedQuery] = {}
    marks = find_mark_columns(records.columns, fields.used.values())
    for record in records:
        if mark := find_mark(record.fields, marks):
            left_out[f"marked {mark[1]}"] += 1
            continue
        row = _make_row(
            record, fields, left_out, _read_filter(record, fields.filter, known_fields, records.problems)
        )
        row = row._replace(tags=_read_tags(record, fields.tag, records.problems))
        if not row.query.normalised:
            left_out["empty query"] += 1
        elif row.is_bare:
            left_out[BARE] += 1
        elif not row.query.query_id:
            left_out["no id"] += 1
        elif (first := rows.setdefault(row.query.query_id, row)) is not row:
            if first.query.normalised != row.query.normalised:
                line = f"on {records.unit} {first.line}"
                problem = describe_text_conflict(row.query, first.query, line)
                records.problems.add(record.line, problem, ONE_TEXT)
            rows[first.query.query_id] = first._replace(tags=tuple(dict.fromkeys([*first.tags, *row.tags])))
            left_out["repeated query"] += 1
    return list(rows.values())


def _make_row(
    record: Record, fields: QueryFields, left_out: Counter[str], extra: dict[str, Any]
) -> ImportedQuery:
    values = record.fields
    text = redact(field_to_text(values, fields.text).strip())
    normalised = normalise_query(text.text)
    query_id = make_query_id(normalised) if fields.id is None else field_to_text(values, fields.id).strip()
    kinds = set(text.kinds)
    if has_email_address(query_id):
        query_id = make_query_id(normalised)
        kinds.add("email")
    need = _redact_value(field_to_text(values, fields.information_need).strip(), kinds)
    kinds_in_answers: Counter[str] = Counter()
    column = fields.reference
    answers = () if column is None else redact_answers(values.get(column), left_out, kinds_in_answers)
    kinds |= set(kinds_in_answers)
    used = {fields.id, fields.text, fields.information_need, column, fields.filter}
    other_values = _redact_value(select_unused(values, used, fields.inside) | extra, kinds)
    query = Query(query_id, text.text, normalised, "imported", need or None)
    details = (to_metadata_json(other_values), record.line, frozenset(kinds), text.is_empty)
    return ImportedQuery(query, *details, tuple(dict.fromkeys(answers)))


def _read_filter(
    record: Record, column: str | None, names: Collection[str], problems: Problems
) -> dict[str, Any]:
    """Return the metadata that stores a query's filter, read from a cell; {} for an empty cell."""
    value = record.fields.get(column or "")
    if value is None or value == "":
        return {}
    try:
        query_filter = parse_filter(value)
        refuse_problems([missing] if (missing := describe_missing_fields(query_filter, names)) else [])
    except InputError as error:
        for problem in error.problems:
            problems.add(record.line, problem, WAY_OUT)
        return {}
    return {FIELD: query_filter, WORDS: describe_filter(query_filter)}


def _read_tags(record: Record, columns: Iterable[str], problems: Problems) -> tuple[str, ...]:
    """Return the distinct tags in these columns."""
    values = (_redact_value(record.fields.get(column), set()) for column in columns)
    names = dict.fromkeys(name for value in values for name in parse_tag_names(value))
    for name in names:
        if not is_tag_name(name):
            problems.add(record.line, f"a tag cannot be called {name!r}", NAME_EXPECTED)
    return tuple(names)


def _list_answers(
    cursor: Cursor, rows: Iterable[ImportedQuery], id_of: Mapping[str, str]
) -> dict[str, tuple[str, ...]]:
    """Return the file's reference answers by the project's query id."""
    return {query_id: row.answers for query_id, row in _resolve_rows(cursor, rows, id_of) if row.answers}


def _list_tags(cursor: Cursor, rows: Iterable[ImportedQuery], id_of: Mapping[str, str]) -> list[TagStatement]:
    """Return, for each tag on a query's rows, a statement that the query has the tag."""
    known_rows = _resolve_rows(cursor, rows, id_of)
    statements = (TagStatement(query_id, tag, True) for query_id, row in known_rows for tag in row.tags)
    return list(dict.fromkeys(statements))


def _resolve_rows(
    cursor: Cursor, rows: Iterable[ImportedQuery], id_of: Mapping[str, str]
) -> Iterator[tuple[str, ImportedQuery]]:
    """Yield each row that has answers or tags, with the project's id for its query."""
    with_items = [row for row in rows if row.answers or row.tags]
    if not with_items:
        return
    known = KnownQueries.read(cursor)
    for row in with_items:
        query_id = id_of.get(row.query.query_id, row.query.query_id)
        query = known.find_by_id(query_id) or known.find_by_text(row.query.normalised)[0]
        yield query.query_id, row


def _redact_value(value: Any, kinds: set[str]) -> Any:
    """Return the value with placeholders for personal data; `kinds` collects the kinds found."""
    if isinstance(value, str) or (isinstance(value, int) and not isinstance(value, bool)):
        redacted = redact(str(value))
        kinds.update(redacted.kinds)
        return redacted.text if redacted.kinds else value
    if isinstance(value, Mapping):
        if any(redact(str(name)).kinds for name in value):
            # Redacted as one text, because two names could get the same placeholder.
            return _redact_value(canonical_json(value), kinds)
        return {name: _redact_value(item, kinds) for name, item in value.items()}
    return [_redact_value(item, kinds) for item in value] if isinstance(value, list | tuple) else value
