"""`goldgrade init`: make a project."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from curation.cli.output import emit, say, table
from curation.cli.program import Json, app, project_path


@app.command()
def init(
    guide: Annotated[
        Path | None,
        typer.Option(
            help="Labeling guide: a file, or one of goldgrade by name. Default: graded relevance 0-3."
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Make a project with a labeling guide's grade scale.

    \b
    Examples:
      goldgrade init
      goldgrade --project data/shop.duckdb init --guide binary
    """
    from curation.operations.project import init_project

    project = init_project(project_path(), guide)
    result = {
        "project": project.store.path,
        "guide": project.guide.title,
        "guide_hash": project.guide.guide_hash,
        "scale": [grade.model_dump() for grade in project.guide.scale],
    }

    def show() -> None:
        say(f"Made {project.store.path} with the guide “{project.guide.title}”.")
        table(
            "Grade scale",
            ["grade", "name", "key", "definition"],
            [(grade.value, grade.name, grade.key, grade.definition) for grade in project.guide.scale],
        )
        say(
            "Next: goldgrade app prints a link by which you make the first account. All else is in the "
            "browser."
        )
        say("Or by commands: goldgrade import corpus PATH")

    emit(as_json, result, show)
