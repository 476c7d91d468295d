"""An evaluation query by query: two runs' values against each other, and their lists side by side.

Runs may be of one evaluation, or of two on the same parts of a release. Of a sealed part there is nothing by
query. What another release has sealed since is left out, too, and counted: the door decides for both.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import compress
from typing import Any, NamedTuple

from curation.core.errors import NotFoundError, RefusedError
from curation.core.reports.page import NOT_JUDGED
from curation.core.spans import Span, Spans, difference, intersection, size, union
from curation.evaluation.report.query_by_query import QueryValues
from curation.evaluation.scoring.inputs.facets import CLUSTER, all_facets
from curation.evaluation.scoring.metrics.evidence import UNKNOWN
from curation.evaluation.submitted import LISTED, submitted_texts
from curation.labeling.consensus.consensus import query_consensus
from curation.labeling.consensus.votes import read_query_votes
from curation.labeling.presentation.excerpts import marked_spans, query_stems
from curation.labeling.session.own_answers import withheld_pairs
from curation.people.seal_access import shut_door, withheld
from curation.store import Annotator, Cursor
from curation.store.documents import BEGINNING, snapshot_texts
from curation.store.release_parts import read_part, read_parts

EXPLAINED = 3
"""Differences of two lists that have a sentence."""
NO_GRADE = {"disputed": "disputed", "unjudgeable": "cannot tell"}
JUDGED_SINCE = "no grade in the release"


class EvaluatedRun(NamedTuple):
    """A system of a stored evaluation."""

    evaluation_id: str
    system: str


class ByQuery(NamedTuple):
    """Queries with a value of each run, from the largest loss to the largest gain.

    Attributes
    ----------
    remark: what is left out because a release has sealed it; '' where nothing is.
    """

    measure: str
    scale: tuple[int, ...]
    release_id: str
    rows: tuple[QueryValues, ...]
    remark: str


class ListedDocument(NamedTuple):
    """A place of a list.

    Attributes
    ----------
    grade: None where the release has none; `lacking` says why, as far as the reader may know.
    elsewhere: its rank in the other list, None where that has it not within `LISTED`; 0 without another list.
    shares_word: whether it has one of the query's words; None where the corpus has no such document now.
    """

    rank: int
    document_id: str
    title: str
    grade: int | None
    elsewhere: int | None
    shares_word: bool | None
    lacking: str

    @property
    def is_unjudged(self) -> bool:
        """Whether people have still to judge it, as far as the reader may know."""
        return self.grade is None and self.lacking == NOT_JUDGED


class Passage(NamedTuple):
    """A part of a document; its text is empty where the project has none."""

    document_id: str
    title: str
    start: int
    end: int
    text: str


class ListedChunk(NamedTuple):
    """A chunk of a list.

    Attributes
    ----------
    evidence: the characters of the document that are in it and were marked.
    recall: share of the query's evidence in the chunks down to it; None where there is none.
    words: of these chunks; None where the text of one is not known.
    """

    rank: int
    passage: Passage
    evidence: Spans
    recall: float | None
    words: int | None


class ChunkList(NamedTuple):
    """The first chunks of a run, and the evidence that none of them has."""

    chunks: tuple[ListedChunk, ...]
    missing: tuple[Passage, ...]


def by_query(cursor: Cursor, runs: Sequence[EvaluatedRun], annotator: Annotator) -> ByQuery:
    """The values of one run or of two, by the first measure of the first one's evaluation.

    Raises
    ------
    NotFoundError: there is no such evaluation of theirs, or none of that run.
    RefusedError: a sealed part was evaluated.
    """
    results = [_result(cursor, run, annotator) for run in runs]
    measure = results[0]["measures"][0]
    values = [_values(result, run.system, measure) for result, run in zip(results, runs, strict=True)]
    texts = dict(zip(results[0]["query_ids"], results[0]["query_texts"], strict=True))
    *first, second = values
    door = shut_door(cursor)
    both = [name for name in texts if all(value.get(name) is not None for value in values)]
    rows = [QueryValues(name, texts[name], first[0][name] if first else 0.0, second[name]) for name in both]
    shown = [row for row in rows if door.shows(row.query_id)]
    return ByQuery(
        measure,
        tuple(results[0]["scale"]),
        results[0]["release_id"],
        tuple(sorted(shown, key=lambda row: (row.difference, row.query_id))),
        withheld(len(rows) - len(shown), "query", "queries"),
    )


def _result(cursor: Cursor, run: EvaluatedRun, annotator: Annotator) -> dict[str, Any]:
    result: dict[str, Any] = json.loads(submitted_texts(cursor, run.evaluation_id, annotator)[1])
    if "runs" not in result:
        raise NotFoundError("This evaluation is of answers alone: it has no lists.")
    if result["sealed"]:
        parts = ", ".join(result["sealed"])
        raise RefusedError(f"{parts} is sealed, and there is nothing by query of a sealed part.")
    return result


def _values(result: dict[str, Any], system: str, measure: str) -> dict[str, float]:
    """Query id → value of a system, of a measure."""
    for one in result["runs"]:
        if one["name"] == system and measure in one["per_query"]:
            return dict(zip(result["query_ids"], one["per_query"][measure], strict=True))
    raise NotFoundError(f"This evaluation has no values of {system} by {measure}.")


def kinds_of_queries(cursor: Cursor, release_id: str) -> dict[str, frozenset[str]]:
    """The kinds of a release's queries, as `tag: question` and `region: 3 name` → which these are."""
    parts = read_parts(cursor, release_id, ["queries", "sampling", "coverage", "query_coverage"])
    queries = list(parts["queries"])
    ids = [row["query_id"] for row in queries]
    return {
        f"{'region' if name == CLUSTER else name}: {kind}": frozenset(compress(ids, mask.tolist()))
        for name, facet in all_facets(queries, lambda part: list(parts.get(part, ()))).items()
        for kind, mask in facet.values.items()
    }


def side_by_side(
    cursor: Cursor, runs: Sequence[EvaluatedRun], query: QueryValues, annotator: Annotator
) -> list[list[ListedDocument]]:
    """The kept list of each run for a query; empty where it returned nothing, or none was kept.

    Raises
    ------
    NotFoundError: there is no such evaluation of theirs.
    RefusedError: a sealed part was evaluated, or a release seals the query.
    """
    shut_door(cursor).need(query.query_id)
    (release_id,) = {_result(cursor, run, annotator)["release_id"] for run in runs}
    grades = read_part(cursor, release_id, "qrels").rows_of(query.query_id)
    graded = {row["document_id"]: row["grade"] for row in grades}
    lists = [_kept(cursor, run, query.query_id) for run in runs]
    listed = {name for found in lists for name in found}
    lacking = _lacking(cursor, query.query_id, listed - graded.keys(), annotator)
    (header,) = read_part(cursor, release_id, "release")
    texts = snapshot_texts(cursor, header["snapshot_id"], sorted(listed)).to_pylist()
    described = {row["document_id"]: _described(row, query_stems(query.text)) for row in texts}

    def places(found: Mapping[str, int], other: Mapping[str, int] | None) -> list[ListedDocument]:
        return [
            ListedDocument(
                *(rank, name, described.get(name, (name, None))[0], graded.get(name)),
                *(0 if other is None else other.get(name), described.get(name, (name, None))[1]),
                lacking.get(name, NOT_JUDGED),
            )
            for name, rank in found.items()
        ]

    return [places(found, lists[1 - place] if len(lists) > 1 else None) for place, found in enumerate(lists)]


def chunk_lists(
    cursor: Cursor, runs: Sequence[EvaluatedRun], query: QueryValues, annotator: Annotator
) -> list[ChunkList | None]:
    """The kept chunks of each run for a query, against the evidence of its relevant documents.

    None where no evidence was measured, or it was before chunks were kept.

    Raises
    ------
    NotFoundError, RefusedError: as `side_by_side`.
    """
    shut_door(cursor).need(query.query_id)
    result, *_ = [_result(cursor, run, annotator) for run in runs]
    parts = read_parts(cursor, result["release_id"], ["qrels", "evidence", "release"])
    relevant = {
        row["document_id"]
        for row in parts["qrels"].rows_of(query.query_id)
        if row["grade"] >= result["relevant_grade"]
    }
    marks = dict[str, list[Span]]()
    for row in parts["evidence"].rows_of(query.query_id) if "evidence" in parts else ():
        if row["document_id"] in relevant:
            marks.setdefault(row["document_id"], []).append((row["start"], row["end"]))
    sql = """
        SELECT rank, document_id, start_at, end_at, words FROM evaluation_chunks
        WHERE evaluation_id = ? AND system = ? AND query_id = ? ORDER BY rank
    """
    lists = [cursor.execute(sql, [*run, query.query_id]).fetchall() for run in runs]
    (header,) = parts["release"]
    names = sorted({row[1] for rows in lists for row in rows} | marks.keys())
    texts = snapshot_texts(cursor, header["snapshot_id"], names).to_pylist() if any(lists) else []
    bodies = {row["document_id"]: (_described(row, frozenset())[0], row["body"]) for row in texts}
    return [_chunk_list(rows, marks, bodies) if rows else None for rows in lists]


def _chunk_list(
    rows: Sequence[tuple[int, str, int, int, int]],
    marks: Mapping[str, Sequence[Span]],
    bodies: Mapping[str, tuple[str, str]],
) -> ChunkList:
    left = {name: union(spans) for name, spans in marks.items()}
    every, context, chunks = sum(map(size, left.values())), 0, []

    def passage(name: str, start: int, end: int) -> Passage:
        title, body = bodies.get(name, (name, ""))
        return Passage(name, title, start, end, body[start:end])

    for rank, name, start, end, words in rows:
        held = intersection([(start, end)], marks.get(name, ()))
        left[name] = difference(left.get(name, ()), held)
        recall = 1 - sum(map(size, left.values())) / every if every else None
        context = context + words if min(context, words) >= 0 else UNKNOWN
        chunks.append(
            ListedChunk(rank, passage(name, start, end), held, recall, None if context < 0 else context)
        )
    missing = [passage(name, *span) for name, spans in sorted(left.items()) for span in spans]
    return ChunkList(tuple(chunks), tuple(missing))


def _lacking(cursor: Cursor, query_id: str, ungraded: set[str], reader: Annotator) -> dict[str, str]:
    """Why documents without a grade in the release have none, of those that were judged.

    What the reader has still to grade is not among them: it would not leave them blind.
    """
    own = withheld_pairs(cursor, reader.name)
    votes = read_query_votes(cursor, query_id)
    judged = ungraded.intersection(votes.rows["document_id"].to_pylist())
    wanted = {name for name in judged if (query_id, name) not in own}
    if not wanted:
        return {}
    found = query_consensus(cursor, votes, query_id)
    return {
        one.document_id: NO_GRADE.get(one.how, JUDGED_SINCE) for one in found if one.document_id in wanted
    }


def _kept(cursor: Cursor, run: EvaluatedRun, query_id: str) -> dict[str, int]:
    """Document id → rank, from the first place on."""
    sql = """
        SELECT document_id, rank FROM evaluation_lists
        WHERE evaluation_id = ? AND system = ? AND query_id = ? ORDER BY rank
    """
    return dict(cursor.execute(sql, [*run, query_id]).fetchall())


def _described(text: Mapping[str, str], stems: frozenset[str]) -> tuple[str, bool]:
    """The title of a document, or how it begins, and whether it has one of the words."""
    title = text["title"].strip() or text["body"][:BEGINNING]
    return title, any(marked_spans(text[field], stems) for field in ("title", "body"))


def first_differences(lists: Sequence[Sequence[ListedDocument]], systems: Sequence[str]) -> list[str]:
    """The first documents that two lists do not have at one rank, a sentence each."""
    found: dict[str, tuple[int, str]] = {}
    for place, documents in enumerate(lists):
        system, other = systems[place], systems[1 - place]
        for document in documents:
            title = (
                f"“{document.title}” "
                f"({document.lacking if document.grade is None else f'grade {document.grade}'})"
            )
            sentence = (
                f"{title} is at rank {document.rank} in {system} and at {document.elsewhere} in {other}."
            )
            if document.elsewhere is None:
                why = "; it has none of the query's words" if document.shares_word is False else ""
                sentence = f"Only {system} has {title} in its first {LISTED}, at rank {document.rank}{why}."
            if document.elsewhere != document.rank:
                first = min(document.rank, document.elsewhere or document.rank)
                found.setdefault(document.document_id, (first, sentence))
    return [sentence for _, sentence in sorted(found.values())[:EXPLAINED]]
