"""Reports in a terminal: whatever the width, figures, names and ids are whole, and nothing is left out."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from curation.core.reports.page import Section
from curation.core.reports.tables import Table
from curation.core.reports.terminal import MAX_NAME_LENGTH
from tests.support.terminal import broken, drawn

WIDTHS = (110, 80, 60)
WORDS = st.text("abcdefghij", min_size=1, max_size=14)
SENTENCES = st.lists(WORDS, min_size=8, max_size=30).map(" ".join)
IDS = st.text("abc0123456789-", min_size=1, max_size=64)
NAMES = (
    st.lists(WORDS, min_size=2, max_size=3).map(" ".join).filter(lambda name: len(name) <= MAX_NAME_LENGTH)
)
FIGURES = st.one_of(
    st.none(), st.integers(0, 10**9), st.floats(-1, 1), st.just("0.190 (0.100\u00a0to\u00a00.280)")
)
CELLS = (IDS, NAMES, FIGURES, FIGURES, SENTENCES, FIGURES, IDS)


@st.composite
def tables(draw: st.DrawFn) -> Table:
    kinds = draw(st.lists(st.sampled_from(CELLS), min_size=1, max_size=9))
    columns = tuple(draw(st.lists(WORDS, min_size=1, max_size=4).map(" ".join)) for _ in kinds)
    rows = draw(st.lists(st.tuples(*kinds), min_size=1, max_size=4))
    return Table(draw(SENTENCES), columns, tuple(rows))


NAMED = Table("", ("a", "b", "c"), (("the reranker of the spring", 0.19, "not shown " * 20),) * 2)


@pytest.mark.slow
@example(NAMED, 60)
@settings(max_examples=60, deadline=None)
@given(tables(), st.sampled_from(WIDTHS))
def test_no_figure_name_or_id_is_broken_at_any_width(table: Table, width: int) -> None:
    assert broken([Section("Heading", "", (), (table,))], width) == []


@pytest.mark.parametrize("width", WIDTHS)
def test_what_fits_is_as_narrow_as_the_terminal(width: int) -> None:
    note = "fewer than ten queries have a value, so that there is no interval for this figure"
    table = Table("Systems", ("system", "mean", "note"), (("bm25", 0.19, note), ("dense", None, "")))
    lines = drawn([Section("Heading", note * 3, (), (table,))], width).splitlines()
    assert max(map(len, lines)) <= width
    assert any("│ bm25   │ 0.190 │ fewer than ten" in line for line in lines)


def test_a_table_that_does_not_fit_is_a_list_of_its_rows() -> None:
    columns = ("system", *(f"figure-{number}" for number in range(9)))
    shown = drawn([Section("", "", (), (Table("Wide", columns, (("bm25", *[0.19] * 8, None),)),))], 60)
    assert shown.split() == [
        "Wide",
        "bm25",
        *(part for n in range(8) for part in (f"figure-{n}", "0.190")),
        "figure-8",
        "–",
    ]


def test_in_a_pipe_a_sentence_is_one_line_and_an_id_is_whole() -> None:
    name = "document-" * 14
    table = Table("", ("document", "grade"), ((name, 2),))
    shown = drawn([Section("", "word " * 60 + "end", (), (table,))], 110, terminal=False)
    assert "word " * 60 + "end\n" in shown
    assert f"{name}\n" in shown


def test_text_in_a_report_commands_no_terminal() -> None:
    shown = drawn([Section("a\x1b[2J", "b\x1b[2J", (), (Table("c", ("d",), (("e\x1b[2J",),)),))], 80)
    assert "\x1b" not in shown
    assert "\u2068" not in drawn([Section("", "\u2068q1\u2069", (), ())], 80)
