"""Query logs in the forms of search engines, web servers and analytics tools.

A line or record becomes a flat record with the query, the time and, if the log has one, the session. A line
or record without a search has an empty query. Lines: access logs of nginx and Apache, the request log of
Solr, and the slow log of Elasticsearch and OpenSearch, also as JSON. Records: events that Google
Analytics 4 exports to BigQuery, and visits and keywords of Matomo.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any
from urllib.parse import parse_qs

from curation.ingest.readers.json_paths import find_value
from curation.ingest.readers.problems import Problems

Fields = dict[str, Any]
LogForm = Callable[[Fields], Iterator[Fields]]
_ACCESS = re.compile(
    r"(?:\S+ )?(?P<host>\S+) \S+ \S+ \[(?P<time>\d\d/\w{3}/[^\]]+)\] "
    r'"[A-Z]+ (?P<url>\S+)[^"]*" (?P<status>\d{3})(?P<rest>.*)'
)
"""Line of the formats common, combined and vhost_combined, and of nginx's `main`."""
_SOLR = re.compile(
    r"(?:INFO +- )?(?P<time>\d{4}-\d\d-\d\d[ T][\d:]{8}[.,]?\d*).*? path=\S+ params=\{(?P<params>.*)\} "
    r"(?:hits|status)="
)
_SLOW = re.compile(
    r"\[(?P<time>\d{4}-[^\]]+)\]\[\w+ *\]\[(?P<phase>[^\]]*)\].*?\[(?P<index>[^\]]+)\]\[\d+\] took\["
    r".*?source\[(?P<source>\{.*\})\](?:, id\[(?P<id>[^\]]*)\])?"
)
_SLOW_SOURCE = "elasticsearch.slowlog.source"
_PARAMETERS = "q query search s k keyword keywords term search_term searchTerm search_query text".split()
"""Names of a URL's parameter that has the query, the usual names first."""
_LOCAL_PARAMETERS = re.compile(r"^\{![^}]*\}")
_MATCHES = ("match", "match_phrase", "match_phrase_prefix", "match_bool_prefix")
_NO_TEXT = ("filter", "must_not", "aggs", "aggregations", "sort", "post_filter", "rescore")
"""Parts of a search request without the text that a person typed."""


def read_log_lines(lines: Iterable[str], problems: Problems) -> Iterator[tuple[int, Fields]]:
    """Yield the fields of each line with its number; an unknown line has only an empty query."""
    return ((number, parse_log_line(line) or {"query": ""}) for number, line in enumerate(lines, 1))


def parse_log_line(line: str) -> Fields | None:
    """Return the fields of a line of a log; None for a line in an unknown form.

    The session of an access log is the client's address with its user agent. Parameters of the URL are fields
    such as `parameter.page`.
    """
    if match := _ACCESS.match(line):
        _, agent, forwarded, *_ = [*re.findall(r'"([^"]*)"', match["rest"]), "", "", ""]
        is_served = match["status"] < "400"
        session = f"{forwarded if forwarded.strip('-') else match['host']} {agent}"
        fields = _parse_parameters(match["url"].partition("?")[2] if is_served else "")
        return {**fields, "time": match["time"], "session": session}
    if match := _SOLR.match(line):
        return {**_parse_parameters(match["params"]), "time": match["time"].replace(",", ".")}
    if match := _SLOW.match(line):
        query = "" if "fetch" in match["phase"] else find_query_text(match["source"])
        time = match["time"].replace(",", ".")
        return {"query": query, "time": time, "index": match["index"], "id": match["id"] or ""}
    return None


def _parse_parameters(text: str) -> Fields:
    """Return the query and the other parameters of a URL; requests between Solr's shards have no query."""
    parameters = {name: values[0] for name, values in parse_qs(text, errors="replace").items()}
    name = next((name for name in _PARAMETERS if name in parameters), "")
    query = _LOCAL_PARAMETERS.sub("", parameters.pop(name, ""))
    query = "" if query == "*:*" or "isShard" in parameters else query
    return {"query": query} | {f"parameter.{name}": value for name, value in parameters.items()}


def find_query_text(source: Any) -> str:
    """Return the text that a search request to Elasticsearch or OpenSearch looks for, or ''.

    Parameters
    ----------
    source: the body of the request, as an object or as JSON text, which a log may have cut off.
    """
    try:
        return _find_text(json.loads(source) if isinstance(source, str) else source) or ""
    except (ValueError, RecursionError):
        return ""


def _find_text(value: Any, is_match: bool = False) -> str | None:
    if isinstance(value, list):
        return next(filter(None, map(_find_text, value)), None)
    for name, inner in value.items() if isinstance(value, dict) else ():
        if isinstance(inner, str) and (is_match or name in ("query", "query_text")):
            return inner
        if name not in _NO_TEXT and (text := _find_text(inner, name in _MATCHES)):
            return text
    return None


def find_log_form(fields: Fields) -> LogForm | None:
    """Return the function that reads the records of a tool's query log; None for a log whose records have one
    query each."""
    if isinstance(fields.get("_source"), dict) and (form := find_log_form(fields["_source"])) is not None:
        return lambda record: form(record.get("_source") or {})
    if isinstance(fields.get("event_params"), list):
        return _read_analytics_event
    if isinstance(fields.get("actionDetails"), list):
        return _read_visit
    if {"label", "nb_visits"} <= fields.keys():
        return lambda row: iter([{"query": row.get("label"), "count": row.get("nb_visits")}])
    if find_value(fields, _SLOW_SOURCE) or str(fields.get("type", "")).endswith("search_slowlog"):
        return _read_slow_query
    return None


def _read_analytics_event(event: Fields) -> Iterator[Fields]:
    """Yield one event of Google Analytics 4, with its parameters as fields."""
    fields = {name: value for name, value in event.items() if name != "event_params"}
    for parameter in _objects(event.get("event_params")):
        values = (parameter.get("value") or {}).values()
        fields[str(parameter.get("key"))] = next((value for value in values if value is not None), None)
    yield {"search_term": "", **fields}


def _read_visit(visit: Fields) -> Iterator[Fields]:
    """Yield the searches of a visit that Matomo recorded."""
    for action in _objects(visit.get("actionDetails")):
        query = action.get("siteSearchKeyword", action.get("pageTitle"))
        if action.get("type") == "search":
            yield {"query": query, "time": action.get("timestamp"), "session": visit.get("idVisit")}


def _read_slow_query(entry: Fields) -> Iterator[Fields]:
    """Yield the query of an entry in a JSON slow log; of the two entries that each search makes, only one
    counts."""
    fields = {name.removeprefix("elasticsearch.slowlog."): value for name, value in entry.items()}
    source = next(iter(find_value(entry, _SLOW_SOURCE)), fields.pop("source", ""))
    phase = f"{entry.get('component', '')} {next(iter(find_value(entry, 'log.logger')), '')}"
    yield {**fields, "query": "" if "fetch" in phase else find_query_text(source)}


def _objects(values: Any) -> Iterator[Fields]:
    return (value for value in values if isinstance(value, dict)) if isinstance(values, list) else iter(())
