"""Backups by schedule: due by what is stored, once for all processes, and only so many kept."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path

import pytest

from curation.core.errors import RefusedError
from curation.operations.backup_schedule import (
    JOB_KIND,
    BackupSchedule,
    find_last_scheduled_job,
    set_schedule,
    start_due_backup,
)
from curation.operations.jobs import Jobs, jobs_of
from curation.operations.jobs.stored import store_ending, store_job
from curation.store import COMMAND_LINE, Store, utc_now
from tests.support.jobs_inside import work_inside
from tests.support.projects import add_names, built_once

pytestmark = pytest.mark.slow

DAILY = BackupSchedule(days=1, hour=2, keep=2)


@built_once
def project(store: Store) -> Store:
    add_names(store, "lee", role="lead")
    set_schedule(store, DAILY, "lee")
    return store


@pytest.fixture(autouse=True)
def _inside(monkeypatch: pytest.MonkeyPatch) -> None:
    work_inside(monkeypatch)


def taken(store: Store, folder: Path, now: datetime) -> bool:
    started = start_due_backup(store, folder, now) is not None
    jobs_of(store).wait()
    return started


def dated(store: Store, at: datetime) -> None:
    """As if the last job had been started then."""
    with store.transaction() as cursor:
        last = find_last_scheduled_job(cursor)
        cursor.execute("UPDATE jobs SET started_at = ? WHERE job_id = ?", [at, last.job_id])


def renamed(store: Store, folder: Path) -> None:
    """As if the backup that was just taken were of an earlier second, which is in its name."""
    [path] = folder.glob("project-*.duckdb")
    for suffix in ("", ".sums.json"):
        path.with_name(f"{path.name}{suffix}").rename(folder / f"earlier.duckdb{suffix}")
    with store.transaction() as cursor:
        cursor.execute("UPDATE events SET detail = replace(detail, ?, 'earlier.duckdb')", [path.name])


def test_one_is_taken_at_each_turn_and_the_newest_are_kept(project: Store, tmp_path: Path) -> None:
    set_schedule(project, BackupSchedule(days=1, hour=2, keep=1), "lee")
    folder, now = tmp_path / "backups", datetime(2026, 5, 4, 2, 30)
    folder.mkdir()
    (folder / "by-hand.duckdb").write_bytes(b"mine")
    assert taken(project, folder, now)
    dated(project, now)
    assert not taken(project, folder, now + timedelta(hours=23)), "not before the next turn"
    renamed(project, folder)
    assert taken(project, folder, now + timedelta(hours=24))
    names = sorted(path.name.partition("-2")[0] for path in folder.iterdir())
    assert names == ["by-hand.duckdb", "project", "project"], "the newest and its sums"


def test_two_processes_take_one(project: Store, tmp_path: Path) -> None:
    assert start_due_backup(project, tmp_path) is not None
    other = Jobs(project)  # of another process, which read the project just before
    with pytest.raises(RefusedError, match="started another job"):
        other.start(JOB_KIND, {"folder": "elsewhere", "keep": 2}, COMMAND_LINE, None)
    assert not taken(project, tmp_path, utc_now()), "and it finds that one is taken"
    assert len(list(tmp_path.glob("*.sums.json"))) == 1


def test_one_that_failed_is_tried_again_after_an_hour(project: Store, tmp_path: Path) -> None:
    assert taken(project, tmp_path / "unmounted", utc_now())
    with project.reading() as cursor:
        last = find_last_scheduled_job(cursor)
    assert last.outcome == "refused"
    assert "there is no such folder" in (last.message or "")
    assert not taken(project, tmp_path, utc_now() + timedelta(minutes=59))
    assert taken(project, tmp_path, utc_now() + timedelta(minutes=61))


def test_one_that_was_killed_is_tried_again_after_an_hour(project: Store, tmp_path: Path) -> None:
    store_job(project, JOB_KIND, {"folder": str(tmp_path), "keep": 2}, COMMAND_LINE, None)
    assert not taken(project, tmp_path, utc_now())
    assert taken(project, tmp_path, utc_now() + timedelta(minutes=61))


def test_every_third_day_counts_days_and_without_folder_or_schedule_none_is_taken(
    project: Store, tmp_path: Path
) -> None:
    set_schedule(project, BackupSchedule(days=3), "lee")
    first = store_job(project, JOB_KIND, {"folder": "", "keep": 2}, COMMAND_LINE, None)[0].job_id
    store_ending(project, first, "done", "All is well.")
    dated(project, datetime(2026, 5, 4, 2, 10))
    turn = datetime(2026, 5, 7, 2)
    assert not taken(project, tmp_path, turn - timedelta(minutes=1))
    assert start_due_backup(project, None, turn) is None
    assert taken(project, tmp_path, turn)
    set_schedule(project, None, "lee")
    assert not taken(project, tmp_path, turn + timedelta(days=30))
