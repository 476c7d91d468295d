"""The content of a release: all that makes the gold set, and nothing of this machine.

Left out on purpose, because they would differ where the labels do not: times, revisions, client keys,
versions, and the names of people, rounds and files. Annotators are 'a1', 'a2', … and rounds 'r1', 'r2', …,
numbered by their judgments (`pseudonyms`). Floats are kept to six significant digits.

Where the consensus has another rule than majority, the release says which, with its settings, what it was
applied to and the annotators' estimated errors, and each grade carries its confidence. Where it was frozen
against the gate, it says who did so (under their number), why, and what spoke against it.

Where a random sample of a pool was judged, the part 'pool_sample' has each query's documents by band: those
that were drawn, with their probability, and those that were not. Releases without a sample have no such part.

Where people marked evidence, the part 'evidence' has its ranges in the texts of the release: a pair whose
evidence is of another text has it where its words are found again. Releases without any have no such part.

A query with a filter has it in its row, and pairs outside it have the lowest grade, with the reason; see
`freeze.sharing.grade_outside`.

A grade belongs to the text that was judged. A pair that was judged on another version of its document only is
left out, or kept and marked `"version": "changed"`; judgments and decisions about another version are marked
the same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from curation.agreement.gate import Gate, GateCheck
from curation.ingest.filters import NO_FILTERS, Filters
from curation.labeling.consensus.consensus import PairConsensus, compute_consensus
from curation.labeling.consensus.votes import MAJORITY
from curation.labeling.rounds.rounds import RoundState
from curation.releases.freeze import parts
from curation.releases.freeze.agreement_part import agreement_part
from curation.releases.freeze.pseudonyms import without_names
from curation.releases.freeze.reading import Rows, Split
from curation.releases.release_id import rounded
from curation.releases.release_rows import FORMAT, NO_NUMBER, PartRows, Table, without_relevant
from curation.releases.requests import FreezeRequest
from curation.splits.inputs import GradedQueries, graded_queries
from curation.store.release_parts import PartText, table_rows

DISPUTED = "disputed pair"
UNJUDGEABLE = "pair that has no grade because nobody could tell"
DECIDED = "pair that has no grade because the reviewer decided so"
CHANGED = "pair graded on another version of the document"
NO_DOCUMENT = "judged pair whose document is not in the current corpus"
NO_QUERY = "judged pair whose query is not in the current sample"
RETIRED = "judged pair whose query was retired"
INCOMPLETE = "pair without every opinion that was planned"
NO_PART = "graded pair whose query is in no part of the split"
NO_GRADE = "query without a grade"
APART = "evidence of a pair on which people marked different places"
LOST = "evidence of a pair whose document no longer has its words"
UNDECIDED = "evidence of a pair whose grade is from before a dispute"

Pair = tuple[str, str]


@dataclass(frozen=True)
class Override:
    """Who froze against the gate, why, and what spoke against it."""

    by: str
    reason: str
    against: tuple[GateCheck, ...]


@dataclass
class ReleaseDraft:
    """A release before it is frozen; what is decided later changes it.

    Attributes
    ----------
    tables: part name → rows, large parts as lines; 'split' and 'release' are still to be made.
    scale: the grades of the guide. gate: the agreement against what the project demands.
    graded: what leakage is looked for in, with the split's own notion of relevant.
    queries, grades: part of the split → number.
    changed: pairs that were graded on another version of the document and are kept.
    kept: pairs that have the grade from before a re-labeling, because its votes disagree.
    disputed_anywhere: disputed pairs of the project, in the release or not.
    snapshot_id: hash of the corpus. held: the corpus has what engines brought, and not all documents.
    people: every name by which the project knows somebody of the release → their number there.
    left_out: reason → number.
    left_out_documents: reason → ids of the documents for which pairs were left out, each once.
    relabelings: what the header says of re-labelings.
    opinions: (opinions, planned opinions) → grades.
    sharing: the rule by which grades are shared, the number of shared grades, and the number of texts with
        different grades for one query under different ids, which share none; None without a rule.
    sealed: parts that are sealed.
    without_relevant: part of the split → queries in it that have no relevant document.
    """

    request: FreezeRequest
    tables: dict[str, PartRows]
    split: Split
    scale: Sequence[int]
    gate: Gate
    graded: GradedQueries
    queries: dict[str, int]
    grades: dict[str, int]
    documents: int
    snapshot_id: str
    changed: int
    kept: int
    disputed_anywhere: int
    people: Mapping[str, str]
    left_out: dict[str, int]
    left_out_documents: dict[str, list[str]]
    relabelings: dict[str, Any]
    opinions: Counter[tuple[int, int]]
    open_rounds: Sequence[RoundState]
    held: bool
    sharing: dict[str, Any] | None = None
    sealed: tuple[str, ...] = ()
    without_relevant: dict[str, int] = field(default_factory=dict)

    @property
    def half_judged(self) -> int:
        """Grades that rest on fewer opinions than were planned."""
        return sum(count for (given, planned), count in self.opinions.items() if given < planned)

    @property
    def disputed(self) -> int:
        return self.left_out.get(DISPUTED, 0)

    def count_without_relevant(self) -> None:
        """Set `without_relevant`, once all grades are there."""
        relevant_grade = self.split.parameters["relevant_grade"]
        lacking = without_relevant(self.tables["queries"], self.tables["qrels"], relevant_grade)
        self.without_relevant = dict(sorted(Counter(self.split.parts[name] for name in lacking).items()))


def draft_of(
    rows: Rows, request: FreezeRequest = FreezeRequest(), filters: Filters = NO_FILTERS
) -> ReleaseDraft:
    """The draft that the rows make by the request.

    Parameters
    ----------
    filters: by query; they are written into the part of queries.
    """
    split = rows.split
    consensus = compute_consensus(rows.labels.votes)
    selection = _PairSelection(rows, split, request, filters)
    sure = consensus.rule != MAJORITY
    qrels = PartText.of_rows(parts.qrel(pair, sure) for pair in consensus if selection.takes(pair))
    judgments, annotators, rounds, used = parts.judgments(rows, selection.queries)
    people = parts.people_of(rows, selection.queries, annotators)
    gate, agreement = agreement_part(rows, consensus.counts, annotators)
    tables: dict[str, PartRows] = {
        "queries": parts.queries(rows, selection.queries, filters.queries),
        "qrels": qrels,
        "documents": PartText.of_rows(table_rows(rows.labels.snapshot)),
        "edges": parts.edges(rows, selection.queries),
        "judgments": judgments,
        "rounds": parts.rounds(rows, rounds),
        "guides": parts.guides(rows, used),
        "adjudications": parts.adjudications(rows, selection.queries, people),
        "agreement": agreement,
        "sampling": parts.sampling(rows),
        **parts.pools(rows, selection.queries),
    }
    where_any = {  # releases without such rows have no such part, and keep their ids
        "pool_sample": parts.pool_sample(rows, selection.queries),
        "answers": parts.answers(rows, selection.queries),
        "nuggets": parts.nuggets(rows, selection.queries),
        "relabeled": parts.relabeled(rows, selection.relabeled),
        "evidence": selection.evidence,
    }
    tables |= {part: table for part, table in where_any.items() if table}
    relevant = rows.labels._replace(relevant_grade=split.parameters["relevant_grade"])
    return ReleaseDraft(
        request=request,
        tables=tables,
        split=split,
        scale=rows.labels.scale,
        gate=gate,
        graded=graded_queries(relevant, consensus),
        queries=_by_part(split, Counter(split.parts[query_id] for query_id in selection.queries)),
        grades=_by_part(split, selection.grades),
        documents=rows.labels.snapshot.num_rows,
        snapshot_id=rows.labels.snapshot_id,
        people=people,
        changed=selection.changed,
        kept=selection.kept,
        disputed_anywhere=consensus.counts.disputed,
        left_out=selection.left_out,
        left_out_documents=selection.left_out_documents,
        relabelings=rows.relabelings,
        opinions=selection.opinions,
        open_rounds=rows.open_rounds,
        held=rows.held,
    )


def header(draft: ReleaseDraft, override: Override | None = None) -> Table:
    """What the release is, in one row; what only some releases have is not mentioned in others."""
    described = {
        "format": FORMAT,
        "split_id": draft.split.split_id,
        "snapshot_id": draft.snapshot_id,
        "documents": draft.documents,
        "queries": draft.queries,
        "grades": draft.grades,
        "sealed": list(draft.sealed),
        "left_out": draft.left_out,
    }
    where_any = {
        "changed": draft.changed,
        "only_complete": draft.request.only_complete,
        "held": draft.held,
        "sharing": draft.sharing,
    }
    described |= draft.relabelings | {name: value for name, value in where_any.items() if value}
    if override is not None:
        people = {override.by: NO_NUMBER, **draft.people}
        described["override"] = {
            "by": people[override.by],
            "reason": without_names(override.reason, people),
            "against": [rounded(check._asdict()) for check in override.against],
        }
    return [described]


def _by_part(split: Split, counts: Mapping[str, int]) -> dict[str, int]:
    return {part: counts.get(part, 0) for part in split.parameters["parts"]}


class _PairSelection:
    """Which pairs the release takes, what it leaves out and why; known once all pairs were walked.

    Attributes
    ----------
    queries: those with a pair that was taken; grades: part of the split → pairs.
    changed: pairs that were graded on another version of the document and are selection.
    kept: taken pairs that are disputed, with the grade from before a re-labeling.
    relabeled: the taken pairs that a re-labeling asked about.
    opinions: (opinions, those that were planned) → pairs that were selection.
    evidence: the rows of that part.
    """

    def __init__(self, rows: Rows, split: Split, request: FreezeRequest, filters: Filters) -> None:
        self._documents = set(rows.labels.snapshot["document_id"].to_pylist())
        self._queries = {query.query_id for query in rows.labels.queries}
        self._retired, self._split, self._request = rows.retired, split, request
        self._unanswered = rows.unanswered
        self.opinions: Counter[tuple[int, int]] = Counter()
        self._asked_again = {row[:2] for row in rows.relabeled}
        self._marks, self._newer, self._filters = rows.marks, rows.newer, filters
        self.evidence: Table = []
        self._in_no_part: set[str] = set()
        self._counts: Counter[str] = Counter()
        self._named: dict[str, set[str]] = {NO_DOCUMENT: set(), CHANGED: set()}
        self.queries: set[str] = set()
        self.grades: Counter[str] = Counter()
        self.changed = self.kept = 0
        self.relabeled: set[tuple[str, str]] = set()

    def takes(self, pair: PairConsensus) -> bool:
        """Whether the release takes a pair; counts it either way."""
        if reason := self._against(pair):
            if self._filters.outside(*pair[:2]):  # its grade follows from that
                return False
            self._counts[reason] += 1
            if reason in self._named:
                self._named[reason].add(pair.document_id)
            if reason == NO_PART:
                self._in_no_part.add(pair.query_id)
            return False
        self.queries.add(pair.query_id)
        self.grades[self._split.parts[pair.query_id]] += 1
        self.changed += pair.changed
        self.kept += pair.how == "disputed"
        self.opinions[pair.judgments, pair.judgments + self._lacking(pair)] += 1
        if pair[:2] in self._asked_again:
            self.relabeled.add(pair[:2])
        self._take_evidence(pair)
        return True

    def _take_evidence(self, pair: PairConsensus) -> None:
        marks = self._marks.evidence(pair)
        if marks is None:
            return
        ranges = marks.found_in(self._newer.get(pair.document_id))
        if pair.how == "disputed" or not ranges:
            older = pair.how == "disputed"  # its grade is older than its marks
            self._counts[UNDECIDED if older else LOST if ranges is None else APART] += 1
            return
        for (start, end), quote in ranges:
            key = {"query_id": pair.query_id, "document_id": pair.document_id}
            self.evidence.append({**key, "start": start, "end": end, "quote": quote})

    @property
    def left_out(self) -> dict[str, int]:
        """Reason → number, queries without a grade included."""
        counts = self._counts | {NO_GRADE: len(self._queries - self._in_no_part - self.queries)}
        return {reason: count for reason, count in sorted(counts.items()) if count}

    @property
    def left_out_documents(self) -> dict[str, list[str]]:
        """Reason → the documents."""
        return {reason: sorted(names) for reason, names in self._named.items() if names}

    def _against(self, pair: PairConsensus) -> str | None:
        if pair.document_id not in self._documents:
            return NO_DOCUMENT
        if pair.query_id in self._retired:
            return RETIRED
        if pair.query_id not in self._queries:
            return NO_QUERY
        if self._request.only_complete and self._lacking(pair):
            return INCOMPLETE
        if reason := _no_grade(pair, self._request.allow_changed):
            return reason
        return None if pair.query_id in self._split.parts else NO_PART

    def _lacking(self, pair: PairConsensus) -> int:
        """How many opinions were planned and not given; a decision needs none."""
        return 0 if pair.how == "adjudicated" else self._unanswered.get((pair.query_id, pair.document_id), 0)


def _no_grade(pair: PairConsensus, allow_changed: bool) -> str | None:
    """Why the pair has no grade that could be frozen. Disputes about an older text need no decision."""
    if pair.changed and not allow_changed and (pair.grade is not None or pair.how == "disputed"):
        return CHANGED
    if pair.grade is not None:
        return None
    return {"disputed": DISPUTED, "adjudicated": DECIDED}.get(pair.how, UNJUDGEABLE)
