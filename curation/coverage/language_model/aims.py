"""Aims: for which gaps, documents and styles a model is asked to write queries, and what that would send.

Gaps come by searches × documents, the documents of each in an order by seed, and each document has a style by
seed. So a run that goes on asks the same, and pays only for what was not answered.
"""

from __future__ import annotations

from math import ceil
from typing import NamedTuple

from curation.coverage.coverage_map import CoverageMap
from curation.coverage.language_model.answers import CHARACTERS, ModelCall
from curation.coverage.language_model.candidates import QueryAim, candidates_call, verification_call
from curation.coverage.language_model.chat import TokenPrices
from curation.coverage.language_model.judged_share import check_share
from curation.coverage.report import CoverageGap, find_gaps
from curation.coverage.stored_map import map_in_force, read_map
from curation.coverage.writing.checks import STYLES, QueryStyle
from curation.coverage.writing.written import coverage_queries
from curation.errors import refuse_problems
from curation.progress import Progress, silent
from curation.retrieval.embeddings import DEFAULT_MODEL
from curation.store import Document, Query, Store, fetch
from curation.store.documents import current_corpus
from curation.text import amount, seeded

TRIES = 3
"""Documents that are tried for a gap."""
MOST_CANDIDATES = 20


class WritingRequest(NamedTuple):
    """What a model is to write.

    Attributes
    ----------
    share: of the queries that people judge, above 0.
    seed: of documents, styles and the share.
    candidates: B, of each step.
    embedding: the model of the coverage map.
    """

    queries: int
    share: float
    seed: int = 0
    candidates: int = 5
    embedding: str = DEFAULT_MODEL


class WritingWork(NamedTuple):
    """What writing would send: the least and the most, as answers decide how many calls follow.

    Attributes
    ----------
    queries: to be written at most: as many as were asked for, and no more than there are gaps.
    least_calls, least_tokens: if the first candidate holds in every gap; tokens that are read, estimated.
    most_calls, most_tokens: if none does.
    least_price, most_price: of what is read; None without prices.
    """

    queries: int
    gaps: int
    least_calls: int
    most_calls: int
    least_tokens: int
    most_tokens: int
    least_price: float | None
    most_price: float | None


class WritingInputs(NamedTuple):
    """What writing starts from; `gaps` are those that no withheld query was written for either."""

    map: CoverageMap
    gaps: list[CoverageGap]
    documents: dict[str, Document]
    queries: list[Query]
    written_for: frozenset[str]


def plan_writing(
    store: Store,
    request: WritingRequest,
    model: str,
    prices: TokenPrices | None = None,
    progress: Progress = silent,
) -> WritingWork:
    """What writing would send. Nothing is sent.

    Raises
    ------
    InputError: see `write_queries`.
    RefusedError: there is no map of the corpus in force.
    """
    check_request(request)
    inputs = read_inputs(store, request, progress)
    steps = inputs.gaps[: request.queries]
    first, second = [], []
    for gap in steps:
        documents = documents_of(inputs, gap, request.seed)[:TRIES]
        aims = [aim_for(inputs, gap, document, request.seed) for document in documents]
        first.append([_characters(candidates_call(aim, request.candidates, model)) for aim in aims])
        second.append([_characters(verification_call("", aim.document, model)) for aim in aims])
    least = [one[0] + other[0] for one, other in zip(first, second, strict=True) if one]
    most = sum(map(sum, first)) + request.candidates * sum(map(sum, second))
    least_tokens, most_tokens = ceil(sum(least) / CHARACTERS), ceil(most / CHARACTERS)
    return WritingWork(
        queries=len(steps),
        gaps=len(inputs.gaps),
        least_calls=2 * len(least),
        most_calls=sum(map(len, first)) * (1 + request.candidates),
        least_tokens=least_tokens,
        most_tokens=most_tokens,
        least_price=prices and least_tokens * prices.read / 1e6,
        most_price=prices and most_tokens * prices.read / 1e6,
    )


def check_request(request: WritingRequest) -> None:
    """Raise an InputError unless numbers and share are in their ranges."""
    problems = []
    if request.queries < 1:
        problems.append(
            f"{amount(request.queries, 'query was', 'queries were')} asked for; expected 1 or more."
        )
    if not 1 <= request.candidates <= MOST_CANDIDATES:
        problems.append(f"{amount(request.candidates, 'candidate')} a step; expected 1 to {MOST_CANDIDATES}.")
    refuse_problems(problems)
    check_share(request.share)


def read_inputs(store: Store, request: WritingRequest, progress: Progress) -> WritingInputs:
    """What writing starts from.

    Raises
    ------
    RefusedError: there is no map of the corpus in force, or it is of another model than the request's.
    """
    gaps = find_gaps(store, request.embedding, progress)
    with store.reading() as cursor:
        found = read_map(cursor, map_in_force(cursor))
        written = [row for row in coverage_queries(cursor) if row.map_id == found.map_id]
        documents = {document.document_id: document for document in current_corpus(cursor)}
        queries = fetch(
            cursor,
            Query,
            "SELECT query_id, text, normalised, source, information_need FROM queries ORDER BY query_id",
        )
    return WritingInputs(
        map=found,
        gaps=[gap for gap in gaps if gap.number not in {row.cluster for row in written}],
        documents=documents,
        queries=queries,
        written_for=frozenset(row.document_id for row in written),
    )


def documents_of(inputs: WritingInputs, gap: CoverageGap, seed: int) -> list[Document]:
    """The documents of a gap that nothing was written for, in their order by seed."""
    free = [name for name in gap.documents if name not in inputs.written_for]
    ordered = seeded(free, seed, lambda name: ["synthetic", gap.number, name])
    return [inputs.documents[name] for name in ordered]


def aim_for(inputs: WritingInputs, gap: CoverageGap, document: Document, seed: int) -> QueryAim:
    """What is asked for a document of a gap."""
    held = {inputs.map.entities[place].name for place in inputs.map.of_documents[document.document_id]}
    about = tuple(name for name in gap.entities if name in held)
    return QueryAim(gap.number, about or gap.entities, document, _style(document, seed))


def _style(document: Document, seed: int) -> QueryStyle:
    return STYLES[seeded(STYLES, seed, lambda name: ["style", document.document_id, name])[0]]


def _characters(call: ModelCall) -> int:
    return sum(len(message["content"]) for message in call.messages)
