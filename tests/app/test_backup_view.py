"""The page Backup: a snapshot for who asked for it, and the schedule."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.testclient import TestClient

from app import context
from app.front.guard import Guard
from app.monitoring import minutely
from app.serve import list_routes
from app.signin import cookies, current_user
from curation.core.digests import file_digest
from curation.operations.backup_schedule import BackupSchedule, read_schedule, set_schedule, start_due_backup
from curation.operations.jobs import jobs_of
from curation.operations.restore import restore
from curation.people.accounts import set_role
from curation.store import Store
from tests.support.page import LEE, html, page_at, press, run
from tests.support.projects import add_names, rows_of
from tests.support.signed_in import cookie_of

pytestmark = pytest.mark.slow


@pytest.fixture
def project(served: Store) -> Store:
    add_names(served, "lee", "mia", role="lead")
    return served


def test_a_snapshot_is_whole_and_only_who_said_why_can_download_it(project: Store, tmp_path: Path) -> None:
    page = press(run(page_at("settings", LEE, part="Backup")), "Prepare a snapshot")
    assert "the snapshot contains sealed grades" in page.error[0].value
    page.text_input[0].set_value("before the summer")
    press(page, "Prepare a snapshot")
    jobs_of(project).wait()
    shown = html(run(page_at("settings", LEE, part="Backup")))
    assert "is ready, but was not downloaded." in shown
    address = shown.partition('href="')[2].partition('"')[0]
    assert address.startswith("/exports/")
    client = client_of(project, "lee")
    got = client.get(address)
    assert (got.status_code, got.headers["cache-control"]) == (200, "no-store")
    assert "The last backup was taken on" in html(run(page_at("settings", LEE, part="Backup")))
    (tmp_path / "got.duckdb").write_bytes(got.content)
    assert file_digest(tmp_path / "got.duckdb") in shown
    assert restore(tmp_path / "got.duckdb", tmp_path / "restored.duckdb").rows["annotators"] == 2
    [(by, why)] = rows_of(project, "SELECT actor, detail->>'reason' FROM events WHERE action = 'snapshot'")
    assert (by, why) == ("lee", "before the summer")
    guessed = f"{address.rpartition('/')[0]}/goldgrade-result-guessed"
    assert client.get(guessed).status_code == 404
    assert client_of(project, "mia").get(address).status_code == 404
    set_role(project, "lee", "reviewer")
    assert client_of(project, "lee").get(address).status_code == 403


def client_of(store: Store, name: str) -> TestClient:
    for cached in (cookies.cookie_codec, current_user.sign_in_cache):
        cached.cache_clear()
    application = Starlette(routes=list_routes(), middleware=[Middleware(Guard)])
    return TestClient(application, cookies=dict([cookie_of(store, name)]))


def test_the_schedule_is_set_where_the_operator_named_a_folder(
    project: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "need a folder on the server" in html(run(page_at("settings", LEE, part="Backup")))
    monkeypatch.setenv(context.BACKUP_TO, str(tmp_path))
    page = run(page_at("settings", LEE, part="Backup"))
    page.number_input[2].set_value(3)
    page = press(page, "Take backups on a schedule")
    with project.reading() as cursor:
        assert read_schedule(cursor) == BackupSchedule(1, 2, 3)
    press(page, "End the schedule")
    with project.reading() as cursor:
        assert read_schedule(cursor) is None


def test_the_app_takes_what_is_due_by_itself(
    project: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(context.BACKUP_TO, str(tmp_path))
    monkeypatch.setattr(minutely, "SECONDS_BETWEEN_RUNS", 0.01)
    set_schedule(project, BackupSchedule(), "lee")
    deadline = time.monotonic() + 60
    with minutely.minutely_tasks():
        while not list(tmp_path.glob("*.sums.json")):
            assert time.monotonic() < deadline
            time.sleep(0.01)
    jobs_of(project).wait()
    assert "by schedule," in html(run(page_at("settings", LEE, part="Backup")))


def test_a_backup_that_failed_by_schedule_is_on_the_page(
    project: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(context.BACKUP_TO, str(tmp_path / "unmounted"))
    set_schedule(project, BackupSchedule(), "lee")
    start_due_backup(project, context.backup_folder())
    jobs_of(project).wait()
    assert "there is no such folder" in run(page_at("settings", LEE, part="Backup")).error[0].value
