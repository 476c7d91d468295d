"""`goldgrade import`: bring data into the project, with one command per kind of data."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, BadParameter, Context, Option

from curation.cli import import_engine
from curation.cli.file_options import DryRun, open_target
from curation.cli.import_engine import Rate, is_from_engine
from curation.cli.invocation import actor, project_store, refuse_others, stated_reason
from curation.cli.options import option, switch, with_options_of
from curation.cli.output import emit, print_table, say, say_dry_run, show
from curation.cli.program import command_group
from curation.cli.progress import progress_bar
from curation.core.digests import to_json_value
from curation.core.operation import PlainResult
from curation.core.reports.tables import Table
from curation.core.text import pluralize
from curation.ingest import requests
from curation.retrieval.engines import RATE

if TYPE_CHECKING:
    from curation.operations.import_collection import CollectionImport


RECORDS = "JSON, CSV, TSV, Parquet or xlsx (.gz too)"
RecordsFile = Annotated[str, Argument(help=f"{RECORDS}.")]
imports = command_group("import", "Import a corpus, traffic, queries, runs, judgments and more.")


@imports.command("corpus")
@with_options_of(requests.CorpusRequest)
def import_corpus_command(
    request: requests.CorpusRequest,
    context: Context,
    path: Annotated[
        str | None,
        Argument(
            help=f"{RECORDS}; or a folder, zip or tar of Markdown, HTML, text, PDF and Word files; or a BEIR "
            "folder. Leave PATH out with --refresh.",
            show_default=False,
        ),
    ] = None,
    refresh: Annotated[str | None, Option(help="Engine whose documents are fetched again.")] = None,
    rate: Rate = RATE,
    dry_run: DryRun = False,
) -> None:
    """Import the documents. Unknown fields are kept as metadata.

    Importing the same file again changes nothing. A changed document makes a new snapshot of the corpus; the
    old one is kept. With --refresh the documents of an engine are fetched again: a changed document gets a
    new version, and a deleted document leaves the corpus.

    In a folder or an archive each file is a document. A document's id is its path without the extension, or
    the address that its front matter or canonical link names. Front matter becomes fields. PDF and Word files
    need the packages pypdf and mammoth.

    \b
    Examples:
      goldgrade import corpus docs/
      goldgrade import corpus beir/scifact
      goldgrade import corpus products.jsonl.gz --map id=id --map title=title --map body=text
      goldgrade import corpus products.json.gz --map body=description --map body=bullet_points
      goldgrade import corpus more-pages.csv --add
      goldgrade import corpus abstracts.csv --markup html
      goldgrade import corpus products.jsonl.gz --dry-run
      goldgrade import corpus pages/2026 --in-place
      goldgrade import corpus --refresh shop --rate 2
    """
    if is_from_engine(context, "refresh", refresh, path, "rate"):
        import_engine.refresh_from_engine(str(refresh), rate)
    else:
        _import_file(request, path, dry_run)


@imports.command("traffic")
@with_options_of(requests.TrafficRequest)
def import_traffic_command(
    request: requests.TrafficRequest,
    context: Context,
    path: Annotated[
        str | None,
        Argument(
            help=f"A log of queries: {RECORDS}; UBI; or the log of a web server or a search engine.",
            show_default=False,
        ),
    ] = None,
    list_logs: Annotated[bool, switch("--list", "List the logs of the project.")] = False,
    delete: Annotated[
        str | None, Option(metavar="LOG", help="Delete a log and its rows. LOG is the start of its id.")
    ] = None,
    dry_run: DryRun = False,
) -> None:
    """Import and clean logged queries. Importing the same file again changes nothing.

    If a log was exported again, only its new rows are imported. If an earlier log has a row with a session or
    a time N times, the import leaves out N copies of this row. --list shows the logs that the project has,
    and --delete removes a log, such as a log that was imported twice. Samples that were drawn from a deleted
    log keep their queries and probabilities.

    E-mail addresses, phone and card numbers, IBANs, public IP addresses, identity numbers and keys are never
    stored. A session is stored as a keyed hash only. Rows that are left out are counted by reason. Times may
    be ISO 8601, seconds or milliseconds since 1970, yymmddhhmmss or yyyymmddhhmmss, have month names as in
    Apache's logs, and with --date-order be numeric dates such as 03/04/2026. A zone is an offset such as
    +02:00, or a name such as Europe/Berlin or CEST. A time that cannot be read, such as a time in EST, is
    unknown and never guessed.

    \b
    Examples:
      goldgrade import traffic queries.csv --map query=q --map time=asked_at --map count=n
      goldgrade import traffic ubi_queries.json.gz
      goldgrade import traffic /var/log/nginx/access.log
      goldgrade import traffic searches.parquet --map session=visitor
      goldgrade import traffic excite-small.log --no-header --columns session,time,query
      goldgrade import traffic us-shop.csv --map time=asked_on --date-order mdy
      goldgrade import traffic shop.csv --map metadata=device --map metadata=country
      goldgrade import traffic shop.csv --personal-data drop --bot-per-minute 0 --bot-per-day 0
      goldgrade import traffic --list
      goldgrade import traffic --delete 3f9a1c02 --reason "exported twice"
    """
    if delete is not None:
        refuse_others(context, "--delete reads no file", "delete")
        _delete_log(delete)
    elif list_logs:
        refuse_others(context, "--list reads no file", "list_logs")
        _list_logs()
    elif path is None:
        raise BadParameter("name a file, or list the logs with --list")
    else:
        _import_file(request, path, dry_run)


@imports.command("queries")
@with_options_of(requests.QueriesRequest)
def import_queries_command(
    request: requests.QueriesRequest,
    path: Annotated[str, Argument(help=f"{RECORDS}, or a BEIR folder.")],
    dry_run: DryRun = False,
) -> None:
    """Import queries to judge, in addition to the sample. Importing the same file again changes nothing.

    The values of the field tag become tags of the queries, in lower case and with hyphens for spaces.

    \b
    Examples:
      goldgrade import queries beir/scifact
      goldgrade import queries needs.csv --map text=query --map information_need=need
      goldgrade import queries support.csv --map tag=symptom --map tag=device
      goldgrade import queries topics.tsv.gz --no-header --columns id,text
    """
    _import_file(request, path, dry_run)


@imports.command("judgments")
@with_options_of(requests.JudgmentsRequest)
def import_judgments_command(
    request: requests.JudgmentsRequest,
    path: Annotated[str, Argument(help=f"Judgments: {RECORDS}, qrels, or as other tools export them.")],
    dry_run: DryRun = False,
) -> None:
    """Import judgments that people gave elsewhere. The judgments answer open presentations of the same pairs.

    Missing pairs, queries with their texts, and annotators are added and counted. An id never counts as a
    query text. Importing the same file again changes nothing; a different grade is a correction. An empty
    cell is not a judgment. A judgment is about the text in the current corpus, unless --about says otherwise.
    With --judge the grades are kept separately: they are not votes and add no pairs (`goldgrade judge`).

    With --round the file is a separate judging pass. The newest pass of each person counts, and `goldgrade
    agreement --round` compares the pass with the earlier judgments.

    \b
    Examples:
      goldgrade import judgments ratings.csv --map query=query --map document=docid \\
        --annotator-columns agent_1_rating,agent_2_rating,agent_3_rating
      goldgrade import judgments long.csv --map annotator=rater --map cannot_tell=unrateable
      goldgrade import judgments test.qrels --format qrels --annotator nist
      goldgrade import judgments esci.csv --annotator esci --grade-map 100=3,10=2,1=1,0=0
      goldgrade import judgments llm.jsonl --judge gpt-5
      goldgrade import judgments questions.csv --map query=question --map document=corpus_id \\
        --map evidence=references --annotator chroma --grade 3
      goldgrade import judgments again.csv --map annotator=rater --round second-pass
    """
    _import_file(request, path, dry_run)


@imports.command("run")
@with_options_of(requests.RunRequest, ["name"])
def import_run_command(
    request: requests.RunRequest,
    context: Context,
    name: Annotated[str, option(requests.RunRequest, "name")],
    path: Annotated[
        str | None,
        Argument(
            help="A TREC run, a table (TSV, CSV, JSON lines) or a ranx file. Leave PATH out with --engine.",
            show_default=False,
        ),
    ] = None,
    engine: Annotated[str | None, Option(help="Engine to query with all active queries.")] = None,
    depth: Annotated[int, Option(help="Number of documents to request from the engine per query.")] = 100,
    rate: Rate = RATE,
    dry_run: DryRun = False,
) -> None:
    """Import a run: a system's ranked list for each query. Importing the same run again changes nothing.

    A list is ordered by its ranks, or by its scores if it has no ranks. Equal scores are ordered by document
    id, descending, as in trec_eval. Lines may come in any order, but no rank may be repeated. Lists with gaps
    in their ranks are counted, and are ordered by their scores if they have scores. Ids that an export
    prefixed (q-1) or encoded (two%20words) are mapped back.

    With --engine the lists come from an engine (`goldgrade import engine`). Documents that the project lacks
    are fetched by id. If the command is interrupted, no run is stored, and the same command asks for the
    missing lists.

    \b
    Examples:
      goldgrade import run bm25-tuned.trec.gz --name bm25-tuned
      goldgrade import run run_vector.tsv --name vector --map query=query --map score=engine_score
      goldgrade import run splade.json --name splade --format ranx-json --skip-unknown
      goldgrade import run top10.tsv --name shop --no-header --columns query,rank,document
      goldgrade import run --engine shop --name shop@november --depth 100 --rate 5
    """
    if is_from_engine(context, "engine", engine, path, "depth", "rate"):
        import_engine.import_run_from_engine(str(engine), name, depth, rate)
    else:
        _import_file(replace(request, name=name), path, dry_run)


@imports.command("answers")
@with_options_of(requests.AnswersRequest)
def import_answers_command(
    request: requests.AnswersRequest,
    path: RecordsFile,
    nuggets: Annotated[
        bool, switch("--nuggets", "Import nuggets, facts of good answers. Fields: query, nugget, importance.")
    ] = False,
    dry_run: DryRun = False,
) -> None:
    """Import reference answers. Every answer to a query counts as correct; a query with several lines has
    several answers.

    With --nuggets each row is a fact, vital or okay, or a query with a list of objects with text and
    importance, as in TREC's files. The file replaces all answers, or all nuggets, of its queries. Importing
    the same file again changes nothing.

    \b
    Examples:
      goldgrade import answers squad.jsonl --map query=question
      goldgrade import answers faq.csv --map reference=reference_answer --skip-unknown
      goldgrade import answers facts.csv --nuggets --map nugget=fact --map importance=weight
    """
    _import_file(requests.NuggetsRequest(**vars(request)) if nuggets else request, path, dry_run)


@imports.command("collection")
@with_options_of(requests.CollectionRequest)
def import_collection_command(
    request: requests.CollectionRequest,
    path: Annotated[Path, Argument(help="A folder with the collection's files, a zip, or one file.")],
    dry_run: Annotated[bool, switch("--dry-run", "Show the kind of each file. Import nothing.")] = False,
) -> None:
    """Import a test collection. A collection has documents, queries with information needs, and judgments.

    The command reads TREC's SGML and XML, and folders of BEIR and Hugging Face. The command reports the
    recognized kind of each file, and the files that it passed over. The import is first tried on a copy
    of the project: if anything is wrong, nothing is imported.

    \b
    Examples:
      goldgrade import collection beir/scifact --annotator scifact --grade-map 1=3 --dry-run
      goldgrade import collection trec-robust --annotator nist --encoding latin-1 --skip-unknown
    """
    from curation.operations.import_collection import import_collection

    with progress_bar() as progress:
        collection = import_collection(project_store(), path, request, dry_run=dry_run, progress=progress)
    say_dry_run(dry_run)
    result = PlainResult(tuple(collection.sentences), (_build_file_table(collection, path),))
    show(result, as_json=to_json_value(collection) | {"dry_run": dry_run})


imports.command("engine")(import_engine.import_engine_command)


def _import_file(request: requests.ImportRequest, path: str | None, dry_run: bool) -> None:
    from curation.operations.import_file import import_file

    request = requests.set_file(request, path or "")
    with progress_bar("import") as progress:
        imported = import_file(open_target(dry_run), request, progress, actor())
    outcome = imported.outcome
    figures = Table("", tuple(outcome.figures), (tuple(outcome.figures.values()),))
    say_dry_run(dry_run)
    result = PlainResult(tuple(outcome.sentences), (figures,) if outcome.changes else ())
    show(result, as_json=imported)


def _build_file_table(collection: CollectionImport, path: Path) -> Table:
    """Make a table of a collection's files with their recognized kinds."""
    uses = [(file.path, file.found) for file in collection.files]
    uses += [(file.path, f"passed over: {file.found}") for file in collection.passed]
    root = path if any(path in file.parents for file, _ in uses) else path.parent
    rows = tuple((file.relative_to(root).as_posix(), use) for file, use in uses)
    return Table(f"Files of {path.name}", ("file", "taken for"), rows)


def _list_logs() -> None:
    from curation.ingest.importers.traffic.stored_logs import read_stored_logs

    logs = project_store().read(read_stored_logs)
    columns = ["log", "file", "rows", "queries asked", "from", "to", "samples"]
    rows = []
    for log in logs:
        days = [f"{time:%Y-%m-%d}" if time else "" for time in (log.first, log.last)]
        rows.append((log.import_id[:8], log.source, log.rows, log.traffic, *days, log.samples))
    emit(
        {"logs": logs},
        lambda: print_table("Logs", columns, rows) if rows else say("The project has no log yet."),
    )


def _delete_log(name: str) -> None:
    from curation.ingest.importers.traffic.stored_logs import delete_log

    log = delete_log(project_store(), name, stated_reason(), actor())
    sentence = f"{log.source} is deleted, with {pluralize(log.rows, 'row')}."
    if log.samples:
        sentence += f" {pluralize(log.samples, 'sample was', 'samples were')} drawn from this log."
    emit(log, sentence)
