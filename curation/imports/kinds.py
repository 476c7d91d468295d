"""The kinds of files that a project takes, and the fields that each of them has."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from curation.files import run_files
from curation.sources import corpus, judgments, query_import, reference_answers
from curation.sources.traffic import traffic_import as traffic


class FileField(NamedTuple):
    """A field of a kind of file, which a person finds among the file's columns.

    usual: the names by which the import finds it; `seen` are others that files have.
    rare: few files have it.
    """

    name: str
    label: str
    usual: tuple[str, ...] = ()
    needed: bool = False
    several: bool = False
    seen: tuple[str, ...] = ()
    rare: bool = False

    @property
    def option(self) -> str:
        """What the command line calls it."""
        return f"--{self.name.replace('_', '-')}-field"


class NextPage(NamedTuple):
    """What one does after an import, and on which page."""

    label: str
    page: str
    parameters: Mapping[str, str] = {}


class FileKind(NamedTuple):
    """A kind of file. `about` is for somebody who never saw one; `next` is what one does after."""

    name: str
    title: str
    about: str
    fields: tuple[FileField, ...]
    next: NextPage


_QUERIES_SEEN = ("q", "topic", "topic_id", "search_term", "user_query")
_DOCUMENTS_SEEN = ("docno", "_id", "id", "product_id", "item_id", "doc")

FILE_KINDS = {
    kind.name: kind
    for kind in (
        FileKind(
            "corpus",
            "Corpus",
            "The documents that searches find: products, pages, articles. One line each.",
            (
                FileField("id", "Id", corpus.ID_FIELDS, True, seen=("sku", "product_id", "item_id", "key")),
                FileField("title", "Title", corpus.TITLE_FIELDS, seen=("heading", "product_title")),
                FileField(
                    "body",
                    "Text",
                    corpus.BODY_FIELDS,
                    several=True,
                    seen=("short_description", "long_description", "abstract", "summary", "passage"),
                ),
                FileField("url", "Address", corpus.URL_FIELDS, seen=("link",)),
                FileField("date", "Date", corpus.DATE_FIELDS),
                FileField("group", "Group, such as a product line"),
            ),
            NextPage("Import traffic", "import", {"kind": "traffic"}),
        ),
        FileKind(
            "traffic",
            "Traffic",
            "A log of what people searched for: a query a line, with its time or how often it was asked.",
            (
                FileField("query", "Query", traffic.QUERY_FIELDS, True, seen=("keyword", "keywords", "term")),
                FileField("time", "Time", traffic.TIME_FIELDS, seen=("date", "datetime", "created_at")),
                FileField("count", "Count", traffic.COUNT_FIELDS, seen=("frequency", "searches", "n")),
                FileField("segment", "Segment, such as a shop", traffic.SEGMENT_FIELDS),
                FileField("session", "Session or user", traffic.SESSION_FIELDS),
                FileField("metadata", "Further fields to keep", several=True),
            ),
            NextPage("Draw a sample", "curate", {"step": "Sample"}),
        ),
        FileKind(
            "queries",
            "Queries",
            "Queries that are to be judged, whatever the sample holds.",
            (
                FileField("text", "Text", query_import.TEXT_FIELDS, True, seen=_QUERIES_SEEN),
                FileField("id", "Id", query_import.ID_FIELDS),
                FileField("information_need", "Information need", query_import.NEED_FIELDS, seen=("need",)),
                FileField("answers", "Reference answers", query_import.ANSWERS_FIELDS),
            ),
            NextPage("Build a pool", "curate", {"step": "Pool"}),
        ),
        FileKind(
            "runs",
            "Run",
            "The ranked lists of another search system, which a pool can draw on.",
            (
                FileField("query", "Query", run_files.QUERY_FIELDS, True, seen=_QUERIES_SEEN),
                FileField("document", "Document", run_files.DOCUMENT_FIELDS, True, seen=_DOCUMENTS_SEEN),
                FileField("rank", "Rank", run_files.RANK_FIELDS),
                FileField("score", "Score", run_files.SCORE_FIELDS),
            ),
            NextPage("Build a pool", "curate", {"step": "Pool"}),
        ),
        FileKind(
            "judgments",
            "Judgments",
            "Grades that people gave elsewhere, or that a judge gave who is not a person.",
            (
                FileField("query", "Query", judgments.QUERY_FIELDS, True, seen=_QUERIES_SEEN),
                FileField(
                    "query_text", "Text of a query that may be new", judgments.QUERY_TEXT_FIELDS, rare=True
                ),
                FileField("document", "Document", judgments.DOCUMENT_FIELDS, True, seen=_DOCUMENTS_SEEN),
                FileField("grade", "Grade", judgments.GRADE_FIELDS, seen=("label", "judgment", "rel")),
                FileField(
                    "annotator",
                    "Who judged",
                    judgments.ANNOTATOR_FIELDS,
                    seen=("worker_id", "rater_id", "assessor", "judge", "user"),
                ),
                FileField("note", "Note", judgments.NOTE_FIELDS, rare=True),
                FileField("time", "Time", judgments.TIME_FIELDS, rare=True),
                FileField("cannot_tell", "True where no grade could be given", rare=True),
                FileField("duration", "How long it took", rare=True),
            ),
            NextPage("See the agreement", "agreement"),
        ),
        FileKind(
            "decisions",
            "Reviewer's decisions",
            "Final grades of disputed pairs, which a reviewer decided elsewhere.",
            (
                FileField("query", "Query", ("query", *judgments.QUERY_FIELDS), True, seen=_QUERIES_SEEN),
                FileField(
                    "document",
                    "Document",
                    ("document", *judgments.DOCUMENT_FIELDS),
                    True,
                    seen=_DOCUMENTS_SEEN,
                ),
                FileField(
                    "grade",
                    "Final grade",
                    ("final_rating", "final_grade", *judgments.GRADE_FIELDS),
                    True,
                    seen=("label", "decision"),
                ),
                FileField("reason", "Reason", ("reason",)),
            ),
            NextPage("See what is disputed", "adjudicate"),
        ),
        FileKind(
            "answers",
            "Reference answers",
            "What a system may answer to a query: any of a query's answers is right.",
            (
                FileField("query", "Query", reference_answers.QUERY_FIELDS, True),
                FileField("answer", "Answers", reference_answers.ANSWER_FIELDS, True),
            ),
            NextPage("See the queries", "curate", {"step": "Queries"}),
        ),
    )
}
"""Name → kind, in the order in which a project usually takes them."""
