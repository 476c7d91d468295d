"""The stacked bars on the page Releases, which show shares of a whole."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import NamedTuple

import streamlit as st

from curation.core.text import percent

MIN_LABELLED_SHARE = 0.07
COLOUR_COUNT = 6
"""Number of colors of the style sheet; further parts of a bar use the colors again."""


class BarRow(NamedTuple):
    """A stacked bar of counts in the order of the legend; `note` is written after the bar."""

    name: str
    counts: Sequence[float] | None
    note: str = ""


def draw_bars(label: str, legend: Sequence[str], rows: Sequence[BarRow], goals: Sequence[float] = ()) -> None:
    """Show a stacked bar of equal length for each row, divided by the shares of the parts.

    Parameters
    ----------
    goals: the requested shares of the parts; lines through the bars show where each part should end.
    """
    legend_html = "".join(
        f'<span class="p{index % COLOUR_COUNT + 1}">{escape(name)}</span>'
        for index, name in enumerate(legend)
    )
    target_ends = [sum(goals[: index + 1]) for index in range(len(goals) - 1)]
    bars = "".join(_bar_html(row, legend, target_ends) for row in rows)
    st.html(
        f'<div class="gs-stacks" role="group" aria-label="{escape(label)}">'
        f'<p class="gs-legend" aria-hidden="true">{legend_html}</p>{bars}</div>'
    )


def draw_part_bars(
    label: str, legend: Sequence[str], queries: Mapping[str, int], grades: Mapping[str, int]
) -> None:
    """Show a bar of queries and a bar of grades, each divided by part in the order of `queries`."""
    by_part = {"Queries": list(queries.values()), "Grades": [grades[part] for part in queries]}
    draw_bars(label, legend, [BarRow(name, counts, f"{sum(counts):,}") for name, counts in by_part.items()])


def _bar_html(row: BarRow, legend: Sequence[str], target_ends: Sequence[float]) -> str:
    name, note = f"<span>{escape(row.name)}</span>", f"<span>{escape(row.note)}</span>"
    if row.counts is None or not sum(row.counts):
        return f'<div class="gs-stack">{name}<span class="empty"></span>{note}</div>'
    total = sum(row.counts)
    shares = [count / total for count in row.counts]
    description = ", ".join(
        f"{part} {count:,.0f} ({percent(share)})"
        for part, count, share in zip(legend, row.counts, shares, strict=True)
    )
    parts = ""
    for index, (count, share) in enumerate(zip(row.counts, shares, strict=True)):
        if share:
            number = f"{count:,.0f}" if share >= MIN_LABELLED_SHARE else ""
            parts += f'<i class="p{index % COLOUR_COUNT + 1}" style="inline-size:{share:.2%}">{number}</i>'
    target_lines = "".join(f'<b style="inset-inline-start:{to_css_percent(end)}"></b>' for end in target_ends)
    label = escape(f"{row.name}: {description}")
    track = f'<span class="track" role="img" aria-label="{label}">{parts}{target_lines}</span>'
    return f'<div class="gs-stack">{name}{track}{note}</div>'


def clip_share(value: float) -> float:
    """Return the value, or the nearer of 0 and 1 if it lies outside that range."""
    return min(1.0, max(0.0, value))


def to_css_percent(value: float) -> str:
    """Return a share from 0 to 1 as a CSS length in percent."""
    return f"{clip_share(value):.2%}"
