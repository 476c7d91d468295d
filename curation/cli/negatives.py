"""`goldgrade negatives`: a project's hard negatives, and the audit of assumed negatives."""

from __future__ import annotations

from typer import Context, Typer

from curation.cli.invocation import open_seal, project_store, refuse_unused
from curation.cli.options import Limit, with_options_of
from curation.cli.output import show
from curation.cli.program import app
from curation.cli.progress import progress_bar
from curation.negatives.requests import AuditRequest, HardNegativesRequest

negatives = Typer()
app.add_typer(negatives, name="negatives")


@negatives.callback(invoke_without_command=True)
@with_options_of(HardNegativesRequest)
def negatives_command(request: HardNegativesRequest, context: Context, limit: Limit = 20) -> None:
    """List hard negatives. Hard negatives rank high and were judged not relevant.

    The margin is the number of ranks from the system's best relevant document down to the hard negative; it
    is below 0 if the hard negative ranks higher. Near-duplicates of a relevant document are listed
    separately. Documents outside their query's filter do not need a judgment, and are listed as a separate
    kind. Suspects are unjudged documents that two systems rank above a relevant one: judge them first.
    Queries that a release seals are listed only if you give --reason.

    \b
    Examples:
      goldgrade negatives
      goldgrade negatives --negatives 20 --limit 50
      goldgrade negatives --threshold 0.7 --json
    """
    if context.invoked_subcommand is not None:
        refuse_unused(context, f"name options of {context.invoked_subcommand} after it")
        return
    from curation.negatives.hard_negatives import find_hard_negatives

    store = project_store()
    access = open_seal(store, "list hard negatives")
    show(find_hard_negatives(store, request, access), limit=limit)


@negatives.command("audit")
@with_options_of(AuditRequest)
def negatives_audit(request: AuditRequest, context: Context) -> None:
    """Measure on a sample how many assumed negatives are relevant.

    With --annotators the command opens a blind round over pairs that count as not relevant although nobody
    judged them. The strata are documents within the pool's depth that are not in the pool (top), documents
    below this depth (below), and easy negatives (random). Annotators see a round like any other round, and
    their judgments count. Without --annotators the command reports the measured rate with its 95 % interval,
    for each stratum and overall. Pairs that a release seals are named with --reason only.

    \b
    Examples:
      goldgrade negatives audit --annotators ada,grace --size 100 --seed 7
      goldgrade negatives audit --annotators ada --round spring-audit --depth 50 --systems bm25
      goldgrade negatives audit
      goldgrade negatives audit --round spring-audit --json
    """
    from curation.negatives.audit import open_audit
    from curation.negatives.audit_rate import report_audit

    store = project_store()
    access = open_seal(store, "audit assumed negatives")
    if not request.annotators:
        unused = ("size", "seed", "overlap", "depth", "threshold", "systems", "model")
        refuse_unused(context, "these options open an audit; add --annotators", *unused)
        show(report_audit(store, request.name, access))
        return
    with progress_bar() as progress:
        audit = open_audit(store, request, progress, access)
    then = f"Next: goldgrade app; then goldgrade negatives audit --round {audit.opened.round}"
    show(audit, then, limit=20)
