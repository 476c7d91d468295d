"""Records that another tool wraps are read as they are within: `_source` of Elasticsearch, `doc`, `event`."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from operator import attrgetter
from pathlib import Path
from typing import Any

import pytest

from curation.core.errors import InputError
from curation.ingest.importers.corpus import import_corpus
from curation.ingest.importers.traffic.traffic_import import import_traffic
from curation.ingest.readers.fields import CorpusFields, JudgmentFields, TrafficFields
from curation.labeling.imported import import_judgments
from curation.store import Store
from tests.support.projects import add_pairs, rows_of

Rows = list[dict[str, Any]]
Write = Callable[..., Path]


def hit(row: dict[str, Any], place: int = 0) -> dict[str, Any]:
    return {"_index": "logs", "_type": "_doc", "_id": f"e{place}", "_score": 1, "_source": row}


def lines(rows: Iterable[dict[str, Any]]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def hits(rows: Rows) -> Rows:
    return [hit(row, place) for place, row in enumerate(rows)]


def response(rows: Rows) -> dict[str, Any]:
    results = {"total": {"value": len(rows), "relation": "eq"}, "max_score": 1, "hits": hits(rows)}
    return {"took": 3, "timed_out": False, "_shards": {"total": 1, "failed": 0}, "hits": results}


def dotted(row: dict[str, Any]) -> dict[str, Any]:
    return {f"search.{name}": value for name, value in row.items()}


WRAPPED: dict[str, Callable[[Rows], str]] = {
    "elasticdump": lambda rows: lines(hits(rows)),
    "only _source": lambda rows: lines({"_source": row} for row in rows),
    "a list of hits": lambda rows: json.dumps(hits(rows)),
    "a response": lambda rows: json.dumps(response(rows)),
    "a response, indented": lambda rows: json.dumps(response(rows), indent=2),
    "a response of filter_path": lambda rows: json.dumps(
        {"hits": {"hits": [{"_source": row} for row in rows]}}
    ),
    "pages of a scroll": lambda rows: lines([response(rows[:3]), response(rows[3:]), response([])]),
    "several searches": lambda rows: json.dumps(
        {"took": 1, "responses": [response(rows[:3]), response(rows[3:])]}
    ),
    "Kibana": lambda rows: json.dumps({"rawResponse": response(rows)}),
    "Kibana's fields": lambda rows: lines(
        {"_index": "logs", "_id": "e", "fields": {name: [value] for name, value in row.items()}}
        for row in rows
    ),
    "fields beside _source": lambda rows: lines(
        hit(row) | {"fields": {name: [value] for name, value in row.items()}} for row in rows
    ),
    "highlight beside _source": lambda rows: lines(
        hit(row) | {"highlight": {name: [f"<em>{value}</em>"] for name, value in row.items()}} for row in rows
    ),
    "names with dots": lambda rows: lines(hit(dotted(row)) for row in rows),
    "names with dots, flat": lambda rows: lines(map(dotted, rows)),
    "an object in _source": lambda rows: lines(hit({"search": row, "@version": "1"}) for row in rows),
    "doc": lambda rows: lines({"id": f"r{place}", "key": 1, "doc": row} for place, row in enumerate(rows)),
    "event": lambda rows: lines({"event": row, "host": {"name": "a"}} for row in rows),
    "a wide _source": lambda rows: lines(hit(row | {f"more{n}": n for n in range(40)}) for row in rows),
}
of_each_wrapping = pytest.mark.parametrize("wrap", WRAPPED.values(), ids=WRAPPED)


figures = attrgetter(
    "rows", "traffic", "queries", "sessions", "segments", "first", "last", "unknown_times", "left_out"
)


@of_each_wrapping
def test_a_wrapped_log_is_what_it_is_flat(
    store: Store, write: Write, cases: Path, wrap: Callable[[Rows], str]
) -> None:
    flat = cases / "json/ubi_flat.ndjson"
    rows = [json.loads(line) for line in flat.read_text().splitlines()]
    wrapped = figures(import_traffic(store, write("wrapped.json", wrap(rows))))
    with store.transaction() as cursor:
        cursor.execute("DELETE FROM traffic")
    assert wrapped == figures(import_traffic(store, flat))


def test_what_is_around_a_wrapped_query_is_read_where_nothing_within_is(store: Store, write: Write) -> None:
    rows = [{"@timestamp": "2026-03-01T10:00:00Z", "event": {"query": "tea", "user_id": "u1"}}]
    log = import_traffic(store, write("log.jsonl", rows))
    assert log.fields.used == {"query": "event.query", "time": "@timestamp", "session": "event.user_id"}
    assert log.first is not None


def test_other_fields_follow_the_query_that_somebody_names(store: Store, write: Write) -> None:
    rows = [{"a": {"words": "tea", "time": "2026-03-01"}, "b": {"words": "x", "time": "2025-01-01"}}]
    log = import_traffic(store, write("log.jsonl", rows), TrafficFields(query="a.words"))
    assert log.fields.time == "a.time"


def test_two_objects_with_queries_are_asked_about(store: Store, write: Write) -> None:
    path = write("log.jsonl", [{"doc": {"query": "tea"}, "event": {"query": "hat"}}])
    with pytest.raises(
        InputError, match="no column was recognized as the queries: name it with --map query=COLUMN"
    ):
        import_traffic(store, path)


DOCUMENTS: Rows = [
    {"title": f"Tea {place}", "text": "green tea", "url": f"https://x/{place}", "brand": "Fir", "year": place}
    for place in range(6)
]
MANY = ("names with dots", "an object in _source", "doc", "names with dots, flat", "event")
HITS = {name: wrap for name, wrap in WRAPPED.items() if name not in MANY}


@pytest.mark.parametrize("wrap", HITS.values(), ids=HITS)
def test_a_wrapped_corpus_is_what_it_is_flat(store: Store, write: Write, wrap: Callable[[Rows], str]) -> None:
    rows = [row | {"id": f"d{place}"} for place, row in enumerate(DOCUMENTS)]
    read = "SELECT title, body, url, metadata::TEXT FROM documents ORDER BY ALL"
    import_corpus(store, write("wrapped.json", wrap(rows)), CorpusFields(id=_id_of(wrap)))
    wrapped = [row[:3] for row in rows_of(store, read)]
    metadata = [json.loads(row[3]) for row in rows_of(store, read)]
    assert wrapped == [(row["title"], row["text"], row["url"]) for row in DOCUMENTS]
    kept = [{name: value for name, value in row.items() if "more" not in name} for row in metadata]
    assert kept == [{"brand": "Fir", "year": place} for place in range(6)]


def _id_of(wrap: Callable[[Rows], str]) -> str:
    return "fields.id" if wrap is WRAPPED["Kibana's fields"] else "_source.id"


def test_the_id_of_a_hit_is_that_of_its_document(store: Store, write: Write) -> None:
    import_corpus(store, write("dump.jsonl", hits(DOCUMENTS)))
    assert rows_of(store, "SELECT min(document_id), max(document_id) FROM documents") == [("e0", "e5")]


def test_the_score_of_a_hit_is_no_grade(store: Store, write: Write) -> None:
    add_pairs(store, {"tea": ["d1"]})
    path = write("dump.jsonl", hits([{"query": "tea", "doc_id": "d1", "judgment": 2}]))
    with pytest.raises(InputError, match="no column was recognized as the grades"):
        import_judgments(store, path, JudgmentFields(annotator_name="ann"))
