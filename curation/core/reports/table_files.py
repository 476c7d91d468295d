"""A table as a file: CSV for programs, Markdown for pages, LaTeX for papers.

CSV has every digit and an empty cell for what is unknown. Markdown and LaTeX show what the page shows, with a
caption; whatever a name holds is text there, never markup or a command.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterable, Sequence
from io import StringIO
from pathlib import Path

from curation.core.errors import InputError
from curation.core.reports.page import Table, cell_text
from curation.core.text import printable, quote_formula

_MARKDOWN = re.compile(r"([\\`*_{}\[\]<>|#~$&!])")
_LATEX = {
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
    **{"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"},
    **{"<": "$<$", ">": "$>$", "|": r"\textbar{}", '"': r"\char34{}"},
    **{"[": "{[}", "*": "{*}"},  # after the end of a row both would be arguments of it
    **{"\u2212": "$-$", "\u2191": r"$\uparrow$", "\u2193": r"$\downarrow$", "τ": r"$\tau$"},
    **{"\u00a0": "~", "–": "--", "…": r"\dots{}", "\n": " ", "\t": " "},
}


def csv_table(table: Table) -> str:
    """Comma-separated values with a head (RFC 4180), lines ending in a line feed; no cell is a formula."""
    text = StringIO()
    writer = csv.writer(text, lineterminator="\n")
    rows = [table.columns, *table.rows]
    writer.writerows([quote_formula(c) if isinstance(c, str) else c for c in row] for row in rows)
    return text.getvalue()


def markdown_table(table: Table) -> str:
    """A table of GitHub Flavored Markdown, figures right-aligned, with the caption below."""
    rules = ["---:" if figures else "---" for figures in _figures(table)]
    lines = [_markdown_line(map(markdown_text, table.columns)), _markdown_line(rules)]
    lines += [_markdown_line(markdown_text(cell_text(value)) for value in row) for row in table.rows]
    return "\n".join([*lines, "", markdown_text(table.caption), ""])


def latex_table(table: Table) -> str:
    """A table environment that needs no package."""
    places = "".join("r" if figures else "l" for figures in _figures(table))
    rows = [[_latex(cell_text(value)) for value in row] for row in table.rows]
    head = [_latex(column) for column in table.columns]
    lines = [r"\begin{table}", r"\centering", f"\\caption{{{_latex(table.caption)}}}"]
    lines += [f"\\begin{{tabular}}{{{places}}}", r"\hline", _latex_line(head), r"\hline"]
    lines += [*map(_latex_line, rows), r"\hline", r"\end{tabular}", r"\end{table}", ""]
    return "\n".join(lines)


WRITERS: dict[str, Callable[[Table], str]] = {
    ".csv": csv_table,
    ".md": markdown_table,
    ".tex": latex_table,
}
"""Ending of a file's name → how its table is written."""


def writer_for(path: Path, option: str) -> Callable[[Table], str]:
    """How the table is written that an option names.

    Raises
    ------
    InputError: the name has another ending.
    """
    writer = WRITERS.get(path.suffix.lower())
    if writer is None:
        raise InputError(f"{option} {path}: expected a name that ends in one of {', '.join(WRITERS)}.")
    return writer


def _figures(table: Table) -> list[bool]:
    """Which columns hold figures alone."""
    columns = zip(*table.rows, strict=True) if table.rows else ([""] for _ in table.columns)
    return [all(value is None or isinstance(value, int | float) for value in column) for column in columns]


def markdown_text(text: str) -> str:
    """Text in which nothing is markup, on one line."""
    return _MARKDOWN.sub(r"\\\1", " ".join(printable(text).splitlines()))


def _markdown_line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _latex(text: str) -> str:
    return "".join(_LATEX.get(sign, sign) for sign in printable(text))


def _latex_line(cells: Sequence[str]) -> str:
    return f"{' & '.join(cells)} \\\\"
