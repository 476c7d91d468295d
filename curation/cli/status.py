"""`goldgrade status`: where a project is on its path, and what comes next."""

from __future__ import annotations

from typing import TYPE_CHECKING

from curation.cli.output import emit, say, table
from curation.cli.program import Json, app, project_store

if TYPE_CHECKING:
    from curation.operations.workflow import ProjectPath


@app.command()
def status(as_json: Json = False) -> None:
    """Show where the project is on its path, and what comes next.

    It has each step from import to re-labeling, the last backup and restore drill, as the page Home.

    \b
    Examples:
      goldgrade status
      goldgrade status --json
    """
    from curation.operations.doctor.project_checks import look_at_backups
    from curation.operations.workflow import read_figures, read_workflow

    store = project_store()
    figures = read_figures(store)
    found, backups = (
        read_workflow(store, figures),
        [at_backup.sentence for at_backup in look_at_backups(store)],
    )
    emit(
        as_json,
        {"next": found.next, "steps": found.steps, "backups": backups, "left_out": figures.left_out},
        lambda: _show(found, backups),
    )
    if not as_json:
        say(*figures.left_out)


def _show(project_path: ProjectPath, backups: list[str]) -> None:
    from curation.operations.workflow.stage import WORDS

    rows = [(step.name, WORDS.get(step.state, step.state), step.line) for step in project_path.steps]
    table("The path", ["step", "state", "what"], rows)
    say(*backups)
    following = next((step for step in project_path.steps if step.name == project_path.next), None)
    if following is None:
        say("Nothing waits.")
    else:
        say(f"Next: {following.action.label} ({following.action.command})")
