"""Sentences and tables for a lead who plans a re-labeling."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from curation.core.digests import to_json_value
from curation.core.operation import PlainResult
from curation.core.reports.tables import NumberCell, QueryName, Table
from curation.core.text import percent, pluralize, pluralize_label
from curation.relabeling.calendar import NOT_PLANNED, UNFINISHED
from curation.relabeling.judged_pairs import GONE, SCORE_WEIGHTS
from curation.relabeling.plan import RelabelingPlan
from curation.relabeling.staleness import RelabelingCalendar, SetStaleness
from curation.relabeling.stored_plans import StoredPlan

REASON_OF_PART = {
    "random": "random: to estimate the share of wrong labels",
    "due": "due: to stay within two years, in plans of earlier versions",
    "stale": "stale: the highest scores",
    "control": "control: undisputed and unchanged, in plans of earlier versions",
}
MAX_ROWS = 50
"""Default number of rows that a table shows."""


def make_calendar_table(calendar: RelabelingCalendar) -> Table:
    """Make a table of quarters: how many pairs were last judged in each quarter, and the state of the
    quarter's re-labeling."""
    rows: list[tuple[object, ...]] = []
    for quarter, judged, work in calendar.quarters:
        progress = "" if work is None or work.round is None else f"{work.whole:,} of {work.pairs:,}"
        if judged or work:
            rows.append((quarter, judged, work.state if work else "", progress))
    other_pairs = (("earlier", calendar.older), ("unknown", calendar.unknown))
    rows += [(name, count, "", "") for name, count in other_pairs if count]
    return Table("Calendar", ("Quarter", "Pairs last judged", "Re-labeling", "Pairs done"), tuple(rows))


def list_due(calendar: RelabelingCalendar) -> list[str]:
    """Return sentences about unfinished re-labelings, and about the pairs and queries that are due."""
    lines = [calendar.stale_sentence]
    earlier, work = calendar.unfinished, calendar.work
    if earlier is not None:
        pairs = f"of {pluralize(earlier.pairs, 'pair')}"
        done = pluralize(earlier.whole, f"{pairs} is done.", f"{pairs} are done.")
        lines.append(f"The re-labeling of {earlier.quarter} is still open: {done} Finish or close the round.")
    if work is not None and work.state == UNFINISHED:
        lines.append(
            f"The round {work.round!r} was closed with {work.whole:,} of {pluralize(work.pairs, 'pair')} "
            "judged. The other pairs stay due: reopen the round."
        )
    if not calendar.is_due:
        return lines if calendar.stale else [*lines, f"No re-labeling is due in {calendar.quarter}."]
    state = "not planned yet" if calendar.state == NOT_PLANNED else calendar.state
    reasons = [pluralize_label(count, why) for why, count in calendar.reasons.items()]
    return [*lines, f"Due in {calendar.quarter} ({state}):", *(reasons or ["the open work"])]


def make_stale_query_table(set_staleness: SetStaleness, limit: int) -> Table:
    """Make a table of the queries with the highest staleness."""
    columns = ("Query", "Type", "Pairs", "Changed", "Gone", "Stale", "Oldest (quarters)", "Traffic", "Score")
    rows = tuple(
        (
            *(QueryName(query.text, query.query_id), query.type, query.pairs, query.changed, query.gone),
            *(query.stale, query.oldest, query.traffic.trend, NumberCell(query.score, 2)),
        )
        for query in set_staleness.queries[:limit]
    )
    title = make_counted_title("Queries by score", len(set_staleness.queries), limit)
    return Table(title, columns, rows, words=True)


def make_stale_pair_table(set_staleness: SetStaleness, limit: int) -> Table:
    """Make a table of the stalest pairs that can be judged again, with the parts of their scores."""
    judgeable = [pair for pair in set_staleness.pairs if pair.document != GONE]
    texts = {query.query_id: query.text for query in set_staleness.queries}
    columns = (
        "Query",
        "Document id",
        "Grade",
        "Judged",
        "Score",
        *(name.capitalize() for name in SCORE_WEIGHTS),
    )
    rows = tuple(
        (
            *(QueryName(texts[pair.query_id], *pair.pair), pair.document_id),
            *(pair.how if pair.grade is None else pair.grade, pair.judged or "unknown"),
            *(NumberCell(pair.score, 2), *(NumberCell(pair.parts[name], 2) for name in SCORE_WEIGHTS)),
        )
        for pair in judgeable[:limit]
    )
    return Table(make_counted_title("Pairs by score", len(judgeable), limit), columns, rows, words=True)


def make_new_query_table(set_staleness: SetStaleness, limit: int) -> Table:
    """Make a table of the queries that only the newest query logs contain."""
    title = make_counted_title("Queries that are new", len(set_staleness.new_queries), limit)
    return Table(title, ("Logged text", "Searches"), set_staleness.new_queries[:limit], words=True)


def describe_due(set_staleness: SetStaleness, limit: int = MAX_ROWS) -> PlainResult:
    """Describe the staleness of the gold set, and the re-labeling that is due."""
    calendar = set_staleness.calendar
    remarks = []
    if not set_staleness.has_new_traffic:
        remarks.append("No log was imported since the sample was drawn, so the current traffic is unknown.")
    if calendar.renewed_share is not None:
        renewed = f"{pluralize(calendar.renewed, 'pair')} ({percent(calendar.renewed_share, 1)})"
        remarks.append(f"Pairs judged again in the last four quarters: {renewed}.")
    return PlainResult(
        (
            f"{set_staleness.quarter}: {pluralize(len(set_staleness.pairs), 'judged pair')} of the project.",
            *remarks,
            *list_due(calendar),
            *_list_sealed_sentences(set_staleness.sealed),
        ),
        (
            make_calendar_table(calendar),
            make_stale_query_table(set_staleness, limit),
            make_stale_pair_table(set_staleness, limit),
            make_new_query_table(set_staleness, limit),
        ),
    )


def describe_plan(plan: RelabelingPlan, dry_run: bool = False) -> PlainResult:
    """Describe a re-labeling plan that was just made."""
    report = to_json_value(plan)
    set_pairs = pluralize(plan.set_pairs, "pair")
    following = "goldgrade relabel plan --stored PLAN, then goldgrade relabel open --annotators NAMES"
    return PlainResult(
        (
            f"Plan {plan.plan_id[:8]} of {plan.quarter}: {plan.pairs:,} of {set_pairs} "
            f"({percent(plan.fraction_of_pairs, 1)} of the pairs that can be judged).",
            *list_plan_facts(report),
            f"Each pair had a probability of {plan.inclusion_probability:.3f} of being drawn at random.",
            "Nothing was stored." if dry_run else f"Next: {following}",
        ),
        tuple(make_plan_tables(report)),
    )


def describe_stored_plan(plan: StoredPlan, limit: int = MAX_ROWS) -> PlainResult:
    """Describe the pairs and queries of a stored re-labeling plan."""
    state = f"opened as {plan.round}" if plan.round else "not opened"
    return PlainResult(
        (
            f"Plan {plan.plan_id[:8]} of {plan.quarter}, {state}: {pluralize(len(plan.pairs), 'pair')}.",
            *list_plan_facts(plan.report),
            *_list_sealed_sentences(plan.sealed),
        ),
        (make_plan_pair_table(plan, limit), make_plan_query_table(plan, limit)),
    )


def make_counted_title(title: str, count: int, limit: int) -> str:
    """Return the caption of a table that shows at most `limit` of `count` rows."""
    return f"{title}: the first {limit:,} of {count:,}" if count > limit else f"{title}: {count:,}"


def list_plan_facts(report: Mapping[str, Any]) -> list[str]:
    """Return sentences on a stored plan: its number of judgments, its changed queries, and the pairs left
    out."""
    lines = [
        f"{pluralize(report.get('judgments', 0), 'judgment')}. This number excludes the pairs that systems "
        "add when the round is opened. The preview of the round includes these pairs."
    ]
    if report["retired"] or report["new_queries"]:
        lines.append(
            f"Queries: {pluralize(report['retired'], 'leaves', 'leave')}, "
            f"{pluralize(report['new_queries'], 'joins', 'join')} with about "
            f"{pluralize(report['new_pairs'], 'pair')}."
        )
    guide = report.get("guide")
    if guide and guide["stale"]:
        lines.append(
            f"{pluralize(guide['stale'], 'pair has', 'pairs have')} a grade or a vote whose words changed in "
            f"the guide. This plan contains {guide['taken']:,} of these pairs."
        )
    lines += (f"Left out: {pluralize(count, 'pair')} ({why})." for why, count in report["left_out"].items())
    return lines


def make_plan_tables(report: Mapping[str, Any]) -> list[Table]:
    """Make tables of the planned pairs by reason, by type and by quarter of the last judgment."""
    parts = tuple((REASON_OF_PART.get(part, part), count) for part, count in report["parts"].items())
    return [
        Table("Pairs by reason", ("Why", "Pairs"), parts),
        Table("Pairs by type", ("Type", "Pairs"), tuple(report["by_type"].items())),
        Table("Pairs by quarter of last judgment", ("Quarter", "Pairs"), tuple(report["by_quarter"].items())),
    ]


def make_plan_pair_table(plan: StoredPlan, limit: int) -> Table:
    """Make a table of the pairs of a re-labeling plan with their grades."""
    columns = ("Query", "Document", "Title", "Part", "Type", "Grade", "Judged")
    rows = (
        (
            QueryName(pair.text, pair.query_id, pair.document_id),
            *(pair.document_id, pair.title, pair.part, pair.stratum),
            *(pair.how if pair.grade is None else pair.grade, pair.judged or "unknown"),
        )
        for pair in plan.pairs[:limit]
    )
    return Table(make_counted_title("Pairs", len(plan.pairs), limit), columns, tuple(rows), words=True)


def make_plan_query_table(plan: StoredPlan, limit: int) -> Table:
    """Make a table of the queries that leave or join the set."""
    columns = ("Query", "What", "Why", "Type", "Searches")
    rows = (
        (
            QueryName(query.normalised, plan.query_ids.get(query.normalised, "")),
            *(query.kind, query.reason, query.stratum, query.traffic),
        )
        for query in plan.queries[:limit]
    )
    return Table(make_counted_title("Queries", len(plan.queries), limit), columns, tuple(rows), words=True)


def _list_sealed_sentences(pairs: int) -> list[str]:
    sealed = pluralize(pairs, "pair is", "pairs are")
    return [f"{sealed} in parts that a release seals, so their grades are not shown."] if pairs else []
