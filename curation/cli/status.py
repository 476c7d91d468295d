"""`goldgrade status`: the stages of the project with the next step, and any notices that are due."""

from __future__ import annotations

from typing import Annotated, Any

from curation.cli.invocation import project_store
from curation.cli.options import switch
from curation.cli.output import emit, show
from curation.cli.program import app
from curation.core.operation import PlainResult
from curation.core.reports.tables import Table
from curation.core.text import pluralize


@app.command()
def status(
    notify: Annotated[
        bool,
        switch(
            "--notify",
            "Only send the notices that are due. Each notice is sent once. A running app sends "
            "notices by itself.",
        ),
    ] = False,
) -> None:
    """Show the stages, the lead's open tasks and the next step.

    Like the page Home, the status shows each stage from import to re-labeling, and the last backup. --notify
    sends notices to the address in GOLDGRADE_WEBHOOK; a lead chooses the kinds of notices in the app.

    \b
    Examples:
      goldgrade status
      goldgrade status --notify
    """
    from curation.operations.backup_age import check_backups
    from curation.operations.workflow.project_workflow import build_stages, read_figures, read_state
    from curation.operations.workflow.stage import STATE_LABELS, find_next_stage

    store = project_store()
    if notify:
        from curation.operations.notices import send_due

        attempts = send_due(store)
        emit({"attempts": attempts}, f"{pluralize(attempts, 'attempt')} to send a notice.")
        return
    figures = read_figures(store)
    state = read_state(store)
    stages = build_stages(state, figures)
    next_stage = find_next_stage(stages)
    backups = [finding.sentence for finding in check_backups(store)]
    rows = tuple((stage.name, STATE_LABELS.get(stage.state, stage.state), stage.line) for stage in stages)
    next_sentence = "No stage is open."
    if next_stage is not None:
        next_sentence = f"Next: {next_stage.action.label} ({next_stage.action.command})"
    table = Table("The path", ("stage", "state", "what"), rows)
    result: dict[str, Any] = {"next": next_stage and next_stage.name, "stages": stages, "backups": backups}
    result |= {"waiting": state.waiting, "left_out": figures.not_computed}
    waiting = [stage.line for stage in state.waiting]
    show(PlainResult((*waiting, *backups, next_sentence), (table,)), *figures.not_computed, as_json=result)
