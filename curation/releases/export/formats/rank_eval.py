"""The body of a `_rank_eval` request of Elasticsearch and OpenSearch: queries, rated documents and a metric.

https://www.elastic.co/guide/en/elasticsearch/reference/current/search-rank-eval.html

The template says how queries search. It and the name of the index are the reader's to change. The metric is
nDCG@10 with the gain 2^grade − 1.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from curation.releases.export.formats.export_format import (
    ExportFormat,
    Written,
    json_array,
    json_line,
    write_parts,
)

if TYPE_CHECKING:
    from curation.releases.export.export_source import ExportSource

INDEX = "corpus"
SEARCH = {"multi_match": {"query": "{{query}}", "fields": ["title", "text"]}}
TEMPLATE = {"id": "search", "template": {"inline": {"query": SEARCH}}}
METRIC = {"dcg": {"k": 10, "normalize": True}}


def write_rank_eval(folder: Path, gold: ExportSource) -> Written:
    """A body for each part."""

    def body(part: str) -> Iterator[str]:
        yield f'{{"templates": [{json_line(TEMPLATE)}], "metric": {json_line(METRIC)}, "requests":'
        yield from json_array(_requests(gold, part))
        yield "}"

    return Written({"default": write_parts(folder, gold, ".json", body)}, loading={"field": "requests"})


def _requests(gold: ExportSource, part: str) -> Iterator[dict[str, Any]]:
    for (query_id, text), rows in groupby(gold.judged(part), lambda row: row[:2]):
        ratings = [{"_index": INDEX, "_id": row.document_id, "rating": row.grade} for row in rows]
        yield {"id": query_id, "template_id": "search", "params": {"query": text}, "ratings": ratings}


RANK_EVAL = ExportFormat(
    "rank-eval", write_rank_eval, readers="Elasticsearch and OpenSearch: the body of a _rank_eval request"
)
