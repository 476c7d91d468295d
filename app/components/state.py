"""The state of a project as HTML: stages of the workflow, answers by day, three key figures, active
people.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, datetime, timedelta
from html import escape

from curation.agreement.gate import GateCheck
from curation.core.text import decimal, percent, pluralize
from curation.labeling.rounds.pace import AnnotatorWork
from curation.operations.workflow.project_workflow import WorkflowState
from curation.operations.workflow.stage import STATE_LABELS, State

MAX_PEOPLE = 12
"""Maximum number of people in the list of active people."""

MARKS = {"not begun": "", "at work": "…", "done": "✓", "needs attention": "!"}


def daily_answers(answers: Mapping[date, int]) -> str:
    """Draw a bar of the number of answers for each of the last days; the last bar is today."""
    if not any(answers.values()):
        return '<p class="gs-quiet">Nobody has answered yet.</p>'
    most = max(answers.values())
    bars = "".join(
        f'<i style="height:{100 * count / most:.0f}%" title="{day:%d %b}: {count:,}"></i>'
        for day, count in answers.items()
    )
    words = f"Answers a day, up to {most:,}; today {[*answers.values()][-1]:,}"
    return (
        f'<div class="gs-days" role="img" aria-label="{words}">{bars}</div><p class="gs-quiet">{words}.</p>'
    )


def interval(check: GateCheck) -> str:
    """Draw ordinal alpha with its 95 % interval and the gate's threshold on a line from 0 to 1."""
    if check.value is None or check.low is None or check.high is None:
        return f'<p class="gs-quiet">Ordinal alpha: {escape(check.why or "not known yet")}.</p>'
    low, value, high, wanted = map(_place, (check.low, check.value, check.high, check.wanted))
    words = (
        f"Ordinal alpha {decimal(check.value)}, 95 % from {decimal(check.low)} to {decimal(check.high)}, on "
        f"{pluralize(check.n, 'pair')}; the gate requires a lower end of at least {check.wanted:g}"
    )
    return (
        f'<div class="gs-alpha" role="img" aria-label="{words}"><i style="left:{low:.1f}%;'
        f'width:{max(1.0, high - low):.1f}%"></i><u style="left:{wanted:.1f}%"></u>'
        f'<b style="left:{value:.1f}%"></b></div><p class="gs-quiet">{words}.</p>'
    )


def three_figures(workflow_state: WorkflowState, alpha: GateCheck | None, waiting: bool = False) -> str:
    """Draw the judged pairs, ordinal alpha and the disputes; `waiting` says that alpha is being computed."""
    grades, rounds = workflow_state.grades, workflow_state.rounds
    judged, of = f"{grades.judged:,}", "pairs judged"
    below = f"{pluralize(grades.graded, 'query', 'queries')} with a grade"
    if rounds.open_rounds:
        judged, of = percent(rounds.share), "of open rounds judged"
        below = f"{rounds.answered:,} of {rounds.answered + rounds.unanswered:,} answers · {below}"
    drawn = '<div class="gs-alpha"></div><p class="gs-quiet">Ordinal alpha is being computed…</p>'
    if not waiting:
        drawn = interval(alpha) if alpha else '<p class="gs-quiet">Not enough data yet</p>'
    decided = f"{grades.decided:,} decided so far"
    awaited = f" · {grades.awaiting_opinion:,} with another opinion asked" if grades.awaiting_opinion else ""
    return (
        f'<div class="gs-figures">{_tile(judged, of, f"<p>{escape(below)}</p>")}'
        f"{_tile(decimal(alpha.value if alpha else None), 'ordinal alpha', drawn)}"
        f"{_tile(f'{grades.disputed:,}', 'disputed pairs', f'<p>{decided}{awaited}</p>')}</div>"
    )


def _tile(figure: str, words: str, below: str) -> str:
    return f"<div><b>{escape(figure)}</b> <strong>{escape(words)}</strong>{below}</div>"


def team(work: Sequence[AnnotatorWork], now: datetime) -> str:
    """Draw the people who answered in open rounds, the latest first, with pace and distribution of grades."""
    seen = sorted(
        (person for person in work if person.answered), key=lambda person: person.answered[-1], reverse=True
    )
    if not seen:
        return ""
    highest = max((grade for person in seen for grade in person.grades), default=0)
    people = "".join(_person(person, now, highest) for person in seen[:MAX_PEOPLE])
    more = f"<li>and {len(seen) - MAX_PEOPLE:,} more</li>" if len(seen) > MAX_PEOPLE else ""
    legend = f"Bars show the share of each grade, from 0 (pale) to {highest} (full)." if highest else ""
    return (
        f'<ul class="gs-team" aria-label="Who is at work">{people}{more}</ul><p class="gs-quiet">{legend}</p>'
    )


def _person(work: AnnotatorWork, now: datetime, highest: int) -> str:
    ago = now - work.answered[-1]
    here = " class='gs-here'" if ago < timedelta(minutes=10) else ""
    hourly = "" if work.hourly is None else f"{work.hourly:,.0f} an hour"
    if work.too_fast:
        hourly = "faster than anyone can read"
    line = " · ".join(filter(None, [_ago(ago), hourly]))
    whole = sum(work.grades.values())
    mix = sorted(work.grades.items())
    words = ", ".join(
        f"{'cannot tell' if grade < 0 else f'grade {grade}'} {percent(count / whole)}" for grade, count in mix
    )
    bars = "".join(
        f'<i style="flex-grow:{count};opacity:{0.2 + 0.8 * max(grade, 0) / max(highest, 1):.2f}"></i>'
        for grade, count in mix
        if grade >= 0
    )
    return (
        f'<li{here}><b dir="auto">{escape(work.annotator)}</b><span>{line}</span>'
        f'<span class="gs-mix" role="img" title="{words}" aria-label="{words}">{bars}</span></li>'
    )


def _ago(ago: timedelta) -> str:
    minutes = int(ago.total_seconds() // 60)
    if minutes < 1:
        return "now"
    if minutes < 60:
        return f"{minutes} min ago"
    return f"{minutes // 60} h ago" if minutes < 48 * 60 else f"{minutes // (24 * 60)} days ago"


def _place(value: float) -> float:
    return 100 * min(1.0, max(0.0, value))


def stage_row(
    name: str, state: State, line: str, mark: str, *, said: str = "", figures: str = "", is_next: bool = False
) -> str:
    """Draw a stage of the workflow, or a check, as a row with its state.

    Parameters
    ----------
    mark: the mark to draw if the state has none, such as the number of the stage.
    said: words to show instead of the usual words for the state. figures: HTML below the sentence.
    """
    return (
        f'<section class="gs-step gs-is-{state.replace(" ", "-")}{" gs-next" if is_next else ""}">'
        f'<span class="gs-mark" aria-hidden="true">{MARKS[state] or escape(mark)}</span>'
        f"<h2>{escape(name)}<small>{escape(said or STATE_LABELS.get(state, state))}</small></h2>"
        f'<div><p dir="auto">{escape(line)}</p>{figures}</div></section>'
    )
