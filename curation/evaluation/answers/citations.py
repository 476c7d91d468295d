"""Citations of answers: whether what an answer cites holds the evidence that people marked.

    citation_precision    cited chunks that hold evidence of the query, over all that its answer cites
    citation_recall       documents of whose evidence a cited chunk holds some, over all with evidence

A chunk holds evidence where any of its characters is marked in a relevant document. A document that is cited
as a whole is the chunk of its whole body. They are the precision and recall of citations of N. F. Liu, T.
Zhang and P. Liang (2023), Evaluating verifiability in generative search engines, Findings of EMNLP, of an
answer instead of each of its statements: people mark where the evidence for a query is. The unit of recall
is the document, as in recall@k, so that it does not change with how many ranges of one somebody marked.

A chunk that is cited twice counts once. An answer without citations has 0, and so has a query without an
answer. A query without evidence has no value.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from curation.core.arrow import ints_of, texts
from curation.core.spans import Span, intersection
from curation.core.statistics.arrays import Floats
from curation.core.text import alike
from curation.evaluation.scoring.inputs.bodies import PinnedBodies
from curation.evaluation.scoring.inputs.run_chunks import ChunkPlace, located_chunks, place_of
from curation.evaluation.scoring.metrics.evidence import OPEN
from curation.evaluation.scoring.metrics.qrels import Qrels
from curation.ingest.importers.unknown_names import like_known
from curation.ingest.readers.columns import column_for, file_fields
from curation.ingest.readers.fields import ChunkFields
from curation.ingest.readers.problems import Problems
from curation.ingest.readers.values import text_of, whole_number

CITATION_FIELDS = ("citations", "citation", "cited", "cited_chunks")
CITATION_SCORES = ("citation_precision", "citation_recall")
_OF_CHUNK = {file_field.name: file_field for file_field in file_fields(ChunkFields)}
_WAY_OUT = (
    "Expected ids of the release's documents, chunks such as doc#0-120, or objects with doc_id, start and "
    "end; or name another field, '' for none (--citation-field)."
)

Cited = Mapping[str, frozenset[ChunkPlace]]
"""Query id → the chunks that its answer cites."""
Marked = Mapping[str, Mapping[str, Sequence[Span]]]
"""Query id → document id → its evidence, of relevant documents."""


class CitedCorpus(NamedTuple):
    """What citations are of: the documents of a release, and an index's own names of their chunks."""

    bodies: PinnedBodies
    mapped: Mapping[str, ChunkPlace]


class Citation(NamedTuple):
    """What a line cites for a query: a document or a chunk, by its id."""

    line: int
    query_id: str
    name: str


def cited_names(value: Any) -> list[str]:
    """The ids of the documents and chunks in a field: one or a list; objects are written as such ids."""
    if isinstance(value, str) and value.lstrip().startswith(("[", "{")):
        with suppress(ValueError, RecursionError):
            value = json.loads(value)
    if isinstance(value, list):
        return [name for item in value for name in cited_names(item)]
    if not isinstance(value, Mapping):
        return [text] if (text := text_of(value).strip()) else []
    columns = {name: column_for(_OF_CHUNK[name], list(value)) for name in ("document", "start", "end")}
    if columns["document"] is None:
        return [text_of(value)]
    document, start, end = (text_of(value.get(column or "")).strip() for column in columns.values())
    return [f"{document}#{_whole(start)}-{_whole(end)}" if start or end else document]


def _whole(text: str) -> str:
    number = whole_number(text)
    return text if number is None else str(number)


def located_citations(citations: Sequence[Citation], corpus: CitedCorpus, problems: Problems) -> Cited:
    """The places of citations, each once for a query.

    Raises
    ------
    InputError: of documents that the release does not have, outside their texts, or of other versions.
    """
    bodies, mapped = corpus
    for line, _, name in citations:
        document_id = place_of(name, bodies.hashes, mapped).document_id
        if document_id not in bodies.hashes:
            like = like_known(document_id, partial(alike, known=bodies.hashes))
            problems.add(
                line, f"cites {name!r}, which is no document of the release or chunk of one{like}", _WAY_OUT
            )
    problems.check()
    lines = np.array([citation.line for citation in citations], np.int64)
    names = texts([citation.name for citation in citations]).dictionary_encode()
    located = located_chunks(lines, names, {}, bodies, mapped, problems)
    if located is None:  # whole documents alone
        places = [ChunkPlace(citation.name, 0, OPEN) for citation in citations]
    else:
        ids = located.documents.dictionary.to_pylist()
        documents = [ids[code] for code in ints_of(located.documents.indices).tolist()]
        places = list(map(ChunkPlace, documents, located.start.tolist(), located.end.tolist()))
    found: dict[str, set[ChunkPlace]] = {}
    for one, place in zip(citations, places, strict=True):
        found.setdefault(one.query_id, set()).add(place)
    return {query_id: frozenset(own) for query_id, own in found.items()}


def marked_evidence(qrels: Qrels) -> Marked:
    """The evidence that people marked in relevant documents."""
    found: dict[str, dict[str, Sequence[Span]]] = {}
    if (marks := qrels.evidence) is None:
        return found
    documents = marks.documents.to_pylist()
    spans = list(zip(marks.start.tolist(), marks.end.tolist(), strict=True))
    of_pairs = (marks.query.tolist(), (marks.pair % len(documents)).tolist(), marks.grade.tolist())
    pairs = zip(*of_pairs, strict=True)
    for (query, document, grade), first, last in zip(pairs, marks.first[:-1], marks.first[1:], strict=True):
        if grade >= qrels.relevant:
            found.setdefault(qrels.query_ids[query], {})[documents[document]] = spans[first:last]
    return found


def citation_scores(query_ids: Sequence[str], cited: Cited | None, marked: Marked) -> dict[str, Floats]:
    """The scores of each query's citations, shape (Q,); NaN without evidence, or where nothing says them."""
    values = np.full((len(CITATION_SCORES), len(query_ids)), np.nan)
    for place, query_id in enumerate(query_ids):
        documents = marked.get(query_id)
        if cited is None or not documents:
            continue
        chunks = cited.get(query_id, frozenset())
        holding = [
            chunk
            for chunk in chunks
            if intersection([(chunk.start, chunk.end)], documents.get(chunk.document_id, ()))
        ]
        hit = {one.document_id for one in holding}
        values[:, place] = len(holding) / max(1, len(chunks)), len(hit) / len(documents)
    return dict(zip(CITATION_SCORES, values, strict=True))
