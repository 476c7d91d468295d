"""What breaks while a release is made, kept or read ends in a sentence, and never in half a release."""

from __future__ import annotations

import ast
import json
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from curation.core.errors import CurationError, RefusedError, StoreError
from curation.ingest.importers.corpus import import_corpus
from curation.ingest.importers.imported_judgment import ImportedJudgment
from curation.labeling.consensus.adjudication import decide_pair
from curation.labeling.imported import add_judgments
from curation.releases.checksums import compute_release_id, sign_row
from curation.releases.diff import compare_releases
from curation.releases.seal import open_sealed
from curation.releases.verify import verify
from curation.splits.request import SplitRequest
from curation.splits.split import make_split
from curation.store import Store, append_rows, utc_now
from tests.support import ROOT
from tests.support.freezing import export, freeze
from tests.support.gold_project import DISPUTE, LEXICAL, PARTS, documents, gold_project, write_corpus
from tests.support.projects import per_test, rows_of
from tests.support.stored_parts import add_texts, part_text, text_of, texts_of

pytestmark = pytest.mark.slow
gold = per_test(gold_project)

FROZEN = ("releases", "release_parts", "seal_openings")
CHANGING = re.compile(
    r"\b(UPDATE|DELETE\s+FROM|INSERT\s+OR\s+REPLACE\s+INTO|TRUNCATE(\s+TABLE)?|DROP\s+TABLE|ALTER\s+TABLE)\s+"
    rf"({'|'.join(FROZEN)})\b",
    re.IGNORECASE,
)

SMALL_DISK = """
import resource, signal, sys
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
sys.dont_write_bytecode = True  # it would be cut off at the limit, and break every later import
resource.setrlimit(resource.RLIMIT_FSIZE, (8_192, 8_192))
from curation.cli import main
main()
"""
KILLED = """
import os, signal, sys
from pathlib import Path
from curation.releases.freeze import freeze as module
from curation.releases.requests import FreezeRequest
from curation.store import open_store

module.record_event = lambda *_: os.kill(os.getpid(), signal.SIGKILL)  # the last step before the commit
module.freeze(open_store(Path(sys.argv[1])), FreezeRequest("v1"))
"""


def nothing_is_kept(store: Store) -> bool:
    """Whether no release, no part of one and no event of a freeze is stored."""
    tables = ("releases", "release_parts", "events WHERE action = 'freeze'")
    return not any(rows_of(store, f"SELECT * FROM {table}") for table in tables)


@pytest.mark.slow
def test_a_disk_that_fills_up_during_freeze_leaves_no_release(gold: Store) -> None:
    gold.close()
    command = [sys.executable, "-c", SMALL_DISK, "--project", str(gold.path), "freeze", "v1"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == 1
    assert "goldgrade: The database file could not be used, and nothing was changed:" in done.stderr
    assert "Traceback" not in done.stderr
    assert nothing_is_kept(gold)
    assert freeze(gold, "v1").created
    assert verify(gold, "v1").intact


@pytest.mark.costly("processes that are killed")
def test_kill_9_in_the_middle_of_freeze_leaves_nothing_of_it(gold: Store) -> None:
    gold.close()
    killed = subprocess.run([sys.executable, "-c", KILLED, str(gold.path)], check=False, cwd=ROOT)
    assert killed.returncode == -signal.SIGKILL
    assert nothing_is_kept(gold)
    assert freeze(gold, "v1").created
    assert verify(gold, "v1").intact


def test_no_sql_of_goldgrade_changes_a_release(gold: Store) -> None:
    assert CHANGING.search("update\n release_parts SET content = 'x'")
    assert CHANGING.search("DELETE FROM releases WHERE true")
    code = sorted((ROOT / "curation").rglob("*.py")) + sorted((ROOT / "app").rglob("*.py"))
    texts = {path: _texts(path) for path in code}
    migrations = sorted((ROOT / "curation" / "store" / "migrations").glob("*.sql"))
    texts |= {path: [path.read_text(encoding="utf-8")] for path in migrations}
    changing = [path.name for path, parts in texts.items() if any(map(CHANGING.search, parts))]
    assert changing == []
    writers = {
        path.name
        for path, parts in texts.items()
        if any(part == "release_parts" or re.search(r"INTO\s+release_parts\b", part) for part in parts)
    }
    assert writers == {"release_parts.py"}
    callers = {path.name for path in code if "add_part" in path.read_text(encoding="utf-8")}
    assert callers == {"release_parts.py", "freeze.py"}


def _texts(path: Path) -> list[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    ]


def test_whatever_is_done_to_the_project_a_release_stays_as_it_is(gold: Store, tmp_path: Path) -> None:
    frozen = freeze(gold, "v1")
    before = everything(gold, frozen.release_id)
    for work in works(gold, tmp_path):
        work()
    assert everything(gold, frozen.release_id) == before
    assert verify(gold, "v1").intact


def works(store: Store, folder: Path) -> list[Callable[[], object]]:
    """What people do after a release, and what somebody might try on it."""
    late = [ImportedJudgment("q-violin", "router-2", "zoe.miller", 2)]
    changed = [row | {"text": f"{row['text']} More."} for row in documents()[1:]]

    def refused() -> None:
        with pytest.raises(RefusedError, match="A release never changes"):
            freeze(store, "v1", allow_changed=True, override="a try")

    return [
        lambda: decide_pair(store, *DISPUTE, grade=0, reason="on second thoughts"),
        lambda: add_judgments(store, late, "late.csv"),
        lambda: import_corpus(store, write_corpus(folder / "other.jsonl", changed)),
        lambda: make_split(store, SplitRequest(tuple(PARTS.items()), 5, LEXICAL)),
        refused,
        lambda: freeze(store, "v2", allow_changed=True, override="a try"),
        lambda: compare_releases(store, "v1", "v2", reason="a try"),
        lambda: export(store, "v1", "csv", folder / "csv", reason="a try"),
        lambda: open_sealed(store, "v1", "look", "a try"),
    ]


def everything(store: Store, release_id: str) -> list[tuple[object, ...]]:
    sql = """
        SELECT * FROM releases r JOIN release_parts p USING (release_id) WHERE release_id = ?
        ORDER BY name, part, place
    """
    return rows_of(store, sql, release_id)


def forge(store: Store, name: str, change: Callable[[dict[str, str]], object]) -> None:
    """A release whose sums and id fit its content, though no goldgrade of now would write it."""
    ((release_id,),) = rows_of(store, "SELECT release_id FROM releases WHERE name = 'v1'")
    with store.reading() as cursor:
        texts = texts_of(cursor, release_id)
    change(texts)
    sums = {part: text_of(text).sums for part, text in texts.items()}
    release_id = compute_release_id({part: found.sha256 for part, found in sums.items()})
    manifest = {"parts": {part: found._asdict() for part, found in sums.items()}}
    with store.transaction() as cursor:
        add_texts(cursor, release_id, texts)
        append_rows(cursor, "releases", [sign_row(name, release_id, manifest, utc_now(), "x")])


def readers(store: Store, name: str, out: Path) -> list[Callable[[], object]]:
    return [
        lambda: verify(store, name),
        lambda: export(store, name, "csv", out, reason="x"),
        lambda: compare_releases(store, "v1", name),
        lambda: compare_releases(store, name, "v1"),
        lambda: open_sealed(store, name, "look", "x"),
    ]


def test_a_release_of_a_newer_goldgrade_is_told_by_all_that_read_it(gold: Store, tmp_path: Path) -> None:
    freeze(gold, "v1")

    def newer(texts: dict[str, str]) -> None:
        texts["release"] = part_text([json.loads(texts["release"]) | {"format": 99}])

    forge(gold, "later", newer)
    for read in readers(gold, "later", tmp_path / "out"):
        with pytest.raises(RefusedError, match=r"'later' was frozen by a newer goldgrade \(format 99"):
            read()
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("text", ["{not json}\n", '{"format": 1\n', "\0"])
def test_a_part_that_is_not_json_is_told_though_its_sum_fits(gold: Store, tmp_path: Path, text: str) -> None:
    freeze(gold, "v1")
    forge(gold, "broken", lambda texts: texts.update(qrels=text))
    with pytest.raises(RefusedError, match=r"The part 'qrels' of the release 'broken' .* is not JSON"):
        compare_releases(gold, "v1", "broken")
    with pytest.raises(CurationError, match="is not JSON"):
        export(gold, "broken", "csv", tmp_path / "out", reason="x")
    assert not (tmp_path / "out").exists()
    forge(gold, "headless", lambda texts: texts.update(release=text))
    for read in readers(gold, "headless", tmp_path / "out"):
        with pytest.raises(RefusedError, match="is not JSON"):
            read()


@pytest.mark.slow
def test_one_altered_byte_on_the_disk_is_told_as_damage(gold: Store, tmp_path: Path) -> None:
    """DuckDB has a checksum for each block: what it reads is what was written, or this sentence."""
    freeze(gold, "v1")
    gold.close()
    whole = gold.path.read_bytes()
    path = tmp_path / "damaged.duckdb"
    told = []
    for place in [10, 5_000, 9_000, *range(13_000, len(whole), 262_144)]:
        content = bytearray(whole)
        content[place] ^= 1
        path.write_bytes(content)
        damaged = Store(path)
        try:
            assert verify(damaged, "v1").intact
        except StoreError as error:
            told.append(str(error))
        finally:
            damaged.close()
    damage = [sentence for sentence in told if "The database file is damaged" in sentence]
    others = [sentence for sentence in told if sentence not in damage]
    assert len(damage) >= 4
    assert all("cannot be opened as a project" in sentence for sentence in others)
