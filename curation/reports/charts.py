"""Charts as SVG: figures with intervals, weeks as small multiples, control charts, heat maps and bars.

Each chart takes its colours from the page around it (`currentColor`, and the classes `accent` and
`neutral`), so it is readable in light and dark. Figures are written beside the marks. A figure that is
undefined, or rests on too few, says so in words where its mark would be. Sizes are pixels of the viewBox.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple
from unicodedata import east_asian_width

from markupsafe import Markup

from curation.reports.page import render

_WIDTH = 800
_ROW = 28
_PLOT = 118  # the height of a panel's plot; its name is above it
_BARS_BEGIN, _BARS_WIDTH, _BARS_TOP = 220, 720, 28
_CELL_WIDTH, _CELL_HEIGHT, _HEAT_LEFT, _HEAT_TOP = 104, 46, 150, 46
_LINE = 16
_LETTERS = 30  # of a name on one line beside the bars
_LINES = 6  # of a name beside the bars; the tooltip has all of it


class Mark(NamedTuple):
    """A figure to draw.

    Attributes
    ----------
    note: why it is not drawn, or has no interval; '' else.
    size: what it rests on, as people read it.
    """

    name: str
    value: float | None
    low: float | None
    high: float | None
    note: str = ""
    size: str = ""

    @property
    def has_interval(self) -> bool:
        """Whether both ends are known."""
        return self.low is not None and self.high is not None


class ControlChart(NamedTuple):
    """A control chart to draw: its values in order, its limit, and a description in words."""

    name: str
    values: Sequence[float]
    limit: float
    description: str


@dataclass(frozen=True)
class HeatCell:
    """A cell of a heat map; `share` gives its colour and is None where undefined."""

    share: float | None
    count: int
    description: str


class BarGroup(NamedTuple):
    """A group of bars: one share for each entry of the legend."""

    name: str
    shares: tuple[float, ...]


class _Scale(NamedTuple):
    """Maps values from `start` to 1 to pixels from `begin` on, over `length` (negative: upwards)."""

    start: float
    begin: float
    length: float

    def __call__(self, value: float) -> float:
        return self.begin + (min(1.0, max(self.start, value)) - self.start) / (1 - self.start) * self.length


class _Grid(NamedTuple):
    """Small panels in rows from left to right."""

    high: int
    wide: int = 252
    gap: int = 20

    @property
    def across(self) -> int:
        return (_WIDTH + self.gap) // (self.wide + self.gap)

    def place(self, number: int) -> str:
        row, column = divmod(number, self.across)
        return f"translate({column * (self.wide + self.gap)} {row * self.high})"

    def height(self, panels: int) -> int:
        return -(-panels // self.across) * self.high


class _PlacedBar(NamedTuple):
    name: str
    lines: list[str]
    shares: tuple[float, ...]
    top: int


def intervals(
    title: str, marks: Sequence[Mark], whole: float | None = None, references: Sequence[float] = ()
) -> Markup:
    """Rows with a name, an interval with its figure, and what it rests on.

    Parameters
    ----------
    whole: drawn as a line through all rows: the same figure of everything.
    references: values that the axis marks beside its own ticks.
    """
    start = max(-1.0, _lowest(marks))
    ticks = [value for value in (-1.0, -0.5, 0.0, 0.5, 1.0) if value >= start]
    return render(
        "intervals.svg",
        title=title,
        width=_WIDTH,
        height=_ROW * len(marks) + 34,
        row_height=_ROW,
        x=_Scale(start, 360, 320),
        ticks=[*ticks, *references],
        whole=whole,
        marks=marks,
    )


def weeks(title: str, series: Sequence[tuple[str, Sequence[Mark]]]) -> Markup:
    """A panel for each series, with a mark for each week, all on one scale; marks are named by ISO dates."""
    start = max(-1.0, _lowest([mark for _, marks in series for mark in marks]))
    grid = _Grid(_PLOT + 58)
    scale = _Scale(start, 26 + _PLOT, -_PLOT)
    height = grid.height(len(series))
    return render("weeks.svg", title=title, width=_WIDTH, height=height, grid=grid, y=scale, series=series)


def control_charts(title: str, charts: Sequence[ControlChart]) -> Markup:
    """A panel for each control chart: its values as a line, and its limit as a dashed one."""
    grid = _Grid(_PLOT + 34)
    return render(
        "control_charts.svg",
        title=title,
        width=_WIDTH,
        height=grid.height(len(charts)),
        grid=grid,
        plot=_PLOT,
        bottom=26 + _PLOT,
        charts=charts,
    )


def heat_map(title: str, heading: str, names: Sequence[str], rows: Sequence[Sequence[HeatCell]]) -> Markup:
    """A square table of shares, coloured by them; `heading` is written above the columns."""
    return render(
        "heat_map.svg",
        title=title,
        heading=heading,
        width=_HEAT_LEFT + len(names) * _CELL_WIDTH,
        height=_HEAT_TOP + len(names) * _CELL_HEIGHT + 6,
        left=_HEAT_LEFT,
        top=_HEAT_TOP,
        cell_width=_CELL_WIDTH,
        cell_height=_CELL_HEIGHT,
        names=names,
        rows=rows,
    )


def bars(title: str, description: str, legend: tuple[str, str], rows: Sequence[BarGroup]) -> Markup:
    """Two bars for each row; the longest of all takes the whole width."""
    placed, height = [], _BARS_TOP
    for row in rows:
        lines = _lines(row.name)
        placed.append(_PlacedBar(row.name, lines, row.shares, height))
        height += max(40, _LINE * len(lines) + 8)
    return render(
        "bars.svg",
        title=title,
        description=description,
        width=_BARS_WIDTH,
        height=height,
        begin=_BARS_BEGIN,
        longest=max((share for row in rows for share in row.shares), default=0.0) or 1.0,
        legend=list(zip(("neutral", "accent"), legend, strict=True)),
        rows=placed,
        zip=zip,
    )


def _lowest(marks: Sequence[Mark]) -> float:
    ends = [end for mark in marks for end in (mark.low, mark.value) if end is not None]
    return min([0.0, *ends])


def _lines(name: str) -> list[str]:
    """A name in lines that fit beside the bars; wide East Asian characters count as two letters."""
    lines = [""]
    for word in name.split():
        if lines[-1] and _width(f"{lines[-1]} {word}") > _LETTERS:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".lstrip()
        while _width(lines[-1]) > _LETTERS:
            fits = next(end for end in range(_LETTERS, 0, -1) if _width(lines[-1][:end]) <= _LETTERS)
            lines[-1:] = [lines[-1][:fits], lines[-1][fits:]]
    shown = lines[:_LINES]
    return [*shown[:-1], f"{shown[-1][: _LETTERS // 2 - 1]}…"] if len(lines) > _LINES else lines


def _width(text: str) -> int:
    return sum(2 if east_asian_width(character) in "WF" else 1 for character in text)
