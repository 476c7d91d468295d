"""Charts that are drawn twice, for wide and for narrow containers."""

from __future__ import annotations

import re
from xml.etree import ElementTree

HOSTILE = "<img src=x onerror=alert(1)> & \"'"
"""A name that must be text in a drawing."""


def wide(charts: str) -> str:
    """What is drawn for wide containers; refuses a text without it."""
    drawn = re.findall(r'<svg class="wide".*?</svg>', charts, re.DOTALL)
    assert drawn, "no chart for wide containers"
    assert len(drawn) == charts.count('<svg class="narrow"')
    return "\n".join(drawn)


def elements(charts: str, size: str = "wide") -> ElementTree.Element:
    """The one drawing for containers of a size."""
    [drawing] = ElementTree.fromstring(f"<both>{charts}</both>").findall(f"svg[@class='{size}']")
    return drawing
