"""The fields of each kind of file: what people call them, and the columns in which files usually have them.

A record here is one kind of file. Its values are columns of one file: None is the usual column, if the file
has it, and '' is none. From the record come what an import reads (`Records.resolve`), the options of its
command, and what the app asks for a file.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from curation.ingest.readers.columns import FileColumns, FileField, column

QUESTIONS = ("question", "user_input", "input", "input_question")
_GRADES = ("grade", "rating", "relevance", "score")
GOLD = (
    *("answers", "reference_answers", "reference_answer", "gold_answer", "ground_truth", "ground_truths"),
    *("reference", "expected_output", "expected_answer", "references", "correct_answer", "correct_answers"),
    *("gold_answers", "expected_answers", "ideal_answer", "target_answer", "target", "targets"),
    *("ideal", "gold", "expected"),
)
SYSTEM_ANSWERS = ("answer", "response", "output_answer")
"""Next to one of `GOLD` they are what a system said. Else they are taken, but next to its contexts."""


_QUERY = FileField(
    "Query",
    "the query. query_id holds ids, query_text texts, query either",
    ("query_id", "query-id", "q_id", "qid", "query", "query_text", "question", "user_query"),
    "the queries",
    seen=("q", "topic", "topic_id", "search_term"),
    ids=True,
)
_DOCUMENT = FileField(
    "Document",
    "the document's id",
    ("document_id", "doc_id", "document", "docno", "docid", "corpus-id", "document.id"),
    "the documents' ids",
    seen=("_id", "id", "product_id", "item_id", "doc"),
    ids=True,
)
_ANSWERED = FileField(
    "Query",
    "the query, by id or text",
    ("query_id", "_id", "id", "qid", "query", "query_text", *QUESTIONS),
    "the queries",
    ids=True,
)


@dataclass(frozen=True)
class CorpusFields(FileColumns):
    """Columns of documents; several of `body` are joined by line ends. All others are metadata.

    Attributes
    ----------
    titles_only: whether no column may be the text; documents are judged by their title alone then.
    inside: the path of the object whose values are the document's; '' where they are those of the record.
    """

    id: str | None = column(
        "Id",
        "the document's id",
        ("_id", "id", "doc_id", "docno", "docid", "document_id"),
        "the documents' ids",
        seen=("sku", "product_id", "item_id", "key"),
        lacking=". Without one, take a column that is unique and stays in later exports, such as the "
        "address, or add a column with a number for each document",
        ids=True,
    )
    title: str | None = column(
        "Title", "its title", ("title", "name", "headline"), seen=("heading", "product_title")
    )
    body: tuple[str, ...] = column(
        "Text",
        "its text. Repeatable",
        (
            *("text", "body", "content", "contents", "description", "body_html", "body_text", "html"),
            *("markdown", "body_markdown", "abstract", "full_text", "article", "passage"),
        ),
        several=True,
        leads=True,
        seen=("short_description", "long_description", "summary"),
    )
    url: str | None = column("Address", "its address", ("url",), seen=("link",))
    date: str | None = column("Date", "its date", ("date", "published"))
    group: str | None = column("Group, such as a product line", "its group, such as a product line")
    valid_from: str | None = column("Valid from", "its first day, for filters", ("valid_from",), rare=True)
    valid_to: str | None = column("Valid to", "its last day, for filters", ("valid_to",), rare=True)
    titles_only: bool = False
    inside: str = field(default="", compare=False)


@dataclass(frozen=True)
class TrafficFields(FileColumns):
    """Columns of a log; user_query, timestamp, client_id and application are those of UBI.

    Attributes
    ----------
    metadata: further columns that are kept.
    date_order: 'mdy' or 'dmy', where dates are numeric, such as 03/04/2026; None refuses to guess.
    """

    reads_nothing_else = True

    query: str | None = column(
        "Query",
        "the query",
        ("user_query", "query", "search_term", "q", "text", "question"),
        "the queries",
        seen=("keyword", "keywords", "term"),
    )
    time: str | None = column(
        "Time",
        "the time",
        ("time", "timestamp", "last_searched", "last_searched_at"),
        seen=("date", "datetime", "created_at"),
    )
    segment: str | None = column(
        "Segment, such as a shop", "the segment, such as a shop or language", ("segment", "application")
    )
    session: str | None = column(
        "Session or user", "the session or user", ("session", "session_id", "client_id", "user", "user_id")
    )
    count: str | None = column(
        "Count", "how often the query was asked", ("count", "searches", "frequency"), seen=("n",)
    )
    metadata: tuple[str, ...] = column(
        "Further fields to keep", "more to keep, for strata of a sample. Repeatable", several=True
    )
    date_order: str | None = None


@dataclass(frozen=True)
class QueryFields(FileColumns):
    """Columns of queries to be judged. Without an id the query gets the one of its text.

    Attributes
    ----------
    inside: the path of the object whose values are the query's; '' where they are those of the record.
    """

    id: str | None = column(
        "Id",
        "the query's id; without one, ids are generated",
        ("_id", "id", "query_id", "qid", "query-id"),
        ids=True,
    )
    text: str | None = column(
        "Text",
        "its text",
        ("text", "query", "query_text", "user_query", *QUESTIONS),
        "the query's text",
        seen=_QUERY.seen,
    )
    information_need: str | None = column(
        "Information need", "the information need", ("information_need", "narrative"), seen=("need",)
    )
    reference: str | None = column(
        "Reference answers",
        "reference answers, one or a list",
        ("answers", "reference_answers", "reference_answer"),
    )
    filter: str | None = column(
        "Filter",
        "the query's filter. It is a JSON object of fields of documents, and at for a date",
        ("filter",),
        rare=True,
        objects=True,
    )
    tag: tuple[str, ...] = column(
        "Fields whose values are tags",
        "a category. Each of its values becomes a tag of the query. Repeatable",
        several=True,
        rare=True,
    )
    inside: str = field(default="", compare=False)


@dataclass(frozen=True)
class RunFields(FileColumns):
    """Columns of ranked lists; a table has ranks, scores or both."""

    reads_nothing_else = True

    query: str | None = column(*_QUERY)
    document: str | None = column(*_DOCUMENT)
    rank: str | None = column("Rank", "the rank, from 1 or 0", ("rank", "position"))
    score: str | None = column(
        "Score",
        "the score. It orders a list without ranks, or with gaps in them",
        ("score", "engine_score", "similarity"),
    )


@dataclass(frozen=True)
class ChunkFields(RunFields):
    """The same of ranked lists whose places may be chunks of documents; `content_hash` is of its version."""

    start: str | None = column(
        "Start of the chunk",
        "where a chunk starts, in characters of the document's text from 0",
        ("start", "start_index", "start_char", "chunk_start"),
    )
    end: str | None = column(
        "End of the chunk",
        "the character after the chunk's last",
        ("end", "end_index", "end_char", "chunk_end"),
    )
    text: str | None = column(
        "Text of the chunk",
        "the text of a chunk, which is looked for in its document",
        ("chunk_text", "chunk", "passage"),
        seen=("text", "page_content", "content"),
    )
    content_hash: str | None = column(
        "Version", "the content hash of the document's version", ("content_hash",)
    )

    @property
    def of_chunks(self) -> dict[str, str]:
        """The fields of chunks that the file has → their columns; places by offsets spare the text."""
        names = ["start", "end"] if self.start and self.end else ["text"] * bool(self.text)
        columns = {name: getattr(self, name) for name in [*names, "content_hash"]}
        return {name: column for name, column in columns.items() if column and names}


@dataclass(frozen=True)
class JudgmentFields(FileColumns):
    """Columns of judgments, and how the file says who judged.

    Attributes
    ----------
    query_text: a second column with the query's text, where `query` holds ids.
    pair: one column instead of `query` and `document`.
    annotator_columns: the wide form: column → annotator. It has no annotator or grade column then.
    annotator_map: name in the file → the annotator that it means; itself where it is another person than one
        whose name looks the same.
    annotator_name: who gave all grades, where the file does not say. grade_given: the grade of all of them.
    date_order: 'mdy' or 'dmy', where dates are numeric, such as 03/04/2026.
    duration_unit: of `duration`, 's' or 'ms'; None is what the column's name ends in.
    """

    query: str | None = column(*_QUERY)
    document: str | None = column(*_DOCUMENT)
    query_text: str | None = column(
        "Text of a query that may be new",
        "the text of a query whose id may be new",
        ("query_text", "query", "user_query", "question"),
        rare=True,
    )
    grade: str | None = column(
        "Grade",
        "the grade, where a line has one grade",
        (*_GRADES, "label", "is_correct_document"),
        "the grades",
        seen=("judgment", "rel"),
    )
    annotator: str | None = column(
        "Who judged",
        "who judged, where a line has one grade",
        ("annotator", "rater", "worker"),
        seen=("worker_id", "rater_id", "assessor", "judge", "user"),
        ids=True,
    )
    pair: str | None = column(
        "Query and document in one", "query and document in one, as query::document", rare=True
    )
    note: str | None = column("Note", "a note", ("note",), rare=True)
    time: str | None = column("Time", "the time of the judgment", ("submitted_at",), rare=True)
    cannot_tell: str | None = column(
        "True where no grade could be given", "that is true where no grade could be given", rare=True
    )
    duration: str | None = column("How long it took", "how long the judgment took", rare=True)
    evidence: str | None = column(
        "Evidence",
        "the evidence of a grade. It is a JSON list of start, end and quote, or of quotes",
        ("evidence",),
        rare=True,
        objects=True,
    )
    annotator_columns: Mapping[str, str] = field(default_factory=dict)
    annotator_map: Mapping[str, str] = field(default_factory=dict)
    annotator_name: str | None = None
    grade_given: int | None = None
    date_order: str | None = None
    duration_unit: str | None = None

    @property
    def _read(self) -> set[str]:
        return super()._read | set(self.annotator_columns)


@dataclass(frozen=True)
class DecisionFields(FileColumns):
    """Columns of a reviewer's final grades."""

    query: str | None = column(*_QUERY)
    document: str | None = column(*_DOCUMENT)
    grade: str | None = column(
        "Final grade",
        "the final grade",
        ("final_rating", "final_grade", *_GRADES),
        "the final grades",
        seen=("label", "decision"),
    )
    reason: str | None = column("Reason", "the reason", ("reason",))


@dataclass(frozen=True)
class ReferenceFields(FileColumns):
    """Columns of reference answers."""

    query: str | None = column(*_ANSWERED)
    reference: str | None = column(
        "Reference answers", "reference answers: one, or a list", (*GOLD, *SYSTEM_ANSWERS), "the answers"
    )


@dataclass(frozen=True)
class NuggetFields(FileColumns):
    """Columns of nuggets: a row for each, or for each query with a list of objects."""

    query: str | None = column(*_ANSWERED)
    nugget: str | None = column(
        "Nuggets",
        "a nugget, or a list of objects with text",
        ("nuggets", "nugget", "nugget_text", "text"),
        "the nuggets",
    )
    importance: str | None = column("Importance", "vital or okay, of a row's nugget", ("importance", "label"))
