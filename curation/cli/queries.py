"""The commands about the queries to judge: `sample` draws them, `query` adds one, `tags` labels them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from curation.cli.file_options import Columns, Encoding, Format, NoHeader, layout_of, map_option, read_columns
from curation.cli.invocation import actor, project_store
from curation.cli.options import option, refuse_others, refuse_unused, switch, with_options_of
from curation.cli.output import emit, show
from curation.cli.program import app, command_group
from curation.cli.progress import run_operation
from curation.core.errors import InputError
from curation.core.operation import PlainResult
from curation.core.text import pluralize
from curation.queries.requests import DrawRequest, TagsRequest, TopUpRequest

query = command_group("query", "Write queries by hand.")


@app.command()
def tags(
    context: typer.Context,
    queries: Annotated[
        list[str] | None, typer.Argument(help="Queries whose tags --set and --unset change: ids or texts.")
    ] = None,
    find: Annotated[bool, switch("--find", "Tag all current queries by rule.")] = False,
    set_: Annotated[
        list[str] | None, typer.Option("--set", help="A tag that the queries have. Repeatable.")
    ] = None,
    unset: Annotated[list[str] | None, typer.Option(help="A tag that the queries lack. Repeatable.")] = None,
    declare: Annotated[
        list[str] | None,
        typer.Option(help="Add a tag to the project. Lower-case letters, digits and hyphens. Repeatable."),
    ] = None,
    file: Annotated[
        Path | None, typer.Option(help="File with queries and tags: CSV, TSV, JSON lines or Parquet.")
    ] = None,
    map: Annotated[list[str] | None, map_option("query", "tag")] = None,
    format: Format = None,
    encoding: Encoding = "utf-8",
    columns: Columns = None,
    no_header: NoHeader = False,
    tag: Annotated[str | None, typer.Option(help="List only queries with this tag.")] = None,
) -> None:
    """List the current queries with their tags, or set their tags.

    A tag that people set has a star, and overrides the rules. If a named query or a line of a file is wrong,
    nothing changes.

    With --find rules tag the queries that are sampled, imported, written by hand, and in rounds. The rules
    find the tags question, temporal, multi-intent, short and long. A second run only adds changes. A sample
    can be stratified by tags (`goldgrade sample --strata tag:NAME`).

    Only people set entity, misspelling, synonym, single-hop, multi-hop, ambiguous, out-of-domain, adversarial
    and unanswerable, and the tags that --declare adds. Samples, rounds, splits and breakdowns can use all
    tags. A cell of a --file holds one or more tags, separated by commas or spaces; -entity means that the
    query is not an entity.

    \b
    Examples:
      goldgrade tags --tag unanswerable
      goldgrade tags --find
      goldgrade tags "head set" "ear phones" --set misspelling
      goldgrade tags q1f2e3d4c5b6a --set multi-hop --set question --unset entity --as ada
      goldgrade tags --declare error-code --declare device
      goldgrade tags --file reviewed.jsonl --map query=question --map tag=kinds --as ada
    """
    sets_tags = bool(queries or set_ or unset)
    if sum((find, sets_tags, bool(declare), file is not None)) > 1:
        raise InputError("--find, --set and --unset, --declare and --file do different work; expected one.")
    if file is None:
        file_options = ("map", "format", "encoding", "columns", "no_header")
        refuse_unused(context, "no file is read; name one with --file", *file_options)
    if find or sets_tags or declare or file is not None:
        refuse_unused(context, "no queries are listed", "tag")
    from curation.ingest.importers.query_tags import declare_tags
    from curation.queries import stored_tags

    store = project_store()
    if find:
        from curation.operations.registry import OPERATIONS

        show(run_operation(OPERATIONS["tags"], TagsRequest()))
    elif sets_tags:
        show(stored_tags.set_tags(store, queries or [], set_ or [], unset or [], actor()))
    elif declare:
        added = declare_tags(store, declare, actor())
        known_count = len(set(declare)) - len(added)
        emit({"added": added}, f"{pluralize(len(added), 'tag')} added, {known_count:,} known before.")
    elif file is not None:
        layout = layout_of(format, encoding, columns, no_header)
        query_column, tag_column = read_columns(map, "query", "tag")
        show(stored_tags.import_tags(store, file, actor(), query_column, tag_column, layout))
    else:
        tagged = stored_tags.read_tagged_queries(store, tag)
        show(PlainResult((), (stored_tags.build_tags_table(tagged),)), as_json={"queries": tagged})


@query.command("add")
def query_add(
    text: Annotated[str, typer.Argument(help="The query, as a user would type it.")],
    id: Annotated[str | None, typer.Option(help="Its id.", show_default="made from the text")] = None,
    information_need: Annotated[str | None, typer.Option(help="Information need, for annotators.")] = None,
    tag: Annotated[list[str] | None, typer.Option(help="A tag of the query. Repeatable.")] = None,
) -> None:
    """Add a query that is not in the log. People judge it like a query of the sample.

    A text that the project already has is refused, and so is a text with personal data.

    \b
    Examples:
      goldgrade query add "cable for two 4k screens"
      goldgrade query add "who repairs phones in space" --id odd-1 --tag unanswerable --tag question
      goldgrade query add "usb c hub" --information-need "A hub that charges the laptop too" --as ada --json
    """
    from curation.queries.stored_tags import write_query

    added = write_query(project_store(), text, id, information_need, tag or [], actor())
    emit(added, f"Added query {added.query_id}: {added.text}")


@app.command()
@with_options_of(DrawRequest, except_fields=("size", "quotas"))
def sample(
    request: DrawRequest,
    context: typer.Context,
    size: Annotated[
        int | None, option(DrawRequest, "size", show_default="needed unless topping up to quotas")
    ] = None,
    quota: Annotated[list[str] | None, option(DrawRequest, "quotas")] = None,
    top_up: Annotated[
        bool,
        switch(
            "--top-up",
            "Add queries to the current sample, and remove no query. The sample then has at least each "
            "--quota, or --size queries.",
        ),
    ] = False,
) -> None:
    """Draw the queries to judge from all imported traffic. The draw is without replacement.

    By default head, torso and tail get equal shares of the sample; the unused share of a small stratum goes
    to the other strata. Strata of several dimensions are crossed and named like `head · docs-site · short`.
    Length is short up to 2 words, long from 6. A tag makes two strata, such as `question` and `not question`.
    A field is a further field of the log (`import traffic --map metadata=COLUMN`). A cluster is the region of
    the corpus to which a query belongs most (`goldgrade coverage`). Queries asked equally often stay in one
    band. Each query is stored with its inclusion probability. The sample becomes the current one; earlier
    samples stay stored.

    With `--top-up` a
    stratum that is too small gets more queries. Each `--quota` is then a minimum, no earlier query is lost,
    and all probabilities stay correct. Seed, strata and limits stay as in the current sample.

    \b
    Examples:
      goldgrade sample --size 200 --seed 7
      goldgrade sample --size 200 --seed 7 --json
      goldgrade sample --size 300 --strata band,segment --allocation square-root
      goldgrade sample --size 200 --strata band,tag:question,field:country
      goldgrade sample --size 200 --strata cluster --allocation square-root
      goldgrade sample --size 200 --design pps --since 2026-01-01 --until 2026-04-01
      goldgrade sample --size 260 --seed 7 --quota head=67 --quota torso=67
      goldgrade sample --size 260 --seed 7 --quota head=30%
      goldgrade sample --top-up --quota tail=40 --quota torso=40
      goldgrade sample --top-up --size 300
      goldgrade sample --size 50 --seed 8 --min-count 2 --exclude-judged --exclude-released
    """
    from curation.operations.registry import OPERATIONS
    from curation.queries.requests import read_quotas

    if top_up:
        reason = "--top-up draws like the current sample, and takes only --size and --quota"
        refuse_others(context, reason, "size", "quota", "top_up")
    elif size is None:
        raise InputError("No --size was given; expected how many queries to draw, for instance --size 200.")
    quotas = read_quotas(quota or [], size)
    if size is None or top_up:
        report = run_operation(OPERATIONS["top up"], TopUpRequest(size, quotas))
    else:
        report = run_operation(OPERATIONS["sample"], replace(request, size=size, quotas=quotas))
    show(report, *report.warnings)
