"""Bars: stacked bars that show shares of a whole, and a figure with its interval on a line from 0 to 1."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import NamedTuple

import streamlit as st

from curation.core.text import percent

MIN_LABELLED_SHARE = 0.07
"""The smallest share of a bar that is labeled with its number."""
COLOURS = 6


class StackRow(NamedTuple):
    """A stacked bar of counts in the order of the legend. `note` is written after the bar. None draws no
    bar.
    """

    name: str
    counts: Sequence[float] | None
    note: str = ""


def stacks(
    label: str, legend: Sequence[str], rows: Sequence[StackRow], asked: Sequence[float] | None = None
) -> None:
    """Show a stacked bar of equal length for each row, divided by the shares of the parts.

    Parameters
    ----------
    asked: the requested shares of the parts; lines through the bars show where each part should end.
    """
    keys = "".join(
        f'<span class="p{index % COLOURS + 1}">{escape(name)}</span>' for index, name in enumerate(legend)
    )
    ends = [sum(asked[: index + 1]) for index in range(len(asked) - 1)] if asked else []
    drawn = "".join(_row(row, legend, ends) for row in rows)
    st.html(
        f'<div class="gs-stacks" role="group" aria-label="{escape(label)}">'
        f'<p class="gs-legend" aria-hidden="true">{keys}</p>{drawn}</div>'
    )


def part_stacks(
    label: str, legend: Sequence[str], queries: Mapping[str, int], grades: Mapping[str, int]
) -> None:
    """Show a bar of queries and a bar of grades, each by part in the order of `queries`."""
    by_part = {"Queries": list(queries.values()), "Grades": [grades[part] for part in queries]}
    stacks(label, legend, [StackRow(name, counts, f"{sum(counts):,}") for name, counts in by_part.items()])


def measure(label: str, value: float | None, low: float | None, high: float | None, wanted: float) -> None:
    """Show a figure with its interval on a line from 0 to 1, and the threshold that it must reach."""
    interval = ""
    if low is not None and high is not None:
        interval = (
            f'<i style="inset-inline-start:{_at(low)};inline-size:{_at(_inside(high) - _inside(low))}"></i>'
        )
    point = "" if value is None else f'<b style="inset-inline-start:{_at(value)}"></b>'
    st.html(
        f'<div class="gs-measure" role="img" aria-label="{escape(label)}"><div>{interval}{point}'
        f'<u style="inset-inline-start:{_at(wanted)}"><span>{wanted:g}</span></u></div>'
        "<p><span>0</span><span>1</span></p></div>"
    )


def _row(row: StackRow, legend: Sequence[str], ends: Sequence[float]) -> str:
    name, note = f"<span>{escape(row.name)}</span>", f"<span>{escape(row.note)}</span>"
    if row.counts is None or not sum(row.counts):
        return f'<div class="gs-stack">{name}<span class="empty"></span>{note}</div>'
    whole = sum(row.counts)
    shares = [count / whole for count in row.counts]
    text = ", ".join(
        f"{part} {count:,.0f} ({percent(share)})"
        for part, count, share in zip(legend, row.counts, shares, strict=True)
    )
    parts = ""
    for index, (count, share) in enumerate(zip(row.counts, shares, strict=True)):
        if share:
            label = f"{count:,.0f}" if share >= MIN_LABELLED_SHARE else ""
            parts += f'<i class="p{index % COLOURS + 1}" style="inline-size:{share:.2%}">{label}</i>'
    lines = "".join(f'<b style="inset-inline-start:{_at(end)}"></b>' for end in ends)
    track = (
        f'<span class="track" role="img" aria-label="{escape(f"{row.name}: {text}")}">{parts}{lines}</span>'
    )
    return f'<div class="gs-stack">{name}{track}{note}</div>'


def _inside(value: float) -> float:
    return min(1.0, max(0.0, value))


def _at(value: float) -> str:
    return f"{_inside(value):.2%}"
