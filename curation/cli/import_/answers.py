"""`goldset import answers`: reference answers of queries."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from curation.cli.goldset import Json
from curation.cli.import_.options import Columns, DryRun, Encoding, Format, NoHeader, field, layout_of, target
from curation.cli.output import emit, left_out, progress_bar, say
from curation.text import amount

if TYPE_CHECKING:
    from curation.sources.reference_answers import AnswerImport


def import_answers_command(
    path: Annotated[Path, typer.Argument(help="JSON lines, CSV, TSV or Parquet (.gz too).")],
    query_field: Annotated[str | None, field("the query, by id or text", "query_id, id, query")] = None,
    answer_field: Annotated[
        str | None, field("its answers: one, or a list", "answers, reference_answers, answer")
    ] = None,
    skip_unknown: Annotated[
        bool, typer.Option("--skip-unknown", help="Leave out answers to queries that the project lacks.")
    ] = False,
    format: Format = None,
    encoding: Encoding = "utf-8",
    columns: Columns = None,
    no_header: NoHeader = False,
    dry_run: DryRun = False,
    as_json: Json = False,
) -> None:
    """Import reference answers: any of a query's answers is right. Several lines of one query add up.

    What the file says of a query is all of its references. The same file again changes nothing.

    \\b
    Examples:
      goldset import answers squad.jsonl --query-field question
      goldset import answers faq.csv --answer-field reference_answer --skip-unknown
    """
    from curation.sources.reference_answers import import_answers

    layout = layout_of(format, encoding, columns, no_header)
    with progress_bar() as progress:
        result = import_answers(
            target(dry_run, as_json), path, query_field, answer_field, layout, skip_unknown, progress
        )
    emit(as_json, result, lambda: _show_answers(result))


def _show_answers(result: AnswerImport) -> None:
    from curation.importing.texts import answers_outcome

    say(answers_outcome(result).sentence)
    for kind, count in result.personal.items():
        say(f"personal data, replaced: {amount(count, 'answer')} with {kind}")
    left_out(result.left_out, "answers")
