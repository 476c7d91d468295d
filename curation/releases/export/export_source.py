"""A release as the writers of exports need it. Grades that are not to go out are not in it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import isnan
from typing import Any, NamedTuple

import numpy as np

from curation.core.text import canonical_json
from curation.ingest.importers.queries import PREFIXES
from curation.negatives.hard_negatives import NEAR_DUPLICATE
from curation.releases.card.card import Card
from curation.releases.export.request import ExportOptions
from curation.releases.release_rows import Pin, Table
from curation.releases.search_weights import search_weights
from curation.releases.verify import FrozenRelease
from curation.store import Document, Store


class Judged(NamedTuple):
    """One grade, with its query's text and part.

    Attributes
    ----------
    votes: grade → number of annotators, as JSON.
    confidence: of the rule by which the votes were settled; None where that is the majority.
    evidence: start, end and quote of ranges of the document's body; None where the release has none at all.
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
    def about(self) -> tuple[Any, ...]:
        """The columns of `Gold.about_grades`."""
        return self[5:8] if self.evidence is None else self[5:]


class Question(NamedTuple):
    """A query with its first reference answer, and its relevant documents, best graded first."""

    query_id: str
    text: str
    answer: str | None
    documents: list[Document]


class PinnedDocuments:
    """The documents of a release; walking them reads batch by batch."""

    def __init__(self, store: Store, release: FrozenRelease) -> None:
        self._store, self._release = store, release
        self._pins = [Pin(row["document_id"], row["content_hash"]) for row in release.walk("documents")]

    @property
    def ids(self) -> list[str]:
        """All document ids, ordered."""
        return [pin.document_id for pin in self._pins]

    def __iter__(self) -> Iterator[Document]:
        return self._read(self._pins)

    def of(self, document_ids: Iterable[str]) -> dict[str, Document]:
        """Some of them by id."""
        chosen = set(document_ids)
        pins = [pin for pin in self._pins if pin.document_id in chosen]
        return {document.document_id: document for document in self._read(pins)}

    def _read(self, pins: Sequence[Pin]) -> Iterator[Document]:
        return (document for _, document in self._release.pinned(self._store, pins) if document is not None)


class PartRowsOf:
    """The rows of a release's part that are about some of its queries; each walk reads them one by one."""

    def __init__(self, release: FrozenRelease, part: str, queries: Collection[str]) -> None:
        self._release, self._part, self._queries = release, part, queries

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return (row for row in self._release.walk(self._part) if row["query_id"] in self._queries)


@dataclass(frozen=True)
class ExportSource:
    """A release's rows.

    Attributes
    ----------
    parts: parts of the split whose grades are here.
    queries: of all parts; `qrels`, `candidates` and `marks` (evidence) are those of `parts` alone.
    relevant_grade: least grade of a relevant document.
    scale: grade → name, of the guides that it was judged with, ascending.
    drawn: stratum → queries that the sample drew.
    near_duplicate: least similarity (Jaccard of word shingles) of documents that count as the same.
    release: with what was asked for not to go out, too: for `formats.full`, which leaves that out itself.
    """

    name: str
    release_id: str
    parts: tuple[str, ...]
    queries: Table
    qrels: PartRowsOf
    candidates: PartRowsOf
    marks: PartRowsOf
    documents: PinnedDocuments
    relevant_grade: int
    scale: Mapping[int, str]
    drawn: Mapping[str, int]
    near_duplicate: float
    card: Card
    options: ExportOptions
    release: FrozenRelease

    @cached_property
    def part_of(self) -> dict[str, str]:
        """Query id → part of the split."""
        return {query["query_id"]: query["part"] for query in self.queries}

    def judged(self, part: str | None = None) -> Iterator[Judged]:
        """The grades, of one part or of all, by query and document id."""
        texts = {query["query_id"]: query["text"] for query in self.queries}
        for row in self.qrels:
            query_id = row["query_id"]
            if part in (None, self.part_of[query_id]):
                pair = query_id, texts[query_id], row["document_id"], row["grade"], self.part_of[query_id]
                said = row["how"], canonical_json(row["votes"]), row.get("confidence")
                marks = self._evidence.get((query_id, row["document_id"]), []) if self._evidence else None
                yield Judged(*pair, *said, marks)

    @cached_property
    def _evidence(self) -> dict[tuple[str, str], list[dict[str, Any]]]:
        found: defaultdict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
        for row in self.marks:
            pair = row["query_id"], row["document_id"]
            found[pair].append({name: row[name] for name in ("start", "end", "quote")})
        return dict(found)

    @property
    def about_grades(self) -> tuple[str, ...]:
        """What formats with columns have of a grade, as `Judged.about`: its evidence where there is any."""
        return ("how", "votes", "confidence", *(["evidence"] if self._evidence else []))

    @cached_property
    def about(self) -> dict[str, dict[str, Any]]:
        """Query id → its row, with `traffic_weight`: how many searches it represents where the queries of its
        part are evaluated; None where it was not drawn."""
        found = {}
        for part in set(self.part_of.values()):
            rows = [query for query in self.queries if query["part"] == part]
            traffic, chance = (
                np.array([row[name] for row in rows], np.float64)
                for name in ("traffic", "inclusion_probability")
            )
            weights = search_weights([row["stratum"] for row in rows], traffic, chance, self.drawn)
            for row, weight in zip(rows, weights.tolist(), strict=True):
                found[row["query_id"]] = row | {"traffic_weight": None if isnan(weight) else weight}
        return found

    @property
    def above_lowest(self) -> int:
        """The second grade of the scale, from which on evaluation takes documents for relevant."""
        return list(self.scale)[1]

    @cached_property
    def with_relevant(self) -> dict[str, int]:
        """Part → its queries with a relevant document, as evaluation takes them."""
        found = {row.query_id: row.part for row in self.judged() if row.grade >= self.above_lowest}
        return {part: sum(one == part for one in found.values()) for part in self.parts}

    def questions(self, part: str) -> Iterator[Question]:
        """The queries of a part, as benchmarks of answers take them. A grade of another version of a document
        makes none relevant: the text is not the one that was judged."""
        answers = {row["query_id"]: row["answers"][0] for row in self.release.walk("answers")}
        relevant: dict[str, list[tuple[int, str]]] = defaultdict(list)
        for row in self.qrels:
            query_id, grade = row["query_id"], row["grade"]
            if self.part_of[query_id] == part and grade >= self.relevant_grade and "version" not in row:
                relevant[query_id].append((-grade, row["document_id"]))
        documents = self.documents.of(name for found in relevant.values() for _, name in found)
        for query in self.queries:
            if query["part"] == part:
                name = query["query_id"]
                best = [documents[document_id] for _, document_id in sorted(relevant[name])]
                yield Question(name, query["text"], answers.get(name), best)

    def unjudged(self) -> list[tuple[str, str]]:
        """(query id, document id) of candidates without a grade, ordered: never judged, or no grade came
        of it (open dispute, nobody could tell, another version of the document)."""
        pairs = {(row["query_id"], row["document_id"]) for row in self.candidates}
        graded = {(row["query_id"], row["document_id"]) for row in self.qrels}
        known = set(self.documents.ids)
        return sorted(pair for pair in pairs - graded if pair[1] in known)

    @cached_property
    def prefixes(self) -> tuple[str, str]:
        """What queries' and documents' ids get in front, so that none is both; nothing where none is.

        BEIR's evaluator, and MTEB's where it is set to, drop a document whose id equals the query's.
        """
        shared = not {query["query_id"] for query in self.queries}.isdisjoint(self.documents.ids)
        return PREFIXES if shared else ("", "")


def gold_of(
    store: Store, release: FrozenRelease, parts: Sequence[str], options: ExportOptions
) -> ExportSource:
    """The release with the grades of these parts and no others."""
    queries = release.rows("queries")
    inside = {query["query_id"] for query in queries if query["part"] in parts}
    split = release.rows("split")[0]["parameters"]
    scale = {grade["value"]: grade["name"] for guide in release.walk("guides") for grade in guide["scale"]}
    strata = [stratum for sample in release.walk("sampling") for stratum in sample["report"]]

    return ExportSource(
        name=release.row.name,
        release_id=release.row.release_id,
        parts=tuple(parts),
        queries=queries,
        qrels=PartRowsOf(release, "qrels", inside),
        candidates=PartRowsOf(release, "candidates", inside),
        marks=PartRowsOf(release, "evidence", inside),
        documents=PinnedDocuments(store, release),
        relevant_grade=split["relevant_grade"],
        scale=dict(sorted(scale.items())),
        drawn={stratum["name"]: stratum["drawn"] for stratum in strata},
        near_duplicate=_threshold(split),
        card=Card(release, options.licence),
        options=options,
        release=release,
    )


def _threshold(split: Mapping[str, Any]) -> float:
    """The split's own notion of a near-duplicate document, where it has one."""
    given = split.get("document_threshold")
    return float(given) if isinstance(given, int | float) else NEAR_DUPLICATE
