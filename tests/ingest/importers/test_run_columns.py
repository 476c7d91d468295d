"""Runs by columns: the same lines as one by one, and the same refusals where there is anything to refuse."""

from __future__ import annotations

import gzip
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from curation.core.characters import normalise_query
from curation.core.errors import InputError
from curation.ingest.importers.known_queries import KnownQueries
from curation.ingest.importers.run_lines import RunLines
from curation.ingest.importers.unknown_names import KnownIds
from curation.ingest.readers.formats import FileLayout
from curation.ingest.readers.run_files import RunFile
from curation.store import Query
from tests.support import examples

QUERIES = [("1", "red shoes"), ("2", "Blue Hat"), ("a b", "x"), ("é", "1")]
KNOWN = KnownQueries([Query(name, text, normalise_query(text), "s", None) for name, text in QUERIES], {})
DOCUMENTS = frozenset({"d1", "d2", "1", "0x10", "d,3", "a b", "%64", "#d", "é"})


class OneByOne(RunFile):
    """A run file that is never read by columns."""

    def columns(self):
        return None


def _outcome(kind, path, layout=None):
    """The lines, what was noted of them and the names that were mapped; or the sentence of the refusal."""
    notes, documents = [], KnownIds(DOCUMENTS.intersection, lambda names: {})
    try:
        lines = RunLines(kind(path, None, layout), KNOWN, documents, lambda *noted: notes.append(noted))
        return list(lines), sorted(notes), lines.mapped
    except InputError as error:
        return str(error)


def _assert_same(path, layout=None):
    expected = _outcome(OneByOne, path, layout)
    assert repr(_outcome(RunFile, path, layout)) == repr(expected)
    return expected


def _is_by_columns(path, layout=None):
    return RunFile(path, None, layout).columns() is not None


names = st.sampled_from(["1", "2", "q-1", "a%20b", "é", "x", "a\u00a0b", "", '"1"', "a\0", "-", "\udcff"])
ids = st.sampled_from(
    ["d1", "d2", "d-1", "%64", "%2564", "#d", "0x10", "\ufeffd1", "d,3", '"d1"', 'd"1', "d\x85", " d1", "no"]
)
ranks = st.sampled_from("1,2,01,1.0,3e2,+1,-1,1_0,0x1,,٣,4294967296,nan, 1,99999999999".split(","))
scores = st.sampled_from(
    "0.5 3 -0 +1 .5 5. 1e-400 1e400 nan inf 0x10 1_0 1,5 ٣ 1e 1d5 1f infinity 0.1234567890123456789".split()
    + "9007199254740993; 1;;NA;null;1e+05".split(";")
)
ends = st.sampled_from(
    ["\n"] * 6 + ["\r\n", "\r", "\n\n", "\n \n", " \n", "\n# c\n", "\n\n\n", "\x0b\n", "\u2028\n"]
)
plain = st.sampled_from([" "] * 6 + ["\t", "  ", " \t ", "\u00a0", "\x1c", ","])
few = settings(
    max_examples=examples(150), suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None
)


@st.composite
def _trec(draw):
    text = draw(st.sampled_from(["", "", "", "\ufeff", "\n", " ", "# comment\n"]))
    for _ in range(draw(st.integers(1, 4))):
        # Mostly plain: one odd cell in a file is what slips through.
        cells = ["1", "Q0", "d1", "1", "0.5", "tag"]
        odd = draw(st.integers(0, 9))
        if odd in (0, 2, 3, 4):
            cells[odd] = draw({0: names, 2: ids, 3: ranks, 4: scores}[odd])
        elif odd == 5:
            cells[5] = draw(st.sampled_from(["two words", "", "#", "é", '"']))
        text += draw(plain).join(cells) + draw(ends)
    return text.rstrip("\n") if draw(st.booleans()) else text


@few
@given(_trec(), st.sampled_from(["utf-8", "latin-1"]), st.booleans())
def test_trec_lines_by_columns_are_those_one_by_one(tmp_path, text, encoding, packed):
    content = text.encode("utf-8", "surrogateescape")
    path = tmp_path / ("r.trec.gz" if packed else "r.trec")
    path.write_bytes(gzip.compress(content) if packed else content)
    _assert_same(path, FileLayout(encoding=encoding))


@st.composite
def _table(draw, delimiter):
    header = draw(
        st.sampled_from([["query_id", "document", "rank", "score"], ["query", "docno", "rank", "score"]])
    )
    text = draw(st.sampled_from(["", "", "\ufeff", "\n"])) + delimiter.join(header) + "\n"
    for _ in range(draw(st.integers(1, 4))):
        cells = ["1", "d1", "1", "0.5"]
        odd = draw(st.integers(0, 6))
        if odd < 4:
            cells[odd] = draw([names, ids, ranks, scores][odd])
            if draw(st.booleans()):
                cells[odd] = '"' + cells[odd].replace('"', '""') + '"'
        elif odd == 4:
            cells = cells[: draw(st.integers(0, 3))]
        text += delimiter.join(cells) + draw(ends)
    return text


@few
@given(st.data(), st.sampled_from([("r.csv", ","), ("r.tsv", "\t"), ("r.csv", ";")]))
def test_tables_by_columns_are_those_one_by_one(tmp_path, data, kind):
    path = tmp_path / kind[0]
    path.write_bytes(data.draw(_table(kind[1])).encode("utf-8", "surrogateescape"))
    _assert_same(path)


@pytest.mark.parametrize(
    "change",
    [
        {},
        {"score": pa.array([1, 2**62 + 1])},
        {"score": pa.array([0.1, 2.5], pa.float32())},
        {"score": pa.array(["0.5", "1e400"])},
        {"score": [0.5, float("nan")]},
        {"score": [0.5, None]},
        {"score": [True, False]},
        {"rank": [1, 2**31]},
        {"rank": [1.0, 2.0]},
        {"rank": ["1", "0x2"]},
        {"q_id": [1, 2]},
        {"q_id": [1.0, 2.0]},
        {"q_id": pa.array(["1", "2"]).dictionary_encode()},
        {"doc_id": ["d1", "d2\0"]},
        {"doc_id": ["d1", " d1 "]},
        {"doc_id": ["d1", ""]},
        {"doc_id": [["d1"], ["d2"]]},
    ],
)
def test_parquet_by_columns_is_that_row_by_row(tmp_path, change):
    columns = {"q_id": ["1", "2"], "doc_id": ["d1", "no"], "rank": [1, 1], "score": [9.5, 3.0]}
    pq.write_table(pa.table(columns | change), tmp_path / "r.parquet")
    _assert_same(tmp_path / "r.parquet")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("r.trec", "1 Q0 d1 1 9.5 tag\n2 Q0 d2 1 -3e2 tag\n"),
        ("r.trec", "1\tQ0\td1\t1\t9.5\ttag\r\n  2 Q0  é 1 -0 tag \r\n\r\n"),
        ("r.csv", 'query_id,document,score,note\n1,"d,3",9.5,"a ""note"""\n2,d2,3,\n'),
        ("r.tsv", "\ufeffquery\tdocno\trank\nred shoes\td1\t1\nBlue Hat\td2\t01\n"),
    ],
)
def test_a_plain_file_is_read_by_columns(tmp_path: Path, name: str, content: str) -> None:
    (tmp_path / name).write_text(content, encoding="utf-8", newline="")
    assert _is_by_columns(tmp_path / name)
    lines, notes, _ = _assert_same(tmp_path / name)
    assert [line.line for line in lines] in ([1, 2], [2, 3])
    assert notes == []
