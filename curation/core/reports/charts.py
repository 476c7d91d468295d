"""Charts as SVG: figures with intervals, weeks as small multiples, heat maps and bars.

Each chart takes its colours from the page around it (`currentColor`, and the classes `accent` and `neutral`),
so it is readable in light and dark. Figures are written next to the marks. A figure that is undefined, or
rests on too few, says so in words where its mark would be. Sizes are pixels of the viewBox. Each is drawn in
two sizes, with letters of one height: for wide containers next to their labels, for narrow ones below them.
The style sheet shows the one that fits its container, so that nobody scrolls a chart sideways on a phone.
Printed pages have the wide one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple
from unicodedata import east_asian_width

from markupsafe import Markup

from curation.core.reports.page import render

if TYPE_CHECKING:
    pass

_WIDTH = 800
_ROW = 28
_TICK = 28
"""Pixels that two labels of an axis need between them."""
_PLOT = 118  # the height of a panel's plot; its name is above it
_BARS_BEGIN, _BARS_WIDTH, _BARS_TOP = 220, 720, 28
_CELL_HEIGHT = 46
NARROW = 352
"""Pixels of a narrow chart: what a phone has besides the page's margins."""
NARROW_LETTERS = 48
"""Letters of a line that is as wide as a narrow chart."""
LINE = 16
"""Pixels from line to line."""


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
    across: int = 3
    gap: int = 20

    def place(self, number: int) -> str:
        row, column = divmod(number, self.across)
        return f"translate({column * (self.wide + self.gap)} {row * self.high})"

    def height(self, panels: int) -> int:
        return -(-panels // self.across) * self.high


class _PlacedBar(NamedTuple):
    name: str
    lines: list[str]
    text: int
    shares: tuple[float, ...]
    top: int


class _PlacedMark(NamedTuple):
    """A mark with its name in lines from `top` on, its figure (or why there is none) and its bar."""

    mark: Mark
    lines: list[str]
    notes: list[str]
    top: int
    figure: int
    bar: int


def intervals(
    title: str, marks: Sequence[Mark], whole: float | None = None, references: Sequence[float] = ()
) -> Markup:
    """Rows with a name, an interval with its figure, and what it rests on.

    Parameters
    ----------
    whole: drawn as a line through all rows: the same figure of everything.
    references: values that the axis marks next to its own ticks.
    """
    start = max(-1.0, _lowest(marks))
    ticks = [value for value in (-1.0, -0.5, 0.0, 0.5, 1.0) if value >= start]
    return in_two_sizes(
        "intervals.svg",
        _labelled(_label_column(marks, start), ticks, references),
        _labelled(_below(marks, start), ticks, references),
        title=title,
        ticks=[*ticks, *references],
        whole=whole,
    )


def _labelled(
    places: dict[str, object], ticks: Sequence[float], references: Sequence[float]
) -> dict[str, object]:
    """The places with the labels of an axis: references have a line of their own, below that of the ticks."""
    x, height = places["x"], places["height"]
    assert isinstance(x, _Scale)
    assert isinstance(height, int)
    labels = [(tick, "middle", height - 8) for tick in ticks]
    height += LINE if references else 0
    for reference in references:
        near = [other for other in references if 0 < abs(x(reference) - x(other)) < _TICK]
        labels.append(
            (reference, "middle" if not near else "end" if reference < near[0] else "start", height - 8)
        )
    return {**places, "height": height, "labels": labels}


def _label_column(marks: Sequence[Mark], start: float) -> dict[str, object]:
    """Intervals next to their names and figures."""
    rows = []
    for number, mark in enumerate(marks):
        y = _ROW * number + 22
        rows.append(_PlacedMark(mark, [mark.name], [mark.note], y, y, y - 4))
    height = _ROW * len(marks) + 34
    x = _Scale(start, 360, 320)
    spans = [(4, height - 26)]
    places = {"x": x, "begin": 196, "letters": 27, "spans": spans}
    return {"rows": rows, "width": _WIDTH, "height": height, **places}


def _below(marks: Sequence[Mark], start: float) -> dict[str, object]:
    """Intervals below their names and figures."""
    rows, top = [], LINE
    for mark in marks:
        name, notes = lines(mark.name, NARROW_LETTERS, 3), lines(mark.note, NARROW_LETTERS + 4, 4)
        figure = top + LINE * len(name)
        rows.append(_PlacedMark(mark, name, notes, top, figure, figure + LINE))
        top = figure + (LINE * len(notes) + 8 if mark.value is None else 3 * LINE)
    spans = [(row.bar - 10, row.bar + 10) for row in rows if row.mark.value is not None]
    x = _Scale(start, 10, NARROW - 20)
    places = {"x": x, "begin": 0, "letters": NARROW_LETTERS, "spans": spans}
    return {"rows": rows, "width": NARROW, "height": top + 12, **places}


def weeks(title: str, series: Sequence[tuple[str, Sequence[Mark]]], joined: bool = False) -> Markup:
    """A panel for each series, with a mark for each week, all on one scale; marks are named by ISO dates.

    Parameters
    ----------
    joined: the figures of a series, none of which is missing, are joined by a line.
    """
    start = max(-1.0, _lowest([mark for _, marks in series for mark in marks]))
    scale = _Scale(start, 26 + _PLOT, -_PLOT)
    return in_two_sizes(
        "weeks.svg", *_grids(_PLOT + 58, len(series)), title=title, y=scale, series=series, joined=joined
    )


def _grids(high: int, panels: int) -> tuple[dict[str, object], dict[str, object]]:
    wide, narrow = _Grid(high), _Grid(high, NARROW, 1)
    return (
        {"width": _WIDTH, "height": wide.height(panels), "grid": wide},
        {"width": NARROW, "height": narrow.height(panels), "grid": narrow},
    )


def heat_map(title: str, heading: str, names: Sequence[str], rows: Sequence[Sequence[HeatCell]]) -> Markup:
    """A square table of shares, coloured by them; `heading` is written above the columns."""
    return in_two_sizes(
        "heat_map.svg",
        _cells(names, 104, 150, 18),
        _cells(names, max(64, (NARROW - 90) // max(1, len(names))), 90, 11),
        title=title,
        heading=heading,
        rows=rows,
        cell_height=_CELL_HEIGHT,
    )


def _cells(names: Sequence[str], width: int, left: int, letters: int) -> dict[str, object]:
    """Where the cells of a heat map are, and its names in lines above and next to them."""
    above = [lines(name, (width - 4) // 7, 3) for name in names]
    top = 32 + LINE * max(map(len, above), default=1)
    return {
        "above": above,
        "beside": [lines(name, letters, 2) for name in names],
        "width": left + len(names) * width,
        "height": top + len(names) * _CELL_HEIGHT + 6,
        "left": left,
        "top": top,
        "cell_width": width,
    }


def bars(title: str, description: str, legend: tuple[str, str], rows: Sequence[BarGroup]) -> Markup:
    """Two bars for each row; the longest of all takes the whole width."""
    return in_two_sizes(
        "bars.svg",
        _bars_beside(rows),
        _bars_below(rows),
        title=title,
        description=description,
        longest=max((share for row in rows for share in row.shares), default=0.0) or 1.0,
        legend=list(zip(("neutral", "accent"), legend, strict=True)),
        zip=zip,
    )


def _bars_beside(rows: Sequence[BarGroup]) -> dict[str, object]:
    placed, top = [], _BARS_TOP
    for row in rows:
        name = lines(row.name, _LETTERS, _LINES)
        placed.append(_PlacedBar(row.name, name, top + (16 if len(name) == 1 else 11), row.shares, top))
        top += max(40, LINE * len(name) + 8)
    return {"rows": placed, "width": _BARS_WIDTH, "height": top, "begin": _BARS_BEGIN}


def _bars_below(rows: Sequence[BarGroup]) -> dict[str, object]:
    placed, top = [], _BARS_TOP
    for row in rows:
        name = lines(row.name, NARROW_LETTERS, 3)
        bar = top + LINE * len(name) + 2
        placed.append(_PlacedBar(row.name, name, top + 11, row.shares, bar))
        top = bar + 13 * len(row.shares) + 12
    return {"rows": placed, "width": NARROW, "height": top, "begin": 0}


def _lowest(marks: Sequence[Mark]) -> float:
    ends = [end for mark in marks for end in (mark.low, mark.value) if end is not None]
    return min([0.0, *ends])


def in_two_sizes(
    template: str, wide: Mapping[str, object], narrow: Mapping[str, object], **both: object
) -> Markup:
    """A chart's template filled in for wide and for narrow containers, one SVG after the other."""
    sizes = (("wide", wide), ("narrow", narrow))
    return Markup("").join(render(template, size=name, **both, **values) for name, values in sizes)


def lines(text: str, letters: int, most: int) -> list[str]:
    """A text in lines of so many letters; wide East Asian characters count as two. After `most` it is cut."""
    found = [""]
    for word in text.split():
        if found[-1] and _width(f"{found[-1]} {word}") > letters:
            found.append("")
        found[-1] = f"{found[-1]} {word}".lstrip()
        while _width(found[-1]) > letters:
            fits = next(end for end in range(letters, 0, -1) if _width(found[-1][:end]) <= letters)
            found[-1:] = [found[-1][:fits], found[-1][fits:]]
    shown = found[:most]
    return [*shown[:-1], f"{shown[-1][: letters // 2 - 1]}…"] if len(found) > most else found


def _width(text: str) -> int:
    return sum(2 if east_asian_width(character) in "WF" else 1 for character in text)
