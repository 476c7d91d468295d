"""A release, laid out to be compared."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from curation.releases.seal import sealed_parts
from curation.releases.verify import Opened


class ReleaseSummary(NamedTuple):
    """One of the two; `queries` and `grades` are part of the split → number."""

    name: str
    release_id: str
    format: int
    documents: int
    queries: dict[str, int]
    grades: dict[str, int]


class ComparedRelease:
    """A release, laid out to be compared. What older releases do not have is empty."""

    def __init__(self, release: Opened) -> None:
        self.release = release
        self.header = release.header
        self.summary = ReleaseSummary(
            release.row.name,
            release.row.release_id,
            self.header["format"],
            self.header["documents"],
            self.header["queries"],
            self.header["grades"],
        )
        self.queries = {row["query_id"]: row for row in release.rows("queries")}
        self.qrels = {(row["query_id"], row["document_id"]): row for row in release.rows("qrels")}
        self.documents = {row["document_id"]: row["content_hash"] for row in release.rows("documents")}
        self.judged = Counter(document_id for _, document_id in self.qrels)
        self.graded = Counter(query_id for query_id, _ in self.qrels)
        self.how = Counter(row["how"] for row in self.qrels.values())
        self.systems = Counter(row["system"] for row in release.rows("candidates"))
        self.agreement = (release.rows("agreement") or [{}])[0]
        self.sealed = sealed_parts(self.header)

    def part(self, query_id: str) -> str:
        return str(self.queries[query_id]["part"])
