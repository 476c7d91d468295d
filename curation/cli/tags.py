"""`goldgrade tags`: the tags of the queries to judge."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from typer import Argument, Context, Option

from curation.cli.invocation import actor, project_store, refuse_unused
from curation.cli.options import switch
from curation.cli.output import emit, show
from curation.cli.program import app
from curation.cli.progress import run_operation
from curation.core.errors import InputError
from curation.core.operation import PlainResult
from curation.core.text import pluralize
from curation.queries.requests import TagsRequest

QueryNames = Annotated[list[str] | None, Argument(help="Queries to tag with --set or --unset: ids or texts.")]
FindByRule = Annotated[bool, switch("--find", "Tag all current queries by rules.")]
SetTags = Annotated[list[str] | None, Option("--set", help="Tag to add to the queries. Repeatable.")]
UnsetTags = Annotated[list[str] | None, Option(help="Tag to remove from the queries. Repeatable.")]
DeclaredTags = Annotated[
    list[str] | None,
    Option(help="Add a tag to the project. Lower-case letters, digits and hyphens. Repeatable."),
]
ListedTag = Annotated[str | None, Option(help="List only queries with this tag.")]


@app.command()
def tags(
    context: Context,
    queries: QueryNames = None,
    find: FindByRule = False,
    set_: SetTags = None,
    unset: UnsetTags = None,
    declare: DeclaredTags = None,
    tag: ListedTag = None,
) -> None:
    """List the current queries with their tags, or set their tags.

    A tag that people set has a star, and overrides the rules. If a named query is wrong, nothing changes.
    `goldgrade import queries FILE --map tag=COLUMN` sets the tags of many queries.

    With --find rules tag the queries that are sampled, imported, written by hand, and in rounds. The rules
    find the tags question, temporal, multi-intent, short and long. A second run only stores changes. A sample
    can be stratified by tags (`goldgrade sample --strata tag:NAME`).

    Only people set entity, misspelling, synonym, single-hop, multi-hop, ambiguous, out-of-domain, adversarial
    and unanswerable, and the tags that --declare adds. Samples, rounds, splits and breakdowns can use all
    tags.

    \b
    Examples:
      goldgrade tags --tag unanswerable
      goldgrade tags --find
      goldgrade tags "head set" "ear phones" --set misspelling
      goldgrade tags q1f2e3d4c5b6a --set multi-hop --set question --unset entity --as ada
      goldgrade tags --declare error-code --declare device
    """
    from curation.queries import stored_tags

    sets_tags = bool(queries or set_ or unset)
    if sum((find, sets_tags, bool(declare))) > 1:
        raise InputError(
            "--find, --set and --unset, and --declare cannot be combined; expected only one of them."
        )
    if find or sets_tags or declare:
        refuse_unused(context, "no queries are listed", "tag")
    if find:
        show(run_operation("tags", TagsRequest()))
    elif declare:
        _declare_tags(declare)
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
