"""Answers for people to grade: each answer becomes a document of a project of its own.

So answers go through the same rounds as documents: several annotators, blind duplicates, agreement, disputes,
a release. An answer is known by the hash of query, text and contexts: equal answers of two systems are graded
once, and nobody sees whose an answer is. For correctness the references are shown below the answer, for
faithfulness the contexts that the system was given. Empty answers are no documents; they are counted.
People's grades of answers are then the frozen release of that project.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from curation.errors import InputError, RefusedError
from curation.evaluation.answers.answer_files import AnswerSource, SystemAnswer, read_answer_file
from curation.files.formats import FileLayout
from curation.releases.stored import list_releases
from curation.releases.verify import opened
from curation.scoring.inputs.release import parts_of, read_release, scale_of
from curation.sources.queries import KnownQueries
from curation.store import Store, open_store

CORRECTNESS, FAITHFULNESS = "correctness", "faithfulness"
GUIDES = {CORRECTNESS: "answer-correctness", FAITHFULNESS: "answer-faithfulness"}
_NOT_GRADED = {
    CORRECTNESS: "answer whose query has no reference answers",
    FAITHFULNESS: "answer without contexts",
}


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
    what: 'correctness' or 'faithfulness'.
    split: a part; None is all that are not sealed. Of sealed parts the references stay where they are, so
        answers to them can be graded for faithfulness alone: that needs their contexts, and no reference.

    Raises
    ------
    InputError: the files cannot be taken, or the folder cannot be written.
    RefusedError: correctness on a sealed part is asked for; nothing is left to grade.
    """
    if what not in GUIDES:
        raise InputError(f"--for {what}: expected {' or '.join(GUIDES)}")
    release = read_release(store, release_name, split)
    if release.sealed and what == CORRECTNESS:
        raise RefusedError(
            f"{', '.join(release.sealed)} of the release {release_name!r} is sealed: its reference answers "
            "are not written into files. Choose another part with --part, or --for faithfulness, which "
            "needs none."
        )
    rows = opened(store, release_name).rows("answers") if what == CORRECTNESS else ()
    references = {row["query_id"]: row["answers"] for row in rows}
    found, left_out = _distinct(sources, release.known, release.texts, references, what, layout)
    if not found:
        reasons = ", ".join(f"{count:,} × {reason}" for reason, count in left_out.items())
        raise RefusedError(f"No answer is left to be graded for {what}: {reasons}.")
    _write(out, found, release.texts, references, what)
    return AnswersToGrade(
        answers=len(found),
        queries=len({answer.query_id for answer in found}),
        guide=GUIDES[what],
        files=("corpus.jsonl", "queries.jsonl", "answers.trec"),
        left_out=left_out,
    )


def _distinct(
    sources: Sequence[AnswerSource],
    known: KnownQueries,
    texts: Mapping[str, str],
    references: Mapping[str, Sequence[str]],
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
            gradable = answer.contexts if what == FAITHFULNESS else references.get(answer.query_id)
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


def _write(
    out: Path,
    answers: Sequence[SystemAnswer],
    texts: Mapping[str, str],
    references: Mapping[str, Sequence[str]],
    what: str,
) -> None:
    corpus = [
        {"id": one.answer_id, "title": "", "text": _shown(one, references.get(one.query_id, ()), what)}
        for one in answers
    ]
    asked = [
        {"id": query_id, "text": texts[query_id]} for query_id in sorted({one.query_id for one in answers})
    ]
    ranks: dict[str, int] = {}
    lines = []
    for one in answers:
        ranks[one.query_id] = rank = ranks.get(one.query_id, 0) + 1
        lines.append(f"{one.query_id} Q0 {one.answer_id} {rank} {-rank} answers\n")
    try:
        out.mkdir(parents=True, exist_ok=True)
        for name, rows in (("corpus.jsonl", corpus), ("queries.jsonl", asked)):
            text = "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows)
            (out / name).write_text(text, encoding="utf-8")
        (out / "answers.trec").write_text("".join(lines), encoding="utf-8")
    except OSError as error:
        raise InputError(f"--out {out}: it was not written: {error}.") from error


def _shown(answer: SystemAnswer, references: Sequence[str], what: str) -> str:
    """The document that an annotator reads."""
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
    """

    project: str
    release: str
    shares: Mapping[str, float]


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
    shares = {
        row["document_id"]: (row["grade"] - scale[0]) / (scale[-1] - scale[0])
        for row in release.rows("qrels")
        if row["query_id"] in inside
    }
    return AnswerGrades(path.name, name, shares)


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
