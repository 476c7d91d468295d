"""Nuggets that a language model proposes: what it is sent, what it may answer, and what people made of it.

A call has a query with the documents that people judged relevant, the highest grades first, and what they
marked there as evidence. No proposal is a nugget: people see it on the query's page, change or drop it, and
save what they keep. A query that a release seals is not sent. One that somebody is still to judge waits, for
its nuggets would tell them what others found relevant.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from curation.core.text import amount, percent
from curation.ingest.importers.answers.nuggets import OKAY, VITAL, WRITERS, Nugget, problems_of, read_nuggets
from curation.ingest.importers.queries import KnownQueries
from curation.labeling.consensus.evidence import ProjectMarks, read_marks
from curation.labeling.rounds.candidates import Candidate
from curation.labeling.written_answers.create_task import IN_QUEUE, NOT_IN_FORCE, named_queries
from curation.labeling.written_answers.matching import token_f1
from curation.labeling.written_answers.shown_documents import (
    DOCUMENTS,
    RELEVANT,
    choose_evidence,
    read_evidence_inputs,
)
from curation.people.annotators import require_author
from curation.people.seal_access import LEAVES_OUT, shut_door
from curation.queries.coverage.language_model.answers import ModelCall, read_answers
from curation.queries.coverage.language_model.model_extractor import LONGEST_TEXT, shown_document
from curation.queries.coverage.language_model.prompts import MalformedAnswerError, load_prompt, read_list
from curation.store import COMMAND_LINE, Cursor, Store, append_rows, record_event, utc_now
from curation.store.documents import documents_by_hash

PROMPT = "nuggets"

MOST = 20
"""Nuggets that the prompt asks for at most."""

CHANGED = 0.5
"""Token F1 from which a nugget is a proposal that somebody changed."""

HAS_NUGGETS = "it has nuggets, or proposals that wait for somebody"
REVIEWED = "people have reviewed what a model proposed for it"
NONE_RELEVANT = "nobody found a document relevant"
TAKEN = ("unchanged", "changed", "dropped", "added")
_HELD = "SELECT query_id, call_id FROM nugget_proposals"

_WORDS = """
SELECT query_id, text, coalesce(information_need, '') FROM queries
WHERE query_id IN (SELECT unnest(?::TEXT[])) ORDER BY query_id
"""

_PROPOSALS = """
WITH first AS (
    SELECT query_id, call_id, min(revision) AS revision FROM nuggets WHERE call_id IS NOT NULL GROUP BY ALL
), earlier AS (
    SELECT query_id, first.call_id, flatten(list(texts)) AS texts
    FROM nuggets JOIN first USING (query_id) WHERE nuggets.revision < first.revision GROUP BY ALL
)
SELECT query_id, call_id, model, p.texts, vital, written_texts, written_vital, earlier.texts
FROM current_nugget_proposals p LEFT JOIN earlier USING (query_id, call_id)
WHERE query_id = $query OR $query IS NULL ORDER BY query_id
"""


class ProposalCalls(NamedTuple):
    """Query id → the call for its nuggets.

    Attributes
    ----------
    cut: characters of long documents that are not sent.
    left_out: reason → number of queries.
    """

    calls: dict[str, ModelCall]
    cut: int
    left_out: dict[str, int]


class NuggetProposals(NamedTuple):
    """What a model proposed for a query.

    Attributes
    ----------
    written: what people made of it, None where nobody has yet.
    before: texts of nuggets that the query had already.
    """

    query_id: str
    call_id: str
    model: str
    proposed: tuple[Nugget, ...]
    written: tuple[Nugget, ...] | None
    before: frozenset[str] = frozenset()

    @property
    def taken(self) -> dict[str, int]:
        """What people made of it: proposals kept unchanged, changed or dropped, and nuggets that are new."""
        written = () if self.written is None else self.written
        unchanged = set(self.proposed).intersection(written)
        rest, changed = [one for one in written if one not in unchanged and one.text not in self.before], 0
        others = [] if self.written is None else [one for one in self.proposed if one not in unchanged]
        for one in others:
            score, alike = max([(token_f1(one.text, [two.text]), two) for two in rest], default=(0, None))
            if alike is not None and score >= CHANGED:
                rest.remove(alike)
                changed += 1
        return dict(zip(TAKEN, (len(unchanged), changed, len(others) - changed, len(rest)), strict=True))


def share_sentences(proposalses: Sequence[NuggetProposals]) -> list[str]:
    """What each model proposed, and people's share in what came of it."""
    sentences = []
    for model in sorted({proposalse.model for proposalse in proposalses}):
        mine = [proposalse for proposalse in proposalses if proposalse.model == model]
        unchanged, changed, dropped, added = (sum(one.taken[name] for one in mine) for name in TAKEN)
        if reviewed := unchanged + changed + dropped:
            sentences.append(
                f"Of {amount(reviewed, 'nugget')} that {model} proposed people took {unchanged:,} unchanged "
                f"({percent(unchanged / reviewed)}), changed {changed:,} and dropped {dropped:,}. They added "
                f"{amount(added, 'nugget')} of their own."
            )
        if waiting := sum(one.written is None for one in mine):
            queries = amount(waiting, "query", "queries")
            sentences.append(f"Nuggets that {model} proposed for {queries} wait for people.")
    return sentences


def proposal_calls(
    store: Store, model: str, names: Sequence[str] = (), author: str = COMMAND_LINE
) -> ProposalCalls:
    """The calls that ask for nuggets, of queries by id or text, or of all in force without any.

    Raises
    ------
    InputError: names that are no query's, or those of several.
    RefusedError: the author is neither reviewer nor lead.
    """
    with store.reading() as cursor:
        require_author(cursor, author, *WRITERS)
        inputs = read_evidence_inputs(cursor, shut_door(cursor))
        named = named_queries(KnownQueries.read(cursor), names) if names else sorted(inputs.active)
        reviewed = {proposal.query_id: proposal.written is not None for proposal in read_proposals(cursor)}
        has_some = read_nuggets(cursor).keys() | reviewed.keys()
        marks = read_marks(cursor)
    shown = choose_evidence(inputs, RELEVANT, DOCUMENTS)
    reasons = {
        NOT_IN_FORCE: set(named) - inputs.active,
        LEAVES_OUT: inputs.door.closed,
        REVIEWED: {query_id for query_id, by_people in reviewed.items() if by_people},
        HAS_NUGGETS: set() if names else has_some,
        IN_QUEUE: inputs.in_queues,
        NONE_RELEVANT: set(named) - shown.judged,
    }
    why = {name: next((why for why, among in reasons.items() if name in among), "") for name in named}
    chosen = {name: shown.documents[name] for name in named if not why[name]}
    with store.reading() as cursor:
        calls, cut = _calls(cursor, model, chosen, marks)
    return ProposalCalls(calls, cut, dict(Counter(filter(None, why.values()))))


def _calls(
    cursor: Cursor, model: str, chosen: Mapping[str, Sequence[Candidate]], marks: ProjectMarks
) -> tuple[dict[str, ModelCall], int]:
    """The calls by query, and how many characters of documents they leave out."""
    texts = documents_by_hash(cursor, [one.content_hash for sent in chosen.values() for one in sent])
    calls, cut = {}, 0
    for query_id, text, need in cursor.execute(_WORDS, [list(chosen)]).fetchall():
        material = []
        for candidate in chosen[query_id]:
            document, held = texts[candidate.content_hash], marks.of.get(candidate[:2])
            quotes = [quote for _, quote in (held.found_in(document) if held else None) or ()]
            material.append(shown_document(document) | {"evidence": quotes})
            cut += max(0, len(document.body) - LONGEST_TEXT)
        asked = {"documents": material, "need": need, "query": text}
        calls[query_id] = ModelCall(model, load_prompt(PROMPT), asked)
    return calls, cut


def read_proposed(answer: str) -> list[Nugget]:
    """The nuggets in an answer.

    Raises
    ------
    MalformedAnswerError: it is not of the form that the prompt asks for.
    """
    found = []
    for item in read_list(answer, "nuggets", dict):
        text, importance = item.get("text"), item.get("importance")
        text = " ".join(text.encode(errors="ignore").decode().split()) if isinstance(text, str) else ""
        if importance not in (VITAL, OKAY):
            raise MalformedAnswerError("an answer with a nugget that is neither vital nor okay")
        if problems_of(text):
            raise MalformedAnswerError(
                "an answer with a nugget that is empty, too long, personal data or control characters"
            )
        found.append(Nugget(text, importance == VITAL))
    if len(found) > MOST or len({one.text for one in found}) < len(found):
        raise MalformedAnswerError(f"an answer with a nugget twice, or more than {MOST}")
    return found


def store_proposals(store: Store, calls: Mapping[str, ModelCall], author: str) -> dict[str, int]:
    """Store what the model has answered; returns query id → number of its proposals."""
    rows = []
    with store.transaction(appends=True) as cursor:
        known = read_answers(cursor, [*calls.values()])
        held = set(cursor.execute(_HELD).fetchall())
        answers = {name: known.answer(call) for name, call in calls.items()}
        found = {name: read_proposed(answer) for name, answer in answers.items() if answer is not None}
        for name, new in found.items():
            call = calls[name]
            if new and (name, call.call_id) not in held:
                texts, vital = zip(*new, strict=True)
                rows.append((name, call.call_id, call.model, list(texts), list(vital)))
        names = ("query_id", "call_id", "model", "texts", "vital")
        if append_rows(cursor, "nugget_proposals", rows, names, proposed_at=utc_now()):
            record_event(cursor, "propose nuggets", {"queries": [row[0] for row in rows]}, author)
    return {name: len(new) for name, new in found.items()}


def read_proposals(cursor: Cursor, query_id: str | None = None) -> list[NuggetProposals]:
    """The newest proposals of a query, or of all that have some."""
    rows = cursor.execute(_PROPOSALS, {"query": query_id}).fetchall()
    return [
        NuggetProposals(
            *(name, call_id, model, tuple(map(Nugget, texts, vital))),
            None if written is None else tuple(map(Nugget, written, of_written)),
            frozenset(before or ()),
        )
        for name, call_id, model, texts, vital, written, of_written, before in rows
    ]
