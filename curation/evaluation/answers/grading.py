"""Answers for people to grade: each answer becomes a document of a project of its own.

So answers go through the same rounds as documents: several annotators, blind duplicates, agreement, disputes,
a release. An answer is known by the hash of query, text and contexts: equal answers of two systems are graded
once, and nobody sees whose an answer is. For correctness the references are shown below the answer, for
faithfulness the contexts that the system was given. For support each nugget of a query is a query of that
project, and people grade how far an answer says it. Empty answers are no documents; they are counted.
People's grades of answers are then the frozen release of that project.

The answers of a system as a file has them: query, answer, and the contexts that it was given.

A query is named by id or text and has one answer. Two answers of one query are a problem, whatever they say.
An empty answer is an answer: the system kept silent. Contexts are texts or document ids, one or a list. What
an answer cites is read where somebody scores it (`answers.citations`).
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from curation.errors import InputError, RefusedError, refuse_problems
from curation.evaluation.answers.citations import (
    CITATION_FIELDS,
    Citation,
    Cited,
    CitedCorpus,
    cited_names,
    located_citations,
)
from curation.files.fields import ReferenceFields, file_fields
from curation.files.formats import FileLayout
from curation.files.records import Records
from curation.files.values import text_of
from curation.progress import Progress, silent
from curation.releases.stored import list_releases
from curation.releases.verify import opened
from curation.scoring.inputs.release import parts_of, read_release, scale_of
from curation.sources.answers.nuggets import nuggets_of_rows
from curation.sources.answers.reference_answers import texts_of
from curation.sources.queries import KnownQueries, QueryColumn
from curation.sources.unknown_names import UNKNOWN_QUERY
from curation.store import Store, open_store
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
    query_field = records.need("--query-field", fields.query, QUERY_FIELDS, "the queries")
    answer_field = records.need("--answer-field", fields.answer, ANSWER_FIELDS, "the answers")
    context_field = records.field("--context-field", fields.contexts, CONTEXT_FIELDS)
    citation_field = records.field("--citation-field", fields.citations, CITATION_FIELDS)
    column = QueryColumn(known, query_field)
    left_out: Counter[str] = Counter()
    citations: list[Citation] = []
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
                names = cited_names(record.fields.get(citation_field or "")) if corpus else []
                citations += [Citation(record.line, query.query_id, name) for name in names]
    records.problems.check()
    if not found:
        records.refuse_nothing_taken("answer", left_out)
    cited = located_citations(citations, corpus, records.problems) if corpus and citation_field else None
    return SystemAnswers(source.name, records.source, found, dict(left_out), cited)


def _unnamed(path: Path) -> AnswerSource:
    return AnswerSource(path.name.removesuffix(".gz").rsplit(".", 1)[0], path)


CORRECTNESS, FAITHFULNESS, SUPPORT = "correctness", "faithfulness", "support"
GUIDES = {
    CORRECTNESS: "answer-correctness",
    FAITHFULNESS: "answer-faithfulness",
    SUPPORT: "answer-support",
}
_NOT_GRADED = {
    CORRECTNESS: "answer whose query has no reference answers",
    FAITHFULNESS: "answer without contexts",
    SUPPORT: "answer whose query has no nuggets",
}
SECRET = {CORRECTNESS: ("answers", "reference answers"), SUPPORT: ("nuggets", "nuggets")}
"""What a sealed part keeps to itself that people would read: the release's part, and what it is called."""


@dataclass(frozen=True)
class AnswersToGrade:
    """What was written.

    Attributes
    ----------
    answers: distinct ones, of `queries` queries. guide: the guide that ships for them.
    files: in the folder, to be imported in this order.
    left_out: reason → number of answers.
    """

    answers: int
    queries: int
    guide: str
    files: tuple[str, ...]
    left_out: dict[str, int]


def write_answers_to_grade(
    store: Store,
    release_name: str,
    sources: Sequence[AnswerSource],
    what: str,
    out: Path,
    split: str | None = None,
    layout: FileLayout | None = None,
) -> AnswersToGrade:
    """Write corpus, queries and candidates of a project in which people grade answers.

    Parameters
    ----------
    what: of `GUIDES`.
    split: a part; None is all that are not sealed. Of sealed parts references and nuggets stay where they
        are, so answers to them can be graded for faithfulness alone, which needs only their contexts.

    Raises
    ------
    InputError: the files cannot be taken, or the folder cannot be written.
    RefusedError: more than faithfulness is asked of a sealed part; nothing is left to grade.
    """
    if what not in GUIDES:
        raise InputError(f"--for {what}: expected {' or '.join(GUIDES)}")
    release = read_release(store, release_name, split)
    part, name = SECRET.get(what, ("", ""))
    if release.sealed and part:
        raise RefusedError(
            f"{', '.join(release.sealed)} of the release {release_name!r} is sealed: its {name} are not "
            "written into files. Choose another part with --part, or --for faithfulness, which needs none."
        )
    rows = list(opened(store, release_name).rows(part)) if part else []
    shown = (
        {row["query_id"]: row["answers"] for row in rows} if what == CORRECTNESS else nuggets_of_rows(rows)
    )
    found, left_out = _distinct(sources, release.known, release.texts, shown, what, layout)
    if not found:
        reasons = ", ".join(f"{count:,} × {reason}" for reason, count in left_out.items())
        raise RefusedError(f"No answer is left to be graded for {what}: {reasons}.")
    corpus = [
        {"id": one.answer_id, "title": "", "text": _shown(one, shown.get(one.query_id, ()), what)}
        for one in found
    ]
    _write(out, corpus, _asked(found, release.texts, shown, what))
    return AnswersToGrade(
        answers=len(found),
        queries=len({answer.query_id for answer in found}),
        guide=GUIDES[what],
        files=("corpus.jsonl", "queries.jsonl", "answers.trec"),
        left_out=left_out,
    )


class _Asked(NamedTuple):
    """What is asked about answers: a query, or one of its nuggets."""

    id: str
    text: str
    answers: list[str]


def _asked(
    found: Sequence[SystemAnswer], texts: Mapping[str, str], shown: Mapping[str, Sequence[Any]], what: str
) -> list[_Asked]:
    answers: dict[str, list[str]] = {}
    for one in found:
        answers.setdefault(one.query_id, []).append(one.answer_id)
    if what != SUPPORT:
        return [_Asked(query_id, texts[query_id], ids) for query_id, ids in sorted(answers.items())]
    return [
        _Asked(nugget.id_for(query_id), f"{nugget.text} ({texts[query_id]})", ids)
        for query_id, ids in sorted(answers.items())
        for nugget in shown[query_id]
    ]


def _distinct(
    sources: Sequence[AnswerSource],
    known: KnownQueries,
    texts: Mapping[str, str],
    shown: Mapping[str, Sequence[Any]],
    what: str,
    layout: FileLayout | None,
) -> tuple[list[SystemAnswer], dict[str, int]]:
    """The answers to be graded, each once, ordered by query and id; and what is not."""
    found: dict[str, SystemAnswer] = {}
    left_out: dict[str, int] = {}

    def leave(reason: str) -> None:
        left_out[reason] = left_out.get(reason, 0) + 1

    for source in sources:
        for answer in read_answer_file(source, known, layout).answers.values():
            gradable = answer.contexts if what == FAITHFULNESS else shown.get(answer.query_id)
            if answer.query_id not in texts:
                leave("answer to a query of another part")
            elif not answer.answer:
                leave("empty answer")
            elif not gradable:
                leave(_NOT_GRADED[what])
            elif answer.answer_id in found:
                leave("the same answer again")
            else:
                found[answer.answer_id] = answer
    return sorted(found.values(), key=lambda answer: (answer.query_id, answer.answer_id)), left_out


def _write(out: Path, corpus: Sequence[Mapping[str, str]], asked: Sequence[_Asked]) -> None:
    queries = [{"id": one.id, "text": one.text} for one in asked]
    lines = [
        f"{one.id} Q0 {answer_id} {rank} {-rank} answers\n"
        for one in asked
        for rank, answer_id in enumerate(one.answers, 1)
    ]
    try:
        out.mkdir(parents=True, exist_ok=True)
        for name, rows in (("corpus.jsonl", corpus), ("queries.jsonl", queries)):
            text = "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows)
            (out / name).write_text(text, encoding="utf-8")
        (out / "answers.trec").write_text("".join(lines), encoding="utf-8")
    except OSError as error:
        raise InputError(f"--out {out}: it was not written: {error}.") from error


def _shown(answer: SystemAnswer, references: Sequence[Any], what: str) -> str:
    """The document that an annotator reads."""
    if what == SUPPORT:
        return answer.answer
    if what == CORRECTNESS:
        below = "\n".join(f"- {reference}" for reference in references)
        return f"{answer.answer}\n\nReference answers:\n{below}"
    below = "\n\n".join(f"[{number}] {text}" for number, text in enumerate(answer.contexts, 1))
    return f"{answer.answer}\n\nContexts:\n{below}"


@dataclass(frozen=True)
class AnswerGrades:
    """Grades of answers.

    Attributes
    ----------
    shares: answer id → grade as a share of the scale, 0 the lowest grade and 1 the highest.
    by_nugget: the same for support, by nugget id and answer id.
    """

    project: str
    release: str
    shares: Mapping[str, float]
    by_nugget: Mapping[tuple[str, str], float]


def read_grades_of_answers(what: str, text: str, near: Store | None = None) -> AnswerGrades:
    """The grades of `PROJECT=RELEASE`, of the release's parts that are not sealed.

    Parameters
    ----------
    near: the project is one in the folder of this one, by its file's name.

    Raises
    ------
    InputError: the text is not of that form, or there is no such file.
    NotFoundError: the project has no such release.
    RefusedError: the release is not as it was frozen, or all of it is sealed.
    """
    project, _, name = text.rpartition("=")
    path = Path(project) if near is None else _neighbour(near, project)
    if not project or not name or not path.is_file():
        raise InputError(
            f"{what} {text}: expected PROJECT=RELEASE, a goldset project's file and the name of its release",
            command=f"--{what} names them.",
        )
    release = opened(open_store(path), name)
    parts = parts_of(release)
    scale = scale_of(release.rows("guides"))
    inside = {row["query_id"] for row in release.rows("queries") if row["part"] in parts}
    graded = {
        (row["query_id"], row["document_id"]): (row["grade"] - scale[0]) / (scale[-1] - scale[0])
        for row in release.rows("qrels")
        if row["query_id"] in inside
    }
    return AnswerGrades(path.name, name, {answer: share for (_, answer), share in graded.items()}, graded)


def neighbour_projects(store: Store) -> list[str]:
    """The names of the project files in the project's folder, in which answers may have been graded."""
    own = store.path.resolve()
    return sorted(path.name for path in own.parent.glob("*.duckdb") if path.is_file() and path != own)


def releases_of(store: Store, project: str) -> list[str]:
    """The names of the releases of a project next to this one, newest first.

    Raises
    ------
    InputError: there is no such project.
    StoreError: it cannot be opened.
    """
    other = open_store(_neighbour(store, project))
    try:
        with other.reading() as cursor:
            return [row.name for row in reversed(list_releases(cursor))]
    finally:
        other.close()


def _neighbour(store: Store, project: str) -> Path:
    if project not in neighbour_projects(store):
        raise InputError(f"There is no project {project} in the folder of {store.path.name}.")
    return store.path.resolve().parent / project
