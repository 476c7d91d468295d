"""The selection of the pairs that a release contains, with the reason for each pair left out.

A grade belongs to the text that was judged. A pair that was judged only on another version of its document is
left out, or kept and marked `"version": "changed"`.
"""

from __future__ import annotations

from collections import Counter

from curation.ingest.filters import Filters
from curation.labeling.consensus.consensus import PairConsensus
from curation.releases.freeze.project_rows import ProjectRows
from curation.releases.part_rows import Rows
from curation.releases.requests import FreezeRequest

DISPUTED = "disputed pair"
UNJUDGEABLE = "pair without a grade: nobody could tell"
DECIDED = "pair without a grade: a reviewer decided so"
CHANGED = "pair graded on another version of the document"
NO_DOCUMENT = "judged pair whose document is not in the current corpus"
NO_QUERY = "judged pair whose query is not in the current sample"
RETIRED = "judged pair whose query was retired"
INCOMPLETE = "pair without every opinion that was planned"
NO_PART = "graded pair whose query is in no part of the split"
NO_GRADE = "query without a grade"
APART = "evidence of a pair for which people marked different passages"
LOST = "evidence whose words are no longer in the document"
UNDECIDED = "evidence of a pair that was disputed later"
Pair = tuple[str, str]


class PairSelection:
    """The counts of pairs that a release contains or leaves out.

    Attributes
    ----------
    queries: the queries with a taken pair.
    grades: part of the split → number of taken pairs.
    changed: number of taken pairs that were graded on another version of the document.
    n_older_grades: number of taken pairs that are disputed, with the grade from before a re-labeling.
    relabeled: the taken pairs that a re-labeling asked about.
    opinions: (opinions, planned opinions) → number of taken pairs.
    evidence: the rows of the part 'evidence'.
    """

    def __init__(self, rows: ProjectRows, request: FreezeRequest, filters: Filters) -> None:
        self._rows = rows
        self._request = request
        self._filters = filters
        self._documents = set(rows.labels.snapshot["document_id"].to_pylist())
        self._queries = {query.query_id for query in rows.labels.queries}
        self._relabeled_pairs = {row[:2] for row in rows.relabeled}
        self.opinions: Counter[tuple[int, int]] = Counter()
        self.evidence: Rows = []
        self._queries_without_part: set[str] = set()
        self._counts: Counter[str] = Counter()
        self._document_ids: dict[str, set[str]] = {NO_DOCUMENT: set(), CHANGED: set()}
        self.queries: set[str] = set()
        self.grades: Counter[str] = Counter()
        self.changed = self.n_older_grades = 0
        self.relabeled: set[tuple[str, str]] = set()

    def add(self, pair: PairConsensus) -> bool:
        """Decide whether the release contains a pair, and count the pair in either case."""
        if reason := self._find_exclusion(pair):
            if self._filters.explain_pair(*pair[:2]):  # the filter gives the grade
                return False
            self._counts[reason] += 1
            if reason in self._document_ids:
                self._document_ids[reason].add(pair.document_id)
            if reason == NO_PART:
                self._queries_without_part.add(pair.query_id)
            return False
        self.queries.add(pair.query_id)
        self.grades[self._rows.split.parts[pair.query_id]] += 1
        self.changed += pair.changed
        self.n_older_grades += pair.how == "disputed"
        self.opinions[pair.judgments, pair.judgments + self._count_lacking(pair)] += 1
        if pair[:2] in self._relabeled_pairs:
            self.relabeled.add(pair[:2])
        self._add_evidence(pair)
        return True

    def _add_evidence(self, pair: PairConsensus) -> None:
        marks = self._rows.marks.find_evidence(pair)
        if marks is None:
            return
        ranges = marks.locate_evidence(self._rows.newer.get(pair.document_id))
        if pair.how == "disputed":  # the grade is older than the marks
            self._counts[UNDECIDED] += 1
            return
        if not ranges:
            self._counts[LOST if ranges is None else APART] += 1
            return
        for (start, end), quote in ranges:
            key = {"query_id": pair.query_id, "document_id": pair.document_id}
            self.evidence.append({**key, "start": start, "end": end, "quote": quote})

    @property
    def left_out(self) -> dict[str, int]:
        """Return the number of left-out pairs, and of queries without a grade, by reason."""
        counts = self._counts | {NO_GRADE: len(self._queries - self._queries_without_part - self.queries)}
        return {reason: count for reason, count in sorted(counts.items()) if count}

    @property
    def left_out_documents(self) -> dict[str, list[str]]:
        """Return the ids of documents whose pairs are left out, by reason."""
        return {reason: sorted(names) for reason, names in self._document_ids.items() if names}

    def _find_exclusion(self, pair: PairConsensus) -> str | None:
        if pair.document_id not in self._documents:
            return NO_DOCUMENT
        if pair.query_id in self._rows.retired:
            return RETIRED
        if pair.query_id not in self._queries:
            return NO_QUERY
        if self._request.only_complete and self._count_lacking(pair):
            return INCOMPLETE
        has_grade = pair.grade is not None
        # a dispute about an older text does not need a decision
        if pair.changed and not self._request.allow_changed and (has_grade or pair.how == "disputed"):
            return CHANGED
        if not has_grade:
            return {"disputed": DISPUTED, "adjudicated": DECIDED}.get(pair.how, UNJUDGEABLE)
        return None if pair.query_id in self._rows.split.parts else NO_PART

    def _count_lacking(self, pair: PairConsensus) -> int:
        """Count how many planned opinions on a pair are missing; 0 after a reviewer's decision."""
        return 0 if pair.how == "adjudicated" else self._rows.unanswered.get(pair[:2], 0)
