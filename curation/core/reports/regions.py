"""A drawing of the regions of a corpus, coloured by their values.

A region is coloured by a value from 0 to 1 in five steps, darker (in dark mode lighter) for higher values, so
that a print in black and white keeps the order. A region without a query is grey; a region with queries and
without a value is an empty circle. Each region links to a page about it. Sizes are pixels.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import log
from typing import NamedTuple

from markupsafe import Markup

from curation.core.characters import isolate
from curation.core.reports.charts import NARROW, render_two_sizes
from curation.core.text import decimal, pluralize

SHADE_STEPS = 5
_WIDTH = 800
_PLOT_LEFT, _PLOT_TOP, _UNASKED_HEIGHT, _PLOT_BOTTOM = 64, 12, 64, 410


class RegionMark(NamedTuple):
    """A region of the corpus to draw.

    Attributes
    ----------
    queries: number of queries about the region.
    value: from 0 to 1; None is unknown.
    link: address of the page about the region.
    x, y: place of the drawn region, in pixels.
    """

    name: str
    documents: int
    queries: int
    value: float | None
    link: str
    x: float = 0.0
    y: float = 0.0

    @property
    def shade(self) -> str:
        """Return the CSS class of the region's colour."""
        if not self.queries:
            return "unasked"
        return "unknown" if self.value is None else f"v{min(SHADE_STEPS, 1 + int(self.value * SHADE_STEPS))}"

    def described(self, measure: str) -> str:
        """Describe the region by its documents, queries and value."""
        value = "nothing was asked" if not self.queries else "not evaluated"
        if self.queries and self.value is not None:
            value = f"{measure} {decimal(self.value)}"
        return (
            f"{isolate(self.name)}: {pluralize(self.documents, 'document')}, "
            f"{pluralize(self.queries, 'query', 'queries')}, {value}"
        )


def region_map(title: str, measure: str, marks: Sequence[RegionMark], proportion: float | None) -> Markup:
    """Draw each region's number of documents against its number of queries, on logarithmic scales; regions
    without queries are at the bottom.

    Parameters
    ----------
    proportion: average number of queries for each document of all regions; the diagonal marks this average.
    """
    return render_two_sizes(
        "region_map.svg",
        _place_on_map(marks, proportion, _WIDTH),
        _place_on_map(marks, proportion, NARROW),
        title=title,
        measure=measure,
        top=_PLOT_TOP,
        floor=_PLOT_BOTTOM - _UNASKED_HEIGHT,
        bottom=_PLOT_BOTTOM,
    )


def _place_on_map(marks: Sequence[RegionMark], proportion: float | None, width: int) -> dict[str, object]:
    most_documents = max((mark.documents for mark in marks), default=1)
    most_queries = max((mark.queries for mark in marks), default=1) or 1
    floor, left, right = _PLOT_BOTTOM - _UNASKED_HEIGHT, _PLOT_LEFT, width - 20

    def across(documents: float) -> float:
        return left + _scale_logarithmically(documents, most_documents) * (right - left)

    def up(queries: float) -> float:
        return floor - _scale_logarithmically(queries, most_queries) * (floor - _PLOT_TOP)

    placed = [
        mark._replace(x=across(mark.documents), y=up(mark.queries) if mark.queries else _place_unasked(index))
        for index, mark in enumerate(marks)
    ]
    return {
        "width": width,
        "left": left,
        "right": right,
        "across": [(value, across(value)) for value in _list_axis_values(most_documents)],
        "up": [(value, up(value)) for value in _list_axis_values(most_queries)],
        "diagonal": _find_diagonal(proportion, most_documents, most_queries, across, up),
        "placed": placed,
        **_place_legend(width, _PLOT_BOTTOM + 76),
    }


def _scale_logarithmically(value: float, most: float) -> float:
    """Map a value to a logarithmic scale: 1 to 0, and `most` to a little less than 1."""
    return log(max(value, 1)) / log(1.15 * max(most, 2))


def _place_unasked(index: int) -> float:
    """Place a region without queries in the bottom row, with small vertical steps between neighbors."""
    return _PLOT_BOTTOM - _UNASKED_HEIGHT / 2 + 8 + 5 * (index % 5 - 2)


def _list_axis_values(most: float) -> list[int]:
    return [value for power in range(7) for value in (10**power, 3 * 10**power) if value <= most]


def _find_diagonal(
    proportion: float | None,
    most_documents: float,
    most_queries: float,
    across: Callable[[float], float],
    up: Callable[[float], float],
) -> tuple[float, float, float, float] | None:
    """Compute the visible part of the line on which regions have the average number of queries per
    document."""
    if not proportion:
        return None
    first, last = max(1.0, 1 / proportion), min(float(most_documents), most_queries / proportion)
    if first >= last:
        return None
    return across(first), up(first * proportion), across(last), up(last * proportion)


def _place_legend(width: int, top: int) -> dict[str, object]:
    """Place the legend of shades, and compute how high the drawing is with this legend."""
    steps = [
        (f"v{step}", f"{(step - 1) / SHADE_STEPS:g}–{step / SHADE_STEPS:g}")
        for step in range(1, SHADE_STEPS + 1)
    ]
    shades = [*steps, ("unknown", "not evaluated"), ("unasked", "nothing asked")]
    across = max(1, width // 112)
    entries = [
        (112 * (number % across), top + 24 + 20 * (number // across), *shade)
        for number, shade in enumerate(shades)
    ]
    return {"legend": entries, "legend_top": top, "height": entries[-1][1] + 8}
