"""The answers of a system as a file has them: query, answer, and the contexts that it was given.

A query is named by id or text and has one answer. Two answers of one query are a problem, whatever they say.
An empty answer is an answer: the system kept silent. Contexts are texts or document ids, one or a list.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from curation.errors import InputError, refuse_problems
from curation.files.fields import ReferenceFields, file_fields
from curation.files.formats import FileLayout
from curation.files.records import Records
from curation.files.values import text_of
from curation.progress import Progress, silent
from curation.sources.queries import KnownQueries, QueryColumn
from curation.sources.reference_answers import texts_of
from curation.sources.unknown_names import UNKNOWN_QUERY
from curation.text import digest

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
    """What a file holds, by query id; left_out: reason → number of rows."""

    name: str
    source: str
    answers: Mapping[str, SystemAnswer]
    left_out: dict[str, int]


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
) -> SystemAnswers:
    """Read a system's answers.

    Raises
    ------
    InputError: the file cannot be read, or a query has two answers; all of its problems.
    """
    records = Records(source.path, layout, progress)
    query_field = records.need("--query-field", fields.query, QUERY_FIELDS, "the queries")
    answer_field = records.need("--answer-field", fields.answer, ANSWER_FIELDS, "the answers")
    context_field = records.field("--context-field", fields.contexts, CONTEXT_FIELDS)
    column = QueryColumn(known, query_field)
    left_out: Counter[str] = Counter()
    found: dict[str, SystemAnswer] = {}
    lines: dict[str, int] = {}
    with suppress(InputError):  # noted with the file's problems: raised below with what else is found
        for record in records:
            name = text_of(record.fields.get(query_field or "")).strip()
            try:
                query = column.find(name, record.line) if name else None
            except InputError as error:
                records.problems.add(record.line, str(error))
                continue
            if query is None:
                left_out[UNKNOWN_QUERY if name else "no query"] += 1
            elif query.query_id in found:
                records.problems.add(
                    record.line,
                    f"a second answer to the query {name!r}, also in {records.unit} {lines[query.query_id]}",
                    "A system has one answer to a query: keep one of the rows.",
                )
            else:
                lines[query.query_id] = record.line
                answer = text_of(record.fields.get(answer_field or "")).strip()
                contexts = texts_of(record.fields[context_field]) if context_field in record.fields else []
                found[query.query_id] = SystemAnswer(query.query_id, answer, tuple(filter(None, contexts)))
    records.problems.check()
    if not found:
        records.refuse_nothing_taken("answer", left_out)
    return SystemAnswers(source.name, records.source, found, dict(left_out))


def _unnamed(path: Path) -> AnswerSource:
    return AnswerSource(path.name.removesuffix(".gz").rsplit(".", 1)[0], path)
