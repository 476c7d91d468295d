"""`goldgrade judge`: language models and programs that grade, and their agreement with people."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

from typer import Argument, Context, Option, Typer
from typer.core import TyperGroup

from curation.cli.invocation import actor, project_store, refuse_unused
from curation.cli.language_model import NOT_SENT, Send
from curation.cli.options import Seed, switch, with_options_of
from curation.cli.output import note, show
from curation.cli.program import app
from curation.cli.progress import progress_bar
from curation.core.errors import InputError
from curation.core.operation import PlainResult
from curation.core.reports.tables import Table
from curation.evaluation.llm_judges.judge_requests import JudgeRequest
from curation.labeling.requests import RoundRequest

NOT_PLANNED = ("pilot", "queries", "draw", "again", "ask_from", "control_items", "lists")
"""Fields of a round that `judge plan` does not ask for."""
JudgeName = Annotated[str, Argument(metavar="JUDGE", help="The name of the judge, such as gpt-5.")]


class _JudgeGroup(TyperGroup):
    """The group `goldgrade judge`, which takes a judge's name as short for `goldgrade judge show`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        is_command = bool(args) and args[0] in (*self.commands, *ctx.help_option_names)
        return super().parse_args(ctx, args if is_command else ["show", *args])


judge = Typer(
    cls=_JudgeGroup, rich_markup_mode=None, help="Have models grade, and compare their grades with people's."
)
app.add_typer(judge, name="judge")


@judge.command("ask")
@with_options_of(JudgeRequest, except_fields=("name", "instructions"))
def judge_ask(
    request: JudgeRequest,
    name: JudgeName,
    instructions: Annotated[
        Path | None, Option(help="A file with further instructions for the model.")
    ] = None,
    send: Send = False,
) -> None:
    """Have a language model grade pairs by the guide.

    GOLDGRADE_LLM_URL names the endpoint. Without --send the command only says what it would send. Each call
    contains the guide with its examples, a query with its information need, and one document. The command
    sends nothing about a query that a release seals. No pair is paid for twice: the same command continues
    where the last run ended.

    An answer without a grade of the scale counts as cannot-tell. Some pairs are sent twice, in different
    forms, to check the model's consistency. A judge's grades never count as votes.

    \b
    Examples:
      goldgrade judge ask gpt-5
      goldgrade judge ask gpt-5 --send --calls 500 --rate 5 --parallel 8
      goldgrade judge ask qwen --model qwen3:8b --round first --send
      goldgrade judge ask gpt-5-strict --model gpt-5 --instructions strict.md --release v1 --send
    """
    from curation.evaluation.llm_judges.ask_judge import ask_judge, plan_judge

    text = "" if instructions is None else _read_instructions(instructions)
    request = replace(request, name=name, instructions=text)
    if not send:
        plan = plan_judge(project_store(), request)
        result = {"judge": name, "would_send": plan.work, "left_out": plan.left_out}
        show(PlainResult(tuple(plan.sentences)), NOT_SENT, as_json=result)
        return
    with progress_bar("ask judge") as progress:
        asked = ask_judge(project_store(), request, progress, actor(), say=note)
    show(asked, f"Next: goldgrade judge {name}")


@judge.command("plan")
@with_options_of(RoundRequest, except_fields=NOT_PLANNED)
def judge_plan(
    request: RoundRequest,
    name: JudgeName,
    people: Annotated[int, Option(min=1, help="Number of pairs that people grade.")] = 200,
    differences: Annotated[
        int, Option(min=0, help="Number of further pairs, on which judge and people differ.")
    ] = 20,
    dry_run: Annotated[
        bool, switch("--dry-run", "Show which items annotators would get. Open nothing.")
    ] = False,
) -> None:
    """Open the round whose human grades correct a judge.

    The round JUDGE-people contains the pooled pairs of randomly sampled queries, about --people pairs in
    total. Once all its pairs are graded and frozen, `goldgrade evaluate --judge` corrects the judge's grades
    by them.

    --differences opens a second round, JUDGE-people-differences, with pairs on which judge and people differ
    most. These grades do not correct the judge. Annotators see nothing about the judge.

    \b
    Examples:
      goldgrade judge plan gpt-5 --people 200 --annotators ada,grace
      goldgrade judge plan gpt-5 --people 200 --differences 20 --annotators ada,grace --dry-run
    """
    from curation.evaluation.llm_judges.plan_people import open_people_rounds

    layout = replace(request, name=f"{name}-people")
    opened = open_people_rounds(project_store(), name, people, differences, layout, actor(), dry_run)
    sentences = tuple(sentence for item in opened for sentence in item.sentences)
    tables = tuple(table for item in opened for table in item.tables)
    then = "Dry run: no round was opened." if dry_run else "Next: goldgrade app"
    show(PlainResult(sentences, tables), then, as_json={"rounds": opened})


def _read_instructions(path: Path) -> str:
    try:
        return path.read_text("utf-8")
    except (OSError, UnicodeDecodeError):
        raise InputError("The file is not UTF-8 text.", path=path) from None


@judge.command("show")
def judge_show(
    context: Context,
    name: Annotated[
        str | None,
        Argument(metavar="JUDGE", help="Name of the judge. Without a name, the command lists the judges."),
    ] = None,
    seed: Seed = 0,
) -> None:
    """Show how well a judge, such as a model, agrees with people. Without a name the command lists the
    judges.

    The judge's grades are compared with the consensus by the coefficients of `goldgrade agreement` with their
    intervals. The report also has the agreement among people on the same pairs, the confusion of grades, and
    the number of the judge's pairs that people graded. Queries whose grades a release seals are left out.
    `goldgrade judge NAME` is short for `goldgrade judge show NAME`.

    \b
    Examples:
      goldgrade judge show
      goldgrade judge show gpt-5
      goldgrade judge show gpt-5 --json
    """
    from curation.evaluation.llm_judges.judge_judgments import NO_JUDGE, list_judges
    from curation.evaluation.llm_judges.measure_agreement import measure_judge_agreement
    from curation.evaluation.llm_judges.side_by_side import compare_judges

    store = project_store()
    if name is None:
        refuse_unused(context, "the command only lists judges; name a judge", "seed")
        with store.reading() as cursor:
            judges, compared = list_judges(cursor), compare_judges(cursor)
        columns = ("judge", "pairs", "cannot tell", "queries", "guides", "last grades (UTC)")
        tables = [Table("Judges", columns, tuple(map(tuple, judges)))]
        tables += [compared] if compared else []
        sentences = () if judges else (f"The project has no judge. {NO_JUDGE}",)
        show(PlainResult(sentences, tuple(tables)), as_json={"judges": judges, "side_by_side": compared})
        return
    show(measure_judge_agreement(store, name, seed))
