"""The figures on the page Home, as HTML: answers, agreement and the people at work."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, datetime, timedelta
from html import escape

from curation.agreement.gate import GateCheck
from curation.core.text import decimal, percent, pluralize
from curation.labeling.rounds.pace import AnnotatorWork
from curation.operations.workflow.project_workflow import WorkflowState

MAX_ACTIVE_PEOPLE = 12


def draw_daily_answers(answers: Mapping[date, int]) -> str:
    """Draw a bar with the number of answers for each of the last days; the last bar is today's."""
    if not any(answers.values()):
        return '<p class="gs-quiet">Nobody has answered yet.</p>'
    highest = max(answers.values())
    bars = "".join(
        f'<i style="height:{100 * count / highest:.0f}%" title="{day:%d %b}: {count:,}"></i>'
        for day, count in answers.items()
    )
    description = f"Answers per day, up to {highest:,}; today {[*answers.values()][-1]:,}"
    chart = f'<div class="gs-days" role="img" aria-label="{description}">{bars}</div>'
    return f'{chart}<p class="gs-quiet">{description}.</p>'


def draw_interval(check: GateCheck) -> str:
    """Draw ordinal alpha with its 95 % interval and the gate's threshold on a line from 0 to 1."""
    if check.value is None or check.low is None or check.high is None:
        return f'<p class="gs-quiet">Ordinal alpha: {escape(check.why or "not known yet")}.</p>'
    low, value, high, threshold = map(_to_percent, (check.low, check.value, check.high, check.wanted))
    description = (
        f"Ordinal alpha {decimal(check.value)}, 95 % interval {decimal(check.low)} to {decimal(check.high)}, "
        f"on {pluralize(check.n, 'pair')}; the gate requires an interval from {check.wanted:g}"
    )
    return (
        f'<div class="gs-alpha" role="img" aria-label="{description}"><i style="left:{low:.1f}%;'
        f'width:{max(1.0, high - low):.1f}%"></i><u style="left:{threshold:.1f}%"></u>'
        f'<b style="left:{value:.1f}%"></b></div><p class="gs-quiet">{description}.</p>'
    )


def draw_key_figures(workflow_state: WorkflowState, alpha: GateCheck | None, is_waiting: bool = False) -> str:
    """Draw the numbers of judged pairs and disputes, and ordinal alpha unless it is still being computed
    (`is_waiting`)."""
    grades, rounds = workflow_state.grades, workflow_state.rounds
    figure, label = f"{grades.judged:,}", "pairs judged"
    details = f"{pluralize(grades.graded, 'query', 'queries')} with a grade"
    if rounds.open_rounds:
        figure, label = percent(rounds.share), "answered in open rounds"
        details = f"{rounds.answered:,} of {rounds.answered + rounds.unanswered:,} answers · {details}"
    alpha_html = '<div class="gs-alpha"></div><p class="gs-quiet">Ordinal alpha is being computed…</p>'
    if not is_waiting:
        alpha_html = draw_interval(alpha) if alpha else '<p class="gs-quiet">Not enough data yet</p>'
    decided = f"{grades.decided:,} decided so far"
    awaited = (
        f" · {grades.awaiting_opinion:,} waiting for one more opinion" if grades.awaiting_opinion else ""
    )
    return (
        f'<div class="gs-figures">{_make_tile(figure, label, f"<p>{escape(details)}</p>")}'
        f"{_make_tile(decimal(alpha.value if alpha else None), 'ordinal alpha', alpha_html)}"
        f"{_make_tile(f'{grades.disputed:,}', 'disputed pairs', f'<p>{decided}{awaited}</p>')}</div>"
    )


def _make_tile(figure: str, label: str, content: str) -> str:
    return f"<div><b>{escape(figure)}</b> <strong>{escape(label)}</strong>{content}</div>"


def draw_team(work: Sequence[AnnotatorWork], now: datetime) -> str:
    """Draw the people who answered in open rounds, latest first, with their pace and distribution of
    grades."""
    active = [person for person in work if person.answered]
    active.sort(key=lambda person: person.answered[-1], reverse=True)
    if not active:
        return ""
    highest = max((grade for person in active for grade in person.grades), default=0)
    rows = "".join(_draw_person(person, now, highest) for person in active[:MAX_ACTIVE_PEOPLE])
    more = f"<li>and {len(active) - MAX_ACTIVE_PEOPLE:,} more</li>" if len(active) > MAX_ACTIVE_PEOPLE else ""
    note = (
        f"Bars show how often each grade was given, from grade 0 (pale) to {highest} (dark)."
        if highest
        else ""
    )
    return f'<ul class="gs-team" aria-label="Who is at work">{rows}{more}</ul><p class="gs-quiet">{note}</p>'


def _draw_person(work: AnnotatorWork, now: datetime, highest: int) -> str:
    pause = now - work.answered[-1]
    here_class = " class='gs-here'" if pause < timedelta(minutes=10) else ""
    pace = "" if work.hourly is None else f"{work.hourly:,.0f} an hour"
    if work.too_fast:
        pace = "too fast to have read the documents"
    line = " · ".join(filter(None, [_describe_pause(pause), pace]))
    total = sum(work.grades.values())
    distribution = sorted(work.grades.items())
    description = ", ".join(
        f"{'cannot tell' if grade < 0 else f'grade {grade}'} {percent(count / total)}"
        for grade, count in distribution
    )
    bars = "".join(
        f'<i style="flex-grow:{count};opacity:{0.2 + 0.8 * max(grade, 0) / max(highest, 1):.2f}"></i>'
        for grade, count in distribution
        if grade >= 0
    )
    return (
        f'<li{here_class}><b dir="auto">{escape(work.annotator)}</b><span>{line}</span>'
        f'<span class="gs-mix" role="img" title="{description}" aria-label="{description}">{bars}</span></li>'
    )


def _describe_pause(pause: timedelta) -> str:
    minutes = int(pause.total_seconds() // 60)
    if minutes < 1:
        return "now"
    if minutes < 60:
        return f"{minutes} min ago"
    return f"{minutes // 60} h ago" if minutes < 48 * 60 else f"{minutes // (24 * 60)} days ago"


def _to_percent(value: float) -> float:
    return 100 * min(1.0, max(0.0, value))
