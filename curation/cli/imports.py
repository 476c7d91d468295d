"""`goldset import`: bring a corpus, a traffic log, queries or judgments into the project."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from curation.cli import app, project_store
from curation.cli.output import Json, left_out, print_json, progress_bar, say, table
from curation.sources.records import FORMATS, Layout

if TYPE_CHECKING:
    from curation.labeling.imported import JudgmentImport
    from curation.sources.corpus import CorpusImport
    from curation.sources.queries import QueryImport
    from curation.sources.traffic import TrafficImport

imports = typer.Typer(
    help="Bring a corpus, a traffic log, queries, runs or judgments into the project.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
app.add_typer(imports, name="import")

SHOWN = 10
JUDGMENT_COUNTS = {"judgments": "new", "changed": "corrections"}

Format = Annotated[
    str | None,
    typer.Option("--format", help=f"{', '.join(FORMATS)}; default: told by the file's name or beginning."),
]
Encoding = Annotated[str, typer.Option(help="Encoding of text files, such as latin-1 or cp1252.")]
Columns = Annotated[
    str | None,
    typer.Option(help="Names of the columns of a table without a header, separated by commas."),
]
NoHeader = Annotated[
    bool, typer.Option("--no-header", help="The table's first line is a record already; needs --columns.")
]


@imports.command("corpus")
def import_corpus_command(
    context: typer.Context,
    path: Annotated[Path, typer.Argument(help="JSON lines, CSV, TSV, Parquet (.gz too) or a BEIR folder.")],
    id_field: Annotated[
        str | None, typer.Option(help="Field with the document's id; usual: _id, id, doc_id.")
    ] = None,
    title_field: Annotated[str | None, typer.Option(help="Field with its title; usual: title, name.")] = None,
    body_field: Annotated[
        list[str] | None,
        typer.Option(help="Field with its text; may be given several times; usual: text, body, description."),
    ] = None,
    url_field: Annotated[str | None, typer.Option(help="Field with its address; usual: url.")] = None,
    date_field: Annotated[
        str | None, typer.Option(help="Field with its date; usual: date, published.")
    ] = None,
    group_field: Annotated[
        str | None,
        typer.Option(help="Field that tells which documents belong together: a product line, a project."),
    ] = None,
    add: Annotated[
        bool, typer.Option("--add", help="Add to the corpus in force; else the file is the whole new corpus.")
    ] = False,
    format: Format = None,
    encoding: Encoding = "utf-8",
    columns: Columns = None,
    no_header: NoHeader = False,
    as_json: Json = False,
) -> None:
    """Import the documents. All fields that are not named are kept as metadata.

    The same file again changes nothing. A changed document makes a new snapshot of the corpus; the old
    one is kept.

    \b
    Examples:
      goldset import corpus beir/scifact
      goldset import corpus products.jsonl.gz --id-field id --title-field title --body-field short_description
      goldset import corpus products.json.gz --body-field description --body-field bullet_points
      goldset import corpus more-pages.csv --add
    """
    from curation.sources.corpus import CorpusFields, import_corpus

    fields = CorpusFields(id_field, title_field, tuple(body_field or ()), url_field, date_field, group_field)
    layout = layout_of(format, encoding, columns, no_header)
    with progress_bar() as progress:
        result = import_corpus(project_store(context), path, fields, layout, add=add, progress=progress)
    if as_json:
        print_json(result)
    else:
        _show_corpus(result)


@imports.command("traffic")
def import_traffic_command(
    context: typer.Context,
    path: Annotated[
        Path, typer.Argument(help="A log of queries: CSV, TSV, JSON lines or Parquet (.gz too), or UBI.")
    ],
    query_field: Annotated[
        str | None, typer.Option(help="Field with the query; usual: user_query, query, search_term, q, text.")
    ] = None,
    time_field: Annotated[
        str | None, typer.Option(help="Field with the time; usual: time, timestamp.")
    ] = None,
    segment_field: Annotated[
        str | None,
        typer.Option(help="Field with the segment, such as a shop or language; usual: segment, application."),
    ] = None,
    session_field: Annotated[
        str | None, typer.Option(help="Field with the session or user; usual: session, client_id, user.")
    ] = None,
    count_field: Annotated[
        str | None, typer.Option(help="Field with how often the query was asked; usual: count.")
    ] = None,
    metadata_field: Annotated[
        list[str] | None,
        typer.Option(help="Further field to keep, for strata of a sample; may be given several times."),
    ] = None,
    max_words: Annotated[int, typer.Option(help="Set queries of more words aside; 0: none.")] = 32,
    max_characters: Annotated[int, typer.Option(help="Set longer queries aside; 0: none.")] = 256,
    repeat_minutes: Annotated[
        int,
        typer.Option(help="The same query of a session within so long counts once (a turned page); 0: off."),
    ] = 30,
    bot_per_minute: Annotated[
        int,
        typer.Option(help="A session with more queries in a minute is a robot's, set aside; 0: off."),
    ] = 20,
    bot_per_day: Annotated[
        int,
        typer.Option(help="A session with more different queries in a day is a robot's, set aside; 0: off."),
    ] = 200,
    personal_data: Annotated[
        str,
        typer.Option(help="replace: by placeholders such as [email]; drop: set the rows aside."),
    ] = "replace",
    format: Format = None,
    encoding: Encoding = "utf-8",
    columns: Columns = None,
    no_header: NoHeader = False,
    as_json: Json = False,
) -> None:
    """Import logged queries, cleaned. The same file again changes nothing.

    E-mail addresses, phone and card numbers, IBANs, public IP addresses, identity numbers and keys never
    reach the project; of a session only a keyed hash does. What is set aside is counted by reason. Times
    may be ISO 8601, seconds or milliseconds since 1970, yymmddhhmmss or yyyymmddhhmmss; one that cannot be
    read is unknown, never guessed.

    \b
    Examples:
      goldset import traffic queries.csv --query-field q --time-field asked_at --count-field n
      goldset import traffic ubi_queries.json.gz
      goldset import traffic excite-small.log --no-header --columns session,time,query
      goldset import traffic shop.csv --metadata-field device --metadata-field country
      goldset import traffic shop.csv --personal-data drop --bot-per-minute 0 --bot-per-day 0
    """
    from curation.sources.cleaning import CleaningRules
    from curation.sources.traffic import TrafficFields, import_traffic

    further = tuple(metadata_field or ())
    fields = TrafficFields(query_field, time_field, segment_field, session_field, count_field, further)
    layout = layout_of(format, encoding, columns, no_header)
    rules = CleaningRules(
        max_words, max_characters, repeat_minutes, bot_per_minute, bot_per_day, personal_data
    )
    with progress_bar() as progress:
        result = import_traffic(project_store(context), path, fields, layout, progress, rules)
    if as_json:
        print_json(result)
    else:
        _show_traffic(result)


@imports.command("queries")
def import_queries_command(
    context: typer.Context,
    path: Annotated[Path, typer.Argument(help="JSON lines, CSV, TSV, Parquet (.gz too) or a BEIR folder.")],
    id_field: Annotated[
        str | None,
        typer.Option(help="Field with the query's id; usual: _id, id, query_id. Without one, ids are made."),
    ] = None,
    text_field: Annotated[str | None, typer.Option(help="Field with its text; usual: text, query.")] = None,
    information_need_field: Annotated[
        str | None,
        typer.Option(help="Field that says what is looked for; usual: information_need, narrative."),
    ] = None,
    format: Format = None,
    encoding: Encoding = "utf-8",
    columns: Columns = None,
    no_header: NoHeader = False,
    as_json: Json = False,
) -> None:
    """Import queries that are to be judged, whatever the sample holds. The same file again changes nothing.

    \b
    Examples:
      goldset import queries beir/scifact
      goldset import queries needs.csv --text-field query --information-need-field need
      goldset import queries topics.tsv.gz --no-header --columns id,text
    """
    from curation.sources.queries import QueryFields, import_queries

    layout = layout_of(format, encoding, columns, no_header)
    fields = QueryFields(id_field, text_field, information_need_field)
    with progress_bar() as progress:
        result = import_queries(project_store(context), path, fields, layout, progress)
    if as_json:
        print_json(result)
    else:
        _show_queries(result)


@imports.command("judgments")
def import_judgments_command(
    context: typer.Context,
    path: Annotated[
        Path, typer.Argument(help="Judgments: CSV, TSV, JSON lines, Parquet (.gz too) or TREC qrels.")
    ],
    query_field: Annotated[
        str | None, typer.Option(help="Field with the query, by id or text; usual: query, query_id.")
    ] = None,
    document_field: Annotated[
        str | None, typer.Option(help="Field with the document's id; usual: document, doc_id, docid.")
    ] = None,
    annotator_field: Annotated[
        str | None, typer.Option(help="Long form: field with who judged; usual: annotator, rater.")
    ] = None,
    grade_field: Annotated[
        str | None, typer.Option(help="Long form: field with the grade; usual: grade, rating, relevance.")
    ] = None,
    annotator_columns: Annotated[
        str | None,
        typer.Option(
            help="Wide form: the columns that hold grades, by commas; column=name names the annotator."
        ),
    ] = None,
    annotator: Annotated[
        str | None, typer.Option(help="Who gave all grades, where the file does not say, as in qrels.")
    ] = None,
    note_field: Annotated[str | None, typer.Option(help="Field with a note; usual: note.")] = None,
    time_field: Annotated[str | None, typer.Option(help="Field with the time of the judgment.")] = None,
    cannot_tell_field: Annotated[
        str | None, typer.Option(help="Field that is true where no grade could be given.")
    ] = None,
    grade_map: Annotated[
        str | None,
        typer.Option(help="Grades of another scale: 100=3,10=2,1=1,0=0; =cannot-tell is possible."),
    ] = None,
    skip_unknown: Annotated[
        bool,
        typer.Option(
            "--skip-unknown", help="Leave out judgments of documents that the corpus does not have."
        ),
    ] = False,
    format: Format = None,
    encoding: Encoding = "utf-8",
    columns: Columns = None,
    no_header: NoHeader = False,
    as_json: Json = False,
) -> None:
    """Import judgments that people gave elsewhere. They answer open presentations where there are some.

    Pairs that no pool holds, queries and annotators that the project does not know are added and counted. The
    same file again changes nothing; another grade is a correction. An empty cell is no judgment.

    \b
    Examples:
      goldset import judgments ratings.csv --query-field query --document-field docid \\
        --annotator-columns agent_1_rating,agent_2_rating,agent_3_rating
      goldset import judgments long.csv --annotator-field rater --cannot-tell-field unrateable
      goldset import judgments test.qrels --format qrels --annotator nist
      goldset import judgments esci.csv --annotator esci --grade-map 100=3,10=2,1=1,0=0 --skip-unknown
    """
    from curation.sources.judgments import (
        JudgmentFields,
        import_judgments,
        parse_annotator_columns,
        parse_grade_map,
    )

    fields = JudgmentFields(
        *(query_field, document_field, annotator_field, grade_field, note_field, time_field),
        cannot_tell_field,
        parse_annotator_columns(annotator_columns or ""),
        annotator,
    )
    layout = layout_of(format, encoding, columns, no_header)
    with progress_bar() as progress:
        result = import_judgments(
            project_store(context),
            path,
            fields,
            layout,
            grade_map=parse_grade_map(grade_map) if grade_map else None,
            skip_unknown=skip_unknown,
            progress=progress,
        )
    if as_json:
        print_json(result)
    else:
        _show_judgments(result)


def layout_of(format: str | None, encoding: str, columns: str | None, no_header: bool) -> Layout:
    """How a file is to be read, as the options say it."""
    names = None if columns is None else tuple(name.strip() for name in columns.split(","))
    return Layout(format, encoding, names, not no_header)


def _show_corpus(result: CorpusImport) -> None:
    if result.is_new:
        say(f"The corpus now has {result.documents:,} documents (snapshot {result.snapshot}).")
        counts = (result.added, result.changed, result.removed, result.unchanged)
        table("Against the corpus before", ["added", "changed", "removed", "unchanged"], [counts])
    else:
        say(f"Nothing changed: the project has these {result.documents:,} documents.")
    used = result.fields
    names = [("id", used.id), ("title", used.title or "–"), ("body", ", ".join(used.body) or "–")]
    _say_fields(
        [*names, ("url", used.url), ("date", used.date), ("group", used.group)], "all others are metadata"
    )
    _say_rest(result.left_out, result.replaced, "documents")


def _show_traffic(result: TrafficImport) -> None:
    say("Imported the log." if result.is_new else "Nothing changed: the project has this log already.")
    first, last = (time and time.isoformat(" ", "seconds") for time in (result.first, result.last))
    row = (result.rows, result.traffic, result.queries, result.sessions or None, result.segments or None)
    columns = ["rows", "queries asked", "distinct queries", "sessions", "segments"]
    table("Traffic", [*columns, "first (UTC)", "last (UTC)"], [(*row, first, last)])
    further = ", ".join(result.fields.metadata) or None
    _say_fields(list((vars(result.fields) | {"metadata": further}).items()))
    if result.fields.time and result.unknown_times:
        example = f", such as {result.unreadable_time}" if result.unreadable_time else ""
        say(f"{result.unknown_times:,} rows have no time that could be read{example}.")
    if result.same_source:
        say(f"Note: {result.same_source} earlier import(s) of a file of this name count as well.")
    for kind, count in result.personal.items():
        say(f"personal data, not stored: {count:,} rows with {kind}")
    _say_rest(result.left_out, result.replaced, "rows")


def _show_queries(result: QueryImport) -> None:
    if result.added or result.changed:
        counts = f"{result.added:,} added, {result.changed:,} changed, {result.unchanged:,} unchanged"
        say(f"{result.queries:,} queries: {counts}.")
    else:
        say(f"Nothing changed: the project has these {result.queries:,} queries.")
    if result.known_as:
        pairs = [f"{theirs} is {ours}" for theirs, ours in result.known_as.items()]
        more = f" and {len(pairs) - SHOWN:,} more" if len(pairs) > SHOWN else ""
        say(
            f"{len(pairs):,} of them the project knew by their text and keep its id: "
            f"{', '.join(pairs[:SHOWN])}{more}. Judgments that name them by either id are understood."
        )
    for kind, count in result.personal.items():
        say(f"personal data, replaced: {count:,} queries with {kind}")
    _say_rest(result.left_out, result.replaced, "queries")


def _show_judgments(result: JudgmentImport) -> None:
    if result.judgments or result.changed:
        where = f" in the round “{result.round}”" if result.round else ""
        say(
            f"{result.judgments:,} new judgments{where}, {result.filled:,} of them answer open presentations."
        )
    else:
        say("Nothing changed: the project has these judgments.")
    counts = {name: value for name, value in vars(result).items() if isinstance(value, int)}
    counts["added_annotators"] = len(result.added_annotators)
    names = [JUDGMENT_COUNTS.get(name, name.replace("_", " ")) for name in counts]
    table("Judgments", names, [tuple(counts.values())])
    if result.added_annotators:
        say(f"Annotators known from imports only, who cannot sign in: {', '.join(result.added_annotators)}.")
    left_out(result.left_out, "judgments")


def _say_fields(used: Sequence[tuple[str, str | None]], rest: str = "") -> None:
    names = ", ".join(f"{what} {name}" for what, name in used if name is not None)
    say(f"Fields used: {names}; {rest}." if rest else f"Fields used: {names}.")


def _say_rest(reasons: dict[str, int], replaced: dict[str, int], what: str) -> None:
    left_out(reasons, what)
    for kind, count in replaced.items():
        say(f"replaced: {count:,} × {kind}, by U+FFFD")
