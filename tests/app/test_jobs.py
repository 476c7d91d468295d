"""Jobs: two at a time, in processes of their own, stored from their start to their end."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from curation.core.errors import CurationError, RefusedError
from curation.core.progress import silent
from curation.operations.jobs import Job, Jobs, find_problem, jobs_of, read_last_jobs
from curation.operations.jobs.stored import store_ending, store_job
from curation.operations.registry import OPERATIONS, has_clash
from curation.store import Store, open_store
from tests.support.projects import add_names, count_rows, import_rows, new_project, newest_job, rows_of
from tests.support.started import StartedWorker

pytestmark = pytest.mark.slow  # not for the quick check

POOL = {"systems": ["bm25"], "depth": 3, "random_negatives": 1, "seed": 7, "budget": None}
TOP_UP: dict[str, Any] = {"quotas": {}, "size": 4}
EXPORT = {"name": "v1", "format": "trec", "folder": "/nowhere"}
DRAW = {"size": 4, "seed": 0, "plan": {}, "limits": {"since": None, "until": None}}


_start_process = Jobs._start_process


@pytest.fixture
def jobs_inside(monkeypatch: pytest.MonkeyPatch) -> None:
    """Here each job has a process of its own, which is a fork so that it starts at once."""
    monkeypatch.setattr(Jobs, "_start_process", lambda jobs: StartedWorker(jobs._store.path))


@pytest.fixture
def held_file() -> None:
    """Other processes wait for the file here."""


@pytest.fixture(scope="session")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small corpus, two queries, two leads and an annotator; tests copy it."""
    store = new_project(tmp_path_factory.mktemp("prepared") / "project.duckdb")
    texts = ["zebras in the wild", "volcanoes of iceland", "tea from assam", "rivers and lakes"]
    documents = [{"_id": f"d{number}", "text": text} for number, text in enumerate(texts)]
    queries = [{"_id": "q1", "text": "zebras"}, {"_id": "q2", "text": "iceland volcanoes"}]
    import_rows(store, documents, queries)
    add_names(store, "lee", "mia", role="lead")
    add_names(store, "ann")
    store.close()
    return store.path


@pytest.fixture
def project(prepared: Path, tmp_path: Path) -> Iterator[Store]:
    store = open_store(Path(shutil.copy(prepared, tmp_path / "project.duckdb")))
    yield store
    jobs_of(store).kill_all()  # what a failed test has halted would never end
    store.close()


def halted(jobs: Jobs, kind: str = "pool", parameters: Any = POOL, after: str | None = None) -> Job:
    """A job whose process was halted before it could do anything."""
    job = jobs.start(kind, parameters, "lee", after)
    os.kill(process_of(jobs), signal.SIGSTOP)
    return job


def process_of(jobs: Jobs) -> int:
    return jobs._running[-1].process.pid


@pytest.mark.slow
def test_a_job_runs_in_its_own_process_and_its_ending_is_stored(
    project: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Jobs, "_start_process", _start_process)  # as a served project starts it, in seconds
    jobs = jobs_of(project)
    job = jobs.start("pool", POOL, "lee", None)
    assert list(jobs.running_jobs()) == [job.job_id]
    assert process_of(jobs) != os.getpid()
    running = jobs._running[0]
    jobs.wait()
    step, reached, total, words = running.progress
    assert words == f"{step} ({reached:,} of {total:,})"
    assert reached == total > 0, "what the process said last"
    jobs.stop(job.job_id, "lee")  # it is done: nothing changes
    done = newest_job(project)
    assert jobs.running_jobs() == {}
    assert (done.job_id, done.kind, done.parameters, done.started_by) == (job.job_id, "pool", POOL, "lee")
    assert done.outcome == "done"
    assert done.message is not None
    assert done.message.startswith("The pool has 4 candidates for ")
    assert count_rows(project, "pools") == 1
    by = rows_of(project, "SELECT actor FROM events WHERE action = 'pool'")
    assert by == [("lee",)], "the audit trail names who asked"


@pytest.mark.slow
def test_what_a_rule_refuses_is_stored_as_its_sentence(project: Store) -> None:
    jobs = jobs_of(project)
    jobs.start("plan re-labeling", {"fraction": 0.15, "seed": 1}, "lee", None)
    jobs.wait()
    refused = newest_job(project)
    assert refused.outcome == "refused"
    assert refused.message.startswith("There is nothing to judge again: the project has no judged pair")


@pytest.mark.parametrize(
    ("kind", "parameters", "sentence"),
    [
        ("sample", DRAW, "There is no traffic to sample from. Import a log of searches."),
        ("top up", {"quotas": {}, "size": 4}, "There is no sample to top up yet. First draw a sample."),
        ("pool", {**POOL, "systems": ["bm52"]}, "'bm52' is not a system; did you mean 'bm25'?"),
        ("pool", {**POOL, "systems": ["run:of-old"]}, "The project has no run 'of-old'."),
        ("pool", {**POOL, "depth": 0}, "“Documents from each system”: 0 is out of range; expected 1 or more"),
    ],
)
def test_what_is_known_to_fail_starts_no_job(
    project: Store, kind: str, parameters: Any, sentence: str
) -> None:
    with pytest.raises(CurationError) as refused:
        jobs_of(project).start(kind, parameters, "lee", None)
    assert refused.value.found.startswith(sentence)
    assert "`" not in refused.value.found
    assert find_problem(project, kind, parameters) == refused.value.found
    assert count_rows(project, "jobs") == 0


def test_what_must_fail_is_told_in_the_words_of_the_work_itself(project: Store) -> None:
    assert find_problem(project, "pool") is None
    told = {
        kind: find_problem(project, kind, given) for kind, given in (("sample", DRAW), ("top up", TOP_UP))
    }
    for kind, parameters in (("sample", DRAW), ("top up", TOP_UP)):
        with pytest.raises(CurationError) as refused:
            OPERATIONS[kind].work(project, parameters, silent, "lee")
        assert refused.value.found == told[kind]


@pytest.mark.slow
def test_the_same_request_twice_starts_one_job(project: Store) -> None:
    jobs = jobs_of(project)
    first = jobs.start("pool", POOL, "lee", None)
    assert jobs.start("pool", POOL, "lee", None).job_id == first.job_id, "while it is at work"
    jobs.wait()
    assert jobs.start("pool", POOL, "lee", None).job_id == first.job_id, "and when it is done"
    assert count_rows(project, "jobs") == 1
    assert jobs.start("pool", POOL, "lee", first.job_id).job_id != first.job_id, "asked for anew"
    jobs.wait()
    assert count_rows(project, "jobs") == 2


@pytest.mark.slow
def test_a_second_job_is_refused_by_naming_the_one_at_work(project: Store) -> None:
    first = halted(jobs_of(project))
    jobs = jobs_of(project)
    with pytest.raises(RefusedError, match=r"Building the pool since .*, started by lee\."):
        jobs.start("sample", DRAW, "mia", first.job_id)
    assert count_rows(project, "jobs") == 1
    os.kill(process_of(jobs), signal.SIGCONT)
    jobs.wait()


@pytest.mark.slow
def test_a_job_does_not_wait_for_one_that_changes_nothing_of_what_it_needs(project: Store) -> None:
    jobs = jobs_of(project)
    pool, halted_pool = halted(jobs), process_of(jobs)
    export, halted_export = halted(jobs, "export", EXPORT, pool.job_id), process_of(jobs)
    assert list(jobs.running_jobs()) == [pool.job_id, export.job_id]
    with pytest.raises(RefusedError, match=r"Building the pool since .* At most 2 jobs run at the same time"):
        jobs.start("evaluate", {}, "mia", export.job_id)
    os.kill(halted_export, signal.SIGKILL)
    jobs._running[1].watcher.join()
    assert list(jobs.running_jobs()) == [pool.job_id], "one that is killed leaves the other alone"
    again = halted(jobs, "export", EXPORT, export.job_id)
    jobs.stop(again.job_id, "mia")
    assert list(jobs.running_jobs()) == [pool.job_id], "and so does one that is stopped"
    os.kill(halted_pool, signal.SIGCONT)
    jobs.wait()
    with project.reading() as cursor:
        ended = {kind: job.outcome for kind, job in read_last_jobs(cursor).items()}
    assert ended == {"pool": "done", "export": "stopped"}


@pytest.mark.parametrize(
    ("one", "other", "is_apart"),
    [
        ("pool", "import", True),
        ("sample", "pool", True),
        ("coverage", "pool", True),
        ("freeze", "pool", True),
        ("evaluate", "evaluate", True),
        ("pool", "export", False),
        ("pool", "evaluate", False),
        ("coverage", "freeze", False),
    ],
)
def test_steps_work_apart_where_one_changes_what_the_other_uses(one: str, other: str, is_apart: bool) -> None:
    assert has_clash(one, other) == has_clash(other, one) == is_apart


def test_a_clock_that_steps_back_breaks_no_later_job(project: Store) -> None:
    started: list[str] = []
    for kind, ahead in (("pool", 2), ("sample", 1), ("pool", 0)):
        after = started[-1] if started else None
        begun = store_job(project, kind, {}, "lee", after)
        assert (begun[1], store_job(project, kind, {}, "lee", after)[1]) == (True, False)
        store_ending(project, begun[0].job_id, "done", "All is well.")
        with project.transaction() as cursor:
            moved = "UPDATE jobs SET started_at = started_at + to_days(?) WHERE job_id = ?"
            cursor.execute(moved, [ahead, begun[0].job_id])
        started.append(begun[0].job_id)
        assert newest_job(project).job_id == started[-1]
    with project.reading() as cursor:
        found = {kind: job.job_id for kind, job in read_last_jobs(cursor).items()}
    assert found == {"pool": started[2], "sample": started[1]}


def test_who_did_not_see_the_last_job_is_told_of_it(project: Store) -> None:
    jobs = jobs_of(project)
    store_ending(project, store_job(project, "pool", POOL, "lee", None)[0].job_id, "done", "All is well.")
    with pytest.raises(RefusedError, match="lee started another job"):
        jobs.start("sample", DRAW, "mia", None)


@pytest.mark.slow
def test_an_evaluator_is_refused_without_a_word_of_anybody_elses_job(project: Store) -> None:
    add_names(project, "vera", role="evaluator")
    jobs, neutral = (jobs_of(project), "^Another job (is running|was started in the meantime)")
    halted(jobs_of(project))
    with pytest.raises(RefusedError, match=neutral):
        jobs.start("evaluate", {}, "vera", None)
    os.kill(process_of(jobs), signal.SIGCONT)
    jobs.wait()
    with pytest.raises(RefusedError, match=neutral):
        jobs.start("evaluate", {}, "vera", None)


@pytest.mark.slow
def test_a_stopped_job_leaves_nothing_half_done_and_can_be_started_again(project: Store) -> None:
    jobs = jobs_of(project)
    job = jobs.start("pool", POOL, "lee", None)
    jobs.stop(job.job_id, "mia")
    stopped = newest_job(project)
    assert stopped.outcome == "stopped"
    assert (stopped.message or "").startswith("Stopped by mia. No pool was stored.")
    assert count_rows(project, "pools") == count_rows(project, "candidates") == 0
    again = jobs.start("pool", POOL, "lee", job.job_id)
    jobs.wait()
    assert newest_job(project).job_id == again.job_id
    assert newest_job(project).outcome == "done"


def test_a_killed_process_is_told_as_failed(project: Store) -> None:
    halted(jobs_of(project))
    jobs = jobs_of(project)
    os.kill(process_of(jobs), signal.SIGKILL)
    jobs.wait()
    failed = newest_job(project)
    assert failed.outcome == "failed"
    assert "early by SIGKILL" in (failed.message or "")
    assert jobs.running_jobs() == {}


@pytest.mark.slow
def test_a_job_that_is_left_when_the_program_ends_has_no_ending(project: Store) -> None:
    halted(jobs_of(project))
    jobs_of(project).kill_all()
    assert jobs_of(project).running_jobs() == {}
    assert newest_job(project).outcome is None


@pytest.mark.slow
def test_the_process_of_a_job_ends_with_the_one_that_serves(project: Store, tmp_path: Path) -> None:
    served = tmp_path / "served.py"
    served.write_text(
        "import sys, time, os, signal\n"
        "from pathlib import Path\n"
        "from curation.operations.jobs import jobs_of\n"
        "from curation.store import open_store\n"
        "jobs = jobs_of(open_store(Path(sys.argv[1])))\n"
        f"jobs.start('pool', {POOL!r}, 'lee', None)\n"
        "os.kill(jobs._running[0].process.pid, signal.SIGSTOP)\n"
        "print(jobs._running[0].process.pid, flush=True)\n"
        "time.sleep(60)\n"
    )
    project.close()
    with subprocess.Popen(
        [sys.executable, str(served), str(project.path)], stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdout is not None
        worker = int(server.stdout.readline())
        server.kill()
    os.kill(worker, signal.SIGCONT)
    deadline = time.monotonic() + 20
    while is_alive(worker):
        assert time.monotonic() < deadline, "the process outlived the one that served it"
        time.sleep(0.05)
    orphan = newest_job(project)
    assert orphan.outcome is None, "nobody was there to store how it ended"
    assert jobs_of(project).running_jobs() == {}, "and it is not taken for one at work"
    again = jobs_of(project).start("pool", POOL, "lee", orphan.job_id)
    jobs_of(project).wait()
    assert (newest_job(project).job_id, newest_job(project).outcome) == (again.job_id, "done")


def is_alive(process: int) -> bool:
    """Whether a process runs; one that ended and that nobody asked after does not."""
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"


def test_the_first_ending_stands(project: Store) -> None:
    job = store_job(project, "pool", POOL, "lee", None)[0]
    store_ending(project, job.job_id, "done", "All is well.")
    store_ending(project, job.job_id, "failed", "It was not.")
    assert (newest_job(project).outcome, newest_job(project).message) == ("done", "All is well.")


def test_the_last_job_of_a_person_is_found_below_everybody_elses(project: Store) -> None:
    first = store_job(project, "pool", POOL, "lee", None)[0].job_id
    second = store_job(project, "pool", POOL, "mia", first)[0].job_id
    with project.reading() as cursor:
        found = [read_last_jobs(cursor, by)["pool"].job_id for by in ("lee", "mia", None)]
    assert found == [first, second, second]


@pytest.mark.slow
def test_a_mistake_of_ours_is_told_as_one_and_logged(project: Store) -> None:
    jobs = jobs_of(project)
    jobs.start("import", {"no such parameter": 1}, "lee", None)
    jobs.wait()
    assert newest_job(project).outcome == "failed"
    assert "bug in goldgrade" in (newest_job(project).message or "")
    assert "KeyError" in project.path.with_suffix(".log").read_text()


@pytest.mark.slow
def test_a_process_that_waits_takes_the_next_job_and_says_at_once_what_it_does(project: Store) -> None:
    jobs = Jobs(project)
    jobs.start_spare_process()
    assert jobs._spare is None, "only who serves a project keeps a process"
    jobs.keep_spare_process()
    jobs.start_spare_process()
    waiting = jobs._spare
    jobs.start_spare_process()
    assert waiting is not None
    assert jobs._spare is waiting, "one is enough"
    assert waiting.stdout is not None
    assert json.loads(waiting.stdout.readline()) == ["", 0, 0], "it has imported what jobs need"
    project.close()
    open_store(project.path).close()  # it holds no database
    jobs.start("pool", POOL, "lee", None)
    assert process_of(jobs) == waiting.pid
    assert jobs._spare is None
    jobs.wait()
    assert newest_job(project).outcome == "done"


@pytest.mark.slow
def test_a_waiting_process_that_was_killed_costs_no_job(project: Store) -> None:
    jobs = Jobs(project)
    jobs.keep_spare_process()
    jobs.start_spare_process()
    assert jobs._spare is not None
    waiting = jobs._spare
    waiting.kill()
    waiting.wait()
    jobs.start("pool", POOL, "lee", None)
    assert process_of(jobs) != waiting.pid
    jobs.wait()
    assert newest_job(project).outcome == "done"


def test_each_kind_says_what_it_does_and_what_stays() -> None:
    for kind in OPERATIONS.values():
        assert kind.in_progress[0].islower()
        assert kind.on_interrupt.endswith(".")
        assert kind.first_step[0].islower()
