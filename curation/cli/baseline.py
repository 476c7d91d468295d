"""`goldgrade baseline`: write baseline and engine runs for a release."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from typer import Context, Option

from curation.cli.invocation import refuse_unused, release_store
from curation.cli.options import AnyRelease, split_list, switch
from curation.cli.output import note, show
from curation.cli.program import app
from curation.cli.progress import progress_bar
from curation.retrieval.engines import RATE


@app.command()
def baseline(
    context: Context,
    name: AnyRelease,
    out: Annotated[Path, Option(help="Folder to write the run files to.")],
    systems: Annotated[str, Option(help="Systems, separated by commas: bm25, dense, hybrid.")] = "bm25",
    depth: Annotated[int, Option(help="Maximum number of documents for each query.")] = 1000,
    part: Annotated[str, Option(help="Part of the split whose queries are searched, or all.")] = "all",
    model: Annotated[
        str, Option(help="Embedding model for dense and hybrid: a name or a folder.")
    ] = "all-MiniLM-L6-v2",
    chunks: Annotated[
        str | None,
        Option(
            help="Search chunks cut by these splitters, separated by commas. 200/50 cuts 200 words with "
            "50 overlapping; sentence cuts at sentences, heading cuts Markdown at headings.",
            show_default="whole documents",
        ),
    ] = None,
    engine: Annotated[str | None, Option(help="Search engine to query instead of these systems.")] = None,
    rate: Annotated[float, Option(help="Maximum number of requests per second to the engine.")] = RATE,
    overwrite: Annotated[bool, switch("--overwrite", "Overwrite existing files.")] = False,
) -> None:
    """Search a release's corpus for its queries. The ranked lists of each system are written as a TREC run
    file.

    A baseline searches the documents that the release pins, and reads no grade. A JSON file next to each run
    has its settings, versions and seconds per query. An engine searches its own documents.

    \b
    Examples:
      goldgrade baseline v1 --systems bm25,dense,hybrid --depth 1000 --out runs/v1
      goldgrade baseline v1 --part dev --out runs/v1-dev --json
      goldgrade baseline v1 --systems bm25 --chunks 200/50,sentence --out runs/v1
      goldgrade baseline v1 --engine shop --depth 100 --out runs/v1
    """
    from curation.evaluation.scoring.baselines import BaselineRequest, write_baselines
    from curation.retrieval.engines.client import EngineClient
    from curation.retrieval.engines.stored_engines import find_engine

    store = release_store()
    system_names = split_list(systems)
    client = None
    if engine is not None:
        refuse_unused(context, "--engine queries an engine", "systems", "model", "chunks")
        with store.reading() as cursor:
            client = EngineClient(find_engine(cursor, engine), rate)
    else:
        refuse_unused(context, "--engine names no engine", "rate")
    if not {"dense", "hybrid"}.intersection(system_names):
        refuse_unused(
            context, "only dense and hybrid use a model; name dense or hybrid in --systems", "model"
        )
    with progress_bar() as progress:
        chunk_names = split_list(chunks or "")
        request = BaselineRequest(name, system_names, out, depth, part, model, overwrite, client, chunk_names)
        baseline_runs = write_baselines(store, request, say=note, progress=progress)
    show(baseline_runs)
