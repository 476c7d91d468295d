"""`goldgrade judge`: the agreement of a judge, such as a language model, with people."""

from __future__ import annotations

from typing import Annotated

from typer import Argument, Context, Option

from curation.cli.invocation import actor, project_store, refuse_unused, seal_reason
from curation.cli.options import Seed
from curation.cli.output import show
from curation.cli.program import app
from curation.core.operation import PlainResult
from curation.core.reports.tables import Table


@app.command()
def judge(
    context: Context,
    name: Annotated[
        str | None,
        Argument(metavar="JUDGE", help="The name of the judge. Without a name the judges are listed."),
    ] = None,
    release: Annotated[
        str | None,
        Option(help="Compare with this release's grades.", show_default="the live project's consensus"),
    ] = None,
    part: Annotated[
        str | None,
        Option(help="A part of the release, or all.", show_default="all parts that are not sealed"),
    ] = None,
    seed: Seed = 0,
) -> None:
    """Show how a judge, such as a model, agrees with people. Without a name the command lists the judges.

    The judge's grades are compared with the consensus by the coefficients of `goldgrade agreement` with their
    intervals. The report also has the agreement among people on the same pairs, the confusion of grades,
    figures by query type and by grade, and the number of the judge's pairs that people graded. Queries whose
    grades a release seals are left out.

    \b
    Examples:
      goldgrade judge
      goldgrade judge gpt-5
      goldgrade judge gpt-5 --release v1 --part dev --json
      goldgrade judge gpt-5 --release v1 --part test --reason "Can it replace people next quarter?"
    """
    from curation.core.errors import InputError
    from curation.evaluation.llm_judges.judge_judgments import NO_JUDGE, list_judges
    from curation.evaluation.llm_judges.measure_agreement import measure_judge_agreement

    store = project_store()
    if name is None:
        refuse_unused(context, "judges are listed; name a judge", "release", "part", "reason", "seed")
        judges = store.read(list_judges)
        columns = ("judge", "pairs", "cannot tell", "queries", "guides", "last import (UTC)")
        table = Table("Judges", columns, tuple(map(tuple, judges)))
        sentences = () if judges else (f"The project has no judge. {NO_JUDGE}",)
        show(PlainResult(sentences, (table,)), as_json={"judges": judges})
        return
    if release is None:
        refuse_unused(context, "only parts of a release are sealed; add --release", "reason")
    if part is not None and release is None:
        raise InputError("--part names a part of a release: name the release with --release.")
    show(measure_judge_agreement(store, name, release, part, seal_reason(), seed, actor()))
