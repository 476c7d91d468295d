"""Files of a language model's grades."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path


def write_grades(path: Path, grades: Mapping[tuple[str, str], object]) -> Path:
    """(query id, document id) → the grade, as a table."""
    lines = [f"{query},{document},{grade}\n" for (query, document), grade in grades.items()]
    path.write_text("query_id,document_id,grade\n" + "".join(lines), encoding="utf-8")
    return path
