"""Report output in a terminal of any width, without line breaks inside numbers, names or ids.

Columns of sentences shrink first, down to their longest word. A table that is still too wide becomes a list
of its rows. Charts appear on pages only. Outside a terminal only tables are wrapped.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest
from shutil import get_terminal_size
from typing import NamedTuple, TextIO

from rich.cells import cell_len

from curation.core.characters import ISOLATES, show_controls
from curation.core.reports.page import Section
from curation.core.reports.tables import Table, cell_text, is_figure

PIPE_WIDTH = 110  # table width in characters outside a terminal
MAX_NAME_LENGTH = 32  # maximum length of a cell that is never wrapped, such as a name or a number
BEFORE = re.compile(r"(?<=\d) (?=\()")  # a value may be wrapped here, before its interval
MIN_SENTENCE = 20  # minimum width in characters of a column of sentences
GAP = 3  # characters between the cells of a table


class Screen(NamedTuple):
    """The output device for a report; if it is not a terminal, only tables are limited to `width`."""

    out: TextIO
    width: int
    is_terminal: bool

    def write(self, text: str, is_bold: bool = False) -> None:
        """Write a text, which may have several lines, to the output device."""
        self.out.write(f"{self.bold(text) if is_bold else text}\n")

    def bold(self, text: str) -> str:
        """Make a text bold if the terminal has styles."""
        known = self.is_terminal and os.environ.get("TERM") not in ("dumb", "unknown")
        return f"\x1b[1m{text}\x1b[0m" if known and text else text


def show_sections(sections: Iterable[Section], screen: Screen | None = None) -> None:
    """Write the heading, sentences, tables and remark of each section of a report."""
    screen = screen or _screen()
    for section in sections:
        if section.heading:
            show_sentence(f"\n{section.heading}", screen, True)
        for paragraph in filter(None, section.sentence.split("\n")):
            show_sentence(paragraph, screen)
        for table in (*section.charted, *section.tables):
            if table.rows:
                show_table(table, screen)
        for paragraph in filter(None, section.remark.split("\n")):
            show_sentence(paragraph, screen)


def show_report(
    title: str, findings: Iterable[str], sections: Iterable[Section], remark: str = "", lead: str = ""
) -> None:
    """Write a report to a terminal, as `html_page` writes it as an HTML page."""
    screen = _screen()
    show_sentence(title, screen, True)
    for sentence in filter(None, (lead, *findings)):
        show_sentence(sentence, screen)
    show_sections(sections, screen)
    if remark:
        show_sentence(f"\n{remark}", screen)


def show_sentence(text: str, screen: Screen | None = None, is_bold: bool = False, margin: int = 0) -> None:
    """Write a paragraph, wrapped between words in a terminal, otherwise on one line.

    Parameters
    ----------
    margin: number of spaces at the start of each line after the first line.
    """
    screen = screen or _screen()
    shown = _make_visible(text)
    if screen.is_terminal:
        shown = _wrap(shown, screen.width, margin)
    screen.write(shown, is_bold)


def show_table(table: Table, screen: Screen | None = None) -> None:
    """Write a table without its empty columns, or a list of its rows if the table is too wide."""
    screen = screen or _screen()
    empty = [bool(table.rows) and all(row[n] == "" for row in table.rows) for n in range(len(table.columns))]
    filled = [number for number, is_empty in enumerate(empty) if not is_empty]
    columns = [_make_visible(table.columns[number]) for number in filled]
    rows = [[_make_visible(cell_text(row[number])) for number in filled] for row in table.rows]
    figures = [all(is_figure(row[number]) for row in table.rows) for number in filled]
    if table.caption:
        show_sentence(table.caption, screen, True)
    widths = _widths(columns, rows, screen.width - 1)
    if widths is None:
        _show_list(columns, rows, screen)
    else:
        _draw(columns, rows, figures, widths, screen)


def _screen() -> Screen:
    if not sys.stdout.isatty():
        return Screen(sys.stdout, PIPE_WIDTH, False)
    return Screen(sys.stdout, get_terminal_size().columns, True)


def _make_visible(text: str) -> str:
    """Replace control characters with visible symbols, and remove invisible marks around names."""
    return ISOLATES.sub("", show_controls(text))


def _widths(columns: Sequence[str], rows: Sequence[Sequence[str]], room: int) -> list[int] | None:
    """Compute the width of each table column; None if the columns do not fit."""
    whole, least = [], []
    for number, column in enumerate(columns):
        cells = [row[number] for row in rows]
        longest = max(map(cell_len, cells), default=0)
        whole.append(max(longest, cell_len(column)))
        sentences = longest > MAX_NAME_LENGTH
        kept = [piece for cell in cells for piece in (cell.split(" ") if sentences else BEFORE.split(cell))]
        shortest = MIN_SENTENCE if sentences else 0
        least.append(max(shortest, *map(cell_len, [*column.split(" "), *kept])))
    room -= GAP * len(columns)
    if sum(least) > room:
        return None
    level = max(whole, default=0)
    while sum(_limit(level, whole, least)) > room:
        level -= 1
    return _limit(level, whole, least)


def _limit(level: int, whole: Sequence[int], least: Sequence[int]) -> list[int]:
    """Limit the width of each table column to `level`, but not below the column's minimum."""
    return [max(low, min(high, level)) for high, low in zip(whole, least, strict=True)]


def _draw(
    columns: Sequence[str],
    rows: Sequence[Sequence[str]],
    figures: Sequence[bool],
    widths: Sequence[int],
    screen: Screen,
) -> None:
    def rule(left: str, dash: str, between: str, right: str) -> None:
        screen.write(left + between.join(dash * (width + 2) for width in widths) + right)

    rule("┏", "━", "┳", "┓")
    for cells in _yield_lines(columns, figures, widths):
        screen.write(f"┃ {' ┃ '.join(map(screen.bold, cells))} ┃")
    rule("┡", "━", "╇", "┩")
    for row in rows:
        for cells in _yield_lines(row, figures, widths):
            screen.write(f"│ {' │ '.join(cells)} │")
    rule("└", "─", "┴", "┘")


def _yield_lines(row: Sequence[str], figures: Sequence[bool], widths: Sequence[int]) -> Iterator[list[str]]:
    """Yield the text lines of a table row, with each cell as wide as its column."""
    wrapped = [_wrap(text, width).split("\n") for text, width in zip(row, widths, strict=True)]
    for cells in zip_longest(*wrapped, fillvalue=""):
        blanks = [" " * (width - cell_len(cell)) for cell, width in zip(cells, widths, strict=True)]
        yield [
            f"{blank}{cell}" if right else f"{cell}{blank}"
            for cell, blank, right in zip(cells, blanks, figures, strict=True)
        ]


def _show_list(columns: Sequence[str], rows: Sequence[Sequence[str]], screen: Screen) -> None:
    """Write each row of a table as a list: its name, then a line for each value."""
    width = min(max(map(len, columns[1:]), default=0), screen.width // 3)
    for name, *values in rows:
        show_sentence(f"  {name}", screen, True, 4)
        for column, value in zip(columns[1:], values, strict=True):
            between = "  " if len(column) <= width else f"\n{' ' * (width + 6)}"
            if value:
                show_sentence(f"    {column.ljust(width)}{between}{value}", screen, False, width + 6)


def _wrap(text: str, width: int, margin: int = 0) -> str:
    """Wrap a text at single spaces only; a word that is too long gets its own line."""
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
