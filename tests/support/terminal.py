"""What a terminal shows of a report."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from io import StringIO
from pathlib import Path

from curation.core.characters import ISOLATES, show_controls
from curation.core.reports.page import Section
from curation.core.reports.tables import cell_text
from curation.core.reports.terminal import MAX_NAME_LENGTH, Screen, show_sections


def drawn(sections: Sequence[Section], width: int, terminal: bool = True) -> str:
    """The lines of a terminal that is so wide, without styles; or of a pipe."""
    out = StringIO()
    show_sections(sections, Screen(out, width, terminal))
    return re.sub(r"\x1b\[\d*m", "", out.getvalue())


def broken(sections: Sequence[Section], width: int) -> list[str]:
    """The figures, names and ids of all tables that no line of the terminal has as a whole."""
    shown: set[str] = set()
    for line in drawn(sections, width).splitlines():
        for cell in [*line.split("│"), re.sub(r"^ {4,}(\S.*?  )?", "", line)]:
            shown |= {cell.strip(), *_parts(cell.strip()), *cell.split(" ")}
    cells = [
        ISOLATES.sub("", show_controls(cell_text(value))).strip()
        for section in sections
        for table in (*section.charted, *section.tables)
        for row in table.rows
        for value in row
    ]
    wanted = [
        part for cell in cells for part in (_parts(cell) if len(cell) <= MAX_NAME_LENGTH else cell.split(" "))
    ]
    return [part for part in wanted if part not in shown]


def _parts(cell: str) -> list[str]:
    """A figure and its interval."""
    return re.sub(r"(\d) \(", r"\1\n(", cell).split("\n")


def golden(path: Path, text: str) -> str:
    """What the file says; with GOLDGRADE_GOLDEN set, it then says the text."""
    if os.environ.get("GOLDGRADE_GOLDEN"):
        path.write_text(text, encoding="utf-8")
    return path.read_text(encoding="utf-8")
