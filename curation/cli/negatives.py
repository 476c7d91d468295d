"""`goldgrade negatives`: list hard negatives, and audit the assumed ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from curation.cli.options import refuse_by_without, refuse_unused
from curation.cli.output import emit, progress_bar, say, say_withheld, table
from curation.cli.program import By, Json, Limit, SealReason, Seed, app, listed, project_store
from curation.core.text import amount, percent
from curation.store import COMMAND_LINE

if TYPE_CHECKING:
    from curation.negatives.audit import AuditOpened
    from curation.negatives.audit_rate import AuditReport
    from curation.negatives.hard_negatives import HardNegatives, QueryNegatives


NEAR_DUPLICATES_SHOWN = 20

Threshold = Annotated[
    float,
    typer.Option(help="Similarity from which a text is a near-duplicate. It is the Jaccard of word 3-grams."),
]

negatives = typer.Typer()
app.add_typer(negatives, name="negatives")


@negatives.callback(invoke_without_command=True)
def negatives_command(
    context: typer.Context,
    wanted: Annotated[
        int,
        typer.Option("--negatives", help="Number of hard negatives for each query; 10 to 20 are usual."),
    ] = 10,
    threshold: Threshold = 0.8,
    limit: Limit = 20,
    reason: SealReason = None,
    by: By = COMMAND_LINE,
    as_json: Json = False,
) -> None:
    """List hard negatives: ranked high, judged not relevant.

    The margin is the number of ranks from the system's best relevant document down to the negative; it is
    negative where the negative ranks higher. Near-duplicates of a relevant document are excluded and listed.
    Documents outside the filter of their query need no judgment, and are of a kind of their own.
    Suspects are unjudged documents that two systems rank above a relevant one: judge them first. Queries that
    a release seals are listed with --reason only.

    \b
    Examples:
      goldgrade negatives
      goldgrade negatives --negatives 20 --limit 50
      goldgrade negatives --threshold 0.7 --json
    """
    if context.invoked_subcommand is not None:
        refuse_unused(context, f"name options of {context.invoked_subcommand} after it")
        return
    from curation.negatives.hard_negatives import hard_negatives
    from curation.people.seal_access import unseal

    refuse_by_without(context, reason)
    store = project_store()
    report = hard_negatives(store, wanted, threshold, unseal(store, "list hard negatives", reason, by))
    emit(as_json, report, lambda: _show_negatives(report, limit))


@negatives.command("audit")
def negatives_audit(
    context: typer.Context,
    annotators: Annotated[
        str | None,
        typer.Option(
            help="Open a round for these annotators, separated by commas. Without them the last one is "
            "reported."
        ),
    ] = None,
    round: Annotated[
        str | None,
        typer.Option(
            help="Name of the round to open or to report.",
            show_default="audit-1, audit-2 …; the audit opened last",
        ),
    ] = None,
    size: Annotated[int, typer.Option(help="Number of pairs to draw.")] = 100,
    seed: Seed = 0,
    overlap: Annotated[int, typer.Option(help="How many different annotators judge each pair.")] = 1,
    depth: Annotated[int, typer.Option(help="Rank to which documents of lists are assumed negatives.")] = 100,
    threshold: Threshold = 0.8,
    systems: Annotated[
        str | None,
        typer.Option(
            help="Systems whose lists are used, such as bm25 and run:NAME. Separate them by commas. "
            "Others are dense and hybrid.",
            show_default="those of the latest pool",
        ),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(
            help="Embedding model of dense and hybrid, as for the pool.", show_default="the default model"
        ),
    ] = None,
    reason: SealReason = None,
    by: By = COMMAND_LINE,
    as_json: Json = False,
) -> None:
    """Measure on a sample how many assumed negatives are relevant.

    With --annotators it opens a blind round over pairs that count as not relevant although nobody judged
    them. There are three strata: ranks within the pool's depth that are not in the pool (top), ranks below it
    (below), and easy negatives (random). Annotators see a round like any other, and their judgments count.
    Without --annotators it reports the rate measured so far, with its 95 % interval, for each stratum and
    overall. Pairs that a release seals are named with --reason only.

    \b
    Examples:
      goldgrade negatives audit --annotators ada,grace --size 100 --seed 7
      goldgrade negatives audit --annotators ada --round spring-audit --depth 50 --systems bm25
      goldgrade negatives audit
      goldgrade negatives audit --round spring-audit --json
    """
    from curation.negatives.audit import open_audit
    from curation.negatives.audit_rate import audit_report
    from curation.people.seal_access import unseal
    from curation.retrieval import DEFAULT_MODEL

    refuse_by_without(context, reason)
    store = project_store()
    door = unseal(store, "audit assumed negatives", reason, by)
    if annotators is None:
        opens = ("size", "seed", "overlap", "depth", "threshold", "systems", "model")
        refuse_unused(context, "they are for opening an audit; add --annotators", *opens)
        report = audit_report(store, round, door)
        emit(as_json, report, lambda: _show_audit(report))
        return
    with progress_bar() as progress:
        opened = open_audit(
            store,
            listed(annotators),
            name=round,
            size=size,
            seed=seed,
            overlap=overlap,
            depth=depth,
            threshold=threshold,
            systems=None if systems is None else listed(systems),
            model=model or DEFAULT_MODEL,
            progress=progress,
            door=door,
        )
    emit(as_json, opened, lambda: _show_audit_opened(opened))


def _show_audit_opened(audit: AuditOpened) -> None:
    opened = audit.opened
    say(
        f"Opened {opened.round}: {amount(opened.candidates, 'pair')}, "
        f"{amount(opened.presentations, 'presentation')}."
    )
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
            "Near-duplicates left out (--json has all)",
            columns,
            audit.near_duplicates[:NEAR_DUPLICATES_SHOWN],
        )
    say_withheld(audit.sealed)
    say(f"Next: goldgrade app; then goldgrade negatives audit --round {opened.round}")


def _show_audit(report: AuditReport) -> None:
    table(
        f"{report.round}: assumed negatives of {', '.join(report.systems)} to depth {report.depth:,}",
        ["stratum", "pairs", "drawn", "judged", "waiting", "no grade", "relevant", "rate", "95 % interval"],
        [
            (
                item.name,
                item.population,
                item.drawn,
                item.judged,
                item.waiting,
                item.cannot_tell + item.disputed,
                item.false_negatives,
                item.rate,
                _interval(item.low, item.high),
            )
            for item in report.strata
        ],
    )
    if report.rate is None:
        say(report.why)
    else:
        say(
            f"False-negative rate over all {report.population:,} assumed negatives: "
            f"{percent(report.rate, 1)} (95 % interval {_interval(report.low, report.high)}), from "
            f"{report.judged:,} judged pairs."
        )
    if other_text := sum(item.other_text for item in report.strata):
        say(f"left out: {amount(other_text, 'pair')} judged since with another text of their document")
    for found in report.found:
        say(f"relevant: {found.query_id}, {found.document_id} ({found.stratum}): grade {found.grade}")
    say_withheld(report.sealed)


def _interval(low: float | None, high: float | None) -> str:
    return "–" if low is None or high is None else f"{percent(low, 1)} to {percent(high, 1)}"


def _show_negatives(report: HardNegatives, limit: int) -> None:
    queries = report.queries
    _limited(
        f"{report.negatives:,} hard negatives",
        ["query", "document", "title", "rank", "system", "score", "systems", "margin", "kind"],
        [
            (q.text, n.document_id, n.title, n.rank, n.system, n.score, len(n.systems), n.margin, n.kind)
            for q in queries
            for n in q.negatives
        ],
        limit,
    )
    _limited(
        f"{report.near_duplicates:,} more are near-duplicates of a relevant document, and excluded",
        ["query", "document", "relevant", "similarity"],
        [(q.text, *near) for q in queries for near in q.near_duplicates],
        limit,
    )
    _limited(
        f"{report.suspects:,} suspects to judge first: systems rank them above a relevant document",
        ["query", "document", "title", "systems: rank < relevant"],
        [(q.text, s.document_id, s.title, _above(s.above)) for q in queries for s in q.suspects],
        limit,
    )
    _limited(
        f"{len(queries) - report.enough:,} of {amount(len(queries), 'query', 'queries')}: fewer than "
        f"{report.want} hard negatives",
        ["query", "relevant", "hard negatives", "still wanted"],
        [(q.text, q.positives, len(q.negatives), q.missing) for q in _needy(queries)],
        limit,
    )
    for reason, count in report.left_out.items():
        say(f"{count:,} {reason}")
    say_withheld(report.sealed, "query", "queries")


def _needy(negativeses: Sequence[QueryNegatives]) -> list[QueryNegatives]:
    return sorted((q for q in negativeses if q.missing), key=lambda q: (-q.missing, q.query_id))


def _above(above: dict[str, tuple[int, int]]) -> str:
    return ", ".join(f"{system}: {rank} < {relevant}" for system, (rank, relevant) in above.items())


def _limited(title: str, columns: Sequence[str], rows: Sequence[tuple[Any, ...]], limit: int) -> None:
    if not rows:
        say(title)
        return
    table(title, columns, rows[:limit])
    if len(rows) > limit:
        say(f"… and {len(rows) - limit:,} more: --limit shows more of them, --json all.")
