"""The export formats ratings and rank-eval: grades in formats that search engines import.

- Quepid and OpenSearch's Search Relevance Workbench read ratings as query,docid,rating: a query is its text.
- A `_rank_eval` request of Elasticsearch and OpenSearch has queries, rated documents and a metric.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from curation.releases.export import files
from curation.releases.export.export_format import ExportFormat, Written

if TYPE_CHECKING:
    from curation.releases.export.export_source import ExportSource

RATINGS_READERS = "Quepid and the Search Relevance Workbench: query, docid, rating"
RANK_EVAL_READERS = "Elasticsearch and OpenSearch: the body of a _rank_eval request"
COLUMNS = ("query", "docid", "rating")
INDEX = "corpus"
SEARCH = {"multi_match": {"query": "{{query}}", "fields": ["title", "text"]}}
TEMPLATE = {"id": "search", "template": {"inline": {"query": SEARCH}}}
METRIC = {"dcg": {"k": 10, "normalize": True}}


def write_ratings(folder: Path, source: ExportSource) -> Written:
    """Write a table of ratings for each part."""
    for part in source.parts:
        rows = (row[1:4] for row in source.iterate_grades(part))
        files.write_table(folder / f"{part}.csv", COLUMNS, rows, ",")
    return Written({"default": files.map_files(source, ".csv")}, loading=files.describe_csv_types(COLUMNS))


def write_rank_eval(folder: Path, source: ExportSource) -> Written:
    """Write a `_rank_eval` request body for each part."""

    def body(part: str) -> Iterator[str]:
        yield f'{{"templates": [{json.dumps(TEMPLATE)}], "metric": {json.dumps(METRIC)}, "requests":'
        yield from files.json_array(_walk_requests(source, part))
        yield "}"

    splits = files.write_parts(folder, source, ".json", body)
    return Written({"default": splits}, loading={"field": "requests"})


def _walk_requests(source: ExportSource, part: str) -> Iterator[dict[str, Any]]:
    for (query_id, text), rows in groupby(source.iterate_grades(part), lambda row: row[:2]):
        ratings = [{"_index": INDEX, "_id": row.document_id, "rating": row.grade} for row in rows]
        yield {"id": query_id, "template_id": "search", "params": {"query": text}, "ratings": ratings}


RATINGS = ExportFormat("ratings", write_ratings, readers=RATINGS_READERS)


RANK_EVAL = ExportFormat("rank-eval", write_rank_eval, readers=RANK_EVAL_READERS)
