"""Files of a folder: found by name, known by their content; an address in object storage is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from curation.core.errors import InputError
from curation.ingest.readers.folders import compute_checksum, list_files
from tests.support.command_line import invoke


def refusal(location: str | Path) -> str:
    with pytest.raises(InputError) as refused:
        list_files(location)
    return str(refused.value)


def test_the_files_of_a_folder_are_those_within_it_by_name(tmp_path):
    for name in ("b.csv", "2026/01/a.csv", "_SUCCESS", ".a.crc", "_temporary/0/x.csv"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(f"query\n{name}\n")
    files = list_files(tmp_path)
    assert list(files.items()) == [(name, tmp_path / name) for name in ("2026/01/a.csv", "b.csv")]
    assert len({compute_checksum(path) for path in files.values()}) == 2
    assert list_files(tmp_path / "b.csv") == {"": tmp_path / "b.csv"}


def test_a_place_without_a_file_is_named(tmp_path):
    assert refusal(tmp_path) == f"{tmp_path}: contains no files\nExpected files with records."
    assert refusal(tmp_path / "none").startswith(f"{tmp_path / 'none'}: there is no such path; ")


@pytest.mark.parametrize("address", ["gs://logs/a", "s3://logs/a", "s3://key:secret@logs/a"])
def test_an_address_in_object_storage_is_refused_without_its_key(address, store):
    sentence = "//logs/a: is in object storage; download it first with your cloud's own tool, "
    assert sentence in refusal(address)
    assert "secret" not in refusal(address)
    for command in (["corpus", address, "--in-place"], ["traffic", address], ["queries", address]):
        assert sentence in str(invoke(["--project", str(store.path), "import", *command]).exception)
