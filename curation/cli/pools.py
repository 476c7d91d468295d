"""`goldset contributions`, `goldset negatives`: what a pool is worth, its hard negatives and their audit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from curation.cli import app, project_store
from curation.cli.output import Json, Seed, print_json, progress_bar, say, table

if TYPE_CHECKING:
    from curation.pooling.audit import AuditOpened
    from curation.pooling.audit_rate import AuditReport
    from curation.pooling.contributions import Contributions
    from curation.pooling.hard_negatives import HardNegatives, QueryNegatives


NEAR_DUPLICATES_SHOWN = 20

negatives = typer.Typer()
app.add_typer(negatives, name="negatives")


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


@negatives.callback(invoke_without_command=True)
def negatives_command(
    context: typer.Context,
    want: Annotated[int, typer.Option(help="Hard negatives wanted for each query; 10 to 20 are usual.")] = 10,
    threshold: Annotated[
        float, typer.Option(help="Jaccard similarity of word 3-grams from which a text is a near-duplicate.")
    ] = 0.8,
    limit: Annotated[int, typer.Option(min=0, help="Rows of each table; --json has all.")] = 20,
    as_json: Json = False,
) -> None:
    """List hard negatives: documents that systems rank high and people judged not relevant; or audit them.

    The margin counts the ranks from the best relevant document of the same system down to the negative;
    below zero the negative stands above. Near-duplicates of a relevant document are excluded and listed.
    Suspects are unjudged documents that two systems rank above a relevant one: judge them first.

    \b
    Examples:
      goldset negatives
      goldset negatives --want 20 --limit 50
      goldset negatives --threshold 0.7 --json
    """
    if context.invoked_subcommand is not None:
        return
    from curation.pooling.hard_negatives import hard_negatives

    report = hard_negatives(project_store(context), want, threshold)
    if as_json:
        print_json(report)
    else:
        _show_negatives(report, limit)


@negatives.command("audit")
def negatives_audit(
    context: typer.Context,
    annotators: Annotated[
        str | None,
        typer.Option(help="Open a round for these annotators, separated by commas; without: report."),
    ] = None,
    round: Annotated[
        str | None,
        typer.Option(
            help="Name of the round to open or to report.",
            show_default="audit-1, audit-2 …; the audit opened last",
        ),
    ] = None,
    size: Annotated[int, typer.Option(help="How many pairs to audit.")] = 100,
    seed: Seed = 0,
    overlap: Annotated[int, typer.Option(help="How many different annotators judge each pair.")] = 1,
    depth: Annotated[int, typer.Option(help="How far down the systems' lists negatives are assumed.")] = 100,
    threshold: Annotated[
        float, typer.Option(help="Jaccard similarity of word 3-grams from which a text is a near-duplicate.")
    ] = 0.8,
    systems: Annotated[
        str | None,
        typer.Option(
            help="Whose lists: bm25, dense, hybrid, run:NAME, separated by commas.",
            show_default="those of the latest pool",
        ),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(
            help="What dense and hybrid embed with, as for the pool.", show_default="the default model"
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Measure how many assumed negatives are relevant: people judge a random part of them.

    With --annotators a blind round opens over pairs that count as not relevant although nobody judged them:
    places within the pool's depth that were not put up (top), places below it (below), and easy negatives
    (random). Annotators see a round like any other, and their judgments count like any others. Without
    --annotators the rate measured so far is told, with its 95 % interval, for each of the three and over all.

    \b
    Examples:
      goldset negatives audit --annotators ada,grace --size 100 --seed 7
      goldset negatives audit --annotators ada --round spring-audit --depth 50 --systems bm25
      goldset negatives audit
      goldset negatives audit --round spring-audit --json
    """
    from curation.pooling.audit import open_audit
    from curation.pooling.audit_rate import audit_report
    from curation.retrieval import DEFAULT_MODEL

    if annotators is None:
        report = audit_report(project_store(context), round)
        print_json(report) if as_json else _show_audit(report)
        return
    with progress_bar() as progress:
        opened = open_audit(
            project_store(context),
            _names(annotators),
            name=round,
            size=size,
            seed=seed,
            overlap=overlap,
            depth=depth,
            threshold=threshold,
            systems=None if systems is None else _names(systems),
            model=model or DEFAULT_MODEL,
            progress=progress,
        )
    print_json(opened) if as_json else _show_audit_opened(opened)


def _names(listed: str) -> list[str]:
    return [name.strip() for name in listed.split(",") if name.strip()]


def _show_audit_opened(audit: AuditOpened) -> None:
    opened = audit.opened
    say(f"Opened {opened.round}: {opened.candidates:,} pairs, {opened.presentations:,} presentations.")
    table(
        f"Assumed negatives of {', '.join(audit.systems)} to depth {audit.depth:,}",
        ["stratum", "pairs", "drawn", "probability"],
        [(*item, item.drawn / item.population if item.population else None) for item in audit.strata],
    )
    for reason, count in opened.left_out.items():
        say(f"{count:,} {reason}")
    if audit.near_duplicates:
        columns = ["query", "document", "relevant", "similarity"]
        table(
            "Near-duplicates kept out (--json has all)",
            columns,
            audit.near_duplicates[:NEAR_DUPLICATES_SHOWN],
        )
    say(f"Next: goldset app; then goldset negatives audit --round {opened.round}")


def _show_audit(report: AuditReport) -> None:
    table(
        f"{report.round}: assumed negatives of {', '.join(report.systems)} to depth {report.depth:,}",
        ["stratum", "pairs", "drawn", "judged", "waiting", "no grade", "relevant", "rate", "95 % interval"],
        [
            (
                *(item.name, item.population, item.drawn, item.judged, item.waiting),
                *(item.cannot_tell + item.disputed, item.false_negatives, item.rate),
                _interval(item.low, item.high),
            )
            for item in report.strata
        ],
    )
    if report.rate is None:
        say(report.why)
    else:
        say(
            f"False-negative rate over all {report.population:,} assumed negatives: {report.rate:.1%} "
            f"(95 % interval {_interval(report.low, report.high)}), from {report.judged:,} judged pairs."
        )
    for found in report.found:
        say(f"relevant: {found.query_id}, {found.document_id} ({found.stratum}): grade {found.grade}")


def _interval(low: float | None, high: float | None) -> str:
    return "–" if low is None or high is None else f"{low:.1%} to {high:.1%}"


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
