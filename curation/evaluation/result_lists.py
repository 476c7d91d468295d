"""The stored result lists of one or two runs for a query: documents with grades, or chunks with evidence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from curation.core.reports.tables import NOT_JUDGED
from curation.core.spans import Span, Spans, count_characters, difference, intersection, union
from curation.evaluation.by_query import EvaluatedRun, read_open_result
from curation.evaluation.report.query_sections import QueryValues
from curation.evaluation.scoring.chunk_measures import UNKNOWN
from curation.labeling.consensus.consensus import compute_query_consensus
from curation.labeling.consensus.votes import read_query_votes
from curation.labeling.rounds.withheld_answers import read_withheld_pairs
from curation.people.seal_access import read_closed_access
from curation.store import Annotator, Cursor
from curation.store.documents import BEGINNING, snapshot_texts
from curation.store.release_parts import read_part, read_parts

REASONS_WITHOUT_GRADE = {"disputed": "disputed", "unjudgeable": "cannot tell"}
JUDGED_LATER = "not graded in the release"


class ListedDocument(NamedTuple):
    """A document in a result list.

    Attributes
    ----------
    grade: the grade in the release; None without a grade.
    reason_without_grade: the reason for a missing grade, as far as the person may know the reason.
    other_rank: the rank in the other list; None below the first `STORED_RANKS`, 0 without another list.
    """

    rank: int
    document_id: str
    title: str
    grade: int | None
    other_rank: int | None
    reason_without_grade: str

    @property
    def is_unjudged(self) -> bool:
        """Return whether the document is unjudged, as far as the person who views the list may know."""
        return self.grade is None and self.reason_without_grade == NOT_JUDGED


class Passage(NamedTuple):
    """A chunk in a result list, or evidence that no chunk in the list contains.

    Attributes
    ----------
    text: the text of the passage; empty if the project has no text.
    evidence: the marked characters of the document in the passage.
    rank: the rank of the chunk; None for evidence that no chunk holds.
    recall: the share of the query's evidence in the chunks down to this rank; None without evidence.
    words: the number of words of these chunks; None if a chunk has an unknown text.
    """

    document_id: str
    title: str
    start: int
    end: int
    text: str
    evidence: Spans
    rank: int | None = None
    recall: float | None = None
    words: int | None = None


def read_result_lists(
    cursor: Cursor, runs: Sequence[EvaluatedRun], query: QueryValues, annotator: Annotator
) -> list[list[ListedDocument]]:
    """Read each run's stored list for a query; the list is empty if the run returned nothing or none was
    stored.

    Raises
    ------
    NotFoundError: the annotator has no such evaluation.
    RefusedError: a sealed part was evaluated, or a release seals the query.
    """
    read_closed_access(cursor).require_open(query.query_id)
    (release_id,) = {read_open_result(cursor, run_id, annotator)["release_id"] for run_id, _ in runs}
    grades = read_part(cursor, release_id, "qrels").rows_of(query.query_id)
    grade_of = {row["document_id"]: row["grade"] for row in grades}
    lists = [_read_ranks(cursor, run, query.query_id) for run in runs]
    document_ids = {document_id for ranks in lists for document_id in ranks}
    reasons = _find_reasons(cursor, query.query_id, document_ids - grade_of.keys(), annotator)
    (header,) = read_part(cursor, release_id, "release")
    texts = snapshot_texts(cursor, header["snapshot_id"], sorted(document_ids)).to_pylist()
    titles = {row["document_id"]: _title_or_beginning(row) for row in texts}

    def list_documents(ranks: dict[str, int], other_ranks: dict[str, int] | None) -> list[ListedDocument]:
        return [
            ListedDocument(
                rank=rank,
                document_id=document_id,
                title=titles.get(document_id, document_id),
                grade=grade_of.get(document_id),
                other_rank=0 if other_ranks is None else other_ranks.get(document_id),
                reason_without_grade=reasons.get(document_id, NOT_JUDGED),
            )
            for document_id, rank in ranks.items()
        ]

    if len(lists) == 1:
        return [list_documents(lists[0], None)]
    return [list_documents(ranks, lists[1 - index]) for index, ranks in enumerate(lists)]


def read_chunk_lists(
    cursor: Cursor, runs: Sequence[EvaluatedRun], query: QueryValues, annotator: Annotator
) -> list[list[Passage] | None]:
    """Read each run's stored chunks for a query, and the evidence in relevant documents that those chunks
    miss.

    The result of a run is None if no evidence was measured, or if the evaluation is older than stored chunks.

    Raises
    ------
    NotFoundError, RefusedError: as for `read_result_lists`.
    """
    read_closed_access(cursor).require_open(query.query_id)
    result, *_ = [read_open_result(cursor, evaluation_id, annotator) for evaluation_id, _ in runs]
    parts = read_parts(cursor, result["release_id"], ["qrels", "evidence", "release"])
    qrels = parts["qrels"].rows_of(query.query_id)
    relevant = {row["document_id"] for row in qrels if row["grade"] >= result["relevant_grade"]}
    marked_spans = dict[str, list[Span]]()
    for row in parts["evidence"].rows_of(query.query_id) if "evidence" in parts else ():
        if row["document_id"] in relevant:
            marked_spans.setdefault(row["document_id"], []).append((row["start"], row["end"]))
    sql = """
        SELECT rank, document_id, start_at, end_at, words FROM evaluation_chunks
        WHERE evaluation_id = ? AND system = ? AND query_id = ? ORDER BY rank
    """
    lists = [cursor.execute(sql, [*run, query.query_id]).fetchall() for run in runs]
    (header,) = parts["release"]
    document_ids = sorted({row[1] for rows in lists for row in rows} | marked_spans.keys())
    texts = snapshot_texts(cursor, header["snapshot_id"], document_ids).to_pylist() if any(lists) else []
    bodies = {row["document_id"]: (_title_or_beginning(row), row["body"]) for row in texts}
    return [_make_passages(rows, marked_spans, bodies) if rows else None for rows in lists]


def _make_passages(
    rows: Sequence[tuple[int, str, int, int, int]],
    marked_spans: Mapping[str, Sequence[Span]],
    bodies: Mapping[str, tuple[str, str]],
) -> list[Passage]:
    """Make passages from a result list's chunks in order, then from the evidence that no chunk contains.

    Parameters
    ----------
    rows: rank, document id, start, end and number of words of each chunk.
    marked_spans: document id → the evidence that people marked.
    bodies: document id → title and body.
    """
    missing = {document_id: union(spans) for document_id, spans in marked_spans.items()}
    evidence_size = sum(map(count_characters, missing.values()))
    words_read: int | None = 0
    passages = []

    def make_passage(document_id: str, start: int, end: int, evidence: Spans) -> Passage:
        title, body = bodies.get(document_id, (document_id, ""))
        return Passage(document_id, title, start, end, body[start:end], evidence)

    for rank, document_id, start, end, words in rows:
        evidence = intersection([(start, end)], marked_spans.get(document_id, ()))
        missing[document_id] = difference(missing.get(document_id, ()), evidence)
        missing_size = sum(map(count_characters, missing.values()))
        recall = 1 - missing_size / evidence_size if evidence_size else None
        words_read = None if words_read is None or words == UNKNOWN else words_read + words
        passage = make_passage(document_id, start, end, evidence)
        passages.append(passage._replace(rank=rank, recall=recall, words=words_read))
    for document_id, spans in sorted(missing.items()):
        passages += [make_passage(document_id, *span, (span,)) for span in spans]
    return passages


def _find_reasons(cursor: Cursor, query_id: str, document_ids: set[str], person: Annotator) -> dict[str, str]:
    """Map each judged document without a grade in the release to the reason.

    Documents that the person still has to grade are left out, so that the person stays blind.
    """
    withheld_pairs = read_withheld_pairs(cursor, person.name)
    votes = read_query_votes(cursor, query_id)
    judged = document_ids.intersection(votes.rows["document_id"].to_pylist())
    visible = {document_id for document_id in judged if (query_id, document_id) not in withheld_pairs}
    if not visible:
        return {}
    pairs = [pair for pair in compute_query_consensus(cursor, votes, query_id) if pair.document_id in visible]
    return {pair.document_id: REASONS_WITHOUT_GRADE.get(pair.how, JUDGED_LATER) for pair in pairs}


def _read_ranks(cursor: Cursor, run: EvaluatedRun, query_id: str) -> dict[str, int]:
    """Map each document id of a stored list to its rank, in ascending order of rank."""
    sql = """
        SELECT document_id, rank FROM evaluation_lists
        WHERE evaluation_id = ? AND system = ? AND query_id = ? ORDER BY rank
    """
    return dict(cursor.execute(sql, [*run, query_id]).fetchall())


def _title_or_beginning(row: Mapping[str, str]) -> str:
    return row["title"].strip() or row["body"][:BEGINNING]
