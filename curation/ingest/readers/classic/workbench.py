"""Judgment lists and query sets of OpenSearch's Search Relevance Workbench: one JSON object a file.

    {"judgmentRatings": [{"query": "red dress", "ratings": [{"docId": "B077", "rating": "3.000"}]}]}
    {"querySetQueries": [{"queryText": "red dress"}]}

So they are sent to it. What its API gives back is the same within `_source`, or within `hits.hits` of a
search; one list or set is read. Queries are named by their texts. A query's further fields, such as
`referenceAnswer`, come back as `customFields`, or as JSON after a # in its text.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Any

from curation.ingest.readers.bounds import BoundedText
from curation.ingest.readers.classic.prose import shown
from curation.ingest.readers.nested.json_texts import UnreadJSONError, read_json
from curation.ingest.readers.problems import Problems

MOST = 32_000_000
"""Characters of a file, which is read as a whole."""
JUDGMENTS, QUERIES = "judgmentRatings", "querySetQueries"
_WAY_OUT = "Make several judgment lists or query sets of it, each in a file of its own."
_EXPECTED = (
    f'Expected {{"{JUDGMENTS}": [{{"query": …, "ratings": [{{"docId": …, "rating": …}}]}}]}} or '
    f'{{"{QUERIES}": [{{"queryText": …}}]}}.'
)


def workbench_rows(lines: Iterable[str], problems: Problems) -> Iterator[tuple[int, dict[str, Any]]]:
    """The judgments (query_text, document, grade) or queries (query_text, …) of a file, numbered from 1."""
    problems.unit = "entry"
    text = BoundedText(problems, "the file", MOST, _WAY_OUT)
    for line in lines:
        text.add(line)
    try:
        found = _parts(read_json(text.whole()))
    except UnreadJSONError as error:
        problems.stop(str(error), _EXPECTED)
    if len(found) != 1:
        many = f"holds {len(found):,} judgment lists or query sets; expected one"
        problems.stop(many if found else "holds no judgment list and no query set", _EXPECTED)
    name, value = found[0]
    entries = _judgments(value) if name == JUDGMENTS else _queries(value)
    for number, fields in enumerate(entries, 1):
        if isinstance(fields, dict):
            yield number, fields
        else:
            problems.add(number, f"found {shown(fields)}", _EXPECTED)


def kind_of(text: str) -> str | None:
    """`JUDGMENTS` or `QUERIES`, whichever the beginning of a file names; None where it names neither."""
    return next((name for name in (JUDGMENTS, QUERIES) if f'"{name}"' in text), None)


def _parts(value: Any) -> list[tuple[str, Any]]:
    """The lists and sets of an object, or of the hits of an answer."""
    if not isinstance(value, dict):
        return []
    hits = value.get("hits")
    if isinstance(hits, dict) and isinstance(hits.get("hits"), list):
        return [part for hit in hits["hits"] for part in _parts(hit)]
    if isinstance(value.get("_source"), dict):
        value = value["_source"]
    return [(name, value[name]) for name in (JUDGMENTS, QUERIES) if name in value]


def _judgments(value: Any) -> Iterator[dict[str, Any] | str]:
    """Fields of each rating, or the text of what is none."""
    for item in value if isinstance(value, list) else [value]:
        ratings = item.get("ratings") if isinstance(item, dict) else None
        if not isinstance(ratings, list) or not isinstance(item.get("query"), str):
            yield json.dumps(item)[:400]
            continue
        for rating in ratings:
            if isinstance(rating, dict) and {"docId", "rating"} <= rating.keys():
                text, _ = _text_and_fields(item["query"])
                yield {"query_text": text, "document": rating["docId"], "grade": rating["rating"]}
            else:
                yield json.dumps(rating)[:400]


def _text_and_fields(text: str) -> tuple[str, dict[str, Any]]:
    before, _, after = text.partition("#")
    with suppress(ValueError, RecursionError):
        fields = json.loads(after)
        if isinstance(fields, dict):
            return before.strip(), fields
    return text, {}


def _queries(value: Any) -> Iterator[dict[str, Any] | str]:
    for item in value if isinstance(value, list) else [value]:
        if isinstance(item, dict) and isinstance(item.get("queryText"), str):
            rest = {name: other for name, other in item.items() if name not in ("queryText", "customFields")}
            text, fields = _text_and_fields(item["queryText"])
            yield {"query_text": text, **rest, **fields, **(item.get("customFields") or {})}
        else:
            yield json.dumps(item)[:400]
