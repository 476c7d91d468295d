"""Questions that a model writes for drawn documents: quoted, checked by a second model, or rejected."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from curation.core.errors import InputError, RefusedError
from curation.ingest.importers.queries import read_active_queries
from curation.people.accounts import add_annotator
from curation.queries.coverage.language_model.call_session import ENDED_BY_LIMIT
from curation.queries.coverage.language_model.endpoint import find_check_endpoint
from curation.queries.coverage.language_model.prompting import load_prompt
from curation.queries.coverage.writing.checks import ALIKE, COPIED, PERSONAL
from curation.queries.coverage.writing.coverage_queries import list_queries
from curation.queries.questions.document_draw import draw_aims
from curation.queries.questions.kinds import KINDS
from curation.queries.questions.question_calls import ANSWERED, MISQUOTED, NOT_BOTH, UNANSWERED, UNNATURAL
from curation.queries.questions.write_questions import NO_QUESTION, WrittenQuestions, write_questions
from curation.queries.requests import QUESTION_KINDS, QuestionRequest
from curation.store import Store
from tests.support.command_line import invoke
from tests.support.gold_project import write_corpus
from tests.support.language_model import KEY, MODEL, ServedModel, model
from tests.support.pool_project import put_queries
from tests.support.projects import PASSWORD, built_once, rows_of

__all__ = ["model"]

TREES = ("alder", "birch", "cedar", "ebony", "hazel", "maple")
SECRET = "planted-and-sealed"
TEXTS = {
    "keyword": "{} fuel use",
    "question": "what does the {} consume yearly",
    "paraphrase": "{} petrol need",
    "misspelled": "yearly consumpion {}",
    "multi-hop": "who needs more, {} or {other}?",
    "unanswerable": "{} price in euros",
}
WORDING = {kind.wording: name for name, kind in KINDS.items()}


def fill(store: Store) -> Store:
    from curation.ingest.importers.corpus import import_corpus

    rows = [
        {
            "id": f"{tree}{copy}",
            "text": text(tree) + " Again." * copy,
            "size": "big" if tree < "c" else "small",
        }
        for tree in TREES
        for copy in range(2 if tree == "alder" else 1)
    ]
    import_corpus(store, write_corpus(store.path.parent / "documents.jsonl", rows))
    put_queries(store, {"q1": "tallest known oak"})
    with store.transaction() as cursor:
        cursor.execute("UPDATE queries SET information_need = ?", [SECRET])
    return store


project = built_once(fill)


def text(tree: str) -> str:
    """Two trees share a word, so that each has a nearest document."""
    place = "valley mountain seaside".split()[TREES.index(tree) // 2]
    return f"{tree.title()} engines burn {len(tree)} litres of {place} oil in one winter."


def answers(writes: Callable[[str, str], dict[str, Any]] | None = None, **verdict: Any) -> Any:
    """A writer that does as `writes` says, and an honest checker that finds trees, but for `verdict`."""

    def answer(prompt: str, material: Any) -> str:
        if prompt == load_prompt("questions"):
            body = material["document"]["text"]
            tree, other = body.split()[0].lower(), material.get("other", material["document"])["text"]
            kinds = [WORDING[wording] for wording in material["kinds"]]
            names = {kind: TEXTS[kind].format(tree, other=other.split()[0].lower()) for kind in kinds}
            quotes = {"unanswerable": [], "multi-hop": [body.partition(".")[0], other.partition(".")[0]]}
            usual = [
                {"query": names[kind], "quotes": quotes.get(kind, [body.partition(".")[0]])} for kind in kinds
            ]
            changes = writes(kinds[0], tree) if writes else {}
            return json.dumps({"queries": [{**row, **changes} for row in usual]})
        assert material.keys() == {"documents", "query"}  # the checker sees no claim
        asked = {tree for tree in TREES if tree in material["query"] and "price" not in material["query"]}
        found = [
            {"document": row["number"], "whole": len(asked) == 1, "quote": row["text"].partition(".")[0]}
            for row in material["documents"]
            if asked.intersection(row["text"].lower().split())
        ]
        return json.dumps({"reads_as_query": True, "answers": found} | verdict)

    return answer


def written(store: Store, served: ServedModel, calls: int | None = None, **changes: Any) -> WrittenQuestions:
    request = QuestionRequest(**{"documents": 4, "per_document": 3, "seed": 3, **changes})
    return write_questions(store, request, served.asking(calls), find_check_endpoint())


def test_every_kind_is_stored_with_all_that_decided_it_and_paid_once(
    project: Store, model: ServedModel
) -> None:
    model.answer = answers()
    found = written(project, model, documents=7, per_document=6)
    with project.reading() as cursor:
        queries = list_queries(cursor)
        active = {query.text: query.source for query in read_active_queries(cursor)}
    kinds = Counter(query.style for query in queries)
    assert set(kinds) == set(QUESTION_KINDS) == set(KINDS)
    assert {(query.source, query.writer, query.map_id) for query in queries} == {("synthetic", MODEL, None)}
    details = [json.loads(query.detail) for query in queries]
    assert {(one["probability"], one["checked_by"], one["stratum"]) for one in details} == {
        (1.0, MODEL, "all documents")
    }
    assert sum(source == "synthetic" for source in active.values()) == len(queries) == len(found.questions)
    tags = rows_of(project, "SELECT tag, count(*) FROM current_query_tags GROUP BY tag ORDER BY tag")
    assert dict(tags) == {
        "misspelling": kinds["misspelled"],
        "multi-hop": kinds["multi-hop"],
        "unanswerable": kinds["unanswerable"],
    }
    candidates = rows_of(project, "SELECT query_id, document_id FROM candidates")
    for query in queries:
        proposed = {document for name, document in candidates if name == query.query_id}
        expected = {
            "unanswerable": set[str](),
            "multi-hop": {query.document_id, *json.loads(query.detail)["also"]},
        }.get(query.style, {"alder0", "alder1"} if "alder" in query.document_id else {query.document_id})
        assert proposed == expected  # what BM25 found to answer it is a candidate, too
    assert "a second model would find more mistakes" in " ".join(found.sentences)
    sent = model.sent
    again = written(project, model, documents=7, per_document=6)
    assert (model.sent, again.questions, again.known) == (sent, [], 7 * 6)
    assert SECRET not in json.dumps(model.requests)


def say(query: str) -> Any:
    return lambda kind, tree: {"query": query.format(tree)}


@pytest.mark.parametrize(
    ("kind", "answer", "reason"),
    [
        ("keyword", answers(lambda kind, tree: {"quotes": ["nowhere to be read"]}), MISQUOTED),
        ("keyword", answers(lambda kind, tree: {"quotes": []}), MISQUOTED),
        ("multi-hop", answers(lambda kind, tree: {"quotes": [text(tree)] * 2}), MISQUOTED),
        ("paraphrase", answers(say("{} engines burn")), COPIED),
        ("paraphrase", answers(say("tallest known oaks")), ALIKE),
        ("question", answers(say("who is ann@example.org")), PERSONAL),
        ("keyword", answers(reads_as_query=False), UNNATURAL),
        ("keyword", answers(answers=[]), UNANSWERED),
        ("keyword", answers(answers=[{"document": 1, "whole": True, "quote": "no words of it"}]), UNANSWERED),
        ("unanswerable", answers(say("{} fuel use")), ANSWERED),
        ("multi-hop", answers(answers=[]), NOT_BOTH),
        ("multi-hop", answers(say("what does the {} consume?")), NOT_BOTH),
        ("keyword", answers(say("")), NO_QUESTION),
    ],
)
def test_what_fails_is_kept_with_its_reason(
    project: Store, model: ServedModel, kind: str, answer: Any, reason: str
) -> None:
    model.answer = answer
    found = written(project, model, documents=1, per_document=1, kinds=(kind,))
    assert (found.questions, dict(found.rejected)) == ([], {reason: 1})
    rejected = rows_of(project, "SELECT kind, reason FROM rejected_questions")
    assert rejected == ([] if reason == NO_QUESTION else [(kind, reason)])


def test_documents_are_drawn_with_the_probability_that_is_stored(project: Store) -> None:
    aims, _ = draw_aims(project, QuestionRequest(documents=4, strata="size", seed=1))
    shares = {(aim.stratum, aim.probability) for aim in aims}
    assert shares == {("big", 2 / 3), ("small", 2 / 4)}  # two of three, and two of four
    assert draw_aims(project, QuestionRequest(documents=4, strata="size", seed=1))[0] == aims
    assert [aim.document for aim in draw_aims(project, QuestionRequest(documents=4, seed=2))[0]] != [
        aim.document for aim in aims
    ]
    counts = Counter(kind for aim in aims for kind in aim.kinds)
    assert set(counts.values()) == {2}  # each kind as often


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"strata": "colour"}, InputError, "No document has the field 'colour'"),
        ({"strata": "size", "documents": 1}, InputError, "has 2 values, which is more than the 1 document"),
        ({"strata": "region"}, RefusedError, "no coverage map"),
        ({"kinds": ("riddle",)}, InputError, "found 'riddle'"),
        ({"share": 0.0}, InputError, "share"),
    ],
)
def test_a_request_that_cannot_be_met_sends_nothing(
    project: Store, model: ServedModel, changes: Any, error: Any, message: str
) -> None:
    with pytest.raises(error, match=message):
        written(project, model, **changes)
    add_annotator(project, "ann", "annotator", PASSWORD)
    with pytest.raises(RefusedError):
        write_questions(project, QuestionRequest(), model.asking(), find_check_endpoint(), "ann")
    assert model.sent == 0


def test_a_limit_ends_the_run_and_the_next_one_goes_on(project: Store, model: ServedModel) -> None:
    model.answer = answers()
    first = written(project, model, calls=5)
    assert (model.sent, first.ended) == (5, ENDED_BY_LIMIT)
    second = written(project, model)
    assert second.ended is None
    assert model.sent == 4 + 4 * 3  # a call for each document, and one for each question
    assert len(second.questions) + second.rejected.total() + second.known == 4 * 3


def test_a_second_endpoint_checks_and_gets_a_key_of_its_own(
    project: Store, model: ServedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    model.answer = answers()
    monkeypatch.setenv("GOLDGRADE_LLM_CHECK_URL", model.url)
    monkeypatch.setenv("GOLDGRADE_LLM_CHECK_MODEL", "other-model")
    found = written(project, model, documents=1, per_document=1, kinds=("keyword",))
    assert f"{MODEL} writes, other-model checks." in found.sentences
    keys = zip((request["model"] for request in model.requests), model.keys, strict=True)
    assert list(keys) == [(MODEL, f"Bearer {KEY}"), ("other-model", None)]


def test_the_command_sends_only_with_the_option(project: Store, model: ServedModel, goldgrade: Any) -> None:
    model.answer = answers()
    asked = ("queries", "write", "--per-document", "2", "--documents", "3", "--kinds", "keyword,unanswerable")
    shown = goldgrade(*asked)
    assert model.sent == 0
    assert "6 questions for 3 documents: 9 calls to send with about" in shown
    assert f"{MODEL} at 127.0.0.1 both writes and checks" in shown
    assert "Nothing was sent: add --send" in shown
    done = invoke(["--project", str(project.path), *asked, "--send"])
    assert "9 requests sent" in done.stderr
    assert "3 of them unanswerable, for 3 documents." in done.stdout
