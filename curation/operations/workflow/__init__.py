"""The path of a project from its first import to re-labeling: the state of each step, and what comes next.

Nothing is stored about steps. Each is read from what the other rooms store, in two parts: counts, which are
quick, and figures (the gate, what is due), which a caller may bring from memory or leave out at first.
"""

from curation.operations.workflow.stage import Action, Stage
from curation.operations.workflow.state import (
    PathFigures,
    ProjectPath,
    WorkflowState,
    path_of,
    read_figures,
    read_state,
    read_workflow,
    release_steps,
)

__all__ = [
    "Action",
    "PathFigures",
    "ProjectPath",
    "Stage",
    "WorkflowState",
    "path_of",
    "read_figures",
    "read_state",
    "read_workflow",
    "release_steps",
]
