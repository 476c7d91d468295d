"""The commands that select documents of queries: `pool` for judging, `negatives` for training."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from curation.cli.invocation import open_seal, project_store
from curation.cli.options import Limit, find_flags, refuse_others, refuse_unused, with_options_of
from curation.cli.output import NO_FORMULAS, note, show
from curation.cli.program import app
from curation.cli.progress import progress_bar, run_operation
from curation.core.digests import to_json_value
from curation.core.operation import PlainResult
from curation.core.text import describe_left_out, pluralize
from curation.negatives.requests import AuditRequest, HardNegativesRequest
from curation.pooling.request import PoolRequest

if TYPE_CHECKING:
    from curation.labeling.pairs_file import WrittenPairs

_EXPORT_OPTIONS = frozenset({"out", "text", "seed"})
"""If only these options are given, the command writes pairs and builds no pool."""
negatives = typer.Typer()
app.add_typer(negatives, name="negatives")


@negatives.callback(invoke_without_command=True)
@with_options_of(HardNegativesRequest)
def negatives_command(request: HardNegativesRequest, context: typer.Context, limit: Limit = 20) -> None:
    """List hard negatives. Hard negatives rank high and were judged not relevant.

    The margin is the number of ranks from the system's best relevant document down to the hard negative; it
    is below 0 if the hard negative ranks higher. Near-duplicates of a relevant document are listed
    separately. Documents outside the filter of their query need no judgment, and are listed as a separate
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
def negatives_audit(request: AuditRequest, context: typer.Context) -> None:
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


@app.command()
@with_options_of(PoolRequest)
def pool(
    request: PoolRequest,
    context: typer.Context,
    out: Annotated[
        Path | None,
        typer.Option(
            help="File to write the pairs to be judged to, .csv or .jsonl. "
            "Without other options no pool is built."
        ),
    ] = None,
    text: Annotated[
        str,
        typer.Option(help="Texts in --out: whole or excerpt. An excerpt is what the grading screen shows."),
    ] = "whole",
    ids: Annotated[Path | None, typer.Option(help="File of an engine's ids, for random negatives.")] = None,
    shown: Annotated[
        str | None,
        typer.Option(
            "--contributions",
            metavar="POOL",
            help="Show what each system added to this pool. Build no pool. POOL is the beginning of an "
            "id, or last.",
        ),
    ] = None,
) -> None:
    """Find the documents to judge for each query. The pool has the top documents of each system, and random
    negatives.

    Each candidate is stored with the systems, ranks and scores that proposed it. Embeddings are computed once
    and stored; an interrupted run continues where it stopped. A budget is used rank by rank: first each
    query's best candidate, then each query's second, and so on. Random negatives are not part of the budget.

    engine:NAME asks an engine and stores today's lists of the engine as a run for the pool. If all documents
    of the corpus come from engines, random negatives are drawn from the engine, or from the file --ids with
    one id a line.

    --out writes the pairs that are in no round and not judged, in random order, with empty columns for grade
    and note and without ranks, scores and systems. `goldgrade import judgments FILE --annotator NAME` imports
    the filled file.

    \b
    Examples:
      goldgrade pool --systems bm25 --depth 10 --random-negatives 5 --seed 7
      goldgrade pool --systems bm25,dense,hybrid --depth 20 --seed 7 --json
      goldgrade pool --systems bm25,run:splade,run:shop --depth 20 --budget 2000
      goldgrade pool --systems dense --model ./models/my-finetuned-encoder
      goldgrade pool --systems engine:shop --depth 20 --rate 2 --ids all-ids.txt
      goldgrade pool --systems bm25,dense --stemmer german
      goldgrade pool --out pairs.csv --text excerpt
    """
    from curation.labeling.consensus.consensus import read_relevance
    from curation.labeling.pairs_file import check_output, export_pairs
    from curation.operations.registry import OPERATIONS
    from curation.pooling.contributions import compute_contributions
    from curation.pooling.random_negatives import list_notices

    if shown is not None:
        refuse_others(context, "--contributions builds no pool", "shown")
        store = project_store()
        show(compute_contributions(store, read_relevance(store), None if shown == "last" else shown))
        return
    if out is None:
        refuse_unused(context, "no file is written; name one with --out", "text")
    else:
        check_output(out, text)  # before a pool is built that would be stored all the same
    store = project_store()
    if out is not None and not find_flags(context).keys() - _EXPORT_OPTIONS:
        written = export_pairs(store, out, request.seed, text)
        show(PlainResult(tuple(_pair_sentences(written))), as_json=written)
        return
    if ids is not None:
        request = replace(request, ids=str(ids))
    with store.reading() as cursor:
        for notice in list_notices(cursor, request):
            note(notice)
    report = run_operation(OPERATIONS["pool"], request)
    if out is None:
        show(report)
    else:
        written = export_pairs(store, out, request.seed, text)
        show(report, *_pair_sentences(written), as_json=to_json_value(report) | {"exported": written})


def _pair_sentences(written: WrittenPairs) -> Iterator[str]:
    """Yield sentences on the pairs that were written for judging elsewhere."""
    queries = pluralize(written.queries, "query", "queries")
    yield f"Wrote {pluralize(written.pairs, 'pair')} of {queries} to {written.path}."
    yield from describe_left_out(written.left_out, "candidates")
    if written.path.suffix.lower() == ".csv":
        yield NO_FORMULAS
    yield f"Back: goldgrade import judgments {written.path.name} --annotator NAME"
