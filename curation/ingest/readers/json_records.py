"""Records of a JSON file: one object per line, or one JSON text for the whole file.

A JSON text for the whole file is a list of records, an object with a list of records under a usual key
(`data`, `examples`, …) or its only key, an object of columns, or one record. JSON is read within size limits,
and each problem is reported with its line.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice
from typing import Any

from curation.ingest.readers import bounds
from curation.ingest.readers.bounds import MAX_NESTING, BoundedText, is_too_deep
from curation.ingest.readers.problems import Problems
from curation.ingest.readers.tool_records import find_tool_format

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*+"|[\[{\]}]|-?\d++', re.DOTALL)
_NEAR = 20
MAX_JSON_LENGTH = 64_000_000
"""Greatest length in characters of a JSON text that is read as a whole."""
_LIST_KEYS = (
    *("data", "examples", "records", "items", "rows", "samples", "goldens", "queries", "requests"),
    *("querySetQueries", "judgmentRatings", "query_doc_pairs"),
)
"""Usual names of the list of records in an object that also has other names."""
_LINES = "First write one object on each line: jq -c '.[]' FILE"
Row = tuple[int, dict[str, Any]]
_decoder = json.JSONDecoder(strict=False, parse_constant=lambda name: None)


class UnreadJSONError(Exception):
    """Error: a text is not valid JSON, or exceeds a size limit.

    Attributes
    ----------
    line: line of the problem, from 1.
    found: clause about the problem.
    is_broken: whether the text is not valid JSON.
    """

    def __init__(self, line: int, found: str, is_broken: bool = False) -> None:
        super().__init__(f"line {line}: {found}")
        self.line, self.found, self.is_broken = line, found, is_broken


def read_json(text: str, decode: Callable[[str], Any] = json.loads) -> Any:
    """Return the value of a JSON text.

    Raises
    ------
    UnreadJSONError: the text is broken, nested too deeply, or has too many lists and objects or a number with
        too many digits.
    """
    _refuse_many_values(text)
    try:
        value = decode(text)
    except json.JSONDecodeError as error:
        near = text[max(0, error.pos - _NEAR) : error.pos + _NEAR]
        problem = f"broken JSON: {error.msg} at character {error.colno}, near “{near}”"
        raise UnreadJSONError(error.lineno, problem, True) from error
    except RecursionError as error:
        raise _make_depth_error(text) from error
    except ValueError as error:
        raise _make_digits_error(text) from error
    if is_too_deep(text, value):
        raise _make_depth_error(text)
    return value


def _refuse_many_values(text: str) -> None:
    limit = bounds.MAX_VALUES
    if len(text) > limit and text.count("[") + text.count("{") > limit:
        starts = (token.start() for token in _TOKEN.finditer(text) if token[0] in ("[", "{"))
        position = next(islice(starts, limit, None), None)  # None: the brackets are inside texts
        if position is not None:
            problem = f"the JSON text has more than {limit:,} lists and objects: divide the text"
            raise UnreadJSONError(_count_lines_to(text, position), problem)


def _make_depth_error(text: str) -> UnreadJSONError:
    depth, position = 0, 0
    for token in _TOKEN.finditer(text):
        depth += (token[0] in "[{") - (token[0] in "]}")
        if depth > MAX_NESTING:
            position = token.start()
            break
    problem = f"the JSON text is nested too deeply; expected at most {MAX_NESTING} levels"
    return UnreadJSONError(_count_lines_to(text, position), problem)


def _make_digits_error(text: str) -> UnreadJSONError:
    limit = sys.get_int_max_str_digits()
    numbers = (token for token in _TOKEN.finditer(text) if len(token[0].removeprefix("-")) > limit)
    position = next((token.start() for token in numbers if token[0][0] != '"'), 0)
    problem = f"a whole number has more than {limit:,} digits; expected a shorter number, or a text in quotes"
    return UnreadJSONError(_count_lines_to(text, position), problem)


def _count_lines_to(text: str, position: int) -> int:
    return text.count("\n", 0, position) + 1


def read_json_rows(
    lines: Iterable[str], problems: Problems, clean: Callable[[Any], Any] = lambda value: value
) -> Iterator[Row]:
    """Yield each record with its line number, or with its position if the whole file is one JSON text.

    Parameters
    ----------
    clean: function for values with escape sequences, which replaces characters that no database can store.
    """
    numbered = enumerate(lines, 1)
    filled_lines = ((number, line.strip()) for number, line in numbered if line.strip())
    first = next(filled_lines, None)
    if first is not None and _begins_whole_text(first[1]):
        before = "\n" * (first[0] - 1)
        remaining_lines = (line for _, line in numbered)
        value = parse_whole_text(chain([before, f"{first[1]}\n"], remaining_lines), problems)
        yield from _read_entries(clean(value), problems)
        return
    second = next(filled_lines, None)
    for number, line in chain(filter(None, [first, second]), filled_lines):
        try:
            value = read_json(line, _decoder.decode)
        except UnreadJSONError as error:
            expected = "; expected one whole object" if error.is_broken else ""
            problems.add(number, f"{error.found}{expected}", "Correct these lines, or leave them out.")
            continue
        value = clean(value) if "\\u" in line else value
        if second is None and isinstance(value, dict) and find_records(value) != [value]:
            yield from _read_entries(value, problems)
        elif isinstance(value, dict):
            hits = find_hits(value)
            yield from ((number, record) for record in ([value] if hits is None else hits))
        else:
            problems.add(number, f"found {line[:40]!r}; expected an object: {{…}}")


def find_records(value: dict[str, Any]) -> list[Any]:
    """Return the records in an object: its list of records, the rows of its columns, or the object itself."""
    if find_tool_format(value) is not None:
        return [value]
    if (hits := find_hits(value)) is not None:
        return hits
    column_lengths = {len(column) if isinstance(column, list) else -1 for column in value.values()}
    is_table = "requests" not in value  # the lists of a `_rank_eval` request are not columns
    if is_table and len(value) > 1 and len(column_lengths) == 1 and column_lengths.isdisjoint((-1, 0)):
        return [dict(zip(value, row, strict=True)) for row in zip(*value.values(), strict=True)]
    keys = [key for key in value if key in _LIST_KEYS] or (list(value) if len(value) == 1 else [])
    lists: list[list[Any]] = [value[key] for key in keys if _holds_objects(value[key])]
    if len(lists) == 1:
        return lists[0]
    data = value.get("data")
    records = find_records(data) if isinstance(data, dict) else [data]
    return records if records != [data] else [value]


def find_hits(value: dict[str, Any]) -> list[Any] | None:
    """Return the search hits in Elasticsearch or OpenSearch responses; None for other objects."""
    outer = value.get("rawResponse", value)
    responses = outer.get("responses", [outer]) if isinstance(outer, dict) else []
    if not isinstance(responses, list) or not responses:
        return None
    objects = [response for response in responses if isinstance(response, dict)]
    results = [response["hits"] for response in objects if isinstance(response.get("hits"), dict)]
    lists = [result["hits"] for result in results if isinstance(result.get("hits"), list)]
    hits = [hit for result in lists for hit in result]
    return hits if len(lists) == len(responses) and all(isinstance(hit, dict) for hit in hits) else None


def _holds_objects(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(item, dict) for item in value)


def _begins_whole_text(line: str) -> bool:
    """Return whether the first line of a file begins a list, or an object that spans several lines."""
    return line.startswith("[") or (line.startswith("{") and line.endswith(("{", "[", ",", ":")))


def parse_whole_text(lines: Iterable[str], problems: Problems) -> Any:
    """Parse all lines as one JSON text and return its value; reject broken JSON."""
    text = BoundedText(problems, "the file is one JSON text, which", MAX_JSON_LENGTH, _LINES)
    for line in lines:
        text.add(line)
    try:
        return read_json(text.whole(), _decoder.decode)
    except UnreadJSONError as error:
        return problems.stop(str(error), "Expected one object on each line, or a list of objects.")


def _read_entries(value: Any, problems: Problems) -> Iterator[Row]:
    problems.unit = "entry"
    for number, record in enumerate(value if isinstance(value, list) else find_records(value), 1):
        if isinstance(record, dict):
            yield number, record
        else:
            problems.add(number, f"found {json.dumps(record)[:40]}; expected an object: {{…}}")
