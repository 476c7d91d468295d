"""The SMART collections: texts and relevant documents of MEDLINE and CISI, from the shared data."""

from __future__ import annotations

import re
from pathlib import Path


def records(path: Path) -> dict[str, str]:
    """SMART records by id: title and text together."""
    found = {}
    for block in re.split(r"^\.I ", path.read_text(encoding="latin-1"), flags=re.MULTILINE)[1:]:
        number, _, rest = block.partition("\n")
        fields = re.findall(r"^\.([A-Z])\s*\n(.*?)(?=^\.[A-Z]\s*$|\Z)", rest, flags=re.MULTILINE | re.DOTALL)
        found[number.strip()] = "\n".join(text.strip() for name, text in fields if name in "TW")
    return found


def qrels(path: Path) -> dict[str, dict[str, int]]:
    """MED has (query, 0, document, 1) rows, CISI (query, document, 0, 0.0) rows."""
    found: dict[str, dict[str, int]] = {}
    for line in path.read_text(encoding="latin-1").splitlines():
        cells = line.split()
        if len(cells) >= 3:
            document = cells[2] if cells[1] == "0" and cells[3:4] == ["1"] else cells[1]
            found.setdefault(cells[0], {})[document] = 1
    return found
