"""Charts: marks are at their values, and what people wrote is text."""

from __future__ import annotations

import pytest

from curation.core.reports.charts import HeatCell, Mark, draw_bars, draw_heat_map, draw_intervals
from curation.core.statistics.estimate import Estimate
from tests.support.svg import HOSTILE, elements


def test_labels_of_an_axis_do_not_overlap() -> None:
    """On an axis from -1 on, the labels 0.667 and 0.8 were written into each other."""
    svg = elements(draw_intervals("alpha", [Mark("a", Estimate(0.0, -1.0, 1.0))], references=(0.667, 0.8)))
    labels = {text.text: text.get("text-anchor") for text in svg.findall("text")}
    assert (labels["0.667"], labels["0.8"], labels["1"]) == ("end", "start", "middle")
    lines = {text.text: text.get("y") for text in svg.findall("text")}
    assert lines["0.5"] == lines["1"] != lines["0.667"] == lines["0.8"], "references have a line of their own"


def test_an_interval_is_drawn_from_its_low_to_its_high_end() -> None:
    svg = elements(
        draw_intervals(
            "t", [Mark("a", Estimate(0.5, 0.25, 0.75)), Mark("b", Estimate(why="too few: 3 of 10"))]
        )
    )
    line, dot = svg.findall(".//rect")
    start, width = float(line.get("x")), float(line.get("width"))
    assert float(dot.get("x")) + 2 == pytest.approx(start + width / 2, abs=0.11)
    axis = {text.text: float(text.get("x")) for text in svg.findall("text")}
    assert start == pytest.approx(axis["0"] + 0.25 * (axis["1"] - axis["0"]), abs=0.11)
    assert "too few: 3 of 10" in "".join(svg.itertext())


def test_a_negative_figure_has_its_place_on_the_scale() -> None:
    svg = elements(draw_intervals("t", [Mark("a", Estimate(-0.4, -0.6, -0.2))]))
    labels = [text.text for text in svg.findall("text")]
    assert "\u22120.5" in labels
    assert "0" in labels


def test_every_chart_escapes_what_people_wrote() -> None:
    marks = [
        Mark(HOSTILE, Estimate(0.5, 0.25, 0.75, why=HOSTILE), HOSTILE),
        Mark(HOSTILE, Estimate(why=HOSTILE)),
    ]
    drawn = [
        draw_intervals(HOSTILE, marks, 0.5, (0.8,)),
        draw_heat_map(HOSTILE, HOSTILE, [HOSTILE], [[HeatCell(0.5, 3, HOSTILE)]]),
        draw_bars(HOSTILE, HOSTILE, (HOSTILE, HOSTILE), [(HOSTILE, (0.5, 0.5))]),
    ]
    for svg in drawn:
        assert "<img" not in svg
        assert HOSTILE in "".join(elements(svg).itertext())


def test_a_narrow_chart_has_each_bar_below_its_whole_name_and_figure() -> None:
    name = "Alpha of useful and above against the rest, navigational queries"
    svg = elements(draw_intervals("t", [Mark(name, Estimate(0.5, 0.25, 0.75), "12 pairs")]), "narrow")
    [group] = svg.findall("g")
    words = [(float(text.get("y")), text.text) for text in group.findall("text")]
    assert " ".join(text for _, text in words[:2]) == name
    assert max(y for y, _ in words) < min(float(rect.get("y")) for rect in group.findall("rect"))


def test_no_letters_of_a_narrow_chart_are_smaller_than_11_pixels_on_a_phone() -> None:
    name = "A stratum with a long name " * 3
    marks = [Mark(name, Estimate(0.5, 0.25, 0.75), "12 pairs")]
    grades = [f"{grade} Highly relevant" for grade in range(4)]
    drawn = [
        draw_intervals("t", marks),
        draw_heat_map("t", "h", grades, [[HeatCell(0.5, 3, "")] * 4] * 4),
        draw_bars("t", "d", ("a", "b"), [(name, (0.5, 0.5))]),
    ]
    widths = [float(elements(svg, "narrow").get("viewBox").split()[2]) for svg in drawn]
    assert all(12 * (390 - 2 * 16) / width >= 11 for width in widths)
