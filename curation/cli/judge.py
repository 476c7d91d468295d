"""`goldgrade judge`: how far a judge that is not a person agrees with people."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from curation.cli.options import refuse_by_without, refuse_unused
from curation.cli.output import emit, left_out, say, table
from curation.cli.program import By, Json, Seed, app, project_store
from curation.core.text import amount
from curation.store import COMMAND_LINE

if TYPE_CHECKING:
    from curation.agreement.between.inter_annotator import AgreementFigure
    from curation.evaluation.llm_judges.agreement import JudgeAgreement
    from curation.evaluation.llm_judges.stored import StoredJudge


@app.command()
def judge(
    context: typer.Context,
    name: Annotated[
        str | None,
        typer.Argument(metavar="JUDGE", help="The judge's name; without one, the judges are listed."),
    ] = None,
    release: Annotated[
        str | None,
        typer.Option(
            help="Compare with the grades of this release.", show_default="the live project's consensus"
        ),
    ] = None,
    part: Annotated[
        str | None,
        typer.Option(
            help="A part of the release, or all.",
            show_default="all parts that are not sealed",
        ),
    ] = None,
    reason: Annotated[
        str | None, typer.Option(help="Why grades of sealed parts are used; it is logged.")
    ] = None,
    by: By = COMMAND_LINE,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Show how a judge, such as a model, agrees with people. Without a name, list the judges.

    The judge's grades against the consensus: the coefficients of `goldgrade agreement` with their intervals,
    and with them those of people among each other on the same pairs. Then confusion, by query type and by
    grade, and how many of the judge's pairs people graded. Queries whose grades a release seals are left out.

    \\b
    Examples:
      goldgrade judge
      goldgrade judge gpt-5
      goldgrade judge gpt-5 --release v1 --part dev --json
      goldgrade judge gpt-5 --release v1 --part test --reason "Can it replace people next quarter?"
    """
    from curation.core.errors import InputError
    from curation.evaluation.llm_judges.agreement import judge_agreement
    from curation.evaluation.llm_judges.stored import list_judges

    store = project_store()
    if name is None:
        refuse_unused(context, "judges are listed; name one", "release", "part", "reason", "by", "seed")
        with store.reading() as cursor:
            judges = list_judges(cursor)
        emit(as_json, {"judges": judges}, lambda: _show_judges(judges))
        return
    refuse_by_without(context, reason)
    if release is None:
        refuse_unused(context, "only parts of a release are sealed; add --release", "reason")
    if part is not None and release is None:
        raise InputError("--part names parts of a release: say which with --release.")
    found = judge_agreement(store, name, release, part, reason, seed, by)
    emit(as_json, found, lambda: _show_agreement(found))


def _show_judges(judges: list[StoredJudge]) -> None:
    from curation.evaluation.llm_judges.stored import NO_JUDGE

    if not judges:
        say(f"The project has no judge. {NO_JUDGE}")
        return
    columns = ["judge", "pairs", "cannot tell", "queries", "guides", "last import (UTC)"]
    rows = [(*one[:-1], f"{one.last_import:%Y-%m-%d %H:%M}") for one in judges]
    table("Judges", columns, rows)


def _show_agreement(judge_agreement: JudgeAgreement) -> None:
    where = (
        f"the release {judge_agreement.release}, {', '.join(judge_agreement.parts)}"
        if judge_agreement.release
        else "the project"
    )
    columns = ["statistic", "judge", "low", "high", "people", "low", "high", "note"]
    rows = []
    for figure in judge_agreement.figures.values():
        rows.append((figure.label, *_numbers(figure.judge), *_numbers(figure.people), _note(figure.judge)))
    table(f"{judge_agreement.judge} against the consensus of {where}; people among each other", columns, rows)
    _show_confusion(judge_agreement)
    parts = []
    for part in (*judge_agreement.types, *judge_agreement.boundaries):
        figures = (*_numbers(part.alpha), _numbers(part.raw)[0])
        parts.append((f"{part.kind}: {part.name}", *figures, part.alpha.units, part.queries))
    columns = ["part", "alpha", "low", "high", "same", "pairs", "queries"]
    table("By query type and grade boundary", columns, parts)
    _show_coverage(judge_agreement)


def _show_confusion(judge_agreement: JudgeAgreement) -> None:
    columns = [
        "people",
        *(f"judge {value}" for value in judge_agreement.scale),
        "same",
        "low",
        "high",
        "lower",
        "higher",
    ]
    rows = [
        (grade.grade, *counts, *_numbers(grade.same), _numbers(grade.lower)[0], _numbers(grade.higher)[0])
        for grade, counts in zip(judge_agreement.grades, judge_agreement.confusion, strict=True)
    ]
    table("Pairs by people's grade and the judge's, and shares of each row", columns, rows)
    mean, low, high = _numbers(judge_agreement.difference)
    if mean is not None and low is not None:
        say(f"The judge's grade less people's: {mean:+.3f} steps (95 % interval {low:+.3f} to {high:+.3f}).")


def _show_coverage(judge_agreement: JudgeAgreement) -> None:
    counts = judge_agreement.coverage
    say(
        f"Compared: {amount(counts.compared, 'pair')} of {amount(counts.queries, 'query', 'queries')}. The "
        f"judge judged {amount(counts.judged, 'pair')}; {counts.ungraded:,} of them no person did. People's "
        f"grades without the judge's: {counts.not_judged:,}."
    )
    reasons = {
        "the judge could not tell": counts.cannot_tell,
        "no grade came of people's judgments": counts.without_grade,
        "judged by the judge in another version of the document": counts.older,
        "a release seals the grades of their query (--release, --part and --reason)": counts.sealed,
        "their query is in none of these parts": counts.elsewhere,
        **judge_agreement.left_out,
    }
    left_out({reason: count for reason, count in reasons.items() if count}, "pairs")
    if counts.other_guide:
        say(f"Under another guide than the one in force: {counts.other_guide:,} of the compared pairs.")


def _numbers(figure: AgreementFigure) -> tuple[float | None, float | None, float | None]:
    return (None, None, None) if figure.not_shown else (figure.value, figure.low, figure.high)


def _note(figure: AgreementFigure) -> str:
    return figure.not_shown or figure.no_interval or ""
