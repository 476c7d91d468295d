"""Files of a folder and of an S3-compatible storage: listed, known again, and read."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from curation.core.errors import InputError
from curation.ingest.readers.records import Records
from curation.ingest.readers.storage import storage_at
from tests.support.object_storage import ENVIRONMENT, Bucket

pytestmark = pytest.mark.slow


def refusal(location: str | Path) -> str:
    with pytest.raises(InputError) as refused:
        storage_at(location).files()
    return str(refused.value)


def test_the_files_of_a_folder_are_those_within_it_by_name(tmp_path):
    for name in ("b.csv", "2026/01/a.csv", "_SUCCESS", ".a.crc", "_temporary/0/x.csv"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(f"query\n{name}\n")
    storage = storage_at(tmp_path)
    files = storage.files()
    assert [file.name for file in files] == ["2026/01/a.csv", "b.csv"]
    with storage.on_disk("2026/01/a.csv") as path:
        assert path.read_text() == "query\n2026/01/a.csv\n"
    assert len({storage.version(file.name) for file in files}) == 2


def test_a_place_without_a_file_is_named(tmp_path):
    assert refusal(tmp_path) == f"{tmp_path}: holds no file\nExpected files of records."
    assert refusal(tmp_path / "none").startswith(f"{tmp_path / 'none'}: there is no such place; ")


@pytest.mark.parametrize(
    ("address", "sentence"),
    [
        ("gs://logs/a", "The address begins gs://; expected a path, or"),
        ("s3://k:s@logs/a", "has a key in it"),
    ],
)
def test_an_address_of_another_kind_or_with_a_key_is_refused(address, sentence):
    assert sentence in refusal(address)
    assert "k:s" not in refusal(address)


def test_a_storage_is_read_where_its_address_leads_and_a_changed_file_has_another_version(bucket: Bucket):
    bucket.put("logs/b.csv.gz", gzip.compress(b"query\ntea\n"))
    bucket.put("logs/2026/a.csv", b"query\nhat\n")
    storage = storage_at(f"s3://{bucket.name}/logs/")
    files = storage.files()
    assert [file.name for file in files] == ["2026/a.csv", "b.csv.gz"]
    with storage.on_disk("b.csv.gz") as path:
        assert [record.fields for record in Records(path)] == [{"query": "tea"}]
    before = storage.version("2026/a.csv")
    assert storage.version("2026/a.csv") == before
    bucket.put("logs/2026/a.csv", b"query\nhut\n")
    assert storage.version("2026/a.csv") != before


def test_problems_of_a_storage_name_the_address_of_the_file_and_no_key(bucket: Bucket, monkeypatch):
    bucket.put("logs/a.csv", b"query,n\ntea,1\nhat\n")
    storage = storage_at(f"s3://{bucket.name}/logs/a.csv")
    [file] = storage.files()
    with pytest.raises(InputError) as refused, storage.on_disk(file.name) as path:
        list(Records(path))
    assert str(refused.value).startswith(f"s3://{bucket.name}/logs/a.csv: line 3: ")
    for place in (f"{bucket.name}/other", "nobucket/logs"):
        assert (
            refusal(f"s3://{place}") == f"s3://{place}: there is no such place; expected a folder or a file"
        )
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    sentence = refusal(f"s3://{bucket.name}/logs")
    assert "cannot be read" in sentence
    assert "AWS_ENDPOINT_URL" in sentence
    assert ENVIRONMENT["AWS_SECRET_ACCESS_KEY"] not in sentence
