"""What a terminal shows of a report."""

from __future__ import annotations

import re
from collections.abc import Sequence
from io import StringIO

from rich.console import Console

from curation.reports.page import Section, cell_text
from curation.reports.terminal import LONGEST_NAME, show_sections
from curation.text import ISOLATES, printable


def drawn(sections: Sequence[Section], width: int, terminal: bool = True) -> str:
    """The lines of a terminal that is so wide, without styles; or of a pipe."""
    out = StringIO()
    console = Console(
        file=out,
        width=width,
        force_terminal=terminal,
        color_system=None,
        no_color=True,
        markup=False,
        highlight=False,
        legacy_windows=False,
    )
    show_sections(sections, console)
    return re.sub(r"\x1b\[\d*m", "", out.getvalue())


def broken(sections: Sequence[Section], width: int) -> list[str]:
    """The figures, names and ids of all tables that no line of the terminal has as a whole."""
    shown = set()
    for line in drawn(sections, width).splitlines():
        shown |= {cell.strip() for cell in line.split("│")}
        shown |= set(line.replace("│", " ").split(" "))
        shown.add(re.sub(r"^ {4,}(\S.*?  )?", "", line).strip())
    wanted = []
    for section in sections:
        for table in section.tables:
            for row in table.rows:
                for value in row:
                    cell = ISOLATES.sub("", printable(cell_text(value))).strip()
                    wanted += [cell] if len(cell) <= LONGEST_NAME else cell.split(" ")
    return [cell for cell in wanted if cell not in shown]
