"""The systems whose runs are baselines, and the lines that their runs have.

An engine searches what it has, so documents that the release lacks may be in its run. A chunked system
searches the chunks that a splitter makes, and its run has the places of chunks.

Tools order a run by its scores, some compare them in single precision, and each breaks ties in its own way.
So scores are written as singles that decrease strictly: a document that scores as the one above it is written
with the next smaller single. The order of equal scores is the retrievers': by document id.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Mapping, Sequence
from io import StringIO

import numpy as np

from curation.core.progress import Progress, silent
from curation.core.text import quote_formula
from curation.evaluation.scoring.inputs.run_chunks import ChunkPlace
from curation.evaluation.scoring.splitters import Splitter
from curation.retrieval import Hit, Retriever
from curation.retrieval.engines.answers import StoredList
from curation.retrieval.engines.client import Engine
from curation.store import Query

CHUNK_COLUMNS = ("query_id", *ChunkPlace._fields[:-1], "rank", "score")


class EngineLists:
    """An engine's lists for the queries of a release, as a `Retriever`."""

    def __init__(self, engine: Engine, lists: Sequence[StoredList]) -> None:
        self.name = engine.name
        self.settings = {"kind": engine.kind, "template": json.loads(engine.template.written)}
        self.lists = {one.query_id: one for one in lists}

    def search(self, queries: Sequence[Query], depth: int, progress: Progress = silent) -> list[list[Hit]]:
        """See `Retriever.search`; a list that is not whole is none, and without scores ranks order it."""
        lists = [self.lists[query.query_id] for query in queries]
        scores = [one.scores or [float(-rank) for rank in range(len(one.document_ids))] for one in lists]
        return [list(map(Hit, one.document_ids, of_list)) for one, of_list in zip(lists, scores, strict=True)]

    def why_none(self, query: Query) -> str:
        """See `Retriever.why_none`."""
        return self.lists[query.query_id].left_out or "the engine has nothing for the query"


def chunked_name(system: str, splitter: Splitter) -> str:
    """What the run of a system over a splitter's chunks is called."""
    return f"{system}-{splitter.name.replace('/', '-')}"


class ChunkedSystem:
    """A `Retriever` over the chunks that a splitter makes of documents.

    Attributes
    ----------
    places: id of a chunk as the system has it → where it is.
    """

    def __init__(self, system: Retriever, splitter: Splitter, places: Mapping[str, ChunkPlace]) -> None:
        self.name = chunked_name(system.name, splitter)
        self.settings = {**system.settings, "chunks": len(places), "splitter": splitter.name}
        self.places, self._system = places, system
        self.search = system.search

    def why_none(self, query: Query) -> str:
        """See `Retriever.why_none`: what is searched is chunks."""
        return self._system.why_none(query).replace("documents", "chunks")

    def lines(self, query_id: str, hits: Sequence[Hit]) -> list[str]:
        """The lines of one query, with scores as `run_lines` has them."""
        written = StringIO()
        writer = csv.writer(written, lineterminator="\n")
        for rank, (hit, score) in enumerate(zip(hits, written_scores(hits), strict=True), 1):
            writer.writerow(
                [
                    quote_formula(str(cell))
                    for cell in (query_id, *self.places[hit.document_id][:-1], rank, score)
                ]
            )
        return written.getvalue().splitlines()


def run_lines(query_id: str, hits: Sequence[Hit], tag: str, ids: Mapping[str, str]) -> list[str]:
    """The lines of one query in TREC's six columns; see the head of the module for the scores.

    Parameters
    ----------
    ids: document id → id as it is written.
    """
    return [
        f"{query_id} Q0 {ids[hit.document_id]} {rank} {score} {tag}"
        for rank, (hit, score) in enumerate(zip(hits, written_scores(hits), strict=True), 1)
    ]


def written_scores(hits: Sequence[Hit]) -> list[str]:
    return decreasing([hit.score or 0.0 for hit in hits])


def decreasing(scores: Iterable[float]) -> list[str]:
    """Scores, best first, as texts of singles that decrease strictly: each as near to its own as can be."""
    written: list[str] = []
    above = np.float32(np.inf)
    for score in scores:
        above = min(np.float32(score), np.nextafter(above, np.float32(-np.inf)))
        written.append(str(above))
    return written
