"""`goldset status`: where a project is on its path, and what comes next."""

from __future__ import annotations

from typing import TYPE_CHECKING

from curation.cli.goldset import Json, app, project_store
from curation.cli.output import emit, say, table

if TYPE_CHECKING:
    from curation.steps import ProjectPath


@app.command()
def status(as_json: Json = False) -> None:
    """Show where the project is on its path, and what comes next.

    It has each step from import to re-labeling, as the page Home of the app.

    \b
    Examples:
      goldset status
      goldset status --json
    """
    from curation.steps import read_figures, read_path

    store = project_store()
    figures = read_figures(store)
    found = read_path(store, figures)
    emit(
        as_json,
        {"next": found.next, "steps": found.steps, "left_out": figures.left_out},
        lambda: _show(found),
    )
    if not as_json:
        say(*figures.left_out)


def _show(found: ProjectPath) -> None:
    table("The path", ["step", "state", "what"], [(one.name, one.state, one.line) for one in found.steps])
    following = next((one for one in found.steps if one.name == found.next), None)
    if following is None:
        say("Nothing waits.")
    else:
        say(f"Next: {following.action.label} ({following.action.command})")
