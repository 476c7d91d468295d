"""The kinds of files that a project takes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from curation.ingest.readers.columns import FileField, file_fields
from curation.ingest.readers.fields import (
    CorpusFields,
    DecisionFields,
    JudgmentFields,
    NuggetFields,
    QueryFields,
    ReferenceFields,
    RunFields,
    TrafficFields,
)


class FileKind(NamedTuple):
    """A kind of file, and the record of its fields. `about` is for somebody who never saw one.

    `next` is what one does after an import: its label, and the page with its parameters.
    """

    name: str
    title: str
    about: str
    record: type
    next: tuple[str, str, Mapping[str, str]]

    @property
    def fields(self) -> tuple[FileField, ...]:
        """What a person finds among the file's columns."""
        return file_fields(self.record)


FILE_KINDS = {
    kind.name: kind
    for kind in (
        FileKind(
            "corpus",
            "Corpus",
            "The documents that searches find: products, pages, articles. One line each.",
            CorpusFields,
            ("Import traffic", "import", {"kind": "traffic"}),
        ),
        FileKind(
            "traffic",
            "Traffic",
            "A log of what people searched for: a query a line, with its time or how often it was asked.",
            TrafficFields,
            ("Draw a sample", "queries", {"part": "Sample"}),
        ),
        FileKind(
            "queries",
            "Queries",
            "Queries that are to be judged, whatever the sample holds.",
            QueryFields,
            ("Build a pool", "pool", {}),
        ),
        FileKind(
            "runs",
            "Run",
            "The ranked lists of another search system, which a pool can draw on.",
            RunFields,
            ("Build a pool", "pool", {}),
        ),
        FileKind(
            "judgments",
            "Judgments",
            "Grades that people gave elsewhere, or that a judge gave who is not a person.",
            JudgmentFields,
            ("See the agreement", "agreement", {}),
        ),
        FileKind(
            "decisions",
            "Reviewer's decisions",
            "Final grades of disputed pairs, which a reviewer decided elsewhere.",
            DecisionFields,
            ("See what is disputed", "adjudicate", {}),
        ),
        FileKind(
            "answers",
            "Reference answers",
            "What a system may answer to a query: any of a query's answers is right.",
            ReferenceFields,
            ("See the queries", "queries", {"part": "All queries"}),
        ),
        FileKind(
            "nuggets",
            "Nuggets",
            "The facts that a good answer to a query has, each vital or okay.",
            NuggetFields,
            ("See the queries", "queries", {"part": "All queries"}),
        ),
    )
}
"""Name → kind, in the order in which a project usually takes them."""
