"""Kills: a process that writes is killed with SIGKILL at a random moment, again and again, on one project.

Three quarters of the victims are two people who grade at the same time through `submit_judgments`. The others
import documents, freeze, export and back up in turn. The next victim opens the project with what the former
left, and may be killed while it does. After every fifth kill another process looks at all that was
acknowledged until then.

What must hold: every grade that was acknowledged is there, once; an import is there as a whole or not at
all, and whole if it was acknowledged; every release, export and backup that was acknowledged is intact, and
so is each that has its final name; the doctor has no problem.
"""

from __future__ import annotations

import importlib
import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from curation.core.digests import digest
from curation.core.errors import CurationError
from curation.ingest.importers.corpus import import_corpus
from curation.labeling.judging import Submission
from curation.labeling.requests import RoundRequest
from curation.labeling.rounds.create_round import open_round
from curation.labeling.session.queue import read_queue
from curation.labeling.session.submit import submit_judgments
from curation.operations.backup import back_up, sums_path, verify_sums
from curation.operations.doctor import examine
from curation.releases.verify import verify_export
from curation.store import Store, open_store
from curation.store.duckdb_format import log_path
from curation.store.rows import load_arrow
from tests.support.freezing import freeze
from tests.support.gold_project import export, gold_project, write_corpus
from tests.support.projects import add_names, add_pairs, grid, new_project, rows_of
from tests.trials.forks import Victim, in_a_fork
from tests.trials.verdict import Verdict

RULE = (
    "Nothing that was acknowledged is lost or broken by a kill, and nothing half done is left in the project."
)
DONE = (
    "It kills a process while two people grade, or while the process imports, freezes, exports and backs up."
)
BEFORE = "1 kill in some 490 left a project that did not open"
PEOPLE = ("ann", "ben")
CAMPAIGN = 20
"""Kills after which a fresh project takes the place of the one that was killed so often."""
LOOK = 5
"""Kills after which somebody looks: what is lost stays lost, so that no look misses it."""
BATCH = 40
"""Documents of one import."""
EVENTS = "SELECT author, presentation_id, revision, grade, client_key FROM judgment_events"
Say = Callable[[str], None]


@dataclass
class Campaign:
    """One project that is killed many times, and what was acknowledged on it so far."""

    store_path: Path
    acknowledged: set[str] = field(default_factory=set)
    kills: int = 0
    number: int = 0
    longest: float = 0.05

    @property
    def folder(self) -> Path:
        return self.store_path.parent


def build_graded(path: Path) -> None:
    """A project with an open round for two people, 400 showings each."""
    store = new_project(path)
    add_pairs(store, grid(20, 20))
    add_names(store, *PEOPLE)
    open_round(store, RoundRequest("first", list(PEOPLE), overlap=2, duplicates=0, seed=1))
    store.close()


def build_gold(path: Path) -> None:
    """A project that can be frozen, with a release."""
    store = gold_project(path.parent)
    freeze(store, "v0")
    store.close()


def grade(path: Path, say: Say) -> None:
    """Two people grade until they are killed, each in a thread, as in the app."""
    store = open_store(path)
    load_arrow()
    people = [threading.Thread(target=grade_until, args=(store, name, say)) for name in PEOPLE]
    for one in people:
        one.start()
    for one in people:
        one.join()


def grade_until(store: Store, name: str, say: Say, most: int = 1000) -> None:
    """Say what was saved, with keys of this process: a lost grade is not covered by the next one's."""
    own = time.monotonic_ns()
    for _ in range(most):
        items = read_queue(store, name, 2).showings
        submissions = [
            Submission(
                one.presentation_id,
                one.revision,
                "grade",
                digest(name, one.presentation_id, own),
                len(one.presentation_id) % 3,
            )
            for one in items[: 1 + time.monotonic_ns() % 2]
        ]
        for asked, outcome in zip(submissions, submit_judgments(store, name, submissions), strict=True):
            if outcome.status == "saved":
                told = (name, asked.presentation_id, asked.revision, asked.grade, asked.client_key)
                say(" ".join(map(str, ("grade", *told))))


def work_in_turn(path: Path, first: int, say: Say) -> None:
    """Import, freeze, export and back up in turn, until killed."""
    store, folder = open_store(path), path.parent
    for number in range(first, first + 1000):
        act = ACTS[number % len(ACTS)]
        act(store, folder, number)
        say(f"{act.__name__[1:]} {number}")


def _import(store: Store, folder: Path, number: int) -> None:
    path = folder / f"batch-{number}.jsonl"
    import_corpus(store, path if path.exists() else write_batch(folder, number), add=True)


def write_batch(folder: Path, number: int) -> Path:
    """The documents of one import."""
    ids = [f"batch-{number}-{one}" for one in range(BATCH)]
    rows = [{"id": one, "title": one, "text": f"Batch {number}."} for one in ids]
    return write_corpus(folder / f"batch-{number}.jsonl", rows)


def _freeze(store: Store, folder: Path, number: int) -> None:
    freeze(store, f"v{number}")


def _export(store: Store, folder: Path, number: int) -> None:
    export(store, "v0", "beir", folder / "exports" / f"{number}")


def _backup(store: Store, folder: Path, number: int) -> None:
    back_up(store, folder / f"backup-{number}.duckdb")


ACTS = (_import, _freeze, _export, _backup)


def look_after_kill(path: Path, acknowledged: set[str]) -> Verdict:
    """What the next process finds: everything of `RULE`."""
    found = Verdict()
    store, folder = open_store(path), path.parent
    exports = folder / "exports"
    for finding in examine(path, [exports] if exports.is_dir() else [], clean=True).findings:
        found.demand(finding.level != "problem", f"the doctor: {finding.sentence}")
        found.counts["folders left, found and removed"] += finding.what == "leftovers"
    found.add(look_at_rows(store, acknowledged))
    _look_at_exports(exports, _done("export", acknowledged), found)
    _look_at_backups(folder, _done("backup", acknowledged), found)
    store.close()
    return found


def look_at_rows(store: Store, acknowledged: Iterable[str]) -> Verdict:
    """Whether the grades, imports and releases that were acknowledged are in the project."""
    found = Verdict()
    said = {tuple(line.split(" ")) for line in acknowledged}
    _look_at_grades(store, {line[1:] for line in said if line[0] == "grade"}, found)
    _look_at_imports(store, _done("import", acknowledged), found)
    names = {name for (name,) in rows_of(store, "SELECT name FROM releases")}
    frozen = {f"v{number}" for number in _done("freeze", acknowledged)}
    found.demand(frozen <= names, f"a release is lost: {sorted(names)}")
    return found


def _done(kind: str, acknowledged: Iterable[str]) -> set[str]:
    return {line.split(" ")[1] for line in acknowledged if line.startswith(f"{kind} ")}


def _look_at_grades(store: Store, acknowledged: set[tuple[str, ...]], found: Verdict) -> None:
    stored = [tuple(map(str, row)) for row in rows_of(store, EVENTS)]
    lost = acknowledged - set(stored)
    found.demand(not lost, f"{len(lost)} acknowledged grades are lost: {sorted(lost)[:3]}")
    found.demand(len({row[1:3] for row in stored}) == len(stored), "a grade is stored twice")


def _look_at_imports(store: Store, acknowledged: set[str], found: Verdict) -> None:
    sql = (
        "SELECT split_part(document_id, '-', 2), count(DISTINCT document_id) FROM snapshot_documents "
        "WHERE snapshot_id = (SELECT value FROM settings WHERE name = 'corpus') "
        "AND document_id LIKE 'batch-%' GROUP BY 1"
    )
    sizes = {str(number): count for number, count in rows_of(store, sql)}
    found.demand(set(sizes.values()) <= {BATCH}, f"half an import is there: {sizes}")
    found.demand(acknowledged <= set(sizes), f"an import is lost: {sorted(acknowledged - set(sizes))}")


def _look_at_exports(exports: Path, acknowledged: set[str], found: Verdict) -> None:
    there = {path.name for path in exports.iterdir() if path.name[0] != "."} if exports.is_dir() else set()
    found.demand(acknowledged <= there, f"an export is lost: {sorted(acknowledged - there)}")
    for name in there:
        try:
            problems = verify_export(exports / name).problems
            found.demand(not problems, f"the export {name}: {problems}")
        except CurationError as error:
            found.broken.append(f"the export {name}: {error.found}")


def _look_at_backups(folder: Path, acknowledged: set[str], found: Verdict) -> None:
    for path in sorted(folder.glob("backup-*.duckdb")):
        try:
            verify_sums(path)
        except CurationError as error:
            found.broken.append(f"{path.name}: {error.found}")
    whole = {
        f"{path.stem.partition('-')[2]}"
        for path in folder.glob("backup-*.duckdb")
        if sums_path(path).exists()
    }
    found.demand(acknowledged <= whole, f"a backup is lost: {sorted(acknowledged - whole)}")


def kill_once(campaign: Campaign, graded: bool, chance: Random) -> tuple[list[str], int]:
    """Kill a victim at a random moment; what it had acknowledged, and how often it failed by itself."""
    path, first = campaign.store_path, campaign.number
    victim = Victim(
        (lambda say: grade(path, say)) if graded else (lambda say: work_in_turn(path, first, say))
    )
    began = time.monotonic()
    wanted = chance.choice((0, 1, 3, 8, 20)) if graded else chance.choice((0, 0, 1, 2, 3))
    victim.wait_for(wanted, 20)
    if wanted > 1:
        campaign.longest = min(1.0, (time.monotonic() - began) / wanted)
    time.sleep(chance.uniform(0, 2 * campaign.longest))
    said = victim.kill()
    acknowledged = [line for line in said if not line.startswith("failed")]
    return acknowledged, len(said) - len(acknowledged)


def trial(folder: Path, times: int, chance: Random) -> Verdict:
    """Kill so many victims; every `CAMPAIGN` kills a fresh project, graded and worked on by turns."""
    templates = build_templates(folder)
    total = Verdict()
    for number in range(-(-times // CAMPAIGN)):
        graded = number % 4 != 1
        place = folder / f"campaign-{number}"
        place.mkdir()
        source = templates["graded" if graded else "gold"]
        campaign = Campaign(Path(shutil.copy(source, place / "project.duckdb")))
        campaign.store_path.chmod(0o600)
        for _ in range(min(CAMPAIGN, times - number * CAMPAIGN)):
            run_kill(campaign, graded, chance, total)
        look(campaign, total)
        shutil.rmtree(place)
    return total


def build_templates(folder: Path) -> dict[str, Path]:
    """Projects to copy, `graded` and `gold`; what victims need is imported here."""
    templates = {}
    for kind, build in (("graded", build_graded), ("gold", build_gold)):
        (folder / kind).mkdir()
        templates[kind] = folder / kind / "project.duckdb"
        in_a_fork(lambda build=build, path=templates[kind]: build(path))
    prepare(folder)
    return templates


def prepare(folder: Path) -> None:
    """Import here, once, what victims import while they work: a fork then starts with it."""

    def work() -> set[str]:
        for kind in ("graded", "gold"):
            place = folder / f"first-{kind}"
            place.mkdir()
            path = Path(shutil.copy(folder / kind / "project.duckdb", place / "project.duckdb"))
            if kind == "graded":
                grade_until(open_store(path), PEOPLE[0], lambda line: None, most=1)
            else:
                for number, act in enumerate(ACTS):
                    act(open_store(path), place, number)
            look_after_kill(path, set())
        return set(sys.modules)

    for name in sorted(in_a_fork(work) - set(sys.modules)):
        with suppress(ImportError):
            importlib.import_module(name)
    load_arrow()


def run_kill(campaign: Campaign, graded: bool, chance: Random, total: Verdict) -> None:
    """One kill, and the look afterwards where it is due."""
    said, failed = kill_once(campaign, graded, chance)
    campaign.acknowledged.update(said)
    campaign.number += len(said) + 1  # what was begun may be there: its name is not used again
    campaign.kills += 1
    log = log_path(campaign.store_path)
    total.counts["kills"] += 1
    total.counts["left a log to replay"] += log.exists() and log.stat().st_size > 0
    total.demand(not failed, "a victim failed before it was killed")
    for line in said:
        total.counts[f"acknowledged: {line.partition(' ')[0]}"] += 1
    if campaign.kills % LOOK == 0:
        look(campaign, total)


def look(campaign: Campaign, total: Verdict) -> None:
    """Another process opens the project and compares it with what was acknowledged."""
    path, acknowledged = campaign.store_path, campaign.acknowledged
    total.counts["looks"] += 1
    total.add(in_a_fork(lambda: look_after_kill(path, acknowledged)))
