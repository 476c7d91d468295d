"""`goldgrade tags`: what kind each query is."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from curation.cli.import_.options import Columns, Encoding, Format, NoHeader, field, layout_of
from curation.cli.output import carry_out, emit, say, show_outcome, table
from curation.cli.program import By, Json, command_group, project_store
from curation.core.errors import InputError
from curation.core.text import amount
from curation.queries.sampling.request import TagsRequest
from curation.store import COMMAND_LINE

if TYPE_CHECKING:
    from curation.ingest.importers.query_tags import TagsSet
    from curation.queries.sampling.tags.stored_tags import TaggedQuery
tags = command_group("tags", "Say what kind each query is, by rules and by people.")

NO_SYNONYMS = (
    "--dense, --no-dense and --model are gone: no rule looks for entity, misspelling or synonym. People set "
    "these tags with `goldgrade tags set` or `goldgrade tags import`."
)


@tags.command("find")
def tags_find(
    traffic: Annotated[
        bool,
        typer.Option(
            "--traffic",
            help="Count the tags of the whole traffic instead. It is for before a sample, and stores "
            "nothing.",
        ),
    ] = False,
    dense: Annotated[bool | None, typer.Option("--dense/--no-dense", hidden=True)] = None,
    model: Annotated[str | None, typer.Option("--model", hidden=True)] = None,
    as_json: Json = False,
) -> None:
    """Tag all current queries by rule.

    These are sampled, imported, written by hand, and in rounds.

    Finds question, temporal, multi-intent, short and long. Tags that people set are not changed. Running it
    again adds only what changed. People set all other tags (`goldgrade tags set`, `goldgrade tags import`).
    With --traffic it shows by which tags a sample can be stratified (`goldgrade sample --strata tag:NAME`).

    \b
    Examples:
      goldgrade tags find
      goldgrade tags find --json
      goldgrade tags find --traffic
    """
    from curation.operations.registry import OPERATIONS
    from curation.queries.sampling.tags.find_tags import tags_of_traffic

    if dense is not None or model is not None:
        raise InputError(NO_SYNONYMS)
    if traffic:
        counted = tags_of_traffic(project_store())

        def show() -> None:
            rows = [(tag, *counts) for tag, counts in counted.tags.items()]
            table(
                f"Tags of {amount(counted.queries, 'query', 'queries')} of the traffic",
                ["tag", "queries", "searches"],
                rows,
            )
            say(
                "Nothing was stored. A sample by tag draws by these rules: "
                "goldgrade sample --strata band,tag:NAME"
            )

        emit(as_json, counted, show)
        return
    found, outcome = carry_out(OPERATIONS["tags"], TagsRequest())
    emit(as_json, found, lambda: show_outcome(outcome))


@tags.command("list")
def tags_list(
    tag: Annotated[str | None, typer.Option(help="Only queries with this tag.")] = None, as_json: Json = False
) -> None:
    """List the current queries with their tags. Tags that people set are marked with a star.

    \b
    Examples:
      goldgrade tags list
      goldgrade tags list --tag unanswerable
      goldgrade tags list --tag misspelling --json
    """
    from curation.queries.sampling.tags.stored_tags import tagged_queries

    found = tagged_queries(project_store(), tag)
    emit(as_json, {"queries": found}, lambda: _show_tagged(found))


@tags.command("set")
def tags_set(
    queries: Annotated[list[str], typer.Argument(help="The ids of queries, or their texts.")],
    tag: Annotated[list[str] | None, typer.Option(help="A tag that the queries have. Repeatable.")] = None,
    no_tag: Annotated[
        list[str] | None, typer.Option(help="A tag that the queries do not have. Repeatable.")
    ] = None,
    by: By = COMMAND_LINE,
    as_json: Json = False,
) -> None:
    """Set which tags one or more queries have and do not have. This overrides the rules.

    All named queries get the same tags; if one is not found, nothing changes. Besides the tags of the rules
    there are entity, misspelling, synonym, single-hop, multi-hop, ambiguous, out-of-domain, adversarial and
    unanswerable, and those that `goldgrade tags declare` adds. Only people set these.

    \b
    Examples:
      goldgrade tags set "head set" --tag misspelling
      goldgrade tags set "head set" "ear phones" "key board" --tag misspelling
      goldgrade tags set q1f2e3d4c5b6a --tag multi-hop --tag question --no-tag entity --by ada
    """
    from curation.queries.sampling.tags.stored_tags import set_tags

    _emit_set(set_tags(project_store(), queries, tag or [], no_tag or [], by), as_json)


@tags.command("declare")
def tags_declare(
    names: Annotated[
        list[str],
        typer.Argument(help="Names of tags: lower-case letters, digits and hyphens.", metavar="NAME..."),
    ],
    by: By = COMMAND_LINE,
    as_json: Json = False,
) -> None:
    """Add tags of your own, such as error codes or devices.

    People set them like all other tags. Samples, rounds, splits and breakdowns know them.

    \b
    Examples:
      goldgrade tags declare error-code device
      goldgrade tags declare billing --by ada --json
    """
    from curation.ingest.importers.query_tags import declare_tags

    added = declare_tags(project_store(), names, by)
    before = len(set(names)) - len(added)
    emit(as_json, {"added": added}, f"{amount(len(added), 'tag')} added, {before:,} known before.")


@tags.command("import")
def tags_import(
    path: Annotated[Path, typer.Argument(help="CSV, TSV, JSON lines or Parquet with queries and tags.")],
    query_field: Annotated[str | None, field("the query's id or text", "query, query_id, text")] = None,
    tag_field: Annotated[str | None, field("its tag or tags", "tag, tags")] = None,
    by: By = COMMAND_LINE,
    format: Format = None,
    encoding: Encoding = "utf-8",
    columns: Columns = None,
    no_header: NoHeader = False,
    as_json: Json = False,
) -> None:
    """Set the tags of many queries from a file.

    All lines count, or none if one is wrong.

    A cell holds one or more tags, separated by commas or spaces; -entity means that the query is not an
    entity.

    \b
    Examples:
      goldgrade tags import tags.csv
      goldgrade tags import reviewed.jsonl --query-field question --tag-field kinds --by ada
    """
    from curation.queries.sampling.tags.import_tags import import_tags

    layout = layout_of(format, encoding, columns, no_header)
    _emit_set(import_tags(project_store(), path, by, query_field, tag_field, layout), as_json)


def _emit_set(result: TagsSet, as_json: bool) -> None:
    counts = f"{len(result.added):,} added, {len(result.removed):,} removed"
    emit(as_json, result, f"{counts}, {result.unchanged:,} were so already.")


def _show_tagged(queries: list[TaggedQuery]) -> None:
    rows = [
        (
            q.query_id,
            q.text,
            q.stratum,
            ", ".join(f"{name}*" if by_person else name for name, by_person in q.tags.items()),
        )
        for q in queries
    ]
    table(amount(len(rows), "query", "queries"), ["id", "query", "stratum", "tags (* by people)"], rows)
