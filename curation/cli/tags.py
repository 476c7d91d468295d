"""`goldgrade tags`: the tags of the queries to judge."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from typer import Argument, Context, Option

from curation.cli.file_options import Columns, Encoding, Format, NoHeader, get_columns, get_layout, map_option
from curation.cli.invocation import actor, project_store, refuse_unused
from curation.cli.options import switch
from curation.cli.output import emit, show
from curation.cli.program import app
from curation.cli.progress import run_operation
from curation.core.errors import InputError
from curation.core.operation import PlainResult
from curation.core.text import pluralize
from curation.ingest.readers.formats import FileLayout
from curation.queries.requests import TagsRequest

QueryNames = Annotated[list[str] | None, Argument(help="Queries to tag with --set or --unset: ids or texts.")]
FindByRule = Annotated[bool, switch("--find", "Tag all current queries by rules.")]
SetTags = Annotated[list[str] | None, Option("--set", help="Tag to add to the queries. Repeatable.")]
UnsetTags = Annotated[list[str] | None, Option(help="Tag to remove from the queries. Repeatable.")]
DeclaredTags = Annotated[
    list[str] | None,
    Option(help="Add a tag to the project. Lower-case letters, digits and hyphens. Repeatable."),
]
TagFile = Annotated[Path | None, Option(help="File with queries and tags: CSV, TSV, JSON lines or Parquet.")]
ColumnMap = Annotated[list[str] | None, map_option("query", "tag")]
ListedTag = Annotated[str | None, Option(help="List only queries with this tag.")]


@app.command()
def tags(
    context: Context,
    queries: QueryNames = None,
    find: FindByRule = False,
    set_: SetTags = None,
    unset: UnsetTags = None,
    declare: DeclaredTags = None,
    file: TagFile = None,
    map: ColumnMap = None,
    format: Format = None,
    encoding: Encoding = "utf-8",
    columns: Columns = None,
    no_header: NoHeader = False,
    tag: ListedTag = None,
) -> None:
    """List the current queries with their tags, or set their tags.

    A tag that people set has a star, and overrides the rules. If a named query or a line of a file is wrong,
    nothing changes.

    With --find rules tag the queries that are sampled, imported, written by hand, and in rounds. The rules
    find the tags question, temporal, multi-intent, short and long. A second run only stores changes. A sample
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
    from curation.queries import stored_tags

    sets_tags = bool(queries or set_ or unset)
    if sum((find, sets_tags, bool(declare), file is not None)) > 1:
        raise InputError(
            "--find, --set and --unset, --declare and --file cannot be combined; expected only one of them."
        )
    if file is None:
        file_options = ("map", "format", "encoding", "columns", "no_header")
        refuse_unused(context, "no file is read; name one with --file", *file_options)
    if find or sets_tags or declare or file is not None:
        refuse_unused(context, "no queries are listed", "tag")
    if find:
        show(run_operation("tags", TagsRequest()))
    elif declare:
        _declare_tags(declare)
    elif file is not None:
        _import_tags(file, map, get_layout(format, encoding, columns, no_header))
    elif sets_tags:
        show(stored_tags.set_tags(project_store(), queries or [], set_ or [], unset or [], actor()))
    else:
        queries_with_tags = stored_tags.read_tagged_queries(project_store(), tag)
        table = stored_tags.build_tags_table(queries_with_tags)
        show(PlainResult((), (table,)), as_json={"queries": queries_with_tags})


def _declare_tags(tags: Sequence[str]) -> None:
    from curation.ingest.importers.query_tags import declare_tags

    added = declare_tags(project_store(), tags, actor())
    known_count = len(set(tags)) - len(added)
    emit({"added": added}, f"{pluralize(len(added), 'tag')} added, {known_count:,} already known.")


def _import_tags(file: Path, columns: Sequence[str] | None, layout: FileLayout) -> None:
    from curation.queries.tags_file import import_tags

    query_column, tag_column = get_columns(columns, "query", "tag")
    show(import_tags(project_store(), file, actor(), query_column, tag_column, layout))
