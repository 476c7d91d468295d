"""`goldset guide`: see and change the labeling guide."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from curation.cli.goldset import Json, command_group, project_store
from curation.cli.output import emit, say, table

if TYPE_CHECKING:
    from curation.guides.guide import Guide
    from curation.guides.questions import GuideQuestion
    from curation.labeling.rounds.lifecycle import GuideChange


guides = command_group("guide", "See and change the labeling guide.")


@guides.command("use")
def guide_use(
    file: Annotated[Path, typer.Argument(help="The guide: Markdown with the scale in its front matter.")],
    open_rounds: Annotated[
        str | None,
        typer.Option(
            help="What open rounds do: keep (their own guide) or switch (to this one; refused where "
            "grades were given on another scale)."
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
    from curation.labeling.rounds.lifecycle import use_guide

    change = use_guide(project_store(), file, open_rounds=open_rounds)
    emit(as_json, change, lambda: _show_change(change))


@guides.command("show")
def guide_show(as_json: Json = False) -> None:
    """Show the guide in force: its version, its scale and its text.

    \b
    Examples:
      goldset guide show
    """
    from curation.guides.guide import current_guide

    with project_store().reading() as cursor:
        guide = current_guide(cursor)
    emit(as_json, guide.model_dump(), lambda: _show_guide(guide))


@guides.command("questions")
def guide_questions_list(as_json: Json = False) -> None:
    """List where reviewers found the guide unclear, for its next version.

    \b
    Examples:
      goldset guide questions
      goldset guide questions --json
    """
    from curation.guides.questions import guide_questions

    with project_store().reading() as cursor:
        found = guide_questions(cursor)
    emit(as_json, {"questions": found}, lambda: _show_questions(found))


def _show_change(change: GuideChange) -> None:
    say(f"{change.title} ({change.guide_hash[:8]}) {'is' if change.changed else 'was'} the guide in force.")
    for names, what in ((change.kept, "keeps its own guide"), (change.switched, "uses it now")):
        for name in names:
            say(f"{name} {what}.")


def _show_guide(guide: Guide) -> None:
    say(f"{guide.title} ({guide.guide_hash})", "")
    for grade in guide.scale:
        say(f"{grade.value} {grade.name} (key {grade.key}): {grade.definition}")
    say("", guide.body)


def _show_questions(found: list[GuideQuestion]) -> None:
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
