"""Ids that a file holds as numbers, dates or truth values: whole numbers are integers; others are refused."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime, time
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from curation.core.errors import InputError
from curation.ingest.readers.cell_checks import IDS_AS_TEXT
from curation.ingest.readers.fields import CorpusFields, DecisionFields, JudgmentFields, RunFields
from curation.ingest.readers.records import Records
from curation.ingest.readers.run_files import RunFile
from curation.ingest.readers.values import EXACT, UnfitIdError, to_id

FIT = [
    *((7, "7"), (7.0, "7"), (-0.0, "0"), (Decimal("7.00"), "7"), (Decimal(10**30), str(10**30))),
    *((2500000000000000.0, "2500000000000000"), (1234567890123456, "1234567890123456"), ("1.0", "1.0")),
    *((None, ""), (float("nan"), ""), ("", ""), (" 007 ", " 007 "), (2**63, str(2**63))),
]
UNFIT = [
    *(True, False, 12.5, Decimal("7.5"), 1e21, float(EXACT), float("inf"), float("-inf")),
    *(date(2026, 3, 10), datetime(2026, 3, 10, tzinfo=UTC), time(7)),
]


@pytest.mark.parametrize(("value", "text"), FIT)
def test_a_whole_number_is_the_id_of_an_integer_and_a_text_stays_as_it_is(value: Any, text: str) -> None:
    assert to_id(value) == text


@pytest.mark.parametrize("value", UNFIT)
def test_a_value_that_has_lost_how_the_id_was_written_is_no_id(value: Any) -> None:
    with pytest.raises(UnfitIdError):
        to_id(value)


@given(st.integers(1 - EXACT, EXACT - 1))
def test_a_whole_number_has_one_id_in_every_type(number: int) -> None:
    assert to_id(number) == to_id(float(number)) == to_id(Decimal(number)) == str(number)


KINDS: dict[str, tuple[Any, dict[str, Any]]] = {
    "id": (CorpusFields(), {"text": "tea"}),
    "document": (RunFields(), {"query": "q", "rank": 1}),
    "query": (RunFields(), {"document": "d", "rank": 1}),
    "rater": (JudgmentFields(), {"query": "q", "document": "d", "grade": 1}),
    "docid": (DecisionFields(), {"query": "q", "grade": 1}),
}


@pytest.mark.parametrize("name", KINDS)
def test_every_kind_of_file_reads_ids_by_the_one_rule(name: str, tmp_path: Path) -> None:
    fields, others = KINDS[name]
    path = tmp_path / "a.jsonl"
    values = [7.0, 12.5, True, "007"]
    path.write_text("".join(json.dumps({name: value, **others}) + "\n" for value in values))
    records = Records(path)
    records.resolve(fields)
    read = []
    with pytest.raises(InputError) as refused:
        read.extend(record.fields[name] for record in records)
    assert str(refused.value) == (
        f"{path}: line 2: '{name}' is 12.5, a number that is not an integer; expected an id, as text or a "
        f"whole number\n{path}: line 3: '{name}' is true, a Boolean value; expected an id, as text or a "
        "whole "
        f"number\n{IDS_AS_TEXT}"
    )


@pytest.mark.parametrize("numbers", [[1.0, 2500000000000000.0], [Decimal("1.00"), Decimal(2500000000000000)]])
def test_a_run_of_parquet_has_the_same_ids_whatever_its_type(numbers: list[Any], tmp_path: Path) -> None:
    path = tmp_path / "run.parquet"
    pq.write_table(pa.table({"query": numbers, "document": numbers, "rank": [1, 1]}), path)
    rows = list(RunFile(path))
    assert [row.query for row in rows] == [row.document for row in rows] == ["1", "2500000000000000"]
    assert RunFile(path).columns() is None


def test_a_text_of_a_document_is_no_id_and_may_be_any_number(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"id": 1.0, "text": 12.5, "price": 1.0}\n')
    records = Records(path)
    records.resolve(CorpusFields())
    assert [record.fields for record in records] == [{"id": "1", "text": 12.5, "price": 1.0}]
