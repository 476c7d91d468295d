"""Markdown for cards: lines, tables, and counts in words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

Lines = list[str]


def counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {count:,}" for name, count in sorted(counts.items())) or "none"


def percent(part: int, whole: int) -> str:
    return f"{part / whole:.1%}" if whole else "undefined"


def listed(names: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def table(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> Lines:
    """A Markdown table; cells stay on their line and in their column."""
    lines = [header, ["---"] * len(header), *rows]
    return [f"| {' | '.join(_cell(cell) for cell in row)} |" for row in lines]


def _cell(value: Any) -> str:
    text = f"{value:,}" if isinstance(value, int) else str(value)
    return " ".join(text.split()).replace("|", "\\|")
