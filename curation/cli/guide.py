"""`goldgrade guide`: see and change the labeling guide, with its versions and its questions."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Argument, Context, Option

from curation.cli.invocation import actor, is_json, project_store, refuse_unused, stated_reason
from curation.cli.options import switch
from curation.cli.output import emit, say, show
from curation.cli.program import command_group
from curation.core.operation import PlainResult

if TYPE_CHECKING:
    from curation.guides.difference import GuideDifference
    from curation.guides.guide import Guide
    from curation.labeling.rounds.use_guide import GuideEffects
    from curation.store import Cursor, Store

_ROUND_FIELDS = ("round", "kind", "guide_hash", "open_items", "answered")
"""The fields of an open round in the JSON of a dry run."""
_EFFECTS = ("answers", "stale_pairs", "off_scale", "off_scale_decisions")
"""The counts of the effects of a guide in the JSON of a dry run."""

guides = command_group("guide", "See and change the labeling guide.")


@guides.command("use")
def guide_use(
    context: Context,
    file: Annotated[
        Path, Argument(help="Markdown with the scale in its front matter, or a shipped guide by name.")
    ],
    open_rounds: Annotated[
        str | None,
        Option(
            help="Whether open rounds keep their guide or get the new one. Rounds with grades of a "
            "different scale cannot switch."
        ),
    ] = None,
    same_grades: Annotated[
        bool,
        switch(
            "--same-grades",
            "Grades keep their meaning, so existing labels stay valid. Without this "
            "option, labels stay valid only if just the display of documents changes.",
        ),
    ] = False,
    dry_run: Annotated[
        bool, switch("--dry-run", "Show what the new guide would change. Change nothing.")
    ] = False,
) -> None:
    """Make a guide the current guide. Each judgment keeps the guide version under which it was given.

    --reason gives the reason for the audit trail and the list of versions. A dry run also checks the guide,
    and counts the documents that have the fields that the guide displays.

    \b
    Examples:
      goldgrade guide use graded
      goldgrade guide use revised.md --dry-run
      goldgrade guide use revised.md --open-rounds keep --reason "Refurbished goods made clear"
      goldgrade guide use typos.md --same-grades --reason "Typing errors"
    """
    from curation.guides.guide import describe_fields
    from curation.guides.guide_text import read_guide
    from curation.labeling.rounds.use_guide import compute_guide_effects, use_guide

    guide = read_guide(file)
    store = project_store()
    if not dry_run:
        reason = stated_reason()
        show(use_guide(store, guide, actor(), open_rounds, reason, same_grades=same_grades))
        return
    refuse_unused(context, "a dry run changes nothing", "open_rounds", "reason")
    effects = compute_guide_effects(store, guide, same_grades)
    uses, _ = store.read(describe_fields, guide.presentation)
    sentences = [*effects.difference.summary, "", *effects.sentences, _describe_evidence(guide), *uses]
    if effects.rounds:
        sentences += [f"{choice}: {effects.describe(choice)}" for choice in ("keep", "switch")]
    show(PlainResult(tuple(sentences), tuple(effects.tables)), as_json=_build_effects_json(effects, uses))


@guides.command("show")
def guide_show(
    context: Context,
    version: Annotated[
        str | None, Argument(help="The beginning of a version's hash, or a file. Default: the current guide.")
    ] = None,
    source: Annotated[bool, switch("--source", "Print the guide as a file for editing.")] = False,
    evidence_from: Annotated[
        int | None,
        Option(metavar="GRADE", help="With --source: people may mark evidence from this grade on."),
    ] = None,
    against: Annotated[str | None, Option(help="Show differences from this version or file.")] = None,
    versions: Annotated[bool, switch("--versions", "List all versions instead.")] = False,
    questions: Annotated[bool, switch("--questions", "List people's questions about the guide.")] = False,
) -> None:
    """Show a guide, its changes, its versions or questions.

    Each version is listed with its date, its author, the reason and the number of its judgments.

    \b
    Examples:
      goldgrade guide show
      goldgrade guide show 3c1e9962 --source > revised.md
      goldgrade guide show --source --evidence-from 2 > guide.md
      goldgrade guide show revised.md --against 3c1e9962
      goldgrade guide show --versions
      goldgrade guide show --questions
    """
    store = project_store()
    if versions or questions:
        names = ("version", "source", "evidence_from", "against")
        refuse_unused(context, "this form of the command shows no guide", *names)
        if versions:
            refuse_unused(context, "--versions lists versions alone", "questions")
            _print_versions(store)
        else:
            _print_questions(store)
        return
    from curation.guides.difference import compare_guides
    from curation.guides.guide import current_guide
    from curation.guides.guide_editing import ask_for_evidence, compose_source

    if not source:
        refuse_unused(context, "it changes the file for editing; add --source", "evidence_from")
    with store.reading() as cursor:
        guide = _find_guide(cursor, version) if version else current_guide(cursor)
        before = _find_guide(cursor, against) if against else None
    text = compose_source(guide)
    if evidence_from is not None:
        text = ask_for_evidence(text, evidence_from)
    if before is not None:
        refuse_unused(context, "a dry run already shows the changes; leave out --against", "source")
        difference = compare_guides(before, guide)
        emit(_build_difference_json(difference), lambda: say(*_list_difference_lines(difference)))
    elif source and not is_json():
        typer.echo(text, nl=False)
    else:
        values = guide.model_dump() | ({"source": text} if source else {})
        emit(values, lambda: say(*_list_guide_lines(guide)))


@guides.command("answer")
def guide_answer(
    question: Annotated[str, Argument(help="The question, by the beginning of its id.")],
    words: Annotated[str, Argument(help="The answer.")],
    asker_only: Annotated[
        bool, switch("--asker-only", "Show the answer only to the person who asked.")
    ] = False,
) -> None:
    """Answer a question about the guide, or change its answer. Annotators read the answer next to the guide.

    \b
    Examples:
      goldgrade guide answer 5f2a9c1e "Refurbished goods are graded as used ones."
      goldgrade guide answer 5f2a9c1e "Yes, here." --asker-only
    """
    from curation.guides.questions import answer_question

    answered = answer_question(project_store(), question, words, actor(), everyone=not asker_only)
    readers = "Everyone" if answered.everyone else "The person who asked"
    emit(answered._asdict(), f"{readers} can now read the answer to “{answered.words}”.")


def _print_versions(store: Store) -> None:
    from curation.guides.versions import build_version_table, list_versions

    versions = store.read(list_versions)
    then = "To compare two versions: goldgrade guide show NEW --against OLD"
    show(PlainResult((then,), (build_version_table(versions),)), as_json={"versions": versions})


def _print_questions(store: Store) -> None:
    from curation.guides.questions import build_question_table, list_questions

    questions = store.read(list_questions)
    table = build_question_table("Questions about the guide", questions)
    show(PlainResult((), (table,)), as_json={"questions": questions})


def _find_guide(cursor: Cursor, name: str) -> Guide:
    from curation.guides.guide_text import read_guide
    from curation.guides.versions import find_version

    path = Path(name)
    return read_guide(path) if path.suffix or path.exists() else find_version(cursor, name)


def _build_effects_json(effects: GuideEffects, uses: list[str]) -> dict[str, object]:
    rounds = [{name: getattr(state, name) for name in _ROUND_FIELDS} for state in effects.rounds]
    for row in rounds:
        row["cannot_switch"] = effects.cannot_switch.get(row["round"], "")
    return {
        "guide_hash": effects.difference.after.guide_hash,
        "title": effects.difference.after.title,
        "fields": uses,
        "sentences": effects.sentences,
        "changes": effects.difference.summary,
        "rounds": rounds,
        **{name: getattr(effects, name) for name in _EFFECTS},
    }


def _build_difference_json(difference: GuideDifference) -> dict[str, object]:
    names = ("value", "kind", "changed")
    grades = [{name: getattr(grade, name) for name in names} for grade in difference.grades]
    return {
        "before": difference.before.guide_hash,
        "after": difference.after.guide_hash,
        "summary": difference.summary,
        "grades": grades,
        "body": [block._asdict() for block in difference.body],
        "other": difference.other,
    }


def _list_difference_lines(difference: GuideDifference) -> Iterator[str]:
    yield from difference.summary
    for change in difference.changed_grades:
        for sign, grade in (("-", change.before), ("+", change.after)):
            if grade is not None:
                yield f"{sign} {grade.value} {grade.name} (key {grade.key}): {grade.definition}"
    for block in difference.body:
        if block.kind != "same" and block.text.strip():
            yield f"{'-' if block.kind == 'removed' else '+'} {' '.join(block.text.split())}"


def _describe_evidence(guide: Guide) -> str:
    """Return a sentence about the grades for which the guide asks for evidence, or could ask."""
    if guide.evidence:
        return f"Evidence: {guide.evidence.ask}, for grades of {guide.evidence.from_grade} or more"
    entry = f"evidence: {{ask: optional, from_grade: {guide.scale[-1].value}}}"
    return f"This guide does not ask for evidence; `{entry}` in the front matter does."


def _list_guide_lines(guide: Guide) -> Iterator[str]:
    """Yield the lines that show a whole labeling guide in a terminal."""
    yield from (f"{guide.title} ({guide.guide_hash})", "")
    for grade in guide.scale:
        yield f"{grade.value} {grade.name} (key {grade.key}): {grade.definition}"
    if guide.presentation:
        fields = ", ".join(guide.presentation.names) or "none"
        yield from ("", f"Documents: body as {guide.presentation.body}; fields: {fields}")
    if guide.evidence:
        yield from ("", _describe_evidence(guide))
    yield from ("", guide.body)
