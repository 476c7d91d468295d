"""`goldgrade adjudicate`: list disputed pairs and decide them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from curation.cli.import_.options import target
from curation.cli.options import refuse_by_without, refuse_unused
from curation.cli.output import emit, left_out, say, say_dry_run, say_withheld, table
from curation.cli.program import (
    By,
    Json,
    Limit,
    QueryName,
    SealReason,
    command_group,
    project_store,
    query_named,
)
from curation.core.text import amount
from curation.store import COMMAND_LINE

if TYPE_CHECKING:
    from curation.core.spans import Spans
    from curation.labeling.consensus.adjudication import Decided
    from curation.labeling.consensus.disputes import Dispute
    from curation.store import Store

adjudication = command_group("adjudicate", "List disputed pairs and decide them.")


@adjudication.command("list")
def adjudicate_list(
    context: typer.Context,
    limit: Limit = 20,
    settled: Annotated[bool, typer.Option("--settled", help="Show decided pairs too.")] = False,
    reason: SealReason = None,
    by: By = COMMAND_LINE,
    as_json: Json = False,
) -> None:
    """List disputed pairs.

    Those whose decision would change most come first. Annotators' names are not shown.

    Pairs that a release seals are counted, and listed with --reason only. On the page Adjudicate reviewers
    see them, and the log of the seal says so once a day.

    \b
    Examples:
      goldgrade adjudicate list
      goldgrade adjudicate list --limit 100
    """
    from curation.labeling.consensus.disputes import list_disputes
    from curation.people.seal_access import unseal

    refuse_by_without(context, reason)
    store = project_store()
    found, sealed = list_disputes(store, settled, unseal(store, "list disputes", reason, by))
    result = {"total": len(found) + sealed, "sealed": sealed, "disputes": found}

    def show() -> None:
        _show_disputes(found[:limit], len(found) + sealed)
        say_withheld(sealed)

    emit(as_json, result, show)


@adjudication.command("decide")
def adjudicate_decide(
    context: typer.Context,
    query: Annotated[str | None, typer.Argument(help="The query's id or its text.")] = None,
    document: Annotated[str | None, typer.Argument(help="The document's id.")] = None,
    grade: Annotated[int | None, typer.Option(help="The grade, one of the guide's scale.")] = None,
    unjudgeable: Annotated[bool, typer.Option("--unjudgeable", help="No grade can be given.")] = False,
    reason: Annotated[str, typer.Option(help="Why: one sentence, stored with the decision.")] = "",
    evidence: Annotated[
        list[str] | None, typer.Option(help="Words of the document that show the grade. Repeatable.")
    ] = None,
    by: By = COMMAND_LINE,
    file: Annotated[
        Path | None,
        typer.Option(help="Decide the disputed pairs of this file instead of one pair."),
    ] = None,
    query_field: Annotated[
        str | None, typer.Option(help="With --file: the field with query ids or texts.")
    ] = None,
    document_field: Annotated[
        str | None, typer.Option(help="With --file: the field with document ids.")
    ] = None,
    grade_field: Annotated[str | None, typer.Option(help="With --file: the field with the grades.")] = None,
    reason_field: Annotated[
        str | None, typer.Option(help="With --file: the field with the reasons. --reason fills empty ones.")
    ] = None,
    every_pair: Annotated[
        bool,
        typer.Option("--all", help="With --file: decide all its judged pairs, disputed or not."),
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="With --file: say what would be decided, and decide nothing.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Decide a disputed pair, or the disputed pairs of a file. Decisions are appended; the last one counts.

    \b
    Examples:
      goldgrade adjudicate decide "usb hub" 1993197 --grade 2 --reason "A hub without USB-C" --by grace
      goldgrade adjudicate decide q7 552 --grade 3 --reason "It says so" --evidence "Closed on Mondays."
      goldgrade adjudicate decide q42 78503000 --unjudgeable --reason "The document is cut off"
      goldgrade adjudicate decide --file final.csv --query-field query --document-field docid \\
        --grade-field final_rating --reason "Final rating of the campaign"
    """
    pair = _pair_or_file(query, document, grade, unjudgeable, file)
    if file is not None:
        refuse_unused(context, "a file is decided; decide the pair alone", "evidence")
    else:
        of_files = ("query_field", "document_field", "grade_field", "reason_field", "every_pair", "dry_run")
        refuse_unused(context, "no file is read; name one with --file", *of_files)
    store = target(dry_run)
    if pair is not None:
        from curation.labeling.consensus.adjudication import decide

        query_id, document_id = query_named(store, pair[0]), pair[1]
        read, spans = _located(store, query_id, document_id, evidence) if evidence else (None, ())
        decision = decide(store, query_id, document_id, grade, reason, by, None, read, spans)

        def show() -> None:
            what = "unjudgeable" if decision.grade is None else f"grade {decision.grade}"
            say(f"Decided: {what} (decision {decision.revision + 1} on this pair, by {decision.reviewer}).")

        emit(as_json, decision, show)
    elif file is not None:
        from curation.ingest.importers.decisions import read_decision_lines
        from curation.ingest.readers.fields import DecisionFields
        from curation.labeling.consensus.adjudication import decide_many

        fields = DecisionFields(query_field, document_field, grade_field, reason_field)
        proposals = read_decision_lines(file, fields, reason)
        decided = decide_many(store, proposals, by, every_pair, file)
        emit(as_json, decided, lambda: _show_decided(decided, dry_run))


@adjudication.command("send-back")
def adjudicate_send_back(
    query: QueryName,
    document: Annotated[str, typer.Argument(help="The document's id.")],
    by: By = COMMAND_LINE,
    as_json: Json = False,
) -> None:
    """Send a disputed pair back for a second opinion. It leaves the list until that arrives.

    An annotator of the round who has not had the pair gets it, after their open items. Their name is not
    shown.

    \b
    Examples:
      goldgrade adjudicate send-back "usb hub" 1993197
      goldgrade adjudicate send-back q42 78503000 --by grace
    """
    from curation.labeling.consensus.second_opinions import ask_opinion

    store = project_store()
    asked = ask_opinion(store, query_named(store, query), document, by)
    emit(
        as_json,
        asked,
        f"Sent back for a second opinion, in {asked.round}. The pair returns to the list with it.",
    )


@adjudication.command("unclear")
def adjudicate_unclear(
    query: QueryName,
    document: Annotated[str, typer.Argument(help="The document's id.")],
    question: Annotated[str, typer.Option(help="What the guide leaves unclear.")],
    by: By = COMMAND_LINE,
    as_json: Json = False,
) -> None:
    """Note what the guide leaves unclear about a pair.

    It is for the guide's next version.

    \b
    Examples:
      goldgrade adjudicate unclear "usb hub" 1993197 --question "Does a hub without USB-C count?"
    """
    from curation.guides.questions import ask_guide

    store = project_store()
    question_id = ask_guide(store, query_named(store, query), document, question, by)
    emit(as_json, {"question_id": question_id}, "Noted. All questions: goldgrade guide questions")


def _located(
    store: Store, query_id: str, document_id: str, quotes: Sequence[str]
) -> tuple[str | None, Spans]:
    """The version of a pair's document that a reviewer reads, and where it has these words."""
    from curation.ingest.readers.nested.evidence import StatedEvidence, located_evidence
    from curation.labeling.consensus.disputes import dispute

    case = dispute(store, query_id, document_id)
    stated = [StatedEvidence(None, None, quote) for quote in quotes]
    return case.dispute.content_hash, located_evidence(stated, document_id, case.document.body)


def _pair_or_file(
    query: str | None, document: str | None, grade: int | None, unjudgeable: bool, source: Path | None
) -> tuple[str, str] | None:
    """The pair to decide, or None for a file."""
    if source is not None:
        if query is not None or grade is not None or unjudgeable:
            raise typer.BadParameter(
                "decides a file; leave QUERY, DOCUMENT and the grade out.", param_hint="--file"
            )
        return None
    if query is None or document is None:
        raise typer.BadParameter("name the pair, or a file with --file.", param_hint="QUERY DOCUMENT")
    if (grade is None) != unjudgeable:
        raise typer.BadParameter("give one of them.", param_hint="--grade, --unjudgeable")
    return query, document


def _show_disputes(shown: list[Dispute], total: int) -> None:
    if not total:
        say("No pair is disputed.")
        return
    columns = ["query", "query id", "document", "document id", "grades", "cannot tell", "decision"]
    table("Disputed pairs", columns, [_dispute_row(item) for item in shown])
    say(f"{len(shown):,} of {total:,} shown.")
    if changed := sum(item.changed for item in shown):
        say(f"{changed:,} of them about an older text: nobody has judged the one that the corpus has now.")
    if apart := sum(item.marks_apart and item.distinct == 1 and item.decision is None for item in shown):
        say(f"{apart:,} of them about evidence alone: the grades agree, the marks have no common character.")
    if shown:
        say('Next: goldgrade adjudicate decide QUERY_ID DOCUMENT_ID --grade G --reason "..."')


def _show_decided(decided: Decided, dry_run: bool) -> None:
    say_dry_run(dry_run)
    say(f"{amount(decided.decided, 'pair')} decided.")
    left_out(decided.left_out, "lines")


def _dispute_row(item: Dispute) -> tuple[object, ...]:
    decision: str | int | None = None
    if item.decision is not None:
        decision = "unjudgeable" if item.decision.grade is None else item.decision.grade
    if item.decision_outdated:
        decision = f"{decision} (older text)"
    grades = " ".join(map(str, item.grades)) + (", marks apart" if item.marks_apart else "")
    return item.query, item.query_id, item.title, item.document_id, grades, item.cannot_tell, decision
