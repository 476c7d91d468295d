"""What goldgrade makes of a fixed project stays equal, byte for byte, whatever becomes of its code.

The commands of a small project run one after another, and what they make is summed: release ids, an export's
files in each format, and the figures of an evaluation. Whoever changes a sum changes what people hold
already, and says so in the changelog.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from datetime import datetime
from hashlib import sha256
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from curation.core.digests import canonical_json, digest
from curation.releases.checksums import round_floats
from curation.releases.export.formats import FORMATS
from curation.store import Store
from tests.support.command_line import Done, invoke
from tests.support.projects import add_names, new_project, rows_of
from tests.support.relabeled import answer_round
from tests.support.sampled_pool import sample_last_pool

pytestmark = pytest.mark.slow

TOPICS = "kettle router violin passport glacier sourdough tractor origami lantern harbour".split()
KINDS = ("cheap", "best", "how to repair a", "red or blue")
OPENED = """
import corpus corpus.jsonl
import traffic traffic.csv --map time=time --map count=count --map session=session
sample --size 20 --seed 7
tags --find
import run far.csv --name far --map query=query --skip-unknown
pool --systems bm25,run:far --depth 8 --random-negatives 1 --seed 7
"""
SAMPLED = """
import answers answers.csv --map query=query --skip-unknown
round open first --annotators ada,grace --overlap 2 --duplicates 0.1 --seed 7
"""
FROZEN = """
decide --file decided.csv --reason "as joan says" --all
split --part dev=0.6 --part test=0.4 --seed 3 --no-paraphrase --same session
freeze v1 --allow-disputed --override "to test it"
freeze shared --allow-disputed --share-grades identical --seal dev --override "to test it"
"""
AGAIN = """
import corpus revised.jsonl
relabel plan --share 0.2 --seed 7 --today 2026-08-03
relabel open --annotators ada,grace --round again
"""
FROZEN_AGAIN = """
split --part dev=0.6 --part test=0.4 --seed 3 --no-paraphrase
freeze v2 --allow-disputed --allow-changed --override "to test it" --reason "to test it"
"""
EVALUATED = (
    "evaluate v1 --run near.csv --run far.csv --map query=query --part dev --breakdown type,part,tag "
    "--hard-negatives --baseline near --seed 7 --json"
)


def documents(version: int) -> Iterator[dict[str, str]]:
    """Four documents a topic, two of them with one text; in the second version some are revised or gone."""
    for number, topic in enumerate(TOPICS):
        texts = (
            f"All about the {topic}.",
            f"How to repair a {topic}, “cheap”\nünd so weiter",
            f"{topic} | best",
        )
        for place, text in enumerate((*texts, texts[2])):
            if version == 1 or number != 3:
                name = f"{topic}-{place}" if place < 3 else f"{topic} copy 100%"
                revised = " Revised." if version == 2 and (number + place) % 5 == 0 else ""
                yield {"id": name, "title": topic.title(), "text": text + revised, "url": f"u/{topic}"}


def write_files(folder: Path) -> None:
    """All that the commands read."""
    for name, version in (("corpus", 1), ("revised", 2)):
        (folder / f"{name}.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in documents(version)))
    asked = [f"{kind} {topic}" for topic in TOPICS for kind in KINDS]
    log = (
        f"{text},2026-0{1 + n % 6}-1{n % 9} 08:00,{1 + n * n % 90},s{n // 4}" for n, text in enumerate(asked)
    )
    write_csv(folder / "traffic.csv", "query,time,count,session", log)
    write_csv(folder / "answers.csv", "query,answer", (f"{text},{text.title()}" for text in asked[::3]))
    names = [row["id"] for row in documents(1)]
    for system in ("near", "far"):
        lists = {text: ranked(system, text, names) for text in asked}
        rows = (f"{text},{name},{-n}" for text, found in lists.items() for n, name in enumerate(found))
        write_csv(folder / f"{system}.csv", "query,document,score", rows)


def ranked(system: str, text: str, names: list[str]) -> list[str]:
    """A system's list, with more of its topic's documents than chance gives."""
    topic = text.split()[-1]
    return sorted(names, key=lambda name: drawn(system, text, name) >> 2 * name.startswith(topic))[:12]


def write_csv(path: Path, header: str, rows: Iterator[str]) -> None:
    path.write_text("\n".join([header, *rows, ""]), encoding="utf-8")


def drawn(*of: object) -> int:
    """A number below 65,536."""
    return int(digest(*of)[:4], 16)


def grade(who: str, topic: str, document: str) -> int:
    """Alike for both but now and then; other topics' documents are not relevant."""
    level = 1 + drawn(document) % 3 if document.startswith(topic) else 0
    return max(0, level - 1) if drawn(who, topic, document) % 9 == 0 else level


def answer(store: Store, round_name: str) -> None:
    topics = {name: text.split()[-1] for name, text in rows_of(store, "SELECT query_id, text FROM queries")}

    def grader(who: str, query: str, document: str) -> int:
        return grade(who, topics[query], document)

    answer_round(store, round_name, grader, datetime(2026, 2, 2, 9))


def decided(store: Store) -> Iterator[str]:
    pairs = rows_of(store, "SELECT query_id, document_id FROM candidates ORDER BY ALL LIMIT 9")
    return (f"{query_id},{document_id},2" for query_id, document_id in pairs)


def goldgrade(folder: Path, command: str) -> Done:
    """Run a command on the project of the folder, where its files are."""
    words = shlex.split(command)
    words = [str(folder / word) if word.endswith((".csv", ".jsonl")) else word for word in words]
    done = invoke(["--project", str(folder / "p.duckdb"), *words], catch_exceptions=False)
    assert done.exit_code == 0, f"{command}: {done.output}"
    return done


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """The project after all its commands, with their files beside it."""
    folder = tmp_path_factory.mktemp("stay")
    write_files(folder)
    store = new_project(folder / "p.duckdb")
    add_names(store, "ada", "grace")

    def run(commands: str) -> None:
        for command in commands.strip().splitlines():
            goldgrade(folder, command)

    run(OPENED)
    sample_last_pool(store, {2: 1.0, 8: 0.6}, 7)
    run(SAMPLED)
    answer(store, "first")
    write_csv(folder / "decided.csv", "query,document,grade", decided(store))
    run(FROZEN)
    run(AGAIN)
    answer(store, "again")
    run(FROZEN_AGAIN)
    yield store
    store.close()


RELEASES = {
    "v1": "ec2fd3788f563a98ad942cfb1cef94dd25774ab17cb4dbfd19520880317f35a2",
    "shared": "ce8d29e941f19a30aea981ab677f359f3c98c93aa3f4ac78df549342e0d86843",
    "v2": "b9a6f510ec8c5cca04ea4d38005a6d887572a591ae8a86a9938259a735fcac60",
}
EXPORTS = {
    "beir": "28f94f71c257fce7",
    "leaderboard": "02cb644c18a61bd9",
    "trec": "e83a8b7265c30882",
    "csv": "cadfb8c1eb7c84a9",
    "parquet": "55e06bf5800121a2",
    "hf": "86d738a9ef984a38",
    "triplets": "86caf9ed817ebde6",
    "full": "adf2183c70d41eab",
    "rank-eval": "2d481466c6e8e1c4",
    "ratings": "28f9270981bfda40",
    "label-studio": "bba6fd6d773f66a4",
    "ragas": "e7cebeff326c234a",
    "deepeval": "737f231cf74ad6bb",
    "langsmith": "33287df99d4d86d7",
}
EVALUATION = "df1cfe994302392f"


def test_release_ids_stay(made: Store) -> None:
    assert dict(rows_of(made, "SELECT name, release_id FROM releases")) == RELEASES


def test_exported_files_stay_in_every_format(made: Store, tmp_path: Path) -> None:
    found = {}
    for format in FORMATS:
        reason = "" if FORMATS[format].never_sealed else '--reason "to test it"'
        goldgrade(made.path.parent, f"export v1 --format {format} --out {tmp_path / format} {reason}")
        found[format] = sum_of_files(tmp_path / format)
    assert found == EXPORTS


def test_the_figures_of_an_evaluation_stay(made: Store) -> None:
    """To six digits: the last ones are the machine's."""
    found = json.loads(goldgrade(made.path.parent, EVALUATED).stdout)
    assert [found.pop(name) for name in ("mark", "context", "sealed_count")] == [None, {}, None]
    for system in found["hard_negatives"]["systems"].values():
        assert {(drop.pop("n"), drop.pop("why")) for drop in system["drop"].values()} == {(12, None)}
    files = [file for run in found["runs"] for file in run["files"]]
    assert [(file.pop("chunks"), file.pop("remarks")) for file in files] == [(None, [])] * len(files)
    assert sum_of(canonical_json(round_floats(found)).encode()) == EVALUATION


def sum_of_files(folder: Path) -> str:
    """The sums of an export; for Parquet the sum of the rows, because pyarrow versions write other bytes."""
    found = {}
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        content = path.read_bytes()
        if path.suffix == ".parquet":
            rows = pq.read_table(path)
            content = canonical_json([str(rows.schema), rows.to_pylist()]).encode()
        elif path.name == "manifest.json":
            manifest = json.loads(content)
            named = {key: manifest[key] for key in manifest.keys() - {"files", "sum", "written_with"}}
            content = canonical_json([named, sorted(manifest["files"])]).encode()
        found[path.relative_to(folder).as_posix()] = sha256(content).hexdigest()
    return sum_of(canonical_json(found).encode())


def sum_of(content: bytes) -> str:
    return sha256(content).hexdigest()[:16]
