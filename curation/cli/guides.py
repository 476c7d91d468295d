"""`goldset guide`: the labeling guide in force."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from curation.cli import app, project_store
from curation.cli.output import Json, print_json, say, table

guides = typer.Typer(help="See and change the labeling guide.", no_args_is_help=True, rich_markup_mode=None)
app.add_typer(guides, name="guide")


@guides.command("use")
def guide_use(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(help="The guide: Markdown with the scale in its front matter.")],
    open_rounds: Annotated[
        str | None,
        typer.Option(
            help="What becomes of rounds under way: keep (they go on under their own guide) or switch (they "
            "go on under this one; refused where grades were given on another scale)."
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Make a guide the one in force. Each judgment keeps the version under which it was given.

    \b
    Examples:
      goldset guide use labeling_guides/graded-relevance.md
      goldset guide use revised.md --open-rounds keep
    """
    from curation.labeling.lifecycle import use_guide

    change = use_guide(project_store(context), file, open_rounds=open_rounds)
    if as_json:
        print_json(change)
        return
    say(f"{change.title} ({change.guide_hash[:8]}) {'is' if change.changed else 'was'} the guide in force.")
    for names, what in ((change.kept, "goes on under its own guide"), (change.switched, "is under it now")):
        for name in names:
            say(f"{name} {what}.")


@guides.command("show")
def guide_show(context: typer.Context, as_json: Json = False) -> None:
    """Show the guide in force: its version, its scale and its text.

    \b
    Examples:
      goldset guide show
    """
    from curation.labeling.guides import current_guide

    with project_store(context).reading() as cursor:
        guide = current_guide(cursor)
    if as_json:
        print_json(guide.model_dump())
        return
    say(f"{guide.title} ({guide.guide_hash})", "")
    for grade in guide.scale:
        say(f"{grade.value} {grade.name} (key {grade.key}): {grade.definition}")
    say("", guide.body)


@guides.command("questions")
def guide_questions_list(context: typer.Context, as_json: Json = False) -> None:
    """List where reviewers found the guide unclear, for whoever writes its next version.

    \b
    Examples:
      goldset guide questions
      goldset guide questions --json
    """
    from curation.labeling.guide_questions import guide_questions

    with project_store(context).reading() as cursor:
        found = guide_questions(cursor)
    if as_json:
        print_json({"questions": found})
        return
    columns = ["query", "document", "what is unclear", "who", "guide", "asked"]
    rows = [
        (
            one.query,
            one.title,
            one.words,
            one.author,
            one.guide_hash[:8] + (" (in force)" if one.in_force else ""),
            f"{one.asked_at:%Y-%m-%d}",
        )
        for one in found
    ]
    table("Where the guide is unclear", columns, rows)
    say(f"{len(found):,} in all. After a revision: goldset guide use FILE")
