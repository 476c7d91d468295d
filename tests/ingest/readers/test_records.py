"""Records: formats, their problems, and the sentences about them."""

from __future__ import annotations

import gzip
from datetime import datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from curation.core.errors import InputError
from curation.ingest.readers.formats import FileLayout, find_beir_file
from curation.ingest.readers.record_source import Record
from curation.ingest.readers.records import Records
from curation.ingest.readers.values import to_metadata_json, to_text


def _refusal(path: Path, layout: FileLayout | None = None) -> str:
    with pytest.raises(InputError) as refused:
        list(Records(path, layout))
    return str(refused.value)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.jsonl", '{"id": "1", "text": "x, y"}\n{"id": "2", "text": "é"}\n'),
        ("a.json.gz", '{"id": "1", "text": "x, y"}\n\n{"id": "2", "text": "é"}'),
        ("a.csv", 'id,text\r\n1,"x, y"\r\n2,é\r\n'),
        ("a.csv", '\ufeffid,text\n1,"x, y"\n2,é\n'),
        ("a.csv", "id;text\n1;x, y\n2;é\n"),
        ("a.csv.gz", 'id,text\n1,"x, y"\n2,é'),
        ("a.tsv", "id\ttext\n1\tx, y\n2\té\n"),
        ("a.log", "id\ttext\n1\tx, y\n2\té\n"),
        ("a", '{"id": "1", "text": "x, y"}\n{"id": "2", "text": "é"}\n'),
    ],
)
def test_the_same_records_come_out_of_every_text_format(write, name, content):
    fields = [record.fields for record in Records(write(name, content))]
    assert fields == [{"id": "1", "text": "x, y"}, {"id": "2", "text": "é"}]


def test_parquet_is_read_by_rows_whatever_its_name(tmp_path):
    path = tmp_path / "data.bin"
    pq.write_table(pa.table({"id": ["1", "2"], "n": [1.5, None]}), path)
    assert list(Records(path)) == [Record(1, {"id": "1", "n": 1.5}), Record(2, {"id": "2", "n": None})]


def test_a_record_is_known_by_the_line_on_which_it_begins(write):
    path = write("a.csv", 'id,text\n1,"two\nlines"\n\n2,x\n')
    assert list(Records(path)) == [
        Record(2, {"id": "1", "text": "two\nlines"}),
        Record(5, {"id": "2", "text": "x"}),
    ]


def test_quotes_in_tsv_are_letters(write):
    path = write("a.tsv", 'q\tn\n"a" b\t1\n"c\t2\n')
    assert [record.fields["q"] for record in Records(path)] == ['"a" b', '"c']


def test_a_table_without_a_header_takes_its_columns_from_the_layout(write):
    layout = FileLayout(columns=("who", "query"), header=False)
    assert next(iter(Records(write("a.log", "u1\tfoo\nu2\tbar\n"), layout))).fields == {
        "who": "u1",
        "query": "foo",
    }
    one = FileLayout(columns=("query",), header=False)
    assert [r.fields["query"] for r in Records(write("b.txt", "a, b\n\nc\n"), one)] == ["a, b", "", "c"]


@pytest.mark.parametrize("sign", [";", ",", "\t", "|", "^"])
@pytest.mark.parametrize("line", ["sep={}\r\n", "SEP={}\n", '"sep={}"\r\n', "\ufeffsep={}\n"])
@pytest.mark.parametrize("name", ["log.csv", "log.txt"])
def test_the_line_of_excel_that_names_the_separator_is_no_header(write, sign, line, name):
    path = write(name, f'{line.format(sign)}query{sign}count\nred{sign}2\n"a, b; c{sign}d"{sign}3\n')
    records = Records(path, FileLayout("csv" if sign == "\t" else None))
    assert list(records) == [
        Record(3, {"query": "red", "count": "2"}),
        Record(4, {"query": f"a, b; c{sign}d", "count": "3"}),
    ]


def test_a_column_that_is_called_sep_is_a_column(write):
    records = Records(write("log.csv", "query,sep=a\ntea,1\n"))
    assert list(records) == [Record(2, {"query": "tea", "sep=a": "1"})]


def test_qrels_are_four_columns_by_any_white_space(write):
    path = write("t.txt", "# comment\n301 0 D1 2\n301\t0  D#2 0\n")
    assert [(r.line, r.fields["document"], r.fields["grade"]) for r in Records(path)] == [
        (2, "D1", "2"),
        (3, "D#2", "0"),
    ]


@pytest.mark.parametrize(
    ("content", "ids"),
    [
        ('[\n{"id": 1},\n{"id": 2}\n]', [1, 2]),
        ('{\n  "id": 1\n}', [1]),
        ('[{"id": 1}]', [1]),
        ('{"data": [{"id": 1}], "meta": {"page": 1}}', [1]),
        ('{"things": [{"id": 1}, {"id": 2}]}', [1, 2]),
        ('{"data": {"name": "x", "examples": [{"id": 1}]}}', [1]),
        ('{"id": [1, 2], "text": ["x", "y"]}', [1, 2]),
        ('{"id": 1, "data": [1, 2], "pages": [{"n": 1}]}', [1]),
        ('{"id": 1, "data": [{"n": 1}]}\n{"id": 2}', [1, 2]),
    ],
)
def test_one_json_text_has_the_records_of_its_list_its_columns_or_itself(write, content, ids):
    assert [record.fields["id"] for record in Records(write("a.json", content))] == ids


def test_a_json_text_that_is_none_is_named_with_the_line_and_one_that_is_too_long_refused(write, monkeypatch):
    path = write("a.json", '\n[\n  {"id": 1},\n  {"id" 2}\n]')
    assert "line 4: broken JSON: Expecting ':' delimiter" in _refusal(path)
    assert "entry 2: found 3; expected an object" in _refusal(write("a.json", '[{"id": 1}, 3]'))
    monkeypatch.setattr("curation.ingest.readers.json_records.MAX_JSON_LENGTH", 10)
    assert "jq -c" in _refusal(path)


def test_a_path_is_followed_through_objects_and_through_cells_that_are_objects(write):
    rows = [{"text": "x", "a": {"b": {"c": 1}, "text": "y"}, "squad": {"text": ["z"]}}]
    for path in (
        write("a.json", rows),
        write("a.csv", 'text,squad,a\nx,,"{""b"": {""c"": 1}, ""text"": ""y""}"\n'),
    ):
        records = Records(path)
        assert sorted(records.columns) == ["a.b.c", "a.text", "squad", "text"]
        assert records.choose_column("--map x", "a.b.c") == "a.b.c"
        assert next(iter(records)).fields["a.b.c"] == 1


def test_a_header_is_known_whatever_its_case_and_signs(write):
    records = Records(write("a.csv", "Doc ID,queryText\n1,x\n"))
    assert records.choose_column("--map x", None, ("doc_id",)) == "Doc ID"
    assert records.choose_column("--map x", None, ("q", "query_text")) == "queryText"


def test_a_latin_1_file_is_refused_with_line_byte_and_way_out_and_read_with_its_encoding(write):
    path = write("a.csv", "id,text\n1,ok\n2,café crème\n3,naïve\n".encode("latin-1"))
    refusal = _refusal(path)
    assert "line 3, character 6: the byte 0xE9" in refusal
    assert "(2 lines have undecodable bytes)" in refusal
    assert "--encoding latin-1" in refusal
    texts = [record.fields["text"] for record in Records(path, FileLayout(encoding="latin-1"))]
    assert texts == ["ok", "café crème", "naïve"]


def test_utf_16_is_recognised_in_the_way_out_and_read_with_its_encoding(write):
    path = write("a.csv", "id,text\n1,café\n".encode("utf-16"))
    refusal = _refusal(path)
    assert "--encoding utf-16" in refusal
    assert "cell" not in refusal  # what the wrong encoding makes of its lines
    assert next(iter(Records(path, FileLayout(encoding="utf-16")))).fields == {"id": "1", "text": "café"}


def test_a_truncated_gzip_is_refused_with_how_far_it_went(write):
    lines = "".join(f'{{"id": "{number * 7919}"}}\n' for number in range(20_000))
    packed = gzip.compress(lines.encode())
    path = write("a.jsonl", b"")
    path = path.rename(path.with_name("a.jsonl.gz"))
    path.write_bytes(packed[: len(packed) // 2])
    refusal = _refusal(path)
    assert "the gzip data is cut off or damaged after line " in refusal
    assert "Fetch the file again." in refusal


BROKEN = [f'{{"id": "{number}"}}' for number in range(1, 21)]
BROKEN[16:19] = ['{"id": "17" "title": "x"}', BROKEN[17], "[1, 2]"]
NAMED = FileLayout(columns=("a", "b"))


@pytest.mark.parametrize(
    ("name", "content", "layout", "sentences"),
    [
        (
            *("a.jsonl", "\n".join(BROKEN), None),
            [
                "a.jsonl: line 17: broken JSON: Expecting ',' delimiter at character 13",
                '{"id": "17" "title"',
                "line 19: found '[1, 2]'; expected an object",
            ],
        ),
        (
            "a.jsonl",
            "x\n" * 99,
            None,
            ["line 20:", "Reading stopped after 20 problems. The file may have more."],
        ),
        ("a.csv", "id,n\n1,x\n2\n3,x,y\n", None, ["line 3: 1 cell, expected 2 (id, n)", "line 4: 3 cells"]),
        (
            "a.csv",
            'id,text\n1,x\n2,"open\n',
            None,
            ["line 3: broken CSV: the quoted cell has no closing quote"],
        ),
        ("a.csv", "id,id\n1,2\n", None, ["names 'id' more than once"]),
        ("a.csv", "a\n1\n", FileLayout(encoding="latin-99"), ["there is no text encoding 'latin-99'"]),
        ("a.txt", "some words\nand more words\n", None, ["--format"]),
        ("a.txt", "x", FileLayout(format="xml"), ["there is no format 'xml'"]),
        ("a.csv", "1,2\n", FileLayout(header=False), ["--no-header needs column names"]),
        ("a.csv", "1,2\n", NAMED, ["Use --columns with --no-header."]),
        ("a.jsonl", '{"a": 1}\n', NAMED._replace(header=False), ["have no meaning"]),
    ],
)
def test_what_cannot_be_read_is_named_with_what_to_do(write, name, content, layout, sentences):
    refusal = _refusal(write(name, content), layout)
    assert [sentence for sentence in sentences if sentence not in refusal] == []
    assert "line 21:" not in refusal


def test_what_is_no_readable_file_is_refused_in_a_sentence(write, tmp_path):
    assert "is a folder; expected a file" in _refusal(tmp_path)
    assert "there is no such file" in _refusal(tmp_path / "none.csv")
    assert "is empty" in _refusal(write("a.jsonl", ""))
    assert "has no records" in _refusal(write("a.qrels", "# a comment\n"))
    assert "below the header" in _refusal(write("a.csv", "id,text\n"))
    assert "is a zip archive" in _refusal(write("a.csv", b"PK\x03\x04rest"))
    assert "cannot be read as Parquet" in _refusal(write("a.parquet", b"PAR1 and no more"))
    not_packed = write("plain.csv", "a\n1\n").rename(tmp_path / "plain.csv.gz")
    assert "contains no gzip data" in _refusal(not_packed)


@pytest.mark.parametrize("name", ["a.jsonl", "a.csv", "a.tsv", "a.qrels", "a.txt"])
def test_a_file_of_blank_lines_is_called_that_in_any_format(write, name):
    blank = b"\n \t\r\n\n"
    packed = gzip.compress(blank)
    for content in (blank, b"\xef\xbb\xbf" + blank, blank.decode().encode("utf-16"), packed):
        path = write(name, content)
        assert _refusal(path, FileLayout(encoding="latin-1")) == (
            f"{path}: has only blank lines; expected one record on each line\nExport or download the file "
            "again."
        )


def test_a_header_may_come_after_blank_lines(write):
    path = write("a.csv", "\n  \nid;text\n1;x\n")
    assert [(r.line, r.fields) for r in Records(path)] == [(4, {"id": "1", "text": "x"})]


def test_a_missing_column_is_named_with_those_there_and_the_nearest(write):
    for path in (
        write("a.csv", "id,title,body\n1,x,y\n"),
        write("a.jsonl", [{"id": 1, "title": 1, "body": 2}]),
    ):
        records = Records(path)
        records.choose_column("--map title", "titel")
        with pytest.raises(InputError) as refused:
            list(records)
        assert "--map title names 'titel'" in str(refused.value)
        assert "did you mean 'title'?" in str(refused.value)
        assert "'id', 'title', 'body'" in str(refused.value)


def test_a_json_field_that_only_later_records_have_is_no_missing_column(write):
    records = Records(write("a.jsonl", [*({"id": n} for n in range(150)), {"id": 150, "note": "x"}]))
    assert records.choose_column("--map note", "note") == "note"
    assert len(list(records)) == 151


def test_nul_and_lone_surrogates_are_replaced_and_counted(write):
    records = Records(
        write(
            "a.jsonl", b'{"t": "a\\u0000b\\ud800", "l": ["\\udfff"], "ok": "\\ud83d\\ude00"}\n{"t": "c\0"}\n'
        )
    )
    assert [record.fields for record in records] == [
        {"t": "a\ufffdb\ufffd", "l": ["\ufffd"], "ok": "😀"},
        {"t": "c\ufffd"},
    ]
    assert records.replaced == {"NUL character": 2, "lone surrogate": 2}


def test_a_beir_folder_stands_for_its_file(write, tmp_path):
    path = write("corpus.jsonl.gz", [{"_id": "1"}])
    assert find_beir_file(tmp_path, "corpus.jsonl") == path
    with pytest.raises(InputError, match=r"is a folder without queries\.jsonl"):
        find_beir_file(tmp_path, "queries.jsonl")


def test_values_become_texts_and_json_of_one_form():
    values = {
        "a": [1, "x", None],
        "b": None,
        "c": True,
        "d": 1.5,
        "e": float("nan"),
        "f": datetime(2024, 1, 2),
    }
    assert [to_text(value) for value in values.values()] == [
        "1\nx", "", "true", "1.5", "", "2024-01-02T00:00:00",
    ]  # fmt: skip
    assert to_metadata_json(values) == (
        '{"a":[1,"x",null],"b":null,"c":true,"d":1.5,"e":null,"f":"2024-01-02T00:00:00"}'
    )


def test_ms_marcos_files_need_no_header(tmp_path: Path) -> None:
    contents = {
        "collection.tsv": ("7\tThe presence of\n9\tA project\n", ("id", "text"), "9"),
        "queries.tsv": ("2\tandrogen receptor\n", ("id", "text"), "2"),
        "qrels.dev.tsv": ("2\t0\t7\t1\n2\t0\t9\t1\n", ("query", "iteration", "document", "grade"), "2"),
        "counts.tsv": ("2\t3\n4\t5\n", ("2", "3"), "4"),
        "headed.tsv": ("sku\tblurb\n4\ta text\n", ("sku", "blurb"), "4"),
    }
    for name, (text, columns, last) in contents.items():
        (tmp_path / name).write_text(text)
        records = Records(tmp_path / name)
        assert (records.columns, [*records][-1].fields[columns[0]]) == (columns, last), name
