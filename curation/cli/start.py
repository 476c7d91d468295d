"""`goldgrade start`: from documents and a log to a first round, in one command."""

from __future__ import annotations

from typing import Annotated

from typer import Argument

from curation.cli.invocation import actor, project_path, project_store
from curation.cli.options import with_options_of
from curation.cli.output import note, show
from curation.cli.program import app
from curation.cli.progress import progress_bar, run_operation
from curation.ingest import requests
from curation.operations.start import StartRequest


@app.command()
@with_options_of(StartRequest)
def start(
    request: StartRequest,
    corpus: Annotated[
        str | None,
        Argument(
            help="Documents: a folder, zip or tar of Markdown, HTML, text, PDF or Word; or JSON, CSV or "
            "Parquet. Default: the documents that the project has.",
            show_default=False,
        ),
    ] = None,
    log: Annotated[
        str | None,
        Argument(help="A log of queries. Default: the queries that the project has.", show_default=False),
    ] = None,
) -> None:
    """Import documents and a log, and open the first round.

    The command makes the project if it does not exist. The command draws equal numbers of frequent, less
    frequent and rare queries from the log. BM25 finds the documents to grade. The round goes to everyone
    who may grade. While the project has no people, the command prepares everything but the round; the
    first person who signs in opens the round on the page Home.

    \b
    Examples:
      goldgrade start docs/ log.csv
      goldgrade start docs.zip searches.csv --queries 100 --depth 5
      goldgrade start --annotators ada,ben
    """
    from curation.operations.import_file import import_file
    from curation.operations.project import init_project

    if not project_path().exists():
        init_project(project_path(), None)
    for request_type, path in ((requests.CorpusRequest, corpus), (requests.TrafficRequest, log)):
        if path is not None:
            with progress_bar("import") as progress:
                file = requests.set_file(request_type(), path)
                imported = import_file(project_store(), file, progress, actor())
            note(*imported.outcome.sentences)
    show(run_operation("start", request), "Next: goldgrade app --browser")
