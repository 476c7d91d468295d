"""`goldgrade pool`: the query-document pairs that people judge."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Context, Option

from curation.cli.invocation import find_given_flags, project_store, refuse_others, refuse_unused
from curation.cli.options import with_options_of
from curation.cli.output import NO_FORMULAS, note, show
from curation.cli.program import app
from curation.cli.progress import run_operation
from curation.core.digests import to_json_value
from curation.core.operation import PlainResult
from curation.core.text import describe_left_out, pluralize
from curation.pooling.request import PoolRequest

if TYPE_CHECKING:
    from curation.labeling.pairs_file import WrittenPairs
    from curation.pooling.pool_report import PoolReport
    from curation.store import Store

_EXPORT_OPTIONS = frozenset({"out", "text", "seed"})
"""Options with which the command only writes pairs, and builds no pool."""
PairsFile = Annotated[
    Path | None,
    Option(
        help="Write the unjudged pairs to a .csv or .jsonl file. Without other options, the command "
        "builds no pool."
    ),
]
TextLength = Annotated[str, Option(help="Texts in --out: whole, or excerpt as on the grading screen.")]
EngineIds = Annotated[
    Path | None,
    Option(help="File with the engine's document ids. Random negatives come from these documents."),
]
ContributionsPool = Annotated[
    str | None,
    Option(
        "--contributions",
        metavar="POOL",
        help="Show what each system added to this pool. Build no pool. POOL is the start of a pool's id, "
        "or the word last.",
    ),
]


@app.command()
@with_options_of(PoolRequest)
def pool(
    request: PoolRequest,
    context: Context,
    out: PairsFile = None,
    text: TextLength = "whole",
    ids: EngineIds = None,
    contributions: ContributionsPool = None,
) -> None:
    """Find the documents to judge for each query. The pool has the top documents of each system, and random
    negatives.

    Each candidate is stored with the systems, ranks and scores that proposed it. Embeddings are computed once
    and stored; an interrupted run continues where it stopped. A budget is used rank by rank: first each
    query's best candidate, then each query's second, and so on. Random negatives are not part of the budget.

    engine:NAME queries an engine, and stores today's lists of the engine as a run for the pool. If all
    documents of the corpus come from engines, random negatives are drawn from the engine, or from the file
    --ids with one id per line.

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
      goldgrade pool --systems bm25 --keep-words where,which
      goldgrade pool --out pairs.csv --text excerpt
    """
    from curation.labeling.pairs_file import check_output, export_pairs

    store = project_store()
    if contributions is not None:
        refuse_others(context, "--contributions builds no pool", "contributions")
        _show_contributions(store, contributions)
        return
    if out is None:
        refuse_unused(context, "no file is written; name one with --out", "text")
    else:
        check_output(out, text)  # before a pool is built that would be stored all the same
    if out is not None and not find_given_flags(context).keys() - _EXPORT_OPTIONS:
        written = export_pairs(store, out, request.seed, text)
        show(PlainResult(tuple(_describe_pairs(written))), as_json=written)
        return
    report = _build_pool(store, request if ids is None else replace(request, ids=str(ids)))
    if out is None:
        show(report, *_explain_kept_words(report))
    else:
        written = export_pairs(store, out, request.seed, text)
        show(report, *_describe_pairs(written), as_json=to_json_value(report) | {"exported": written})


def _show_contributions(store: Store, pool_id: str) -> None:
    """Show what each system added to a pool; `last` is the newest pool."""
    from curation.labeling.consensus.consensus import read_relevance
    from curation.pooling.contributions import compute_contributions

    show(compute_contributions(store, read_relevance(store), None if pool_id == "last" else pool_id))


def _build_pool(store: Store, request: PoolRequest) -> PoolReport:
    from curation.pooling.engine_negatives import list_notices
    from curation.pooling.pooled_queries import describe_left_out

    with store.reading() as cursor:
        note(*list_notices(cursor, request))
        for sentence in describe_left_out(cursor, request.judged_queries):
            note(f"{sentence} --judged-queries adds them.")
    report: PoolReport = run_operation("pool", request)
    return report


def _explain_kept_words(report: PoolReport) -> Iterator[str]:
    """Yield the option that keeps the stop words of the queries named in the report."""
    lost: Mapping[str, Any] = report.lost_words
    if lost:
        words = sorted({word for query in lost["shortest"] for word in query["stop_words"]})
        yield f"Keep stop words: goldgrade pool --keep-words {','.join(words)}"


def _describe_pairs(written: WrittenPairs) -> Iterator[str]:
    """Yield sentences about the pairs written out for judging elsewhere."""
    queries = pluralize(written.queries, "query", "queries")
    yield f"Wrote {pluralize(written.pairs, 'pair')} of {queries} to {written.path}."
    yield from describe_left_out(written.left_out, "candidates")
    if written.path.suffix.lower() == ".csv":
        yield NO_FORMULAS
    yield f"To import the grades: goldgrade import judgments {written.path.name} --annotator NAME"
