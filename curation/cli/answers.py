"""`goldgrade answers`: tasks in which people write or grade answers."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

from typer import Argument, Context, Option

from curation.cli.file_options import Encoding, Format, get_layout
from curation.cli.invocation import actor, find_query_id, open_seal, project_store, refuse_unused, seal_reason
from curation.cli.language_model import CallSender, MaxCalls, Parallel, Send
from curation.cli.options import ReleaseName, switch, with_options_of
from curation.cli.output import emit, note, show
from curation.cli.program import command_group
from curation.core.errors import InputError
from curation.core.operation import PlainResult
from curation.core.reports.tables import Table
from curation.core.text import describe_left_out, pluralize
from curation.labeling.requests import AnswerTaskRequest

answers = command_group("answers", "Let people write reference answers, or grade answers.")
TaskName = Annotated[str, Argument(metavar="TASK", help="Name of the answer task, such as faq.")]


@answers.command("open")
@with_options_of(AnswerTaskRequest, except_fields=("name",))
def answers_open(
    request: AnswerTaskRequest,
    context: Context,
    name: TaskName,
    reopen: Annotated[bool, switch("--reopen", "Reopen this closed task, unchanged.")] = False,
) -> None:
    """Open an answer task.

    Each query goes to exactly --overlap annotators, who do not see each other's answers. Answers that agree
    become reference answers. Answers that differ wait for a reviewer. A query is shown with the documents of
    the pool. Relevant documents of a query that a release seals are shown with --reason only.

    \b
    Examples:
      goldgrade answers open faq --annotators ada,ben --tag question
      goldgrade answers open more --annotators ada,ben,cy --overlap 2 --min-f1 0.9
      goldgrade answers open faq --reopen
    """
    from curation.labeling.written_answers.create_task import open_answer_task
    from curation.labeling.written_answers.tasks import set_answer_task_state

    if reopen:
        refuse_unused(context, "a task is reopened unchanged", *(vars(request).keys() - {"name"}))
        emit(set_answer_task_state(project_store(), name, False, actor()), f"{name} is open again.")
        return
    request = replace(request, name=name)
    show(open_answer_task(project_store(), request, actor(), seal_reason()))


@answers.command("status")
def answers_status(
    name: Annotated[
        str | None, Argument(metavar="TASK", help="Name of an answer task. Default: a list of all tasks.")
    ] = None,
    query: Annotated[str | None, Option(help="Show the answers to a query, by id or text.")] = None,
) -> None:
    """Show the progress of answer tasks.

    The status of one task has each writer's answers, the state of the queries, and the agreement of the
    answers. With --query the command shows the answers to one query without names, and the documents that the
    writers ticked. A query that a release seals requires --reason.

    \b
    Examples:
      goldgrade answers status
      goldgrade answers status faq --json
      goldgrade answers status faq --query "who repairs kettles"
    """
    from curation.labeling.written_answers import tasks as answer_tasks
    from curation.labeling.written_answers.disputes import read_answer_case
    from curation.labeling.written_answers.status import read_answer_task_status

    store = project_store()
    if name is None:
        if query is not None:
            raise InputError("--query needs the TASK whose answers to show.")
        tasks = store.read(answer_tasks.list_answer_tasks)
        show(PlainResult((), (answer_tasks.build_task_table(tasks),)), as_json={"tasks": tasks})
    elif query is None:
        show(read_answer_task_status(store, name))
    else:
        access = open_seal(store, f"show the answers of {name}")
        show(read_answer_case(store, name, find_query_id(store, query), actor(), access=access))


@answers.command("close")
def answers_close(name: TaskName) -> None:
    """Close an answer task. Queries that lack answers go to a reviewer.

    \b
    Examples:
      goldgrade answers close faq
    """
    from curation.labeling.written_answers.tasks import set_answer_task_state

    emit(set_answer_task_state(project_store(), name, True, actor()), f"{name} is closed.")


@answers.command("nuggets")
def answers_nuggets(
    context: Context,
    query: Annotated[
        list[str] | None,
        Option(help="Id or text of a query. Repeatable.", show_default="every query without nuggets"),
    ] = None,
    send: Send = False,
    calls: MaxCalls = None,
    parallel: Parallel = 4,
    proposed: Annotated[
        bool, switch("--proposed", "List waiting proposals, and count reviewed ones.")
    ] = False,
) -> None:
    """Have a model propose the facts that a good answer has.

    GOLDGRADE_LLM_URL names the model. Without --send the command only says how many calls it would send. The
    command sends one call for each query. The call contains the text and the need of the query, the ten best
    documents that people judged relevant, and the words that people marked there as evidence. The command
    sends nothing about a query that a release seals. A proposal is not a nugget yet: people change, drop and
    save proposals on the query's page.

    \b
    Examples:
      goldgrade answers nuggets
      goldgrade answers nuggets --send --calls 200
      goldgrade answers nuggets --query q42 --send --as rosa --json
      goldgrade answers nuggets --proposed
    """
    if proposed:
        reason = "--proposed only lists proposals; leave it out to get some proposed"
        refuse_unused(context, reason, "query", "send", "calls", "parallel")
        _print_proposals()
        return
    from curation.labeling.written_answers import proposals
    from curation.queries.coverage.language_model.endpoint import read_model

    store = project_store()
    sender = CallSender(send, calls, parallel)
    model_calls, cut, missing = proposals.build_proposal_calls(store, read_model(), query or (), actor())
    note(*describe_left_out(missing))
    if not sender.send(store, [*model_calls.values()], proposals.parse_nuggets, cut):
        return
    nugget_counts = proposals.store_proposals(store, model_calls, actor())
    total = sum(nugget_counts.values())
    n_empty = list(nugget_counts.values()).count(0)
    sentence = (
        f"{pluralize(total, 'nugget')} proposed for {pluralize(len(nugget_counts), 'query', 'queries')}; "
        f"for {n_empty:,} of these queries the model found no fact. Next: people review the proposals on "
        "the page of each query. goldgrade answers nuggets --proposed lists the waiting proposals."
    )
    emit({"proposed": nugget_counts, "left_out": missing, "sent": sender.spending}, sentence)


def _print_proposals() -> None:
    from curation.labeling.written_answers.proposals import describe_reviews, read_proposals

    proposals = project_store().read(read_proposals)
    waiting = [proposal for proposal in proposals if not proposal.is_reviewed]
    rows = tuple((proposal.query_id, proposal.model, len(proposal.proposed)) for proposal in waiting)
    table = Table("Proposals that nobody has reviewed", ("query", "model", "nuggets"), rows)
    listed = [
        {"query_id": row.query_id, "model": row.model, "reviewed": row.is_reviewed} for row in proposals
    ]
    sentences = describe_reviews(proposals) or ["No model has proposed nuggets."]
    show(PlainResult(tuple(sentences), (table,)), as_json={"proposals": listed})


@answers.command("to-grade")
def answers_to_grade(
    name: ReleaseName,
    answers: Annotated[list[str], Option(help="An answer file, or NAME=FILE. Repeatable.")],
    out: Annotated[Path, Option(help="Folder to write.")],
    aspect: Annotated[str, Option("--for", help="Aspect: correctness, faithfulness or support.")],
    part: Annotated[
        str | None, Option(help="A part of the release.", show_default="all parts that are not sealed")
    ] = None,
    format: Format = None,
    encoding: Encoding = "utf-8",
) -> None:
    """Write systems' answers as documents that people can grade.

    A document does not name the system of its answer, and equal answers are graded once. Below an answer are
    the reference answers (for correctness) or the contexts that the system used (for faithfulness). For
    support each nugget becomes a query, and people grade whether an answer contains the nugget.

    \b
    Examples:
      goldgrade answers to-grade v1 --answers new=new.jsonl --answers old=old.jsonl \\
        --for correctness --out to-grade
      goldgrade answers to-grade v1 --answers new.jsonl --for faithfulness --out to-grade --part dev
    """
    from curation.evaluation.answers.answers_to_grade import write_answers_to_grade
    from curation.evaluation.scoring.system_files import parse_answer_files

    layout = get_layout(format, encoding)
    sources = parse_answer_files(answers)
    written = write_answers_to_grade(project_store(), name, sources, aspect, out, part, layout)
    sentences = (
        f"Wrote {pluralize(written.answers, 'answer')} to {pluralize(written.queries, 'query', 'queries')} "
        f"into {out}.",
        *describe_left_out(written.left_out, "answers"),
        f"Next: export GOLDGRADE_PROJECT={aspect}.duckdb; goldgrade init --guide {written.guide}; goldgrade "
        f"import corpus {out}/corpus.jsonl; goldgrade import queries {out}/queries.jsonl; goldgrade import "
        f"run {out}/answers.trec --name answers; goldgrade pool --systems run:answers --random-negatives 0",
    )
    show(PlainResult(sentences), as_json=written)
