"""Calls of a language model over a real connection: faults, bounds, resuming, and a key that never shows."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from threading import Event
from time import monotonic
from typing import Any

import pytest

from curation.core.errors import InputError, RefusedError
from curation.core.web import NOT_REACHED, TIMED_OUT, RetryPolicy
from curation.queries.coverage.language_model.answers import (
    MALFORMED,
    MAX_MALFORMED,
    REFUSED,
    ModelCall,
    read_answers,
)
from curation.queries.coverage.language_model.call_runs import (
    MAX_CONSECUTIVE_FAILURES,
    NOT_ASKED,
    ModelSpending,
    plan_calls,
    send_calls,
)
from curation.queries.coverage.language_model.chat import (
    FAILED,
    MAX_ANSWER_BYTES,
    RATE_LIMIT,
    REJECTED,
    request_reply,
)
from curation.queries.coverage.language_model.endpoint import find_endpoint, read_prices
from curation.queries.coverage.language_model.prompting import MalformedAnswerError, read_object
from curation.store import Store
from tests.support.http_server import HttpAnswer
from tests.support.language_model import KEY, MODEL, QUICK, ServedModel, completion, model
from tests.support.projects import rows_of

__all__ = ["model"]

PROMPT = "Say ok."


def calls(count: int) -> list[ModelCall]:
    return [ModelCall(MODEL, PROMPT, {"text": f"text {number}"}) for number in range(count)]


def check(answer: str) -> None:
    if "ok" not in read_object(answer):
        raise MalformedAnswerError("an answer without ok")


def asked(
    store: Store,
    model: ServedModel,
    of: Sequence[ModelCall],
    most_calls: int | None = None,
    parallel: int = 1,
) -> ModelSpending:
    return send_calls(store, of, check, model.asking(most_calls, parallel))


@pytest.fixture(autouse=True)
def ok(model: ServedModel) -> None:
    model.answer = lambda prompt, material: 'Here you are:\n```json\n{"ok": true}\n```'


def test_an_answer_is_paid_once(store: Store, model: ServedModel) -> None:
    of = calls(6)
    before = plan_calls(store, of, (1.0, 2.0))
    assert (before.calls, before.stored) == (6, 0)
    assert before.price == before.tokens / 1e6 > 0
    first = asked(store, model, of, parallel=3)
    assert (first.answered, first.requests, model.sent) == (6, 6, 6)
    assert (first.tokens_read, first.tokens_written, first.left_out) == (600, 120, {})
    again = asked(store, model, [*of, *of])
    assert (again.answered, again.stored, again.requests, model.sent) == (6, 6, 0, 6)
    assert plan_calls(store, of, None).calls == 0


def test_another_model_prompt_or_text_is_another_call(store: Store, model: ServedModel) -> None:
    asked(store, model, calls(1))
    others = [
        ModelCall("another model", PROMPT, {"text": "text 0"}),
        ModelCall(MODEL, "Say OK.", {"text": "text 0"}),
        ModelCall(MODEL, PROMPT, {"text": "text 0 "}),
    ]
    assert plan_calls(store, [*calls(1), *others], None)[:2] == (3, 1)


@pytest.mark.parametrize("status", [408, 429, 500, 503])
def test_what_may_pass_is_asked_again_within_the_bounds(
    store: Store, model: ServedModel, status: int
) -> None:
    busy = HttpAnswer(status, "{}", {"Retry-After": "0"})
    model.faults = [busy] * (QUICK.attempts - 1)
    found = asked(store, model, calls(1))
    assert (found.answered, found.requests) == (1, QUICK.attempts)
    model.faults = [busy] * QUICK.attempts
    found = asked(store, model, calls(2)[1:])
    reason = RATE_LIMIT if status == 429 else FAILED.format(status)
    assert (found.answered, found.requests, found.left_out) == (0, QUICK.attempts, {reason: 1})
    assert asked(store, model, calls(2)).answered == 2  # the next run goes on


@pytest.mark.parametrize(("status", "part"), [(200, "headers"), (400, "headers"), (200, "body")])
def test_an_answer_that_comes_drop_by_drop_is_waited_for_no_longer(
    model: ServedModel, status: int, part: str
) -> None:
    """A limit of 2 seconds took 15."""
    model.faults = [HttpAnswer(status, " " * 10_000, drips=part)]
    began = monotonic()
    reply = request_reply(find_endpoint(model.environment), [], RetryPolicy(0.1, attempts=1), Event())
    assert monotonic() - began < 2  # the server drips for three
    assert (reply.kind, reply.text) == ("none", TIMED_OUT)


def test_a_refusal_that_comes_drop_by_drop_is_told_without_its_words(model: ServedModel) -> None:
    model.faults = [HttpAnswer(401, " " * 10_000, drips="body")]
    began = monotonic()
    with pytest.raises(RefusedError, match=r"answered HTTP 401\. Check"):
        request_reply(find_endpoint(model.environment), [], RetryPolicy(0.1, attempts=1), Event())
    assert monotonic() - began < 2


def test_an_answer_of_more_bytes_than_any_has_is_none(model: ServedModel) -> None:
    model.faults = [HttpAnswer(200, json.dumps(completion("x" * MAX_ANSWER_BYTES)))]
    reply = request_reply(find_endpoint(model.environment), [], RetryPolicy(5, attempts=1), Event())
    assert reply.kind == "malformed"


def test_an_endpoint_that_is_not_there_ends_the_work_after_a_few_calls(
    store: Store, model: ServedModel
) -> None:
    gone = {**model.environment, "GOLDGRADE_LLM_URL": "http://127.0.0.1:9/v1"}
    asking = model.asking()._replace(endpoint=find_endpoint(gone))
    found = send_calls(store, calls(3 * MAX_CONSECUTIVE_FAILURES), check, asking)
    assert found.answered == 0
    assert found.left_out[NOT_REACHED] <= MAX_CONSECUTIVE_FAILURES + asking.parallel
    assert sum(found.left_out.values()) == 3 * MAX_CONSECUTIVE_FAILURES


@pytest.mark.parametrize("as_date", [False, True])
def test_a_long_retry_after_ends_the_work_and_the_next_run_goes_on(
    store: Store, model: ServedModel, as_date: bool
) -> None:
    when = format_datetime(datetime.now(UTC) + timedelta(hours=1)) if as_date else "3600"
    model.faults = [HttpAnswer(429, "{}", {"Retry-After": when})]
    found = asked(store, model, calls(9))
    assert found.left_out[RATE_LIMIT] == 1
    assert found.answered < 9
    before = model.sent
    assert asked(store, model, calls(9)).answered == 9
    assert model.sent == before + 9 - found.answered


def test_answers_without_the_form_asked_for_are_bounded_over_all_runs(
    store: Store, model: ServedModel
) -> None:
    model.answer = lambda prompt, material: "I would rather talk about the weather."
    found = asked(store, model, calls(1))
    assert (found.requests, found.left_out) == (
        MAX_MALFORMED,
        {f"{MALFORMED}: an answer that is not a JSON object": 1},
    )
    assert found.tokens_read == 100 * MAX_MALFORMED
    assert asked(store, model, calls(1)).requests == 0
    assert rows_of(store, "SELECT DISTINCT kind, text FROM model_answers") == [
        ("malformed", "an answer that is not a JSON object")
    ]


MISSHAPEN: list[HttpAnswer | dict[str, Any]] = [
    HttpAnswer(body="<html>gateway</html>"),
    HttpAnswer(body='{"choices": []}'),
    HttpAnswer(body="[" * 100_000),
    completion(None),
    completion('{"ok": tr', finish="length"),
    completion('{"no": 1}'),
    completion("[1, 2]"),
]


@pytest.mark.parametrize("fault", MISSHAPEN, ids=range(len(MISSHAPEN)))
def test_a_misshapen_answer_is_asked_for_again(
    store: Store, model: ServedModel, fault: HttpAnswer | dict[str, Any]
) -> None:
    model.faults = [fault]
    found = asked(store, model, calls(1))
    assert (found.answered, found.requests, found.left_out) == (1, 2, {})


@pytest.mark.parametrize("refusal", [completion(None, refusal="I cannot."), completion("", "content_filter")])
def test_a_refusal_is_final_and_counted(store: Store, model: ServedModel, refusal: dict[str, Any]) -> None:
    model.faults = [refusal]
    found = asked(store, model, calls(2))
    assert (found.answered, found.left_out) == (1, {REFUSED: 1})
    assert asked(store, model, calls(2)).requests == 0


def test_a_rejected_call_is_left_out_and_in_the_end_given_up(store: Store, model: ServedModel) -> None:
    for run in range(MAX_MALFORMED):
        model.faults = [HttpAnswer(400, '{"error": {"message": "too long"}}')]
        found = asked(store, model, calls(1))
        assert (found.requests, found.left_out) == (1, {REJECTED.format(400): 1}), run
    assert asked(store, model, calls(1)).requests == 0


@pytest.mark.parametrize("status", [301, 401, 403, 404])
def test_a_wrong_key_address_or_model_is_refused_at_once(
    store: Store, model: ServedModel, status: int
) -> None:
    said = json.dumps({"error": {"message": f"Incorrect API key provided: {KEY}."}})
    asked(store, model, calls(2))
    model.faults = [HttpAnswer(status, said, {"Location": model.url + "/elsewhere/chat/completions"})] * 9
    with pytest.raises(
        RefusedError, match=rf"HTTP {status}( \(a redirect to .*\))? \(Incorrect API key provided: \[key\]\)"
    ) as raised:
        asked(store, model, calls(9))
    assert KEY not in str(raised.value)
    assert rows_of(store, "SELECT count(*) FROM model_answers") == [(2,)]


def test_a_limit_on_calls_is_kept_and_what_is_left_is_counted(store: Store, model: ServedModel) -> None:
    found = asked(store, model, calls(5), most_calls=2)
    assert (model.sent, found.answered, found.left_out) == (2, 2, {NOT_ASKED: 3})
    assert asked(store, model, calls(5), most_calls=9).requests == 3


@pytest.mark.parametrize("parallel", [1, 3])
def test_what_is_asked_again_counts_towards_the_limit_of_requests(
    store: Store, model: ServedModel, parallel: int
) -> None:
    model.faults = [HttpAnswer(503)] * 2
    found = asked(store, model, calls(5), most_calls=4, parallel=parallel)
    assert (model.sent, found.requests) == (4, 4)
    assert found.answered + sum(found.left_out.values()) == 5
    assert 1 <= found.answered <= 2


def test_what_was_answered_before_an_interruption_is_not_paid_again(store: Store, model: ServedModel) -> None:
    def interrupted(step: str, done: int, total: int) -> None:
        if done >= 3:  # two that end together are told at once
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        send_calls(store, calls(9), check, model.asking(parallel=2), interrupted)
    sent = model.sent
    assert rows_of(store, "SELECT count(*) FROM model_answers WHERE kind = 'answer'") == [(sent,)]
    assert asked(store, model, calls(9)).requests == 9 - sent
    assert model.sent == 9


@pytest.mark.parametrize("parallel", [1, 3])
def test_a_process_that_is_killed_would_lose_no_more_answers_than_calls_under_way(
    store: Store, model: ServedModel, parallel: int
) -> None:
    unstored = []

    def look(step: str, done: int, total: int) -> None:
        [(stored,)] = rows_of(store, "SELECT count(*) FROM model_answers")
        unstored.append(model.sent - stored)

    send_calls(store, calls(12), check, model.asking(parallel=parallel), look)
    assert max(unstored) < parallel
    assert unstored[-1] == 0


def test_an_endpoint_without_a_count_of_tokens_is_said_to_have_none(store: Store, model: ServedModel) -> None:
    model.faults = [{**completion('{"ok": 1}'), "usage": None}]
    found = asked(store, model, calls(2))
    assert (found.uncounted, found.tokens_read) == (1, 100)


def test_the_key_goes_to_the_endpoint_and_nowhere_else(
    store: Store, model: ServedModel, capfd: pytest.CaptureFixture[str]
) -> None:
    model.answer = lambda prompt, material: json.dumps({"ok": f"your key is {KEY}"})
    model.faults = [completion(None, refusal=f"{KEY} may not")]
    endpoint = find_endpoint(model.environment)
    asked(store, model, calls(2))
    assert set(model.keys) == {f"Bearer {KEY}"}
    with store.reading() as cursor:
        assert read_answers(cursor, calls(2)).find_answer(calls(2)[1]) == '{"ok": "your key is [key]"}'
    store.close()
    files = [path for path in Path(store.path.parent).iterdir() if path.is_file()]
    assert not [path for path in files if KEY.encode() in path.read_bytes()]
    assert KEY not in repr(endpoint) + str(endpoint) + "".join(capfd.readouterr())


def test_without_a_key_none_is_sent(store: Store, model: ServedModel) -> None:
    keyless = {name: value for name, value in model.environment.items() if name != "GOLDGRADE_LLM_KEY"}
    send_calls(store, calls(1), check, model.asking()._replace(endpoint=find_endpoint(keyless)))
    assert model.keys == [None]


@pytest.mark.parametrize(
    ("name", "value", "problem"),
    [
        ("GOLDGRADE_LLM_URL", "", "GOLDGRADE_LLM_URL is not set"),
        ("GOLDGRADE_LLM_MODEL", "", "GOLDGRADE_LLM_MODEL is not set"),
        ("GOLDGRADE_LLM_URL", "ftp://host/v1", "is not an http or https address"),
        ("GOLDGRADE_LLM_URL", "file:///etc/passwd", "is not an http or https address"),
        ("GOLDGRADE_LLM_URL", "https://[host", "is not an address"),
        ("GOLDGRADE_LLM_URL", f"https://me:{KEY}@host/v1", "contains a user name, a password or parameters"),
        ("GOLDGRADE_LLM_URL", f"https://host/v1?key={KEY}", "contains a user name, a password or parameters"),
        ("GOLDGRADE_LLM_KEY", f"{KEY}\nX-Other: 1", "contains spaces, line breaks or accented letters"),
        ("GOLDGRADE_LLM_KEY", f"{KEY}\u00e9", "contains spaces, line breaks or accented letters"),
        ("GOLDGRADE_LLM_PRICES", "cheap", "expected two prices of a million tokens"),
        ("GOLDGRADE_LLM_PRICES", "-1,2", "expected two prices of a million tokens"),
    ],
)
def test_an_environment_that_cannot_be_used_is_refused_without_its_key(
    model: ServedModel, name: str, value: str, problem: str
) -> None:
    with pytest.raises(InputError, match=problem) as raised:
        find_endpoint({**model.environment, name: value})
    assert KEY not in str(raised.value)


def test_the_route_is_added_once_and_prices_are_two_numbers(model: ServedModel) -> None:
    for url in (model.url, f"{model.url}/", f"{model.url}/chat/completions"):
        found = find_endpoint({**model.environment, "GOLDGRADE_LLM_URL": url})
        assert found.url == f"{model.url}/chat/completions"
    assert read_prices({"GOLDGRADE_LLM_PRICES": "0.15, 0.60"}) == (0.15, 0.60)
    assert read_prices({}) is None
