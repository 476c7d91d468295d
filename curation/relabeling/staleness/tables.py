"""What is due and what went stale in tables, for the terminal and the page Re-label."""

from __future__ import annotations

from collections.abc import Mapping

from curation.core.reports.page import NumberCell, QueryName, Table
from curation.core.text import amount, counted, percent
from curation.relabeling.staleness.calendar import NOT_PLANNED, UNFINISHED, RelabelingCalendar
from curation.relabeling.staleness.judged_pairs import GONE
from curation.relabeling.staleness.score import WEIGHTS
from curation.relabeling.staleness.staleness import PairStaleness, SetStaleness


def calendar_table(calendar: RelabelingCalendar) -> Table:
    """What was judged and judged again in each quarter, and before."""
    rows: list[tuple[object, ...]] = []
    for quarter in calendar.quarters:
        work = quarter.work
        done = "" if work is None or work.round is None else f"{work.whole:,} of {work.pairs:,}"
        if quarter.judged or work:
            rows.append((quarter.quarter, quarter.judged, work.state if work else "", done))
    before = (("earlier", calendar.older), ("unknown", calendar.unknown))
    rows += [(name, count, "", "") for name, count in before if count]
    return Table("Calendar", ("Quarter", "Pairs last judged", "Re-labeling", "Pairs done"), tuple(rows))


def due_sentences(calendar: RelabelingCalendar) -> list[str]:
    """What is still open, and what there is to do."""
    due, left = calendar.due, calendar.due.unfinished
    lines = [due.stale_sentence]
    if left is not None:
        of = f"of {amount(left.pairs, 'pair')}"
        done = amount(left.whole, f"{of} is", f"{of} are")
        lines.append(
            f"The re-labeling of {left.quarter.name} is still open: {done} done. Finish it, or "
            "close its round."
        )
    if due.own is not None and due.state == UNFINISHED:
        lines.append(
            f"The round {due.own.round!r} was closed with {due.own.whole:,} of "
            f"{amount(due.own.pairs, 'pair')} judged. What was not judged stays due: reopen the round."
        )
    if not due.is_due:
        return lines if due.stale else [*lines, f"Nothing is due in {due.quarter}."]
    state = "not planned yet" if due.state == NOT_PLANNED else due.state
    reasons = [counted(count, why) for why, count in due.reasons.items()]
    return [*lines, f"Due in {due.quarter} ({state}):", *(reasons or ["the open work"])]


def query_table(set_staleness: SetStaleness, limit: int) -> Table:
    """The stalest queries."""
    rows = (
        (
            QueryName(query.text, query.query_id),
            *(
                query.type,
                query.pairs,
                query.changed,
                query.gone,
                query.stale,
                query.oldest,
                query.traffic.trend,
            ),
            NumberCell(query.score, 2),
        )
        for query in set_staleness.queries[:limit]
    )
    columns = ("Query", "Type", "Pairs", "Changed", "Gone", "Stale", "Oldest (quarters)", "Traffic", "Score")
    return Table(
        first("Queries by score", len(set_staleness.queries), limit), columns, tuple(rows), words=True
    )


def pair_table(set_staleness: SetStaleness, limit: int) -> Table:
    """The stalest pairs that can be judged again, with what each part of the score says."""
    listed = [pair for pair in set_staleness.pairs if pair.document != GONE]
    texts = {query.query_id: query.text for query in set_staleness.queries}
    columns = ("Query", "Document id", "Grade", "Judged", "Score", *(name.capitalize() for name in WEIGHTS))
    rows = tuple(_pair(pair, texts) for pair in listed[:limit])
    return Table(first("Pairs by score", len(listed), limit), columns, rows, words=True)


def new_query_table(set_staleness: SetStaleness, limit: int) -> Table:
    """Queries of the traffic that the set does not have."""
    rows = tuple((query.normalised, query.searches) for query in set_staleness.new_queries[:limit])
    title = first("Queries that are new", len(set_staleness.new_queries), limit)
    return Table(title, ("Logged text", "Searches"), rows, words=True)


def expected_table(set_staleness: SetStaleness) -> Table:
    """By the plan's share of the pairs: the interval of wrong labels from its random part, that of four
    quarters pooled, and the rise from one quarter to the next that is found in 4 of 5 cases.
    """
    columns = ("Share", "Pairs", "Interval", "Of a year", "Rise")
    rows = tuple(
        (
            percent(one.fraction),
            one.pairs,
            *(f"± {100 * width:.0f}" for width in both),
            f"{100 * one.least:.0f}",
        )
        for one in set_staleness.expected
        for both in [(one.half_width, one.spread.half_width(4 * one.pairs))]
    )
    return Table("What the random part of a plan can find, in percentage points", columns, rows)


def first(what: str, count: int, limit: int) -> str:
    """The caption of a table with so many rows of all."""
    return f"{what}: the first {limit:,} of {count:,}" if count > limit else f"{what}: {count:,}"


def _pair(pair: PairStaleness, texts: Mapping[str, str]) -> tuple[object, ...]:
    grade = pair.how if pair.grade is None else pair.grade
    parts = (NumberCell(getattr(pair.parts, name), 2) for name in WEIGHTS)
    judged = pair.judged or "unknown"
    name = QueryName(texts[pair.query_id], pair.query_id, pair.document_id)
    return name, pair.document_id, grade, judged, NumberCell(pair.score, 2), *parts
