"""Answers to grade: the files of a separate project in which annotators grade answers.

Each answer becomes a document of that project. Answers therefore go through the same annotation rounds as
documents: several annotators, blind duplicates, agreement, disputes, a release. Two systems' equal answers
are graded once, and nobody sees which system gave an answer. Annotators see the reference answers below the
answer for correctness, and the contexts that the system was given for faithfulness. For support, each nugget
of a query becomes a query of the grading project, and people grade how far an answer states the nugget. Empty
answers do not become documents; only the number of empty answers is reported.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from curation.core.digests import digest
from curation.core.errors import InputError, RefusedError
from curation.evaluation.answers.answer_files import SystemAnswer, SystemAnswers, read_answer_file
from curation.evaluation.answers.graded_answers import CORRECTNESS, FAITHFULNESS, SUPPORT
from curation.evaluation.scoring.release import EvaluatedRelease, read_release
from curation.evaluation.scoring.system_files import SystemFile
from curation.ingest.importers.nuggets import group_nugget_rows
from curation.ingest.readers.formats import FileLayout
from curation.labeling.rounds.query_draw import UNIT_FIELD
from curation.releases.frozen_release import load_release
from curation.store import Store

GUIDES = {CORRECTNESS: "answer-correctness", FAITHFULNESS: "answer-faithfulness", SUPPORT: "answer-support"}
_REASONS_NOT_GRADED = {
    CORRECTNESS: "answer to a query without reference answers",
    FAITHFULNESS: "answer without contexts",
    SUPPORT: "answer to a query without nuggets",
}
SECRET_TABLES = {CORRECTNESS: ("answers", "reference answers"), SUPPORT: ("nuggets", "nuggets")}
"""Map from graded property to the secret table that annotators would see, and its name in messages."""
References = Mapping[str, Sequence[Any]]
"""Map from query id to the reference answers or nuggets that annotators may see."""
GradingQuery = tuple[dict[str, str], list[str]]
"""Row of a query or of one of its nuggets in the file of queries, with the ids of the answers to grade."""


@dataclass(frozen=True)
class AnswersToGrade:
    """The report on the files that `write_answers_to_grade` wrote, with counts of answers.

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
    """Write the corpus, queries and candidates of a project in which annotators grade answers.

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
    references = _read_references(store, release, graded_property)
    files = [read_answer_file(source, release.known, layout) for source in sources]
    answers, left_out = _collect_distinct_answers(files, release, references, graded_property)
    if not answers:
        reasons = ", ".join(f"{count:,} × {reason}" for reason, count in left_out.items())
        raise RefusedError(f"There are no answers to grade for {graded_property}: {reasons}.")
    corpus = []
    for answer in answers:
        text = _write_text_to_grade(answer, references.get(answer.query_id, ()), graded_property)
        corpus.append({"id": answer.answer_id, "title": "", "text": text})
    _write_files(out, corpus, _make_grading_queries(answers, release.texts, references, graded_property))
    return AnswersToGrade(
        answers=len(answers),
        queries=len({answer.query_id for answer in answers}),
        guide=GUIDES[graded_property],
        files=("corpus.jsonl", "queries.jsonl", "answers.trec"),
        left_out=left_out,
    )


def _read_references(store: Store, release: EvaluatedRelease, graded_property: str) -> References:
    """Read, for each query, the reference answers or the nuggets that annotators may see while they grade
    answers."""
    table, name = SECRET_TABLES.get(graded_property, ("", ""))
    if not table:
        return {}
    if release.sealed:
        raise RefusedError(
            f"{', '.join(release.sealed)} of the release {release.name!r} is sealed: its {name} are not "
            "written into files. Choose another part with --part, or --for faithfulness, which needs no "
            f"{name}."
        )
    rows = list(load_release(store, release.frozen or release.name).rows(table))
    if graded_property == CORRECTNESS:
        return {row["query_id"]: row["answers"] for row in rows}
    return group_nugget_rows(rows)


def _make_grading_queries(
    answers: Sequence[SystemAnswer], texts: Mapping[str, str], references: References, graded_property: str
) -> list[GradingQuery]:
    """Make the queries of the project in which answers are graded; if support is graded, one query per
    nugget, where the nuggets of one original query are always drawn together."""
    ids_of: dict[str, list[str]] = {}
    for answer in answers:
        ids_of.setdefault(answer.query_id, []).append(answer.answer_id)
    if graded_property != SUPPORT:
        return [({"id": query_id, "text": texts[query_id]}, ids) for query_id, ids in sorted(ids_of.items())]
    queries = []
    for query_id, ids in sorted(ids_of.items()):
        for nugget in references[query_id]:
            text = f"{nugget.text} ({texts[query_id]})"
            row = {"id": nugget.make_id(query_id), "text": text, UNIT_FIELD: _hash_id(query_id)}
            queries.append((row, ids))
    return queries


def _hash_id(query_id: str) -> str:
    """Hash a query id, because imports redact ids that look like payment card numbers."""
    return f"q{digest('query', query_id)[:16]}"


def _collect_distinct_answers(
    files: Sequence[SystemAnswers], release: EvaluatedRelease, references: References, graded_property: str
) -> tuple[list[SystemAnswer], dict[str, int]]:
    """Collect each answer to grade once, ordered by query and id, and count the answers left out, by
    reason."""
    answers: dict[str, SystemAnswer] = {}
    left_out: Counter[str] = Counter()
    for file in files:
        left_out.update(file.left_out)
        for answer in file.answers.values():
            gradable = answer.contexts if graded_property == FAITHFULNESS else references.get(answer.query_id)
            if answer.query_id not in release.texts:
                left_out["answer to a query of another part"] += 1
            elif not answer.answer:
                left_out["empty answer"] += 1
            elif not gradable:
                left_out[_REASONS_NOT_GRADED[graded_property]] += 1
            elif answer.answer_id in answers:
                left_out["answer that is already in the files"] += 1
            else:
                answers[answer.answer_id] = answer
    return sorted(answers.values(), key=lambda answer: (answer.query_id, answer.answer_id)), dict(left_out)


def _write_files(out: Path, corpus: list[dict[str, str]], queries: Sequence[GradingQuery]) -> None:
    """Write the corpus, the queries, and the candidates as a run file."""
    query_rows = [row for row, _ in queries]
    lines = []
    for row, ids in queries:
        lines += [f"{row['id']} Q0 {name} {rank} {-rank} answers\n" for rank, name in enumerate(ids, 1)]
    try:
        out.mkdir(parents=True, exist_ok=True)
        for name, rows in (("corpus.jsonl", corpus), ("queries.jsonl", query_rows)):
            text = "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows)
            (out / name).write_text(text, encoding="utf-8")
        (out / "answers.trec").write_text("".join(lines), encoding="utf-8")
    except OSError as error:
        raise InputError(f"--out {out}: the folder could not be written: {error}.") from error


def _write_text_to_grade(answer: SystemAnswer, references: Sequence[Any], graded_property: str) -> str:
    """Write the text of one answer, with its references, as the document that an annotator reads and
    grades."""
    if graded_property == SUPPORT:
        return answer.answer
    if graded_property == CORRECTNESS:
        reference_list = "\n".join(f"- {reference}" for reference in references)
        return f"{answer.answer}\n\nReference answers:\n{reference_list}"
    context_list = "\n\n".join(f"[{number}] {text}" for number, text in enumerate(answer.contexts, 1))
    return f"{answer.answer}\n\nContexts:\n{context_list}"
