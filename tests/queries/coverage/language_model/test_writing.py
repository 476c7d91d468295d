"""Queries by a language model for gaps: chosen by coverage, checked, verified, and judged by people."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest

from curation.core.errors import InputError, RefusedError
from curation.ingest.importers.queries import read_active_queries
from curation.people.accounts import add_annotator
from curation.pooling.pool import build_pool
from curation.pooling.request import PoolRequest
from curation.queries.coverage.language_model.call_session import ENDED_BY_ENDPOINT, ENDED_BY_LIMIT
from curation.queries.coverage.language_model.prompting import MalformedAnswerError, hash_prompt, load_prompt
from curation.queries.coverage.language_model.writing import (
    ELSEWHERE,
    GIVEN_UP,
    NO_CANDIDATE,
    NOT_NEEDED,
    UNANSWERED,
    UNQUOTED,
    SyntheticQueries,
    write_queries,
)
from curation.queries.coverage.language_model.writing_calls import (
    has_valid_quote,
    read_candidates,
    read_verification,
)
from curation.queries.coverage.language_model.writing_plan import WritingRequest, estimate_writing
from curation.queries.coverage.report import find_coverage
from curation.queries.coverage.writing.checks import (
    ALIKE,
    COPIED,
    NO_SENSE,
    OTHER_STYLE,
    PERSONAL,
    find_refusal,
)
from curation.queries.coverage.writing.coverage_queries import ORIGIN
from curation.queries.coverage.writing.styles import STYLES
from curation.queries.coverage.writing.synthetic_queries import draw_queries, read_judged_origins
from curation.store import Document, Query, Store
from tests.support.command_line import invoke
from tests.support.coverage_project import COARSE, TOPICS, measured, put_vectors
from tests.support.http_server import HttpAnswer
from tests.support.language_model import MODEL, ServedModel, model
from tests.support.logged import log
from tests.support.pool_project import judge
from tests.support.projects import PASSWORD, built_once, rows_of

pytestmark = pytest.mark.slow

__all__ = ["model"]

WORDINGS = {
    "1–2 words": "{} hire",
    "3–4 words": "{} that works",
    "a natural question": "why would anybody want a {} today",
}
BOTH = "ship or moon"
NOWHERE = "something else entirely"


def fill(store: Store) -> Store:
    measured(store)
    texts = [wording.format(topic) for wording in WORDINGS.values() for topic in [*TOPICS, BOTH, "moonship"]]
    put_vectors(store, "query", [*texts, NOWHERE, "ship", "moon"])
    return store


project = built_once(fill)
REQUEST = WritingRequest(queries=5, share=0.5, seed=3, candidates=3)
Proposes = Callable[[str, str], list[str]]


def own(topic: str, wording: str) -> list[str]:
    return [wording.format(topic)]


def writes(proposes: Proposes = own, answered: bool = True, quote: str | None = None) -> Any:
    """A model that proposes so, and that finds the answer in the document by a quote of all of it."""

    def answer(prompt: str, material: Any) -> str:
        text = material["document"]["text"]
        if prompt == load_prompt("answerable"):
            return json.dumps({"answered": answered, "quote": text.rstrip(".") if quote is None else quote})
        assert prompt == load_prompt("queries")
        [topic] = [topic for topic in TOPICS if topic in text]
        wording = WORDINGS[material["style"].partition(", ")[0]]
        return json.dumps({"queries": proposes(topic, wording)})

    return answer


@pytest.fixture(autouse=True)
def writes_own(model: ServedModel) -> None:
    model.answer = writes()


def written(
    store: Store, model: ServedModel, most_calls: int | None = None, **changes: Any
) -> SyntheticQueries:
    return write_queries(store, REQUEST._replace(**changes), model.asking(most_calls))


def in_force(store: Store) -> list[Query]:
    with store.reading() as cursor:
        return [query for query in read_active_queries(cursor) if query.source == "synthetic"]


def test_every_gap_gets_a_query_with_all_that_decided_it(project: Store, model: ServedModel) -> None:
    found = written(project, model)
    assert (len(found.written), found.gaps, found.gaps_left, found.ended) == (2, 2, 0, None)
    assert {row.source for row in found.written} == {"synthetic"}
    assert {row.writer for row in found.written} == {MODEL}
    assert found.spent.requests == model.sent == 2 * (3 + 2)  # three documents, and two checks of the best
    for row in found.written:
        detail = json.loads(row.detail)
        assert set(detail["prompts"].values()) == {
            hash_prompt(load_prompt(n)) for n in ("queries", "answerable")
        }
        assert (detail["share"], detail["seed"], detail["candidates"]) == (0.5, 3, 3)
        assert row.cluster in detail["regions"]
        assert STYLES[row.style].matches(row.text)


def test_the_share_that_people_judge_is_in_force_and_pooled_and_the_rest_withheld(
    project: Store, model: ServedModel
) -> None:
    found = written(project, model)
    assert (found.drawn.queries, found.drawn.drawn, found.drawn.share) == (2, 1, 0.5)
    [drawn] = in_force(project)
    origin = {row.query_id: row.document_id for row in found.written}
    candidates = rows_of(project, "SELECT query_id, document_id, system FROM candidate_sources")
    assert candidates == [(drawn.query_id, origin[drawn.query_id], ORIGIN)]
    report = find_coverage(project, COARSE)
    assert report.zqc == 1  # what is withheld tests nothing
    assert (report.synthetic, report.queries) == (1, 4)
    assert report.without_synthetic is not None
    assert report.without_synthetic.zqc == 2
    assert "4 queries, 1 of them synthetic" in "".join(report.details)
    assert report.method_tables[0].rows[-1][0] == "regions, without synthetic queries"
    build_pool(project, PoolRequest(["bm25"], 3, 0, 0))
    pooled = {
        row[0] for row in rows_of(project, "SELECT query_id FROM candidate_sources WHERE system = 'bm25'")
    }
    assert drawn.query_id in pooled
    assert not pooled & ({row.query_id for row in found.written} - {drawn.query_id})
    assert written(project, model).gaps == 0  # withheld ones are not written again
    raised = draw_queries(project, 1.0, 9)
    assert (raised.added, raised.drawn) == (1, 2)
    proposed = rows_of(
        project, "SELECT query_id, document_id FROM candidate_sources WHERE system = ?", ORIGIN
    )
    assert dict(proposed) == origin
    assert len(in_force(project)) == 2
    assert draw_queries(project, 0.1, 9).drawn == 2  # never fewer
    assert find_coverage(project, COARSE).zqc == 0


def test_the_candidate_that_adds_most_to_coverage_is_chosen(project: Store, model: ServedModel) -> None:
    about = cycle(["sonnet", "{}", "moonship"])  # of each document in turn
    model.answer = writes(lambda topic, wording: [wording.format(next(about).format(topic))])
    put_vectors(project, "query", [wording.format("sonnet") for wording in WORDINGS.values()])
    found = written(project, model)
    assert [len(json.loads(row.detail)["regions"]) for row in found.written] == [2]
    assert "moonship" in found.written[0].text
    assert (found.gaps, found.gaps_left) == (2, 0)
    assert (found.refused[NOT_NEEDED], found.refused[ELSEWHERE]) == (1, 1)
    assert len({request["messages"][1]["content"] for request in model.requests[:3]}) == 3


def test_regions_of_few_queries_are_filled_to_five_the_largest_first(
    project: Store, model: ServedModel
) -> None:
    forms = dict(zip(WORDINGS.values(), ("{} tea", "{} leaf tea sale", "is {} tea wet"), strict=True))
    sorts = ("apple", "birch", "cedar", "daisy", "elder", "fig")
    put_vectors(project, "query", [form.format(sort) for form in forms.values() for sort in sorts])
    left = iter(sorts)
    model.answer = writes(lambda topic, wording: [forms[wording].format(next(left))])
    found = written(project, model, fill=True, queries=2)
    assert {row.document_id.strip("0123456789") for row in found.written} == {"tea"}
    assert (found.gaps, found.gaps_left, len(found.written)) == (1, 1, 2)
    rest = written(project, model, fill=True, queries=9)
    assert (rest.gaps_left, len(rest.written)) == (0, 1)  # what is withheld counts
    alignments = [json.loads(row.detail)["alignment"] for row in [*found.written, *rest.written]]
    assert all(0 <= one <= 1 for one in alignments)


def test_gaps_come_by_traffic(project: Store, model: ServedModel) -> None:
    log(project, [("moon", 9), ("ship", 1)])
    found = written(project, model, queries=1)
    assert ["moon" in row.text for row in found.written] == [True]


@pytest.mark.parametrize("answer", [writes(answered=False), writes(quote="not in it"), writes(quote="")])
def test_what_the_document_does_not_answer_is_not_written(
    project: Store, model: ServedModel, answer: Any
) -> None:
    model.answer = answer
    found = written(project, model)
    assert (found.written, found.gaps_left) == ([], 2)
    assert found.refused == {UNANSWERED: 2 * 6}  # two gaps of six documents
    assert found.left_out == {GIVEN_UP: 2}
    assert in_force(project) == []


def test_a_quote_that_is_no_answer_by_itself_is_none(project: Store, model: ServedModel) -> None:
    """The document answers, and a word of it is quoted: the third call has the word alone."""

    def answer(prompt: str, material: Any) -> str:
        if prompt == load_prompt("answerable"):
            text = material["document"]["text"]
            return json.dumps({"answered": " " in text, "quote": text.split()[0]})
        return str(writes()(prompt, material))

    model.answer = answer
    found = written(project, model)
    assert (found.written, found.refused) == ([], {UNQUOTED: 2 * 6})
    assert found.spent.requests == model.sent == 2 * 6 * 3 - 1  # one query and word come twice
    assert written(project, model).spent.requests == 0  # each answer is kept


def test_a_document_that_the_endpoint_rejects_is_passed_over_and_five_rejections_end_the_work(
    project: Store, model: ServedModel
) -> None:
    model.faults = [HttpAnswer(400, "{}")]
    found = written(project, model, queries=1)
    assert (len(found.written), found.refused[NO_CANDIDATE], found.ended) == (1, 1, None)
    model.faults, sent = [HttpAnswer(400, "{}")] * 50, model.sent
    assert written(project, model).ended == ENDED_BY_ENDPOINT
    assert model.sent - sent < 5 + 5


def test_a_limit_of_calls_ends_the_work_and_the_next_run_pays_only_for_the_rest(
    project: Store, model: ServedModel
) -> None:
    model.faults = [HttpAnswer(503, "{}"), HttpAnswer(503, "{}")]  # asked again, and counted
    first = written(project, model, most_calls=9)
    assert (len(first.written), first.ended, model.sent) == (1, ENDED_BY_LIMIT, 9)
    assert first.drawn.drawn == 1  # people judge half of what there is, rounded up
    second = written(project, model)
    assert (len(second.written), second.ended, model.sent) == (1, None, 12)


def test_an_endpoint_that_fails_ends_the_work_and_keeps_what_was_written(
    project: Store, model: ServedModel
) -> None:
    model.answer = writes()
    busy = HttpAnswer(429, "{}", {"Retry-After": "3600"})
    first = written(project, model, queries=1)
    model.faults = [busy]
    second = written(project, model)
    assert (len(first.written), len(second.written), second.ended) == (1, 0, ENDED_BY_ENDPOINT)
    model.faults = [HttpAnswer(401, "{}")]
    with pytest.raises(RefusedError, match="HTTP 401"):
        written(project, model)
    assert len(written(project, model).written) == 1


def test_a_plan_sends_nothing_and_bounds_what_is_sent(project: Store, model: ServedModel) -> None:
    work = estimate_writing(project, REQUEST, MODEL, (1e6, 1e6))
    assert model.sent == 0
    assert (work.queries, work.gaps, work.least_calls, work.most_calls) == (2, 2, 2 * 5, 2 * 6 * 3)
    assert work.least_price == work.least_tokens < work.most_tokens
    written(project, model)
    assert work.least_calls <= model.sent <= work.most_calls


@pytest.mark.parametrize(
    ("changes", "problem"),
    [({"share": 0.0}, "share"), ({"share": 1.5}, "share"), ({"queries": 0}, "queries")],
)
def test_a_request_out_of_range_is_refused_before_anything_is_sent(
    project: Store, model: ServedModel, changes: dict[str, Any], problem: str
) -> None:
    with pytest.raises(InputError, match=problem):
        written(project, model, **changes)
    assert model.sent == 0


def test_only_leads_have_queries_written_or_drawn(project: Store, model: ServedModel) -> None:
    add_annotator(project, "ann", "annotator", PASSWORD)
    with pytest.raises(RefusedError):
        write_queries(project, REQUEST, model.asking(), "ann")
    with pytest.raises(RefusedError):
        draw_queries(project, 1.0, 0, "ann")
    assert model.sent == 0


def test_people_say_how_many_of_the_queries_fit_their_document(
    project: Store, model: ServedModel, tmp_path: Path
) -> None:
    found = written(project, model, share=1.0)
    one, other = found.written
    judge(project, tmp_path, {(one.query_id, one.document_id): 2, (other.query_id, other.document_id): 0})
    [origins] = read_judged_origins(project)
    assert origins[:5] == (MODEL, 2, 0, 2, 1)
    assert origins.share.has_interval
    assert (origins.share.low or 0) < 0.5 < (origins.share.high or 0)


STYLE = STYLES["medium generic"]
TEA = Document("d", "h", "Green tea", "It is steamed, not dried in the sun.")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("leaves that keep colour", None),
        ("leaves", OTHER_STYLE),
        ("why do the leaves keep their colour", OTHER_STYLE),
        ("how leaves keep colour", OTHER_STYLE),
        ("effects effect study", NO_SENSE),
        ("about this and that", NO_SENSE),
        ("best green tea sorts", COPIED),
        ("dried in the sun", COPIED),
        ("black teas brewing time", ALIKE),
        ("write ann@example.org", PERSONAL),
    ],
)
def test_a_candidate_is_refused_for_what_people_are_warned_of(text: str, reason: str | None) -> None:
    known = [Query("q", "black tea brewing time", "black tea brewing time", "written")]
    assert find_refusal(text, TEA, STYLE, known) == reason


def test_a_quote_must_be_in_the_document_word_for_word() -> None:
    assert has_valid_quote((True, "“Steamed, not  dried”"), TEA)
    assert has_valid_quote((True, "green tea"), TEA)
    assert not has_valid_quote((True, "steamed and dried"), TEA)
    assert not has_valid_quote((True, "tea It is"), TEA)  # across title and text
    assert not has_valid_quote((True, ""), TEA)
    long = TEA._replace(body="tea " * 99)
    assert not has_valid_quote((True, long.body), long)  # a quote of everything says nothing
    assert not has_valid_quote((False, "steamed"), TEA)


def test_candidates_come_once_each_and_answers_have_a_form() -> None:
    answer = json.dumps({"queries": [" Hot  tea ", "hot tea", "", "x" * 400, "cold tea"]})
    assert read_candidates(answer) == ["Hot tea", "cold tea"]
    for broken in ('{"queries": "tea"}', '{"queries": [1]}', "{}"):
        with pytest.raises(MalformedAnswerError):
            read_candidates(broken)
    assert read_verification('{"answered": true}') == (True, "")
    with pytest.raises(MalformedAnswerError):
        read_verification('{"answered": "yes"}')


def test_the_commands_send_only_with_the_option_and_tell_what_came_of_it(
    project: Store, model: ServedModel, goldgrade: Any
) -> None:
    asked = ("queries", "write", "--queries", "20", "--share", "0.5", "--seed", "3")
    shown = goldgrade(*asked)
    assert model.sent == 0
    assert "2 queries for 2 regions. 14 to 36 calls" in shown
    assert "Nothing was sent: add --send to send the calls." in shown
    done = invoke(["--project", str(project.path), *asked, "--send"])
    assert f"{model.sent} requests sent" in done.stderr
    assert "People judge 1 of 2 synthetic queries" in done.stdout
    shown = goldgrade("queries", "write", "--share", "1")
    assert "1 query drawn." in shown
    assert "People judge 2 of 2" in shown
    models = json.loads(goldgrade("queries", "write", "--json"))["models"]
    assert [(row["model"], row["queries"], row["judged"], row["share"]["value"]) for row in models] == [
        (MODEL, 2, 0, None)
    ]
