"""Answers that people grade in a project of their own.

Each answer becomes a document of a separate project, whose release has the grades.
Answers therefore go through the same annotation rounds as documents: several annotators, blind duplicates,
agreement, disputes, a release. The id of an answer is the hash of query, text and contexts: equal answers of
two systems are graded once, and nobody sees which system gave an answer. Annotators see the reference answers
below the answer for correctness, and the contexts that the system was given for faithfulness. For support,
each nugget of a query becomes a query of the grading project, and people grade how far an answer states the
nugget. Empty answers do not become documents; only the number of empty answers is reported.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from curation.core.digests import digest
from curation.core.errors import InputError, NotFoundError, RefusedError
from curation.core.similarity.identical_texts import IdenticalTexts
from curation.evaluation.answers.answer_files import SystemAnswer, read_answer_file
from curation.evaluation.scoring.evidence import Pair
from curation.evaluation.scoring.release import choose_parts, read_release, read_scale
from curation.evaluation.scoring.system_files import SystemFile
from curation.ingest.importers.known_queries import KnownQueries
from curation.ingest.importers.nuggets import group_nugget_rows
from curation.ingest.readers.formats import FileLayout
from curation.labeling.rounds.query_draw import UNIT_FIELD
from curation.releases.frozen_release import FrozenRelease, load_release
from curation.releases.release_rows import list_releases
from curation.store import Store, open_store

CORRECTNESS, FAITHFULNESS, SUPPORT = "correctness", "faithfulness", "support"
GUIDES = {CORRECTNESS: "answer-correctness", FAITHFULNESS: "answer-faithfulness", SUPPORT: "answer-support"}
_REASONS_NOT_GRADED = {
    CORRECTNESS: "answer whose query has no reference answers",
    FAITHFULNESS: "answer without contexts",
    SUPPORT: "answer whose query has no nuggets",
}
SECRET_TABLES = {CORRECTNESS: ("answers", "reference answers"), SUPPORT: ("nuggets", "nuggets")}
"""Graded property → the secret table of a sealed part that annotators would see, and the table's name in
messages.
"""
GradingQuestion = tuple[str, str, list[str], dict[str, str]]
"""Id and text of a query or of one of its nuggets, ids of answers, and the query whose nuggets are drawn
together."""


@dataclass(frozen=True)
class AnswersToGrade:
    """Files of answers for people to grade.

    Attributes
    ----------
    answers: the number of distinct answers.
    queries: the number of queries of these answers.
    guide: the shipped guide for grading the answers.
    files: the names of the files in the folder, in the order in which they are imported.
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
    sources: Sequence[SystemFile],
    graded_property: str,
    out: Path,
    split: str | None = None,
    layout: FileLayout | None = None,
) -> AnswersToGrade:
    """Write corpus, queries and candidates of a project in which people grade answers.

    Parameters
    ----------
    graded_property: one of `GUIDES`.
    split: a part; None is all parts that are not sealed. References and nuggets of sealed parts are not
    written, so answers to queries of sealed parts can be graded only for faithfulness, which needs only the
    contexts.

    Raises
    ------
    InputError: the files cannot be read, or the folder cannot be written.
    RefusedError: a sealed part is graded for more than faithfulness; no answer is left to grade.
    """
    if graded_property not in GUIDES:
        raise InputError(f"--for {graded_property}: expected {' or '.join(GUIDES)}")
    release = read_release(store, release_name, split)
    table, name = SECRET_TABLES.get(graded_property, ("", ""))
    if release.sealed and table:
        raise RefusedError(
            f"{', '.join(release.sealed)} of the release {release_name!r} is sealed: its {name} are not "
            "written into files. Choose another part with --part, or --for faithfulness, which needs no "
            f"{name}."
        )
    rows = list(load_release(store, release_name).rows(table)) if table else []
    references = (
        {row["query_id"]: row["answers"] for row in rows}
        if graded_property == CORRECTNESS
        else group_nugget_rows(rows)
    )
    answers, left_out = _collect_distinct_answers(
        sources, release.known, release.texts, references, graded_property, layout
    )
    if not answers:
        reasons = ", ".join(f"{count:,} × {reason}" for reason, count in left_out.items())
        raise RefusedError(f"No answer is left to be graded for {graded_property}: {reasons}.")
    corpus = []
    for answer in answers:
        text = _write_text_to_grade(answer, references.get(answer.query_id, ()), graded_property)
        corpus.append({"id": answer.answer_id, "title": "", "text": text})
    _write_files(out, corpus, _make_questions(answers, release.texts, references, graded_property))
    return AnswersToGrade(
        answers=len(answers),
        queries=len({answer.query_id for answer in answers}),
        guide=GUIDES[graded_property],
        files=("corpus.jsonl", "queries.jsonl", "answers.trec"),
        left_out=left_out,
    )


def _make_questions(
    graded: Sequence[SystemAnswer],
    texts: Mapping[str, str],
    references: Mapping[str, Sequence[Any]],
    graded_property: str,
) -> list[GradingQuestion]:
    answers: dict[str, list[str]] = {}
    for answer in graded:
        answers.setdefault(answer.query_id, []).append(answer.answer_id)
    if graded_property != SUPPORT:
        return [(query_id, texts[query_id], ids, {}) for query_id, ids in sorted(answers.items())]
    return [
        (nugget.id_for(query_id), f"{nugget.text} ({texts[query_id]})", ids, {UNIT_FIELD: _hash_id(query_id)})
        for query_id, ids in sorted(answers.items())
        for nugget in references[query_id]
    ]


def _hash_id(query_id: str) -> str:
    """Hash a query id, because imports redact ids that look like payment card numbers."""
    return f"q{digest('query', query_id)[:16]}"


def _collect_distinct_answers(
    sources: Sequence[SystemFile],
    known: KnownQueries,
    texts: Mapping[str, str],
    references: Mapping[str, Sequence[Any]],
    graded_property: str,
    layout: FileLayout | None,
) -> tuple[list[SystemAnswer], dict[str, int]]:
    """Collect each answer to grade once, ordered by query and id, and count left-out answers by reason."""
    answers: dict[str, SystemAnswer] = {}
    left_out: Counter[str] = Counter()
    for source in sources:
        file = read_answer_file(source, known, layout)
        left_out.update(file.left_out)
        for answer in file.answers.values():
            gradable = answer.contexts if graded_property == FAITHFULNESS else references.get(answer.query_id)
            if answer.query_id not in texts:
                left_out["answer to a query of another part"] += 1
            elif not answer.answer:
                left_out["empty answer"] += 1
            elif not gradable:
                left_out[_REASONS_NOT_GRADED[graded_property]] += 1
            elif answer.answer_id in answers:
                left_out["the same answer again"] += 1
            else:
                answers[answer.answer_id] = answer
    return sorted(answers.values(), key=lambda answer: (answer.query_id, answer.answer_id)), dict(left_out)


def _write_files(out: Path, corpus: list[dict[str, str]], questions: Sequence[GradingQuestion]) -> None:
    queries = [{"id": name, "text": text, **unit} for name, text, _, unit in questions]
    lines = [
        f"{name} Q0 {answer_id} {rank} {-rank} answers\n"
        for name, _, ids, _ in questions
        for rank, answer_id in enumerate(ids, 1)
    ]
    try:
        out.mkdir(parents=True, exist_ok=True)
        for name, rows in (("corpus.jsonl", corpus), ("queries.jsonl", queries)):
            text = "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows)
            (out / name).write_text(text, encoding="utf-8")
        (out / "answers.trec").write_text("".join(lines), encoding="utf-8")
    except OSError as error:
        raise InputError(f"--out {out}: the folder was not written: {error}.") from error


def _write_text_to_grade(answer: SystemAnswer, references: Sequence[Any], graded_property: str) -> str:
    """Write the document that an annotator reads."""
    if graded_property == SUPPORT:
        return answer.answer
    if graded_property == CORRECTNESS:
        reference_list = "\n".join(f"- {reference}" for reference in references)
        return f"{answer.answer}\n\nReference answers:\n{reference_list}"
    context_list = "\n\n".join(f"[{number}] {text}" for number, text in enumerate(answer.contexts, 1))
    return f"{answer.answer}\n\nContexts:\n{context_list}"


@dataclass(frozen=True)
class AnswerGrades:
    """People's grades of answers.

    Attributes
    ----------
    path: the file of the project in which the answers were graded.
    shares: (query id or nugget id, answer id) → grade as a share of the scale, from 0 for the lowest grade to
        1.
    identical: answers with the same text, which a pool has under one id.
    """

    path: Path
    release: str
    shares: Mapping[Pair, float]
    identical: IdenticalTexts

    @property
    def project(self) -> str:
        """The name of the project's file."""
        return self.path.name


def read_answer_grades(graded_property: str, text: str, neighbor: Store | None = None) -> AnswerGrades:
    """Read the grades of `PROJECT=RELEASE`, from the release's parts that are not sealed.

    Parameters
    ----------
    neighbor: a project whose folder holds the graded project; None if the text has a path.

    Raises
    ------
    InputError: the text does not have this form, or the file does not exist.
    NotFoundError: the project has no such release.
    RefusedError: the release has changed since the freeze, or all its parts are sealed.
    """
    project, _, name = text.rpartition("=")
    path = Path(project) if neighbor is None else _find_neighbor(neighbor, project)
    if not project or not name or not path.is_file():
        raise InputError(
            f"{graded_property} {text}: expected PROJECT=RELEASE, a goldgrade project's file and the name "
            "of its release",
            command=f"--{graded_property} names them.",
        )
    with name_project_in_errors(path):
        store = open_store(path)
        release = load_release(store, name)
        parts = choose_parts(release)
    identical = IdenticalTexts(
        (document.document_id, document.title, document.body)
        for _, document in release.documents(store)
        if document
    )
    query_ids = {row["query_id"] for row in release.rows("queries") if row["part"] in parts}
    rows = (row for row in release.rows("qrels") if row["query_id"] in query_ids)
    graded = convert_to_shares(release, {(row["query_id"], row["document_id"]): row["grade"] for row in rows})
    return AnswerGrades(path, name, identical.shared(graded), identical)


@contextmanager
def name_project_in_errors(path: Path) -> Iterator[None]:
    """Add a project's name to errors raised inside the block, because the command has a different project."""
    try:
        yield
    except (NotFoundError, RefusedError) as error:
        raise type(error)(f"{path.name}: {error}") from error


def convert_to_shares(release: FrozenRelease, grades: Mapping[Pair, int | None]) -> dict[Pair, float]:
    """Convert grades of pairs to shares of the release's scale; cannot-tell counts as the lowest grade."""
    lowest, *_, highest = read_scale(release.rows("guides"))
    span = highest - lowest
    return {pair: 0.0 if grade is None else (grade - lowest) / span for pair, grade in grades.items()}


def list_neighbor_projects(store: Store) -> list[str]:
    """List the other project files in the project's folder, in which answers may have been graded."""
    project = store.path.resolve()
    return sorted(path.name for path in project.parent.glob("*.duckdb") if path.is_file() and path != project)


def list_neighbor_releases(store: Store, project: str) -> list[str]:
    """List the names of the releases of another project in the folder, newest first.

    Raises
    ------
    InputError: no project has this name.
    StoreError: the project cannot be opened.
    """
    neighbor = open_store(_find_neighbor(store, project))
    try:
        with neighbor.reading() as cursor:
            return [row.name for row in reversed(list_releases(cursor))]
    finally:
        neighbor.close()


def _find_neighbor(store: Store, project: str) -> Path:
    if project not in list_neighbor_projects(store):
        raise InputError(f"There is no project {project} in the folder of {store.path.name}.")
    return store.path.resolve().parent / project
