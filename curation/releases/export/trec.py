"""The export format trec: topics and qrels for trec_eval and similar tools.

White space separates the fields of these files, so ids with white space are percent-encoded. The encoding
covers all documents of the corpus, judged or not, so the same table translates the ids of a run.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from heapq import merge
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from curation.releases.export.export_format import ExportFormat, Written
from curation.releases.export.files import map_files, write_evidence, write_lines, write_table
from curation.store import Cursor
from curation.store.release_parts import read_part

if TYPE_CHECKING:
    from curation.releases.export.export_source import ExportSource

READERS = "trec_eval, ir_measures, PyTerrier, Anserini: topics and qrels"
UNJUDGED = -1
_SPACE = re.compile(r"[\s%]")


def write_trec(folder: Path, source: ExportSource) -> Written:
    """Write the topics of all parts and the qrels, including ungraded pairs as -1 on request."""
    queries = encode_ids(query["query_id"] for query in source.queries)
    documents = encode_ids(source.release.versions)
    write_lines(folder / "topics.tsv", write_topic_lines(source.queries, queries))
    pairs = source.list_unjudged() if source.request.unjudged else []
    unjudged = [(*pair, UNJUDGED, source.query_parts[pair[0]]) for pair in pairs]

    def lines(part: str | None) -> Iterator[str]:
        rows = ((row.query_id, row.document_id, row.grade, row.part) for row in source.iterate_grades())
        for query_id, document_id, grade, row_part in merge(rows, unjudged):
            if part in (None, row_part):
                yield f"{queries[query_id]} 0 {documents[document_id]} {grade}"

    write_lines(folder / "qrels.txt", lines(None))
    for part in source.parts:
        write_lines(folder / f"qrels.{part}.txt", lines(part))
    encoded_count = write_id_table(folder, query=queries, document=documents)
    splits = {split: f"qrels.{name}" for split, name in map_files(source, ".txt").items()}
    configs = {"default": splits, "topics": {"topics": "topics.tsv"}}
    configs |= write_evidence(folder, source, queries.__getitem__, documents.__getitem__)
    return Written(configs, {"mapped": encoded_count})


def write_topic_lines(queries: Iterable[Mapping[str, Any]], written: Mapping[str, str]) -> Iterator[str]:
    """Write a line with id and text for each query. `written` maps an id to its form in the file."""
    return (f"{written[query['query_id']]}\t{' '.join(query['text'].split())}" for query in queries)


def write_release_topics(cursor: Cursor, release_id: str) -> str:
    """Make a release's topics file, with the queries of all its parts."""
    queries = list(read_part(cursor, release_id, "queries"))
    ids = encode_ids(query["query_id"] for query in queries)
    return "".join(f"{line}\n" for line in write_topic_lines(queries, ids))


def encode_ids(ids: Iterable[str]) -> dict[str, str]:
    """Map each id to its percent-encoded form, without white space.

    If any id has white space, '%' is also encoded in all ids, so that different ids stay different.
    """
    distinct_ids = sorted(set(ids))
    if not any(re.search(r"\s", name) for name in distinct_ids):
        return {name: name for name in distinct_ids}
    return {name: _SPACE.sub(lambda match: quote(match[0]), name) for name in distinct_ids}


def write_id_table(folder: Path, **ids: Mapping[str, str]) -> int:
    """Write ids.tsv with the ids that were encoded, if any, and return their number."""
    encoded = [
        (kind, written, original)
        for kind, forms in ids.items()
        for original, written in forms.items()
        if written != original
    ]
    if encoded:
        write_table(folder / "ids.tsv", ("kind", "exported", "original"), encoded, "\t")
    return len(encoded)


TREC = ExportFormat("trec", write_trec, takes_unjudged=True, readers=READERS)
