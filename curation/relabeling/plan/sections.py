"""The plan of a quarter for people: the sentences and tables that the terminal and the page share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from curation.core.reports.page import QueryName, Table
from curation.core.text import amount, percent, points
from curation.relabeling.plan.stored import ShownPlan
from curation.relabeling.staleness.tables import first

WHY = {
    "random": "random: for the estimate of wrong labels",
    "due": "due: to stay within two years, in plans of earlier versions",
    "stale": "stale: the highest scores",
    "control": "control: undisputed and unchanged, in plans of earlier versions",
}


def plan_sentences(report: Mapping[str, Any]) -> list[str]:
    """What a plan costs, which queries change, and what it leaves out, of a plan as it is stored."""
    lines = [
        f"{amount(report.get('judgments', 0), 'judgment')}. Pairs that systems add when the round is "
        "opened come on top: its preview counts them."
    ]
    if report["retired"] or report["new_queries"]:
        lines.append(
            f"Queries: {amount(report['retired'], 'leaves', 'leave')}, "
            f"{amount(report['new_queries'], 'joins', 'join')} with about "
            f"{amount(report['new_pairs'], 'pair')}."
        )
    if expected := report.get("expected"):
        lines.append(expected_sentence(expected))
    guide = report.get("guide")
    if guide and guide["stale"]:
        lines.append(
            f"{amount(guide['stale'], 'pair has', 'pairs have')} a grade or a vote whose words changed in "
            f"the guide. This plan takes {guide['taken']:,} of them."
        )
    return [
        *lines,
        *(f"Left out: {amount(count, 'pair')} ({why})." for why, count in report["left_out"].items()),
    ]


def expected_sentence(expected: Mapping[str, Any]) -> str:
    """What the random part should find, and what that is computed from."""
    spread = expected["spread"]
    known = f"from {spread['known']:,} random pairs so far" if spread["known"] else "assumed"
    return (
        f"The interval of wrong labels, from {amount(expected['pairs'], 'random pair')}, is at most about "
        f"± {points(expected['half_width'])}. A share that is {points(expected['least'])} higher than in the "
        f"quarter before is found in 4 of 5 cases ({percent(spread['share'])} wrong, correlation "
        f"{spread['correlation']:.2f} within a query: {known})."
    )


def plan_tables(report: Mapping[str, Any]) -> list[Table]:
    """Its pairs by why they are in it, by type, and by when they were judged."""
    parts = tuple((WHY.get(part, part), count) for part, count in report["parts"].items())
    quarters = tuple(report["by_quarter"].items())
    return [
        Table("Pairs by why they are in it", ("Why", "Pairs"), parts),
        Table("Pairs by type", ("Type", "Pairs"), tuple(report["by_type"].items())),
        Table("Pairs by quarter of the last judgment", ("Quarter", "Pairs"), quarters),
    ]


def pair_table(plan: ShownPlan, limit: int) -> Table:
    """The pairs of a plan, with what they were graded."""
    columns = ("Query", "Document", "Title", "Part", "Type", "Grade", "Judged")
    rows = (
        (
            QueryName(pair.text, pair.query_id, pair.document_id),
            *(pair.document_id, pair.title, pair.part, pair.stratum),
            *(pair.how if pair.grade is None else pair.grade, pair.judged or "unknown"),
        )
        for pair in plan.pairs[:limit]
    )
    return Table(first("Pairs", len(plan.pairs), limit), columns, tuple(rows), words=True)


def query_table(plan: ShownPlan, limit: int) -> Table:
    """The queries that leave or join."""
    columns = ("Query", "What", "Why", "Type", "Searches")
    rows = (
        (
            QueryName(query.normalised, plan.query_ids.get(query.normalised, "")),
            *(query.kind, query.reason, query.stratum, query.traffic),
        )
        for query in plan.queries[:limit]
    )
    return Table(first("Queries", len(plan.queries), limit), columns, tuple(rows), words=True)
