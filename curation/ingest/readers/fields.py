"""The fields of each kind of imported file, with their columns' usual names.

Each class of columns in this module stands for one kind of file. The values of an object of the class are
names of columns in one file: None stands for the usual column, if the file has this column, and '' means that
the file has no column for the field. Imports (`Records.resolve`), the options of commands and the forms of
the app are made from these classes. `column_search` finds the column of a field in a file.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar, NamedTuple

QUESTIONS = ("question", "user_input", "input", "input_question")
_GRADES = ("grade", "rating", "relevance", "score")
GOLD = (
    *("answers", "reference_answers", "reference_answer", "gold_answer", "ground_truth", "ground_truths"),
    *("reference", "expected_output", "expected_answer", "references", "correct_answer", "correct_answers"),
    *("gold_answers", "expected_answers", "ideal_answer", "target_answer", "target", "targets"),
    *("ideal", "gold", "expected"),
)
SYSTEM_ANSWERS = ("answer", "response", "output_answer")
"""Columns that hold a system's answers if the file has contexts or a column of `GOLD`, else references."""


class FileField(NamedTuple):
    """A field of one kind of file, read from a column.

    Attributes
    ----------
    label: name of the field for people.
    usual_names: usual names of the field's column; the first name that a file has is used.
    required_noun: noun for a required field, such as "the documents' ids"; '' for an optional field.
    several: whether the field takes several columns.
    proposed: further names of columns, which only a preview proposes.
    rare: whether few files have the field.
    name: attribute of the class of columns.
    advice: advice for a file without a column for the field.
    objects: whether cells may be objects.
    ids: whether cells are ids (`values.to_id`).
    leads: whether the object with this field also has the other fields; by default, this is the first
        required field.
    """

    label: str
    usual_names: tuple[str, ...] = ()
    required_noun: str = ""
    several: bool = False
    proposed: tuple[str, ...] = ()
    rare: bool = False
    name: str = ""
    advice: str = ""
    objects: bool = False
    ids: bool = False
    leads: bool = False

    @property
    def option(self) -> str:
        """Return the command-line option that chooses the field's column."""
        return f"--map {self.name}"


def file_column(*about: Any, **more: Any) -> Any:
    """Return a class attribute for a column; the arguments are the same as for `FileField`."""
    file_field = FileField(*about, **more)
    return field(default=() if file_field.several else None, metadata={"column": file_field})


def file_fields(record: Any) -> tuple[FileField, ...]:
    """Return the fields of a kind of file in order, leaving out attributes that do not stand for columns."""
    parts = [part for part in fields(record) if "column" in part.metadata]
    return tuple(part.metadata["column"]._replace(name=part.name) for part in parts)


@dataclass(frozen=True)
class FileColumns:
    """Base class for the columns chosen for the fields of one kind of file; `columns` are all columns of the
    file."""

    columns: tuple[str, ...] = field(default=(), kw_only=True, compare=False)
    reads_nothing_else: ClassVar[bool] = False
    """Flag: an import ignores the columns of a file that no field uses."""

    @property
    def used(self) -> dict[str, str]:
        """Return the column that was read for each field; several columns are separated by commas."""
        texts = {name: ", ".join(filter(None, columns)) for name, columns in self._chosen_columns.items()}
        return {name: text for name, text in texts.items() if text}

    def choose_first_columns(self, except_fields: Collection[str]) -> dict[str, str | None]:
        """Return the column chosen for each field, the first one if there are several, or ''."""
        first_columns = {name: next(iter(columns), None) for name, columns in self._chosen_columns.items()}
        return {name: "" if name in except_fields else column for name, column in first_columns.items()}

    @property
    def unused(self) -> list[str]:
        """Return the columns of the file that were not read."""
        return [column for column in self.columns if column not in self._read_columns]

    @property
    def _chosen_columns(self) -> dict[str, Sequence[str | None]]:
        """Return the columns chosen for each field, or (None,) for a field without a chosen column."""
        choices = {field.name: getattr(self, field.name) for field in file_fields(type(self))}
        return {
            name: value if isinstance(value, tuple | list) else (value,) for name, value in choices.items()
        }

    @property
    def _read_columns(self) -> set[str | None]:
        return {column for columns in self._chosen_columns.values() for column in columns}


_QUERY = FileField(
    "Query",
    ("query_id", "query-id", "q_id", "qid", "query", "query_text", "question", "user_query"),
    "the queries",
    proposed=("q", "topic", "topic_id", "search_term"),
    ids=True,
)
_DOCUMENT = FileField(
    "Document",
    ("document_id", "doc_id", "document", "docno", "docid", "corpus-id", "document.id"),
    "the documents' ids",
    proposed=("_id", "id", "product_id", "item_id", "doc"),
    ids=True,
)
_ANSWERED_QUERY = FileField(
    "Query", ("query_id", "_id", "id", "qid", "query", "query_text", *QUESTIONS), "the queries", ids=True
)


@dataclass(frozen=True)
class CorpusFields(FileColumns):
    """Columns of a file of documents; several columns for `body` are joined, and other columns are metadata.

    Attributes
    ----------
    titles_only: whether to accept documents without a text, which annotators judge by the title.
    inside: path of the object with the document's values; '' if the record itself has the values.
    """

    id: str | None = file_column(
        "Id",
        ("_id", "id", "doc_id", "docno", "docid", "document_id"),
        "the documents' ids",
        proposed=("sku", "product_id", "item_id", "key"),
        advice=". Without ids, choose a column that is unique and stays the same in later exports, "
        "such as the address, or add a column that numbers the documents",
        ids=True,
    )
    title: str | None = file_column(
        "Title", ("title", "name", "headline"), proposed=("heading", "product_title")
    )
    body: tuple[str, ...] = file_column(
        "Text",
        (
            *("text", "body", "content", "contents", "description", "body_html", "body_text", "html"),
            *("markdown", "body_markdown", "abstract", "full_text", "article", "passage"),
        ),
        several=True,
        leads=True,
        proposed=("short_description", "long_description", "summary"),
    )
    url: str | None = file_column("Address", ("url",), proposed=("link",))
    date: str | None = file_column("Date", ("date", "published"))
    group: str | None = file_column("Group, such as a product line")
    valid_from: str | None = file_column("Valid from", ("valid_from",), rare=True)
    valid_to: str | None = file_column("Valid to", ("valid_to",), rare=True)
    titles_only: bool = False
    inside: str = field(default="", compare=False)


@dataclass(frozen=True)
class TrafficFields(FileColumns):
    """Columns of a query log, which UBI calls user_query, timestamp, client_id and application.

    Attributes
    ----------
    metadata: further columns to store.
    date_order: 'mdy' or 'dmy' for numeric dates such as 03/04/2026; with None, numeric dates are unreadable.
    """

    reads_nothing_else = True

    query: str | None = file_column(
        "Query",
        ("user_query", "query", "search_term", "search", "q", "text", "question"),
        "the queries",
        proposed=("keyword", "keywords", "term"),
    )
    time: str | None = file_column(
        "Time",
        ("time", "timestamp", "last_searched", "last_searched_at", "event_timestamp"),
        proposed=("date", "datetime", "created_at"),
    )
    segment: str | None = file_column("Segment, such as a shop", ("segment", "application"))
    session: str | None = file_column(
        "Session or user",
        ("session", "session_id", "client_id", "user", "user_id", "user_token", "user_pseudo_id"),
    )
    count: str | None = file_column(
        "Count", ("count", "searches", "frequency", "event_count"), proposed=("n",)
    )
    metadata: tuple[str, ...] = file_column("Further fields to keep", several=True)
    date_order: str | None = None


@dataclass(frozen=True)
class QueryFields(FileColumns):
    """Columns of a file of queries to be judged. A query without an id gets an id made from its text.

    Attributes
    ----------
    inside: path of the object with the query's values; '' if the record itself has the values.
    """

    id: str | None = file_column("Id", ("_id", "id", "query_id", "qid", "query-id"), ids=True)
    text: str | None = file_column(
        "Text",
        ("text", "query", "query_text", "user_query", *QUESTIONS),
        "the query's text",
        proposed=_QUERY.proposed,
    )
    information_need: str | None = file_column(
        "Information need", ("information_need", "narrative"), proposed=("need",)
    )
    reference: str | None = file_column(
        "Reference answers", ("answers", "reference_answers", "reference_answer")
    )
    filter: str | None = file_column("Filter", ("filter",), rare=True, objects=True)
    tag: tuple[str, ...] = file_column("Fields whose values are tags", several=True, rare=True)
    inside: str = field(default="", compare=False)


@dataclass(frozen=True)
class RunFields(FileColumns):
    """Columns of a run, which has ranked lists of documents with ranks, scores or both."""

    reads_nothing_else = True

    query: str | None = file_column(*_QUERY)
    document: str | None = file_column(*_DOCUMENT)
    rank: str | None = file_column("Rank", ("rank", "position"))
    score: str | None = file_column("Score", ("score", "engine_score", "similarity"))


@dataclass(frozen=True)
class ChunkFields(RunFields):
    """Columns of a run whose items may be chunks; `content_hash` is the document's version."""

    start: str | None = file_column(
        "Start of the chunk", ("start", "start_index", "start_char", "chunk_start")
    )
    end: str | None = file_column("End of the chunk", ("end", "end_index", "end_char", "chunk_end"))
    text: str | None = file_column(
        "Text of the chunk", ("chunk_text", "chunk", "passage"), proposed=("text", "page_content", "content")
    )
    content_hash: str | None = file_column("Version", ("content_hash",))

    @property
    def of_chunks(self) -> dict[str, str]:
        """Return the column for each chunk field; if there are offsets, chunk texts are not read."""
        names = ["start", "end"] if self.start and self.end else ["text"] * bool(self.text)
        columns = {name: getattr(self, name) for name in [*names, "content_hash"]}
        return {name: column for name, column in columns.items() if column and names}


@dataclass(frozen=True)
class JudgmentFields(FileColumns):
    """Columns of a file of judgments, and the way in which the file names annotators.

    Attributes
    ----------
    query_text: second column, with the query's text, if the column `query` has ids.
    annotator_columns: annotator of each column of grades, for the wide form without annotator and grade
        columns.
    annotator_map: annotator for each name in the file. A name that maps to itself stands for a new person,
        whose name only looks like a known name.
    annotator_name: annotator of all grades, for files without annotators. grade_given: grade of all
        judgments, for files without grades.
    date_order: 'mdy' or 'dmy', for numeric dates such as 03/04/2026.
    """

    query: str | None = file_column(*_QUERY)
    document: str | None = file_column(*_DOCUMENT)
    query_text: str | None = file_column(
        "Text of the query, which may be new", ("query_text", "query", "user_query", "question"), rare=True
    )
    grade: str | None = file_column(
        "Grade", (*_GRADES, "label", "is_correct_document"), "the grades", proposed=("judgment", "rel")
    )
    annotator: str | None = file_column(
        "Who judged",
        ("annotator", "rater", "worker"),
        proposed=("worker_id", "rater_id", "assessor", "judge", "user"),
        ids=True,
    )
    note: str | None = file_column("Note", ("note",), rare=True)
    time: str | None = file_column("Time", ("submitted_at",), rare=True)
    cannot_tell: str | None = file_column("True if the annotator cannot tell the grade", rare=True)
    evidence: str | None = file_column("Evidence", ("evidence",), rare=True, objects=True)
    annotator_columns: Mapping[str, str] = field(default_factory=dict)
    annotator_map: Mapping[str, str] = field(default_factory=dict)
    annotator_name: str | None = None
    grade_given: int | None = None
    date_order: str | None = None

    @property
    def _read_columns(self) -> set[str | None]:
        return super()._read_columns | set(self.annotator_columns)


@dataclass(frozen=True)
class DecisionFields(FileColumns):
    """Columns of a file of a reviewer's decisions, which are final grades."""

    query: str | None = file_column(*_QUERY)
    document: str | None = file_column(*_DOCUMENT)
    grade: str | None = file_column(
        "Final grade",
        ("final_rating", "final_grade", *_GRADES),
        "the final grades",
        proposed=("label", "decision"),
    )
    reason: str | None = file_column("Reason", ("reason",))


@dataclass(frozen=True)
class ReferenceFields(FileColumns):
    """Columns of a file of reference answers."""

    query: str | None = file_column(*_ANSWERED_QUERY)
    reference: str | None = file_column("Reference answers", (*GOLD, *SYSTEM_ANSWERS), "the answers")


@dataclass(frozen=True)
class NuggetFields(FileColumns):
    """Columns of a file of nuggets: one row per nugget, or a list of objects per query."""

    query: str | None = file_column(*_ANSWERED_QUERY)
    nugget: str | None = file_column("Nuggets", ("nuggets", "nugget", "nugget_text", "text"), "the nuggets")
    importance: str | None = file_column("Importance", ("importance", "label"))
