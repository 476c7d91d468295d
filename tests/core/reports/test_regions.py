"""Drawings of regions: marks are where their figures say, shades keep their order, and names are text."""

from __future__ import annotations

from curation.core.reports.regions import RegionMark, region_map
from tests.support.svg import HOSTILE, elements


def marks() -> list[RegionMark]:
    return [
        RegionMark("tea", 10, 4, 0.9, "#region-0"),
        RegionMark("ships", 100, 8, 0.1, "#region-1"),
        RegionMark("moon", 10, 0, None, "#region-2"),
        RegionMark(HOSTILE, 20, 2, None, "#region-3"),
    ]


def test_more_documents_are_right_more_queries_up_and_what_nobody_asked_is_grey_below_all() -> None:
    svg = elements(region_map("t", "nDCG@10", marks(), 0.1))
    places = {
        link.get("href"): (float(circle.get("cx", "")), float(circle.get("cy", "")), link.get("class"))
        for link in svg.findall("a")
        for circle in link.findall("circle")
    }
    tea, ships, moon, other = (places[f"#region-{n}"] for n in range(4))
    assert tea[0] == moon[0] < other[0] < ships[0]
    assert ships[1] < tea[1] < other[1] < moon[1]
    assert [one[2] for one in (tea, ships, moon, other)] == [
        "region v5",
        "region v1",
        "region unasked",
        "region unknown",
    ]


def test_the_diagonal_goes_where_all_regions_together_are() -> None:
    on_it = [RegionMark("a", 10, 1, None, "#"), RegionMark("b", 100, 10, None, "#")]
    svg = elements(region_map("t", "m", on_it, 0.1))
    [line] = [path for path in svg.iter("path") if path.get("stroke-dasharray")]
    circles = [circle for link in svg.findall("a") for circle in link.findall("circle")]
    ends = [f"{circle.get('cx')} {circle.get('cy')}" for circle in circles]
    assert line.get("d") == f"M{ends[0]}L{ends[1]}"
