"""What a coverage map costs, step by step, and with exact embeddings and ten cycles of Leiden.

Times are seconds of one processor, so that a busy machine changes little. Embedding is by far the dearest:
its rate is measured on 32 batches, from the longest texts to the shortest, and the whole is that rate times
their number. Entities are those of the whole corpus, and a part has those of its documents. The first run
embeds those of the largest part. Both sides are measured in one run. The last column is their ratio.

Usage: python -m benchmarks.bench_coverage PROJECT_FOLDER [documents ...] [--collection icecat|abstracts]
Smallest: python -m benchmarks.bench_coverage build/coverage 200
Needs: the embedding model
"""

from __future__ import annotations

import argparse
import resource
from collections.abc import Callable
from pathlib import Path
from time import process_time
from typing import Any, TypeVar
from unittest.mock import patch

import numpy as np

from benchmarks.coverage_collections import ABSTRACTS, collection
from curation.coverage import LEAST_DOCUMENTS, clusters
from curation.coverage.clusters import (
    DRAWS,
    RESOLUTIONS,
    SEEDS,
    find_partitions,
    join_neighbours,
    match_queries,
)
from curation.coverage.phrases import CorpusEntities, PhraseExtractor, find_entities
from curation.retrieval.embeddings import (
    BATCH,
    DEFAULT_MODEL,
    HashedText,
    Vectors,
    embed,
    find_model,
    half_precision,
    has_bfloat16,
    longest_first,
    open_model,
)
from curation.sources.queries import active_queries
from curation.store import Document, Store
from curation.text import digest
from tests.support.projects import documents_in_force

SIZES = (1_000, 5_000, 19_406)
SAMPLE = 256
CYCLES_BEFORE = 10
Found = TypeVar("Found")


def timed(step: Callable[[], Found]) -> tuple[Found, float]:
    started = process_time()
    found = step()
    return found, process_time() - started


def rate(store: Store, texts: list[str], now: bool) -> float:
    """Texts embedded in a second: now in bfloat16 in the order of word pieces, else exactly, by letters."""
    encoder = open_model(store, find_model(DEFAULT_MODEL))
    hashed = [HashedText(digest("document", text), text) for text in texts]
    ordered = longest_first(encoder, hashed) if now else sorted(hashed, key=lambda one: -len(one.text))
    starts = np.linspace(0, max(0, len(ordered) - BATCH), SAMPLE // BATCH).astype(int)
    encoder.encode([text for _, text in ordered[:BATCH]], show_progress_bar=False)
    with half_precision(now and has_bfloat16()):
        _, seconds = timed(
            lambda: [_encode_batch(encoder, ordered[start : start + BATCH]) for start in starts]
        )
    return SAMPLE / seconds


def _encode_batch(encoder: Any, batch: list[HashedText]) -> None:
    encoder.encode([text for _, text in batch], batch_size=BATCH, show_progress_bar=False)


def part(found: CorpusEntities, documents: list[Document]) -> tuple[list[int], dict[str, tuple[int, ...]]]:
    """The places of the entities of some documents, and the documents' entities by their new places."""
    kept = sorted({place for document in documents for place in found.of_documents[document.document_id]})
    number = {place: new for new, place in enumerate(kept)}
    return kept, {
        document.document_id: tuple(number[place] for place in found.of_documents[document.document_id])
        for document in documents
    }


def row(store: Store, whole: CorpusEntities, vectors: Vectors, size: int) -> str:
    documents = documents_in_force(store)[:size]
    with store.reading() as cursor:
        queries = [query.normalised for query in active_queries(cursor)]
    _, phrases = timed(lambda: find_entities(documents, PhraseExtractor()))
    kept, of_documents = part(whole, documents)
    texts = [whole.entities[place].text for place in kept]
    embedding, exact = (len(kept) / rate(store, texts, half) for half in (True, False))
    own = np.ascontiguousarray(vectors[kept])
    graph, joining = timed(lambda: join_neighbours(own))
    _, leiden = timed(lambda: find_partitions(graph, of_documents, LEAST_DOCUMENTS, 0))
    with patch.object(clusters, "ITERATIONS", CYCLES_BEFORE):
        _, longer = timed(lambda: find_partitions(graph, of_documents, LEAST_DOCUMENTS, 0))
    asked = embed(store, queries, "query")
    names = [whole.entities[place].name for place in kept]
    _, matching = timed(lambda: match_queries(queries, names, asked, own))
    total = phrases + embedding + joining + leiden + matching
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    steps = (phrases, embedding, joining, leiden, matching)
    shares = [f"{seconds:.1f} ({seconds / total:.0%})" for seconds in steps]
    cells = [f"{len(documents):,}", f"{len(kept):,}", f"{len(graph.first):,}", *shares]
    before = total - embedding - leiden + exact + longer
    ends = [
        f"{total:.0f}",
        f"{memory:.1f}",
        f"{exact:.0f}",
        f"{longer:.0f}",
        f"{before:.0f}",
        f"{before / total:.1f}",
    ]
    return f"| {' | '.join([*cells, *ends])} |"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("documents", type=int, nargs="*", default=SIZES)
    parser.add_argument("--collection", choices=["icecat", ABSTRACTS], default="icecat")
    asked = parser.parse_args()
    store = collection(asked.collection, asked.folder).store
    documents = documents_in_force(store)
    whole = find_entities(documents, PhraseExtractor())
    wanted, _ = part(whole, documents[: max(asked.documents)])
    embedded = embed(store, [whole.entities[place].text for place in wanted], half=has_bfloat16())
    vectors = np.zeros((len(whole.entities), embedded.shape[1]), np.float32)
    vectors[wanted] = embedded
    print(f"{len(RESOLUTIONS)} resolutions, {SEEDS} seeds and {DRAWS} draws each")
    print(
        "| documents | entities | edges | phrases | embedding | graph | clusters | queries | all | GiB |",
        end="",
    )
    print(" embedding before | clusters before | all before | ratio |")
    print("|" + "--:|" * 14)
    for size in asked.documents:
        print(row(store, whole, vectors, size), flush=True)


if __name__ == "__main__":
    main()
