"""`goldgrade import X` of one file: what each kind takes besides its fields, and its help."""

from __future__ import annotations

from typing import Annotated

import typer

from curation.cli.import_.command import Options, import_command
from curation.cli.import_.engines import CLEANING, WithoutFile, ask_for_run, fetch_again, print_statement
from curation.cli.import_.options import DateOrder
from curation.ingest.readers.columns import file_fields
from curation.ingest.readers.fields import TrafficFields
from curation.ingest.readers.run_files import FORMATS as RUN_FORMATS
from curation.retrieval.engines import RATE

RECORDS = "JSON, CSV, TSV, Parquet or xlsx (.gz too)"
ASKED = WithoutFile("engine", frozenset({"depth", "rate", "repeat"}), ask_for_run)
FETCHED = WithoutFile("refresh", frozenset({"rate"}), fetch_again)
PRINTED = WithoutFile(
    "print_sql",
    frozenset({"per"}),
    print_statement,
    frozenset({"path", *CLEANING, *(f"{field.name}_field" for field in file_fields(TrafficFields))}),
    "a dialect",
    "prints a statement",
    "The table's name",
)
Rate = Annotated[float, typer.Option(help="Requests a second to the engine, at most.")]
SkipUnknown = Annotated[
    bool,
    typer.Option(
        "--skip-unknown",
        help="Leave out lines about what the project does not have. That is, of its queries and documents.",
    ),
]


@import_command("corpus", f"{RECORDS}, or a BEIR folder.", without=FETCHED)
def import_corpus_command(
    add: Annotated[
        bool,
        typer.Option("--add", help="Add to the current corpus. Without it the file is the whole new corpus."),
    ] = False,
    titles_only: Annotated[
        bool,
        typer.Option(
            "--titles-only", help="Take documents without text. They are judged by their title alone."
        ),
    ] = False,
    markup: Annotated[
        str | None,
        typer.Option(
            help="What the text is written in. It is plain, html, markdown or code. The guide shows it so.",
            show_default="found from the first rows, unless the guide says it",
        ),
    ] = None,
    leave: Annotated[
        bool,
        typer.Option(
            "--leave",
            help="Leave the texts where they are, as Parquet or JSON. Folders and s3:// are taken, too.",
        ),
    ] = False,
    refresh: Annotated[
        str | None,
        typer.Option(help="Engine whose documents are fetched again."),
    ] = None,
    rate: Rate = RATE,
) -> Options:
    """Import the documents. All other fields are kept as metadata.

    Importing the same file again changes nothing. A changed document makes a new snapshot of the corpus; the
    old one is kept. With --refresh what an engine brought is fetched again: a changed document is a new
    version, and one that is gone leaves the corpus. With --leave the project has ids and sums alone. A text
    comes into it when it is pooled or judged.

    \b
    Examples:
      goldgrade import corpus beir/scifact
      goldgrade import corpus products.jsonl.gz --id-field id --title-field title --body-field text
      goldgrade import corpus products.json.gz --body-field description --body-field bullet_points
      goldgrade import corpus more-pages.csv --add
      goldgrade import corpus abstracts.csv --markup html
      goldgrade import corpus products.jsonl.gz --dry-run
      goldgrade import corpus s3://pages/2026 --leave
      goldgrade import corpus --refresh shop --rate 2
    """
    return {"leave": leave, "add": add, "titles_only": titles_only, "markup": markup}


@import_command(
    "traffic",
    f"A log of queries: {RECORDS}, or UBI. Or a folder of such files, here or as s3://BUCKET/FOLDER.",
    without=PRINTED,
)
def import_traffic_command(
    date_order: DateOrder = None,
    max_words: Annotated[int, typer.Option(help="Leave out queries of more words; 0: off.")] = 32,
    max_characters: Annotated[int, typer.Option(help="Leave out longer queries; 0: off.")] = 256,
    repeat_minutes: Annotated[
        int,
        typer.Option(
            help="Minutes within which a session's same query counts once. It is a turned page then. 0: off."
        ),
    ] = 30,
    bot_per_minute: Annotated[
        int,
        typer.Option(
            help="Queries in a minute of a session that is no bot. A session with more is left out. 0: off."
        ),
    ] = 20,
    bot_per_day: Annotated[
        int,
        typer.Option(
            help="Different queries in a day of a session that is no bot. A session with more is left "
            "out. 0: off."
        ),
    ] = 200,
    personal_data: Annotated[
        str,
        typer.Option(help="What becomes of it. replace: placeholders such as [email]; drop: no row with it."),
    ] = "replace",
    known_rows: Annotated[
        bool, typer.Option("--known-rows", help="Take rows that an earlier log has, too.")
    ] = False,
    print_sql: Annotated[
        str | None,
        typer.Option(
            help="Print the statement that counts a log in a warehouse. One of spark, bigquery, snowflake, "
            "trino, clickhouse, postgres, duckdb."
        ),
    ] = None,
    per: Annotated[
        str, typer.Option(help="Day or session: what --print-sql counts by. The second keeps sessions apart.")
    ] = "day",
) -> Options:
    """Import logged queries, cleaned. Importing the same file again changes nothing.

    Of a log that was exported again, only new rows are taken. A row with a session or time is left out as
    often as an earlier log has it. `goldgrade import logs` lists the logs.

    A folder is one log, and sessions go on from file to file. The next import reads its new files alone; one
    that has changed is refused. Address and keys of an S3-compatible storage are the environment's:
    AWS_ENDPOINT_URL, AWS_REGION, AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY.

    E-mail addresses, phone and card numbers, IBANs, public IP addresses, identity numbers and keys are never
    stored. Of a session only a keyed hash is stored. Rows that are left out are counted by reason. Times may
    be ISO 8601, seconds or milliseconds since 1970, yymmddhhmmss or yyyymmddhhmmss, have month names as in
    Apache's logs, and with --date-order be numeric dates such as 03/04/2026. A zone is an offset, a name
    such as Europe/Berlin, or an abbreviation of one zone, such as CEST. A time that cannot be read, or is in
    a zone in doubt, such as EST, is unknown and never guessed.

    With --print-sql nothing is imported. The statement that is printed counts a table's log by text, segment
    and day, without turned pages and robots; its result imports as the log would. Fields are the table's
    columns, the time a timestamp in UTC.

    \b
    Examples:
      goldgrade import traffic queries.csv --query-field q --time-field asked_at --count-field n
      goldgrade import traffic ubi_queries.json.gz
      goldgrade import traffic s3://shop-logs/searches --session-field visitor
      goldgrade import traffic excite-small.log --no-header --columns session,time,query
      goldgrade import traffic us-shop.csv --time-field asked_on --date-order mdy
      goldgrade import traffic shop.csv --metadata-field device --metadata-field country
      goldgrade import traffic shop.csv --personal-data drop --bot-per-minute 0 --bot-per-day 0
      goldgrade import traffic shop.searches --print-sql bigquery --time-field at --session-field who
    """
    rules: Options = {"words": max_words, "characters": max_characters, "repeat_minutes": repeat_minutes}
    bots = {"queries_a_minute": bot_per_minute, "queries_a_day": bot_per_day}
    rows = {"personal_data": personal_data, "known_rows": known_rows}
    return {"date_order": date_order, "rules": {**rules, **bots, **rows}}


@import_command("queries", f"{RECORDS}, or a BEIR folder.")
def import_queries_command() -> Options:
    """Import queries to judge, besides the sample. Importing the same file again changes nothing.

    A field named with --tag-field is a category of the queries: its values become tags, in lower case and
    with hyphens for spaces.

    \b
    Examples:
      goldgrade import queries beir/scifact
      goldgrade import queries needs.csv --text-field query --information-need-field need
      goldgrade import queries support.csv --tag-field symptom --tag-field device
      goldgrade import queries topics.tsv.gz --no-header --columns id,text
    """
    return {}


@import_command("answers", f"{RECORDS}.")
def import_answers_command(skip_unknown: SkipUnknown = False) -> Options:
    """Import reference answers: any of a query's answers is right. Several lines of one query add up.

    What the file says of a query is all of its references. The same file again changes nothing.

    \b
    Examples:
      goldgrade import answers squad.jsonl --query-field question
      goldgrade import answers faq.csv --reference-field reference_answer --skip-unknown
    """
    return {"skip_unknown": skip_unknown}


@import_command("nuggets", f"{RECORDS}.")
def import_nuggets_command(skip_unknown: SkipUnknown = False) -> Options:
    """Import nuggets: the facts that a good answer has.

    Each is vital or okay. A row is a nugget, or a query with a list of objects with text and importance, as
    in TREC's files.
    What the file says of a query is all of its nuggets. The same file again changes nothing.

    \b
    Examples:
      goldgrade import nuggets nuggets.jsonl
      goldgrade import nuggets facts.csv --nugget-field fact --importance-field weight
    """
    return {"skip_unknown": skip_unknown}


@import_command("runs", "A TREC run, a table (TSV, CSV, JSON lines) or ranx's file.", RUN_FORMATS, ASKED)
def import_run_command(
    name: Annotated[str, typer.Option(help="Name of the run. A pool refers to it as run:NAME.")],
    skip_unknown: SkipUnknown = False,
    skip_repeated: Annotated[
        bool,
        typer.Option("--skip-repeated", help="Keep the best rank of a document that a query repeats."),
    ] = False,
    engine: Annotated[
        str | None, typer.Option(help="Engine to ask for all queries in force, and no file.")
    ] = None,
    depth: Annotated[int, typer.Option(help="Documents to ask an engine for, for each query.")] = 100,
    rate: Rate = RATE,
    repeat: Annotated[
        int, typer.Option(help="How often to ask. 2 says how many of the first ten changed.")
    ] = 1,
) -> Options:
    """Import a run: a system's ranked list for each query. Importing it again changes nothing.

    A list is ordered by its ranks, or by its scores where it has no ranks. Equal scores are ordered by
    document id, descending, as in trec_eval. Lines may come in any order, but no rank may be repeated.
    Lists with gaps in their ranks are counted. Scores order them; without scores the ranks do. Ids that an
    export prefixed (q-1) or encoded (two%20words) are mapped back.

    With --engine the lists are an engine's (`goldgrade engine add`). Documents that the project lacks are
    brought by id. Where it breaks off no run is stored, and the same command asks for what is missing.

    \b
    Examples:
      goldgrade import run bm25-tuned.trec.gz --name bm25-tuned
      goldgrade import run run_vector.tsv --name vector --query-field query --score-field engine_score
      goldgrade import run splade.json --name splade --format ranx-json --skip-unknown
      goldgrade import run top10.tsv --name shop --no-header --columns query,rank,document
      goldgrade import run --engine shop --name shop@november --depth 100 --rate 5 --repeat 2
    """
    return {"name": name, "skip_unknown": skip_unknown, "skip_repeated": skip_repeated}


@import_command("judgments", f"Judgments: {RECORDS}, qrels, LETOR, or as other tools export them.")
def import_judgments_command(
    annotator_columns: Annotated[
        str | None,
        typer.Option(
            help="Wide form: columns with grades, separated by commas. column=name names the annotator."
        ),
    ] = None,
    annotator_map: Annotated[
        str | None,
        typer.Option(
            help="Names in the file and whose they are: 'ann lee=Ann Lee'. Somebody else, whose name only "
            "looks like a known one, is mapped to that name itself."
        ),
    ] = None,
    annotator: Annotated[
        str | None, typer.Option(help="Annotator of all grades. For files that name nobody, such as qrels.")
    ] = None,
    grade: Annotated[
        int | None,
        typer.Option(help="Grade of all judgments, one of the guide's scale. For files without grades."),
    ] = None,
    judge: Annotated[
        str | None,
        typer.Option(
            help="Name of the judge that gave all grades. It is no person but, for instance, a language "
            "model. Its grades are no votes."
        ),
    ] = None,
    date_order: DateOrder = None,
    duration_unit: Annotated[
        str | None,
        typer.Option(help="Unit of --duration-field: s or ms.", show_default="what the field's name ends in"),
    ] = None,
    grade_map: Annotated[
        str | None,
        typer.Option(
            help="Grades of another scale: 100=3,10=2,1=1,0=0. A value may be cannot-tell or no-grade."
        ),
    ] = None,
    skip_unknown: SkipUnknown = False,
    about: Annotated[
        str | None,
        typer.Option(
            help="Text of a changed document: current or earlier. The current one is that of the "
            "corpus. The earlier one is what its annotator had before, for corrections.",
            show_default="the current one with --round, else refused",
        ),
    ] = None,
    round_name: Annotated[
        str | None,
        typer.Option("--round", help="Round of a further pass by the same people. It corrects no other."),
    ] = None,
) -> Options:
    """Import judgments that people gave elsewhere. They answer open presentations of the same pairs.

    Missing pairs, queries with their texts, and annotators are added and counted. An id is never taken as a
    text. Importing the same file again changes nothing; another grade is a correction. An empty cell is no
    judgment. A judgment is about the text that the corpus has now, unless --about says otherwise. With
    --judge the grades are kept apart: they settle nothing and add nothing (`goldgrade judge`).

    With --round the file is a pass of its own. Of each person the newest pass counts, and
    `goldgrade agreement --round` compares it with what was judged before.

    \b
    Examples:
      goldgrade import judgments ratings.csv --query-field query --document-field docid \\
        --annotator-columns agent_1_rating,agent_2_rating,agent_3_rating
      goldgrade import judgments long.csv --annotator-field rater --cannot-tell-field unrateable
      goldgrade import judgments test.qrels --format qrels --annotator nist
      goldgrade import judgments esci.csv --annotator esci --grade-map 100=3,10=2,1=1,0=0 --skip-unknown
      goldgrade import judgments llm.jsonl --judge gpt-5
      goldgrade import judgments questions.csv --query-field question --document-field corpus_id \
        --evidence-field references --annotator chroma --grade 3
      goldgrade import judgments again.csv --annotator-field rater --round second-pass
    """
    from curation.ingest.importers.value_maps import parse_annotator_columns

    if judge is not None and (about is not None or round_name is not None):
        raise typer.BadParameter("--about and --round are for people; a judge read the text of the corpus")
    return {
        "annotator_columns": parse_annotator_columns(annotator_columns or ""),
        "annotator_map": annotator_map,
        "annotator": annotator,
        "grade": grade,
        "judge": judge,
        "date_order": date_order,
        "duration_unit": duration_unit,
        "grade_map": grade_map,
        "skip_unknown": skip_unknown,
        "about": about,
        "round": round_name,
    }
