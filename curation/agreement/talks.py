"""The section of the page that says what to talk about with whom, and draws the control charts of repeats."""

from __future__ import annotations

from collections.abc import Sequence

from curation.agreement.chart import Course, courses
from curation.agreement.points import FALSE_SHARE
from curation.agreement.sections import ANNOTATORS, Section, Table
from curation.agreement.talking import AnnotatorDetails

HOW = (
    "The charts add up the evidence that repeats were not graded alike: up with each that was not, down with "
    "each that was, never below zero. The dashed limit is crossed in at most 5 % of random orders."
)


def talks(people: Sequence[AnnotatorDetails]) -> Section:
    """Everybody's points, by name; the charts that come nearest to their limit or lie above it first."""
    rows = tuple((one.annotator, point.about, point.sentence) for one in people for point in one.points)
    charts = _charts(people)
    drawn, left = charts[:ANNOTATORS], len(charts) - ANNOTATORS
    more = f" {left:,} more are not drawn; `goldset consistency` has all." if left > 0 else ""
    caption = "Questions to look at together, no verdicts"
    return Section(
        "What to talk about",
        _sentence(people),
        (courses("Control charts of repeats", drawn),) if drawn else (),
        (Table(caption, ("Annotator", "About", "What"), rows, words=True),) if rows else (),
        HOW + more if drawn else "",
    )


def _sentence(people: Sequence[AnnotatorDetails]) -> str:
    if not people:
        return "Nobody has items here."
    named = sum(bool(one.points) for one in people)
    told = (
        f"{named:,} of {len(people):,} annotators: there is something to talk about."
        if named
        else (f"Nothing stands out in the work of {len(people):,} annotator{'s' * (len(people) > 1)}.")
    )
    return f"{told} Where nothing is the matter, at most {FALSE_SHARE:.0%} of people are named all the same."


def _charts(people: Sequence[AnnotatorDetails]) -> list[Course]:
    found = [(one.repeats.cusum, one.annotator) for one in people if one.repeats and one.repeats.cusum]
    return [
        Course(name, chart.values, chart.limit, chart.sentence)
        for chart, name in sorted(found, key=lambda item: (item[0].p, item[1]))
    ]
