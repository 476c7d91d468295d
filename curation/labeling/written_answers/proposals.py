"""Nuggets proposed by a language model and reviewed by people.

A call sends a query with the documents that people judged relevant, highest grades first, and the evidence
that people marked. A proposal is not a nugget yet: people see the proposal on the query's page, change or
drop it, and save the nuggets that they keep. Queries that a release seals are never sent. A query that an
annotator still has to judge waits, because its nuggets would reveal to the annotator which documents are
relevant.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from curation.core.text import pluralize
from curation.ingest.importers.known_queries import KnownQueries
from curation.ingest.importers.nuggets import OKAY, VITAL, WRITERS, Nugget, find_nugget_problems, read_nuggets
from curation.labeling.consensus.marks import ProjectMarks, read_marks
from curation.labeling.requests import DOCUMENTS_SHOWN, RELEVANT
from curation.labeling.rounds.candidates import Candidate
from curation.labeling.written_answers import query_choice
from curation.labeling.written_answers.shown_documents import choose_shown_documents, read_document_inputs
from curation.people.annotators import require_author
from curation.people.seal_access import LEAVES_OUT, read_closed_access
from curation.queries.coverage.language_model.answers import (
    MAX_TEXT_LENGTH,
    ModelCall,
    read_answers,
    select_document_text,
)
from curation.queries.coverage.language_model.prompting import MalformedAnswerError, load_prompt, read_list
from curation.store import COMMAND_LINE, Cursor, Store, append_rows, record_event, utc_now
from curation.store.documents import documents_by_hash

PROMPT = "nuggets"
MAX_NUGGETS = 20
"""Maximum number of nuggets that the prompt asks for."""
HAS_NUGGETS = "the query has nuggets, or proposals that people have not reviewed"
REVIEWED = "people have already reviewed a model's proposals for the query"
NONE_RELEVANT = "nobody judged a document relevant for the query"
_STORED = "SELECT query_id, call_id FROM nugget_proposals"
_WORDS = """
SELECT query_id, text, coalesce(information_need, '') FROM queries
WHERE query_id IN (SELECT unnest(?::TEXT[])) ORDER BY query_id
"""
_PROPOSALS = """
SELECT query_id, call_id, model, texts, vital, written_texts IS NOT NULL FROM current_nugget_proposals
WHERE query_id = $query OR $query IS NULL ORDER BY query_id
"""


class NuggetProposals(NamedTuple):
    """The nuggets that a model proposed for a query, and whether people have saved nuggets since."""

    query_id: str
    call_id: str
    model: str
    proposed: tuple[Nugget, ...]
    is_reviewed: bool


def describe_reviews(proposals: Sequence[NuggetProposals]) -> list[str]:
    """Say for how many queries people have reviewed each model's nuggets, and for how many they have not."""
    sentences = []
    counts = Counter((proposal.model, not proposal.is_reviewed) for proposal in proposals)
    for (model, is_waiting), count in sorted(counts.items()):
        verb = "have not reviewed" if is_waiting else "have reviewed"
        queries = pluralize(count, "query", "queries")
        sentences.append(f"People {verb} the nuggets that {model} proposed for {queries}.")
    return sentences


def build_proposal_calls(
    store: Store, model: str, names: Sequence[str] = (), author: str = COMMAND_LINE
) -> tuple[dict[str, ModelCall], int, dict[str, int]]:
    """Build the model calls that ask for nuggets, for named queries or for all queries without nuggets.

    Returns
    -------
    The calls by query id, the number of characters of documents that the calls leave out, and reason → number
    of queries left out.

    Raises
    ------
    InputError: a name fits no query, or fits several queries.
    RefusedError: the author is neither reviewer nor lead.
    """
    with store.reading() as cursor:
        require_author(cursor, author, *WRITERS)
        inputs = read_document_inputs(cursor, read_closed_access(cursor))
        named_ids = query_choice.find_named_queries(KnownQueries.read(cursor), names)
        query_ids = named_ids if names else sorted(inputs.active_queries)
        reviewed = {proposal.query_id: proposal.is_reviewed for proposal in read_proposals(cursor)}
        with_nuggets = read_nuggets(cursor).keys() | reviewed.keys()
        marks = read_marks(cursor)
    shown = choose_shown_documents(inputs, RELEVANT, DOCUMENTS_SHOWN)
    reasons = {
        query_choice.NOT_CURRENT: set(query_ids) - inputs.active_queries,
        LEAVES_OUT: inputs.access.closed,
        REVIEWED: {query_id for query_id, is_reviewed in reviewed.items() if is_reviewed},
        HAS_NUGGETS: set() if names else with_nuggets,
        query_choice.IN_QUEUE: inputs.queries_in_queues,
        NONE_RELEVANT: set(query_ids) - shown.queries_with_relevant,
    }
    first_reasons = query_choice.find_first_reasons(query_ids, reasons)
    chosen = {query_id: shown.by_query[query_id] for query_id, reason in first_reasons.items() if not reason}
    with store.reading() as cursor:
        calls, omitted_characters = _build_calls(cursor, model, chosen, marks)
    return calls, omitted_characters, dict(Counter(filter(None, first_reasons.values())))


def parse_nuggets(answer: str) -> list[Nugget]:
    """Parse the nuggets in a model's answer.

    Raises
    ------
    MalformedAnswerError: the answer does not have the form that the prompt asks for.
    """
    nuggets = []
    for item in read_list(answer, "nuggets", dict):
        text, importance = item.get("text"), item.get("importance")
        text = " ".join(text.encode(errors="ignore").decode().split()) if isinstance(text, str) else ""
        if importance not in (VITAL, OKAY):
            raise MalformedAnswerError("answers with a nugget that is neither vital nor okay")
        if find_nugget_problems(text):
            raise MalformedAnswerError(
                "an answer with a nugget that is empty, too long, personal data or control characters"
            )
        nuggets.append(Nugget(text, importance == VITAL))
    if len(nuggets) > MAX_NUGGETS or len({nugget.text for nugget in nuggets}) < len(nuggets):
        raise MalformedAnswerError(f"an answer with a repeated nugget, or more than {MAX_NUGGETS} nuggets")
    return nuggets


def store_proposals(store: Store, calls: Mapping[str, ModelCall], author: str) -> dict[str, int]:
    """Store the proposals from the model's answers, and return query id → number of proposals."""
    rows = []
    with store.transaction(appends=True) as cursor:
        stored_answers = read_answers(cursor, [*calls.values()])
        stored = set(cursor.execute(_STORED).fetchall())
        answers = {query_id: stored_answers.find_answer(call) for query_id, call in calls.items()}
        proposed = {query_id: parse_nuggets(text) for query_id, text in answers.items() if text is not None}
        for query_id, nuggets in proposed.items():
            call = calls[query_id]
            if nuggets and (query_id, call.call_id) not in stored:
                texts, vital = zip(*nuggets, strict=True)
                rows.append((query_id, call.call_id, call.model, list(texts), list(vital)))
        columns = ("query_id", "call_id", "model", "texts", "vital")
        if append_rows(cursor, "nugget_proposals", rows, columns, proposed_at=utc_now()):
            record_event(cursor, "propose nuggets", {"queries": [row[0] for row in rows]}, author)
    return {query_id: len(nuggets) for query_id, nuggets in proposed.items()}


def read_proposals(cursor: Cursor, query_id: str | None = None) -> list[NuggetProposals]:
    """Read the newest proposals of a query, or of all queries with proposals."""
    rows = cursor.execute(_PROPOSALS, {"query": query_id}).fetchall()
    return [
        NuggetProposals(name, call_id, model, tuple(map(Nugget, texts, vital)), is_reviewed)
        for name, call_id, model, texts, vital, is_reviewed in rows
    ]


def _build_calls(
    cursor: Cursor, model: str, candidates_by_query: Mapping[str, Sequence[Candidate]], marks: ProjectMarks
) -> tuple[dict[str, ModelCall], int]:
    """Build the model calls by query id, and count the document characters that the calls leave out."""
    chosen = [candidate for candidates in candidates_by_query.values() for candidate in candidates]
    documents_by_version = documents_by_hash(cursor, [candidate.content_hash for candidate in chosen])
    calls, omitted_characters = {}, 0
    for query_id, text, need in cursor.execute(_WORDS, [list(candidates_by_query)]).fetchall():
        document_inputs = []
        for candidate in candidates_by_query[query_id]:
            document = documents_by_version[candidate.content_hash]
            pair_marks = marks.by_pair.get(candidate.pair)
            evidence = pair_marks.locate_evidence(document) if pair_marks else None
            quotes = [quote for _, quote in evidence or ()]
            document_inputs.append(select_document_text(document) | {"evidence": quotes})
            omitted_characters += max(0, len(document.body) - MAX_TEXT_LENGTH)
        prompt_input = {"documents": document_inputs, "need": need, "query": text}
        calls[query_id] = ModelCall(model, load_prompt(PROMPT), prompt_input)
    return calls, omitted_characters
