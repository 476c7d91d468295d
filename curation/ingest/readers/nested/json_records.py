"""Records of JSON: of lines with an object each, or of one text.

One text holds a list of records, an object with such a list under a usual key (`data`, `examples`, …) or its
only one, an object of columns, or one record.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import Any

from curation.ingest.readers.bounds import BoundedText
from curation.ingest.readers.nested.forms import form_of
from curation.ingest.readers.nested.json_texts import UnreadJSONError, read_json
from curation.ingest.readers.problems import Problems

MOST = 64_000_000
"""Characters of one JSON text, which is read as a whole."""
_LIST_KEYS = (
    *("data", "examples", "records", "items", "rows", "samples", "goldens", "queries", "requests"),
    *("querySetQueries", "judgmentRatings", "query_doc_pairs"),
)
"""What tools call a list of records, where its object says more."""
_LINES = "Make lines of it first: jq -c '.[]' FILE"
Row = tuple[int, dict[str, Any]]
_decoder = json.JSONDecoder(strict=False, parse_constant=lambda name: None)


def json_rows(
    lines: Iterable[str], problems: Problems, clean: Callable[[Any], Any] = lambda value: value
) -> Iterator[Row]:
    """The number and the value of each record: of its line, or of its entry in the one text.

    Parameters
    ----------
    clean: makes a value of one whose text has escapes.
    """
    numbered = enumerate(lines, 1)
    filled = ((number, line.strip()) for number, line in numbered if line.strip())
    first = next(filled, None)
    if first is not None and _begins_a_text(first[1]):
        before = "\n" * (first[0] - 1)
        rest = (line for _, line in numbered)
        yield from _entries(clean(whole_text(chain([before, f"{first[1]}\n"], rest), problems)), problems)
        return
    second = next(filled, None)
    for number, line in chain(filter(None, [first, second]), filled):
        try:
            value = read_json(line, _decoder.decode)
        except UnreadJSONError as error:
            expected = "; expected one whole object" if error.is_broken else ""
            problems.add(
                number, f"{error.found}{expected}", "Correct these lines, or leave them out of the file."
            )
            continue
        value = clean(value) if "\\u" in line else value
        if second is None and isinstance(value, dict) and records_in(value) != [value]:
            yield from _entries(value, problems)
        elif isinstance(value, dict):
            found = hits_of(value)
            yield from ((number, record) for record in ([value] if found is None else found))
        else:
            problems.add(number, f"found {line[:40]!r}; expected an object: {{…}}")


def records_in(value: dict[str, Any]) -> list[Any]:
    """The records of an object: of the list in it, or of its columns; else the object itself."""
    if form_of(value) is not None:
        return [value]
    if (hits := hits_of(value)) is not None:
        return hits
    lengths = {len(column) if isinstance(column, list) else -1 for column in value.values()}
    is_table = "requests" not in value  # as `_rank_eval` has them, next to its templates
    if is_table and len(value) > 1 and len(lengths) == 1 and lengths.isdisjoint((-1, 0)):
        return [dict(zip(value, row, strict=True)) for row in zip(*value.values(), strict=True)]
    keys = [key for key in value if key in _LIST_KEYS] or (list(value) if len(value) == 1 else [])
    lists: list[list[Any]] = [value[key] for key in keys if _holds_objects(value[key])]
    if len(lists) == 1:
        return lists[0]
    data = value.get("data")
    found = records_in(data) if isinstance(data, dict) else [data]
    return found if found != [data] else [value]


def hits_of(value: dict[str, Any]) -> list[Any] | None:
    """The hits of a response of Elasticsearch or OpenSearch, or of several in one; None where it is none."""
    inner = value.get("rawResponse", value)
    responses = inner.get("responses", [inner]) if isinstance(inner, dict) else []
    if not isinstance(responses, list) or not responses:
        return None
    found = [
        response["hits"]
        for response in responses
        if isinstance(response, dict) and isinstance(response.get("hits"), dict)
    ]
    lists = [inside["hits"] for inside in found if isinstance(inside.get("hits"), list)]
    hits = [hit for inside in lists for hit in inside]
    return hits if len(lists) == len(responses) and all(isinstance(hit, dict) for hit in hits) else None


def _holds_objects(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(one, dict) for one in value)


def _begins_a_text(line: str) -> bool:
    """Whether a first line is one of a text: of a list, or of an object that goes on."""
    return line.startswith("[") or (line.startswith("{") and line.endswith(("{", "[", ",", ":")))


def whole_text(lines: Iterable[str], problems: Problems) -> Any:
    """What all lines together say as one JSON text; stops where they say nothing."""
    text = BoundedText(problems, "the file is one JSON text, which", MOST, _LINES)
    for line in lines:
        text.add(line)
    try:
        return read_json(text.whole(), _decoder.decode)
    except UnreadJSONError as error:
        return problems.stop(str(error), "Expected lines with an object each, or a list of objects.")


def _entries(value: Any, problems: Problems) -> Iterator[Row]:
    problems.unit = "entry"
    for number, record in enumerate(value if isinstance(value, list) else records_in(value), 1):
        if isinstance(record, dict):
            yield number, record
        else:
            problems.add(number, f"found {json.dumps(record)[:40]}; expected an object: {{…}}")
