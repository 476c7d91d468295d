"""Queries' filters: conditions that a document's metadata must meet for the document to be relevant.

A filter is a JSON object that maps a field of the metadata to a value or a list of values, and a relevant
document must have one of these values. Under the key `at`, a filter has a date or a time at which the
document must be valid. A document is valid from `valid_from` to `valid_to`; a date without a time stands for
the whole day. A filter on a field that a document lacks does not exclude the document: a document without
`valid_to` is still valid, and a document without a product is about all products.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from datetime import datetime, timedelta
from itertools import chain
from typing import Any, NamedTuple

from curation.core.digests import canonical_json, json_pointer
from curation.core.errors import InputError, refuse_problems
from curation.core.text import join_names
from curation.ingest.readers.json_paths import parse_object
from curation.ingest.readers.times import parse_time
from curation.ingest.readers.values import to_text
from curation.store import Cursor, Store, get_setting
from curation.store.documents import BATCH_SIZE, VERSION, batches_of, current_corpus
from curation.store.release_parts import table_rows

AT = "at"
VALID = VALID_FROM, VALID_TO = ("valid_from", "valid_to")
OUTSIDE = "outside the filter"
OUTDATED = "outdated but similar"
"""Name for a document outside the filter whose text is nearly the same as the text of a relevant document."""
WAY_OUT = (
    'Write a filter as {"product": "x", "version": ["1", "2"], "at": "2025-03-01"}: for each field of the '
    "documents' metadata a value or a list of values, and under at a date or a time. If the column does "
    "not contain filters, rename or remove the column."
)
_DATE = re.compile(r"\d{4}-\d\d-\d\d|\d{8}")
_LAST = timedelta(days=1) - timedelta(microseconds=1)
Filter = Mapping[str, Any]
FIELD, WORDS = "query_filter", "query_filter_words"
"""Fields of a query's metadata: the filter as an object, and as a sentence."""
NEED = f"nullif(concat_ws(chr(10), q.information_need, nullif(q.metadata ->> '{WORDS}', '')), '')"
"""SQL for the information need of a query `q`, followed by the query's filter as a sentence."""
Pair = tuple[str, str]
Withdraw = Callable[[Cursor, str], int]
"""Function that withdraws items of rounds from annotators if they are outside a filter; returns their number.
"""
_FILTERS = f"""
SELECT query_id, metadata ->> '{FIELD}' FROM queries
WHERE json_type(metadata, '{FIELD}') = 'OBJECT' AND metadata ->> '{FIELD}' <> '{{}}' ORDER BY query_id
"""  # noqa: S608  a name from code
_PAIRS = f"""
WITH filtered AS (SELECT query_id, filter FROM ({_FILTERS}) AS filters(query_id, filter)),
pairs AS (
    SELECT query_id, document_id FROM candidates UNION SELECT query_id, document_id FROM candidate_sources
    UNION SELECT query_id, document_id FROM presentations),
fields AS (
    SELECT s.document_id, json_extract(d.metadata, $fields::TEXT[])::TEXT[] AS top,
           CASE json_type(d.metadata, 'metadata') WHEN 'OBJECT'
           THEN json_extract(d.metadata -> 'metadata', $fields::TEXT[])::TEXT[] END AS nested
    FROM snapshot_documents s JOIN {VERSION} WHERE s.snapshot_id = $corpus)
SELECT filter, top, nested, list(query_id) AS queries, list(document_id) AS documents
FROM pairs JOIN filtered USING (query_id) JOIN fields USING (document_id) GROUP BY ALL
"""  # noqa: S608


def parse_period(value: Any) -> tuple[datetime, datetime] | None:
    """Return the first and the last moment of the date or time in a cell; None if the cell has no date."""
    time = parse_time(value)
    if time is None:
        return None
    return time, time + _LAST if _DATE.fullmatch(to_text(value).strip()) else time


def parse_filter(value: Any) -> Filter:
    """Return the filter in a cell, which holds an object or JSON text; {} removes a query's filter.

    Raises
    ------
    InputError: the cell does not hold a filter; the error lists all problems.
    """
    query_filter = {} if value in ({}, "{}") else parse_object(value)
    if query_filter is None:
        raise InputError(f"the filter {to_text(value)!r} is not an object")
    problems = [_find_problem(field, condition) for field, condition in query_filter.items()]
    refuse_problems(list(filter(None, problems)))
    return dict(query_filter)


def _find_problem(field: str, condition: Any) -> str:
    if isinstance(condition, Mapping) or field.startswith("$"):
        operators = [field] if field.startswith("$") else list(condition)
        return f"the filter has the operator {', '.join(operators)!r}; expected values and lists of values"
    if not to_texts(condition):
        return f"the filter has no value for {field!r}"
    if field == AT and (isinstance(condition, list) or parse_period(condition) is None):
        return f"the filter has {to_text(condition)!r} for at, not a date or a time"
    return ""


def to_texts(value: Any) -> list[str]:
    """Return a value, or all values of a list, as a list of texts; [] for an empty value."""
    values = value if isinstance(value, list) else [value]
    return [text for value in values if (text := to_text(value).strip())]


def describe_filter(query_filter: Filter) -> str:
    """Return a filter as a sentence for annotators; '' for a filter that excludes nothing."""
    fields = sorted(query_filter.keys() - {AT})
    conditions = [f"with {field} {' or '.join(to_texts(query_filter[field]))}" for field in fields]
    conditions += [f"valid at {to_text(query_filter[AT])}"] if AT in query_filter else []
    return f"The query is only about documents {', '.join(conditions)}." if conditions else ""


def explain_exclusion(query_filter: Filter, metadata: Mapping[str, Any]) -> str | None:
    """Return the reason why a document is outside a filter; None if it is inside."""
    for field in sorted(query_filter):
        if field == AT:
            reason = _explain_invalidity(query_filter[AT], metadata)
        else:
            document_values, allowed_values = to_texts(metadata.get(field)), to_texts(query_filter[field])
            is_excluded = document_values and set(document_values).isdisjoint(allowed_values)
            sentence = f"{field} is {', '.join(document_values)}, not {' or '.join(allowed_values)}"
            reason = sentence if is_excluded else None
        if reason:
            return reason
    return None


def _explain_invalidity(moment: Any, metadata: Mapping[str, Any]) -> str | None:
    at = parse_period(moment)
    start, end = (parse_period(metadata.get(name)) for name in VALID)
    if at and start and at[1] < start[0]:
        return f"valid from {to_text(metadata[VALID_FROM])}, which is after {to_text(moment)}"
    if at and end and end[1] < at[0]:
        return f"valid to {to_text(metadata[VALID_TO])}, which is before {to_text(moment)}"
    return None


def keep_items(cursor: Cursor, author: str) -> int:
    """Do nothing and return 0 withdrawn items, for imports into a project without rounds."""
    return 0


class Filters(NamedTuple):
    """The filters of queries, and the document metadata that these filters use, by id."""

    queries: Mapping[str, Filter] = {}
    documents: Mapping[str, Mapping[str, Any]] = {}

    def explain_pair(self, query_id: str, document_id: str) -> str | None:
        """Return the reason why a document is outside the query's filter; None if it is inside."""
        if query_id not in self.queries or document_id not in self.documents:
            return None
        return explain_exclusion(self.queries[query_id], self.documents[document_id])

    def find_excluded_pairs(self, pairs: Iterable[Pair]) -> dict[Pair, str]:
        """Return the pairs (query, document) outside their query's filter with their reasons, sorted."""
        filtered = sorted({pair for pair in pairs if pair[0] in self.queries})
        reasons = {pair: self.explain_pair(*pair) for pair in filtered}
        return {pair: reason for pair, reason in reasons.items() if reason}


NO_FILTERS = Filters()


def read_filters(store: Store) -> Filters:
    """Return the filters of the queries, with the metadata of documents in the current corpus.

    Raises
    ------
    InputError: no document has a field that a filter names, or the start or end of a document's validity is
    not a date; the error lists all problems.
    """
    with store.reading() as cursor:
        queries = {query_id: json.loads(text) for query_id, text in cursor.execute(_FILTERS).fetchall()}
    field_names = set(chain.from_iterable(queries.values()))
    field_names.update(VALID if AT in field_names else ())
    if not field_names:
        return NO_FILTERS
    known_fields, documents = _read_metadata(store, field_names)
    problems = [
        f"The filter of the query {query_id!r}: {missing}."
        for query_id, query_filter in queries.items()
        if (missing := describe_missing_fields(query_filter, known_fields))
    ]
    if VALID[0] in field_names:
        problems += [
            f"The document {document_id!r} has {to_text(value)!r} for {name}, not a date or a time."
            for document_id, fields in documents.items()
            for name in VALID
            if to_texts(value := fields.get(name)) and parse_period(value) is None
        ]
    refuse_problems(problems, way_out=f"{WAY_OUT} Import the queries or the documents again.")
    return Filters(queries, documents)


def find_outside_pairs(cursor: Cursor) -> set[Pair]:
    """Return the proposed or judged pairs outside their query's filter.

    The function `explain_exclusion` is called once for all pairs with the same filter and the same metadata.
    """
    filters = [json.loads(text) for _, text in cursor.execute(_FILTERS).fetchall()]
    field_names = sorted({name for query_filter in filters for name in (*query_filter, *VALID)})
    fields = list(map(json_pointer, field_names))
    parameters = {"fields": fields, "corpus": get_setting(cursor, "corpus")}
    pairs: set[Pair] = set()
    for row in table_rows(cursor.sql(_PAIRS, params=parameters).to_arrow_table()) if filters else ():
        levels = [zip(field_names, row[level] or (), strict=False) for level in ("top", "nested")]
        metadata = {name: json.loads(value) for level in levels for name, value in level if value is not None}
        if explain_exclusion(json.loads(row["filter"]), metadata):
            pairs.update(zip(row["queries"], row["documents"], strict=True))
    return pairs


def read_metadata_fields(metadata: str) -> dict[str, Any]:
    """Return the fields of a document's metadata, including BEIR's nested field `metadata`."""
    fields: dict[str, Any] = json.loads(metadata)
    nested = fields.get("metadata")
    return fields | nested if isinstance(nested, dict) else fields


def read_document_fields(store: Store) -> set[str]:
    """Return the names of all fields in the metadata of documents in the current corpus."""
    return _read_metadata(store, set())[0]


def describe_missing_fields(query_filter: Filter, known_fields: Collection[str]) -> str:
    """Return a clause that names a filter's fields that no document has; '' if documents have all its
    fields."""
    missing = [name for name in query_filter if name != AT and name not in known_fields]
    if AT in query_filter and not any(name in known_fields for name in VALID):
        missing.append(" or ".join(VALID))
    if not known_fields or not missing:
        return ""
    fields = join_names(sorted(known_fields), 20)
    return f"no document has the field {', '.join(missing)}; documents have {fields}"


def _read_metadata(store: Store, names: Collection[str]) -> tuple[set[str], dict[str, Mapping[str, Any]]]:
    """Return the names of all metadata fields, and the requested fields' values for each document."""
    with store.reading() as cursor:
        if get_setting(cursor, "corpus") is None:
            return set(), {}
        hashes = current_corpus(cursor).hashes
    known_fields: set[str] = set()
    documents: dict[str, Mapping[str, Any]] = {}
    distinct: dict[str, Mapping[str, Any]] = {}
    for batch in batches_of(store, hashes, "d.document_id, d.metadata::TEXT AS metadata", BATCH_SIZE):
        for document_id, metadata in zip(*(column.to_pylist() for column in batch.columns), strict=True):
            fields = read_metadata_fields(metadata)
            known_fields.update(fields)
            if values := {name: fields[name] for name in names if name in fields}:
                documents[document_id] = distinct.setdefault(canonical_json(values), values)
    return known_fields, documents
