"""`goldgrade run`: baselines on a release's corpus, as run files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from curation.cli.options import refuse_unused
from curation.cli.output import emit, progress_bar, say, table, to_people
from curation.cli.program import AnyRelease, Json, app, listed, release_store
from curation.core.text import amount
from curation.retrieval.engines import RATE

if TYPE_CHECKING:
    from curation.evaluation.scoring.baselines import BaselineRuns


@app.command()
def run(
    context: typer.Context,
    name: AnyRelease,
    out: Annotated[Path, typer.Option(help="Folder to write the run files to.")],
    systems: Annotated[
        str, typer.Option(help="Systems to run, separated by commas: bm25, dense, hybrid.")
    ] = "bm25",
    depth: Annotated[int, typer.Option(help="Documents for each query at most.")] = 1000,
    part: Annotated[str, typer.Option(help="The part of the split whose queries are run, or all.")] = "all",
    model: Annotated[
        str, typer.Option(help="Embedding model of dense and hybrid: a name or a folder.")
    ] = "all-MiniLM-L6-v2",
    chunks: Annotated[
        str | None,
        typer.Option(
            help="Splitters whose chunks are searched, with commas. 200/50 is 200 words, of which 50 "
            "overlap; also sentence, and heading for Markdown. Each system has a run of each.",
            show_default="whole documents",
        ),
    ] = None,
    engine: Annotated[str | None, typer.Option(help="Engine to ask, in the place of systems.")] = None,
    rate: Annotated[float, typer.Option(help="Requests a second to the engine, at most.")] = RATE,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Write over files of the same names.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Search a release's corpus for its queries. Each system's ranked lists are written as a TREC run file.

    Only what the release pins is searched. No grade is read, so sealed parts need no reason. With each run
    is a JSON file with its settings, versions and seconds a query. With --engine an engine of the project is
    asked for the queries, at a stated rate; it searches what it has.

    \b
    Examples:
      goldgrade run v1 --systems bm25,dense,hybrid --depth 1000 --out runs/v1
      goldgrade run v1 --part dev --out runs/v1-dev --json
      goldgrade run v1 --systems bm25,dense --chunks 200/50,400/100,sentence,heading --depth 100 --out runs/v1
      goldgrade run v1 --engine shop --depth 100 --out runs/v1
    """
    from curation.evaluation.scoring.baselines import write_baselines
    from curation.retrieval.engines.client import EngineClient
    from curation.retrieval.engines.stored import find_engine

    store, client = release_store(), None
    if engine is not None:
        refuse_unused(context, "--engine asks an engine", "systems", "model", "chunks")
        with store.reading() as cursor:
            client = EngineClient(find_engine(cursor, engine), rate)
    else:
        refuse_unused(context, "no engine is named with --engine", "rate")
    if not {"dense", "hybrid"}.intersection(listed(systems)):
        refuse_unused(context, "only dense and hybrid use a model; name one in --systems", "model")
    with progress_bar() as progress:
        written = write_baselines(
            store,
            name,
            listed(systems),
            out,
            depth=depth,
            part=part,
            model=model,
            replace=overwrite,
            engine=client,
            chunks=listed(chunks or ""),
            say=to_people,
            progress=progress,
        )
    emit(as_json, written, lambda: _show(written))


def _show(written: BaselineRuns) -> None:
    table(
        f"Runs of {written.name} ({written.part}) in {written.out}",
        ["file", "queries", "lines", "without a result", "ms a query"],
        [
            (run.file.name, run.queries, run.results, sum(run.empty.values()), 1000 * run.seconds)
            for run in written.runs
        ],
    )
    if written.documents:
        documents = amount(written.documents, "document was", "documents were")
        say(f"{documents} searched, to depth {written.depth:,}.")
    if written.without_text:
        say(f"{written.without_text:,} of them have no text: no system finds them.")
    if written.mapped:
        say(f"{written.mapped:,} ids hold white space and were encoded, as in the TREC export.")
    for run in written.runs:
        say(
            *(
                f"{run.system}: nothing for {amount(count, 'query', 'queries')}: {why}"
                for why, count in run.empty.items()
            )
        )
    say(f"release id: {written.release_id}")
