"""One of the two releases of a difference, laid out by query, pair and document."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from typing import NamedTuple

from curation.people.seal_access import sealed_parts
from curation.releases.verify import FrozenRelease


class ReleaseSummary(NamedTuple):
    """One of the two; `queries` and `grades` are part of the split → number; `mark` is its mark, if any."""

    name: str
    release_id: str
    format: int
    documents: int
    queries: dict[str, int]
    grades: dict[str, int]
    mark: str | None = None


class ComparedRelease:
    """A release, laid out to be compared.

    closed: queries whose grades one of the two does not have; they are left out of both.
    """

    def __init__(self, release: FrozenRelease, closed: Collection[str] = ()) -> None:
        self.release = release
        self.header = release.header
        self.summary = ReleaseSummary(
            release.row.name,
            release.row.release_id,
            self.header["format"],
            self.header["documents"],
            self.header["queries"],
            self.header["grades"],
            release.mark,
        )
        self.queries = {row["query_id"]: row for row in release.rows("queries")}
        self.qrels = {
            (row["query_id"], row["document_id"]): row
            for row in release.rows("qrels")
            if row["query_id"] not in closed
        }
        self.documents = {row["document_id"]: row["content_hash"] for row in release.rows("documents")}
        self.judged = Counter(document_id for _, document_id in self.qrels)
        self.graded = Counter(query_id for query_id, _ in self.qrels)
        self.how = Counter(row["how"] for row in self.qrels.values())
        self.systems = Counter(
            row["system"] for row in release.rows("candidates") if row["query_id"] not in closed
        )
        self.agreement = (release.rows("agreement") or [{}])[0]
        self.sealed = sealed_parts(self.header)
        self.retired: dict[str, str] = self.header.get("retired", {})
        self.relabeled = {
            (row["query_id"], row["document_id"]): (row["quarter"], row["cause"])
            for row in release.rows("relabeled")
        }

    def part(self, query_id: str) -> str:
        return str(self.queries[query_id]["part"])
