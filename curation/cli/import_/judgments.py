"""`goldset import judgments`: judgments that people gave elsewhere, or a judge that is not a person."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from curation.cli.goldset import Json
from curation.cli.import_.options import (
    Columns,
    DateOrder,
    DryRun,
    Encoding,
    Format,
    NoHeader,
    emit_import,
    field,
    layout_of,
    target,
)
from curation.cli.output import progress_bar


def import_judgments_command(
    path: Annotated[
        Path, typer.Argument(help="Judgments: CSV, TSV, JSON lines, Parquet (.gz too) or TREC qrels.")
    ],
    query_field: Annotated[
        str | None, field("the query: query_id holds ids, query_text texts, query either")
    ] = None,
    query_text_field: Annotated[
        str | None, field("the text of a query whose id may be new", "query_text, query")
    ] = None,
    document_field: Annotated[str | None, field("the document's id", "document, doc_id, docid")] = None,
    annotator_field: Annotated[
        str | None, typer.Option(help="Long form: field with who judged; usual: annotator, rater.")
    ] = None,
    grade_field: Annotated[
        str | None, typer.Option(help="Long form: field with the grade; usual: grade, rating, relevance.")
    ] = None,
    annotator_columns: Annotated[
        str | None,
        typer.Option(
            help="Wide form: the columns that hold grades, by commas; column=name names the annotator."
        ),
    ] = None,
    annotator: Annotated[
        str | None, typer.Option(help="Who gave all grades, where the file does not name them, as in qrels.")
    ] = None,
    judge: Annotated[
        str | None,
        typer.Option(
            help="A judge that is not a person, such as a language model, gave all grades: they are no votes."
        ),
    ] = None,
    note_field: Annotated[str | None, field("a note", "note")] = None,
    time_field: Annotated[str | None, field("the time of the judgment")] = None,
    date_order: DateOrder = None,
    duration_field: Annotated[str | None, field("how long the judgment took")] = None,
    duration_unit: Annotated[
        str | None,
        typer.Option(help="Unit of --duration-field: s or ms.", show_default="what the field's name ends in"),
    ] = None,
    cannot_tell_field: Annotated[
        str | None, typer.Option(help="Field that is true where no grade could be given.")
    ] = None,
    grade_map: Annotated[
        str | None,
        typer.Option(help="Grades of another scale: 100=3,10=2,1=1,0=0; =cannot-tell is possible."),
    ] = None,
    skip_unknown: Annotated[
        bool,
        typer.Option(
            "--skip-unknown",
            help="Leave out judgments of documents and query ids that the project does not have.",
        ),
    ] = False,
    about: Annotated[
        str | None,
        typer.Option(
            help="Which text of a changed document the file is about: current (that of the corpus) or "
            "earlier (that its annotator had before: corrections).",
            show_default="refused",
        ),
    ] = None,
    format: Format = None,
    encoding: Encoding = "utf-8",
    columns: Columns = None,
    no_header: NoHeader = False,
    dry_run: DryRun = False,
    as_json: Json = False,
) -> None:
    """Import judgments that people gave elsewhere. They answer open presentations of the same pairs.

    Missing pairs, queries with their texts, and annotators are added and counted. An id is never taken as a
    text. Importing the same file again changes nothing; another grade is a correction. An empty cell is no
    judgment. A judgment is about the text that the corpus has now, unless --about says otherwise. With
    --judge the grades are kept apart: they settle nothing and add nothing (`goldset judge`).

    \b
    Examples:
      goldset import judgments ratings.csv --query-field query --document-field docid \\
        --annotator-columns agent_1_rating,agent_2_rating,agent_3_rating
      goldset import judgments long.csv --annotator-field rater --cannot-tell-field unrateable
      goldset import judgments test.qrels --format qrels --annotator nist
      goldset import judgments esci.csv --annotator esci --grade-map 100=3,10=2,1=1,0=0 --skip-unknown
      goldset import judgments llm.jsonl --judge gpt-5
    """
    from curation.evaluation.judges.imported import import_judge
    from curation.imports.grades import judge_outcome, judgments_outcome
    from curation.labeling.judgments.imported import import_judgments
    from curation.sources.judgments import JudgmentFields, parse_annotator_columns, parse_grade_map

    fields = JudgmentFields(
        query=query_field,
        query_text=query_text_field,
        document=document_field,
        annotator=annotator_field,
        grade=grade_field,
        note=note_field,
        time=time_field,
        cannot_tell=cannot_tell_field,
        date_order=date_order,
        duration=duration_field,
        duration_unit=duration_unit,
        annotator_columns=parse_annotator_columns(annotator_columns or ""),
        annotator_name=annotator,
    )
    if judge is not None and about is not None:
        raise typer.BadParameter("--about is for people: what a judge says is about the text of the corpus")
    layout = layout_of(format, encoding, columns, no_header)
    grades = parse_grade_map(grade_map) if grade_map else None
    store = target(dry_run, as_json)
    with progress_bar() as progress:
        if judge is not None:
            said = import_judge(
                store,
                path,
                judge,
                fields,
                layout,
                grade_map=grades,
                skip_unknown=skip_unknown,
                progress=progress,
            )
            emit_import(as_json, said, judge_outcome(said), f"Next: goldset judge {said.judge}")
            return
        result = import_judgments(
            store,
            path,
            fields,
            layout,
            grade_map=grades,
            skip_unknown=skip_unknown,
            about=about,
            progress=progress,
        )
    emit_import(as_json, result, judgments_outcome(result))
