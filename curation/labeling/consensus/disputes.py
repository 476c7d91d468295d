"""Disputes: pairs on which annotators disagree, ordered by how much a decision matters.

A reviewer sees the grades and notes of a pair, but never an annotator's name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import NamedTuple

from curation.core.digests import digest
from curation.core.reports.tables import Table
from curation.core.spans import Spans, union
from curation.core.text import pluralize
from curation.ingest.filters import NEED
from curation.labeling.consensus import decisions
from curation.labeling.consensus.consensus import compute_consensus
from curation.labeling.consensus.marks import MarkedEvidence, PairMarks, read_marks
from curation.labeling.consensus.second_opinions import read_awaited_opinions
from curation.labeling.consensus.votes import read_votes
from curation.labeling.presentation.drawing import DocumentText
from curation.people.seal_access import SealAccess, describe_withheld_pairs, resolve_access
from curation.store import Cursor, Store
from curation.store.documents import VERSION

_READING = f"""
    SELECT {NEED}, coalesce(d.body, ''), d.url, d.published, coalesce(d.metadata, '{{}}')
    FROM queries q LEFT JOIN (SELECT ?::TEXT AS content_hash) ON true LEFT JOIN {VERSION}
    WHERE q.query_id = ?
"""  # noqa: S608
_TRAFFIC = """
    SELECT query_id, traffic FROM sample_queries
    WHERE sample_id = (SELECT value FROM settings WHERE name = 'sample')
"""
_DESCRIPTION = f"""
    WITH wanted AS (SELECT unnest(?::TEXT[]) AS query_id, unnest(?::TEXT[]) AS document_id)
    SELECT w.query_id, w.document_id, coalesce(q.text, w.query_id), coalesce(d.title, ''), v.content_hash,
           coalesce(v.in_force, true),
           (SELECT count(*) FROM eligible_judgments e
            WHERE e.query_id = w.query_id AND e.document_id = w.document_id AND v.in_force > e.in_force),
           said
    FROM wanted w
    LEFT JOIN queries q USING (query_id)
    LEFT JOIN judged_versions v USING (query_id, document_id)
    LEFT JOIN {VERSION}
    LEFT JOIN (
        SELECT query_id, document_id,
               list((j.grade, j.reason, j.note, NOT j.same_text, marks)
                    ORDER BY j.grade, j.reason, j.note, marks) AS said
        FROM counted_judgments j JOIN wanted USING (query_id, document_id)
        LEFT JOIN (
            SELECT presentation_id, revision, list((start_at, end_at) ORDER BY start_at) AS marks
            FROM evidence_marks GROUP BY ALL) m
          ON m.presentation_id = j.presentation_id AND m.revision + 1 = j.next_revision
        GROUP BY query_id, document_id)
        USING (query_id, document_id)
"""  # noqa: S608


class Opinion(NamedTuple):
    """An annotator's answer on a pair, without the name; the grade None means cannot-tell, and `reason` says
    why.

    other_text: the annotator judged a different version of the document than the reviewer reads.
    evidence: the characters that the annotator marked in the body of the judged version.
    """

    grade: int | None
    reason: str | None
    note: str | None
    other_text: bool = False
    evidence: Spans = ()

    @property
    def words(self) -> str:
        """Return the annotator's reason and note as one text, or ''."""
        return ": ".join(filter(None, (self.reason, self.note)))


@dataclass(frozen=True)
class Dispute:
    """A decided pair, or a pair on whose grade or evidence annotators disagree.

    Attributes
    ----------
    grades: the grades that annotators gave, ascending.
    opinions: grades and cannot-tells with their notes, ordered by content, so that the order reveals no
        annotator.
    decision: the decision that counts, else the newest decision, marked `decision_outdated`.
    decisions: the number of decisions on the pair.
    content_hash: the version of the document that the annotators judged and the reviewer reads.
    changed: nobody judged the corpus's current version.
    older: number of judgments of older versions, which do not count once the current version is judged.
    evidence: the characters that the reviewer marked with `decision`.
    weight: weight by `compute_weight`; a query without known traffic gets the median traffic of all disputes.
    """

    query_id: str
    document_id: str
    query: str
    title: str
    grades: tuple[int, ...]
    cannot_tell: int
    opinions: tuple[Opinion, ...]
    decision: decisions.ReviewerDecision | None
    weight: float = 0.0
    content_hash: str | None = None
    changed: bool = False
    older: int = 0
    decision_outdated: bool = False
    decision_count: int = 0
    evidence: Spans = ()

    @property
    def is_about_marks(self) -> bool:
        """Return whether all annotators gave the same grade and only their marks differ."""
        return self.marks_apart and len(set(self.grades)) == 1

    @property
    def marks_apart(self) -> bool:
        """Return whether annotators gave the same grade, but have no marked character in common."""
        people = tuple(
            MarkedEvidence("", opinion.grade, opinion.evidence, ())
            for opinion in self.opinions
            if opinion.grade is not None and opinion.evidence and not opinion.other_text
        )
        return PairMarks(self.content_hash or "", people).are_apart

    @property
    def remarks(self) -> list[str]:
        """Return sentences for the reviewer about the evidence that annotators marked, and about the document
        versions that they judged."""
        sentences = []
        if self.is_about_marks:
            sentences.append("The grades agree, but annotators marked different passages. Mark the evidence.")
        if self.changed:
            sentences.append("This document has a newer text that nobody has judged yet.")
        if self.older:
            older = f"{self.older:,}"
            sentences.append(f"Judgments of an older text, which do not count and are hidden: {older}.")
        return sentences


@dataclass(frozen=True)
class Disputes:
    """A project's disputes: how many there are, how many are sealed, and the disputes that are not sealed."""

    total: int
    sealed: int
    disputes: list[Dispute]

    @property
    def sentences(self) -> list[str]:
        """Return a sentence that says how many disputes there are, and how many concern an older text or only
        evidence."""
        if not self.total:
            return ["No pair is disputed."]
        older = sum(pair.changed for pair in self.disputes)
        marks = sum(pair.is_about_marks and pair.decision is None for pair in self.disputes)
        sentences = {
            f"{pluralize(self.total, 'pair is', 'pairs are')} disputed.": True,
            f"{older:,} of these disputes are about an older text: nobody has judged the corpus's "
            "current text.": older,
            f"{marks:,} of these disputes are only about evidence: the grades agree, but the marks "
            "have no common character.": marks,
            describe_withheld_pairs(self.sealed): self.sealed,
        }
        return [sentence for sentence, is_so in sentences.items() if is_so]

    @property
    def tables(self) -> tuple[Table, ...]:
        """Return the disputed pairs as a table."""
        columns = ("Query", "Query id", "Document", "Document id", "Grades", "Cannot tell", "Decision")
        return (Table("Disputed pairs", columns, tuple(_build_row(pair) for pair in self.disputes)),)


@dataclass(frozen=True)
class Case:
    """A judged pair with the query's information need, and with the document in the version that annotators
    judged."""

    dispute: Dispute
    information_need: str | None
    document: DocumentText

    @property
    def revision(self) -> int:
        """Return the number of decisions on the pair, which `decide` takes as `seen_revision`."""
        return self.dispute.decision_count


def find_disputes(store: Store, include_settled: bool = False) -> list[Dispute]:
    """List the disputed pairs, greatest weight first; `include_settled` adds pairs already decided.

    Pairs that wait for a second opinion are left out. The list includes sealed pairs: a function that shows
    the list must ask a `SealAccess` (`list_disputes`, `queue`).
    """
    sources = {"disputed", "adjudicated"} if include_settled else {"disputed"}
    with store.reading() as cursor:
        votes, awaited, marks = read_votes(cursor), read_awaited_opinions(cursor), read_marks(cursor)
    pairs = [
        (pair.query_id, pair.document_id)
        for pair in compute_consensus(votes).pairs
        if pair[:2] not in marks.outside
        and (pair[:2] not in awaited if marks.is_disputed(pair) else pair.how in sources)
    ]
    with store.reading() as cursor:
        descriptions, traffic = _read_disputes(cursor, pairs), dict(cursor.execute(_TRAFFIC).fetchall())
    return sorted(_weigh_disputes(descriptions, traffic), key=_sort_key)


def list_disputes(store: Store, include_decided: bool = False, access: SealAccess | None = None) -> Disputes:
    """List the disputes that may be shown, and count those that a release seals.

    Without seal access, pairs that a release seals are not listed.
    """
    every_dispute = find_disputes(store, include_decided)
    with store.reading() as cursor:
        access = resolve_access(cursor, access)
    shown_disputes = [pair for pair in every_dispute if access.can_show(pair.query_id)]
    return Disputes(len(every_dispute), len(every_dispute) - len(shown_disputes), shown_disputes)


def read_case(store: Store, query_id: str, document_id: str) -> Case:
    """Read a judged pair, disputed or not, with its information need and document.

    Raises
    ------
    NotFoundError: nobody has judged the pair.
    """
    with store.reading() as cursor:
        described = read_cases(cursor, [(query_id, document_id)])
    if not described:
        raise decisions.unjudged_error(query_id, document_id)
    return described[0]


def read_cases(cursor: Cursor, pairs: Sequence[decisions.Pair]) -> list[Case]:
    """Read the judged pairs among `pairs` in order, with their information needs and documents."""
    by_pair = {(dispute.query_id, dispute.document_id): dispute for dispute in _read_disputes(cursor, pairs)}
    known_disputes = [by_pair[pair] for pair in pairs if pair in by_pair]
    return [build_case(cursor, dispute) for dispute in known_disputes if dispute.opinions or dispute.decision]


def build_case(cursor: Cursor, dispute: Dispute) -> Case:
    """Read a pair's document and information need."""
    row = cursor.execute(_READING, [dispute.content_hash, dispute.query_id]).fetchone()
    information_need, *document_columns = row or (None, "", None, None, "{}")
    return Case(dispute, information_need, DocumentText(dispute.title, *document_columns))


def compute_weight(grades: Sequence[int], traffic: float = 1.0) -> float:
    """Compute a disputed pair's weight: the expected change in its grade, times the query's traffic.

    The expected change is then the votes' mean distance from their median. Without votes the weight is 0.
    """
    if not grades:
        return 0.0
    middle = median(grades)
    return traffic * sum(abs(grade - middle) for grade in grades) / len(grades)


def _build_row(dispute: Dispute) -> tuple[object, ...]:
    decision: str | int | None = None
    if dispute.decision is not None:
        decision = "unjudgeable" if dispute.decision.grade is None else dispute.decision.grade
    if dispute.decision_outdated:
        decision = f"{decision} (older text)"
    grades = " ".join(map(str, dispute.grades)) + (", different evidence" if dispute.marks_apart else "")
    pair = (dispute.query, dispute.query_id, dispute.title, dispute.document_id)
    return *pair, grades, dispute.cannot_tell, decision


def _sort_key(dispute: Dispute) -> tuple[float, int, str]:
    """Return a sort key: greatest weight first, then widest spread of grades, then a hash."""
    spread = max(dispute.grades, default=0) - min(dispute.grades, default=0)
    return -dispute.weight, -spread, digest(dispute.query_id, dispute.document_id)


def _weigh_disputes(unweighed: Sequence[Dispute], traffic: Mapping[str, int]) -> list[Dispute]:
    known_traffic = [traffic[dispute.query_id] for dispute in unweighed if dispute.query_id in traffic]
    median_traffic = median(known_traffic) if known_traffic else 1
    return [
        replace(dispute, weight=compute_weight(dispute.grades, traffic.get(dispute.query_id, median_traffic)))
        for dispute in unweighed
    ]


def _read_disputes(cursor: Cursor, pairs: Sequence[decisions.Pair]) -> list[Dispute]:
    if not pairs:
        return []
    newest_decisions = decisions.read_current_decisions(cursor, pairs)
    counted_decisions = decisions.read_counted_decisions(cursor, pairs)
    decision_marks = decisions.read_decision_marks(cursor, (newest_decisions | counted_decisions).values())
    disputes_read = []
    parameters = list(map(list, zip(*pairs, strict=True)))
    rows = cursor.execute(_DESCRIPTION, parameters).fetchall()
    for query_id, document_id, query, title, content_hash, in_force, older, answers in rows:
        opinions = tuple(Opinion._make((*row[:4], union(row[4] or ()))) for row in answers or ())
        newest = newest_decisions.get((query_id, document_id))
        counted = counted_decisions.get((query_id, document_id))
        grades = tuple(opinion.grade for opinion in opinions if opinion.grade is not None)
        disputes_read.append(
            Dispute(
                query_id=query_id,
                document_id=document_id,
                query=query,
                title=title,
                grades=grades,
                cannot_tell=len(opinions) - len(grades),
                opinions=opinions,
                decision=counted or newest,
                content_hash=content_hash,
                changed=not in_force,
                older=older,
                decision_outdated=newest is not None and counted is None,
                decision_count=newest.revision + 1 if newest else 0,
                evidence=decision_marks.get((query_id, document_id), ()),
            )
        )
    return disputes_read
