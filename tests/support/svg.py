"""Charts that are drawn twice, for wide and for narrow containers."""

from __future__ import annotations

import re


def wide(charts: str) -> str:
    """What is drawn for wide containers; refuses a text without it."""
    drawn = re.findall(r'<svg class="wide".*?</svg>', charts, re.DOTALL)
    assert drawn, "no chart for wide containers"
    assert len(drawn) == charts.count('<svg class="narrow"')
    return "\n".join(drawn)
