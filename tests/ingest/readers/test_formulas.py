"""Cells that a spreadsheet takes for formulas: quoted in a CSV that we write, unchanged where we read it."""

from __future__ import annotations

import csv
import functools
import operator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from curation.core.characters import quote_formula, unquote_formula
from curation.core.reports.table_files import format_csv
from curation.core.reports.tables import Table
from curation.ingest.readers.records import Records

CELLS = st.text(st.sampled_from("=+-@\t'0a.,\"é"), max_size=6)


@given(CELLS)
def test_a_quoted_cell_is_no_formula_and_comes_back_unchanged(cell: str) -> None:
    quoted = quote_formula(cell)
    assert unquote_formula(quoted) == cell
    assert not quoted.startswith(("=", "@", "\t", "\r"))
    if quoted.startswith(("+", "-")):
        float(quoted)


@pytest.mark.parametrize("number", ["-5", "+49.5", "-1.5e-7"])
def test_a_number_stays_a_number(number: str) -> None:
    assert quote_formula(number) == number


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(CELLS, min_size=1, max_size=5))
@example(["=cmd|'/c calc'!A1", "'=1", "'tis"])
def test_a_table_that_we_wrote_is_read_unchanged_by_row_and_by_column(
    tmp_path: Path, cells: list[str]
) -> None:
    path = tmp_path / "a.csv"
    path.write_text(format_csv(Table("", ("id", "text"), tuple((cell, f"x{cell}") for cell in cells))))
    read = [tuple(record.fields.values()) for record in Records(path)]
    assert read == [(cell, f"x{cell}") for cell in cells]
    columns = [block.columns["id"].to_pylist() for block in Records(path).blocks(["id"])]
    assert functools.reduce(operator.iadd, columns, []) == cells
    with path.open(newline="") as file:
        assert not any(cell[:1] in "=@\t\r" for row in csv.reader(file) for cell in row if cell)
