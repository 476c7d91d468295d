"""File formats of tables: a table as the text of a CSV, Markdown or LaTeX file."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterable, Sequence
from io import StringIO
from pathlib import Path

from curation.core.characters import quote_formula, show_controls
from curation.core.errors import InputError
from curation.core.reports.tables import Table, cell_text

_MARKDOWN_SYNTAX = re.compile(r"([\\`*_{}\[\]<>|#~$&!])")


_LATEX_ESCAPES = {
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
    **{"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"},
    **{"<": "$<$", ">": "$>$", "|": r"\textbar{}", '"': r"\char34{}"},
    **{"[": "{[}", "*": "{*}"},  # after the end of a row, LaTeX would read both as arguments
    **{"\u2212": "$-$", "\u2191": r"$\uparrow$", "\u2193": r"$\downarrow$", "τ": r"$\tau$"},
    **{"\u00a0": "~", "–": "--", "…": r"\dots{}", "\n": " ", "\t": " "},
}


def format_csv(table: Table) -> str:
    """Format a table as CSV (RFC 4180) with a header, line feeds, and cells that no spreadsheet executes."""
    text = StringIO()
    writer = csv.writer(text, lineterminator="\n")
    rows = [table.columns, *table.rows]
    for row in rows:
        writer.writerow([quote_formula(cell) if isinstance(cell, str) else cell for cell in row])
    return text.getvalue()


def format_markdown(table: Table) -> str:
    """Format a table in GitHub Flavored Markdown, with right-aligned figures and the caption below."""
    rules = ["---:" if is_numeric else "---" for is_numeric in _find_numeric_columns(table)]
    lines = [_format_markdown_row(map(escape_markdown, table.columns)), _format_markdown_row(rules)]
    lines += [_format_markdown_row(escape_markdown(cell_text(value)) for value in row) for row in table.rows]
    return "\n".join([*lines, "", escape_markdown(table.caption), ""])


def format_latex(table: Table) -> str:
    """Format a table as LaTeX that works without packages."""
    alignment = "".join("r" if is_numeric else "l" for is_numeric in _find_numeric_columns(table))
    rows = [[_escape_latex(cell_text(value)) for value in row] for row in table.rows]
    head = [_escape_latex(column) for column in table.columns]
    lines = [r"\begin{table}", r"\centering", f"\\caption{{{_escape_latex(table.caption)}}}"]
    lines += [f"\\begin{{tabular}}{{{alignment}}}", r"\hline", _format_latex_row(head), r"\hline"]
    lines += [*map(_format_latex_row, rows), r"\hline", r"\end{tabular}", r"\end{table}", ""]
    return "\n".join(lines)


TABLE_FORMATS: dict[str, Callable[[Table], str]] = {
    ".csv": format_csv,
    ".md": format_markdown,
    ".tex": format_latex,
}
"""Map from a file extension to the function that formats a table as the text of the file."""


def find_table_format(path: Path, option: str) -> Callable[[Table], str]:
    """Find the function that formats a table for a file, chosen by the file's extension.

    Parameters
    ----------
    option: the option that gave the path, for the message of the error.

    Raises
    ------
    InputError: the extension of the path is unknown.
    """
    table_format = TABLE_FORMATS.get(path.suffix.lower())
    if table_format is None:
        raise InputError(f"{option} {path}: expected a name that ends in one of {', '.join(TABLE_FORMATS)}.")
    return table_format


def escape_markdown(text: str) -> str:
    """Escape Markdown syntax in a text, and join its lines."""
    return _MARKDOWN_SYNTAX.sub(r"\\\1", " ".join(show_controls(text).splitlines()))


def _find_numeric_columns(table: Table) -> list[bool]:
    """Find the table's numeric columns, in which each cell is a number or is missing."""
    columns = zip(*table.rows, strict=True) if table.rows else ([""] for _ in table.columns)
    return [all(value is None or isinstance(value, int | float) for value in column) for column in columns]


def _format_markdown_row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _escape_latex(text: str) -> str:
    return "".join(_LATEX_ESCAPES.get(character, character) for character in show_controls(text))


def _format_latex_row(cells: Sequence[str]) -> str:
    return f"{' & '.join(cells)} \\\\"
