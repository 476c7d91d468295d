"""The stages to the next release as the page Releases shows them: rule, gate, split and freeze."""

from __future__ import annotations

from curation.agreement.gate import Gate
from curation.labeling.consensus.rule import DESCRIPTIONS, read_rule
from curation.operations.workflow.project_workflow import SlowFigures, WorkflowState, build_stages
from curation.operations.workflow.releasing import shut_by
from curation.operations.workflow.stage import Action, Stage
from curation.store import Store


def release_stages(store: Store, state: WorkflowState, gate: Gate) -> list[Stage]:
    """Make the stages to the next release; split and freeze are the stages of the workflow."""
    with store.reading() as cursor:
        rule = read_rule(cursor).name
    stages = {stage.name: stage for stage in build_stages(state, SlowFigures(gate, None))}
    one_judge = ", with one judge: nobody knows the agreement" if gate.without_agreement else ""
    see = Action("See the gate", "releases", "goldgrade gate", {"stage": "Gate"})
    line = shut_by(gate) or f"The gate is open{one_judge}."
    return [
        Stage("rule", "done", DESCRIPTIONS[rule], see),
        Stage("gate", "done" if gate.open else "needs attention", line, see),
        stages["split"],
        stages["freeze"],
    ]
