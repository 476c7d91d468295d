"""A file with one RAG system's answers to queries, including the answers' contexts and citations.

Each row names a query by id or by text, and each query has one answer. Two answers to one query are an error
in the file, even if both answers are equal. An empty answer counts as an answer: the system declined to
answer the query. The contexts of an answer are texts or document ids: a single value or a list.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import NamedTuple

from curation.core.digests import digest
from curation.core.errors import InputError
from curation.core.progress import Progress, silent
from curation.evaluation.answers import citations
from curation.evaluation.answers.citations import Citation, CitedChunks, CitedCorpus
from curation.evaluation.scoring.system_files import AnswerFields, SystemFile
from curation.ingest.importers.known_queries import KnownQueries, QueryColumn
from curation.ingest.importers.reference_answers import parse_answer_texts
from curation.ingest.importers.unknown_names import UNKNOWN_QUERY, refuse_similar_names
from curation.ingest.readers.fields import ReferenceFields, file_fields
from curation.ingest.readers.formats import FileLayout
from curation.ingest.readers.record_source import Record
from curation.ingest.readers.records import Records
from curation.ingest.readers.values import to_text

QUERY_FIELDS = file_fields(ReferenceFields)[0].usual_names
ANSWER_FIELDS = ("answer", "prediction", "response", "output", "prediction_text", "generated_answer")
CONTEXT_FIELDS = ("contexts", "context", "retrieved_contexts", "passages", "documents")


class SystemAnswer(NamedTuple):
    """A system's answer to a query, with the contexts that the system was given."""

    query_id: str
    answer: str
    contexts: tuple[str, ...]

    @property
    def answer_id(self) -> str:
        """Return the id under which people grade the answer; equal answers from two systems share one id."""
        return f"a{digest('answer', self.query_id, self.answer, list(self.contexts))[:16]}"


@dataclass(frozen=True)
class SystemAnswers:
    """A system's answers as read from one file.

    Attributes
    ----------
    answers: query id → answer.
    left_out: reason → number of rows.
    cited: the citations of the answers; None if the file has no citations, or if the caller does not need
    citations.
    """

    name: str
    source: str
    answers: Mapping[str, SystemAnswer]
    left_out: dict[str, int]
    cited: CitedChunks | None = None

    def map_answer_ids(self, query_ids: Iterable[str]) -> dict[str, str | None]:
        """Map each query id to the id of its answer, or to None for a missing or empty answer."""
        answers = {query_id: self.answers.get(query_id) for query_id in query_ids}
        return {name: row.answer_id if row and row.answer else None for name, row in answers.items()}


def read_answer_file(
    source: SystemFile,
    known: KnownQueries,
    layout: FileLayout | None = None,
    progress: Progress = silent,
    fields: AnswerFields = AnswerFields(),
    corpus: CitedCorpus | None = None,
) -> SystemAnswers:
    """Read a system's answers from its file.

    Parameters
    ----------
    corpus: the documents that answers cite; None if citations are not read.

    Raises
    ------
    InputError: the file cannot be read, a query has two answers, or an answer cites an unknown document; the
    error lists all problems of the file.
    """
    records = Records(source.path, layout, progress)
    used_fields = AnswerFields(
        records.require_column("--map query", fields.query, QUERY_FIELDS, "the queries", ids=True),
        records.require_column("--map answer", fields.answer, ANSWER_FIELDS, "the answers"),
        records.choose_column("--map context", fields.contexts, CONTEXT_FIELDS),
        records.choose_column("--map citation", fields.citations, citations.CITATION_FIELDS),
    )
    rows = _AnswerRows(records, used_fields, known)
    with suppress(InputError):  # reported below with the file's other problems
        for record in records:
            rows.add(record)
    refuse_similar_names(UNKNOWN_QUERY, rows.unknown, known.alike, records.problems)
    records.problems.check()
    if not rows.answers:
        records.refuse_empty("answer", rows.left_out)
    cited_corpus = corpus if used_fields.citations else None
    cited = None
    if cited_corpus is not None:
        cited = citations.locate_citations(rows.citations, cited_corpus, records.problems)
    return SystemAnswers(source.name, records.source, rows.answers, dict(rows.left_out), cited)


class _AnswerRows:
    """The rows read so far from an answer file: answers, citations and problems."""

    def __init__(self, records: Records, fields: AnswerFields, known: KnownQueries) -> None:
        self.records = records
        self.fields = fields
        self.column = QueryColumn(known, fields.query)
        self.answers: dict[str, SystemAnswer] = {}
        self.lines: dict[str, int] = {}  # query id → the line of the query's answer
        self.unknown: dict[str, int] = {}  # unknown query name → the first line with the name
        self.citations: list[Citation] = []
        self.left_out: Counter[str] = Counter()

    def add(self, record: Record) -> None:
        """Add a row of the file, or record why the row is left out."""
        name = to_text(record.fields.get(self.fields.query or "")).strip()
        try:
            query = self.column.find(name, record.line) if name else None
        except InputError as error:
            self.records.problems.add(record.line, str(error))
            return
        if query is None:
            self.left_out[UNKNOWN_QUERY if name else "no query"] += 1
            self.unknown.setdefault(name, record.line)
        elif query.query_id in self.answers:
            first = f"{self.records.unit} {self.lines[query.query_id]}"
            fault = f"a second answer to the query {name!r}; the first is in {first}"
            way_out = "A system may give only one answer to a query: keep one of the rows."
            self.records.problems.add(record.line, fault, way_out)
        else:
            self._add_answer(query.query_id, record)

    def _add_answer(self, query_id: str, record: Record) -> None:
        self.lines[query_id] = record.line
        _, answer, contexts, cited = (record.fields.get(field or "") for field in self.fields)
        context_texts = tuple(filter(None, parse_answer_texts(contexts)))
        self.answers[query_id] = SystemAnswer(query_id, to_text(answer).strip(), context_texts)
        for cited_id in citations.parse_citations(cited):
            self.citations.append((record.line, query_id, cited_id))
