"""Small figures in one line: answers a day next to the forecast, and a figure with its interval."""

from __future__ import annotations

from datetime import date
from html import escape

from curation.agreement.gate import GateCheck
from curation.labeling.rounds.forecast import DailyAnswers
from curation.text import amount, decimal


def daily_answers(found: DailyAnswers) -> str:
    """HTML: a bar for each of the last days, paler ones for the days to come."""
    most = max([1.0, *(count for _, count in found.given), *(count for _, count in found.expected)])
    bars = [_bar(day, count, most) for day, count in found.given]
    bars += [_bar(day, count, most, "gs-ahead") for day, count in found.expected]
    if not found.expected and not any(count for _, count in found.given):
        return '<p class="gs-quiet">Nobody has answered yet; no forecast yet.</p>'
    today = found.given[-1][1]
    words = f"Answers a day, up to {most:,.0f}; today {today:,}"
    ahead = f"paler: the next {len(found.expected)} as expected" if found.expected else "no forecast yet"
    return (
        f'<div class="gs-days" role="img" aria-label="{words}; {ahead}">{"".join(bars)}</div>'
        f'<p class="gs-quiet">{words}; {ahead}.</p>'
    )


def interval(check: GateCheck) -> str:
    """HTML: ordinal alpha with its 95 % interval on a line from 0 to 1, and what the gate demands."""
    if check.value is None or check.low is None or check.high is None:
        return f'<p class="gs-quiet">Ordinal alpha: {escape(check.why or "not known yet")}.</p>'
    low, value, high, wanted = (_place(one) for one in (check.low, check.value, check.high, check.wanted))
    words = (
        f"Ordinal alpha {decimal(check.value)}, 95 % from {decimal(check.low)} to {decimal(check.high)}, on "
        f"{amount(check.n, 'pair')}; the gate asks that the lower end reach {check.wanted:g}"
    )
    return (
        f'<div class="gs-alpha" role="img" aria-label="{words}"><i style="left:{low:.1f}%;'
        f'width:{max(1.0, high - low):.1f}%"></i><u style="left:{wanted:.1f}%"></u>'
        f'<b style="left:{value:.1f}%"></b></div><p class="gs-quiet">{words}.</p>'
    )


def _bar(day: date, count: float, most: float, kind: str = "") -> str:
    height = 100 * count / most
    return f'<i class="{kind}" style="height:{height:.0f}%" title="{day:%d %b}: {count:,.0f}"></i>'


def _place(value: float) -> float:
    return 100 * min(1.0, max(0.0, value))
