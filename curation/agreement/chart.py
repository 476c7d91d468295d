"""Drawings of agreement: intervals as intervals, weeks as small multiples, the confusion table as a heat map.

Each is one SVG element that takes its colours from the page it stands in (`currentColor`, and `--sample` as
the accent), so that it is readable in light and dark. Figures stand beside the marks, and what is undefined
or rests on too few says so in words where its mark would be.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape
from typing import NamedTuple

from curation.agreement.confusion import Confusion
from curation.agreement.report import RELIABLE, TENTATIVE

_WIDTH = 800
_NAME = 190  # where the scale begins
_PLOT = 310  # how long it is
_ROW = 28
_LETTERS = 27  # of a name; the tooltip has all of it
_PANEL, _TALL, _GAP = 252, 118, 20
_CELL_WIDTH, _CELL_HEIGHT = 104, 46
_ACCENT = "var(--sample, currentColor)"


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


class Course(NamedTuple):
    """A CUSUM to draw: its values in their order, its limit, and all that in words."""

    name: str
    values: Sequence[float]
    limit: float
    told: str


def intervals(title: str, marks: Sequence[Mark], whole: float | None = None) -> str:
    """Rows with a name, an interval with its figure, and what it rests on.

    Parameters
    ----------
    whole: drawn as a line through all rows: the same figure of everything.
    """
    lowest = min([0.0, *(end for mark in marks for end in (mark.low, mark.value) if end is not None)])
    start = max(-1.0, lowest)
    height = _ROW * len(marks) + 34
    rows = "".join(_interval_row(mark, number, start) for number, mark in enumerate(marks))
    through = ""
    if whole is not None:
        at = _place(whole, start)
        through = f'<path d="M{at:.1f} 4V{height - 26}" {_stroke(1.5, 0.7)} stroke-dasharray="4 3"/>'
    return _svg(title, _WIDTH, height, f"{_axis(start, height)}{through}{rows}")


def weeks(title: str, series: Sequence[tuple[str, Sequence[Mark]]]) -> str:
    """A small panel for each series of figures, one above each week; all panels have the same scale."""
    ends = [end for _, marks in series for mark in marks for end in (mark.low, mark.value) if end is not None]
    start = min(0.0, max(-1.0, min(ends, default=0.0)))
    across = (_WIDTH + _GAP) // (_PANEL + _GAP)
    height = ((len(series) + across - 1) // across) * (_TALL + 58)
    panels = []
    for number, (name, marks) in enumerate(series):
        x, y = number % across * (_PANEL + _GAP), number // across * (_TALL + 58)
        panels.append(f'<g transform="translate({x} {y})">{_panel(name, marks, start)}</g>')
    return _svg(title, _WIDTH, height, "".join(panels))


def courses(title: str, people: Sequence[Course]) -> str:
    """A small panel for each CUSUM: the sum after each repeat, and its limit as a dashed line."""
    across = (_WIDTH + _GAP) // (_PANEL + _GAP)
    tall = _TALL + 34
    panels = []
    for number, one in enumerate(people):
        x, y = number % across * (_PANEL + _GAP), number // across * tall
        panels.append(f'<g transform="translate({x} {y})">{_course(one)}</g>')
    return _svg(title, _WIDTH, (len(people) + across - 1) // across * tall, "".join(panels))


def heat(title: str, table: Confusion, names: Sequence[str]) -> str:
    """The confusion table: a row says what others said where one annotator said this."""
    left, top, many = 150, 46, len(table.scale)
    parts = [f'<text x="{left}" y="14" class="figure">Another annotator said</text>']
    for number, name in enumerate(names):
        across = left + number * _CELL_WIDTH + _CELL_WIDTH / 2
        down = top + number * _CELL_HEIGHT + _CELL_HEIGHT / 2 + 4
        parts.append(f'<text x="{across}" y="36" text-anchor="middle">{_short(name, 14)}</text>')
        parts.append(f'<text x="{left - 12}" y="{down}" text-anchor="end">{_short(name, 18)}</text>')
    for row in range(many):
        shares = table.shares[row]
        for column in range(many):
            share = shares[column] if shares is not None else None
            parts.append(_cell(table, names, row, column, share, left, top))
    return _svg(title, left + many * _CELL_WIDTH, top + many * _CELL_HEIGHT + 6, "".join(parts))


def _cell(
    table: Confusion, names: Sequence[str], row: int, column: int, share: float | None, left: int, top: int
) -> str:
    x, y = left + column * _CELL_WIDTH, top + row * _CELL_HEIGHT
    pairs = table.pairs[row][column]
    words = "–" if share is None else f"{share:.0%}"
    told = (
        f"{names[row]} and {names[column]}: {pairs:,} pairs of grades; where one said {names[row]}, {words}"
    )
    strong = f"{0.06 + 0.5 * share:.2f}" if share is not None else "0"
    return (
        f"<g><title>{escape(told)}</title>"
        f'<rect x="{x + 1}" y="{y + 1}" width="{_CELL_WIDTH - 2}" height="{_CELL_HEIGHT - 2}" rx="4" '
        f'style="fill:{_ACCENT}" fill-opacity="{strong}"/>'
        f'<text x="{x + _CELL_WIDTH / 2}" y="{y + 20}" text-anchor="middle">{words}</text>'
        f'<text class="figure" x="{x + _CELL_WIDTH / 2}" y="{y + 36}" text-anchor="middle" '
        f'fill-opacity=".8">{pairs:,}</text></g>'
    )


def _interval_row(mark: Mark, number: int, start: float) -> str:
    y = _ROW * number + 18
    parts = [f'<text x="0" y="{y + 4}">{_short(mark.name, _LETTERS)}</text>']
    after = _NAME + _PLOT + 14
    if mark.value is None:
        parts.append(
            f'<text class="figure" x="{_NAME + 6}" y="{y + 4}" fill-opacity=".8">{escape(mark.note)}</text>'
        )
        return f"<g><title>{escape(mark.name)}</title>{''.join(parts)}</g>"
    words = f"{mark.value:.3f}"
    if mark.low is not None and mark.high is not None:
        low, high = _place(mark.low, start), _place(mark.high, start)
        parts.append(
            f'<rect x="{low:.1f}" y="{y - 4}" width="{max(high - low, 1):.1f}" height="8" rx="4" '
            f'style="fill:{_ACCENT}" fill-opacity=".4"/>'
        )
        words += f"  ({mark.low:.3f} to {mark.high:.3f})"
    at = _place(mark.value, start)
    parts.append(f'<rect x="{at - 2:.1f}" y="{y - 8}" width="4" height="16" rx="2" style="fill:{_ACCENT}"/>')
    parts.append(f'<text class="figure" x="{after}" y="{y + 4}">{words}</text>')
    if mark.size:
        parts.append(
            f'<text class="figure" x="{_WIDTH}" y="{y + 4}" text-anchor="end">{escape(mark.size)}</text>'
        )
    note = f". {mark.note}" if mark.note else ""
    return f"<g><title>{escape(mark.name + note)}</title>{''.join(parts)}</g>"


def _axis(start: float, height: int) -> str:
    """The scale, and the two lines that Krippendorff draws: tentative conclusions, and reliable ones."""
    ticks = [value for value in (-1.0, -0.5, 0.0, 0.5, 1.0) if value >= start]
    parts = [
        f'<path d="M{_place(value, start):.1f} 4V{height - 26}" {_stroke(1, 0.18)}/>'
        f'<text class="figure" x="{_place(value, start):.1f}" y="{height - 8}" text-anchor="middle" '
        f'fill-opacity=".8">{value:g}</text>'
        for value in [*ticks, TENTATIVE, RELIABLE]
    ]
    return "".join(parts)


def _panel(name: str, marks: Sequence[Mark], start: float) -> str:
    def level(value: float) -> float:
        return 26 + (1 - (min(1.0, max(start, value)) - start) / (1 - start)) * _TALL

    width = _PANEL - 34
    step = width / max(len(marks), 1)
    parts = [f'<text x="0" y="14">{_short(name, _LETTERS)}</text>']
    for value in (start if start < 0 else 0.0, 0.5, 1.0):
        parts.append(
            f'<path d="M30 {level(value):.1f}H{_PANEL}" {_stroke(1, 0.18)}/><text class="figure" x="24" '
            f'y="{level(value) + 4:.1f}" text-anchor="end" fill-opacity=".8">{value:.1g}</text>'
        )
    every = max(1, -(-len(marks) // 4))
    for number, mark in enumerate(marks):
        x = 34 + step * (number + 0.5)
        parts.append(_upright(mark, x, min(step * 0.7, 12), level))
        if number % every == 0:
            label = escape(mark.name[5:])
            parts.append(
                f'<text class="figure" x="{x:.1f}" y="{_TALL + 44}" text-anchor="middle" '
                f'fill-opacity=".8">{label}</text>'
            )
    return "".join(parts)


def _course(one: Course) -> str:
    most = max(one.limit * 1.2, *one.values)
    step = _PANEL / max(len(one.values), 1)
    places = [(step * (n + 0.5), 26 + (1 - value / most) * _TALL) for n, value in enumerate(one.values)]
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    limit = 26 + (1 - one.limit / most) * _TALL
    return (
        f'<title>{escape(f"{one.name}. {one.told}")}</title><text x="0" y="14">{_short(one.name, _LETTERS)}'
        f'</text><path d="M0 {limit:.1f}H{_PANEL}" {_stroke(1.5, 0.7)} stroke-dasharray="4 3"/>'
        f'<path d="M0 {26 + _TALL}H{_PANEL}" {_stroke(1, 0.18)}/>'
        f'<polyline points="{line}" style="stroke:{_ACCENT}" stroke-width="2" fill="none"/>'
    )


def _upright(mark: Mark, x: float, width: float, level: Callable[[float], float]) -> str:
    if mark.value is None:
        words = escape(f"{mark.name}: {mark.note}")
        return (
            f'<g><title>{words}</title><text x="{x:.1f}" y="{_TALL + 22}" text-anchor="middle">·</text></g>'
        )
    drawn, told = "", f"{mark.name}: {mark.value:.3f}"
    if mark.low is not None and mark.high is not None:
        top, bottom = level(mark.high), level(mark.low)
        drawn = (
            f'<rect x="{x - width / 2:.1f}" y="{top:.1f}" width="{width:.1f}" '
            f'height="{max(bottom - top, 1):.1f}" rx="3" style="fill:{_ACCENT}" fill-opacity=".4"/>'
        )
        told += f" ({mark.low:.3f} to {mark.high:.3f})"
    drawn += (
        f'<rect x="{x - width / 2 - 2:.1f}" y="{level(mark.value) - 1.5:.1f}" width="{width + 4:.1f}" '
        f'height="3" rx="1.5" style="fill:{_ACCENT}"/>'
    )
    return f"<g><title>{escape(f'{told}, {mark.size}')}</title>{drawn}</g>"


def _place(value: float, start: float) -> float:
    return _NAME + (min(1.0, max(start, value)) - start) / (1 - start) * _PLOT


def _stroke(width: float, opacity: float) -> str:
    return f'stroke="currentColor" stroke-width="{width}" stroke-opacity="{opacity}" fill="none"'


def _short(name: str, letters: int) -> str:
    return escape(name if len(name) <= letters else f"{name[: letters - 1]}…")


def _svg(title: str, width: float, height: float, inside: str) -> str:
    return (
        f'<svg viewBox="0 0 {width:g} {height:g}" style="max-width:{width:g}px" role="img" '
        f'aria-label="{escape(title)}"><title>{escape(title)}</title>{inside}</svg>'
    )
