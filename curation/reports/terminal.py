"""A report in a terminal of any width: no figure, name or id is ever broken.

Columns of sentences give way to the others, down to their longest word. A table that is wider all the same
becomes a list, a row at a time. Charts are for the page. Outside a terminal nothing has to fit but tables.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from curation.reports.page import Section, Table, cell_text, is_figure
from curation.text import ISOLATES, printable

if TYPE_CHECKING:
    from rich.console import Console

PIPE_WIDTH = 110
"""Columns of a table where there is no terminal to fit."""
LONGEST_NAME = 32
"""Characters of a cell up to which it is a name or a figure, which no line break may divide."""
BEFORE = re.compile(r"(?<=\d) (?=\()")
"""Where a figure may be divided: before its interval."""
LEAST_SENTENCE = 20
"""Characters of a line below which a column of sentences is hard to read."""
GAP = 3
"""Columns that a table takes besides each of its cells."""


def show_sections(sections: Iterable[Section], console: Console | None = None) -> None:
    """Each section: its heading, its sentences, its tables, its remark."""
    console = console or _console()
    for section in sections:
        if section.heading:
            show_sentence(f"\n{section.heading}", console, "bold")
        for paragraph in filter(None, section.sentence.split("\n")):
            show_sentence(paragraph, console)
        for table in (*section.charted, *section.tables):
            if table.rows:
                show_table(table, console)
        for paragraph in filter(None, section.remark.split("\n")):
            show_sentence(paragraph, console)


def show_report(
    title: str, findings: Iterable[str], sections: Iterable[Section], remark: str = "", lead: str = ""
) -> None:
    """What `html_page` makes a page of."""
    console = _console()
    show_sentence(title, console, "bold")
    for sentence in filter(None, (lead, *findings)):
        show_sentence(sentence, console)
    show_sections(sections, console)
    if remark:
        show_sentence(f"\n{remark}", console)


def show_sentence(text: str, console: Console | None = None, style: str = "", margin: int = 0) -> None:
    """A paragraph: in a terminal its lines end between words, elsewhere it is one line.

    Parameters
    ----------
    margin: columns before the second line and those after it.
    """
    from rich.text import Text

    console = console or _console()
    shown = _shown(text)
    if console.is_terminal:
        shown = _wrapped(shown, console.width, margin)
    console.print(Text(shown, style), soft_wrap=True)


def show_table(table: Table, console: Console | None = None) -> None:
    """The table, without columns that are empty in every row; where it is too wide, a list of its rows."""
    console = console or _console()
    empty = [bool(table.rows) and all(row[n] == "" for row in table.rows) for n in range(len(table.columns))]
    filled = [number for number, is_empty in enumerate(empty) if not is_empty]
    columns = [_shown(table.columns[number]) for number in filled]
    rows = [[_shown(cell_text(row[number])) for number in filled] for row in table.rows]
    figures = [all(is_figure(row[number]) for row in table.rows) for number in filled]
    if table.caption:
        show_sentence(table.caption, console, "bold")
    widths = _widths(columns, rows, console.width - 1)
    if widths is None:
        _show_list(columns, rows, console)
    else:
        _draw(columns, rows, figures, widths, console)


def _shown(text: str) -> str:
    """What people read and copy: signs for control characters, and no invisible marks around names."""
    return ISOLATES.sub("", printable(text))


def _console() -> Console:
    """The terminal, or as wide as tables are in a pipe."""
    from rich.console import Console

    found = Console(markup=False, highlight=False)
    return found if found.is_terminal else Console(width=PIPE_WIDTH, markup=False, highlight=False)


def _widths(columns: Sequence[str], rows: Sequence[Sequence[str]], room: int) -> list[int] | None:
    """How wide each column is; None where they do not fit."""
    from rich.cells import cell_len

    whole, least = [], []
    for number, column in enumerate(columns):
        cells = [row[number] for row in rows]
        longest = max(map(cell_len, cells), default=0)
        whole.append(max(longest, cell_len(column)))
        sentences = longest > LONGEST_NAME
        kept = [piece for cell in cells for piece in (cell.split(" ") if sentences else BEFORE.split(cell))]
        shortest = LEAST_SENTENCE if sentences else 0
        least.append(max(shortest, *map(cell_len, [*column.split(" "), *kept])))
    room -= GAP * len(columns)
    if sum(least) > room:
        return None
    level = max(whole, default=0)
    while sum(_at(level, whole, least)) > room:
        level -= 1
    return _at(level, whole, least)


def _at(level: int, whole: Sequence[int], least: Sequence[int]) -> list[int]:
    """The widths where no column is wider than the level that can be narrower."""
    return [max(low, min(high, level)) for high, low in zip(whole, least, strict=True)]


def _draw(
    columns: Sequence[str],
    rows: Sequence[Sequence[str]],
    figures: Sequence[bool],
    widths: Sequence[int],
    console: Console,
) -> None:
    from rich.table import Table as Drawn
    from rich.text import Text

    drawn = Drawn(header_style="bold")
    for column, right, width in zip(columns, figures, widths, strict=True):
        drawn.add_column(_wrapped(column, width), justify="right" if right else "left", width=width)
    for row in rows:
        drawn.add_row(*(Text(_wrapped(text, width)) for text, width in zip(row, widths, strict=True)))
    console.print(drawn)


def _show_list(columns: Sequence[str], rows: Sequence[Sequence[str]], console: Console) -> None:
    """A row at a time: its name, then a line for each value that it has."""
    width = min(max(map(len, columns[1:]), default=0), console.width // 3)
    for name, *values in rows:
        show_sentence(f"  {name}", console, "bold", 4)
        for column, value in zip(columns[1:], values, strict=True):
            between = "  " if len(column) <= width else f"\n{' ' * (width + 6)}"
            if value:
                show_sentence(f"    {column.ljust(width)}{between}{value}", console, "", width + 6)


def _wrapped(text: str, width: int, margin: int = 0) -> str:
    """The text in lines that end at single spaces only; a longer word is a line of its own."""
    from rich.cells import cell_len

    lines = []
    for paragraph in text.split("\n"):
        line = ""
        for word in re.findall(r"^ *[^ ]*| +[^ ]*", paragraph):
            if line.strip() and cell_len(line) + cell_len(word) > width:
                lines.append(line)
                word = " " * margin + word.lstrip(" ")
                line = ""
            line += word
        lines.append(line)
    return "\n".join(lines)
