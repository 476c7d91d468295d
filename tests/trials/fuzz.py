"""Fuzzing: valid files of every kind that a project takes, damaged at random, are brought in.

The imports are those of the pages and commands, in a transaction that is undone; one file in ten that would
be taken is imported for real, into a copy. Guides are read. Now and then it is a backup that is restored,
or the log beside a project that is opened.

What must hold: a file is taken or refused with a `CurationError` of bounded length, within ten seconds of
processor time, and no other error comes; after a refusal the database is as it was; of a log with flipped
bits, no commit is lost without a refusal.
"""

from __future__ import annotations

import csv
import io
import json
import os
import shutil
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from random import Random
from types import MappingProxyType
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet

from curation.backups.backup import back_up, restore, sums_path
from curation.errors import CurationError
from curation.guides.guide import read_guide
from curation.imports.importing import carry_out, dry_run
from curation.imports.look import look_at
from curation.imports.request import ImportRequest
from curation.project import init_project
from curation.store import Store, open_store
from curation.store.on_disk.write_ahead_log import log_of
from tests.support import ROOT
from tests.support.projects import add_names, add_pairs, grade_next, new_project, rows_of
from tests.trials.forks import in_a_fork
from tests.trials.mutations import IN_PLACE, mutated
from tests.trials.verdict import Verdict, main

RULE = "Whatever is in a file, it is taken or refused with a sentence, and a refusal changes nothing."
DONE = "Files of 20 kinds are damaged and brought in, logs and backups among them."
BEFORE = "16 of 30 commits of a log lost without a word; 3 GB for a file of 1.4 MB"
BATCH = 250
"""Files that one fork takes: what brings the process down is found, and the rest goes on."""
COMMITS = 6
LONGEST = 61_000
"""Characters of a refusal: 60 lines of 1,000."""
SLOW = 10.0
WRITTEN = "SELECT count(*) FROM settings WHERE name LIKE 'written %'"


class Seed(NamedTuple):
    """A valid file, and how it is brought in."""

    what: str
    name: str
    content: bytes
    options: Mapping[str, Any] = MappingProxyType({})


def table(rows: list[dict[str, Any]]) -> bytes:
    sink = pa.BufferOutputStream()
    pa.parquet.write_table(pa.Table.from_pylist(rows), sink)
    return bytes(sink.getvalue())


DOCUMENTS = [
    {"id": f"d{n}", "title": f"Tee {n} ü", "text": f"Über tea, {n}\n“quoted”", "date": "2026-01-02"}
    for n in range(6)
]
TRAFFIC = [
    {"query": f"tea {n}", "time": f"2026-01-0{n + 1}T10:00:00Z", "count": n + 1, "session": f"s{n % 2}"}
    for n in range(6)
]
GRADES = (
    "query,document,rater,grade,note,time\ntea,d1,dora,3,fits,2026-01-02 10:00\n"
    "tea,d2,ann,0,,2026-01-02\ngreen tea,d3,ben,2,x,\n"
)
WIDE = {"annotator_columns": {"ann_rating": "ann", "ben_rating": "ben", "cid_rating": "cid"}}


def lines_of(rows: list[dict[str, Any]]) -> bytes:
    return "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows).encode()


def csv_of(rows: list[dict[str, Any]], separator: str = ",") -> bytes:
    out = io.StringIO()
    writer = csv.DictWriter(out, list(rows[0]), delimiter=separator)
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue().encode()


SEEDS = (
    Seed("corpus", "corpus.jsonl", lines_of(DOCUMENTS)),
    Seed("corpus", "corpus.csv", csv_of(DOCUMENTS), {"add": True}),
    Seed("corpus", "corpus.tsv", csv_of(DOCUMENTS, "\t").replace(b"\n\xe2", b" \xe2")),
    Seed("corpus", "corpus.parquet", table(DOCUMENTS)),
    Seed("traffic", "traffic.csv", csv_of(TRAFFIC)),
    Seed("traffic", "traffic.jsonl", lines_of(TRAFFIC)),
    Seed("traffic", "traffic.parquet", table(TRAFFIC)),
    Seed(
        "queries",
        "queries.jsonl",
        lines_of(
            [{"_id": "7", "text": "oolong", "answers": ["yes", "a tea"]}, {"_id": "8", "text": "assam"}]
        ),
    ),
    Seed("queries", "queries.csv", b"query_id,query,answers\n7,oolong,yes\n8,assam,no\n"),
    Seed("runs", "run.trec", b"tea Q0 d2 1 9.5 x\ntea Q0 d1 2 9.1 x\ntea Q0 d3 3 1e-3 x\n", {"name": "bm25"}),
    Seed("runs", "run.csv", b"query,document,rank,score\ntea,d2,1,9.5\ntea,d1,2,9.1\n", {"name": "bm25"}),
    Seed("judgments", "grades.csv", GRADES.encode()),
    Seed(
        "judgments",
        "grades.jsonl",
        lines_of([{"query": "tea", "document": "d1", "annotator": "ann", "grade": 2, "note": "x"}]),
    ),
    Seed(
        "judgments",
        "wide.csv",
        b"query,docid,ann_rating,ben_rating,cid_rating\ntea,d1,3,0,\ntea,d2,1,1,2\n",
        WIDE,
    ),
    Seed("judgments", "test.qrels", b"tea 0 d1 1\ntea 0 d2 -1\ntea\t0\td2\t2\n", {"annotator": "nist"}),
    Seed(
        "judgments", "judge.jsonl", lines_of([{"query": "tea", "doc_id": "d1", "grade": 1}]), {"judge": "gpt"}
    ),
    Seed(
        "decisions",
        "final.csv",
        b"query,docid,final_rating\ntea,d1,1\n",
        {"reason": "final", "every_pair": True},
    ),
    Seed("answers", "answers.csv", b"query,answer\ntea,a drink\noolong,tea\n", {"skip_unknown": True}),
    Seed("guide", "guide.md", (ROOT / "labeling_guides" / "graded-relevance.md").read_bytes()),
    Seed(
        "guide",
        "guide.md",
        (ROOT / "labeling_guides" / "graded-relevance.md").read_bytes().partition(b"\n## ")[0],
    ),
)


class Bench:
    """A project, its bytes, and what its tables hold."""

    def __init__(self, project: Path, folder: Path) -> None:
        self.folder = folder
        self.store = open_store(Path(shutil.copy(project, folder / "project.duckdb")))
        self.bytes = project.read_bytes()
        self._tables = [name for (name,) in rows_of(self.store, "SELECT table_name FROM duckdb_tables()")]
        self.before = self.content()

    def content(self) -> list[tuple[Any, ...]]:
        """Rows and a hash over all rows, for each table."""
        parts = (f"SELECT '{name}', count(*), bit_xor(hash(t)) FROM {name} t" for name in self._tables)
        return sorted(rows_of(self.store, " UNION ALL ".join(parts)))

    def reset(self) -> None:
        self.store.close()
        self.store.path.write_bytes(self.bytes)


def build(path: Path) -> None:
    store = new_project(path)
    add_pairs(store, {"tea": ["d1", "d2"], "green tea": ["d3", "d4"]})
    add_names(store, "lee", role="lead")
    add_names(store, "ann", "ben", "cid")
    store.close()


def build_killed(path: Path) -> None:
    """A project whose last commits are in its log alone; the fork that calls this ends without closing it."""
    store = init_project(path).store
    store._file.take()
    engine = store._file.cursor()
    for number in range(COMMITS):
        engine.execute("INSERT INTO settings VALUES (?, ?)", [f"written {number}", "x" * 20])
    shutil.copy(path, path.with_suffix(".copy"))
    shutil.copy(log_of(path), path.with_suffix(".log"))


def bring_in(bench: Bench, seed: Seed, path: Path, really: bool) -> str:
    """'taken', or 'refused' where `CurationError` says why; whatever else is raised goes through."""
    if seed.what == "guide":
        read_guide(path)
        return "taken"
    asked = ImportRequest(seed.what, str(path), seed.name, options=dict(seed.options))
    asked = asked._replace(fields=look_at(asked).fields)
    found = dry_run(bench.store, asked, "lee")
    if found.outcome is None:
        told = "\n".join([*(one.found for one in found.problems), found.way_out])
        assert found.problems, "a refusal without a sentence"
        assert max(len(one.found) for one in found.problems) <= LONGEST, len(told)
        carry_out(bench.store, asked, "lee")  # says the same, as an error
        raise AssertionError("the import takes what its rehearsal refused")
    if really:
        carry_out(bench.store, asked, "lee")
        bench.reset()
    return "taken"


def fuzz_imports(bench: Bench, times: int, chance: Random) -> Verdict:
    """So many damaged files, one after another."""
    found = Verdict()
    for number in range(times):
        seed = chance.choice(SEEDS)
        path = bench.folder / seed.name
        path.write_bytes(mutated(seed.content, chance))
        really = chance.random() < 0.1
        guarded(
            found,
            seed.name,
            path,
            lambda seed=seed, path=path, really=really: bring_in(bench, seed, path, really),
        )
        found.counts["files"] += 1
        if number % 25 == 24 or number == times - 1:
            found.demand(bench.content() == bench.before, f"the database changed before file {number}")
    return found


def try_seeds(folder: Path) -> Verdict:
    """As they are, all the files can be taken: else a refusal would say nothing."""
    found, bench = Verdict(), Bench(folder / "template.duckdb", folder)
    for seed in SEEDS:
        path = folder / seed.name
        path.write_bytes(seed.content)
        try:
            bring_in(bench, seed, path, really=False)
        except CurationError as error:
            found.broken.append(f"{seed.name}, which is not damaged, is refused: {error}")
    bench.store.close()
    return found


def guarded(found: Verdict, name: str, path: Path, act: Callable[[], str]) -> None:
    """Note what came of a file; what breaks the rule is kept beside it."""
    began = time.process_time()
    try:
        found.counts[act()] += 1
    except CurationError as error:
        found.counts["refused"] += 1
        found.demand(len(str(error)) <= LONGEST, f"{name}: a refusal of {len(str(error)):,} characters")
    except Exception as error:
        found.broken.append(f"{name}: {type(error).__name__}: {str(error)[:300]} ({keep(path)})")
    used = time.process_time() - began
    found.demand(used <= SLOW, f"{name}: {used:.1f} s of processor time")


def keep(path: Path) -> str:
    """Where a file that broke the rule is kept: the folder of `GOLDSET_TRIAL_KEPT`, if it is set."""
    folder = os.environ.get("GOLDSET_TRIAL_KEPT")
    if not folder:
        return "set GOLDSET_TRIAL_KEPT to a folder to keep the file"
    kept = Path(folder) / f"{os.getpid()}-{time.monotonic_ns()}-{path.name}"
    shutil.copy(path, kept)
    return str(kept)


def fuzz_log(folder: Path, times: int, chance: Random) -> Verdict:
    """Open a project beside which the log has flipped bits."""
    found, path = Verdict(), folder / "logged.duckdb"
    whole = (folder / "killed.log").read_bytes()
    for _ in range(times):
        shutil.copy(folder / "killed.copy", path)
        log_of(path).write_bytes(mutated(whole, chance, IN_PLACE))
        altered = Path(shutil.copy(log_of(path), folder / "altered.wal"))
        guarded(found, "the log", altered, lambda: _opened(path))
        log_of(path).unlink(missing_ok=True)
        found.counts["logs"] += 1
    return found


def _opened(path: Path) -> str:
    store = Store(path)
    try:
        with store.reading() as cursor:
            count = cursor.execute(WRITTEN).fetchall()[0][0]
    finally:
        store.close()
    assert count == COMMITS, f"{COMMITS - count} commits of the log are lost without a word"
    return "taken"


def fuzz_backups(folder: Path, times: int, chance: Random) -> Verdict:
    """Restore damaged backups, with their sums and without; the project that is there stays as it is."""
    found = Verdict()
    store = open_store(Path(shutil.copy(folder / "template.duckdb", folder / "restored.duckdb")))
    back_up(store, folder / "backup.duckdb")
    store.close()
    whole, before = (folder / "backup.duckdb").read_bytes(), store.path.read_bytes()
    for number in range(times):
        path = folder / f"damaged-{number}.duckdb"
        path.write_bytes(mutated(whole, chance))
        if chance.random() < 0.5:
            shutil.copy(sums_path(folder / "backup.duckdb"), sums_path(path))
        guarded(found, "a backup", path, lambda path=path: _restored(path, store.path))
        if store.path.read_bytes() != before:
            found.counts["restored"] += 1
            store.path.write_bytes(before)
        for one in (path, sums_path(path), *folder.glob("restored.before-*")):
            one.unlink(missing_ok=True)
        found.counts["backups"] += 1
    return found


def _restored(backup: Path, project: Path) -> str:
    restore(backup, project, replace=True)
    store = Store(project)
    try:
        grade_next(store, "ann", 0)
    finally:
        store.close()
    return "taken"


def trial(folder: Path, times: int, chance: Random) -> Verdict:
    """Of a hundred files, 96 are imports and guides, three are logs, one is a backup."""
    in_a_fork(lambda: build(folder / "template.duckdb"))
    in_a_fork(lambda: build_killed(folder / "killed.duckdb"))
    total = in_a_fork(lambda: try_seeds(folder))
    for start in range(0, times, BATCH):
        size = min(BATCH, times - start)
        place = folder / f"batch-{start}"
        place.mkdir()
        for name in ("template.duckdb", "killed.copy", "killed.log"):
            shutil.copy(folder / name, place / name)
        logs, backups, seed = -(-size * 3 // 100), -(-size // 100), chance.random()

        def batch(
            place: Path = place,
            size: int = size,
            logs: int = logs,
            backups: int = backups,
            seed: float = seed,
        ) -> Verdict:
            drawn = Random(seed)
            found = fuzz_imports(Bench(place / "template.duckdb", place), size - logs - backups, drawn)
            found.add(fuzz_log(place, logs, drawn))
            found.add(fuzz_backups(place, backups, drawn))
            return found

        try:
            total.add(in_a_fork(batch))
        except RuntimeError as error:
            total.broken.append(f"the batch at {start} brought the process down: {error}")
        shutil.rmtree(place)
    return total


if __name__ == "__main__":
    main(trial, RULE, 1_000)
