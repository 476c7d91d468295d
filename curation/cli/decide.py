"""Adjudication: `disputes` lists the pairs without a consensus, and `decide` stores decisions on them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, BadParameter, Context, Option

from curation.cli import invocation
from curation.cli.file_options import get_columns, map_option, open_target
from curation.cli.invocation import actor, find_given_flags, project_store, stated_reason
from curation.cli.options import Limit, switch
from curation.cli.output import emit, say_dry_run, show
from curation.cli.program import app
from curation.core.errors import InputError

if TYPE_CHECKING:
    from curation.core.spans import Spans
    from curation.labeling.written_answers.decisions import AnswerRuling
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


QueryArgument = Annotated[str | None, Argument(help="The query's id or its text.")]
DocumentArgument = Annotated[str | None, Argument(help="The document's id.")]
GradeOption = Annotated[int | None, Option(help="The grade, one of the guide's scale.")]
Unjudgeable = Annotated[bool, switch("--unjudgeable", "Decide that the pair gets no grade.")]
EvidenceWords = Annotated[
    list[str] | None, Option(help="Words of the document that show the grade. Repeatable.")
]
SecondOpinion = Annotated[bool, switch("--second-opinion", "Ask one more annotator instead of deciding now.")]
GuideQuestion = Annotated[str | None, Option(help="Note what the guide leaves unclear.")]
DecisionFile = Annotated[Path | None, Option(help="Decide the disputed pairs of this file.")]
ColumnMap = Annotated[list[str] | None, map_option(*FIELDS)]
EveryPair = Annotated[bool, switch("--all", "With --file, decide all its judged pairs, disputed or not.")]
DryRun = Annotated[
    bool, switch("--dry-run", "With --file, show what the command would decide. Decide nothing.")
]
AnswerTask = Annotated[str | None, Option(help="Decide the answers to QUERY in this answer task.")]
PickedAnswers = Annotated[
    list[str] | None, Option(help="With --task: a written answer to accept. Repeatable.")
]
MergedAnswer = Annotated[str, Option(help="With --task: an answer that you write yourself.")]
Unanswerable = Annotated[bool, switch("--unanswerable", "With --task: the corpus does not answer the query.")]


@app.command("disputes")
def disputes(
    limit: Limit = 20,
    decided: Annotated[bool, switch("--decided", "Show decided pairs too.")] = False,
    answers: Annotated[
        bool, switch("--reference-answers", "List queries whose reference answers differ.")
    ] = False,
) -> None:
    """List disputed pairs, or queries whose answers differ.

    The pairs whose decision could have the largest effect come first. Names of annotators are not shown.

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
    access = invocation.open_seal(store, "list disputes")
    then = 'Next: goldgrade decide QUERY_ID DOCUMENT_ID --grade G --reason "..."'
    show(list_disputes(store, decided, access), then, limit=limit)


@app.command("decide")
def decide(
    context: Context,
    query: QueryArgument = None,
    document: DocumentArgument = None,
    grade: GradeOption = None,
    unjudgeable: Unjudgeable = False,
    evidence: EvidenceWords = None,
    second_opinion: SecondOpinion = False,
    unclear: GuideQuestion = None,
    file: DecisionFile = None,
    map: ColumnMap = None,
    every_pair: EveryPair = False,
    dry_run: DryRun = False,
    task: AnswerTask = None,
    pick: PickedAnswers = None,
    merged: MergedAnswer = "",
    unanswerable: Unanswerable = False,
) -> None:
    """Decide a disputed pair, the pairs of a file, or answers.

    Decisions are appended; the last decision counts. --reason gives the reason for the decision.

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
    kind = _find_decision_kind(context)
    _check_arguments(kind, query, document)
    if file is not None:
        _decide_file(file, get_columns(map, *FIELDS), every_pair, dry_run)
        return
    store = project_store()
    query_id, document_id = invocation.find_query_id(store, query or ""), document or ""
    if task is not None:
        from curation.labeling.written_answers.decisions import AnswerRuling

        ruling = AnswerRuling(pick or (), merged, unanswerable, stated_reason())
        _decide_answers(store, task, query_id, ruling)
    elif second_opinion:
        _ask_second_opinion(store, query_id, document_id)
    elif unclear is not None:
        _ask_about_guide(store, query_id, document_id, unclear)
    elif (grade is None) != unjudgeable:
        raise BadParameter("give one of them.", param_hint="--grade, --unjudgeable")
    else:
        _decide_pair(store, query_id, document_id, grade, evidence or [])


def _find_decision_kind(context: Context) -> str:
    """Return the option that names the kind of decision; '' for a decision on one pair.

    Raises
    ------
    InputError: the options name two kinds, or an option of a different kind was given.
    """
    kinds = [name for name in find_given_flags(context) if name in OPTIONS_OF]
    if len(kinds) > 1:
        flags = " and ".join(find_given_flags(context)[name] for name in kinds)
        raise InputError(f"{flags}: expected only one of these options.")
    kind = kinds[0] if kinds else ""
    for other, options in OPTIONS_OF.items():
        if other != kind and options:
            reason = "they are of a decided pair"
            if other:
                reason = f"no {other} is named; name one with --{other}"
            invocation.refuse_unused(context, reason, *options)
    return kind


def _check_arguments(kind: str, query: str | None, document: str | None) -> None:
    """Reject a QUERY or a DOCUMENT that the kind of decision does not take, or that the kind lacks."""
    if kind == "file":
        if query is not None:
            raise BadParameter("names a file of pairs; leave QUERY and DOCUMENT out.", param_hint="--file")
    elif query is None or (document is None) != (kind == "task"):
        raise BadParameter(
            "name --task and a query, a query and a document, or --file.", param_hint="QUERY DOCUMENT"
        )


def _decide_answers(store: Store, task: str, query_id: str, ruling: AnswerRuling) -> None:
    from curation.labeling.written_answers.decisions import decide_answers

    answer = decide_answers(store, task, query_id, ruling, actor())
    decided = " / ".join(answer.answers) or "the corpus does not answer it"
    emit(answer, f"Decided: {decided} (decision {answer.revision + 1} on this query).")


def _ask_second_opinion(store: Store, query_id: str, document_id: str) -> None:
    from curation.labeling.consensus.second_opinions import ask_opinion

    round_name, asked_at = ask_opinion(store, query_id, document_id, actor())
    sentence = (
        f"One more annotator of {round_name} gets the pair. The pair returns to the list after the "
        "annotator has answered."
    )
    pair = {"query_id": query_id, "document_id": document_id}
    emit({**pair, "round": round_name, "asked_at": asked_at}, sentence)


def _ask_about_guide(store: Store, query_id: str, document_id: str, question: str) -> None:
    from curation.guides.questions import ask_about_pair

    question_id = ask_about_pair(store, query_id, document_id, question, actor())
    emit({"question_id": question_id}, "Noted. To see all questions: goldgrade guide show --questions")


def _decide_pair(store: Store, query_id: str, document_id: str, grade: int | None, quotes: list[str]) -> None:
    from curation.labeling.consensus.adjudication import decide_pair

    content_hash, spans = _locate_quotes(store, query_id, document_id, quotes) if quotes else (None, ())
    judgment = (grade, stated_reason(), actor(), None)
    decision = decide_pair(store, query_id, document_id, *judgment, content_hash, spans)
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


def _locate_quotes(
    store: Store, query_id: str, document_id: str, quotes: list[str]
) -> tuple[str | None, Spans]:
    """Find the version of a document that a reviewer reads, by its hash, and the spans of quotes in it."""
    from curation.ingest.importers.evidence_cells import StatedEvidence, locate_evidence
    from curation.labeling.consensus.disputes import read_case

    case = read_case(store, query_id, document_id)
    evidence = [StatedEvidence(None, None, quote) for quote in quotes]
    return case.dispute.content_hash, locate_evidence(evidence, document_id, case.document.body)
