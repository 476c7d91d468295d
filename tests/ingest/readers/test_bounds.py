"""What is no data takes neither memory nor time, and the sentence about it is short."""

from __future__ import annotations

import gzip
import io
import json
import re
import tracemalloc
import zipfile
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from curation.core.errors import MAX_LINE_LENGTH as MAX_SENTENCE_LENGTH
from curation.core.errors import CurationError, InputError
from curation.ingest.collection_files import open_collection
from curation.ingest.readers import bounds
from curation.ingest.readers.bounds import (
    MAX_BLANK,
    MAX_LINE_LENGTH,
    MAX_NESTING,
    MAX_PARTS,
    MAX_TIMES,
    PARQUET_FACTOR,
    limit_lines,
    open_zip,
    read_part,
)
from curation.ingest.readers.records import Records
from curation.ingest.readers.run_files import RunFile


def refusal(path: Path, content: bytes) -> str:
    path.write_bytes(content)
    with pytest.raises(InputError) as refused:
        list(Records(path))
    return str(refused.value)


@pytest.mark.slow
def test_a_line_without_an_end_is_refused_before_it_is_in_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """1.4 MB of gzip took 3 GB."""
    monkeypatch.setattr(bounds, "MAX_UNPACKED", 2 * MAX_LINE_LENGTH)
    packed = gzip.compress(b'{"_id": "a"}\n{"_id": "' + b"a" * (MAX_LINE_LENGTH + 2_000_000) + b'"}\n', 1)
    assert "has a line of more than 64 MB after line 1" in refusal(tmp_path / "a.jsonl.gz", packed)


def test_a_gzip_that_unpacks_to_more_than_forty_times_its_size_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """3.2 MB of documents of 8 MB took 10.7 GB."""
    monkeypatch.setattr(bounds, "MAX_UNPACKED", 2_000_000)
    packed = gzip.compress(b"".join(b'{"_id": "%d", "text": "%s"}\n' % (n, b"a" * 99_999) for n in range(40)))
    assert "unpacks to more than 2 MB after line 1" in refusal(tmp_path / "a.jsonl.gz", packed)


@pytest.mark.parametrize("name", ["a.trec.gz", "a.csv.gz"])
def test_a_run_that_gzip_has_made_small_is_given_up_at_forty_times_its_size(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """2 MB of gzip took `evaluate --run` to 5.5 GB: lines take 27 times their bytes in memory."""
    line = b"q1 Q0 document 1 1.0 tag\n" if "trec" in name else b"q1,document,1\n"
    header = b"" if "trec" in name else b"query,document,rank\n"
    path = tmp_path / name
    path.write_bytes(gzip.compress(header + line * 1_000_000))
    monkeypatch.setattr(bounds, "MAX_UNPACKED", 100_000)
    most = MAX_TIMES * path.stat().st_size
    rows = []
    with pytest.raises(InputError, match="unpacks to more than"):
        rows.extend(row.line for row in RunFile(path))
    assert RunFile(path).columns() is None
    assert len(rows) * len(line) <= most + (1 << 20)


@pytest.mark.parametrize(
    ("rows", "value", "of_a_list"), [(50, "a" * 100_000, 0), (50_000, "", 0), (20, "a" * 100_000, 20)]
)
def test_a_parquet_that_says_the_same_again_and_again_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rows: int, value: str, of_a_list: int
) -> None:
    """A value is stored once for all rows: 1.7 KB took 53 s, and 5 KB of long texts 16 GB."""
    monkeypatch.setattr(bounds, "MAX_UNPACKED", 2_100_000 // PARQUET_FACTOR)
    texts = pa.DictionaryArray.from_arrays(pa.array([0] * rows * max(1, of_a_list), pa.int32()), [value])
    if of_a_list:
        texts = pa.ListArray.from_arrays(
            pa.array(range(0, rows * of_a_list + 1, of_a_list), pa.int32()), texts
        )
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"_id": texts, "text": texts}), path, compression="zstd")
    assert path.stat().st_size < 3_000
    assert "unpacks to more than 2 MB after row" in refusal(path, path.read_bytes())


@pytest.mark.slow
def test_blank_lines_without_an_end_are_refused(tmp_path: Path) -> None:
    """229 KB of gzip took 30 s."""
    packed = gzip.compress(b'{"_id": "a"}\n' + b"\n" * (3 * MAX_BLANK), 1)
    assert "contains more than 8 MB of consecutive blank lines" in refusal(tmp_path / "a.jsonl.gz", packed)


@pytest.mark.costly("a file of many megabytes is read in a process of its own")
def test_a_csv_whose_quote_is_never_closed_is_refused_within_its_bounds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bounds, "MAX_UNPACKED", 2 * MAX_LINE_LENGTH)
    packed = gzip.compress(b'id,text\n1,"' + b"word\n" * (MAX_LINE_LENGTH // 4), 1)
    assert "broken CSV" in refusal(tmp_path / "a.csv.gz", packed)


@pytest.mark.parametrize(
    "nested", ['["x",' * 150 + "1" + "]" * 150, '{"a":' * 150 + "1" + "}" * 150, "[" * 100_000]
)
def test_records_that_are_nested_too_deeply_are_refused(tmp_path: Path, nested: str) -> None:
    """900 levels ended `import queries` with a traceback."""
    content = f'{{"_id": "q", "text": "x", "more": {nested}}}\n'.encode()
    assert "line 1: the JSON text is nested too deeply; expected at most 100" in refusal(
        tmp_path / "a.jsonl", content
    )


def test_a_record_of_too_many_objects_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """24 MB of {}, in one line took 720 MB of memory."""
    monkeypatch.setattr(bounds, "MAX_VALUES", 3)
    content = b'{"_id": "1", "text": "{{{{"}\n{"_id": "2", "more": [{}, {}]}\n'
    assert "a.jsonl: line 2: the JSON text has more than 3 lists and objects" in refusal(
        tmp_path / "a.jsonl", content
    )


LONG = "9" * 5_000


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        (
            "a.jsonl",
            f'{{"id": "1"}}\n{{"id": "{LONG}", "n": {LONG}}}\n',
            "line 2: a whole number has more than 4,3",
        ),
        (
            "a.json",
            f'{{"querySetQueries": [\n{{"n": "{LONG}"}},\n{{"n": -{LONG}}}]}}',
            "line 3: a whole number",
        ),
        (
            "a.json",
            '{"querySetQueries":\n"[",\n"n":' + "[" * 100_000,
            "line 3: the JSON text is nested too deeply; expected",
        ),
        (
            "a.json",
            '{"querySetQueries":\n' + "[" * 150 + "]" * 150 + "}",
            "line 2: the JSON text is nested too deeply",
        ),
    ],
)
def test_what_python_cannot_read_is_told_in_our_words_and_with_its_line(
    tmp_path: Path, name: str, content: str, sentence: str
) -> None:
    stated = refusal(tmp_path / name, content.encode())
    assert f"{name}: {sentence}" in stated
    assert not re.search("recursion|sys\\.|int_max|Exceeds", stated)


def test_many_lists_beside_one_another_are_not_deep(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    wide = [[[number]] for number in range(3 * MAX_NESTING)]
    path.write_text(json.dumps({"_id": "q", "wide": wide}))
    assert [record.fields["wide"] for record in Records(path)] == [wide]


@given(st.binary(max_size=200), st.integers(1, 50))
def test_the_bounded_stream_has_the_same_bytes(content: bytes, size: int) -> None:
    stream = limit_lines(io.BytesIO(content))
    assert b"".join(iter(lambda: stream.read(size), b"")) == content


def test_a_sentence_is_short_whatever_the_file_put_into_it() -> None:
    """A name of 20 MB made a sentence of 20 MB."""
    error = CurationError("a" * 20_000_000, command="goldgrade verify")
    assert error.found == "a" * MAX_SENTENCE_LENGTH + "…"
    many = CurationError("\n".join(["line"] * 10_000))
    assert len(many.found.splitlines()) == 61


def zipped(path: Path, parts: dict[str, bytes], packing: int = zipfile.ZIP_DEFLATED) -> Path:
    with zipfile.ZipFile(path, "w", packing) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return path


def test_a_zip_of_too_many_files_is_refused_before_any_is_unpacked(tmp_path: Path) -> None:
    path = zipped(tmp_path / "a.zip", {f"{number}.txt": b"" for number in range(MAX_PARTS + 1)})
    with (
        pytest.raises(
            InputError, match=r"cannot be unpacked: contains 10,001 files; expected at most 10,000"
        ),
        open_collection(path),
    ):
        pass


@pytest.mark.parametrize("packing", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_a_zip_that_python_unpacks_by_whole_blocks_is_refused(tmp_path: Path, packing: int) -> None:
    path = zipped(tmp_path / "a.zip", {"corpus.jsonl": b"a" * 99_999}, packing)
    with (
        pytest.raises(InputError, match=r"corpus\.jsonl is not " "compressed with deflate"),
        open_collection(path),
    ):
        pass


def test_a_part_that_holds_more_than_it_says_takes_no_more_memory(tmp_path: Path) -> None:
    path = zipped(tmp_path / "a.zip", {"a": b"a" * 50_000_000})
    stated = (50_000_000).to_bytes(4, "little")
    path.write_bytes(path.read_bytes().replace(stated, (1_000).to_bytes(4, "little")))
    tracemalloc.start()
    with open_zip(path) as archive, pytest.raises(zipfile.BadZipFile, match="Bad CRC"):
        read_part(archive, archive.infolist()[0])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1_000_000
