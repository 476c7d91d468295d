"""Parquet of any type: each value is read as Arrow or pandas read it, or refused in a sentence."""

from __future__ import annotations

import io
import uuid
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from curation.core.errors import InputError
from curation.ingest.importers.corpus import import_corpus
from curation.ingest.importers.traffic.traffic_import import import_traffic
from curation.ingest.readers.blocks import NeedsRowReader
from curation.ingest.readers.fields import CorpusFields, TrafficFields
from curation.ingest.readers.lines import BYTES, clean_text
from curation.ingest.readers.records import Records
from curation.ingest.readers.values import to_text
from curation.store import Store
from tests.support import is_search
from tests.support.projects import rows_of

INFINITE = 2**63 - 1
EXAMPLES = 1500 if is_search() else 40


@pytest.fixture
def table(tmp_path: Path) -> Callable[..., Path]:
    """table(id=pa.array(...), ...): a Parquet file with these columns."""

    def write(**columns: pa.Array) -> Path:
        path = tmp_path / "t.parquet"
        pq.write_table(pa.table(columns), path)
        return path

    return write


def values(path: Path, name: str) -> list[Any]:
    return [record.fields[name] for record in Records(path)]


# ── The cases ───────────────────────────────────────────────────────────────────────────────────


def test_times_in_a_zone_that_nobody_knows_are_utc_and_the_zone_is_named(store: Store, cases: Path) -> None:
    log = import_traffic(store, cases / "binary/parquet_unknown_zone.parquet")
    assert log.first == datetime(2026, 3, 29, 0, 30)
    assert log.replaced == {"unknown time zone 'Mars/Phobos' of 'time'": 1}


# ── Their cousins ───────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        (pa.array([b"\xc3\xa9", None], pa.large_binary()), ["é", None]),
        (pa.array([[(1, 2)], None], pa.map_(pa.int8(), pa.int8())), [{"1": 2}, None]),
        (
            pa.array([1_700_000_000_123_456_789], pa.timestamp("ns")),
            [datetime(2023, 11, 14, 22, 13, 20, 123456)],
        ),
        (pa.array([-1], pa.timestamp("ns")), [datetime(1969, 12, 31, 23, 59, 59, 999999)]),
        (pa.array([INFINITE, -INFINITE], pa.timestamp("us")), ["infinity", "-infinity"]),
        (pa.array([INFINITE], pa.timestamp("ns")), ["infinity"]),
        (pa.array([253_402_300_800], pa.timestamp("s")), ["10000-01-01T00:00:00.000"]),
        (pa.array([2**31 - 1, 0], pa.date32()), ["infinity", date(1970, 1, 1)]),
        (pa.array([3_000_000], pa.date32()), ["10183-09-21"]),
        (pa.array([1_500], pa.duration("ns")), [timedelta(microseconds=1)]),
        (pa.array([86_400_000_000], pa.time64("us")), ["24:00:00"]),
        (pa.array([1.5], pa.float16()), [1.5]),
        (pa.nulls(2), [None, None]),
        (
            pa.ExtensionArray.from_storage(pa.uuid(), pa.array([bytes(16)], pa.binary(16))),
            [str(uuid.UUID(int=0))],
        ),
        (pa.ExtensionArray.from_storage(pa.json_(), pa.array(['{"a":1}'])), ['{"a":1}']),
        (pa.ExtensionArray.from_storage(pa.bool8(), pa.array([0, 2], pa.int8())), [False, True]),
    ],
    ids=lambda value: str(value.type) if isinstance(value, pa.Array) else "",
)
def test_a_value_of_any_type_is_what_it_says(
    table: Callable[..., Path], column: pa.Array, expected: list[Any]
) -> None:
    assert values(table(v=column), "v") == expected


def test_days_of_spark_before_1678_are_no_days_of_another_century(tmp_path: Path) -> None:
    """Times as 96 bits wrap around where they are read as nanoseconds: Arrow's default."""
    path = tmp_path / "t.parquet"
    days = pa.array([datetime(1500, 1, 1), datetime(9999, 12, 31)], pa.timestamp("us"))
    pq.write_table(pa.table({"t": days}), path, use_deprecated_int96_timestamps=True)
    assert values(path, "t") == [datetime(1500, 1, 1), datetime(9999, 12, 31)]


def test_bytes_that_are_no_text_are_refused_by_row_where_they_are_used(table: Callable[..., Path]) -> None:
    path = table(id=pa.array([b"a", b"\xff"]), text=["one", "two"], picture=pa.array([b"\x89PNG", b"\xff"]))
    records = Records(path)
    records.resolve(CorpusFields())
    with pytest.raises(InputError, match="row 2: 'id' has bytes that are not UTF-8 text; expected a text"):
        list(records)


def test_bytes_that_are_no_text_are_left_out_and_counted_where_nobody_uses_them(
    table: Callable[..., Path],
) -> None:
    records = Records(table(id=["a"], picture=pa.array([b"\xff"]), inner=pa.array([{"bytes": b"\xff"}])))
    assert [record.fields for record in records] == [{"id": "a", "picture": None, "inner": {"bytes": None}}]
    assert records.replaced == {BYTES: 2}


def test_a_column_named_twice_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    pq.write_table(pa.Table.from_arrays([pa.array(["a"])] * 2, ["query"] * 2), path)
    with pytest.raises(InputError, match="names 'query' more than once"):
        Records(path)


def test_a_name_with_a_dot_is_no_path_into_another_column(table: Callable[..., Path], store: Store) -> None:
    path = table(query=["tea"], **{"a": pa.array([{"b": "inner"}]), "a.b": ["outer"]})
    import_traffic(store, path, TrafficFields(segment="a.b"))
    assert rows_of(store, "SELECT segment FROM traffic") == [("outer",)]


def test_a_damaged_column_that_nobody_uses_is_not_read(tmp_path: Path, store: Store) -> None:
    path = tmp_path / "log.parquet"
    columns = {"query": ["tea", "hat"], "extra": ["x" * 50, "y" * 50]}
    pq.write_table(
        pa.table(columns), path, write_page_checksum=True, compression="none", use_dictionary=False
    )
    path.write_bytes(path.read_bytes().replace(b"xxxx", b"zzzz"))
    assert import_traffic(store, path).queries == 2
    with pytest.raises(InputError, match=r"the column 'extra' cannot be read: .*CRC"):
        import_traffic(store, path, TrafficFields(segment="extra"))
    with pytest.raises(InputError, match=r"the column 'extra' cannot be read: .*CRC"):
        import_corpus(store, path, CorpusFields(id="query", body=("query",)))


# ── Any type, any damage ────────────────────────────────────────────────────────────────────────

SOME = {
    pa.int8(): st.integers(-128, 127),
    pa.uint64(): st.integers(0, 2**64 - 1),
    pa.float32(): st.floats(width=32),
    pa.float64(): st.floats(),
    pa.bool_(): st.booleans(),
    pa.string(): st.text(max_size=4),
    pa.large_string(): st.text(max_size=4),
    pa.string_view(): st.text(max_size=4),
    pa.binary(): st.binary(max_size=4),
    pa.binary_view(): st.binary(max_size=4),
    pa.binary(3): st.binary(min_size=3, max_size=3),
    pa.decimal128(9, 2): st.decimals(-999, 999, places=2),
    pa.date32(): st.integers(-(2**31), 2**31 - 1),
    pa.date64(): st.integers(-(10**9), 10**9).map(lambda day: day * 86_400_000),
    pa.time32("s"): st.integers(0, 86_399),
    pa.time64("ns"): st.integers(0, 86_400 * 10**9 - 1),
    **{
        pa.timestamp(unit, zone): st.integers(-(2**63), 2**63 - 1) | st.integers(-(2**40), 2**40)
        for unit in ("ms", "us", "ns")
        for zone in (None, "UTC", "Europe/Berlin", "+05:30", "Mars/Phobos")
    },
    **{pa.duration(unit): st.integers(-(2**63), 2**63 - 1) for unit in ("ms", "us", "ns")},
}
LEAVES = st.sampled_from(list(SOME))


def nested(inner: st.SearchStrategy[pa.DataType]) -> st.SearchStrategy[pa.DataType]:
    return st.one_of(
        inner.map(pa.list_),
        inner.map(pa.large_list),
        inner.map(lambda kind: pa.list_(kind, 2)),
        inner.map(lambda kind: pa.map_(pa.string(), kind)),
        st.lists(inner, min_size=1, max_size=2).map(
            lambda kinds: pa.struct([(f"f{place}", kind) for place, kind in enumerate(kinds)])
        ),
    )


VIEWS = (pa.string_view(), pa.binary_view())
"""Types that Arrow does not write within others."""
TYPES = (
    LEAVES
    | st.recursive(LEAVES.filter(lambda kind: kind not in VIEWS), nested, max_leaves=3)
    | LEAVES.filter(lambda kind: pa.types.is_string(kind) or pa.types.is_binary(kind)).map(
        lambda kind: pa.dictionary(pa.int32(), kind)
    )
)


def value_of(kind: pa.DataType) -> st.SearchStrategy[Any]:
    """Values of a type."""
    if pa.types.is_dictionary(kind):
        return value_of(kind.value_type)
    if pa.types.is_map(kind):
        return st.none() | st.dictionaries(st.text(max_size=2), value_of(kind.item_type), max_size=2).map(
            lambda read: list(read.items())
        )
    if pa.types.is_struct(kind):
        return st.none() | st.fixed_dictionaries({field.name: value_of(field.type) for field in kind})
    if pa.types.is_fixed_size_list(kind):
        return st.lists(value_of(kind.value_type), min_size=2, max_size=2)
    if pa.types.is_nested(kind):
        return st.none() | st.lists(value_of(kind.value_type), max_size=3)
    return st.none() | SOME[kind]


@st.composite
def columns(draw: st.DrawFn) -> pa.Array:
    kind = draw(TYPES)
    return pa.array(draw(st.lists(value_of(kind), min_size=1, max_size=4)), kind)


def written(**some: pa.Array) -> bytes:
    file = io.BytesIO()
    pq.write_table(pa.table(some), file)
    return file.getvalue()


def as_arrow_says(value: pa.Scalar) -> Any:
    """A value as Arrow's own conversion says it, in the form that records have; NotImplemented: it fails."""
    try:
        read = value.as_py()
    except UnicodeDecodeError:
        return None
    except (ValueError, OverflowError, pa.ArrowException):
        return NotImplemented
    return as_read(read, value.type)


def is_infinite(value: pa.Scalar) -> bool:
    """Whether a time is what DuckDB writes for infinity; in nanoseconds Arrow takes it for one of 2262."""
    return pa.types.is_timestamp(value.type) and value.is_valid and abs(value.value) == INFINITE


def as_read(read: Any, kind: pa.DataType) -> Any:
    if str(read) == "NaT":
        return None
    if hasattr(read, "to_pydatetime"):
        return read.to_pydatetime(warn=False)
    if hasattr(read, "to_pytimedelta"):
        return timedelta(microseconds=read.value // 1000)
    if isinstance(read, bytes):
        try:
            return read.decode()
        except UnicodeDecodeError:
            return None
    if pa.types.is_map(kind) and read is not None:
        return {name: as_read(item, kind.item_type) for name, item in read}
    if pa.types.is_struct(kind) and read is not None:
        return {field.name: as_read(read[field.name], field.type) for field in kind}
    if pa.types.is_nested(kind) and read is not None:
        return [as_read(item, kind.value_type) for item in read]
    return read


def refused(path: Path) -> str | list[Any]:
    """What records say of a file: their rows, or the sentence."""
    try:
        return [record.fields for record in Records(path)]
    except InputError as error:
        return str(error)


def assert_as_arrow_reads(read: list[dict[str, Any]], table: pa.Table) -> None:
    """Each value is the one that Arrow has, as far as Python can hold it."""
    assert len(read) == table.num_rows
    for name in table.column_names:
        for row, value in zip(read, table[name], strict=True):
            expected = as_arrow_says(value)
            if expected is not NotImplemented and not is_infinite(value):
                assert to_text(row[name]) == clean_text(to_text(expected), Counter())


@settings(max_examples=EXAMPLES, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(column=columns())
def test_any_column_is_read_as_arrow_reads_it(tmp_path: Path, column: pa.Array) -> None:
    path = tmp_path / "t.parquet"
    path.write_bytes(written(v=column))
    read = refused(path)
    assert not isinstance(read, str)
    assert_as_arrow_reads(read, pq.read_table(path))


DAMAGE = st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 255)), min_size=1, max_size=8)


@settings(max_examples=EXAMPLES, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(column=columns(), damage=DAMAGE, kept=st.integers(1, 100))
def test_any_damage_is_refused_in_a_sentence_or_read_as_arrow_reads_it(
    tmp_path: Path, column: pa.Array, damage: list[tuple[int, int]], kept: int
) -> None:
    content = bytearray(written(query=pa.array(["tea"] * len(column)), v=column))
    for place, sign in damage:
        content[place % len(content)] = sign
    path = tmp_path / "t.parquet"
    path.write_bytes(bytes(content[: len(content) * kept // 100 if kept < 50 else None]))
    read = refused(path)
    with suppress(InputError, NeedsRowReader):
        list(Records(path).blocks(["query"]))
    if not isinstance(read, str):
        assert_as_arrow_reads(read, pq.read_table(path))
