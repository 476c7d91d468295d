"""Control items: pairs with a decided grade, mixed unmarked into an annotator's work.

Control items look like all other items and go only to annotators who never saw the pair. They are used only
for the share of control items to which an annotator gives the decided grade. Control items are added to
queries that the annotator judges anyway, or come as a query with several documents, so that no control item
is recognised because its query has a single document.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from typing import NamedTuple

from curation.core.digests import digest
from curation.core.reports.tables import Table, figure_row, figure_table
from curation.core.statistics.estimate import Estimate, share_estimate
from curation.guides.guide import current_guide
from curation.labeling.rounds.candidates import Candidate, CandidatesByQuery
from curation.store import Cursor, append_rows
from curation.store.documents import current_snapshot

AnnotatorPair = tuple[str, str, str]
"""An annotator, and the query id and document id of a pair that the annotator was given."""
MAX_PER_QUERY = 5
"""Maximum control items of a query for an annotator."""
MIN_ANSWERED = 10
"""Smallest number of answered control items for which the report shows an annotator's share."""
TOO_FEW = "control items are missing: the annotator has already seen nearly all decided pairs"
SINGLE_DOCUMENT = "control items come alone: no other document of their query is shown"
_DECIDED = """
SELECT a.query_id, a.document_id, a.grade, a.reason, s.content_hash,
       s.content_hash IS NOT NULL AND coalesce(a.content_hash = s.content_hash, EXISTS (
           FROM presentations p
           WHERE p.query_id = a.query_id AND p.document_id = a.document_id
             AND p.content_hash = s.content_hash))
FROM current_adjudications a
LEFT JOIN snapshot_documents s ON s.document_id = a.document_id AND s.snapshot_id = ?
ORDER BY a.query_id, a.document_id
"""
_SEEN_PAIRS = """
SELECT DISTINCT annotator, query_id, document_id FROM live_presentations
WHERE (query_id, document_id) IN (SELECT (query_id, document_id) FROM current_adjudications)
"""
_PRACTISED = """
SELECT DISTINCT p.annotator, p.query_id, p.document_id
FROM presentations p JOIN rounds r USING (round_id) WHERE r.kind = 'practice'
"""
_RESULTS = """
SELECT p.annotator, count(*), count(*) FILTER (s.answered),
       count(*) FILTER (s.answered AND s.grade IS NOT DISTINCT FROM k.grade)
FROM live_presentations p
JOIN known_answers k USING (round_id, query_id, document_id)
LEFT JOIN presentation_states s USING (presentation_id)
WHERE p.round_id = ? AND p.duplicate_of IS NULL
GROUP BY p.annotator ORDER BY p.annotator
"""


class ControlItem(NamedTuple):
    """A pair with its expected grade and the reason for the grade."""

    candidate: Candidate
    grade: int
    explanation: str | None

    @property
    def pair(self) -> tuple[str, str]:
        """Return the query id and document id."""
        return self.candidate.pair


class ControlItemPool(NamedTuple):
    """Pairs available as control items, pairs that annotators have already seen, and pairs left out."""

    items: tuple[ControlItem, ...]
    seen_pairs: frozenset[AnnotatorPair]
    left_out: dict[str, int]


class ControlResult(NamedTuple):
    """One annotator's results on the control items of a round: answers and correct answers.

    right: the number of answers with the decided grade.
    share: share of answers with the decided grade, with Wilson's 95 % interval.
    """

    annotator: str
    planted: int
    answered: int
    right: int
    share: Estimate


def read_control_items(cursor: Cursor) -> ControlItemPool:
    """Read the decided pairs whose documents have not changed since the decision, by query and document id.

    Decided pairs are left out if their document changed or left the corpus, if their grade is not on the
    current scale, or if the reviewer decided that no grade can be given.
    """
    scale = current_guide(cursor).values
    items, left_out = [], defaultdict[str, int](int)
    rows = cursor.execute(_DECIDED, [current_snapshot(cursor)]).fetchall()
    for query_id, document_id, grade, reason, content_hash, same_text in rows:
        if grade is None:
            left_out["a reviewer decided that the pair has no grade"] += 1
        elif not same_text:
            left_out["the document changed or left the corpus after the decision"] += 1
        elif grade not in scale:
            left_out["the decided grade is not on the guide's scale"] += 1
        else:
            items.append(ControlItem(Candidate(query_id, document_id, content_hash), grade, reason))
    return ControlItemPool(tuple(items), frozenset(cursor.execute(_SEEN_PAIRS).fetchall()), dict(left_out))


def choose_controls(
    work: CandidatesByQuery,
    pool: ControlItemPool,
    annotator: str,
    share: float,
    salt: str,
    judged_pairs: Collection[tuple[str, str]],
) -> tuple[list[ControlItem], dict[str, int]]:
    """Choose control items for one annotator, about `share` of the annotator's work; count how many control
    items are missing.

    Parameters
    ----------
    work: query id → candidates.
    judged_pairs: pairs that the round shows for judging.
    """
    item_count = round(share * sum(map(len, work.values())))
    items_by_query: dict[str, list[ControlItem]] = defaultdict(list)
    for item in pool.items:
        if item.pair not in judged_pairs and (annotator, *item.pair) not in pool.seen_pairs:
            items_by_query[item.candidate.query_id].append(item)

    def rank(query: str) -> tuple[bool, bool, str]:
        return query not in work, len(items_by_query[query]) == 1, digest(salt, "known", query)

    chosen: list[ControlItem] = []
    single_count = 0
    for query in sorted(items_by_query, key=rank):
        if len(chosen) >= item_count:
            break
        max_items = min(MAX_PER_QUERY, max(2, item_count - len(chosen)))
        items = sorted(items_by_query[query], key=lambda item: digest(salt, "known", *item.pair))[:max_items]
        if len(items) == 1 and query not in work:
            single_count += 1
        chosen.extend(items)
    return chosen, {TOO_FEW: max(0, item_count - len(chosen)), SINGLE_DOCUMENT: single_count}


def add_controls(work: CandidatesByQuery, items: Sequence[ControlItem]) -> dict[str, list[Candidate]]:
    """Add control items to an annotator's work."""
    candidates_by_query = {query: list(candidates) for query, candidates in work.items()}
    for item in items:
        candidates_by_query.setdefault(item.candidate.query_id, []).append(item.candidate)
    return candidates_by_query


def write_control_items(cursor: Cursor, round_id: str, items: Collection[ControlItem]) -> None:
    """Store the expected grades of a round's control items; leave grades already stored unchanged."""
    sql = "SELECT query_id, document_id FROM known_answers WHERE round_id = ?"
    stored_pairs = set(cursor.execute(sql, [round_id]).fetchall())
    new_items = sorted({item.pair: item for item in items if item.pair not in stored_pairs}.values())
    rows = [(*item.pair, item.grade, item.explanation or "") for item in new_items]
    columns = ("query_id", "document_id", "grade", "explanation")
    append_rows(cursor, "known_answers", rows, columns, round_id=round_id)


def read_practised_pairs(cursor: Cursor) -> set[AnnotatorPair]:
    """Read every (annotator, query, document) for which practice has shown the expected grade to the
    annotator."""
    return set(cursor.execute(_PRACTISED).fetchall())


def read_control_results(cursor: Cursor, round_id: str) -> list[ControlResult]:
    """Read each annotator's control-item results in the round, by name."""
    rows = cursor.execute(_RESULTS, [round_id]).fetchall()
    return [
        ControlResult(annotator, shown, answered, right, share_estimate(right, answered))
        for annotator, shown, answered, right in rows
    ]


def build_control_table(results: Sequence[ControlResult]) -> Table:
    """Make a table of each annotator's share of correctly graded control items, leaving out shares from too
    few answers."""
    too_few_text = f"too few: {{}} of {MIN_ANSWERED}"
    rows = []
    for result in results:
        too_few = Estimate(n=result.answered, why=too_few_text.format(result.answered))
        rows.append(figure_row(result.annotator, too_few if result.answered < MIN_ANSWERED else result.share))
    return figure_table("Control items: decided grade given", ("Annotator", "As decided", "Answered"), rows)
