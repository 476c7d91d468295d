"""Scores of citations in answers, based on the evidence that annotators marked.

    citation_precision    cited chunks that hold evidence for the query, over all chunks that the answer cites
    citation_recall       documents with evidence in a cited chunk, over all documents with evidence

A chunk holds evidence if any of its characters is marked in a relevant document. A document that is cited as
a whole is the chunk of its whole body. The two scores are the citation precision and recall of N. F. Liu, T.
Zhang and P. Liang (2023), Evaluating verifiability in generative search engines, Findings of EMNLP. Both
scores are computed for the whole answer instead of each statement, because people mark the evidence for a
query. The unit of recall is the document, as in recall@k, so that recall does not depend on the number of
ranges that somebody marked.

A chunk that is cited twice counts once. An answer without citations and a query without an answer score 0. A
query without evidence has no value.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

import numpy as np

from curation.core.arrow import string_array, to_ints
from curation.core.characters import find_lookalikes
from curation.core.spans import Span, intersection
from curation.core.statistics.arrays import Floats
from curation.evaluation.scoring.evidence import OPEN
from curation.evaluation.scoring.pinned_bodies import PinnedBodies
from curation.evaluation.scoring.qrels import Qrels
from curation.evaluation.scoring.run_chunks import ChunkLocation, locate_chunks, locate_id
from curation.ingest.importers.unknown_names import describe_similar_name
from curation.ingest.readers.column_search import find_column
from curation.ingest.readers.fields import ChunkFields, file_fields
from curation.ingest.readers.problems import Problems
from curation.ingest.readers.values import parse_whole_number, to_text

CITATION_FIELDS = ("citations", "citation", "cited", "cited_chunks")
CITATION_SCORES = ("citation_precision", "citation_recall")
_CHUNK_FIELDS = {file_field.name: file_field for file_field in file_fields(ChunkFields)}
WAY_OUT = (
    "Expected ids of the release's documents, chunks such as doc#0-120, or objects with doc_id, start and "
    "end; or name a different field, '' for no field (--map citation=COLUMN)."
)

Citation = tuple[int, str, str]
"""Line number in a file, query id, and id of the cited document or chunk."""
CitedCorpus = tuple[PinnedBodies, Mapping[str, ChunkLocation]]
"""Bodies of a release's documents, and a map of the chunks of an index."""
CitedChunks = Mapping[str, frozenset[ChunkLocation]]
"""Map from query id to the chunks that the answer cites."""
MarkedEvidence = Mapping[str, Mapping[str, Sequence[Span]]]
"""Map from query id to each relevant document's id and its marked evidence."""


def parse_citations(value: Any) -> list[str]:
    """Read the ids of documents and chunks from a field that holds one citation or a list; citation objects
    become ids."""
    if isinstance(value, str) and value.lstrip().startswith(("[", "{")):
        with suppress(ValueError, RecursionError):
            value = json.loads(value)
    if isinstance(value, list):
        return [name for item in value for name in parse_citations(item)]
    if not isinstance(value, Mapping):
        text = to_text(value).strip()
        return [text] if text else []
    columns = {name: find_column(_CHUNK_FIELDS[name], list(value)) for name in ("document", "start", "end")}
    if columns["document"] is None:
        return [to_text(value)]
    document, start, end = (to_text(value.get(column or "")).strip() for column in columns.values())
    return [f"{document}#{_normalize_number(start)}-{_normalize_number(end)}" if start or end else document]


def _normalize_number(text: str) -> str:
    number = parse_whole_number(text)
    return text if number is None else str(number)


def locate_citations(citations: Sequence[Citation], corpus: CitedCorpus, problems: Problems) -> CitedChunks:
    """Find the text range of each citation in the documents, counting each range once per query.

    Raises
    ------
    InputError: a citation names a document that the release lacks, a range outside the text, or a different
        version.
    """
    bodies, chunk_map = corpus
    for line, _, name in citations:
        document_id = locate_id(name, bodies.hashes, chunk_map).document_id
        if document_id not in bodies.hashes:
            fault = f"cites {name!r}, but the release has no such document or chunk"
            fault += describe_similar_name(document_id, partial(find_lookalikes, known=bodies.hashes))
            problems.add(line, fault, WAY_OUT)
    problems.check()
    lines = np.array([line for line, *_ in citations], np.int64)
    names = string_array([name for *_, name in citations]).dictionary_encode()
    located = locate_chunks(lines, names, {}, bodies, chunk_map, problems)
    if located is None:  # for whole documents only
        chunks = [ChunkLocation(name, 0, OPEN) for *_, name in citations]
    else:
        ids = located.documents.dictionary.to_pylist()
        documents = [ids[code] for code in to_ints(located.documents.indices).tolist()]
        chunks = list(map(ChunkLocation, documents, located.start.tolist(), located.end.tolist()))
    cited: dict[str, set[ChunkLocation]] = {}
    for (_, query_id, _), chunk in zip(citations, chunks, strict=True):
        cited.setdefault(query_id, set()).add(chunk)
    return {query_id: frozenset(query_chunks) for query_id, query_chunks in cited.items()}


def collect_evidence(qrels: Qrels) -> MarkedEvidence:
    """Collect the evidence that annotators marked in relevant documents."""
    marked: dict[str, dict[str, Sequence[Span]]] = {}
    evidence = qrels.evidence
    if evidence is None:
        return marked
    documents = evidence.documents.to_pylist()
    spans = list(zip(evidence.start.tolist(), evidence.end.tolist(), strict=True))
    for pair in np.flatnonzero(evidence.grade >= qrels.relevant).tolist():
        query_id = qrels.query_ids[evidence.query[pair]]
        document_id = documents[evidence.pair[pair] % len(documents)]
        pair_spans = spans[evidence.first[pair] : evidence.first[pair + 1]]
        marked.setdefault(query_id, {})[document_id] = pair_spans
    return marked


def score_citations(
    query_ids: Sequence[str], cited: CitedChunks | None, marked: MarkedEvidence
) -> dict[str, Floats]:
    """Score each query's citations, shape (Q,); NaN if there is no evidence or the file has no citations."""
    values = np.full((len(CITATION_SCORES), len(query_ids)), np.nan)
    for index, query_id in enumerate(query_ids):
        documents = marked.get(query_id)
        if cited is None or not documents:
            continue
        chunks = cited.get(query_id, frozenset())
        hits = []
        for document_id, start, end, *_ in chunks:
            if intersection([(start, end)], documents.get(document_id, ())):
                hits.append(document_id)
        values[:, index] = len(hits) / max(1, len(chunks)), len(set(hits)) / len(documents)
    return dict(zip(CITATION_SCORES, values, strict=True))
