"""Answers for people to grade: each answer becomes a document of a project of its own.

So answers go through the same rounds as documents: several annotators, blind duplicates, agreement, disputes,
a release. An answer is known by the hash of query, text and contexts: equal answers of two systems are graded
once, and nobody sees whose an answer is. For correctness the references are shown below the answer, for
faithfulness the contexts that the system was given. For support each nugget of a query is a query of that
project, and people grade how far an answer says it. Empty answers are no documents; they are counted.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from curation.core.errors import InputError, RefusedError
from curation.core.text import digest
from curation.evaluation.answers.answer_files import AnswerSource, SystemAnswer, read_answer_file
from curation.evaluation.scoring.inputs.release import read_release
from curation.ingest.importers.answers.nuggets import nuggets_of_rows
from curation.ingest.importers.queries import KnownQueries
from curation.ingest.readers.formats import FileLayout
from curation.labeling.rounds.query_draw import UNIT
from curation.releases.verify import load_release
from curation.store import Store

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
    rows = list(load_release(store, release_name).rows(part)) if part else []
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
    """What is asked about answers: a query, or one of its nuggets, which are drawn with their query."""

    id: str
    text: str
    answers: list[str]
    unit: dict[str, str]


def _asked(
    found: Sequence[SystemAnswer], texts: Mapping[str, str], shown: Mapping[str, Sequence[Any]], what: str
) -> list[_Asked]:
    answers: dict[str, list[str]] = {}
    for one in found:
        answers.setdefault(one.query_id, []).append(one.answer_id)
    if what != SUPPORT:
        return [_Asked(query_id, texts[query_id], ids, {}) for query_id, ids in sorted(answers.items())]
    return [
        _Asked(nugget.id_for(query_id), f"{nugget.text} ({texts[query_id]})", ids, {UNIT: _unit(query_id)})
        for query_id, ids in sorted(answers.items())
        for nugget in shown[query_id]
    ]


def _unit(query_id: str) -> str:
    """Hashed, as an id might look like a card's number, which no import keeps."""
    return f"q{digest('query', query_id)[:16]}"


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
    left_out: Counter[str] = Counter()
    for source in sources:
        file = read_answer_file(source, known, layout)
        left_out.update(file.left_out)
        for answer in file.answers.values():
            gradable = answer.contexts if what == FAITHFULNESS else shown.get(answer.query_id)
            if answer.query_id not in texts:
                left_out["answer to a query of another part"] += 1
            elif not answer.answer:
                left_out["empty answer"] += 1
            elif not gradable:
                left_out[_NOT_GRADED[what]] += 1
            elif answer.answer_id in found:
                left_out["the same answer again"] += 1
            else:
                found[answer.answer_id] = answer
    return sorted(found.values(), key=lambda answer: (answer.query_id, answer.answer_id)), dict(left_out)


def _write(out: Path, corpus: Sequence[Mapping[str, str]], asked: Sequence[_Asked]) -> None:
    queries = [{"id": one.id, "text": one.text, **one.unit} for one in asked]
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
