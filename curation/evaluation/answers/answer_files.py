"""The answers of a system as a file has them: query, answer, and the contexts that it was given.

A query is named by id or text and has one answer. Two answers of one query are a problem, whatever they say.
An empty answer is an answer: the system kept silent. Contexts are texts or document ids, one or a list. What
an answer cites is read where somebody scores it (`evaluation.answers.citations`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from curation.core.errors import InputError, refuse_problems
from curation.core.progress import Progress, silent
from curation.core.text import digest
from curation.evaluation.answers.citations import (
    CITATION_FIELDS,
    Citation,
    Cited,
    CitedCorpus,
    cited_names,
    located_citations,
)
from curation.ingest.importers.answers.reference_answers import texts_of
from curation.ingest.importers.queries import KnownQueries, QueryColumn
from curation.ingest.importers.unknown_names import UNKNOWN_QUERY, refuse_alike
from curation.ingest.readers.columns import file_fields
from curation.ingest.readers.fields import ReferenceFields
from curation.ingest.readers.formats import FileLayout
from curation.ingest.readers.records import Record, Records
from curation.ingest.readers.values import text_of

QUERY_FIELDS = file_fields(ReferenceFields)[0].usual
ANSWER_FIELDS = ("answer", "prediction", "response", "output", "prediction_text", "generated_answer")
CONTEXT_FIELDS = ("contexts", "context", "retrieved_contexts", "passages", "documents")


class AnswerSource(NamedTuple):
    """A file of answers, and the name of its system."""

    name: str
    path: Path


class AnswerFields(NamedTuple):
    """The fields of a file of answers; None is the first of the usual names."""

    query: str | None = None
    answer: str | None = None
    contexts: str | None = None
    citations: str | None = None


class SystemAnswer(NamedTuple):
    """One answer; `contexts` is what the system was given to answer from."""

    query_id: str
    answer: str
    contexts: tuple[str, ...]

    @property
    def answer_id(self) -> str:
        """What the answer is known by when people grade it: equal answers of two systems are one."""
        return f"a{digest('answer', self.query_id, self.answer, list(self.contexts))[:16]}"


@dataclass(frozen=True)
class SystemAnswers:
    """What a file holds, by query id.

    Attributes
    ----------
    left_out: reason → number of rows.
    cited: what the answers cite; None where the file does not say, or nobody wanted to know.
    """

    name: str
    source: str
    answers: Mapping[str, SystemAnswer]
    left_out: dict[str, int]
    cited: Cited | None = None

    def ids_of(self, query_ids: Iterable[str]) -> dict[str, str | None]:
        """Query id → the id of its answer; None without one, or of an empty one, which says nothing."""
        found = {query_id: self.answers.get(query_id) for query_id in query_ids}
        return {name: one.answer_id if one and one.answer else None for name, one in found.items()}


def named_answers(texts: Sequence[str]) -> list[AnswerSource]:
    """The files that `NAME=FILE` or `FILE` name; without a name it is the file's own, without its ending.

    Raises
    ------
    InputError: two systems have one name.
    """
    sources = []
    for text in texts:
        name, separator, path = text.partition("=")
        named = bool(separator) and not Path(text).is_file()
        sources.append(AnswerSource(name.strip(), Path(path)) if named else _unnamed(Path(text)))
    names = Counter(source.name for source in sources)
    refuse_problems(
        [f"--answers: {count} files are the system {name!r}" for name, count in names.items() if count > 1],
        way_out="Name them apart, as in --answers old=a.jsonl --answers new=b.jsonl.",
    )
    return sources


def read_answer_file(
    source: AnswerSource,
    known: KnownQueries,
    layout: FileLayout | None = None,
    progress: Progress = silent,
    fields: AnswerFields = AnswerFields(),
    corpus: CitedCorpus | None = None,
) -> SystemAnswers:
    """Read a system's answers.

    Parameters
    ----------
    corpus: what they cite; None where citations are not to be read.

    Raises
    ------
    InputError: the file cannot be read, a query has two answers, or one cites what there is not; all of its
        problems.
    """
    records = Records(source.path, layout, progress)
    used = AnswerFields(
        records.need("--query-field", fields.query, QUERY_FIELDS, "the queries", ids=True),
        records.need("--answer-field", fields.answer, ANSWER_FIELDS, "the answers"),
        records.field("--context-field", fields.contexts, CONTEXT_FIELDS),
        records.field("--citation-field", fields.citations, CITATION_FIELDS),
    )
    rows = _AnswerRows(records, used, QueryColumn(known, used.query), {}, {}, [], Counter(), {})
    with suppress(InputError):  # noted with the file's problems: raised below with what else is found
        for record in records:
            rows.take(record)
    refuse_alike(UNKNOWN_QUERY, rows.unknown, known.alike, records.problems)
    records.problems.check()
    if not rows.found:
        records.refuse_nothing_taken("answer", rows.left_out)
    cites = corpus if used.citations else None
    cited = None if cites is None else located_citations(rows.citations, cites, records.problems)
    return SystemAnswers(source.name, records.source, rows.found, dict(rows.left_out), cited)


class _AnswerRows(NamedTuple):
    """What is read of a file.

    `lines` is query id → the line of its answer, `unknown` a name that no query has → its first line.
    """

    records: Records
    fields: AnswerFields
    column: QueryColumn
    found: dict[str, SystemAnswer]
    lines: dict[str, int]
    citations: list[Citation]
    left_out: Counter[str]
    unknown: dict[str, int]

    def take(self, record: Record) -> None:
        """Take a row, or say why not."""
        name = text_of(record.fields.get(self.fields.query or "")).strip()
        try:
            query = self.column.find(name, record.line) if name else None
        except InputError as error:
            self.records.problems.add(record.line, str(error))
            return
        if query is None:
            self.left_out[UNKNOWN_QUERY if name else "no query"] += 1
            self.unknown.setdefault(name, record.line)
        elif query.query_id in self.found:
            self.records.problems.add(
                record.line,
                f"a second answer to the query {name!r}, also in {self.records.unit} "
                f"{self.lines[query.query_id]}",
                "A system has one answer to a query: keep one of the rows.",
            )
        else:
            self.lines[query.query_id] = record.line
            self._take_answer(record, query.query_id)

    def _take_answer(self, record: Record, query_id: str) -> None:
        _, answer, contexts, citations = (record.fields.get(field or "") for field in self.fields)
        given = tuple(filter(None, texts_of(contexts)))
        self.found[query_id] = SystemAnswer(query_id, text_of(answer).strip(), given)
        self.citations.extend(Citation(record.line, query_id, name) for name in cited_names(citations))


def _unnamed(path: Path) -> AnswerSource:
    return AnswerSource(path.name.removesuffix(".gz").rsplit(".", 1)[0], path)
