"""Synthetic queries, which a language model writes for the gaps of coverage.

Synthetic queries are written by Algorithm 1 of Klearman et al. 2026. The steps of the algorithm repeat until
enough queries are written or no gap is left:

1. Take the gap with the largest product searches × documents, and draw B documents of the gap by seed, each
with a style. 2. Ask the model for a candidate for each document, and leave out candidates that the checks
refuse. 3. Order the candidates by their gain in coverage: candidates about the gap itself first, then by the
weight of all gaps that the candidate is about, then by how few earlier queries have J in the same third, then
by how few other clusters the candidate is about. (Δ is undefined with one relevant document.) 4. Verify the
ordered candidates with a second and a third call to the model, until a quote from the document answers a
candidate. Store this candidate.

The run gives up a gap after `TRIES` × B documents without a query. Withheld synthetic queries count as
written, so that the next run continues with other gaps. With `fill`, the gaps are the regions with 1 to 4
queries, until each region has five.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, NamedTuple

from curation.core.characters import normalise_query
from curation.core.digests import digest
from curation.core.errors import RefusedError
from curation.core.progress import Progress, silent
from curation.core.reports.tables import Table
from curation.core.text import describe_left_out, pluralize
from curation.people.annotators import require_author
from curation.queries.coverage.gaps import CoverageGap
from curation.queries.coverage.language_model import call_runs, writing_calls, writing_plan
from curation.queries.coverage.language_model.call_runs import CallLimits
from curation.queries.coverage.language_model.call_session import CallSession
from curation.queries.coverage.language_model.prompting import hash_prompt, load_prompt
from curation.queries.coverage.language_model.writing_calls import VERIFY, WRITE, QueryAim, read_candidates
from curation.queries.coverage.language_model.writing_plan import TRIES, WritingInputs, WritingRequest
from curation.queries.coverage.matched_queries import match_texts, write_matches
from curation.queries.coverage.matching import EntityMatch
from curation.queries.coverage.query_shapes import Tertiles, compute_alignment
from curation.queries.coverage.writing import coverage_queries, synthetic_queries
from curation.queries.coverage.writing.checks import ALIKE, find_refusal
from curation.queries.coverage.writing.coverage_queries import GAP, list_queries
from curation.queries.coverage.writing.synthetic_queries import JudgedShare, withhold_query
from curation.store import COMMAND_LINE, Store

THIRDS = Tertiles(1 / 3, 2 / 3)
"""Boundaries of the thirds of the alignment J, which is between 0 and 1."""
ELSEWHERE = "candidates that are not about a region that needs queries"
UNANSWERED = "candidates that the document does not answer, by the second call"
UNQUOTED = "candidates that the quoted passage by itself does not answer, by the third call"
UNCHECKED = "candidates without an answer from the second or third call"
NOT_NEEDED = "candidates that ranked below the chosen candidate"
NO_CANDIDATE = "documents for which the language model gave no candidate"
GIVEN_UP = (
    f"regions that got no query from {TRIES} times the usual number of documents, or from all documents"
)


@dataclass
class SyntheticQueries:
    """The queries that a model wrote in a run, and counts of the rejected candidate queries.

    Attributes
    ----------
    gaps, gaps_left: numbers of gaps before and after the run, where withheld queries count.
    written: new queries in the order of writing.
    drawn: number of synthetic queries, and number of synthetic queries that people judge.
    refused: reason → number of refused candidates, or of documents without a candidate.
    left_out: reason → number of gaps without a new query.
    ended: reason why the run ended early; None if the run wrote all queries or no gap was left.
    """

    model: str
    map_id: str
    gaps: int = 0
    gaps_left: int = 0
    written: list[coverage_queries.CoverageQuery] = field(default_factory=list)
    drawn: JudgedShare = synthetic_queries.NOTHING_DRAWN
    refused: Counter[str] = field(default_factory=Counter)
    left_out: Counter[str] = field(default_factory=Counter)
    ended: str | None = None
    spent: call_runs.ModelSpending = field(default_factory=call_runs.ModelSpending)

    @property
    def sentences(self) -> list[str]:
        """Say how many gaps, judged queries and rejected candidate queries there are."""
        gaps = f"Regions without enough queries: {self.gaps:,} before, {self.gaps_left:,} now."
        ended = f"The run ended early: {self.ended}. Run the same command again to continue."
        following = "Next: build a pool with goldgrade pool, and open a round with goldgrade round open."
        return [
            gaps,
            *([*self.drawn.sentences, following] if self.written else []),
            *([ended] if self.ended else []),
            *describe_left_out({**self.refused, **self.left_out}),
        ]

    @property
    def tables(self) -> tuple[Table, ...]:
        """Return a table of the new synthetic queries."""
        queries = self.written
        rows = tuple((row.query_id, row.text, row.cluster, row.document_id, row.style) for row in queries)
        caption = f"{pluralize(len(rows), 'query', 'queries')} by {self.model}"
        return (Table(caption, ("id", "query", "region", "document", "style"), rows),)


class RankedCandidate(NamedTuple):
    """A candidate query with the gaps that it fills and its alignment J. Candidate queries sort by their gain
    in coverage."""

    order: tuple[Any, ...]
    text: str
    aim: QueryAim
    match: EntityMatch
    regions: tuple[int, ...]
    alignment: float


def write_queries(
    store: Store,
    request: WritingRequest,
    asking: CallLimits,
    actor: str = COMMAND_LINE,
    progress: Progress = silent,
) -> SyntheticQueries:
    """Ask a model to write queries for the gaps, and draw the share of the queries that people judge.

    Each synthetic query is stored as soon as it is chosen. If the run fails, people's share of the stored
    queries is still drawn.

    Raises
    ------
    InputError: the number of queries, or the share, is out of its bounds.
    RefusedError: the actor is not a lead, there is no map of the current corpus, or the endpoint refuses all
        calls.
    """
    writing_plan.check_request(request)
    with store.reading() as cursor:
        require_author(cursor, actor, "lead")
    session = _WritingRun(store, request, asking, actor, writing_plan.read_inputs(store, request, progress))
    try:
        session.run(progress)
    finally:
        session.report.ended, session.report.spent = session.calls.ended, session.calls.spent
        if session.report.written:
            session.report.drawn = synthetic_queries.draw_queries(store, request.share, request.seed, actor)
    return session.report


class _WritingRun:
    """A run of the algorithm for synthetic queries, with the state of coverage and the report so far."""

    def __init__(
        self, store: Store, request: WritingRequest, asking: CallLimits, actor: str, inputs: WritingInputs
    ) -> None:
        self._store, self._request, self._actor, self._inputs = store, request, actor, inputs
        self._queries = list(inputs.queries)
        self._weights = {gap.number: len(gap.documents) * (gap.searches or 0) for gap in inputs.gaps}
        if not any(self._weights.values()):
            self._weights = {gap.number: float(len(gap.documents)) for gap in inputs.gaps}
        self._missing = Counter({gap.number: gap.missing for gap in inputs.gaps})
        self._thirds = Counter(THIRDS.find_third(value) for value in inputs.alignments if value is not None)
        self._done: set[str] = set()
        self.calls = CallSession(store, asking)
        model, map_id = asking.endpoint.model, inputs.map.map_id
        self.report = SyntheticQueries(model, map_id, len(inputs.gaps), len(inputs.gaps))

    def run(self, progress: Progress) -> None:
        """Write queries until there are enough queries, no gap is left, or the model stops answering."""
        for gap in self._inputs.gaps:
            # a gap may be filled already, because queries for other gaps can be about it
            while self._missing[gap.number] and self._fill_gap(gap):
                progress("synthetic queries", len(self.report.written), self._request.queries)
                if len(self.report.written) >= self._request.queries:
                    return
            if self.calls.ended:
                return

    def _fill_gap(self, gap: CoverageGap) -> bool:
        """Try to write a query for the gap, and return whether one was written."""
        aims = writing_plan.list_aims(self._inputs, gap, self._request.seed)
        unused_aims = (aim for aim in aims if aim.document.document_id not in self._done)
        for _ in range(TRIES):
            if self._write_for(list(islice(unused_aims, self._request.candidates))):
                return True
            if self.calls.ended:
                return False
        self.report.left_out[GIVEN_UP] += 1
        return False

    def _write_for(self, aims: Sequence[QueryAim]) -> bool:
        """Ask the model for a candidate query for each document; return whether one became a query."""
        calls = [writing_calls.make_candidates_call(aim, self.report.model) for aim in aims]
        answer_texts = self.calls.ask(calls, read_candidates)
        if self.calls.ended:
            return False
        ranked = self._rank(aims, answer_texts)
        for rank, candidate in enumerate(ranked, 1):
            quote = self._find_quote(candidate)
            if self.calls.ended:
                return False
            if quote and self._store_query(candidate, quote):
                self.report.refused += Counter({NOT_NEEDED: len(ranked) - rank})
                return True
        return False

    def _rank(self, aims: Sequence[QueryAim], answer_texts: list[str | None]) -> list[RankedCandidate]:
        """Order the candidate queries that pass the checks by their gain in coverage, largest gain first."""
        accepted = []
        for aim, answer in zip(aims, answer_texts, strict=True):
            texts = [] if answer is None else read_candidates(answer)
            reason = find_refusal(texts[0], aim.document, aim.style, self._queries) if texts else NO_CANDIDATE
            if reason is None:
                accepted.append((texts[0], aim))
            else:
                self._refuse_candidate(aim, reason)
        coverage_map = self._inputs.map
        normalised = [normalise_query(text) for text, _ in accepted]
        matches = match_texts(self._store, normalised, coverage_map, self._request.embedding)
        ranked = []
        for (text, aim), match in zip(accepted, matches, strict=True):
            clusters = coverage_map.find_query_clusters(match)
            entities = coverage_map.document_entities[aim.document.document_id]
            document_clusters = coverage_map.find_clusters(entities)
            candidate_alignment = compute_alignment(clusters, [document_clusters]) or 0.0
            gaps = tuple(sorted(clusters & self._missing.keys()))
            weight = sum(self._weights[number] for number in gaps)
            similar_count = self._thirds[THIRDS.find_third(candidate_alignment)]
            order = (aim.cluster not in gaps, -weight, similar_count, len(clusters) - len(gaps), digest(text))
            if gaps:
                ranked.append(RankedCandidate(order, text, aim, match, gaps, candidate_alignment))
            else:
                self._refuse_candidate(aim, ELSEWHERE)
        return sorted(ranked)

    def _find_quote(self, candidate: RankedCandidate) -> str | None:
        """Find a quote from the document that answers the candidate query by itself, or return None."""
        document, quote = candidate.aim.document, ""
        for reason in (UNANSWERED, UNQUOTED):
            call = writing_calls.make_verification_call(candidate.text, document, self.report.model)
            [answer] = self.calls.ask([call], writing_calls.read_verification)
            if self.calls.ended:
                return None
            verification = answer and writing_calls.read_verification(answer)
            if not verification or not writing_calls.has_valid_quote(verification, document):
                self._refuse_candidate(candidate.aim, reason if verification else UNCHECKED)
                return None
            quote = quote or verification[1]
            document = writing_calls.NO_DOCUMENT._replace(body=quote)
        return quote

    def _refuse_candidate(self, aim: QueryAim, reason: str) -> None:
        """Count a candidate query that a check rejected; its document gets no further candidate."""
        self.report.refused[reason] += 1
        self._done.add(aim.document.document_id)

    def _store_query(self, candidate: RankedCandidate, quote: str) -> bool:
        """Store a synthetic query that people do not judge yet, or return False if the project already has
        its text."""
        request, coverage_map, aim = self._request, self._inputs.map, candidate.aim
        cluster = aim.cluster if aim.cluster in candidate.regions else candidate.regions[0]
        detail = {
            "alignment": round(candidate.alignment, 6),
            "candidates": request.candidates,
            "prompts": {name: hash_prompt(load_prompt(name)) for name in (WRITE, VERIFY)},
            "quote": quote,
            "regions": list(candidate.regions),
            "seed": request.seed,
            "share": request.share,
        }
        document = aim.document
        origin = coverage_queries.QueryOrigin(
            purpose=GAP,
            writer=self.report.model,
            map_id=coverage_map.map_id,
            cluster=cluster,
            document_id=document.document_id,
            content_hash=document.content_hash,
            style=aim.style.name,
            detail=detail,
        )
        try:
            with self._store.transaction() as cursor:
                query = coverage_queries.add_coverage_query(
                    cursor, candidate.text, origin, "synthetic", self._actor
                )
                withhold_query(cursor, query.query_id, request.share, request.seed, self._actor)
                write_matches(cursor, coverage_map.map_id, {query.normalised: candidate.match})
                [row] = [row for row in list_queries(cursor) if row.query_id == query.query_id]
        except RefusedError:  # traffic has the same text
            self._refuse_candidate(aim, ALIKE)
            return False
        self.report.written.append(row)
        self._queries.append(query)
        self._done.add(document.document_id)
        self._thirds[THIRDS.find_third(candidate.alignment)] += 1
        self._missing -= Counter(candidate.regions)
        self.report.gaps_left = len(self._missing)
        return True
