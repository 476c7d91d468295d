"""The commands that settle grades: the rule of `consensus`, its `disputes`, and how to `decide` them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from curation.cli.file_options import map_option, open_target, read_columns
from curation.cli.invocation import actor, find_query_id, open_seal, project_store, stated_reason
from curation.cli.options import Limit, find_flags, refuse_unused, switch, with_options_of
from curation.cli.output import emit, print_table, print_tables, say, say_dry_run, say_withheld, show
from curation.cli.program import app
from curation.core.errors import InputError
from curation.labeling.consensus.rule import ConsensusRule

if TYPE_CHECKING:
    from curation.core.spans import Spans
    from curation.labeling.consensus.consensus import PairConsensus
    from curation.labeling.written_answers.decisions import AnswerRuling
    from curation.people.seal_access import SealAccess
    from curation.store import Store


FIELDS = ("query", "document", "grade", "reason")
"""The fields of a file of decisions."""
OPTIONS_OF = {
    "file": ("map", "every_pair", "dry_run"),
    "task": ("pick", "merged", "unanswerable"),
    "second_opinion": (),
    "unclear": (),
    "": ("grade", "unjudgeable", "evidence"),
}
"""The options of each kind of decision, by the option that names the kind; '' is the decision of one pair."""


@app.command()
@with_options_of(ConsensusRule)
def consensus(
    request: ConsensusRule,
    context: typer.Context,
    round_name: Annotated[
        str | None, typer.Option("--round", help="Count only the pairs of this round.", show_default="all")
    ] = None,
    pairs: Annotated[bool, switch("--pairs", "Also list every pair with its grade and its votes.")] = False,
) -> None:
    """Show or set the rule by which votes become a grade. The command also shows the estimated errors of
    annotators.

    A reviewer's decision comes before any rule. Majority needs more than half of the votes. Median takes the
    middle vote, and gives no grade where two middle votes differ. Dawid-Skene estimates how often each
    annotator confuses which grades, and takes the most probable grade. A pair without a grade is disputed.

    With --pairs, `how` is `adjudicated`, `single` (one vote), the name of the rule, or the reason for a
    missing grade: `disputed` or `unjudgeable`. `changed` marks pairs whose votes are about an older text of
    the document. Pairs that a release seals are marked `sealed`; their grade is shown with --reason only.

    \b
    Examples:
      goldgrade consensus
      goldgrade consensus --rule median
      goldgrade consensus --rule dawid-skene --min-probability 0.7 --json
      goldgrade consensus --pairs --json
      goldgrade consensus --pairs --json --reason "Which labels does the new guide change?"
    """
    from curation.core.reports.terminal import show_sections
    from curation.labeling.consensus.consensus import compute_consensus
    from curation.labeling.consensus.dawid_skene import build_error_section, estimate_errors
    from curation.labeling.consensus.rule import describe_replaced_rule, read_rule, set_rule
    from curation.labeling.consensus.votes import read_votes
    from curation.labeling.rounds.rounds import find_round
    from curation.people.seal_access import SEALED

    if not pairs:
        refuse_unused(context, "no pair is listed; add --pairs", "reason")
    store = project_store()
    with store.reading() as cursor:
        rule = read_rule(cursor)
        round_id = find_round(cursor, round_name).round_id if round_name else None
    changes = {name: getattr(request, name) for name in vars(request).keys() & find_flags(context)}
    if changes:
        set_rule(store, replace(rule, **changes), actor())
    with store.reading() as cursor:
        votes, replaced_rule = read_votes(cursor, round_id), describe_replaced_rule(cursor)
    pair_grades, annotator_errors = compute_consensus(votes), estimate_errors(votes)
    counts = pair_grades.counts
    result = {"settings": votes.rule.settings, "consensus": counts, "errors": annotator_errors}
    listed: list[dict[str, Any]] = []
    if pairs:
        access = open_seal(store, "list the consensus on pairs")
        listed = [_pair_json(pair, access) for pair in pair_grades]
        result |= {"pairs": listed, "sealed": sum(pair["how"] == SEALED for pair in listed)}

    def print_consensus() -> None:
        if replaced_rule:
            say(replaced_rule)
        print_tables(counts.table)
        if annotator_errors is not None:
            show_sections([build_error_section(annotator_errors)])
        if listed:
            columns = ["query", "document", "grade", "votes", "cannot tell", "confidence", "how", "about"]
            print_table("Pairs", columns, [_pair_row(*pair.values()) for pair in listed])
            say_withheld(sum(pair["how"] == SEALED for pair in listed))

    emit(result, print_consensus)


def _pair_json(pair: PairConsensus, access: SealAccess) -> dict[str, Any]:
    from curation.people.seal_access import SEALED

    if not access.shows(pair.query_id):
        pair = pair._replace(grade=None, how=SEALED, votes={}, cannot_tell=0, confidence=None)
    values = pair._asdict()
    order = ("query_id", "document_id", "grade", "votes", "cannot_tell", "confidence", "how", "changed")
    return {name: values[name] for name in order}


def _pair_row(*values: Any) -> tuple[object, ...]:
    *first, votes, cannot_tell, confidence, how, changed = values
    counts = ", ".join(f"{grade}: {times}" for grade, times in votes.items())
    return (*first, counts, cannot_tell, confidence, how, "an older text" if changed else "")


@app.command("disputes")
def disputes(
    limit: Limit = 20,
    decided: Annotated[bool, switch("--decided", "Show decided pairs too.")] = False,
    answers: Annotated[bool, switch("--reference-answers", "List queries with differing answers.")] = False,
) -> None:
    """List disputed pairs, or queries whose answers differ.

    The pairs with the largest possible effect of a decision come first. Names of annotators are not shown.

    Pairs that a release seals are counted, and listed with --reason only. On the page Adjudicate reviewers
    see sealed pairs, and the log of the seal notes this once a day.

    \b
    Examples:
      goldgrade disputes
      goldgrade disputes --limit 100
      goldgrade disputes --reference-answers --as rosa
    """
    from curation.labeling.consensus.disputes import list_disputes
    from curation.labeling.written_answers.disputes import find_answer_disputes

    store = project_store()
    if answers:
        then = "Next: goldgrade answers status TASK --query QUERY_ID, goldgrade decide QUERY_ID --task TASK"
        show(find_answer_disputes(store, actor()), then, limit=limit)
        return
    access = open_seal(store, "list disputes")
    then = 'Next: goldgrade decide QUERY_ID DOCUMENT_ID --grade G --reason "..."'
    show(list_disputes(store, decided, access), then, limit=limit)


@app.command("decide")
def decide(
    context: typer.Context,
    query: Annotated[str | None, typer.Argument(help="The query's id or its text.")] = None,
    document: Annotated[str | None, typer.Argument(help="The document's id.")] = None,
    grade: Annotated[int | None, typer.Option(help="The grade, one of the guide's scale.")] = None,
    unjudgeable: Annotated[bool, switch("--unjudgeable", "Decide that no grade fits.")] = False,
    evidence: Annotated[list[str] | None, typer.Option(help="Words that show the grade. Repeatable.")] = None,
    second_opinion: Annotated[
        bool, switch("--second-opinion", "Ask one more annotator instead, and decide later.")
    ] = False,
    unclear: Annotated[str | None, typer.Option(help="Note a question that the guide leaves open.")] = None,
    file: Annotated[Path | None, typer.Option(help="Decide the disputed pairs of this file.")] = None,
    map: Annotated[list[str] | None, map_option(*FIELDS)] = None,
    every_pair: Annotated[
        bool, switch("--all", "With --file: decide all its judged pairs, disputed or not.")
    ] = False,
    dry_run: Annotated[bool, switch("--dry-run", "With --file: say what would be decided.")] = False,
    task: Annotated[str | None, typer.Option(help="Decide the answers of QUERY in this answer task.")] = None,
    pick: Annotated[
        list[str] | None, typer.Option(help="With --task: a written answer to accept. Repeatable.")
    ] = None,
    merged: Annotated[str, typer.Option(help="With --task: one more answer, in the reviewer's words.")] = "",
    unanswerable: Annotated[bool, switch("--unanswerable", "With --task: the corpus has no answer.")] = False,
) -> None:
    """Decide a disputed pair, the pairs of a file, or answers.

    Decisions are appended; the last decision counts. --reason gives the reason of the decision.

    With --second-opinion one more annotator of the round gets the pair after their open items. The name of
    this annotator is not shown, and the pair leaves the list until the annotator has judged it.

    \b
    Examples:
      goldgrade decide "usb hub" 1993197 --grade 2 --reason "A hub without USB-C" --as grace
      goldgrade decide q7 552 --grade 3 --reason "It says so" --evidence "Closed on Mondays."
      goldgrade decide q42 78503000 --unjudgeable --reason "The document is cut off"
      goldgrade decide "usb hub" 1993197 --second-opinion
      goldgrade decide "usb hub" 1993197 --unclear "Does a hub without USB-C count?"
      goldgrade decide --file final.csv --map query=query --map document=docid \\
        --map grade=final_rating --reason "Final rating of the campaign"
      goldgrade decide q42 --task faq --pick 1912 --reason "The date on the plate" --as rosa
      goldgrade decide q43 --task faq --merged "May 1912" --reason "Each has a half"
    """
    from curation.guides.questions import ask_about_pair
    from curation.labeling.written_answers.decisions import AnswerRuling

    kind = _find_decision_kind(context)
    if file is not None:
        if query is not None:
            raise typer.BadParameter("decides a file; leave QUERY and DOCUMENT out.", param_hint="--file")
        _decide_file(file, read_columns(map, *FIELDS), every_pair, dry_run)
        return
    if query is None or (document is None) != (kind == "task"):
        raise typer.BadParameter(
            "name a query with --task, the pair without, or a file with --file.", param_hint="QUERY DOCUMENT"
        )
    store = project_store()
    query_id = find_query_id(store, query)
    if task is not None:
        ruling = AnswerRuling(pick or (), merged, unanswerable, stated_reason())
        _decide_answers(store, task, query_id, ruling)
    elif second_opinion:
        _ask_second_opinion(store, query_id, document or "")
    elif unclear is not None:
        question_id = ask_about_pair(store, query_id, document or "", unclear, actor())
        emit({"question_id": question_id}, "Noted. All questions: goldgrade guide show --questions")
    elif (grade is None) != unjudgeable:
        raise typer.BadParameter("give one of them.", param_hint="--grade, --unjudgeable")
    else:
        _decide_pair(store, (query_id, document or ""), grade, evidence or ())


def _find_decision_kind(context: typer.Context) -> str:
    """Return the option that names the kind of decision; '' for the decision of one pair.

    Raises
    ------
    InputError: the options name two kinds, or an option of a different kind was given.
    """
    kinds = [name for name in find_flags(context) if name in OPTIONS_OF]
    if len(kinds) > 1:
        flags = " and ".join(find_flags(context)[name] for name in kinds)
        raise InputError(f"{flags}: expected one of them at a time.")
    kind = kinds[0] if kinds else ""
    for other, options in OPTIONS_OF.items():
        if other != kind and options:
            reason = (
                f"no {other} is decided; name it with --{other}" if other else "they are of a decided pair"
            )
            refuse_unused(context, reason, *options)
    return kind


def _decide_answers(store: Store, task: str, query_id: str, ruling: AnswerRuling) -> None:
    from curation.labeling.written_answers.decisions import decide_answers

    answer = decide_answers(store, task, query_id, ruling, actor())
    decided = " / ".join(answer.answers) or "the corpus does not answer it"
    emit(answer, f"Decided: {decided} (decision {answer.revision + 1} on this query).")


def _ask_second_opinion(store: Store, query_id: str, document_id: str) -> None:
    from curation.labeling.consensus.second_opinions import ask_opinion

    round_name, asked_at = ask_opinion(store, query_id, document_id, actor())
    sentence = f"One more annotator of {round_name} gets the pair; then the pair returns to the list."
    pair = {"query_id": query_id, "document_id": document_id}
    emit({**pair, "round": round_name, "asked_at": asked_at}, sentence)


def _decide_pair(store: Store, pair: tuple[str, str], grade: int | None, evidence: Sequence[str]) -> None:
    from curation.labeling.consensus.adjudication import decide_pair

    content_hash, spans = _locate_evidence(store, *pair, evidence) if evidence else (None, ())
    decision = decide_pair(store, *pair, grade, stated_reason(), actor(), None, content_hash, spans)
    decided = "unjudgeable" if decision.grade is None else f"grade {decision.grade}"
    sentence = f"Decided: {decided} (decision {decision.revision + 1} on this pair, by {decision.reviewer})."
    emit(decision, sentence)


def _decide_file(file: Path, columns: Sequence[str | None], every_pair: bool, dry_run: bool) -> None:
    from curation.ingest.importers.decision_lines import read_decision_lines
    from curation.ingest.readers.fields import DecisionFields
    from curation.labeling.consensus.adjudication import import_decisions

    proposals = read_decision_lines(file, DecisionFields(*columns), stated_reason())
    decided = import_decisions(open_target(dry_run), proposals, actor(), every_pair, file)
    say_dry_run(dry_run)
    show(decided)


def _locate_evidence(
    store: Store, query_id: str, document_id: str, quotes: Sequence[str]
) -> tuple[str | None, Spans]:
    """Find the version of a document that a reviewer reads, by its hash, and the spans of quotes in it."""
    from curation.ingest.importers.evidence_cells import StatedEvidence, locate_evidence
    from curation.labeling.consensus.disputes import read_case

    case = read_case(store, query_id, document_id)
    evidence = [StatedEvidence(None, None, quote) for quote in quotes]
    return case.dispute.content_hash, locate_evidence(evidence, document_id, case.document.body)
