"""The rows of a release for the export formats, without grades of parts that were not requested."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from math import isnan
from typing import Any, NamedTuple

import numpy as np

from curation.core.digests import canonical_json
from curation.ingest.importers.known_queries import PREFIXES
from curation.negatives.requests import NEAR_DUPLICATE
from curation.releases.frozen_release import FrozenRelease
from curation.releases.part_rows import Rows, get_pair
from curation.releases.requests import ExportRequest
from curation.releases.search_weights import compute_search_weights
from curation.store import Document, Store


class ExportedGrade(NamedTuple):
    """A pair's grade, with its query's text and the part of the split.

    Attributes
    ----------
    votes: grade → number of annotators, as JSON.
    confidence: the confidence of the grade by the rule of consensus; None if the rule is the majority.
    evidence: start, end and quote of ranges of the document's body; None if the release has no evidence.
    """

    query_id: str
    text: str
    document_id: str
    grade: int
    part: str
    how: str
    votes: str
    confidence: float | None
    evidence: list[dict[str, Any]] | None

    @property
    def extras(self) -> tuple[Any, ...]:
        """Return the values of the columns that `ExportSource.extra_columns` names."""
        values = (self.how, self.votes, self.confidence)
        return values if self.evidence is None else (*values, self.evidence)


@dataclass(frozen=True)
class ExportSource:
    """The rows of a release for an export, without grades of parts that were not requested.

    Attributes
    ----------
    release: the whole release, for `export.full`, which leaves out sealed rows by itself.
    parts: parts of the split whose grades are written.
    """

    store: Store
    release: FrozenRelease
    parts: tuple[str, ...]
    request: ExportRequest

    @cached_property
    def queries(self) -> Rows:
        """Return the queries of all parts of the split."""
        return self.release.rows("queries")

    def rows(self, part: str) -> Iterator[dict[str, Any]]:
        """Yield the rows of a part of the release, for queries whose grades are exported."""
        return (row for row in self.release.walk(part) if row["query_id"] in self._open_queries)

    def documents(self, ids: Collection[str] | None = None) -> Iterator[Document]:
        """Yield the documents of the release, all or some by id, batch by batch."""
        documents = self.release.documents(self.store, ids)
        return (document for _, document in documents if document is not None)

    def read_documents(self, ids: Iterable[str]) -> dict[str, Document]:
        """Read some documents of the release by id."""
        return {document.document_id: document for document in self.documents(set(ids))}

    @cached_property
    def _open_queries(self) -> set[str]:
        return {query["query_id"] for query in self.queries if query["part"] in self.parts}

    @cached_property
    def _split(self) -> dict[str, Any]:
        return dict(self.release.rows("split")[0]["parameters"])

    @property
    def relevant_grade(self) -> int:
        """Return the lowest grade at which the release counts a document as relevant."""
        return int(self._split["relevant_grade"])

    @property
    def near_duplicate(self) -> float:
        """Return the similarity at which the split treats two documents as near-duplicates."""
        threshold = self._split.get("document_threshold")
        return float(threshold) if isinstance(threshold, int | float) else NEAR_DUPLICATE

    @cached_property
    def scale(self) -> dict[int, str]:
        """Return the names of the grades in the labeling guides of the release, from the lowest grade on."""
        grades = (grade for guide in self.release.walk("guides") for grade in guide["scale"])
        return dict(sorted({grade["value"]: grade["name"] for grade in grades}.items()))

    @cached_property
    def drawn_by_stratum(self) -> dict[str, int]:
        """Return how many sampled queries each stratum has; empty without a sample."""
        strata = (stratum for sample in self.release.walk("sampling") for stratum in sample["report"])
        return {stratum["name"]: stratum["drawn"] for stratum in strata}

    @cached_property
    def query_parts(self) -> dict[str, str]:
        """Return the part of the split of each query."""
        return {query["query_id"]: query["part"] for query in self.queries}

    def iterate_grades(self, part: str | None = None) -> Iterator[ExportedGrade]:
        """Yield the grades of one part or of all parts, ordered by query id and document id."""
        texts = {query["query_id"]: query["text"] for query in self.queries}
        for row in self.rows("qrels"):
            query_id, document_id = get_pair(row)
            query_part = self.query_parts[query_id]
            if part in (None, query_part):
                pair = query_id, texts[query_id], document_id, row["grade"], query_part
                details = row["how"], canonical_json(row["votes"]), row.get("confidence")
                marks = self._evidence.get((query_id, document_id), []) if self._evidence else None
                yield ExportedGrade(*pair, *details, marks)

    @cached_property
    def _evidence(self) -> dict[tuple[str, str], list[dict[str, Any]]]:
        ranges: defaultdict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
        for row in self.rows("evidence"):
            ranges[get_pair(row)].append({name: row[name] for name in ("start", "end", "quote")})
        return dict(ranges)

    @property
    def extra_columns(self) -> tuple[str, ...]:
        """Return the column names of `ExportedGrade.extras`, with evidence if the release has any."""
        return ("how", "votes", "confidence", *(["evidence"] if self._evidence else []))

    @cached_property
    def query_rows(self) -> dict[str, dict[str, Any]]:
        """Return the row of each query, with its `traffic_weight`, which is None for a query that was not
        sampled.

        The weight is the number of searches that the query represents in an evaluation on its part.
        """
        query_rows = {}
        for part in set(self.query_parts.values()):
            rows = [query for query in self.queries if query["part"] == part]
            traffic = np.array([row["traffic"] for row in rows], np.float64)
            probability = np.array([row["inclusion_probability"] for row in rows], np.float64)
            strata = [row["stratum"] for row in rows]
            weights = compute_search_weights(strata, traffic, probability, self.drawn_by_stratum)
            for row, weight in zip(rows, weights.tolist(), strict=True):
                query_rows[row["query_id"]] = row | {"traffic_weight": None if isnan(weight) else weight}
        return query_rows

    @property
    def min_relevant(self) -> int:
        """Return the scale's second-lowest grade; an evaluation counts documents with at least this grade as
        relevant."""
        return list(self.scale)[1]

    @cached_property
    def relevant_query_counts(self) -> dict[str, int]:
        """Count the queries with a relevant document in each part of the split."""
        split_of = {row.query_id: row.part for row in self.iterate_grades() if row.grade >= self.min_relevant}
        return {part: sum(split == part for split in split_of.values()) for part in self.parts}

    def iterate_questions(self, part: str) -> Iterator[tuple[dict[str, Any], str | None, list[Document]]]:
        """Yield the queries of a part, each with its first reference answer and its relevant documents.

        The documents with the highest grades come first. A grade of another version of a document does not
        count here, because people judged a different text.
        """
        answers = {row["query_id"]: row["answers"][0] for row in self.release.walk("answers")}
        relevant: dict[str, list[tuple[int, str]]] = defaultdict(list)
        for row in self.rows("qrels"):
            query_id, grade = row["query_id"], row["grade"]
            if self.query_parts[query_id] == part and grade >= self.relevant_grade and "version" not in row:
                relevant[query_id].append((-grade, row["document_id"]))
        documents = self.read_documents(name for ranking in relevant.values() for _, name in ranking)
        for query in self.queries:
            if query["part"] == part:
                query_id = query["query_id"]
                best_first = [documents[document_id] for _, document_id in sorted(relevant[query_id])]
                yield query, answers.get(query_id), best_first

    def list_unjudged(self) -> list[tuple[str, str]]:
        """List the candidates without a grade as (query id, document id), in order.

        A candidate without a grade was never judged, or is disputed, or nobody could tell its relevance, or
        people judged another version of the document.
        """
        pairs = set(map(get_pair, self.rows("candidates"))).difference(map(get_pair, self.rows("qrels")))
        return sorted(pair for pair in pairs if pair[1] in self.release.versions)

    @cached_property
    def prefixes(self) -> tuple[str, str]:
        """Return the prefixes that keep query ids and document ids apart; both are empty if no query and
        document have the same id.

        Prefixes are needed because BEIR's evaluator drops a document that has the same id as the query.
        MTEB's evaluator has an option that does the same.
        """
        has_shared_ids = not {query["query_id"] for query in self.queries}.isdisjoint(self.release.versions)
        return PREFIXES if has_shared_ids else ("", "")
