"""Plots of several series: dots with intervals, points of two series, curves, and stacked shares.

A series has a shape of its own beside its colour, so that a page printed in black and white can be read.
Colours are the classes s1 to s6 of the page around a plot. Sizes are pixels of the viewBox.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, floor, log10
from typing import NamedTuple

from markupsafe import Markup

from curation.reports.charts import Mark
from curation.reports.page import render

SHAPES = (
    "M-5 0a5 5 0 1 0 10 0a5 5 0 1 0-10 0z",
    "M-4.5-4.5h9v9h-9z",
    "M0-5.5L5.5 4.5H-5.5z",
    "M0-6L6 0L0 6L-6 0z",
    "M-5-3l2-2 3 3 3-3 2 2-3 3 3 3-2 2-3-3-3 3-2-2 3-3z",
    "M-5.5 0a5.5 5.5 0 1 0 11 0a5.5 5.5 0 1 0-11 0zM-2.5 0a2.5 2.5 0 1 1 5 0a2.5 2.5 0 1 1-5 0z",
)
"""Disc, square, triangle, diamond, cross, ring: outlines around (0, 0)."""
DASHES = ("", "7 3", "2 3", "9 3 2 3", "1 4", "5 2 1 2 1 2")
MOST_SERIES = len(SHAPES)

_WIDTH = 800
_LEFT, _PLOT = 230, 350
_SQUARE = 430
_MARGIN = 64
_BAR = 30


class DotRow(NamedTuple):
    """One row of a dot plot: a mark for each series, and why there is none in `Mark.note`."""

    name: str
    size: str
    marks: Sequence[Mark]


class PlotPoint(NamedTuple):
    """One point; with a label it is drawn larger and named by it."""

    x: float
    y: float
    description: str
    label: str = ""


class PlotCurve(NamedTuple):
    """A line through points (x, y) in order, each from 0 to 1, and a point on it that is marked."""

    name: str
    points: Sequence[tuple[float, float]]
    marked: tuple[float, float] | None = None


class SharesRow(NamedTuple):
    """A bar from 0 to 1 of which `share` is full; None is unknown."""

    name: str
    share: float | None
    note: str


class _Axis(NamedTuple):
    """Maps values from `start` to `end` to pixels from `begin` on, over `length` (negative: upwards)."""

    start: float
    end: float
    begin: float
    length: float
    step: float

    def __call__(self, value: float) -> float:
        inside = min(self.end, max(self.start, value))
        return self.begin + (inside - self.start) / (self.end - self.start) * self.length

    @property
    def ticks(self) -> list[float]:
        count = round((self.end - self.start) / self.step)
        return [round(self.start + number * self.step, 6) for number in range(count + 1)]


def dot_plot(title: str, series: Sequence[str], rows: Sequence[DotRow], line: float | None = None) -> Markup:
    """For each row and series a dot at its figure, with its interval as a line.

    Parameters
    ----------
    series: at most `MOST_SERIES` names; one that is '' has no legend.
    line: a value that is drawn through all rows, such as 0 for differences.
    """
    marks = [mark for row in rows for mark in row.marks]
    ends = [end for mark in marks for end in (mark.low, mark.value, mark.high) if end is not None]
    shown = [name for name in series if name]
    places, top = [], 34 if shown else 8
    for row in rows:
        places.append(top)
        top += 16 * len(row.marks) + 14
    return render(
        "dots.svg",
        title=title,
        width=_WIDTH,
        height=top + 26,
        bottom=top,
        top=34 if shown else 8,
        x=_axis([*ends, *([] if line is None else [line])], _LEFT, _PLOT),
        legend=list(enumerate(shown)),
        step=_WIDTH // max(1, len(shown)),
        shapes=SHAPES,
        rows=list(zip(places, rows, strict=True)),
        line=line,
    )


def scatter(title: str, across: str, up: str, points: Sequence[PlotPoint]) -> Markup:
    """Points of two series from 0 to 1, and the line where both are equal."""
    x = _Axis(0, 1, _MARGIN, _SQUARE, 0.25)
    y = _Axis(0, 1, 8 + _SQUARE, -_SQUARE, 0.25)
    ordered = sorted(points, key=lambda point: bool(point.label))
    size = {"width": _MARGIN + _SQUARE + 12, "height": _SQUARE + 52}
    return render("scatter.svg", title=title, across=across, up=up, x=x, y=y, points=ordered, **size)


def curves(title: str, across: str, up: str, found: Sequence[PlotCurve]) -> Markup:
    """Lines in a square from 0 to 1, with the diagonal; at most `MOST_SERIES` of them."""
    x = _Axis(0, 1, _MARGIN, _SQUARE, 0.25)
    y = _Axis(0, 1, 8 + _SQUARE, -_SQUARE, 0.25)
    size = {"width": _WIDTH, "height": _SQUARE + 52, "beside": _MARGIN + _SQUARE + 30}
    texts = {"title": title, "across": across, "up": up}
    return render(
        "curves.svg", **texts, x=x, y=y, curves=list(enumerate(found)), shapes=SHAPES, dashes=DASHES, **size
    )


def shares(title: str, legend: tuple[str, str], rows: Sequence[SharesRow]) -> Markup:
    """Bars of one length each: the full part is the share, the outlined part the rest."""
    x = _Axis(0, 1, _LEFT, _PLOT, 0.25)
    height = 34 + _BAR * len(rows)
    placed = [(34 + _BAR * number, row) for number, row in enumerate(rows)]
    return render("shares.svg", title=title, legend=legend, x=x, width=_WIDTH, height=height, rows=placed)


def _axis(values: Sequence[float], begin: float, length: float) -> _Axis:
    """An axis with round ends around the values."""
    low, high = min(values, default=0.0), max(values, default=1.0)
    span = max(high - low, 0.05)
    rough = span / 5
    power = 10 ** floor(log10(rough))
    step = next(power * factor for factor in (1, 2, 5, 10) if power * factor >= rough)
    start, end = floor(low / step + 1e-9) * step, ceil(high / step - 1e-9) * step
    return _Axis(start, max(end, start + step), begin, length, step)
