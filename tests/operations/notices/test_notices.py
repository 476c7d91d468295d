"""Notices: each goes once, to a real webhook of this machine."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, time, timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import duckdb
import pytest

from curation.core.errors import InputError, RefusedError
from curation.labeling.rounds.create_round import open_round
from curation.labeling.rounds.lifecycle import close_round, reopen_round
from curation.operations.jobs.stored import begin, end
from curation.operations.notices.notices import NoticeKinds, last_attempts, send_due, send_test, set_kinds
from curation.operations.notices.webhook import webhook as read_webhook
from curation.relabeling.plan.plan import make_plan
from curation.store import Store, migrations, utc_now
from tests.support.projects import add_names, add_pairs, built_once, grade_next, grid
from tests.support.relabeled import PEOPLE, answer_round, judged_project, open_quarter

ALL = NoticeKinds(round_done=True, disputes=True, quarter_due=True, job_failed=True)
NOW = datetime.combine(utc_now().date() + timedelta(days=1), time(10))
"""Later than all that the tests store, and far from a day's end: disputes are noticed again each day."""


class Webhook(HTTPServer):
    """Keeps what it gets, and answers with the statuses in `answers` before it takes anything."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Hook)
        self.answers: list[int] = []
        self.got: list[str] = []
        self.environment = {"GOLDGRADE_WEBHOOK": f"http://127.0.0.1:{self.server_port}/T0/secret"}


class _Hook(BaseHTTPRequestHandler):
    server: Webhook

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        status = self.server.answers.pop(0) if self.server.answers else 200
        self.send_response(status)
        if status == 302:
            self.send_header("Location", self.server.environment["GOLDGRADE_WEBHOOK"])
        self.end_headers()
        if status == 200:
            self.server.got.append(body["text"])

    def log_message(self, *_: Any) -> None:
        """Nothing on standard error."""


@contextmanager
def serving(server: Any) -> Iterator[Any]:
    thread = Thread(target=server.serve_forever, args=[0.01], daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.fixture
def webhook() -> Iterator[Webhook]:
    with serving(Webhook()) as server:
        yield server


@built_once
def project(store: Store) -> Store:
    """A round that is done and whose two annotators differ on one pair; everything is switched on before."""
    add_names(store, "lee", role="lead")
    add_names(store, "ada", "ben")
    add_pairs(store, grid(1, 1))
    set_kinds(store, ALL, "lee")
    open_round(store, "first <!channel>", ["ada", "ben"], overlap=2)
    grade_next(store, "ada", 1, 0)
    grade_next(store, "ben", 1, 2)
    return store


def failed(store: Store) -> None:
    with store.reading() as cursor:
        last = cursor.execute("SELECT job_id FROM jobs").fetchall()
    job = begin(store, "pool", {}, "lee", last[0][0] if last else None)[0]
    end(store, job.job_id, "failed", "/srv/secret could not be read by ada")


def test_each_is_sent_once_and_says_no_more_than_rounds_and_counts(project: Store, webhook: Webhook) -> None:
    failed(project)
    environment = {**webhook.environment, "GOLDGRADE_URL": "https://gold.example.org"}
    assert send_due(project, environment, NOW) == 3
    assert sorted(webhook.got) == [
        "goldgrade: 1 pair waits for a decision.\nhttps://gold.example.org",
        "goldgrade: Round first &lt;!channel&gt; is done.\nhttps://gold.example.org",
        "goldgrade: The job “pool” came to nothing. Its page says why.\nhttps://gold.example.org",
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
    open_quarter(store, PEOPLE[:2], make_plan(store, 0.2, 7, autumn.date()).plan_id, duplicates=0)
    answer_round(store, "2026-Q4", lambda *_: 3, autumn, most=1)
    assert send_due(store, webhook.environment, autumn) == 0
    if closed:
        close_round(store, "2026-Q4")
    assert send_due(store, webhook.environment, autumn) == closed
    assert send_due(store, webhook.environment, winter) == (not closed)
    reopen_round(store, "2026-Q4") if closed else close_round(store, "2026-Q4")
    assert send_due(store, webhook.environment, winter + timedelta(days=1)) == 0
    assert webhook.got == [
        "goldgrade: The re-labeling of 2026-Q4 is left half done: 0 of 2 pairs are judged."
    ]


def test_nothing_is_sent_unless_a_lead_wants_it_nor_what_was_before(project: Store, webhook: Webhook) -> None:
    set_kinds(project, NoticeKinds(), "lee")
    failed(project)
    assert send_due(project, webhook.environment, NOW) == 0
    with pytest.raises(RefusedError, match="This is for the lead"):
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
    with project.reading() as cursor:
        assert last_attempts(cursor)[0].problem == "it answered HTTP 503"
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
    with project.reading() as cursor:
        assert {one.problem for one in last_attempts(cursor)} == {None}


def test_a_test_says_why_it_was_not_sent(webhook: Webhook) -> None:
    webhook.answers = [500]
    assert send_test(webhook.environment) == "it answered HTTP 500"
    assert send_test(webhook.environment) == ""
    nobody = {"GOLDGRADE_WEBHOOK": "http://127.0.0.1:1/"}
    assert send_test(nobody) == "it was not reached, or gave no answer in time"
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
