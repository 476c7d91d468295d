"""Charts of one series as SVG, each in a wide and a narrow version.

Each chart takes its colours from the page around it (`currentColor`, and the classes `accent` and `neutral`),
so it is readable in light and dark. Values are written next to the marks; a value that is undefined or has
too few data is replaced by the reason. Sizes are pixels of the viewBox. Letters have the same height in both
sizes: wide charts have marks next to their labels, narrow charts below. The style sheet shows the size that
fits the container, so that nobody scrolls a chart sideways on a phone. Printed pages show the wide size.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import NamedTuple
from unicodedata import east_asian_width

from markupsafe import Markup

from curation.core.reports.page import render
from curation.core.statistics.estimate import Estimate

_WIDTH = 800
_ROW = 28
_TICK = 28  # minimum distance of two labels of an axis, in pixels
_BARS_BEGIN, _BARS_WIDTH, _BARS_TOP = 220, 720, 28
_CELL_HEIGHT = 46
_LETTERS = 30  # maximum letters in one line of a name beside the bars
_LINES = 6  # maximum lines of a name beside the bars; the tooltip has the whole name
_LABEL = 38  # pixels for a value below an axis
NARROW = 352  # width of a narrow chart in pixels: a phone's screen without the page's margins
NARROW_LETTERS = 48  # number of letters that fit into the width of a narrow chart
LINE = 16  # line height in pixels
BarGroup = tuple[str, tuple[float, float]]  # name, and one share for each entry of the legend


class Mark(NamedTuple):
    """A value to draw in a chart, with its sample size in words."""

    name: str
    estimate: Estimate
    size: str = ""


@dataclass(frozen=True)
class HeatCell:
    """A cell of a heat map; its `share` gives the colour and is None if undefined."""

    share: float | None
    count: int
    description: str


class Axis(NamedTuple):
    """An axis that maps values from `start` to `end` to `length` pixels after `begin` (negative: upwards)."""

    start: float
    end: float
    begin: float
    length: float
    step: float = 0.25

    def __call__(self, value: float) -> float:
        inside = min(self.end, max(self.start, value))
        return self.begin + (inside - self.start) / (self.end - self.start) * self.length

    @property
    def ticks(self) -> list[float]:
        count = round((self.end - self.start) / self.step)
        return [round(self.start + number * self.step, 6) for number in range(count + 1)]

    @property
    def labelled(self) -> list[float]:
        """Return the ticks that get a label: as many as fit on the axis."""
        return self.ticks[:: ceil(_LABEL * (len(self.ticks) - 1) / abs(self.length))]


def draw_intervals(
    title: str, marks: Sequence[Mark], whole: float | None = None, references: Sequence[float] = ()
) -> Markup:
    """Draw a row for each mark with its name, interval, value and sample size.

    Parameters
    ----------
    whole: the same figure for all data together, drawn as a line through all rows.
    references: values that the axis marks in addition to its ticks.
    """
    start = max(-1.0, _lowest(marks))
    ticks = [value for value in (-1.0, -0.5, 0.0, 0.5, 1.0) if value >= start]
    return render_two_sizes(
        "intervals.svg",
        _add_labels(_place_beside(marks, start), ticks, references),
        _add_labels(_place_below(marks, start), ticks, references),
        title=title,
        ticks=[*ticks, *references],
        whole=whole,
    )


def draw_heat_map(
    title: str, heading: str, names: Sequence[str], rows: Sequence[Sequence[HeatCell]]
) -> Markup:
    """Draw a square table of shares as a heat map, with `heading` above the columns."""
    return render_two_sizes(
        "heat_map.svg",
        _place_cells(names, 104, 150, 18),
        _place_cells(names, max(64, (NARROW - 90) // max(1, len(names))), 90, 11),
        title=title,
        heading=heading,
        rows=rows,
        cell_height=_CELL_HEIGHT,
    )


def draw_bars(title: str, description: str, legend: tuple[str, str], rows: Sequence[BarGroup]) -> Markup:
    """Draw two bars for each row; the longest bar has the full width."""
    return render_two_sizes(
        "bars.svg",
        _place_bars_beside(rows),
        _place_bars_below(rows),
        title=title,
        description=description,
        longest=max((share for _, shares in rows for share in shares), default=0.0) or 1.0,
        legend=list(zip(("neutral", "accent"), legend, strict=True)),
        zip=zip,
    )


def render_two_sizes(
    template: str, wide: Mapping[str, object], narrow: Mapping[str, object], **both: object
) -> Markup:
    """Render a chart's template twice, for wide and for narrow containers."""
    sizes = (("wide", wide), ("narrow", narrow))
    return Markup("").join(render(template, size=name, **both, **values) for name, values in sizes)


def wrap_text(text: str, letters: int, most: int) -> list[str]:
    """Wrap a text into at most `most` lines of at most `letters` letters; wide East Asian characters count
    twice."""
    wrapped = [""]
    for word in text.split():
        if wrapped[-1] and _width(f"{wrapped[-1]} {word}") > letters:
            wrapped.append("")
        wrapped[-1] = f"{wrapped[-1]} {word}".lstrip()
        while _width(wrapped[-1]) > letters:
            fits = next(end for end in range(letters, 0, -1) if _width(wrapped[-1][:end]) <= letters)
            wrapped[-1:] = [wrapped[-1][:fits], wrapped[-1][fits:]]
    shown = wrapped[:most]
    return [*shown[:-1], f"{shown[-1][: letters // 2 - 1]}…"] if len(wrapped) > most else wrapped


def _add_labels(
    places: dict[str, object], ticks: Sequence[float], references: Sequence[float]
) -> dict[str, object]:
    """Add an axis's labels to a chart's layout; reference lines have their own row of labels below the
    ticks."""
    x, height = places["x"], places["height"]
    assert isinstance(x, Axis)
    assert isinstance(height, int)
    labels = [(tick, "middle", height - 8) for tick in ticks]
    height += LINE if references else 0
    for reference in references:
        near = [other for other in references if 0 < abs(x(reference) - x(other)) < _TICK]
        anchor = "middle" if not near else "end" if reference < near[0] else "start"
        labels.append((reference, anchor, height - 8))
    return {**places, "height": height, "labels": labels}


def _place_beside(marks: Sequence[Mark], start: float) -> dict[str, object]:
    """Place intervals of a wide chart next to their names and values."""
    rows = []
    for number, mark in enumerate(marks):
        y = _ROW * number + 22
        text = {"lines": [mark.name], "notes": [mark.estimate.why or ""]}
        rows.append({"mark": mark, **text, "top": y, "figure": y, "bar": y - 4})
    height = _ROW * len(marks) + 34
    places = {"x": Axis(start, 1, 360, 320), "begin": 196, "letters": 27, "spans": [(4, height - 26)]}
    return {"rows": rows, "width": _WIDTH, "height": height, **places}


def _place_below(marks: Sequence[Mark], start: float) -> dict[str, object]:
    """Place intervals of a narrow chart below their names and values."""
    rows, spans, top = [], [], LINE
    for mark in marks:
        name = wrap_text(mark.name, NARROW_LETTERS, 3)
        notes = wrap_text(mark.estimate.why or "", NARROW_LETTERS + 4, 4)
        figure = top + LINE * len(name)
        bar = figure + LINE
        text = {"lines": name, "notes": notes}
        rows.append({"mark": mark, **text, "top": top, "figure": figure, "bar": bar})
        if mark.estimate.value is None:
            top = figure + LINE * len(notes) + 8
        else:
            top = figure + 3 * LINE
            spans.append((bar - 10, bar + 10))
    x = Axis(start, 1, 10, NARROW - 20)
    places = {"x": x, "begin": 0, "letters": NARROW_LETTERS, "spans": spans}
    return {"rows": rows, "width": NARROW, "height": top + 12, **places}


def _place_cells(names: Sequence[str], width: int, left: int, letters: int) -> dict[str, object]:
    """Place the cells of a heat map, with names above and next to the cells."""
    above = [wrap_text(name, (width - 4) // 7, 3) for name in names]
    top = 32 + LINE * max(map(len, above), default=1)
    return {
        "above": above,
        "beside": [wrap_text(name, letters, 2) for name in names],
        "width": left + len(names) * width,
        "height": top + len(names) * _CELL_HEIGHT + 6,
        "left": left,
        "top": top,
        "cell_width": width,
    }


def _place_bars_beside(rows: Sequence[BarGroup]) -> dict[str, object]:
    placed, top = [], _BARS_TOP
    for name, shares in rows:
        wrapped = wrap_text(name, _LETTERS, _LINES)
        text = top + (16 if len(wrapped) == 1 else 11)
        placed.append({"name": name, "lines": wrapped, "text": text, "shares": shares, "top": top})
        top += max(40, LINE * len(wrapped) + 8)
    return {"rows": placed, "width": _BARS_WIDTH, "height": top, "begin": _BARS_BEGIN}


def _place_bars_below(rows: Sequence[BarGroup]) -> dict[str, object]:
    placed, top = [], _BARS_TOP
    for name, shares in rows:
        wrapped = wrap_text(name, NARROW_LETTERS, 3)
        bar = top + LINE * len(wrapped) + 2
        placed.append({"name": name, "lines": wrapped, "text": top + 11, "shares": shares, "top": bar})
        top = bar + 13 * len(shares) + 12
    return {"rows": placed, "width": NARROW, "height": top, "begin": 0}


def _lowest(marks: Sequence[Mark]) -> float:
    ends = [end for mark in marks for end in (mark.estimate.low, mark.estimate.value) if end is not None]
    return min([0.0, *ends])


def _width(text: str) -> int:
    return sum(2 if east_asian_width(character) in "WF" else 1 for character in text)
