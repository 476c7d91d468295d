"""Plots: marks are at their values, series differ by shape, and what people wrote is text."""

from __future__ import annotations

import itertools
import re
from xml.etree import ElementTree

import pytest

from curation.core.reports.charts import Mark
from curation.core.reports.plots import (
    MARK_OUTLINES,
    DotRow,
    PlotCurve,
    PlotPoint,
    draw_curves,
    draw_dot_plot,
    draw_scatter_plot,
)
from curation.core.statistics.estimate import Estimate
from tests.support.svg import HOSTILE, elements


def place(path: ElementTree.Element) -> float:
    """Where a shape is across."""
    return float(re.findall(r"translate\(([0-9.]+)", path.get("transform", ""))[0])


def test_a_dot_is_at_its_value_between_the_ends_of_its_interval() -> None:
    rows = [DotRow("head", "12 queries", [Mark("a", Estimate(0.6, 0.5, 0.7))])]
    svg = elements(draw_dot_plot("t", ["a"], rows))
    axis = {text.text: float(text.get("x", "")) for text in svg.findall("text") if text.get("text-anchor")}
    line, dot = svg.findall("g[title]/path")
    low, high = re.findall(r"([0-9.]+) [0-9.]+v6", line.get("d", ""))
    assert float(low) == pytest.approx(axis["0.5"], abs=0.11)
    assert float(high) == pytest.approx(axis["0.7"], abs=0.11)
    assert place(dot) == pytest.approx((float(low) + float(high)) / 2, abs=0.11)


def test_each_series_has_a_shape_of_its_own() -> None:
    marks = [Mark(str(number), Estimate(0.5)) for number in range(len(MARK_OUTLINES))]
    svg = elements(draw_dot_plot("t", [mark.name for mark in marks], [DotRow("r", "", marks)]))
    drawn = [path.get("d") for path in svg.findall("g[title]/path")]
    legend = [path.get("d") for path in svg.findall("g/path") if path.get("d") in MARK_OUTLINES]
    assert drawn == list(MARK_OUTLINES)
    assert set(legend) == set(MARK_OUTLINES)


def test_an_axis_has_round_ends_around_negative_differences() -> None:
    svg = elements(
        draw_dot_plot("t", [""], [DotRow("pair", "", [Mark("", Estimate(-0.031, -0.07, 0.008))])], 0.0)
    )
    ticks = [text.text for text in svg.findall("text") if text.get("text-anchor") == "middle"]
    assert ticks == ["\u22120.08", "\u22120.06", "\u22120.04", "\u22120.02", "0", "0.02"]


def test_a_mark_without_a_value_says_why() -> None:
    svg = draw_dot_plot("t", ["a"], [DotRow("tail", "", [Mark("a", Estimate(why="not shown"))])])
    assert "not shown" in "".join(elements(svg).itertext())


def test_a_point_on_the_diagonal_is_on_the_line() -> None:
    svg = elements(
        draw_scatter_plot("t", "a", "b", [PlotPoint(0.25, 0.25, "q"), PlotPoint(1, 0, "worst", "1")])
    )
    lines = [path.get("d", "") for path in svg.findall("path")]
    x0, y0, x1, y1 = map(float, re.findall(r"[0-9.]+", lines[-1]))
    plain, labelled = svg.findall("g/circle")
    assert float(plain.get("cx", "")) == pytest.approx(x0 + 0.25 * (x1 - x0), abs=0.11)
    assert float(plain.get("cy", "")) == pytest.approx(y0 + 0.25 * (y1 - y0), abs=0.11)
    assert (labelled.get("cx"), labelled.get("cy")) == (f"{x1:.1f}", f"{y0:.1f}")


def test_every_plot_escapes_what_people_wrote() -> None:
    marks = [
        Mark(HOSTILE, Estimate(0.5, 0.25, 0.75, why=HOSTILE), HOSTILE),
        Mark(HOSTILE, Estimate(why=HOSTILE)),
    ]
    drawn = [
        draw_dot_plot(HOSTILE, [HOSTILE, HOSTILE], [DotRow(HOSTILE, HOSTILE, marks)]),
        draw_scatter_plot(HOSTILE, HOSTILE, HOSTILE, [PlotPoint(0.5, 0.5, HOSTILE, HOSTILE)]),
        draw_curves(HOSTILE, HOSTILE, HOSTILE, [PlotCurve(HOSTILE, [(0, 0), (1, 1)])], 1),
    ]
    for svg in drawn:
        assert "<img" not in svg
        assert HOSTILE in "".join(elements(svg).itertext())


def test_a_narrow_plot_has_its_marks_below_names_and_its_figures_inside() -> None:
    marks = [Mark("a", Estimate(0.6, 0.5, 0.7)), Mark("b", Estimate(0.2, 0.1, 0.3))]
    svg = elements(draw_dot_plot("t", ["a", "b"], [DotRow("head", "12 queries", marks)]), "narrow")
    name, size = (
        next(text for text in svg.findall("text") if words in text.itertext())
        for words in ("head", "12 queries")
    )
    dots = [path for path in svg.findall("g[title]/path") if path.get("transform")]
    first = float(dots[0].get("transform", "").split()[-1].rstrip(")"))
    assert float(name.get("y", "")) < float(size.get("y", "")) < first
    assert all(place(dot) < float(svg.get("viewBox", "").split()[2]) / 2 for dot in dots)


def test_figures_below_a_short_axis_leave_room_for_each_other() -> None:
    svg = elements(
        draw_dot_plot("t", [""], [DotRow("pair", "", [Mark("", Estimate(-0.031, -0.07, 0.008))])], 0.0),
        "narrow",
    )
    places = [float(text.get("x", "")) for text in svg.findall("text") if text.get("text-anchor") == "middle"]
    assert all(after - before >= 38 for before, after in itertools.pairwise(places))
