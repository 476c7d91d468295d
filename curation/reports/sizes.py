"""Each chart in two sizes, with letters of one height: wide ones by their labels, narrow ones below them.

The style sheet shows the one that fits its container, so that nobody scrolls a chart sideways on a phone.
Printed pages have the wide one.
"""

from __future__ import annotations

from collections.abc import Mapping
from unicodedata import east_asian_width

from markupsafe import Markup

from curation.reports.page import render

NARROW = 352
"""Pixels of a narrow chart: what a phone has besides the page's margins."""
NARROW_LETTERS = 48
"""Letters of a line that is as wide as a narrow chart."""
LINE = 16
"""Pixels from line to line."""


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
