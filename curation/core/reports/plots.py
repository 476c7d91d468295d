"""Plots of several series as SVG: dots with intervals, points and curves.

Each series has a different shape and a different colour, so that a page printed in black and white can be
read. Colours are the classes s1 to s6 of the page around a plot. Sizes are pixels of the viewBox. Each plot
is drawn for wide and for narrow containers (`sizes`).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, floor, log10
from typing import NamedTuple

from markupsafe import Markup

from curation.core.reports.charts import LINE, NARROW, NARROW_LETTERS, Axis, Mark, render_two_sizes, wrap_text

# Outlines of disc, square, triangle, diamond, cross and ring around (0, 0)
MARK_OUTLINES = (
    "M-5 0a5 5 0 1 0 10 0a5 5 0 1 0-10 0z",
    "M-4.5-4.5h9v9h-9z",
    "M0-5.5L5.5 4.5H-5.5z",
    "M0-6L6 0L0 6L-6 0z",
    "M-5-3l2-2 3 3 3-3 2 2-3 3 3 3-2 2-3-3-3 3-2-2 3-3z",
    "M-5.5 0a5.5 5.5 0 1 0 11 0a5.5 5.5 0 1 0-11 0zM-2.5 0a2.5 2.5 0 1 1 5 0a2.5 2.5 0 1 1-5 0z",
)
LINE_DASHES = ("", "7 3", "2 3", "9 3 2 3", "1 4", "5 2 1 2 1 2")
MAX_SERIES = len(MARK_OUTLINES)

_WIDTH = 800  # width of a wide plot, in pixels; a narrow plot has `NARROW` pixels
_PLOT_BEGIN, _PLOT_LENGTH = 230, 350
_SIDE = 430
_NARROW_SIDE = NARROW - 76
_MARGIN = 64  # space to the left of a square plot, for the labels of the vertical axis


class DotRow(NamedTuple):
    """One row of a dot plot, with a mark for each series."""

    name: str
    size: str
    marks: Sequence[Mark]


class PlotPoint(NamedTuple):
    """A point of a scatter plot; a point with a label is larger. A page receives the key of a clicked
    point."""

    x: float
    y: float
    description: str
    label: str = ""
    key: str = ""


class PlotCurve(NamedTuple):
    """A curve through points (x, y) in order, with y from 0 to 1."""

    name: str
    points: Sequence[tuple[float, float]]


def draw_dot_plot(
    title: str, series: Sequence[str], rows: Sequence[DotRow], line: float | None = None
) -> Markup:
    """Draw a dot plot: for each row and series a dot at the value, and the interval as a line.

    Parameters
    ----------
    series: at most `MAX_SERIES` names; a series named '' has no legend.
    line: a value at which a line is drawn through all rows, such as 0 for differences.
    """
    estimates = [mark.estimate for row in rows for mark in row.marks]
    values = [
        line,
        *(value for estimate in estimates for value in (estimate.low, estimate.value, estimate.high)),
    ]
    axis = _make_axis([value for value in values if value is not None], _PLOT_BEGIN, _PLOT_LENGTH)
    legend_names = [name for name in series if name]
    return render_two_sizes(
        "dots.svg",
        _place_dots_beside(legend_names, rows, axis),
        _place_dots_below(legend_names, rows, axis),
        title=title,
        names=list(enumerate(legend_names)),
        shapes=MARK_OUTLINES,
        line=line,
    )


def draw_scatter_plot(title: str, across: str, up: str, points: Sequence[PlotPoint]) -> Markup:
    """Draw points with two values from 0 to 1, and the diagonal of equal values.

    Parameters
    ----------
    across, up: the labels of the horizontal and the vertical axis.
    """
    labelled_last = sorted(points, key=lambda point: bool(point.label))
    wide, narrow = (
        {**_make_square_axes(side), "width": _MARGIN + side + 12, "height": side + 52}
        for side in (_SIDE, _NARROW_SIDE)
    )
    return render_two_sizes(
        "scatter.svg", wide, narrow, title=title, across=across, up=up, points=labelled_last
    )


def draw_curves(
    title: str, across: str, up: str, plot_curves: Sequence[PlotCurve], largest_x: float
) -> Markup:
    """Draw at most `MAX_SERIES` curves in a square, with a mark at the last point of each curve."""
    legend_x, legend_y = _MARGIN + _SIDE + 30, _NARROW_SIDE + 68
    wide = {"width": _WIDTH, "height": _SIDE + 52, "legend_x": legend_x, "legend_y": 20}
    height = legend_y + 24 * len(plot_curves)
    narrow = {"width": NARROW, "height": height, "legend_x": 0, "legend_y": legend_y}
    return render_two_sizes(
        "curves.svg",
        {**_make_square_axes(_SIDE, largest_x), **wide},
        {**_make_square_axes(_NARROW_SIDE, largest_x), **narrow},
        title=title,
        across=across,
        up=up,
        curves=list(enumerate(plot_curves)),
        shapes=MARK_OUTLINES,
        dashes=LINE_DASHES,
    )


def _place_dots_beside(legend_names: Sequence[str], rows: Sequence[DotRow], axis: Axis) -> dict[str, object]:
    """Place the dots of a wide plot next to the names of their rows."""
    legend_step = _WIDTH // max(1, len(legend_names))
    begin = 34 if legend_names else 8
    top = begin
    places = []
    for row in rows:
        places.append({"row": row, "lines": [row.name], "top": top + 12, "size": top + 12, "first": top + 8})
        top += 16 * len(row.marks) + 14
    return {
        "rows": places,
        "legend": [(8 + legend_step * index, 10) for index in range(len(legend_names))],
        "letters": legend_step // 9,
        "row_letters": 28,
        "width": _WIDTH,
        "height": top + 26,
        "x": axis,
        "spans": [(begin, top)],
    }


def _place_dots_below(legend_names: Sequence[str], rows: Sequence[DotRow], axis: Axis) -> dict[str, object]:
    """Place the dots of a narrow plot below the names of their rows, with room for the values."""
    top = 20 * len(legend_names) + 8
    places, spans = [], []
    for row in rows:
        name_lines = wrap_text(row.name, NARROW_LETTERS, 3)
        size = top + 12 + LINE * len(name_lines)
        first = size + 12 if row.size else size - 4
        places.append({"row": row, "lines": name_lines, "top": top + 12, "size": size, "first": first})
        spans.append((first - 8, first + 16 * len(row.marks) - 8))
        top = first + 16 * len(row.marks) + 6
    return {
        "rows": places,
        "legend": [(8, 10 + 20 * index) for index in range(len(legend_names))],
        "letters": NARROW_LETTERS - 4,
        "row_letters": NARROW_LETTERS,
        "width": NARROW,
        "height": top + 26,
        "x": axis._replace(begin=16, length=156),
        "spans": spans,
    }


def _make_square_axes(side: int, largest_x: float | None = None) -> dict[str, object]:
    """Make the two axes of a square plot, with equally many ticks."""
    step = _choose_step(largest_x / 4, (1, 2, 2.5, 5, 10)) if largest_x else 0.25
    x, y = Axis(0, 4 * step, _MARGIN, side, step), Axis(0, 1, 8 + side, -side)
    ticks = list(zip(x.ticks, y.ticks, strict=True))
    return {"x": x, "y": y, "ticks": ticks, "diagonal": not largest_x, "letters": side // 7}


def _make_axis(values: Sequence[float], begin: float, length: float) -> Axis:
    """Make an axis with round ends around the values, or from 0 to 1 if there are no values."""
    low, high = min(values, default=0.0), max(values, default=1.0)
    step = _choose_step(max(high - low, 0.05) / 5, (1, 2, 5, 10))
    start = floor(low / step + 1e-9) * step
    end = ceil(high / step - 1e-9) * step
    return Axis(start, max(end, start + step), begin, length, step)


def _choose_step(minimum: float, factors: Sequence[float]) -> float:
    """Choose the smallest tick distance that is at least `minimum`: a power of ten times one of the
    factors."""
    power = 10 ** floor(log10(minimum))
    step: float = next(power * factor for factor in factors if power * factor >= minimum)
    return step
