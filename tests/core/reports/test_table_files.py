"""Tables as files: every digit for programs, and names that are text whatever they hold."""

from __future__ import annotations

import csv
from io import StringIO
from pathlib import Path

import pytest

from curation.core.errors import InputError
from curation.core.reports.table_files import find_table_format, format_csv, format_latex, format_markdown
from curation.core.reports.tables import Table

HOSTILE = 'a|b_c*d`e<f>&g%h$i#j{k}l\\m~n^o"p\nq'
TABLE = Table("1 of 2 | 95 %", ("system", "map", "queries"), ((HOSTILE, 1 / 3, 12), ("ä, é", None, 3)))


def test_csv_has_every_digit_and_nothing_for_the_unknown() -> None:
    rows = list(csv.reader(StringIO(format_csv(TABLE), newline="")))
    assert rows == [["system", "map", "queries"], [HOSTILE, repr(1 / 3), "12"], ["ä, é", "", "3"]]


def test_markdown_shows_names_as_they_are() -> None:
    head, rule, first, second, empty, caption = format_markdown(TABLE).splitlines()
    assert (head, rule) == ("| system | map | queries |", "| --- | ---: | ---: |")
    name = 'a\\|b\\_c\\*d\\`e\\<f\\>\\&g%h\\$i\\#j\\{k\\}l\\\\m\\~n^o"p q'
    assert first == f"| {name} | 0.333 | 12 |"
    assert second == "| ä, é | – | 3 |"
    assert (empty, caption) == ("", "1 of 2 \\| 95 %")


def test_latex_runs_no_command_that_a_name_holds() -> None:
    lines = format_latex(TABLE).splitlines()
    name = (
        r"a\textbar{}b\_c{*}d`e$<$f$>$\&g\%h\$i\#j\{k\}l\textbackslash{}m\textasciitilde{}n\textasciicircum{}o"
        r"\char34{}p q"
    )
    assert f"{name} & 0.333 & 12 \\\\" in lines
    assert "ä, é & -- & 3 \\\\" in lines
    assert r"\caption{1 of 2 \textbar{} 95 \%}" in lines
    assert lines[3] == r"\begin{tabular}{lrr}"


def test_a_latex_row_that_begins_with_a_bracket_is_no_argument_of_the_row_above() -> None:
    lines = format_latex(Table("", ("system",), (("[a]",), ("*b",)))).splitlines()
    assert lines[-5:-3] == [r"{[}a] \\", r"{*}b \\"]


def test_another_ending_is_refused() -> None:
    assert find_table_format(Path("a.TEX"), "--table") is format_latex
    with pytest.raises(InputError, match=r"a\.xlsx: expected a name that ends in one of .csv, .md, .tex"):
        find_table_format(Path("a.xlsx"), "--table")
