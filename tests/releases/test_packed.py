"""A release in a file: the same bytes each time, the project's figures without it, a sentence for damage."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple
from zipfile import ZIP_DEFLATED, ZipFile

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import goldgrade
from curation.core.digests import to_json_value
from curation.core.errors import CurationError, InputError, NotFoundError, RefusedError
from curation.evaluation.evaluate_runs import evaluate_runs
from curation.evaluation.request import EvaluateRequest
from curation.evaluation.scoring.baselines import BaselineRequest, write_baselines
from curation.evaluation.scoring.system_files import parse_run_files
from curation.releases.diff import compare_releases
from curation.releases.export.pack import export_zip, pack_release
from curation.releases.frozen_release import load_release
from curation.releases.manifest import format_manifest
from curation.releases.requests import ExportRequest
from curation.releases.verify import verify
from curation.store import Store
from tests.support.evaluated_project import evaluated_project, ranked, sealed_queries, write_run
from tests.support.freezing import export
from tests.support.gold_project import frozen_project
from tests.support.sampled_release import sampled_release

SEALED = EvaluateRequest("v1", "test", reason="why")


class Project(NamedTuple):
    """A project with its release v1, that release packed, and a run."""

    store: Store
    packed: Path
    run: Path


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    folder = tmp_path_factory.mktemp("packed")
    store = evaluated_project(folder)
    run = write_run(folder / "run.trec", ranked("run"))
    return Project(store, pack_release(store, "v1", folder / "v1.goldgrade").file, run)


@pytest.fixture
def nowhere(tmp_path: Path) -> Store:
    """No project: whatever reads or writes one fails."""
    return Store(tmp_path / "none.duckdb")


@pytest.mark.slow
def test_the_same_release_gives_the_same_bytes(project: Project, tmp_path: Path) -> None:
    again = pack_release(project.store, "v1", tmp_path / "v1.goldgrade")
    assert again.file.read_bytes() == project.packed.read_bytes()
    other = evaluated_project(tmp_path)
    assert pack_release(other, "v1", tmp_path / "o.goldgrade").sha256 == again.sha256
    other.close()


def test_the_full_export_of_the_page_is_the_packed_release(project: Project, tmp_path: Path) -> None:
    export_zip(project.store, ExportRequest("v1", "full", str(tmp_path)))
    assert [path.name for path in tmp_path.iterdir()] == ["v1.goldgrade"]
    assert (tmp_path / "v1.goldgrade").read_bytes() == project.packed.read_bytes()


def test_without_a_project_and_on_a_disk_that_is_only_read_the_figures_are_the_projects(
    tmp_path: Path, nowhere: Store
) -> None:
    store, there = sampled_release(tmp_path), tmp_path / "only-read"
    there.mkdir()
    shutil.move(tmp_path / "near.trec", there)
    pack_release(store, "v1", there / "v1.goldgrade")
    there.chmod(0o500)
    runs = parse_run_files([str(there / "near.trec")])
    expected = evaluate_runs(store, "v1", runs)
    store.close()
    evaluation = evaluate_runs(nowhere, str(there / "v1.goldgrade"), runs)
    assert to_json_value(evaluation) == to_json_value(expected)
    assert evaluation.runs[0].traffic
    assert [path.name for path in sorted(there.iterdir())] == ["near.trec", "v1.goldgrade"]
    there.chmod(0o700)


def test_python_reads_a_file_without_a_project(project: Project, tmp_path: Path) -> None:
    release = goldgrade.release(project.packed, tmp_path / "none.duckdb")
    expected = goldgrade.release("v1", project.store.path)
    assert (release.id, release.qrels("dev")) == (expected.id, expected.qrels("dev"))
    assert list(release.documents()) == list(expected.documents())
    with pytest.raises(goldgrade.Error, match="has no grades of test"):
        release.qrels("test", reason="why")


def test_a_run_on_a_file_is_that_of_the_project(project: Project, nowhere: Store, tmp_path: Path) -> None:
    for store, name in ((nowhere, str(project.packed)), (project.store, "v1")):
        write_baselines(store, BaselineRequest(name, ["bm25"], tmp_path / str(store is nowhere)))
    found, expected = ((tmp_path / name / "bm25.trec").read_bytes() for name in ("True", "False"))
    assert found == expected


def test_an_export_of_a_file_is_that_of_the_project_but_for_its_card(
    project: Project, nowhere: Store, tmp_path: Path
) -> None:
    for store, name in ((nowhere, str(project.packed)), (project.store, "v1")):
        export(store, name, "beir", tmp_path / str(store is nowhere), without_grades=["test"])
        export(store, name, "full", tmp_path / str(store is nowhere) / "full")
    for path in sorted((tmp_path / "False").rglob("*.[jtp][sa]*")):
        if path.name != "manifest.json":
            other = tmp_path / "True" / path.relative_to(tmp_path / "False")
            assert path.read_bytes() == other.read_bytes()
    assert "without the judgments of 30 sealed queries" in (tmp_path / "True" / "README.md").read_text()


def test_sealed_grades_are_not_in_the_file_and_who_wants_them_is_told_so(
    project: Project, nowhere: Store, tmp_path: Path
) -> None:
    release = load_release(nowhere, str(project.packed))
    assert {row["query_id"] for row in release.rows("qrels")}.isdisjoint(sealed_queries(project.store))
    runs = parse_run_files([str(project.run)])
    with pytest.raises(RefusedError, match="has no grades of test"):
        evaluate_runs(nowhere, str(project.packed), runs, SEALED)
    with pytest.raises(RefusedError, match=r"has no grades of test.* --without-grades test .* --part dev\."):
        export(nowhere, str(project.packed), "csv", tmp_path / "csv", reason="why")
    assert export(nowhere, str(project.packed), "csv", tmp_path / "csv", parts=["dev"]).counts["grades"]


def test_a_file_with_sealed_grades_makes_the_id_and_has_no_log(
    project: Project, nowhere: Store, tmp_path: Path
) -> None:
    with pytest.raises(RefusedError, match="must give a reason"):
        pack_release(project.store, "v1", tmp_path / "whole.goldgrade", reason=" ")
    assert not list(tmp_path.iterdir())
    whole = pack_release(project.store, "v1", tmp_path / "whole.goldgrade", reason="archive")
    assert whole.file.stat().st_mode & 0o777 == 0o600
    verified = verify(nowhere, str(whole.file))
    assert (verified.intact, verified.lacking, verified.release_id) == (True, (), whole.exported.release_id)
    with pytest.raises(RefusedError, match="a release file has no log"):
        evaluate_runs(nowhere, str(whole.file), parse_run_files([str(project.run)]), SEALED)
    release = goldgrade.release(whole.file, nowhere.path)
    assert release.qrels("dev")
    for taken in (lambda: release.qrels("test"), lambda: release.export("csv", tmp_path / "csv")):
        with pytest.raises(goldgrade.Error, match="must give a reason, which a packed release cannot log"):
            taken()
    assert release.qrels("test", reason="archive") == goldgrade.release("v1", project.store.path).qrels(
        "test", reason="compared with the file"
    )
    out = release.export("csv", tmp_path / "csv", reason="archive").out
    assert {path.stat().st_mode & 0o077 for path in [out, *out.iterdir()]} == {0}
    card = (out / "README.md").read_text()
    assert "a packed release cannot log" in card
    assert "None" not in card


def test_verifying_says_of_which_parts_the_id_cannot_be_computed(project: Project, nowhere: Store) -> None:
    verified = verify(nowhere, str(project.packed))
    assert verified.intact
    assert verified.documents == load_release(project.store, "v1").header["documents"]
    assert (
        {"qrels", "judgments", "split"}
        <= set(verified.lacking)
        < set(load_release(project.store, "v1").texts)
    )


def test_a_file_compared_with_its_project_differs_in_nothing_but_says_what_is_not_compared(
    project: Project, tmp_path: Path
) -> None:
    changes = compare_releases(project.store, "v1", str(project.packed))
    assert (changes.same, changes.settings, changes.regrades, changes.pairs_gone) == (True, {}, [], [])
    assert changes.not_compared == len(sealed_queries(project.store))


def test_a_release_is_known_by_the_beginning_of_its_id(project: Project) -> None:
    release_id = load_release(project.store, "v1").row.release_id
    assert load_release(project.store, release_id[:8]).row == load_release(project.store, "v1").row
    with pytest.raises(NotFoundError):
        load_release(project.store, release_id[:5])


def test_a_beginning_that_several_ids_have_is_refused(tmp_path: Path) -> None:
    store = frozen_project(tmp_path)
    with store.transaction() as cursor:
        cursor.execute(
            "INSERT INTO releases SELECT 'twin', left(release_id, 60) || 'ffff', manifest, frozen_at, "
            "frozen_by FROM releases"
        )
    with pytest.raises(InputError, match=r"2 releases have an id that begins with .* twin .* v1 "):
        load_release(store, load_release(store, "v1").row.release_id[:12])
    store.close()


def test_another_file_is_never_replaced(project: Project, tmp_path: Path) -> None:
    (tmp_path / "mine.goldgrade").write_text("mine")
    with pytest.raises(InputError, match="already exists"):
        pack_release(project.store, "v1", tmp_path / "mine.goldgrade")
    assert (tmp_path / "mine.goldgrade").read_text() == "mine"


def _cut(path: Path) -> None:
    os.truncate(path, path.stat().st_size * 2 // 3)


def _flip(path: Path) -> None:
    with ZipFile(path) as packed:
        place = packed.getinfo("qrels.parquet").header_offset + 100
    content = bytearray(path.read_bytes())
    content[place] ^= 1
    path.write_bytes(bytes(content))


def _swell(path: Path) -> None:
    with ZipFile(path, "a", ZIP_DEFLATED) as packed:
        packed.writestr("more.json", "0" * 1_000_000)


def _rewrite(path: Path, change: Callable[[dict[str, bytes]], None]) -> None:
    """As somebody does who knows how sums are made."""
    with ZipFile(path) as packed:
        files = {name: packed.read(name) for name in packed.namelist()}
    manifest = json.loads(files.pop("manifest.json"))
    change(files)
    for name, content in files.items():
        manifest["files"][name] = {"sha256": sha256(content).hexdigest(), "bytes": len(content)}
    with ZipFile(path, "w") as packed:
        for name, content in {**files, "manifest.json": format_manifest(manifest).encode()}.items():
            packed.writestr(name, content)


def _newer(path: Path) -> None:
    def change(files: dict[str, bytes]) -> None:
        files["release.json"] = files["release.json"].replace(b'"packed": 1', b'"packed": 9')

    _rewrite(path, change)


def _table(path: Path, name: str, table: Callable[[pa.Table], pa.Table]) -> None:
    def change(files: dict[str, bytes]) -> None:
        sink = pa.BufferOutputStream()
        pq.write_table(table(pq.read_table(pa.BufferReader(files[name]))), sink, compression="zstd")
        files[name] = sink.getvalue().to_pybytes()

    _rewrite(path, change)


def _regrade(path: Path) -> None:
    _table(path, "queries.parquet", lambda table: table.slice(0, table.num_rows - 1))


def _repeat(path: Path) -> None:
    """One text of 100 kB, a thousand times, in a few kilobytes."""

    def swollen(table: pa.Table) -> pa.Table:
        place = table.column_names.index("text")
        rows = table.take([0] * 1_000)
        return rows.set_column(place, rows.schema.field(place), pa.array(["x" * 100_000] * 1_000))

    _table(path, "queries.parquet", swollen)


DAMAGES = {
    _cut: "is cut off",
    _flip: "is damaged",
    _swell: "more.json unpacks to 1,000,000 bytes",
    _newer: r"packed by a different version of goldgrade \(format 9; this version reads format 1\)",
    _regrade: "the part queries was altered",
    _repeat: "take hundreds of times its size",
}


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.__name__)
def test_a_damaged_file_is_refused_with_a_sentence(
    project: Project, nowhere: Store, tmp_path: Path, damage: Callable[[Path], None]
) -> None:
    path = tmp_path / "v1.goldgrade"
    shutil.copy(project.packed, path)
    damage(path)
    with pytest.raises(CurationError, match=DAMAGES[damage]):
        evaluate_runs(nowhere, str(path), parse_run_files([str(project.run)]))
