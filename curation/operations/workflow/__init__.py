"""The path of a project from its first import to re-labeling: the state of each step, and what comes next.

Nothing is stored about steps. Each is read from what the other rooms store, in two parts: counts, which are
quick, and figures (the gate, what is due), which a caller may bring from memory or leave out at first.
"""

from curation.operations.workflow.state import (
    PathFigures,
    PathState,
    ProjectPath,
    path_of,
    read_figures,
    read_path,
    read_state,
    release_steps,
)
from curation.operations.workflow.step import Action, PathStep

__all__ = [
    "Action",
    "PathFigures",
    "PathState",
    "PathStep",
    "ProjectPath",
    "path_of",
    "read_figures",
    "read_path",
    "read_state",
    "release_steps",
]
