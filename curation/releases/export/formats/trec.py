"""TREC topics and qrels. Fields end at white space, so ids that have some are percent-encoded.

Evidence is in evidence.jsonl, with the ids as they are written here.

The encoding is that of the whole corpus, judged or not: a run over it is translated by the same table.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from heapq import merge
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from curation.releases.export.formats.export_format import (
    ExportFormat,
    Written,
    split_names,
    write_evidence,
    write_lines,
    write_table,
)
from curation.store import Cursor
from curation.store.release_parts import read_part

if TYPE_CHECKING:
    from curation.releases.export.export_source import ExportSource


UNJUDGED = -1
_SPACE = re.compile(r"[\s%]")


def write_trec(folder: Path, gold: ExportSource) -> Written:
    """Topics of all parts and qrels; pairs without a grade as -1 where they are wanted."""
    queries = without_space(query["query_id"] for query in gold.queries)
    documents = without_space(gold.documents.ids)
    write_lines(folder / "topics.tsv", topic_lines(gold.queries, queries))
    unjudged = [(*pair, UNJUDGED, gold.part_of[pair[0]]) for pair in _unjudged(gold)]

    def lines(part: str | None) -> Iterator[str]:
        rows = ((row.query_id, row.document_id, row.grade, row.part) for row in gold.judged())
        for query_id, document_id, grade, where in merge(rows, unjudged):
            if part in (None, where):
                yield f"{queries[query_id]} 0 {documents[document_id]} {grade}"

    write_lines(folder / "qrels.txt", lines(None))
    for part in gold.parts:
        write_lines(folder / f"qrels.{part}.txt", lines(part))
    mapped = write_encoded(folder, query=queries, document=documents)
    splits = {split: f"qrels.{part}.txt" for part, split in split_names(gold.parts).items()}
    configs = {"default": splits, "topics": {"topics": "topics.tsv"}}
    configs |= write_evidence(folder, gold, queries.__getitem__, documents.__getitem__)
    return Written(configs, {"mapped": mapped})


def topic_lines(queries: Iterable[Mapping[str, Any]], written: Mapping[str, str]) -> Iterator[str]:
    """A line of id and text for each query of a release; `written` is id → what it is written as."""
    return (f"{written[query['query_id']]}\t{' '.join(query['text'].split())}" for query in queries)


def release_topics(cursor: Cursor, release_id: str) -> str:
    """The file of topics of a release: the queries of all its parts."""
    queries = list(read_part(cursor, release_id, "queries"))
    return "".join(
        f"{line}\n" for line in topic_lines(queries, without_space(query["query_id"] for query in queries))
    )


def _unjudged(gold: ExportSource) -> list[tuple[str, str]]:
    return gold.unjudged() if gold.options.unjudged else []


def without_space(ids: Iterable[str]) -> dict[str, str]:
    """Id → id without white space. Once one id has some, '%' is encoded in all: no two can meet."""
    known = sorted(set(ids))
    if not any(re.search(r"\s", name) for name in known):
        return {name: name for name in known}
    return {name: _SPACE.sub(lambda match: quote(match[0]), name) for name in known}


def write_encoded(folder: Path, **ids: Mapping[str, str]) -> int:
    """ids.tsv: the ids of each kind that are written otherwise, if there are any; returns how many."""
    encoded = [
        (kind, written, original)
        for kind, known in ids.items()
        for original, written in known.items()
        if written != original
    ]
    if encoded:
        write_table(folder / "ids.tsv", ("kind", "exported", "original"), encoded, "\t")
    return len(encoded)


TREC = ExportFormat(
    "trec",
    write_trec,
    takes_unjudged=True,
    readers="trec_eval, ir_measures, PyTerrier, Anserini: topics and qrels",
)
