"""`goldset contributions` and `goldset negatives`: what a pool is worth, and its hard negatives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from curation.cli import app, project_store
from curation.cli.output import Json, print_json, say, table

if TYPE_CHECKING:
    from curation.pooling.contributions import Contributions
    from curation.pooling.hard_negatives import HardNegatives, QueryNegatives


@app.command()
def contributions(
    context: typer.Context,
    pool: Annotated[
        str | None,
        typer.Option(help="A pool's id or its beginning.", show_default="the pool built last"),
    ] = None,
    as_json: Json = False,
) -> None:
    """Tell what each system contributed to a pool, and what would be lost without it.

    For each system: the candidates it proposed and those that no other did; after judging, the relevant ones
    among both. A relevant document that one system alone proposed is lost when that system is left out.
    The judged share counts the system's first 10 places.

    \b
    Examples:
      goldset contributions
      goldset contributions --pool 3f9a
      goldset contributions --json
    """
    from curation.pooling.contributions import contributions as find

    report = find(project_store(context), pool)
    if as_json:
        print_json(report)
    else:
        _show_contributions(report)


@app.command()
def negatives(
    context: typer.Context,
    want: Annotated[int, typer.Option(help="Hard negatives wanted for each query; 10 to 20 are usual.")] = 10,
    threshold: Annotated[
        float, typer.Option(help="Jaccard similarity of word 3-grams from which a text is a near-duplicate.")
    ] = 0.8,
    limit: Annotated[int, typer.Option(min=0, help="Rows of each table; --json has all.")] = 20,
    as_json: Json = False,
) -> None:
    """List hard negatives: documents that systems rank high and people judged not relevant.

    The margin counts the ranks from the best relevant document of the same system down to the negative;
    below zero the negative stands above. Near-duplicates of a relevant document are excluded and listed.
    Suspects are unjudged documents that two systems rank above a relevant one: judge them first.

    \b
    Examples:
      goldset negatives
      goldset negatives --want 20 --limit 50
      goldset negatives --threshold 0.7 --json
    """
    from curation.pooling.hard_negatives import hard_negatives

    report = hard_negatives(project_store(context), want, threshold)
    if as_json:
        print_json(report)
    else:
        _show_negatives(report, limit)


def _show_contributions(report: Contributions) -> None:
    table(
        f"Pool {report.pool_id[:8]}: {report.queries:,} queries to depth {report.depth:,}",
        [
            "system",
            "candidates",
            "alone",
            "graded",
            "relevant",
            "lost without",
            "share lost",
            "judged at 10",
            "places",
        ],
        [(*line[:7], line.judged_at_10, line.top) for line in report.systems],
    )
    say(
        f"{report.graded:,} of {report.candidates:,} candidates have a grade; {report.relevant:,} are "
        "relevant (graded above the scale's lowest)."
    )
    if report.random_graded:
        say(
            f"{report.relevant_at_random:,} of {report.random_graded:,} graded pairs that only chance "
            "proposed are relevant."
        )
    for twins in report.twins:
        say(
            f"{' and '.join(twins.systems)} proposed the same candidates, so one covers for the other: "
            f"without all of them {twins.lost:,} relevant ones are lost."
        )
    for reason, count in report.left_out.items():
        say(f"{count:,} candidates: {reason}")


def _show_negatives(report: HardNegatives, limit: int) -> None:
    found = report.queries
    _limited(
        f"{report.negatives:,} hard negatives",
        ["query", "document", "title", "rank", "system", "score", "systems", "margin"],
        [
            (q.text, n.document_id, n.title, n.rank, n.system, n.score, len(n.systems), n.margin)
            for q in found
            for n in q.negatives
        ],
        limit,
    )
    _limited(
        f"{report.near_duplicates:,} more are near-duplicates of a relevant document, and excluded",
        ["query", "document", "relevant", "similarity"],
        [(q.text, *near) for q in found for near in q.near_duplicates],
        limit,
    )
    _limited(
        f"{report.suspects:,} suspects to judge first: systems rank them above a relevant document",
        ["query", "document", "title", "systems: rank < relevant"],
        [(q.text, s.document_id, s.title, _above(s.above)) for q in found for s in q.suspects],
        limit,
    )
    _limited(
        f"{len(found) - report.enough:,} of {len(found):,} queries: fewer than {report.want} hard negatives",
        ["query", "relevant", "hard negatives", "still wanted"],
        [(q.text, q.positives, len(q.negatives), q.missing) for q in _needy(found)],
        limit,
    )
    for reason, count in report.left_out.items():
        say(f"{count:,} {reason}")


def _needy(found: Sequence[QueryNegatives]) -> list[QueryNegatives]:
    return sorted((q for q in found if q.missing), key=lambda q: (-q.missing, q.query_id))


def _above(above: dict[str, tuple[int, int]]) -> str:
    return ", ".join(f"{system}: {rank} < {relevant}" for system, (rank, relevant) in above.items())


def _limited(title: str, columns: Sequence[str], rows: Sequence[tuple[Any, ...]], limit: int) -> None:
    if not rows:
        say(title)
        return
    table(title, columns, rows[:limit])
    if len(rows) > limit:
        say(f"… and {len(rows) - limit:,} more: --limit shows more of them, --json all.")
