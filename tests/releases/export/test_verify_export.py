"""Verification finds a single altered byte in an exported folder and names its file, and its line."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from curation.errors import InputError
from curation.releases.export.export import export, manifest_text
from curation.releases.export.formats import FORMATS
from curation.releases.export.request import ExportOptions
from curation.releases.export.verify_export import verify_export
from curation.releases.freeze.freeze import freeze
from curation.store import Store
from tests.support import examples
from tests.support.command_line import invoke
from tests.support.gold_project import pooled_project


@pytest.fixture(scope="module")
def gold(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    store = pooled_project(tmp_path_factory.mktemp("gold"))
    freeze(store, "v1")
    yield store
    store.close()


@pytest.fixture(scope="module")
def exports(gold: Store, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an export in each format."""
    out = tmp_path_factory.mktemp("exports")
    for format in FORMATS:
        options = ExportOptions(unjudged=format == "trec", negatives=1, licence="cc-by-4.0")
        parts = ("dev", "test") if format in ("triplets", "ntuples") else ()
        export(gold, "v1", format, out / format, reason="a test", parts=parts, options=options)
    return out


@pytest.fixture
def copy(exports: Path, tmp_path: Path) -> Path:
    """The TREC export, to be altered."""
    return Path(shutil.copytree(exports / "trec", tmp_path / "trec"))


@pytest.mark.parametrize("format", FORMATS)
def test_what_was_not_touched_is_intact_by_its_manifest_and_by_its_release(
    gold: Store, exports: Path, format: str
) -> None:
    alone, compared = verify_export(exports / format), verify_export(exports / format, gold)
    assert (alone.intact, alone.problems, alone.not_compared) == (True, (), "no project at hand")
    assert (compared.intact, compared.problems, compared.not_compared) == (True, (), None)
    assert (alone.name, alone.format, alone.release_id) == ("v1", format, compared.release_id)


def test_verifying_opens_no_seal(gold: Store, exports: Path) -> None:
    def openings() -> int:
        with gold.reading() as cursor:
            return len(cursor.execute("SELECT * FROM seal_openings").fetchall())

    before = openings()
    verify_export(exports / "beir", gold)
    assert openings() == before


def test_an_altered_grade_is_named_by_file_line_and_byte_and_the_right_one_is_not_told(
    gold: Store, copy: Path
) -> None:
    path = copy / "qrels.dev.txt"
    text = path.read_text()
    path.write_text(text.replace("kettle-2 1", "kettle-2 3"))
    assert verify_export(copy).problems == (
        "qrels.dev.txt was altered: its SHA-256 is not that of the manifest",
    )
    number = text[: text.index("kettle-2 1")].count("\n") + 1
    (problem,) = verify_export(copy, gold).problems
    assert problem == (
        f"qrels.dev.txt was altered: line {number} is the first that differs, at its byte 21: "
        "q-kettle 0 kettle-2 3"
    )


def test_truncated_missing_and_added_files_are_named(gold: Store, copy: Path) -> None:
    whole = (copy / "qrels.txt").read_bytes()
    (copy / "qrels.txt").write_bytes(whole[:-3])
    (copy / "topics.tsv").unlink()
    (copy / "deep").mkdir()
    (copy / "deep" / "notes.txt").write_text("mine")
    by_sums, by_release = verify_export(copy).problems, verify_export(copy, gold).problems
    assert by_sums == (
        "deep/notes.txt was added",
        f"qrels.txt was altered: it has {len(whole) - 3} bytes, expected {len(whole)}",
        "topics.tsv is missing",
    )
    assert by_release == (
        by_sums[0],
        f"qrels.txt was altered: it ends after {len(whole) - 3} bytes of {len(whole)}",
        by_sums[2],
    )


def test_an_alteration_that_also_mends_the_manifest_is_found_with_the_project(
    gold: Store, copy: Path
) -> None:
    (copy / "topics.tsv").write_text("q-1\tanother query\n")
    told = json.loads((copy / "manifest.json").read_text())
    export_again = verify_export(copy).problems
    assert export_again[0].startswith("topics.tsv was altered")
    content = (copy / "topics.tsv").read_bytes()
    told["files"]["topics.tsv"] = {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
    (copy / "manifest.json").write_text(manifest_text(told))
    assert verify_export(copy).intact
    problems = verify_export(copy, gold).problems
    assert [problem.split(" ")[0] for problem in problems] == ["manifest.json", "topics.tsv"]
    assert "topics.tsv was altered: line 1 is the first that differs, at its byte 3" in problems[1]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{", "it is no JSON any more"),
        ("[1]", "it does not tell which files there are"),
        ('{"files": {"../secret": {}}}', "it does not tell which files there are"),
        ('{"files": {"/etc/passwd": {}}}', "it does not tell which files there are"),
    ],
)
def test_a_manifest_that_is_none_any_more_is_told(copy: Path, text: str, problem: str) -> None:
    (copy / "manifest.json").write_text(text)
    found = verify_export(copy)
    assert not found.intact
    assert found.problems[0].startswith(f"manifest.json was altered: {problem}")


def test_a_folder_that_is_no_export_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no manifest.json: expected a folder that `goldset export` wrote"):
        verify_export(tmp_path)


def test_an_export_of_another_project_is_compared_with_its_manifest_and_that_is_said(
    store: Store, copy: Path
) -> None:
    found = verify_export(copy, store)
    assert found.intact
    assert "the project has no release with the id" in (found.not_compared or "")


@given(data=st.data())
@settings(max_examples=examples(80), suppress_health_check=[HealthCheck.function_scoped_fixture])
@pytest.mark.slow
def test_any_single_byte_of_any_file_is_found_and_its_file_named(
    gold: Store, exports: Path, data: st.DataObject
) -> None:
    """With the project at hand also the very line, in every text file."""
    format = data.draw(st.sampled_from(sorted(FORMATS)))
    names = sorted(path for path in (exports / format).rglob("*") if path.is_file())
    path = data.draw(st.sampled_from(names))
    whole = path.read_bytes()
    place = data.draw(st.integers(0, len(whole) - 1))
    bit = data.draw(st.integers(0, 7))
    altered = bytearray(whole)
    altered[place] ^= 1 << bit
    path.write_bytes(altered)
    try:
        alone = verify_export(exports / format)
        compared = verify_export(exports / format, gold)
    finally:
        path.write_bytes(whole)
    name = path.relative_to(exports / format).as_posix()
    for found in (alone, compared):
        assert not found.intact
        assert any(problem.startswith(f"{name} ") for problem in found.problems)
    if name != "manifest.json":
        assert len(compared.problems) == 1
        if path.suffix == ".parquet":
            assert f"byte {place + 1:,} is the first that differs" in compared.problems[0]
        else:
            line = whole.count(b"\n", 0, place) + 1
            assert f"line {line:,} is the first that differs" in compared.problems[0]


def test_the_command_names_the_line_and_exits_with_1(gold: Store, copy: Path) -> None:
    command = ["--project", str(gold.path), "verify", "--folder", str(copy)]
    intact = invoke(command)
    assert (intact.exit_code, "is intact: 5 files of the release v1" in intact.stdout) == (0, True)
    (copy / "qrels.test.txt").write_text("")
    altered = invoke(command)
    assert altered.exit_code == 1
    assert "qrels.test.txt was altered: it ends after 0 bytes" in altered.stdout
    alone = invoke(["--project", str(copy / "none.duckdb"), "verify", "--folder", str(copy), "--json"])
    told = json.loads(alone.stdout)
    assert (told["altered"], told["not_compared"]) == (1, "no project at hand")
    assert invoke([*command, "v1"]).exit_code == 2
    assert invoke(command[:3]).exit_code == 2
