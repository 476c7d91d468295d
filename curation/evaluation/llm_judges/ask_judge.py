"""The operation that asks a language model to grade pairs.

The pairs come from the pool, from a release or from a round. Pairs of queries that a release seals are left
out. Each answer is stored under the hash of all that was sent, so a run continues where an earlier run ended,
and no pair is paid twice. The grades become the judge's judgments, which are never votes.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from curation.core.digests import sort_by_seed
from curation.core.errors import InputError, RefusedError
from curation.core.operation import Operation
from curation.core.progress import Progress
from curation.core.text import describe_left_out, pluralize
from curation.evaluation.llm_judges.judge_checks import OwnAnswers, read_own_answers
from curation.evaluation.llm_judges.judge_import import check_judge_name
from curation.evaluation.llm_judges.judge_judgments import JudgeJudgment, read_judge_judgments
from curation.evaluation.llm_judges.judge_prompt import (
    check_answer,
    make_judge_prompt,
    make_pair_call,
    read_judge_answer,
)
from curation.evaluation.llm_judges.judge_requests import JudgeRequest
from curation.guides.guide import Guide, current_guide
from curation.ingest.importers.external_corpus import store_linked_texts
from curation.labeling.rounds.candidates import Candidate, read_candidates
from curation.labeling.rounds.rounds import find_round
from curation.labeling.rounds.upcoming import QueueItem
from curation.labeling.session.texts import read_texts
from curation.people.annotators import require_author
from curation.people.seal_access import read_sealed_queries
from curation.queries.coverage.language_model import call_runs, chat, endpoint
from curation.queries.coverage.language_model.answers import MAX_TEXT_LENGTH, ModelCall, read_answers
from curation.releases.frozen_release import load_release
from curation.store import Cursor, Store, append_rows, record_event, utc_now

NOT_CURRENT = "the query is not in the current sample"
SEALED = "a release seals the grades of the query"
NOT_IN_CORPUS = "the document is not in the current corpus"
_NORMALISED = "SELECT normalised FROM queries WHERE query_id IN (SELECT unnest(?::TEXT[]))"
_ROUND = """
SELECT DISTINCT query_id, document_id, content_hash FROM live_presentations
WHERE round_id = ? ORDER BY query_id, document_id
"""
_KNOWN = "SELECT call_id, query_id, document_id, content_hash FROM judge_answers WHERE judge = ?"
_ANSWER_COLUMNS = (
    *("query_id", "document_id", "content_hash", "guide_hash", "call_id", "again"),
    *("grade", "quotes", "unfound", "instructions"),
)


class PairCall(NamedTuple):
    """A call that asks the model to grade a pair, marked as the first or the second call about this pair."""

    candidate: Candidate
    call: ModelCall
    again: bool


class JudgePlan(NamedTuple):
    """The calls to the model that a request for a judge's grades needs.

    Attributes
    ----------
    cut: number of characters of long documents that the calls leave out.
    left_out: reason → number of pairs.
    """

    judge: str
    named_model: str
    guide: Guide
    calls: Sequence[PairCall]
    work: call_runs.ModelWork
    cut: int
    left_out: Mapping[str, int]

    @property
    def sentences(self) -> list[str]:
        """Say to which host the pairs would be sent, how many pairs and tokens, and what is left out."""
        again = sum(item.again for item in self.calls)
        pairs = pluralize(len(self.calls) - again, "pair")
        sentences = [
            f"{self.judge} asks {self.named_model}: {pairs}, {again:,} of them twice. {self.work.sentence}",
            *describe_left_out(self.left_out, "pairs"),
        ]
        if self.cut:
            parts = f"Only {MAX_TEXT_LENGTH:,} characters of a long document are sent"
            sentences.append(f"{parts}; {self.cut:,} characters in total are not sent.")
        return sentences


@dataclass(frozen=True)
class AskedJudge:
    """The outcome of asking a judge: its grades, and what was sent.

    Attributes
    ----------
    graded: number of pairs of the request with a grade, `new` of them new or changed by this run.
    cannot_tell: reason → number of pairs without a grade.
    own: counts of all the judge's answers.
    without: settings that the endpoint rejected.
    """

    judge: str
    graded: int
    new: int
    cannot_tell: Mapping[str, int]
    own: OwnAnswers
    without: Sequence[str]
    left_out: Mapping[str, int]
    spent: call_runs.ModelSpending

    @property
    def sentences(self) -> list[str]:
        """Say how many answers have a grade and how many have none, and what was sent to the model."""
        graded = f"{self.judge} graded {pluralize(self.graded, 'pair')}, {self.new:,} of them new or changed."
        sentences = [f"{graded} The grades do not count as votes.", *self.spent.sentences]
        untold = {f"cannot tell: {reason}": count for reason, count in self.cannot_tell.items()}
        sentences += [*describe_left_out({**self.left_out, **untold}, "pairs"), *self.own.sentences]
        if self.without:
            sentences.append(f"The endpoint rejected these settings: {', '.join(self.without)}.")
        return sentences


def plan_judge(store: Store, request: JudgeRequest) -> JudgePlan:
    """Plan the calls to the model for a request, without sending anything.

    Raises
    ------
    InputError: the name cannot be used, or both a release and a round are named.
    NotFoundError: no release or round has this name.
    RefusedError: the judge of this name is another model, or there are no pairs.
    """
    if request.release is not None and request.round is not None:
        raise InputError("The pairs come from a release or from a round: name one of them.")
    environment = _read_environment(request)
    model = endpoint.read_model(environment)
    with store.reading() as cursor:
        check_judge_name(cursor, request.name)
        _refuse_other_model(cursor, request.name, model)
    candidates, left_out = _choose_pairs(store, request)
    store_linked_texts(store, (candidate.document_id for candidate in candidates))
    with store.reading() as cursor:
        guide = current_guide(cursor)
        calls, cut = _make_calls(cursor, request, model, guide, candidates)
    work = call_runs.plan_calls(store, [item.call for item in calls], endpoint.read_prices())
    named_model = endpoint.name_model(environment)
    return JudgePlan(request.name, named_model, guide, calls, work, cut, left_out)


def ask_judge(
    store: Store,
    request: JudgeRequest,
    progress: Progress,
    author: str,
    say: Callable[..., object] = lambda *_sentences: None,
) -> AskedJudge:
    """Send the request's calls that have no stored answer yet, and store the judge's grades.

    Parameters
    ----------
    say: function that gets the plan's sentences before the first request.

    Raises
    ------
    InputError, NotFoundError: as for `plan_judge`; the environment names no endpoint.
    RefusedError: as for `plan_judge`; the endpoint refuses all calls; the author is not a lead.
    """
    with store.reading() as cursor:
        require_author(cursor, author, "lead")
    found = endpoint.find_endpoint(_read_environment(request))
    plan = plan_judge(store, request)
    say(*plan.sentences)
    limits = call_runs.CallLimits(found, request.calls, request.parallel, rate=request.rate)
    calls = [item.call for item in plan.calls]
    spent = call_runs.send_calls(store, calls, check_answer, limits, progress)
    return _store_grades(store, plan, spent, author, sorted(chat.find_rejected_settings(found)))


OPERATIONS = {
    "ask judge": Operation(
        JudgeRequest,
        ask_judge,
        "a language model is grading pairs",
        "The answers so far are stored. The same request continues there, and pays for no pair twice.",
    )
}


def _read_environment(request: JudgeRequest) -> Mapping[str, str]:
    """Read the model's settings from the environment variables; the request may name another model."""
    return os.environ if request.model is None else {**os.environ, endpoint.MODEL: request.model}


def _refuse_other_model(cursor: Cursor, judge: str, model: str) -> None:
    sql = "SELECT DISTINCT source FROM current_judge_judgments WHERE judge = ? ORDER BY source"
    sources = [source for (source,) in cursor.execute(sql, [judge]).fetchall()]
    if sources and sources != [_name_source(model)]:
        raise RefusedError(
            f"The judge {judge} has grades from {', '.join(sources)}. A judge is one model: give the judge "
            "of a different model a different name."
        )


def _name_source(model: str) -> str:
    return f"the model {model}"


def _choose_pairs(store: Store, request: JudgeRequest) -> tuple[list[Candidate], dict[str, int]]:
    """Choose the pairs that the judge grades from the pool, from a release or from a round, excluding pairs
    of sealed queries."""
    left_out: Counter[str] = Counter()
    release = None if request.release is None else load_release(store, request.release)
    with store.reading() as cursor:
        sealed = read_sealed_queries(cursor)
        if release is not None:
            versions = {row["document_id"]: row["content_hash"] for row in release.rows("documents")}
            pairs = [(row["query_id"], row["document_id"]) for row in release.rows("qrels")]
            chosen = [Candidate(*pair, versions[pair[1]]) for pair in pairs if pair[1] in versions]
        elif request.round is not None:
            round_id = find_round(cursor, request.round).round_id
            chosen = [Candidate(*row) for row in cursor.execute(_ROUND, [round_id]).fetchall()]
        else:
            chosen = []
            rows, active = read_candidates(cursor)
            for row in rows:
                if row.query_id not in active:
                    left_out[NOT_CURRENT] += 1
                elif row.content_hash is None:
                    left_out[NOT_IN_CORPUS] += 1
                else:
                    chosen.append(Candidate(row.query_id, row.document_id, row.content_hash))
    left_out[SEALED] = sum(candidate.query_id in sealed for candidate in chosen)
    opened = [candidate for candidate in chosen if candidate.query_id not in sealed]
    if not opened:
        raise RefusedError("There are no pairs to grade.", command="`goldgrade pool` builds a pool.")
    return opened, dict(+left_out)


def _make_calls(
    cursor: Cursor, request: JudgeRequest, model: str, guide: Guide, candidates: Sequence[Candidate]
) -> tuple[list[PairCall], int]:
    """Make a first call about each pair, and a second call about some pairs; also count the characters left
    out of documents."""
    rows = cursor.execute(_NORMALISED, [sorted(read_sealed_queries(cursor))]).fetchall()
    sealed = {text for (text,) in rows}
    prompts = [make_judge_prompt(guide, sealed, request.instructions, again) for again in (False, True)]
    items = [
        QueueItem(str(number), "", *candidate, 0, None, 0, None, None, False)
        for number, candidate in enumerate(candidates)
    ]
    texts = read_texts(cursor, items, ()).values()
    ordered = sort_by_seed(candidates, request.seed, lambda row: ["judge twice", *row])
    twice = {candidate.pair for candidate in ordered[: round(request.again * len(ordered))]}
    calls, left_out = [], 0
    for candidate, text in zip(candidates, texts, strict=True):
        for again in (False, True)[: 1 + (candidate.pair in twice)]:
            call, cut = make_pair_call(prompts[again], model, text, guide, request.seed, again)
            calls.append(PairCall(candidate, call, again))
            left_out += 0 if again else cut
    return calls, left_out


def _store_grades(
    store: Store, plan: JudgePlan, spent: call_runs.ModelSpending, author: str, without: Sequence[str]
) -> AskedJudge:
    """Store the judge's grades from the model's answers so far, and count them."""
    grades: list[int | None] = []
    cannot_tell: Counter[str] = Counter()
    guide_hash, model = plan.guide.guide_hash, plan.calls[0].call.model
    answer_rows, judgment_rows = [], []
    with store.transaction(appends=True) as cursor:
        stored = read_answers(cursor, [item.call for item in plan.calls])
        known = set(cursor.execute(_KNOWN, [plan.judge]).fetchall())
        judged = {Candidate(*row[:3]): row for row in read_judge_judgments(cursor, plan.judge)}
        for candidate, call, again in plan.calls:
            answer = read_judge_answer(call, stored, plan.guide.values)
            if answer is None:
                continue
            if (call.call_id, *candidate) not in known:
                row = (*candidate, guide_hash, call.call_id, again, answer.grade)
                answer_rows.append((*row, answer.quotes, answer.unfound, answer.instructions))
            if again:
                continue
            grades.append(answer.grade)
            cannot_tell.update([answer.reason] if answer.grade is None else [])
            last = judged.get(candidate)
            if last is None or (last.grade, last.guide_hash) != (answer.grade, guide_hash):
                revision = 0 if last is None else last.revision + 1
                judgment_rows.append((*candidate, revision, answer.grade, guide_hash, answer.reason))
        append_rows(cursor, "judge_answers", answer_rows, _ANSWER_COLUMNS, judge=plan.judge)
        columns = (*JudgeJudgment._fields, "note")
        facts = {"judge": plan.judge, "source": _name_source(model)}
        if append_rows(cursor, "judge_judgments", judgment_rows, columns, **facts, imported_at=utc_now()):
            record_event(cursor, "ask judge", {**facts, "judgments": len(judgment_rows)}, author)
        own = read_own_answers(cursor, plan.judge)
    counts = (len(grades) - cannot_tell.total(), len(judgment_rows), dict(cannot_tell))
    return AskedJudge(plan.judge, *counts, own, without, plan.left_out, spent)
