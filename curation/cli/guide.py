"""`goldgrade guide`: see and change the labeling guide."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from curation.cli.options import refuse_unused
from curation.cli.output import emit, say, show_tables
from curation.cli.program import Json, command_group, project_store
from curation.core.text import amount

if TYPE_CHECKING:
    from curation.guides.difference import GuideDifference
    from curation.guides.guide import Guide
    from curation.labeling.guide_change import GuideEffects
    from curation.labeling.rounds.guide_in_force import GuideChange
    from curation.store import Cursor


guides = command_group("guide", "See and change the labeling guide.")


@guides.command("use")
def guide_use(
    context: typer.Context,
    file: Annotated[
        Path,
        typer.Argument(help="Markdown with the scale in its front matter, or a guide of goldgrade by name."),
    ],
    open_rounds: Annotated[
        str | None,
        typer.Option(
            help="What open rounds do: keep their guide, or switch to this. To switch is refused where "
            "grades were given on another scale."
        ),
    ] = None,
    reason: Annotated[str, typer.Option(help="Why, for the audit trail and the list of versions.")] = "",
    same_grades: Annotated[
        bool,
        typer.Option(
            "--same-grades",
            help="The meaning of the grades is unchanged: labels stay fresh. Without it they do if only the "
            "presentation of documents changes.",
        ),
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what it would mean.")] = False,
    as_json: Json = False,
) -> None:
    """Make a guide the one in force. Each judgment keeps the version under which it was given.

    \b
    Examples:
      goldgrade guide use graded
      goldgrade guide use revised.md --dry-run
      goldgrade guide use revised.md --open-rounds keep --reason "Refurbished goods made clear"
      goldgrade guide use typos.md --same-grades --reason "Typing errors"
    """
    from curation.guides.parse_guide import read_guide
    from curation.labeling.guide_change import guide_effects
    from curation.labeling.rounds.guide_in_force import put_in_force
    from curation.store import COMMAND_LINE

    if dry_run:
        refuse_unused(context, "a dry run changes nothing", "open_rounds", "reason")
        effects = guide_effects(project_store(), read_guide(file), same_grades)

        def show() -> None:
            from curation.labeling.guide_change import rounds_table

            say(*effects.difference.summary, "", *effects.sentences)
            if effects.rounds:
                show_tables(rounds_table(effects))
                say(f"keep: {effects.describe('keep')}", f"switch: {effects.describe('switch')}")

        emit(as_json, _effects_json(effects), show)
        return
    guide, store = read_guide(file), project_store()
    change = put_in_force(store, guide, COMMAND_LINE, open_rounds, reason, same_grades=same_grades)
    emit(as_json, change, lambda: _show_change(change))


@guides.command("check")
def guide_check(
    file: Annotated[Path, typer.Argument(help="The guide to look at; it does not come into force.")],
    as_json: Json = False,
) -> None:
    """Check a guide and the fields of its presentation template.

    It says in how many documents these fields are.

    \b
    Examples:
      goldgrade guide check revised.md
    """
    from curation.guides.parse_guide import read_guide
    from curation.guides.presentation_template import field_uses

    guide = read_guide(file)
    with project_store().reading() as cursor:
        uses = field_uses(cursor, guide.presentation)
    values = {"guide_hash": guide.guide_hash, "title": guide.title, "fields": [use._asdict() for use in uses]}

    def show() -> None:
        say(f"{guide.title} ({guide.guide_hash[:8]}) is a guide with {amount(len(guide.scale), 'grade')}.")
        say(_evidence_asked(guide))
        for use in uses:
            say(use.sentence)

    emit(as_json, values, show)


@guides.command("show")
def guide_show(
    version: Annotated[
        str | None, typer.Argument(help="A version, by the beginning of its hash; else the one in force.")
    ] = None,
    source: Annotated[bool, typer.Option("--source", help="Print the file, to be edited.")] = False,
    as_json: Json = False,
) -> None:
    """Show a guide's scale and text.

    It is the one in force unless a version is named.

    \b
    Examples:
      goldgrade guide show
      goldgrade guide show 3c1e9962 --source > revised.md
    """
    from curation.guides.guide import current_guide
    from curation.guides.versions import find_version
    from curation.guides.write_guide import source_of

    with project_store().reading() as cursor:
        guide = find_version(cursor, version) if version else current_guide(cursor)
    if source and not as_json:
        typer.echo(source_of(guide), nl=False)
        return
    shown = guide.model_dump() | ({"source": source_of(guide)} if source else {})
    emit(as_json, shown, lambda: _show_guide(guide))


@guides.command("versions")
def guide_versions_list(as_json: Json = False) -> None:
    """List all versions of the guide.

    Each with since when, by whom, why, and how much was judged under it.

    \b
    Examples:
      goldgrade guide versions
    """
    from curation.guides.versions import guide_versions

    with project_store().reading() as cursor:
        found = guide_versions(cursor)

    def show() -> None:
        from curation.guides.versions import version_table

        show_tables(version_table(found))
        say("What changes between two: goldgrade guide diff OLD NEW")

    emit(as_json, {"versions": found}, show)


@guides.command("diff")
def guide_diff(
    before: Annotated[str, typer.Argument(help="A version, by the beginning of its hash, or a file.")],
    after: Annotated[str | None, typer.Argument(help="Another one; else the guide in force.")] = None,
    as_json: Json = False,
) -> None:
    """Show which grades and texts change between two guides.

    \b
    Examples:
      goldgrade guide diff 3c1e9962
      goldgrade guide diff 3c1e9962 revised.md
    """
    from curation.guides.difference import guide_difference
    from curation.guides.guide import current_guide

    store = project_store()
    with store.reading() as cursor:
        old = _guide_named(cursor, before)
        new = _guide_named(cursor, after) if after else current_guide(cursor)
    found = guide_difference(old, new)

    def show() -> None:
        say(*found.summary)
        for changed_grade in found.changed_grades:
            for mark, grade in (("-", changed_grade.before), ("+", changed_grade.after)):
                if grade is not None:
                    say(f"{mark} {grade.value} {grade.name} (key {grade.key}): {grade.definition}")
        for block in found.body:
            if block.kind != "same" and block.text.strip():
                say(f"{'-' if block.kind == 'removed' else '+'} {' '.join(block.text.split())}")

    emit(as_json, _difference_json(found), show)


@guides.command("questions")
def guide_questions_list(as_json: Json = False) -> None:
    """List where people found the guide unclear, with the answers.

    \b
    Examples:
      goldgrade guide questions
      goldgrade guide questions --json
    """
    from curation.guides.questions import guide_questions, question_table

    with project_store().reading() as cursor:
        found = guide_questions(cursor)
    emit(
        as_json,
        {"questions": found},
        lambda: show_tables(question_table("Where the guide is unclear", found)),
    )


@guides.command("answer")
def guide_answer(
    question: Annotated[str, typer.Argument(help="The question, by the beginning of its id.")],
    words: Annotated[str, typer.Argument(help="The answer.")],
    asker_only: Annotated[
        bool, typer.Option("--asker-only", help="Only who asked reads it, instead of everyone.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Answer a question about the guide, or change its answer. Annotators read it next to the guide.

    \b
    Examples:
      goldgrade guide answer 5f2a9c1e "Refurbished goods are graded as used ones."
      goldgrade guide answer 5f2a9c1e "Yes, here." --asker-only
    """
    from curation.guides.questions import answer_question

    found = answer_question(project_store(), question, words, everyone=not asker_only)
    who = "Everyone" if found.everyone else "Who asked"
    emit(as_json, found._asdict(), lambda: say(f"{who} reads the answer to “{found.words}” now."))


def _guide_named(cursor: Cursor, name: str) -> Guide:
    from curation.guides.parse_guide import read_guide
    from curation.guides.versions import find_version

    path = Path(name)
    return read_guide(path) if path.suffix or path.exists() else find_version(cursor, name)


def _effects_json(effects: GuideEffects) -> dict[str, object]:
    return {
        "sentences": effects.sentences,
        "changes": effects.difference.summary,
        "rounds": [one._asdict() for one in effects.rounds],
        "answers": effects.answers,
        "stale_pairs": effects.stale_pairs,
        "off_scale": effects.off_scale,
        "off_scale_decisions": effects.off_scale_decisions,
    }


def _difference_json(guide_difference: GuideDifference) -> dict[str, object]:
    grades = [
        {"value": grade.value, "kind": grade.kind, "changed": grade.changed}
        for grade in guide_difference.grades
    ]
    blocks = [block._asdict() for block in guide_difference.body]
    names = {"before": guide_difference.before.guide_hash, "after": guide_difference.after.guide_hash}
    return {
        **names,
        "summary": guide_difference.summary,
        "grades": grades,
        "body": blocks,
        "other": guide_difference.other,
    }


def _show_change(change: GuideChange) -> None:
    say(f"{change.title} ({change.guide_hash[:8]}) {'is' if change.changed else 'was'} the guide in force.")
    for names, what in ((change.kept, "keeps its own guide"), (change.switched, "uses it now")):
        for name in names:
            say(f"{name} {what}.")
    for sentence in change.remarks:
        say(sentence)


def _evidence_asked(guide: Guide) -> str:
    """What the guide says of evidence, or the entry by which it would ask for some."""
    if guide.evidence:
        return f"Evidence: {guide.evidence.ask}, from grade {guide.evidence.from_grade} on"
    entry = f"evidence: {{ask: optional, from_grade: {guide.scale[-1].value}}}"
    return f"Evidence: not asked for; `{entry}` in the front matter asks for it."


def _show_guide(guide: Guide) -> None:
    say(f"{guide.title} ({guide.guide_hash})", "")
    for grade in guide.scale:
        say(f"{grade.value} {grade.name} (key {grade.key}): {grade.definition}")
    if guide.presentation:
        fields = ", ".join(guide.presentation.names) or "none"
        say("", f"Documents: body as {guide.presentation.body}; fields: {fields}")
    if guide.evidence:
        say("", _evidence_asked(guide))
    say("", guide.body)
