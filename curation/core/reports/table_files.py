"""Tables written as CSV, Markdown or LaTeX."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterable, Sequence
from io import StringIO
from pathlib import Path

from curation.core.characters import quote_formula, show_controls
from curation.core.errors import InputError
from curation.core.reports.tables import Table, cell_text

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
    """Write a table as CSV with a header (RFC 4180), line feeds, and cells that no spreadsheet reads as
    formulas.
    """
    text = StringIO()
    writer = csv.writer(text, lineterminator="\n")
    rows = [table.columns, *table.rows]
    writer.writerows([quote_formula(c) if isinstance(c, str) else c for c in row] for row in rows)
    return text.getvalue()


def markdown_table(table: Table) -> str:
    """Write a table in GitHub Flavored Markdown, with right-aligned figures and the caption below."""
    rules = ["---:" if figures else "---" for figures in _figures(table)]
    lines = [_markdown_line(map(markdown_text, table.columns)), _markdown_line(rules)]
    lines += [_markdown_line(markdown_text(cell_text(value)) for value in row) for row in table.rows]
    return "\n".join([*lines, "", markdown_text(table.caption), ""])


def latex_table(table: Table) -> str:
    """Write a table in LaTeX that needs no package."""
    places = "".join("r" if figures else "l" for figures in _figures(table))
    rows = [[_latex(cell_text(value)) for value in row] for row in table.rows]
    head = [_latex(column) for column in table.columns]
    lines = [r"\begin{table}", r"\centering", f"\\caption{{{_latex(table.caption)}}}"]
    lines += [f"\\begin{{tabular}}{{{places}}}", r"\hline", _latex_line(head), r"\hline"]
    lines += [*map(_latex_line, rows), r"\hline", r"\end{tabular}", r"\end{table}", ""]
    return "\n".join(lines)


# Extension of a file name → the function that writes a table
WRITERS: dict[str, Callable[[Table], str]] = {".csv": csv_table, ".md": markdown_table, ".tex": latex_table}


def writer_for(path: Path, option: str) -> Callable[[Table], str]:
    """Find the function that writes a table to this path.

        Raises
        ------
    InputError: the extension is unknown; the message names the option.
    """
    writer = WRITERS.get(path.suffix.lower())
    if writer is None:
        raise InputError(f"{option} {path}: expected a name that ends in one of {', '.join(WRITERS)}.")
    return writer


def markdown_text(text: str) -> str:
    """Escape Markdown, and join lines."""
    return _MARKDOWN.sub(r"\\\1", " ".join(show_controls(text).splitlines()))


def _figures(table: Table) -> list[bool]:
    """Mark the columns that hold only figures."""
    columns = zip(*table.rows, strict=True) if table.rows else ([""] for _ in table.columns)
    return [all(value is None or isinstance(value, int | float) for value in column) for column in columns]


def _markdown_line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _latex(text: str) -> str:
    return "".join(_LATEX.get(sign, sign) for sign in show_controls(text))


def _latex_line(cells: Sequence[str]) -> str:
    return f"{' & '.join(cells)} \\\\"
