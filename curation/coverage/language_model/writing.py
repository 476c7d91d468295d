"""Queries by a language model, for the gaps of coverage (Klearman et al. 2026, Algorithm 1).

Step by step, until enough are written or no gap is left:

1. the first gap, by searches × documents, and a document of it, drawn by seed, with a style;
2. B candidates for the document, by one call; those that the checks refuse are left out;
3. the candidates in the order of what they add to coverage: those about the gap itself first, then by
   the weight of all regions without a query that they are about, then by how few others they are about;
4. a second call for each in that order, until the document is found to answer one: this is the best that
   holds, and it is stored.

A gap for which `TRIES` documents gave nothing is left out. What is withheld counts as written here, so that
the next run goes on with other gaps.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from curation.coverage.clusters import EntityMatch
from curation.coverage.coverage_map import match_texts, write_texts
from curation.coverage.language_model.answers import (
    Asking,
    Check,
    ModelCall,
    ModelSpending,
    add_spending,
    ask,
    load_prompt,
    read_answers,
)
from curation.coverage.language_model.candidates import (
    ALIKE,
    NOTHING_DRAWN,
    TRIES,
    VERIFY,
    WRITE,
    JudgedShare,
    QueryAim,
    WritingInputs,
    WritingRequest,
    aim_for,
    candidates_call,
    check_request,
    documents_of,
    draw_queries,
    is_shown,
    read_candidates,
    read_check,
    read_inputs,
    verification_call,
    why_refused,
    withhold,
)
from curation.coverage.report import CoverageGap
from curation.coverage.writing.tasks import (
    GAP,
    CoverageQuery,
    QueryOrigin,
    add_coverage_query,
    coverage_queries,
)
from curation.errors import RefusedError
from curation.people.annotators import require_author
from curation.progress import Progress, silent
from curation.store import COMMAND_LINE, Store
from curation.text import digest, normalise_query

ELSEWHERE = "candidates that are about no region without a query"
UNANSWERED = "candidates that the document does not answer, by the second call"
UNCHECKED = "candidates that the second call gave no answer on"
NOT_NEEDED = "candidates behind the one that was chosen"
NO_QUERY = "documents for which no candidate was left"
NO_CANDIDATES = "documents for which the language model gave no candidates"
GIVEN_UP = f"regions without a query after {TRIES} documents, or all that they have"
ENDED_BY_ENDPOINT = "the language model gave no answer"
ENDED_BY_LIMIT = "the limit of calls is reached"


@dataclass
class SyntheticQueries:
    """What a model wrote for gaps.

    Attributes
    ----------
    gaps, gaps_left: regions without a query, before and after, withheld queries counted.
    written: the new queries, in their order.
    drawn: how many people judge of all synthetic queries.
    refused: reason → candidates that were not taken.
    left_out: reason → documents or regions that got no query.
    ended: why it ended before all were written; None if all were, or no gap was left.
    """

    model: str
    map_id: str
    gaps: int = 0
    gaps_left: int = 0
    written: list[CoverageQuery] = field(default_factory=list)
    drawn: JudgedShare = NOTHING_DRAWN
    refused: Counter[str] = field(default_factory=Counter)
    left_out: Counter[str] = field(default_factory=Counter)
    ended: str | None = None
    spent: ModelSpending = field(default_factory=ModelSpending)


class RankedCandidate(NamedTuple):
    """A candidate with the regions without a query that it is about; sorts by what it adds."""

    order: tuple[Any, ...]
    text: str
    match: EntityMatch
    regions: tuple[int, ...]


def write_queries(
    store: Store,
    request: WritingRequest,
    asking: Asking,
    actor: str = COMMAND_LINE,
    progress: Progress = silent,
) -> SyntheticQueries:
    """Have a model write queries for the gaps, and draw the share that people judge.

    Each query is stored as it is chosen. However it ends, the share is drawn of what was written.

    Raises
    ------
    InputError: the number of queries or candidates, or the share, is out of its range.
    RefusedError: the actor is no lead, there is no map in force, or the endpoint takes no such call.
    """
    check_request(request)
    with store.reading() as cursor:
        require_author(cursor, actor, "lead")
    session = _Session(store, request, asking, actor, read_inputs(store, request, progress))
    try:
        session.run(progress)
    finally:
        if session.found.written:
            session.found.drawn = draw_queries(store, request.share, request.seed, actor)
    return session.found


class _Session:
    """One run of the algorithm: the state of coverage, and what came of it so far."""

    def __init__(
        self, store: Store, request: WritingRequest, asking: Asking, actor: str, inputs: WritingInputs
    ) -> None:
        self._store, self._request, self._asking, self._actor, self._inputs = (
            store,
            request,
            asking,
            actor,
            inputs,
        )
        self._queries = list(inputs.queries)
        self._weights = {gap.number: len(gap.documents) * (gap.searches or 0) for gap in inputs.gaps}
        if not any(self._weights.values()):
            self._weights = {gap.number: float(len(gap.documents)) for gap in inputs.gaps}
        model, map_id = asking.endpoint.model, inputs.map.map_id
        self.found = SyntheticQueries(model, map_id, len(inputs.gaps), len(inputs.gaps))

    def run(self, progress: Progress) -> None:
        """Write until there are enough queries, no gap is left, or the work ends."""
        for gap in self._inputs.gaps:
            if len(self.found.written) >= self._request.queries or self.found.ended:
                return
            if gap.number in self._weights:  # else a query for another gap is about it, too
                self._fill(gap)
                progress("synthetic queries", len(self.found.written), self._request.queries)

    def _fill(self, gap: CoverageGap) -> None:
        for document in documents_of(self._inputs, gap, self._request.seed)[:TRIES]:
            if self._write_for(aim_for(self._inputs, gap, document, self._request.seed)) or self.found.ended:
                return
        self.found.left_out[GIVEN_UP] += 1

    def _write_for(self, aim: QueryAim) -> bool:
        """Whether a query was written for the document."""
        call = candidates_call(aim, self._request.candidates, self._asking.endpoint.model)
        answer = self._ask(call, read_candidates)
        if answer is None:
            if not self.found.ended:
                self.found.left_out[NO_CANDIDATES] += 1
            return False
        ranked = self._ranked(aim, read_candidates(answer)[: self._request.candidates])
        for place, candidate in enumerate(ranked, 1):
            check = self._ask(verification_call(candidate.text, aim.document, call.model), read_check)
            if self.found.ended:
                return False
            if check is not None and is_shown(read_check(check), aim.document):
                if self._store_query(aim, candidate, read_check(check).quote):
                    self.found.refused += Counter({NOT_NEEDED: len(ranked) - place})
                    return True
            else:
                self.found.refused[UNCHECKED if check is None else UNANSWERED] += 1
        self.found.left_out[NO_QUERY] += 1
        return False

    def _ranked(self, aim: QueryAim, texts: Sequence[str]) -> list[RankedCandidate]:
        """The candidates that may be taken, the one that adds most to coverage first."""
        kept = []
        for text in texts:
            reason = why_refused(text, aim, self._queries)
            if reason is None:
                kept.append(text)
            else:
                self.found.refused[reason] += 1
        found = self._inputs.map
        normalised = [normalise_query(text) for text in kept]
        ranked = []
        for text, match in zip(
            kept, match_texts(self._store, normalised, found, self._request.embedding), strict=True
        ):
            clusters = found.clusters_of_query(match)
            gaps = tuple(sorted(clusters & self._weights.keys()))
            weight = sum(self._weights[number] for number in gaps)
            order = (aim.cluster not in gaps, -weight, len(clusters) - len(gaps), digest(text))
            if gaps:
                ranked.append(RankedCandidate(order, text, match, gaps))
            else:
                self.found.refused[ELSEWHERE] += 1
        return sorted(ranked)

    def _ask(self, call: ModelCall, check: Check) -> str | None:
        """The call's answer, stored before or asked for now; None where there is none."""
        most, requests = self._asking.most_calls, self.found.spent.requests
        left = None if most is None else max(0, most - requests)
        spent = ask(self._store, [call], check, self._asking._replace(most_calls=left))
        self.found.spent = add_spending(self.found.spent, spent)
        with self._store.reading() as cursor:
            known = read_answers(cursor, [call])
        if known.is_open(call):
            self.found.ended = ENDED_BY_ENDPOINT if spent.requests else ENDED_BY_LIMIT
        return known.answer(call)

    def _store_query(self, aim: QueryAim, candidate: RankedCandidate, quote: str) -> bool:
        """Store a query, withheld until it is drawn; False where the project has its text."""
        request, found = self._request, self._inputs.map
        cluster = aim.cluster if aim.cluster in candidate.regions else candidate.regions[0]
        detail = {
            "candidates": request.candidates,
            "prompts": {name: load_prompt(name).prompt_hash for name in (WRITE, VERIFY)},
            "quote": quote,
            "regions": list(candidate.regions),
            "seed": request.seed,
            "share": request.share,
        }
        document = aim.document
        origin = QueryOrigin(
            purpose=GAP,
            writer=self.found.model,
            map_id=found.map_id,
            cluster=cluster,
            document_id=document.document_id,
            content_hash=document.content_hash,
            style=aim.style.name,
            detail=detail,
        )
        try:
            with self._store.transaction() as cursor:
                query = add_coverage_query(cursor, candidate.text, origin, "synthetic", self._actor)
                withhold(cursor, query.query_id, request.share, request.seed, self._actor)
                write_texts(cursor, found.map_id, {query.normalised: candidate.match})
                [row] = [row for row in coverage_queries(cursor) if row.query_id == query.query_id]
        except RefusedError:  # a text of the traffic
            self.found.refused[ALIKE] += 1
            return False
        self.found.written.append(row)
        self._queries.append(query)
        self._weights = {n: w for n, w in self._weights.items() if n not in candidate.regions}
        self.found.gaps_left = len(self._weights)
        return True
