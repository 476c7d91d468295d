"""The steps of a project's life that write, for the trial of torn writes.

The life is a list of commands (`PATH`), and the project as each of them finds it is kept. To them come the
jobs that a browser starts in their place, the upgrade of a project of each older form, and three people who
grade at once, by `submit` and through the served app.

What must hold after a kill of a step: the project opens, every row of it can be read, and the doctor has no
problem.
Each table has as many rows as before the step or as after it, and as after it where the step was
acknowledged; acknowledged grades are there once. Then the step can be done again, with the same end as if
nobody had killed it. A project of an older form is brought to the newest by whoever opens it next, and its
copy of before can be opened.
"""

from __future__ import annotations

import importlib
import logging
import shlex
import shutil
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from itertools import islice
from pathlib import Path
from queue import SimpleQueue
from typing import Any, NamedTuple

import duckdb

from curation.core.errors import CurationError, RefusedError
from curation.core.request import dump_request
from curation.evaluation.request import EvaluateRequest
from curation.ingest.requests import make_request
from curation.operations.doctor import examine
from curation.operations.import_jobs import dump_job
from curation.operations.jobs import worker
from curation.operations.jobs.stored import find_job, read_last_job, store_job
from curation.operations.whole_file import Rows, read_all_rows
from curation.pooling.request import PoolRequest
from curation.queries.sampling.requests import DrawRequest
from curation.relabeling.request import PlanRequest
from curation.releases.requests import FreezeRequest
from curation.store import close_all, migrations, open_store
from curation.store.checkpoints import journal_path
from curation.store.migrations import Migration
from curation.store.rows import load_arrow
from tests.support.command_line import invoke
from tests.support.gold_project import TOPICS, write_corpus
from tests.support.projects import add_names, grade_next, new_project
from tests.trials import kills, served
from tests.trials.forks import in_a_fork
from tests.trials.verdict import Verdict

PEOPLE = ("ada", "ben", "cyd")
ALL_TOPICS = (*TOPICS, *"lantern harbour meadow falcon quilt saddle anchor barley".split())
GRADES = 8
"""Answers of each who grades in the app."""
IN_PARTS = ("events", "job", "evaluation", "seal")
"""How the names of tables begin in which a step notes what it does, also once more if it is done again."""
Say = Callable[[str], None]
Work = Callable[[Path, Say], None]

PATH = """
import corpus {files}/corpus.jsonl
import traffic {files}/traffic.csv
import queries {files}/queries.jsonl
sample --size 4 --seed 1
tags q-kettle --set question
import run {files}/near.run --name near
pool --systems bm25,run:near --depth 3 --random-negatives 1 --seed 1
round open first --annotators ada,ben,cyd --overlap 2 --duplicates 0.1 --seed 1
grade
import judgments {files}/judgments.csv
consensus --rule median
decide q-kettle kettle-2 --second-opinion
decide q-kettle kettle-2 --grade 1 --reason why
split --part dev=0.3 --part test=0.7 --no-paraphrase --no-shared-documents --seed 1
freeze v1 --override trial --allow-disputed
evaluate v1 --run near={files}/near.run --part dev
evaluate v1 --run near={files}/near.run --part test --reason why
export v1 --format beir --out {here}/beir --reason why
backup {here}/copy.duckdb
relabel plan --share 0.2 --seed 1
relabel open --annotators ada,ben
people set cyd --deactivate
""".strip().splitlines()
"""Commands in their order; in the place of `grade` people grade all that they are shown."""


class Step(NamedTuple):
    """A step on a copy of a project: what it leaves if nobody kills it, and in how many seconds.

    kind: 'whole', 'grades' (each is acknowledged), or 'upgrade', done by whoever opens the project.
    problems: what the doctor says of it in any case: made-up rows are no releases.
    """

    template: Path
    work: Work
    kind: str
    before: Rows
    after: Rows
    seconds: float
    problems: frozenset[str] = frozenset()


def jobs_of(files: Path) -> dict[str, tuple[str, dict[str, Any]]]:
    """Command → the job that a browser starts in its place."""
    run = EvaluateRequest(
        "v1", part="dev", runs=(("near", str(files / "near.run")),), folder=str(files / "none")
    )
    requests = {
        "sample": ("sample", DrawRequest(4, 1)),
        "pool": ("pool", PoolRequest(["bm25"], 3, 1, 1)),
        "freeze": ("freeze", FreezeRequest("v1", allow_disputed=True, override="trial")),
        "evaluate v1": ("evaluate", run),
        "relabel plan": ("plan re-labeling", PlanRequest(0.2, 1)),
    }
    corpus = dump_job(make_request("corpus", files / "corpus.jsonl"), folder="")
    return {
        "import corpus": ("import", corpus),
        **{words: (kind, dump_request(request)) for words, (kind, request) in requests.items()},
    }


def command(words: str, files: Path) -> Work:
    """A step that is a command line."""

    def work(path: Path, say: Say) -> None:
        found = shlex.split(words.format(files=files, here=path.parent))
        done = invoke(["--project", str(path), *found], catch_exceptions=False)
        close_all()
        if done.exit_code:
            raise RuntimeError(done.output)
        say("done")

    return work


def job(kind: str, parameters: Mapping[str, Any], by: str = "lee") -> Work:
    """A step that is a job of somebody: what its process does, in this one."""

    def work(path: Path, say: Say) -> None:
        store = open_store(path)
        with store.reading() as cursor:
            last = read_last_job(cursor)
        begun = store_job(store, kind, parameters, by, last and last.job_id)[0]
        asked: SimpleQueue[str] = SimpleQueue()
        asked.put(begun.job_id)
        worker.main(path, asked, lambda line: None)
        with store.reading() as cursor:
            ended = find_job(cursor, begun.job_id)
        close_all()
        if ended.outcome != "done":
            raise RefusedError(ended.message or ended.outcome or "no ending")
        say("done")

    return work


def grade(path: Path, say: Say) -> None:
    """People grade one after another, and the project is let go of: with a checkpoint."""
    store = open_store(path)
    for name in PEOPLE:
        kills.grade_until(store, name, say, most=2)
    close_all()


def open_older(path: Path, say: Say) -> None:
    """Bring a project of an older form to the newest."""
    with open_store(path).reading():
        pass
    close_all()
    say("done")


def build(folder: Path, most: int) -> dict[str, Step]:
    """The first steps by name, each with a project of its own to copy; what they need is imported here."""
    logging.getLogger("goldgrade").setLevel(logging.ERROR)  # upgrades are warned of
    found: dict[str, Step] = {}
    for name, template, work, kind in islice(_all_steps(folder), most):
        add(found, name, template, work, kind)
    return found


def _all_steps(folder: Path) -> Iterator[tuple[str, Path, Work, str]]:
    """The newest form but one, the path, and the forms before."""
    shipped = migrations.shipped()
    if shipped:
        yield _upgrade(shipped[:-1], folder)
    yield from _path(folder)
    for number in range(len(shipped) - 1):
        yield _upgrade(shipped[:number], folder)


def _path(folder: Path) -> Iterator[tuple[str, Path, Work, str]]:
    files, path = folder / "files", folder / "path.duckdb"
    write_files(files)
    in_a_fork(partial(_begin, path))
    jobs = jobs_of(files)
    for number, words in enumerate(PATH):
        template = Path(shutil.copy(path, folder / f"{number}.duckdb"))
        if words == "grade":
            cookies = in_a_fork(partial(served.cookies_of, template, PEOPLE))
            yield "grade", template, grade, "grades"
            in_the_app = partial(served.serve_and_grade, cookies=cookies, most=GRADES)
            yield "grade in the app", template, in_the_app, "grades"
            in_a_fork(partial(_grade_all, path))
            continue
        yield words.partition(" --")[0].format(files="", here=""), template, command(words, files), "whole"
        for start in [start for start in jobs if words.startswith(start)]:
            kind, parameters = jobs.pop(start)
            yield f"job {kind}", template, job(kind, parameters), "whole"
        in_a_fork(partial(command(words, files), path, lambda line: None))


def _upgrade(known: list[Migration], folder: Path) -> tuple[str, Path, Work, str]:
    newest = known[-1].name if known else migrations.BASE
    template = folder / f"of {newest}.duckdb"
    in_a_fork(partial(_build_older, known, template))
    return f"upgrade of {newest}", template, open_older, "upgrade"


def add(found: dict[str, Step], name: str, template: Path, work: Work, kind: str = "whole") -> None:
    """Do a step once on a copy, in a fork, to know what it leaves; what it imports is imported here."""
    path = copy_of(template, template.parent / "first")

    def once() -> tuple[Step, set[str]]:
        before = {} if kind == "upgrade" else _rows(path)
        said: list[str] = []
        began = time.monotonic()
        work(path, said.append)
        step = Step(template, work, kind, before, {}, time.monotonic() - began)
        step = step._replace(after=_rows(path), problems=frozenset(_problems(path)))
        if problems := look(path, step, said).broken:
            raise RuntimeError(f"{name}: {problems}")
        return step._replace(work=grade), set(sys.modules)  # a function within a function cannot be pickled

    step, modules = in_a_fork(once)
    for module in sorted(modules - set(sys.modules)):
        with suppress(ImportError):
            importlib.import_module(module)
    load_arrow()
    shutil.rmtree(path.parent)
    found[name] = step._replace(work=work)


def copy_of(template: Path, folder: Path) -> Path:
    """A project of its own in a new folder."""
    folder.mkdir()
    path = Path(shutil.copy(template, folder / "project.duckdb"))
    path.chmod(0o600)
    return path


def look(path: Path, step: Step, said: list[str]) -> Verdict:
    """What the next process finds, and that it can do the step again."""
    found = Verdict()
    done = "done" in said
    found.counts["acknowledged"] += done + sum(line.startswith("grade ") for line in said)
    found.demand(not any(line.startswith("failed") for line in said), f"it failed by itself: {said[-1:]}")
    try:
        now = _rows(path)
        if step.kind == "grades":
            found.add(kills.look_at_rows(open_store(path), said))
        else:
            _look_at_rows(step, now, done, found)
        _look_around(path, step, found)
        if step.kind == "whole":
            _do_again(path, step, found)
    except Exception as error:
        found.broken.append(f"{type(error).__name__}: {error}")
    finally:
        close_all()
    found.demand(not journal_path(path).exists(), "blocks of a checkpoint are left")
    return found


def _rows(path: Path) -> Rows:
    with open_store(path).reading() as cursor:
        found = read_all_rows(cursor)
    close_all()
    return found


def _look_at_rows(step: Step, now: Rows, done: bool, found: Verdict) -> None:
    for table, number in now.items():
        after = step.after[table]
        before = after if done else step.before.get(table, after)
        in_parts = table.startswith(IN_PARTS) and before <= number <= after
        found.demand(
            number in {before, after} or in_parts, f"{table} has {number} rows, not {before} or {after}"
        )


def _problems(path: Path) -> set[str]:
    return {one.sentence for one in examine(path, clean=True).findings if one.level == "problem"}


def _look_around(path: Path, step: Step, found: Verdict) -> None:
    """The doctor's findings, and copies that an upgrade has kept."""
    new = _problems(path) - step.problems
    found.demand(not new, f"the doctor: {sorted(new)[:3]}")
    for copy in path.parent.glob("*.before-*.duckdb"):
        with duckdb.connect(str(copy)) as kept:
            read_all_rows(kept)


def _do_again(path: Path, step: Step, found: Verdict) -> None:
    """It is done, or refused because it is done already."""
    said: list[str] = []
    with suppress(CurationError):
        step.work(path, said.append)
    for table, number in _rows(path).items():
        wanted = step.after[table]
        found.demand(
            number == wanted or (table.startswith(IN_PARTS) and number > wanted),
            f"done again, {table} has {number} rows, not {wanted}",
        )


def write_files(folder: Path) -> None:
    """The files that the commands bring in: two documents a topic, and one of them fits."""
    folder.mkdir()
    places = [(topic, number) for topic in ALL_TOPICS for number in (1, 2)]
    texts = {1: "All about the {}.", 2: "Nothing, {} and so on."}
    rows = [{"id": f"{t}-{n}", "title": f"{t} number {n}", "text": texts[n].format(t)} for t, n in places]
    write_corpus(folder / "corpus.jsonl", rows)
    write_corpus(folder / "queries.jsonl", [{"id": f"q-{t}", "text": f"best {t}"} for t in ALL_TOPICS])
    lines = {
        "traffic.csv": ["query,count", *(f"{t} number {n},{n + 3}" for t, n in places[:16])],
        "near.run": [f"q-{t} Q0 {t}-{n} {n} {3 - n} near" for t, n in places],
        "judgments.csv": [
            "query,document,annotator,grade",
            *(
                f"q-{t},{t}-{n},{who},{3 if n == 1 else late}"
                for who, late in (("abe", 0), ("zoe", 2))
                for t, n in places[:8]
            ),
        ],
    }
    for name, content in lines.items():
        (folder / name).write_text("\n".join([*content, ""]))


def _begin(path: Path) -> None:
    store = new_project(path)
    add_names(store, *PEOPLE)
    add_names(store, "lee", role="lead")
    close_all()


def _grade_all(path: Path) -> None:
    store = open_store(path)
    for name in PEOPLE:
        grade_next(store, name, 100)
    close_all()


def _build_older(known: list[Migration], path: Path) -> None:
    """A project of an older form, with rows in every table that takes made-up ones."""
    with duckdb.connect(str(path)) as connection:
        migrations.create(connection, known)
        tables = "SELECT table_name FROM duckdb_tables() WHERE table_name != 'migrations' ORDER BY ALL"
        for (table,) in connection.execute(tables).fetchall():
            with suppress(duckdb.Error):
                connection.execute(_made_up_rows(connection, table))
    path.chmod(0o600)


MADE_UP = {
    "VARCHAR": "'x' || i",
    "JSON": "'{}'",
    "BOOLEAN": "false",
    "TIMESTAMP": "TIMESTAMP '2026-05-01'",
    "VARCHAR[]": "[]",
}


def _made_up_rows(connection: duckdb.DuckDBPyConnection, table: str) -> str:
    columns = connection.execute(
        "SELECT data_type FROM duckdb_columns() WHERE table_name = ? ORDER BY column_index", [table]
    ).fetchall()
    values = ", ".join(MADE_UP.get(kind, "i") for (kind,) in columns)
    return f"INSERT INTO {table} SELECT {values} FROM range(200) t(i)"
