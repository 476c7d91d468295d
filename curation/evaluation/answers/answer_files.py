"""Files of a system's answers, with query, answer, contexts and citations, and scores of the citations.

Each row names a query by id or by text, and each query has one answer. Two answers to one query are an error
in the file, even if both answers are equal. An empty answer counts as an answer: the system declined to
answer the query. The contexts of an answer are texts or document ids: a single value or a list.

Citations are scored by the evidence that people marked:

    citation_precision    cited chunks that hold evidence for the query, over all chunks that the answer cites
    citation_recall       documents with evidence in a cited chunk, over all documents with evidence

A chunk holds evidence if any of its characters is marked in a relevant document. A document that is cited as
a whole is the chunk of its whole body. The two scores are the citation precision and recall of N. F. Liu, T.
Zhang and P. Liang (2023), Evaluating verifiability in generative search engines, Findings of EMNLP. Both
scores are computed for the whole answer instead of each statement, because people mark the evidence for a
query. The unit of recall is the document, as in recall@k, so that recall does not depend on the number of
ranges that somebody marked.

A chunk that is cited twice counts once. An answer without citations and a query without an answer score 0. A
query without evidence has no value.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from curation.core.arrow import ints_of, texts
from curation.core.characters import alike
from curation.core.digests import digest
from curation.core.errors import InputError, refuse_problems
from curation.core.progress import Progress, silent
from curation.core.spans import Span, intersection
from curation.core.statistics.arrays import Floats
from curation.evaluation.scoring.evidence import OPEN
from curation.evaluation.scoring.pinned_bodies import PinnedBodies
from curation.evaluation.scoring.qrels import Qrels
from curation.evaluation.scoring.run_chunks import ChunkPlace, located_chunks, place_of
from curation.evaluation.scoring.system_runs import RunSource
from curation.ingest.importers.known_queries import KnownQueries, QueryColumn
from curation.ingest.importers.reference_answers import texts_of
from curation.ingest.importers.unknown_names import UNKNOWN_QUERY, like_known, refuse_alike
from curation.ingest.readers.fields import ChunkFields, ReferenceFields, file_fields, find_column
from curation.ingest.readers.formats import FileLayout
from curation.ingest.readers.problems import Problems
from curation.ingest.readers.records import Record, Records
from curation.ingest.readers.values import parse_whole_number, to_text

CITATION_FIELDS = ("citations", "citation", "cited", "cited_chunks")
CITATION_SCORES = ("citation_precision", "citation_recall")
_OF_CHUNK = {file_field.name: file_field for file_field in file_fields(ChunkFields)}
_WAY_OUT = (
    "Expected ids of the release's documents, chunks such as doc#0-120, or objects with doc_id, start and "
    "end; or name another field, '' for none (--map citation=COLUMN)."
)

Citation = tuple[int, str, str]
"""The line, the query id, and the id of the cited document or chunk."""
CitedCorpus = tuple[PinnedBodies, Mapping[str, ChunkPlace]]
"""The bodies of a release's documents, and a map of an index's chunks."""
Cited = Mapping[str, frozenset[ChunkPlace]]
"""Query id → the chunks that the answer cites."""
Marked = Mapping[str, Mapping[str, Sequence[Span]]]
"""Query id → id of a relevant document → the marked evidence."""

QUERY_FIELDS = file_fields(ReferenceFields)[0].usual
ANSWER_FIELDS = ("answer", "prediction", "response", "output", "prediction_text", "generated_answer")
CONTEXT_FIELDS = ("contexts", "context", "retrieved_contexts", "passages", "documents")


def cited_names(value: Any) -> list[str]:
    """Read the ids of documents and chunks from a field with one citation or a list; objects become ids."""
    if isinstance(value, str) and value.lstrip().startswith(("[", "{")):
        with suppress(ValueError, RecursionError):
            value = json.loads(value)
    if isinstance(value, list):
        return [name for item in value for name in cited_names(item)]
    if not isinstance(value, Mapping):
        return [text] if (text := to_text(value).strip()) else []
    columns = {name: find_column(_OF_CHUNK[name], list(value)) for name in ("document", "start", "end")}
    if columns["document"] is None:
        return [to_text(value)]
    document, start, end = (to_text(value.get(column or "")).strip() for column in columns.values())
    return [f"{document}#{_plain_number(start)}-{_plain_number(end)}" if start or end else document]


def _plain_number(text: str) -> str:
    number = parse_whole_number(text)
    return text if number is None else str(number)


def located_citations(citations: Sequence[Citation], corpus: CitedCorpus, problems: Problems) -> Cited:
    """Locate each citation of a query once in the documents.

    Raises
    ------
    InputError: a citation names a document that the release lacks, a place outside the text, or a different
        version.
    """
    bodies, mapped = corpus
    for line, _, name in citations:
        document_id = place_of(name, bodies.hashes, mapped).document_id
        if document_id not in bodies.hashes:
            like = like_known(document_id, partial(alike, known=bodies.hashes))
            problems.add(
                line, f"cites {name!r}, but the release has no such document or chunk{like}", _WAY_OUT
            )
    problems.check()
    lines = np.array([line for line, *_ in citations], np.int64)
    names = texts([name for *_, name in citations]).dictionary_encode()
    located = located_chunks(lines, names, {}, bodies, mapped, problems)
    if located is None:  # whole documents alone
        places = [ChunkPlace(name, 0, OPEN) for *_, name in citations]
    else:
        ids = located.documents.dictionary.to_pylist()
        documents = [ids[code] for code in ints_of(located.documents.indices).tolist()]
        places = list(map(ChunkPlace, documents, located.start.tolist(), located.end.tolist()))
    cited: dict[str, set[ChunkPlace]] = {}
    for (_, query_id, _), chunk in zip(citations, places, strict=True):
        cited.setdefault(query_id, set()).add(chunk)
    return {query_id: frozenset(places_of_query) for query_id, places_of_query in cited.items()}


def marked_evidence(qrels: Qrels) -> Marked:
    """Collect the evidence that people marked in relevant documents."""
    marked: dict[str, dict[str, Sequence[Span]]] = {}
    if (marks := qrels.evidence) is None:
        return marked
    documents = marks.documents.to_pylist()
    spans = list(zip(marks.start.tolist(), marks.end.tolist(), strict=True))
    for pair in np.flatnonzero(marks.grade >= qrels.relevant).tolist():
        query_id, document_id = (
            qrels.query_ids[marks.query[pair]],
            documents[marks.pair[pair] % len(documents)],
        )
        marked.setdefault(query_id, {})[document_id] = spans[marks.first[pair] : marks.first[pair + 1]]
    return marked


def citation_scores(query_ids: Sequence[str], cited: Cited | None, marked: Marked) -> dict[str, Floats]:
    """Score each query's citations, shape (Q,); NaN for a query without evidence, or a file without
    citations."""
    values = np.full((len(CITATION_SCORES), len(query_ids)), np.nan)
    for index, query_id in enumerate(query_ids):
        documents = marked.get(query_id)
        if cited is None or not documents:
            continue
        chunks = cited.get(query_id, frozenset())
        hits = [
            chunk.document_id
            for chunk in chunks
            if intersection([(chunk.start, chunk.end)], documents.get(chunk.document_id, ()))
        ]
        values[:, index] = len(hits) / max(1, len(chunks)), len(set(hits)) / len(documents)
    return dict(zip(CITATION_SCORES, values, strict=True))


class AnswerFields(NamedTuple):
    """Names of the fields in a file of answers; None stands for the first usual name in the file."""

    query: str | None = None
    answer: str | None = None
    contexts: str | None = None
    citations: str | None = None


class SystemAnswer(NamedTuple):
    """An answer, and the contexts that the system was given."""

    query_id: str
    answer: str
    contexts: tuple[str, ...]

    @property
    def answer_id(self) -> str:
        """The id of the answer for people's grades; equal answers of two systems have one id."""
        return f"a{digest('answer', self.query_id, self.answer, list(self.contexts))[:16]}"


@dataclass(frozen=True)
class SystemAnswers:
    """The answers of one file.

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
    cited: Cited | None = None

    def ids_of(self, query_ids: Iterable[str]) -> dict[str, str | None]:
        """Map each query id to the id of its answer; None without an answer, or with an empty answer."""
        answers = {query_id: self.answers.get(query_id) for query_id in query_ids}
        return {
            name: answer.answer_id if answer and answer.answer else None for name, answer in answers.items()
        }


def named_answers(texts: Sequence[str]) -> list[RunSource]:
    """Read `NAME=FILE` or `FILE` as the sources of answers; by default the system is named after the file.

    Raises
    ------
    InputError: two systems have one name.
    """
    sources = []
    for text in texts:
        name, separator, path = text.partition("=")
        if not separator or Path(text).is_file():
            name, path = Path(text).name.removesuffix(".gz").rsplit(".", 1)[0], text
        sources.append(RunSource(name.strip(), Path(path)))
    names = Counter(source.name for source in sources)
    refuse_problems(
        [f"--answers: {count} files are the system {name!r}" for name, count in names.items() if count > 1],
        way_out="Give them different names, as in --answers old=a.jsonl --answers new=b.jsonl.",
    )
    return sources


def read_answer_file(
    source: RunSource,
    known: KnownQueries,
    layout: FileLayout | None = None,
    progress: Progress = silent,
    fields: AnswerFields = AnswerFields(),
    corpus: CitedCorpus | None = None,
) -> SystemAnswers:
    """Read a system's answers.

    Parameters
    ----------
    corpus: the documents that answers cite; None if citations are not read.

    Raises
    ------
    InputError: the file cannot be read, a query has two answers, or an answer cites an unknown document; the
    error lists all problems of the file.
    """
    records = Records(source.path, layout, progress)
    used = AnswerFields(
        records.need("--map query", fields.query, QUERY_FIELDS, "the queries", ids=True),
        records.need("--map answer", fields.answer, ANSWER_FIELDS, "the answers"),
        records.field("--map context", fields.contexts, CONTEXT_FIELDS),
        records.field("--map citation", fields.citations, CITATION_FIELDS),
    )
    rows = _AnswerRows(records, used, known)
    with suppress(InputError):  # noted with the file's problems: raised below with what else is found
        for record in records:
            rows.take(record)
    refuse_alike(UNKNOWN_QUERY, rows.unknown, known.alike, records.problems)
    records.problems.check()
    if not rows.answers:
        records.refuse_nothing_taken("answer", rows.left_out)
    cites = corpus if used.citations else None
    cited = None if cites is None else located_citations(rows.citations, cites, records.problems)
    return SystemAnswers(source.name, records.source, rows.answers, dict(rows.left_out), cited)


class _AnswerRows:
    """The answers, citations and problems that were read from a file so far."""

    def __init__(self, records: Records, fields: AnswerFields, known: KnownQueries) -> None:
        self.records, self.fields, self.column = records, fields, QueryColumn(known, fields.query)
        self.answers: dict[str, SystemAnswer] = {}
        self.lines: dict[str, int] = {}  # query id → the line of its answer
        self.unknown: dict[str, int] = {}  # a name that no query has → its first line
        self.citations: list[Citation] = []
        self.left_out: Counter[str] = Counter()

    def take(self, record: Record) -> None:
        """Take a row, or note the reason for leaving it out."""
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
            self.records.problems.add(
                record.line,
                f"a second answer to the query {name!r}, also in {self.records.unit} "
                f"{self.lines[query.query_id]}",
                "A system has one answer to a query: keep one of the rows.",
            )
        else:
            query_id, self.lines[query.query_id] = query.query_id, record.line
            _, answer, contexts, citations = (record.fields.get(field or "") for field in self.fields)
            given = tuple(filter(None, texts_of(contexts)))
            self.answers[query_id] = SystemAnswer(query_id, to_text(answer).strip(), given)
            self.citations.extend((record.line, query_id, name) for name in cited_names(citations))
