"""Notices: each goes once, to a real webhook of this machine."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime, time, timedelta
from pathlib import Path

import duckdb
import pytest

from curation.core.errors import InputError, RefusedError
from curation.labeling.requests import RoundRequest
from curation.labeling.rounds.create_round import open_round
from curation.labeling.rounds.round_states import set_round_state
from curation.operations.due_notices import NoticeKinds
from curation.operations.jobs.stored import store_ending, store_job
from curation.operations.notices import send_due, set_kinds
from curation.operations.webhook import read_webhook, send_test
from curation.relabeling.plan import make_plan
from curation.relabeling.request import PlanRequest
from curation.store import Store, migrations, utc_now
from tests.support.http_server import HttpAnswer, http_server
from tests.support.projects import add_names, add_pairs, built_once, grade_next, grid, rows_of
from tests.support.relabeled import PEOPLE, answer_round, judged_project, open_quarter

pytestmark = pytest.mark.slow

ALL = NoticeKinds(round_done=True, disputes=True, quarter_due=True, job_failed=True)
NOW = datetime.combine(utc_now().date() + timedelta(days=1), time(10))
"""Later than all that the tests store, and far from a day's end: disputes are noticed again each day."""


class Webhook:
    """Keeps what it gets, and answers with the statuses in `answers` before it takes anything."""

    def __init__(self) -> None:
        self.answers: list[int] = []
        self.got: list[str] = []
        self.environment: dict[str, str] = {}

    def take(self, _path: str, body: bytes, _key: str | None) -> HttpAnswer:
        status = self.answers.pop(0) if self.answers else 200
        if status == 200:
            self.got.append(json.loads(body)["text"])
        elsewhere = {"Location": self.environment["GOLDGRADE_WEBHOOK"]} if status == 302 else {}
        return HttpAnswer(status, headers=elsewhere)


@pytest.fixture
def webhook() -> Iterator[Webhook]:
    served = Webhook()
    with http_server(served.take) as address:
        served.environment["GOLDGRADE_WEBHOOK"] = f"{address}/T0/secret"
        yield served


@built_once
def project(store: Store) -> Store:
    """A round that is done and whose two annotators differ on one pair; everything is switched on before."""
    add_names(store, "lee", role="lead")
    add_names(store, "ada", "ben")
    add_pairs(store, grid(1, 1))
    set_kinds(store, ALL, "lee")
    open_round(store, RoundRequest("first <!channel>", ["ada", "ben"], overlap=2))
    grade_next(store, "ada", 1, 0)
    grade_next(store, "ben", 1, 2)
    return store


def failed(store: Store) -> None:
    last = rows_of(store, "SELECT job_id FROM jobs")
    job = store_job(store, "pool", {}, "lee", last[0][0] if last else None)[0]
    store_ending(store, job.job_id, "failed", "/srv/secret could not be read by ada")


def test_each_is_sent_once_and_says_no_more_than_rounds_and_counts(project: Store, webhook: Webhook) -> None:
    failed(project)
    environment = {**webhook.environment, "GOLDGRADE_URL": "https://gold.example.org"}
    assert send_due(project, environment, NOW) == 3
    assert sorted(webhook.got) == [
        "goldgrade: 1 pair waits for a decision.\nhttps://gold.example.org",
        "goldgrade: Round first &lt;!channel&gt; is done.\nhttps://gold.example.org",
        "goldgrade: The job “pool” failed. The page of the job shows the reason.\nhttps://gold.example.org",
    ]
    with project.reading():
        version = project.data_version
    assert send_due(project, environment, NOW + timedelta(minutes=1)) == 0
    with project.reading():
        assert project.data_version == version, "what nobody writes leaves the caches of the app as they are"
    project.close()  # a restart, and a second process
    assert send_due(project, environment, NOW + timedelta(hours=1)) == 0
    assert send_due(project, environment, NOW + timedelta(days=1)) == 1, "disputes wait on the next day, too"


@pytest.mark.parametrize("closed", [True, False])
def test_a_quarter_left_half_done_is_noticed_once_closed_early_or_open_past_its_end(
    store: Store, tmp_path: Path, webhook: Webhook, closed: bool
) -> None:
    judged_project(store, tmp_path, 3, 3)
    add_names(store, "lee", role="lead")
    set_kinds(store, NoticeKinds(quarter_due=True), "lee")
    autumn, winter = datetime(2026, 11, 22), datetime(2027, 2, 1)
    open_quarter(
        store, PEOPLE[:2], make_plan(store, PlanRequest(0.2, 7), autumn.date()).plan_id, duplicates=0
    )
    answer_round(store, "2026-Q4", lambda *_: 3, autumn, most=1)
    assert send_due(store, webhook.environment, autumn) == 0
    if closed:
        set_round_state(store, "2026-Q4", "closed")
    assert send_due(store, webhook.environment, autumn) == closed
    assert send_due(store, webhook.environment, winter) == (not closed)
    set_round_state(store, "2026-Q4", "open") if closed else set_round_state(store, "2026-Q4", "closed")
    assert send_due(store, webhook.environment, winter + timedelta(days=1)) == 0
    assert webhook.got == ["goldgrade: The re-labeling of 2026-Q4 is unfinished: 0 of 2 pairs are judged."]


def test_nothing_is_sent_unless_a_lead_wants_it_nor_what_was_before(project: Store, webhook: Webhook) -> None:
    set_kinds(project, NoticeKinds(), "lee")
    failed(project)
    assert send_due(project, webhook.environment, NOW) == 0
    with pytest.raises(RefusedError, match="This action needs the role lead"):
        set_kinds(project, ALL, "ada")
    set_kinds(project, ALL, "lee")
    assert send_due(project, webhook.environment, utc_now()) == 0
    assert send_due(project, {}, NOW + timedelta(days=1)) == 0, "nobody hears of it"
    assert send_due(project, webhook.environment, NOW + timedelta(days=1, hours=1)) == 0


def test_one_that_fails_is_tried_again_later_and_five_times_at_most(
    project: Store, webhook: Webhook, caplog: pytest.LogCaptureFixture
) -> None:
    webhook.answers = [503] * 10
    at, made = NOW, []
    for minutes in (0, 1, 1, 3, 1, 8, 16, 500):
        at += timedelta(minutes=minutes)
        made.append(send_due(project, webhook.environment, at))
    assert made == [2, 0, 2, 0, 2, 2, 2, 0]
    assert webhook.got == []
    problems = rows_of(project, "SELECT problem FROM notices WHERE attempts > 0")
    assert set(problems) == {("it answered HTTP 503",)}
    assert "secret" not in caplog.text
    assert caplog.text.count("A notice was not sent: it answered HTTP 503") == 10


@pytest.mark.parametrize("status", [302, 404])
def test_what_cannot_succeed_is_not_tried_again_and_no_redirect_is_followed(
    project: Store, webhook: Webhook, status: int
) -> None:
    webhook.answers = [status] * 2
    assert send_due(project, webhook.environment, NOW) == 2
    assert webhook.got == []
    assert send_due(project, webhook.environment, NOW + timedelta(hours=1)) == 0


def test_an_attempt_whose_process_ended_is_unknown_and_not_made_again(
    project: Store, webhook: Webhook
) -> None:
    send_due(project, webhook.environment, NOW)
    with project.transaction() as cursor:
        cursor.execute("UPDATE notices SET problem = NULL, again = FALSE")
    assert send_due(project, webhook.environment, NOW + timedelta(hours=1)) == 0
    assert set(rows_of(project, "SELECT problem FROM notices WHERE attempts > 0")) == {(None,)}


def test_a_test_says_why_it_was_not_sent(webhook: Webhook) -> None:
    webhook.answers = [500]
    assert send_test(webhook.environment) == "it answered HTTP 500"
    assert send_test(webhook.environment) == ""
    nobody = {"GOLDGRADE_WEBHOOK": "http://127.0.0.1:1/"}
    assert send_test(nobody) == "it could not be reached, or did not answer in time"
    assert send_test({}) is None


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("GOLDGRADE_WEBHOOK", "http://hooks.example.org/secret"),
        ("GOLDGRADE_WEBHOOK", "https://me:secret@hooks.example.org"),
        ("GOLDGRADE_WEBHOOK", "file:///secret"),
        ("GOLDGRADE_SMTP", "secret"),
    ],
)
def test_a_wrong_value_is_named_and_not_repeated(name: str, value: str) -> None:
    with pytest.raises(InputError, match=name) as refused:
        read_webhook({name: value})
    assert "secret" not in str(refused.value)


def test_a_notice_that_an_older_goldgrade_tried_to_send_is_not_sent_again() -> None:
    """Before 0040, each attempt at a notice was a row of its own, and some went by e-mail."""
    connection = duckdb.connect()
    steps = migrations.shipped()
    migrations.create(connection, [step for step in steps if step.name < "0040"])
    connection.execute(
        """
        INSERT INTO notices VALUES ('job a', 'by mail'), ('job b', 'failed once'), ('job c', 'waits');
        INSERT INTO notice_attempts VALUES ('job a', 'e-mail', 1, '2026-01-01'),
            ('job b', 'webhook', 1, '2026-01-01'), ('job b', 'webhook', 2, '2026-01-02');
        INSERT INTO notice_outcomes VALUES
            ('job a', 'e-mail', 1, '', FALSE), ('job b', 'webhook', 1, 'no', TRUE);
        """
    )
    migrations.upgrade(connection)
    assert connection.execute("SELECT text, attempts, problem, again FROM notices ORDER BY 1").fetchall() == [
        ("by mail", 1, "", False),
        ("failed once", 2, "the app ended meanwhile", False),
        ("waits", 0, None, True),
    ]
