"""`goldset answers`: write the answers of systems for people to grade."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from curation.cli.goldset import Json, ReleaseName, app, project_store
from curation.cli.import_.options import Encoding, Format, layout_of
from curation.cli.output import emit, left_out, say


@app.command("answers")
def answers_to_grade(
    name: ReleaseName,
    answers: Annotated[
        list[str], typer.Option(help="A file of answers, or NAME=FILE. May be given several times.")
    ],
    out: Annotated[Path, typer.Option(help="The folder to write.")],
    what: Annotated[str, typer.Option("--for", help="What people grade: correctness or faithfulness.")],
    split: Annotated[
        str | None, typer.Option(help="A part of the release.", show_default="all parts that are not sealed")
    ] = None,
    format: Format = None,
    encoding: Encoding = "utf-8",
    as_json: Json = False,
) -> None:
    """Write the answers of systems as documents of a project in which people grade them.

    Nobody sees whose an answer is, and equal answers are graded once. Below it are the reference answers
    (correctness) or the contexts that the system was given (faithfulness).

    \b
    Examples:
      goldset answers v1 --answers new=new.jsonl --answers old=old.jsonl --for correctness --out to-grade
      goldset answers v1 --answers new.jsonl --for faithfulness --out to-grade --split dev
    """
    from curation.evaluation.answers.answer_files import named_answers
    from curation.evaluation.answers.grading import write_answers_to_grade

    layout = layout_of(format, encoding, None, False)
    sources = named_answers(answers)
    written = write_answers_to_grade(project_store(), name, sources, what, out, split, layout)

    def show() -> None:
        say(f"Wrote {written.answers:,} answers to {written.queries:,} queries into {out}.")
        left_out(written.left_out, "answers")
        say(
            f"Next: export GOLDSET_PROJECT={what}.duckdb; goldset init --guide {written.guide}; "
            f"goldset import corpus {out}/corpus.jsonl; goldset import queries {out}/queries.jsonl; "
            f"goldset import run {out}/answers.trec --name answers; "
            "goldset pool --systems run:answers --random-negatives 0"
        )

    emit(as_json, written, show)
