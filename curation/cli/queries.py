"""`goldset query` and `goldset tags`: queries written by hand, and what kind each query is."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from curation.cli import app, project_store
from curation.cli.imports import Columns, Encoding, Format, NoHeader, layout_of
from curation.cli.output import Json, print_json, progress_bar, say, table

if TYPE_CHECKING:
    from curation.sampling.tags import TagsSet

query = typer.Typer(help="Write queries by hand.", no_args_is_help=True, rich_markup_mode=None)
tags = typer.Typer(
    help="What kind each query is, by rules and by people.", no_args_is_help=True, rich_markup_mode=None
)
app.add_typer(query, name="query")
app.add_typer(tags, name="tags")

COMMAND_LINE = "command line"
By = Annotated[str, typer.Option(help="Whose word it is; it is kept with the tags.")]


@query.command("add")
def query_add(
    context: typer.Context,
    text: Annotated[str, typer.Argument(help="The query, as a user would put it.")],
    id: Annotated[str | None, typer.Option(help="Its id.", show_default="made from the text")] = None,
    need: Annotated[
        str | None, typer.Option(help="What somebody who asks so wants to know: annotators see it.")
    ] = None,
    tag: Annotated[list[str] | None, typer.Option(help="A tag that it has; repeatable.")] = None,
    by: By = COMMAND_LINE,
    as_json: Json = False,
) -> None:
    """Add a query that the log does not hold. It is judged like those of the sample.

    A text that the project holds already is refused, and so is one with personal data in it.

    \b
    Examples:
      goldset query add "cable for two 4k screens"
      goldset query add "who repairs phones in space" --id odd-1 --tag unanswerable --tag question
      goldset query add "usb c hub" --need "A hub that charges the laptop too" --by ada --json
    """
    from curation.sampling.tags import write_query

    added = write_query(project_store(context), text, id, need, tag or [], by)
    if as_json:
        print_json(added)
    else:
        say(f"Added query {added.query_id}: {added.text}")


@tags.command("find")
def tags_find(
    context: typer.Context,
    model: Annotated[
        str | None,
        typer.Option(
            help="sentence-transformers model, by name or folder, that finds a query's neighbours.",
            show_default="all-MiniLM-L6-v2",
        ),
    ] = None,
    dense: Annotated[
        bool, typer.Option("--dense/--no-dense", help="Look for synonyms too: embeds the corpus once.")
    ] = True,
    as_json: Json = False,
) -> None:
    """Tag the queries in force by rule: those of the sample, imported, written and shown ones.

    Tells question, entity, misspelling, temporal, multi-intent, synonym, short and long. What people said of
    a tag stands. Running it again adds only what changed. Misspelling, entity and synonym need a corpus.

    \b
    Examples:
      goldset tags find
      goldset tags find --no-dense --json
      goldset tags find --model models/my-encoder
    """
    from curation.retrieval.embeddings import DEFAULT_MODEL
    from curation.sampling.tags import RULE_TAGS, find_tags

    with progress_bar() as progress:
        found = find_tags(project_store(context), model or DEFAULT_MODEL, progress, dense)
    if as_json:
        print_json(found)
        return
    shown = [
        (tag, None if tag in found.not_looked_for and not count else count)  # unknown is not zero
        for tag, count in found.tags.items()
        if tag in RULE_TAGS or count
    ]
    table(f"Tags of {found.queries:,} queries", ["tag", "queries"], shown)
    say(f"{found.changed:,} changed; on {found.by_person:,} people's word stands.")
    for tag, why in found.not_looked_for.items():
        say(f"not looked for: {tag}: {why}")


@tags.command("list")
def tags_list(
    context: typer.Context,
    tag: Annotated[str | None, typer.Option(help="Only queries with this tag.")] = None,
    as_json: Json = False,
) -> None:
    """List the queries in force with their tags; those that people gave are marked with a star.

    \b
    Examples:
      goldset tags list
      goldset tags list --tag unanswerable
      goldset tags list --tag misspelling --json
    """
    from curation.sampling.tags import tagged_queries

    found = tagged_queries(project_store(context), tag)
    if as_json:
        print_json({"queries": found})
        return
    rows = [
        (
            q.query_id,
            q.text,
            q.stratum,
            ", ".join(name + "*" * by_person for name, by_person in q.tags.items()),
        )
        for q in found
    ]
    table(f"{len(rows):,} queries", ["id", "query", "stratum", "tags (* by people)"], rows)


@tags.command("set")
def tags_set(
    context: typer.Context,
    queries: Annotated[list[str], typer.Argument(help="The ids of queries, or their texts.")],
    add: Annotated[list[str] | None, typer.Option(help="A tag that they have; repeatable.")] = None,
    remove: Annotated[list[str] | None, typer.Option(help="A tag that they have not; repeatable.")] = None,
    by: By = COMMAND_LINE,
    as_json: Json = False,
) -> None:
    """Say which tags a query, or several, have and have not; that stands over the rules.

    Of several queries the same is said: of all, or of none where one cannot be found. Besides the tags of
    the rules there are single-hop, multi-hop, ambiguous, out-of-domain, adversarial and unanswerable, which
    only people give.

    \b
    Examples:
      goldset tags set "head set" --add misspelling
      goldset tags set "head set" "ear phones" "key board" --add misspelling
      goldset tags set q1f2e3d4c5b6a --add multi-hop --add question --remove entity --by ada
    """
    from curation.sampling.tags import set_tags

    _show_set(set_tags(project_store(context), queries, add or [], remove or [], by), as_json)


@tags.command("import")
def tags_import(
    context: typer.Context,
    path: Annotated[Path, typer.Argument(help="CSV, TSV, JSON lines or Parquet with queries and tags.")],
    query_field: Annotated[
        str | None, typer.Option(help="Field with the query's id or text; usual: query, query_id, text.")
    ] = None,
    tag_field: Annotated[
        str | None, typer.Option(help="Field with its tag or tags; usual: tag, tags.")
    ] = None,
    by: By = COMMAND_LINE,
    format: Format = None,
    encoding: Encoding = "utf-8",
    columns: Columns = None,
    no_header: NoHeader = False,
    as_json: Json = False,
) -> None:
    """Say the tags of many queries at once: all lines of a file, or none if something is wrong with one.

    A cell holds one tag or several, parted by commas or spaces; -entity says that the query is no entity.

    \b
    Examples:
      goldset tags import tags.csv
      goldset tags import reviewed.jsonl --query-field question --tag-field kinds --by ada
    """
    from curation.sampling.tags import import_tags

    layout = layout_of(format, encoding, columns, no_header)
    _show_set(import_tags(project_store(context), path, by, query_field, tag_field, layout), as_json)


def _show_set(result: TagsSet, as_json: bool) -> None:
    if as_json:
        print_json(result)
        return
    say(
        f"{len(result.added):,} added, {len(result.removed):,} removed, {result.unchanged:,} were so already."
    )
