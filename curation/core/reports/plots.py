"""Plots that compare several series, as SVG.

Each series has a different shape and a different colour, so that a page printed in black and white can be
read. Colours are the classes s1 to s6 of the page around a plot. Sizes are pixels of the viewBox. Each plot
is drawn for wide and for narrow containers (`sizes`).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, floor, log10
from typing import NamedTuple

from markupsafe import Markup

from curation.core.reports.charts import LINE, NARROW, NARROW_LETTERS, Axis, Mark, in_two_sizes, lines

# Disc, square, triangle, diamond, cross, ring: outlines around (0, 0)
SHAPES = (
    "M-5 0a5 5 0 1 0 10 0a5 5 0 1 0-10 0z",
    "M-4.5-4.5h9v9h-9z",
    "M0-5.5L5.5 4.5H-5.5z",
    "M0-6L6 0L0 6L-6 0z",
    "M-5-3l2-2 3 3 3-3 2 2-3 3 3 3-2 2-3-3-3 3-2-2 3-3z",
    "M-5.5 0a5.5 5.5 0 1 0 11 0a5.5 5.5 0 1 0-11 0zM-2.5 0a2.5 2.5 0 1 1 5 0a2.5 2.5 0 1 1-5 0z",
)
DASHES = ("", "7 3", "2 3", "9 3 2 3", "1 4", "5 2 1 2 1 2")
MAX_SERIES = len(SHAPES)

_WIDTH = 800
_LEFT, _PLOT = 230, 350
_SQUARE = 430
_NARROW_SQUARE = NARROW - 76
_MARGIN = 64
_BAR = 30


class DotRow(NamedTuple):
    """One row of a dot plot, with a mark for each series."""

    name: str
    size: str
    marks: Sequence[Mark]


class PlotPoint(NamedTuple):
    """One point of a plot: a point with a label is drawn larger, and `key` tells a page which point was
    clicked.
    """

    x: float
    y: float
    description: str
    label: str = ""
    key: str = ""


class PlotCurve(NamedTuple):
    """A curve through points (x, y) in order, with y from 0 to 1, and a marked point on the curve."""

    name: str
    points: Sequence[tuple[float, float]]
    marked: tuple[float, float] | None = None


def dot_plot(title: str, series: Sequence[str], rows: Sequence[DotRow], line: float | None = None) -> Markup:
    """Draw a dot plot: for each row and series a dot at the figure, and the interval as a line.

    Parameters
    ----------
    series: at most `MAX_SERIES` names; a series named '' has no legend.
    line: a value at which a line is drawn through all rows, such as 0 for differences.
    """
    marks = [mark for row in rows for mark in row.marks]
    ends = [
        end
        for mark in marks
        for end in (mark.estimate.low, mark.estimate.value, mark.estimate.high)
        if end is not None
    ]
    shown = [name for name in series if name]
    axis = _axis([*ends, *([] if line is None else [line])], _LEFT, _PLOT)
    values = {"title": title, "names": list(enumerate(shown)), "shapes": SHAPES, "line": line}
    return in_two_sizes("dots.svg", _dots_beside(shown, rows, axis), _dots_below(shown, rows, axis), **values)


def scatter(title: str, across: str, up: str, points: Sequence[PlotPoint]) -> Markup:
    """Draw points of two series from 0 to 1, and the diagonal of equal values."""
    ordered = sorted(points, key=lambda point: bool(point.label))
    wide, narrow = (
        {**_axes(side), "width": _MARGIN + side + 12, "height": side + 52}
        for side in (_SQUARE, _NARROW_SQUARE)
    )
    return in_two_sizes("scatter.svg", wide, narrow, title=title, across=across, up=up, points=ordered)


def curves(
    title: str, across: str, up: str, plotted: Sequence[PlotCurve], widest: float | None = None
) -> Markup:
    """Draw at most `MAX_SERIES` curves in a square from 0 to 1, with the diagonal.

    Parameters
    ----------
    widest: the largest x if x is no share; the plot then has no diagonal.
    """
    wide = {"width": _WIDTH, "height": _SQUARE + 52, "beside": _MARGIN + _SQUARE + 30, "named": 20}
    below = _NARROW_SQUARE + 68
    narrow = {"width": NARROW, "height": below + 24 * len(plotted), "beside": 0, "named": below}
    return in_two_sizes(
        "curves.svg",
        {**_axes(_SQUARE, widest), **wide},
        {**_axes(_NARROW_SQUARE, widest), **narrow},
        title=title,
        across=across,
        up=up,
        curves=list(enumerate(plotted)),
        shapes=SHAPES,
        dashes=DASHES,
    )


def shares(title: str, legend: tuple[str, str], rows: Sequence[Mark]) -> Markup:
    """Draw bars of equal length: the filled part is the share, the outlined part the rest; `size` is a
    remark.
    """
    x = Axis(0, 1, _LEFT, _PLOT)
    wide = {"width": _WIDTH, "x": x, "drop": 0, "letters": 28, **_bars(rows, _BAR)}
    below = {"width": NARROW, "x": x._replace(begin=0, length=NARROW - 60), "drop": LINE + 2}
    narrow = {**below, "letters": NARROW_LETTERS, **_bars(rows, _BAR + LINE + 2)}
    return in_two_sizes("shares.svg", wide, narrow, title=title, legend=legend)


def _dots_beside(shown: Sequence[str], rows: Sequence[DotRow], axis: Axis) -> dict[str, object]:
    """Place dots next to the names of their rows."""
    step = _WIDTH // max(1, len(shown))
    begin = top = 34 if shown else 8
    placed = []
    for row in rows:
        placed.append({"row": row, "lines": [row.name], "top": top + 12, "size": top + 12, "first": top + 8})
        top += 16 * len(row.marks) + 14
    places = {"width": _WIDTH, "height": top + 26, "x": axis, "spans": [(begin, top)]}
    legend = [(8 + step * number, 10) for number in range(len(shown))]
    return {"rows": placed, "legend": legend, "letters": step // 9, "row_letters": 28, **places}


def _dots_below(shown: Sequence[str], rows: Sequence[DotRow], axis: Axis) -> dict[str, object]:
    """Place dots below the names of their rows, with room for the figures."""
    top = 20 * len(shown) + 8
    placed, spans = [], []
    for row in rows:
        name = lines(row.name, NARROW_LETTERS, 3)
        size = top + 12 + LINE * len(name)
        first = size + 12 if row.size else size - 4
        placed.append({"row": row, "lines": name, "top": top + 12, "size": size, "first": first})
        spans.append((first - 8, first + 16 * len(row.marks) - 8))
        top = first + 16 * len(row.marks) + 6
    places = {"width": NARROW, "height": top + 26, "x": axis._replace(begin=16, length=156), "spans": spans}
    legend = [(8, 10 + 20 * number) for number in range(len(shown))]
    letters = {"letters": NARROW_LETTERS - 4, "row_letters": NARROW_LETTERS}
    return {"rows": placed, "legend": legend, **letters, **places}


def _axes(side: int, widest: float | None = None) -> dict[str, object]:
    """Make the two axes of a square plot, with equally many ticks."""
    step = _choose_step(widest / 4, (1, 2, 2.5, 5, 10)) if widest else 0.25
    x, y = Axis(0, 4 * step, _MARGIN, side, step), Axis(0, 1, 8 + side, -side)
    ticks = list(zip(x.ticks, y.ticks, strict=True))
    return {"x": x, "y": y, "ticks": ticks, "diagonal": not widest, "letters": side // 7}


def _bars(rows: Sequence[Mark], high: int) -> dict[str, object]:
    placed = [(34 + high * number, row) for number, row in enumerate(rows)]
    return {"height": 34 + high * len(rows), "rows": placed}


def _axis(values: Sequence[float], begin: float, length: float) -> Axis:
    """Make an axis with round ends around the values."""
    low, high = min(values, default=0.0), max(values, default=1.0)
    span = max(high - low, 0.05)
    step = _choose_step(span / 5, (1, 2, 5, 10))
    start, end = floor(low / step + 1e-9) * step, ceil(high / step - 1e-9) * step
    return Axis(start, max(end, start + step), begin, length, step)


def _choose_step(least: float, factors: Sequence[float]) -> float:
    """Choose the smallest step of at least `least`: a power of ten times one of the factors."""
    power = 10 ** floor(log10(least))
    step: float = next(power * factor for factor in factors if power * factor >= least)
    return step
