"""Verification finds a single altered byte in an exported folder and names its file."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from curation.core.errors import InputError
from curation.releases.export.formats import FORMATS
from curation.releases.verify import verify_export
from curation.store import Store
from tests.support import examples
from tests.support.command_line import invoke
from tests.support.freezing import export, freeze
from tests.support.gold_project import pooled_project
from tests.support.projects import per_module


@per_module
def gold(folder: Path) -> Store:
    store = pooled_project(folder)
    freeze(store, "v1")
    return store


@pytest.fixture(scope="module")
def exports(gold: Store, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an export in each format."""
    out = tmp_path_factory.mktemp("exports")
    for format in FORMATS:
        options = {"unjudged": format == "trec", "negatives": 1, "licence": "cc-by-4.0"}
        parts = ("dev", "test") if format == "triplets" else ()
        export(gold, "v1", format, out / format, reason="a test", parts=parts, **options)
    return out


@pytest.fixture
def copy(exports: Path, tmp_path: Path) -> Path:
    """The TREC export, to be altered."""
    return Path(shutil.copytree(exports / "trec", tmp_path / "trec"))


def test_what_was_not_touched_is_intact_in_every_format(exports: Path) -> None:
    for format in FORMATS:
        report = verify_export(exports / format)
        assert (report.intact, report.problems, report.name, report.format) == (True, (), "v1", format)


def test_truncated_altered_missing_and_added_files_are_named(copy: Path) -> None:
    whole = (copy / "qrels.txt").read_bytes()
    (copy / "qrels.txt").write_bytes(whole[:-3])
    (copy / "topics.tsv").unlink()
    (copy / "deep").mkdir()
    (copy / "deep" / "notes.txt").write_text("mine")
    path = copy / "qrels.dev.txt"
    path.write_text(path.read_text().replace("kettle-2 1", "kettle-2 3"))
    assert verify_export(copy).problems == (
        "deep/notes.txt was added",
        "qrels.dev.txt was altered: its SHA-256 differs from the manifest",
        f"qrels.txt was altered: it has {len(whole) - 3} bytes, expected {len(whole)}",
        "topics.tsv is missing",
    )


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{", "the manifest is not JSON"),
        ("[1]", "the manifest does not name its files"),
        ('{"files": {"../secret": {}}}', "the manifest does not name its files"),
        ('{"files": {"/etc/passwd": {}}}', "the manifest does not name its files"),
    ],
)
def test_a_manifest_that_is_none_any_more_is_told(copy: Path, text: str, problem: str) -> None:
    (copy / "manifest.json").write_text(text)
    report = verify_export(copy)
    assert not report.intact
    assert report.problems[0].startswith(f"manifest.json was altered: {problem}")


def test_a_folder_that_is_no_export_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no manifest.json: expected the folder of an export"):
        verify_export(tmp_path)


@pytest.mark.slow
@given(data=st.data())
@settings(max_examples=examples(80), suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_single_byte_of_any_file_is_found_and_its_file_named(exports: Path, data: st.DataObject) -> None:
    format = data.draw(st.sampled_from(sorted(FORMATS)))
    path = data.draw(
        st.sampled_from(sorted(path for path in (exports / format).rglob("*") if path.is_file()))
    )
    whole = path.read_bytes()
    altered = bytearray(whole)
    altered[data.draw(st.integers(0, len(whole) - 1))] ^= 1 << data.draw(st.integers(0, 7))
    path.write_bytes(altered)
    try:
        report = verify_export(exports / format)
    finally:
        path.write_bytes(whole)
    name = path.relative_to(exports / format).as_posix()
    assert not report.intact
    assert any(problem.startswith(f"{name} ") for problem in report.problems)


def test_the_command_names_the_file_and_exits_with_1(copy: Path) -> None:
    command = ["--project", str(copy / "none.duckdb"), "verify", "--folder", str(copy)]
    intact = invoke(command)
    assert (intact.exit_code, "is intact: 5 files of the release v1" in intact.stdout) == (0, True)
    (copy / "qrels.test.txt").write_text("")
    altered = invoke(command)
    assert altered.exit_code == 1
    assert "qrels.test.txt was altered: it has 0 bytes" in altered.stdout
    assert json.loads(invoke([*command, "--json"]).stdout)["altered"] == 1
    assert invoke([*command, "v1"]).exit_code == 2
    assert invoke(command[:3]).exit_code == 2
