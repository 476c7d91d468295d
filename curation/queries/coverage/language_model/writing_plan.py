"""The plan of a run that writes synthetic queries: its gaps, documents and styles, and its estimated calls.

A model writes for gaps in the order of searches × documents. The seed decides the order of a gap's documents
and the style of each document. So a continued run makes the same calls to the model, and pays only for calls
without a stored answer.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from math import ceil
from typing import NamedTuple

from curation.core.digests import sort_by_seed
from curation.core.errors import InputError
from curation.core.progress import Progress, silent
from curation.core.request import DEFAULT_MODEL
from curation.core.text import pluralize
from curation.queries.coverage.coverage_map import CoverageMap
from curation.queries.coverage.gaps import CoverageGap, count_clusters, list_gaps
from curation.queries.coverage.language_model import writing_calls
from curation.queries.coverage.language_model.call_runs import CHARACTERS_PER_TOKEN
from curation.queries.coverage.language_model.endpoint import TokenPrices, compute_price
from curation.queries.coverage.matched_queries import match_queries
from curation.queries.coverage.stored_map import read_current_map_id, read_map
from curation.queries.coverage.writing.coverage_queries import list_queries
from curation.queries.coverage.writing.styles import STYLES
from curation.queries.coverage.writing.synthetic_queries import check_share
from curation.store import Query, Store, fetch
from curation.store.documents import Corpus, StoredDocuments, current_corpus

TRIES = 3
"""Number of attempts without a query after which a run gives up a gap."""
CANDIDATES = 5
"""Number of candidate queries in a step (B in the paper), each for a different document. More candidates give
a better best candidate, but need more calls to the model.
"""


class WritingRequest(NamedTuple):
    """A request for queries that a model writes.

    Attributes
    ----------
    share: share of the model's queries that people judge, above 0.
    seed: seed of the documents, the styles and the share.
    embedding: embedding model of the coverage map.
    fill: write for regions with 1 to 4 queries until each has five, the largest region first.
    """

    queries: int
    share: float
    seed: int = 0
    candidates: int = CANDIDATES
    embedding: str = DEFAULT_MODEL
    fill: bool = False


class WritingWork(NamedTuple):
    """An estimate of the smallest and the largest number of calls in a run; the model's answers decide how
    many calls follow.

    Attributes
    ----------
    queries: largest number of queries: the requested number, or the number that the gaps lack if it is
        smaller.
    least_calls, least_tokens: estimate if the first candidate of every gap passes all checks; tokens are
        tokens read.
    most_calls, most_tokens: estimate if no candidate passes all checks.
    least_price, most_price: price of the tokens read; None without prices.
    """

    queries: int
    gaps: int
    least_calls: int
    most_calls: int
    least_tokens: int
    most_tokens: int
    least_price: float | None
    most_price: float | None

    @property
    def sentence(self) -> str:
        """Say how many calls and tokens the run would send."""
        price = ""
        if self.least_price is not None and self.most_price is not None:
            price = f", {self.least_price:.4f} to {self.most_price:.4f} at the prices that you set"
        return (
            f"{pluralize(self.queries, 'query', 'queries')} for {pluralize(self.gaps, 'region')}. "
            f"{self.least_calls:,} to {pluralize(self.most_calls, 'call')}, with about "
            f"{self.least_tokens:,} to {self.most_tokens:,} input tokens{price}."
        )


class WritingInputs(NamedTuple):
    """The state of coverage before a run; `alignments` has the alignment J of each synthetic query."""

    store: Store
    corpus: Corpus
    map: CoverageMap
    gaps: list[CoverageGap]
    queries: list[Query]
    written_for: frozenset[str]
    alignments: list[float | None]


def estimate_writing(
    store: Store, request: WritingRequest, model: str, prices: TokenPrices | None, progress: Progress = silent
) -> WritingWork:
    """Estimate the calls in a run that writes synthetic queries, without sending anything.

    Raises
    ------
    InputError: see `write_queries`.
    RefusedError: there is no map of the current corpus.
    """
    check_request(request)
    inputs = read_inputs(store, request, progress)
    quote_call = [writing_calls.make_verification_call("", writing_calls.NO_DOCUMENT, model).characters]
    least: list[int] = []
    most: list[int] = []
    remaining = request.queries
    for gap in inputs.gaps:
        count = min(gap.missing, remaining)
        aims = list(islice(list_aims(inputs, gap, request.seed), TRIES * request.candidates * count))
        candidates = [writing_calls.make_candidates_call(aim, model).characters for aim in aims]
        checks = [writing_calls.make_verification_call("", aim.document, model).characters for aim in aims]
        if count:
            least += (
                candidates[: request.candidates + count - 1]
                + checks[:count]
                + quote_call * len(checks[:count])
            )
        most += candidates + checks + checks
        remaining -= count
    min_tokens = ceil(sum(least) / CHARACTERS_PER_TOKEN)
    max_tokens = ceil(sum(most) / CHARACTERS_PER_TOKEN)
    return WritingWork(
        queries=request.queries - remaining,
        gaps=len(inputs.gaps),
        least_calls=len(least),
        most_calls=len(most),
        least_tokens=min_tokens,
        most_tokens=max_tokens,
        least_price=compute_price(prices, min_tokens),
        most_price=compute_price(prices, max_tokens),
    )


def check_request(request: WritingRequest) -> None:
    """Reject a number of queries, or a share of judged queries, that is out of bounds."""
    if request.queries < 1:
        asked = pluralize(request.queries, "query was", "queries were")
        raise InputError(f"{asked} were requested; expected 1 or more.")
    check_share(request.share)


def read_inputs(store: Store, request: WritingRequest, progress: Progress) -> WritingInputs:
    """Read the coverage map, the gaps and the queries from which a run of writing starts.

    Raises
    ------
    RefusedError: there is no map of the current corpus, or the map was made with another model.
    """
    with store.reading() as cursor:
        coverage_map = read_map(cursor, read_current_map_id(cursor))
    matched = match_queries(store, coverage_map, request.embedding, progress)
    with store.reading() as cursor:
        written = [row for row in list_queries(cursor) if row.map_id == coverage_map.map_id]
        withheld_ids = set(cursor.execute("SELECT query_id FROM withheld_queries").fetchall())
        corpus = current_corpus(cursor)
        sql = f"SELECT {', '.join(Query._fields)} FROM queries ORDER BY query_id"  # noqa: S608  names of columns
        queries = fetch(cursor, Query, sql)
    withheld = Counter(row.cluster for row in written if (row.query_id,) in withheld_ids)
    counts = [
        cluster._replace(queries=cluster.queries + withheld[cluster.number])
        for cluster in count_clusters(coverage_map, matched)
    ]
    gaps = list_gaps(coverage_map, counts, request.fill)
    written_regions = set() if request.fill else {row.cluster for row in written}
    return WritingInputs(
        store=store,
        corpus=corpus,
        map=coverage_map,
        gaps=[gap for gap in gaps if gap.number not in written_regions],
        queries=queries,
        written_for=frozenset(row.document_id for row in written),
        alignments=[json.loads(row.detail).get("alignment") for row in written],
    )


def list_aims(inputs: WritingInputs, gap: CoverageGap, seed: int) -> Iterator[writing_calls.QueryAim]:
    """Yield each document of a gap without a written query, with its style, in an order by seed."""
    unused = [name for name in gap.documents if name not in inputs.written_for]
    for document_id in sort_by_seed(unused, seed, lambda name: ["synthetic", gap.number, name]):
        [document] = StoredDocuments(inputs.store, inputs.corpus.part([document_id]).hashes)
        names_of = {inputs.map.entities[entity].name for entity in inputs.map.document_entities[document_id]}
        entities = tuple(name for name in gap.entities if name in names_of)
        [style, *_] = sort_by_seed(STYLES, seed, lambda name, drawn=document_id: ["style", drawn, name])  # type: ignore[misc]
        yield writing_calls.QueryAim(gap.number, entities or gap.entities, document, STYLES[style])
